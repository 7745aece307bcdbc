/* A small table that is used in every round, and a log that is gone through once. CLOSE: the log is short, so the table stays;
 * MENDED: the log has a pass of its own. */
#include <stdio.h>
#ifdef CLOSE
enum { ROUNDS = 24, PART = 32 };
#else
enum { ROUNDS = 24, PART = 1024 };
#endif
enum { TABLE = 256 };
double table[TABLE];
double entries[ROUNDS * PART];

static double use_table(void) {
  double sum = 0;
  for (int i = 0; i < TABLE; i++)
    sum += table[i];
  return sum;
}

static double read_log(int round) {
  double sum = 0;
  for (int i = 0; i < PART; i++)
    sum += entries[round * PART + i];
  return sum;
}

int main(void) {
  double sum = 0;
#ifdef MENDED
  for (int round = 0; round < ROUNDS; round++)
    sum += use_table();
  for (int round = 0; round < ROUNDS; round++)
    sum += read_log(round);
#else
  for (int round = 0; round < ROUNDS; round++) {
    sum += use_table();
    sum += read_log(round);
  }
#endif
  printf("%g\n", sum);
  return 0;
}

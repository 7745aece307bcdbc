/* Columns of a matrix whose rows begin in few sets. CLOSE: rows of nine lines begin in different ones; MENDED: as advised. */
#include <stdio.h>
#if defined(CLOSE) || defined(MENDED)
enum { ROWS = 32, COLUMNS = 64, PAD = 8 };
#else
enum { ROWS = 32, COLUMNS = 64, PAD = 0 };
#endif
double A[ROWS][COLUMNS + PAD];

int main(void) {
  double sum = 0;
  for (int j = 0; j < COLUMNS; j++)
    for (int i = 0; i < ROWS; i++)
      sum += A[i][j];
  printf("%g\n", sum);
  return 0;
}

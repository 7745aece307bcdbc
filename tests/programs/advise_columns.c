/* A matrix of more rows than any cache has lines for, summed by columns. CLOSE: by rows; MENDED: stored the other way round. */
#include <stdio.h>
enum { ROWS = 200, COLUMNS = 40 };
#ifdef MENDED
double A[COLUMNS][ROWS];
#define AT(i, j) A[j][i]
#else
double A[ROWS][COLUMNS];
#define AT(i, j) A[i][j]
#endif

int main(void) {
  double sum = 0;
#ifdef CLOSE
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++)
#else
  for (int j = 0; j < COLUMNS; j++)
    for (int i = 0; i < ROWS; i++)
#endif
      sum += AT(i, j);
  printf("%g\n", sum);
  return 0;
}

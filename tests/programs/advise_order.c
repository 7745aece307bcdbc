/* Matrices that one loop fills by rows and another goes down by columns. CLOSE: one column again and again; MENDED: by rows. */
#include <stdio.h>
enum { ROWS = 200, COLUMNS = 40 };
double A[ROWS][COLUMNS];
float B[ROWS][COLUMNS];

int main(void) {
  double sum = 0;
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) {
      A[i][j] = i + j;
      B[i][j] = i - j;
    }
#ifdef MENDED
  for (int i = 1; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++)
#else
  for (int j = 0; j < COLUMNS; j++)
    for (int i = 1; i < ROWS; i++)
#endif
#ifdef CLOSE
      sum += A[i][7] + A[i - 1][7] * B[i][7];
#else
      sum += A[i][j] + A[i - 1][j] * B[i][j];
#endif
  printf("%g\n", sum);
  return 0;
}

/* A matrix that one loop fills by rows and another sums by columns. CLOSE: one column is summed again and again; MENDED: by rows. */
#include <stdio.h>
enum { ROWS = 200, COLUMNS = 40 };
double A[ROWS][COLUMNS];

int main(void) {
  double sum = 0;
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++)
      A[i][j] = i + j;
#ifdef MENDED
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++)
#else
  for (int j = 0; j < COLUMNS; j++)
    for (int i = 0; i < ROWS; i++)
#endif
#ifdef CLOSE
      sum += A[i][7];
#else
      sum += A[i][j];
#endif
  printf("%g\n", sum);
  return 0;
}

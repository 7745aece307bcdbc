#include <stdio.h>
#include <stdlib.h>
#ifndef N
#define N 150
#endif
static double a[N][N], b[N][N], c[N][N];
int main(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) a[i][j] = i + j, b[i][j] = i - j;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++) c[i][j] += a[i][k] * b[k][j];
  double s = 0;
  for (int i = 0; i < N; i++) s += c[i][i];
  printf("%g\n", s);
}

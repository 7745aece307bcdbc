#include <stdio.h>
#ifndef N
#define N 24
#endif
double A[N][N], B[N][N];
static double C[N][N];

int main(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) A[i][j] = i + j, B[i][j] = i - j;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++) C[i][j] += A[i][k] * B[k][j];
  printf("%g\n", C[3][4]);
  return 0;
}

/* Heat spreads over a plate: each point becomes the mean of its four neighbours, again and again. */
#include <stdio.h>

#define N 24

double plate[N][N], next[N][N];

int main(void) {
  for (int i = 0; i < N; i++)
    plate[i][0] = 100.0; /* the left edge is hot */
  for (int step = 0; step < 10; step++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        next[i][j] = (plate[i - 1][j] + plate[i + 1][j] + plate[i][j - 1] + plate[i][j + 1]) / 4;
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        plate[i][j] = next[i][j];
  }
  printf("near the edge: %.3f\n", plate[N / 2][2]);
  return 0;
}

/* A stencil that vectorises, float and integer arrays, two grids in turn. */
#include <stdio.h>
#define ROWS 30
#define COLUMNS 64
float now[ROWS][COLUMNS], next[ROWS][COLUMNS];
int steps[8];

int main(int argc, char **argv) {
  (void)argv;
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) now[i][j] = (float)(i * j + argc);
  for (int step = 0; step < 8; step++) {
    for (int i = 1; i + 1 < ROWS; i++)
      for (int j = 1; j + 1 < COLUMNS; j++)
        next[i][j] = 0.25f * (now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1]);
    for (int i = 1; i + 1 < ROWS; i++)
      for (int j = 1; j + 1 < COLUMNS; j++) now[i][j] = next[i][j];
    steps[step] += (int)now[step + 1][3];
  }
  printf("%g %d\n", now[5][5], steps[7]);
  return 0;
}

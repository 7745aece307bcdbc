/* A library to load. */
#include <stdlib.h>
static volatile int own[64];
int part(int n) {
  volatile int *block = malloc(64 * sizeof *block);
  if (!block) return -1;
  for (int i = 0; i < 64; i++) own[i] = n, block[i] = own[i] + i;
  int sum = 0;
  for (int i = 0; i < 64; i++) sum += block[i];
  free((void *)block);
  return sum;
}

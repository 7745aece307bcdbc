/* Allocates more blocks than a small spool has room for, and touches memory only after that. */
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 200000, CELLS = 1024 };
unsigned cells[CELLS];

int main(void) {
  for (int i = 0; i < BLOCKS; i++) {
    char *volatile block = malloc(32);
    free(block);
  }
  for (int i = 0; i < CELLS; i++) cells[i] = i;
  printf("%u\n", cells[CELLS - 1]);
  return 0;
}

/* A table of 5,120 bytes, gone round and round. CLOSE: one that no cache of such a size holds; MENDED: elements of half the bytes. */
#include <stdio.h>
#ifdef CLOSE
enum { COUNT = 4096 };
#else
enum { COUNT = 640 };
#endif
#ifdef MENDED
float table[COUNT];
#else
double table[COUNT];
#endif

int main(void) {
  double sum = 0;
  for (int round = 0; round < 20; round++)
    for (int i = 0; i < COUNT; i++)
      sum += table[i];
  printf("%g\n", sum);
  return 0;
}

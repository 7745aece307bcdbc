/* An array that is written and not read. CLOSE: it is read, too; MENDED: written by memset, which covers whole lines. */
#include <stdio.h>
#include <string.h>
enum { COUNT = 4096 };
double out[COUNT] __attribute__((aligned(64)));

int main(int argc, char **argv) {
  (void)argv;
#ifdef MENDED
  memset(out, argc - 1, sizeof out);
#else
  for (int i = 0; i < COUNT; i++)
#ifdef CLOSE
    out[i] += argc - 1;
#else
    out[i] = argc - 1 + i;
#endif
#endif
  printf("%p\n", (void *)out);
  return 0;
}

/* Numbers that are put into parts of a buffer, in turn. CLOSE: parts of 17 lines begin in different sets; MENDED: as advised. */
#include <stdio.h>
#if defined(CLOSE)
enum { PARTS = 32, PART = 136, PAD = 0 };
#elif defined(MENDED)
enum { PARTS = 32, PART = 128, PAD = 8 };
#else
enum { PARTS = 32, PART = 128, PAD = 0 };
#endif
double out[PARTS * (PART + PAD)];

int main(void) {
  unsigned filled[PARTS] = {0};
  for (int i = 0; i < PARTS * 128; i++) {
    int part = i * 7 % PARTS;
    out[part * (PART + PAD) + filled[part]++] = i;
  }
  printf("%g\n", out[PART]);
  return 0;
}

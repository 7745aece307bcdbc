#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
static void quick(int *a, long lo, long hi) {
  while (lo < hi) {
    int p = a[(lo + hi) / 2]; long i = lo, j = hi;
    while (i <= j) {
      while (a[i] < p) i++;
      while (a[j] > p) j--;
      if (i <= j) { int t = a[i]; a[i++] = a[j]; a[j--] = t; }
    }
    if (j - lo < hi - i) { quick(a, lo, j); lo = i; } else { quick(a, i, hi); hi = j; }
  }
}
int main(void) {
  enum { N = 250000 };
  int *a = malloc(N * sizeof *a);
  uint64_t x = 88172645463325252ull;
  for (int i = 0; i < N; i++) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; a[i] = (int)(x >> 33); }
  quick(a, 0, N - 1);
  for (int i = 1; i < N; i++) if (a[i - 1] > a[i]) return 1;
  printf("%d %d\n", a[0], a[N - 1]);
  free(a);
}

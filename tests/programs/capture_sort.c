/* Sorting, a table that never changes, indices into another array, bytes, read-modify-write. */
#include <stdio.h>
#define N 200
static int numbers[N];
static unsigned char counts[256];
static const int weights[4] = {3, 1, 4, 1};
static long order[N];
struct pair {
  short a;
  double b;
} pairs[N];

static void sort(int *p, int n) {
  for (int i = 1; i < n; i++)
    for (int j = i; j > 0 && p[j - 1] > p[j]; j--) {
      int t = p[j];
      p[j] = p[j - 1];
      p[j - 1] = t;
    }
}

int main(int argc, char **argv) {
  (void)argv;
  unsigned seed = (unsigned)argc;
  for (int i = 0; i < N; i++) {
    seed = seed * 1664525u + 1013904223u;
    numbers[i] = (int)(seed >> 20) * weights[(i + argc) & 3];
    counts[numbers[i] & 255]++;
    order[i] = N - 1 - i;
  }
  sort(numbers, N);
  double sum = 0;
  for (int i = 0; i < N; i++) {
    pairs[order[i]].a = (short)numbers[i];
    pairs[i].b += numbers[order[i]];
    sum += pairs[i].b;
  }
  printf("%g %d\n", sum, counts[7]);
  return 0;
}

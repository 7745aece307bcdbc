/* Blocks that come out of functions of the program's own, as they do in most programs. */
#include <stdlib.h>

struct hooks {
  void *(*get)(size_t);
};

__attribute__((noinline)) static void *xmalloc(size_t n) {
  void *p = malloc(n);
  if (!p) abort();
  return p;
}

/* A call in the last place, which optimised is a jump. */
__attribute__((noinline)) static void *zero(size_t n, size_t size) { return calloc(n, size); }

/* Through a pointer to where it goes. */
__attribute__((noinline)) static int fetch(size_t n, int **out) {
  int *p = xmalloc(n * sizeof *p);
  *out = p;
  return 0;
}

static inline double *inlined(size_t n) { return malloc(n * sizeof(double)); }

struct grid {
  size_t n;
  float *cells;
};

__attribute__((noinline)) static struct grid *grid_new(const struct hooks *hooks, size_t n) {
  struct grid *g = hooks->get(sizeof *g);
  g->n = n;
  g->cells = hooks->get(n * sizeof *g->cells);
  return g;
}

int main(void) {
  struct hooks hooks = {xmalloc};
  struct grid *picture = grid_new(&hooks, 100);
  int *numbers;
  double *sums = inlined(50);
  long *zeros = zero(40, sizeof(long));
  if (fetch(70, &numbers)) return 1;
  for (int i = 0; i < 100; i++) ((volatile float *)picture->cells)[i] = (float)i;
  for (int i = 0; i < 70; i++) ((volatile int *)numbers)[i] = i;
  for (int i = 0; i < 50; i++) ((volatile double *)sums)[i] = i;
  for (int i = 0; i < 40; i++) ((volatile long *)zeros)[i] = i;
  return ((volatile struct grid *)picture)->n == 100 ? 0 : 2;
}

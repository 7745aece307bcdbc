/* Conjugate gradients of a random sparse matrix on four threads, vectors in blocks: thread t works on the t-th quarter of all rows.
 *
 *     orrery cc -O1 -pthread examples/cg.c -o cg
 *     ./cg 64                             64 unknowns into cg.orrery; 64 or 4096 (as usual)
 *
 * The direction p is looked at as a cube, 4x4x4 or 16x16x16, whose first index is dealt in blocks (the NAS benchmark CG, Bailey and
 * others 1991, seen so by Hackstadt, Malony and Mohr 1994). A product with the matrix reads p at the columns of a row, whoever owns
 * them; all else is local. Ends with 1 where the equations are not solved. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#if __has_include("orrery.h")
#include "orrery.h"
#else
#define orrery_mark(name) ((void)0)
#define orrery_pause() ((void)0)
#endif

enum { THREADS = 4, STEPS = 10, MOST = 4096, PAIRS = 3 };

static double p4[4][4][4], p16[16][16][16];
static double x[MOST], r[MOST], q[MOST];
/* Row i has its numbers from first[i] on. */
static int first[MOST + 1], column[MOST * (2 * PAIRS + 1)];
static double value[MOST * (2 * PAIRS + 1)];
static double partial[THREADS];
static double *p;
static int n;
static pthread_barrier_t together;
static sem_t filled;

/* Three random partners for each row: whom, the same in each run. */
static unsigned partner(unsigned *state) {
  *state = *state * 1103515245u + 12345u;
  return *state / 65536u % (unsigned)n;
}

static void matrix(void) {
  unsigned state = 1994;
  int pairs = PAIRS * n, *a = malloc(sizeof(int) * pairs), *b = malloc(sizeof(int) * pairs);
  for (int i = 0; i <= n; i++)
    first[i] = 0;
  for (int m = 0; m < pairs; m++) {
    a[m] = m / PAIRS;
    b[m] = (int)partner(&state);
    first[a[m] + 1] += a[m] != b[m];
    first[b[m] + 1] += a[m] != b[m];
  }
  /* The diagonal, then the pairs, either way. */
  for (int i = 0; i < n; i++)
    first[i + 1] += first[i] + 1;
  int *free_at = malloc(sizeof(int) * n);
  for (int i = 0; i < n; i++) {
    free_at[i] = first[i] + 1;
    column[first[i]] = i;
    value[first[i]] = 16;
  }
  for (int m = 0; m < pairs; m++)
    if (a[m] != b[m]) {
      column[free_at[a[m]]] = b[m];
      value[free_at[a[m]]++] = -1;
      column[free_at[b[m]]] = a[m];
      value[free_at[b[m]]++] = -1;
    }
  free(free_at);
  free(a);
  free(b);
}

/* The sum of what all threads have. */
static double all(long own, double sum) {
  partial[own] = sum;
  pthread_barrier_wait(&together);
  double total = 0;
  for (int t = 0; t < THREADS; t++)
    total += partial[t];
  pthread_barrier_wait(&together);
  return total;
}

static void *work(void *number) {
  long own = (long)number;
  int from = own * n / THREADS, to = (own + 1) * n / THREADS;
  double sum = 0;
  for (int i = from; i < to; i++) {
    x[i] = 0;
    r[i] = 1 + i % 3;
    p[i] = 1 + i % 3;
    sum += r[i] * r[i];
  }
  if (own != 0)
    sem_post(&filled);
  double before = all(own, sum);
  if (own == 0)
    orrery_mark("solve");
  for (int step = 0; step < STEPS; step++) {
    for (int i = from; i < to; i++) {
      double product = 0;
      for (int m = first[i]; m < first[i + 1]; m++)
        product += value[m] * p[column[m]];
      q[i] = product;
    }
    sum = 0;
    for (int i = from; i < to; i++)
      sum += p[i] * q[i];
    double alpha = before / all(own, sum);
    sum = 0;
    for (int i = from; i < to; i++) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
      sum += r[i] * r[i];
    }
    double after = all(own, sum);
    for (int i = from; i < to; i++)
      p[i] = r[i] + after / before * p[i];
    before = after;
    /* Nobody reads a direction that is not there yet. */
    pthread_barrier_wait(&together);
  }
  return NULL;
}

int main(int argc, char **argv) {
  n = argc > 1 ? atoi(argv[1]) : MOST;
  if (n != 64 && n != MOST) {
    fprintf(stderr, "cg: found %s; expected 64 or %d unknowns\n", argv[1], MOST);
    return 2;
  }
  p = n == 64 ? p4[0][0] : p16[0][0];
  matrix();
  pthread_barrier_init(&together, NULL, THREADS);
  pthread_t threads[THREADS];
  sem_init(&filled, 0, 0);
  /* One fills its block after the other: so thread t is core t. */
  for (long t = 1; t < THREADS; t++) {
    pthread_create(&threads[t], NULL, work, (void *)t);
    sem_wait(&filled);
  }
  work((void *)0);
  for (int t = 1; t < THREADS; t++)
    pthread_join(threads[t], NULL);

  /* What follows is a check, and no part of what is looked at. */
  orrery_pause();
  int wrong = 0;
  for (int i = 0; i < n; i++) {
    double off = -(1 + i % 3);
    for (int m = first[i]; m < first[i + 1]; m++)
      off += value[m] * x[column[m]];
    wrong |= off > 1e-3 || off < -1e-3;
  }
  printf("%d unknowns, %d steps: x[0] = %.6f\n", n, STEPS, x[0]);
  return wrong;
}

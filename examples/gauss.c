/* Gaussian elimination on four threads, rows dealt to them in turn: thread t works on rows t, t + 4, t + 8, ...
 *
 *     orrery cc -O1 -pthread examples/gauss.c -o gauss
 *     ./gauss 64                          a system of 64 equations into gauss.orrery; 8, 16 (as usual) or 64
 *
 * Step k takes row k times a factor off each row below it, so the owner of a row reads row k of whoever owns that one. Each thread
 * fills its own rows first, one thread after the other: so thread t is core t. Ends with 1 where the solution is wrong. */
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

enum { THREADS = 4 };

/* An equation a row, its right side last. */
static double small[8][9], medium[16][17], large[64][65];
static double *a;
static int n;
static pthread_barrier_t together;
static sem_t filled;

static void *work(void *number) {
  long own = (long)number;
  int columns = n + 1;
  for (int i = (int)own; i < n; i += THREADS)
    for (int j = 0; j < columns; j++)
      a[i * columns + j] = i == j ? 2 * n : j == n ? i + 1 : 1.0 / (1 + i + j);
  if (own != 0)
    sem_post(&filled);
  pthread_barrier_wait(&together);
  if (own == 0)
    orrery_mark("eliminate");
  for (int k = 0; k < n - 1; k++) {
    for (int i = k + 1; i < n; i++) {
      if (i % THREADS != own)
        continue;
      double factor = a[i * columns + k] / a[k * columns + k];
      a[i * columns + k] = 0;
      for (int j = k + 1; j < columns; j++)
        a[i * columns + j] -= factor * a[k * columns + j];
    }
    /* Nobody begins a step before its row is done. */
    pthread_barrier_wait(&together);
  }
  return NULL;
}

int main(int argc, char **argv) {
  n = argc > 1 ? atoi(argv[1]) : 16;
  if (n != 8 && n != 16 && n != 64) {
    fprintf(stderr, "gauss: found %s; expected 8, 16 or 64 equations\n", argv[1]);
    return 2;
  }
  a = n == 8 ? small[0] : n == 16 ? medium[0] : large[0];
  pthread_barrier_init(&together, NULL, THREADS);
  pthread_t threads[THREADS];
  sem_init(&filled, 0, 0);
  for (long t = 1; t < THREADS; t++) {
    pthread_create(&threads[t], NULL, work, (void *)t);
    sem_wait(&filled);
  }
  work((void *)0);
  for (int t = 1; t < THREADS; t++)
    pthread_join(threads[t], NULL);

  /* What follows is a check, and no part of what is looked at. */
  orrery_pause();
  double x[64];
  int wrong = 0;
  for (int i = n - 1; i >= 0; i--) {
    x[i] = a[i * (n + 1) + n];
    for (int j = i + 1; j < n; j++)
      x[i] -= a[i * (n + 1) + j] * x[j];
    x[i] /= a[i * (n + 1) + i];
  }
  for (int i = 0; i < n; i++) {
    double sum = -(i + 1);
    for (int j = 0; j < n; j++)
      sum += (i == j ? 2 * n : 1.0 / (1 + i + j)) * x[j];
    wrong |= sum > 1e-9 || sum < -1e-9;
  }
  printf("%d equations: x[0] = %.6f\n", n, x[0]);
  return wrong;
}

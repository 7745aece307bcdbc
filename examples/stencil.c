/* A stencil of seven points in three dimensions on four threads: rows (i, j) lie in four blocks, two by two, a thread each.
 *
 *     orrery cc -O1 -pthread examples/stencil.c -o stencil
 *     ./stencil 16                        a cube of 16x16x16 elements into stencil.orrery; 4 or 16 (as usual)
 *
 * Each step takes the mean of an element and its six neighbours, so what is next to a block's border is read by two threads, or three. Each
 * thread fills its own block first. Numbers grow evenly along each axis, which no step changes: ends with 1 where one did. */
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

enum { THREADS = 4, STEPS = 2 };

static double small[4][4][4], large[16][16][16];
static double small_next[4][4][4], large_next[16][16][16];
static double *a, *next;
static int n;
static pthread_barrier_t together;
static sem_t filled;

static double start(int i, int j, int k) { return i + 2 * j + 3 * k; }

static void *work(void *number) {
  long own = (long)number;
  int half = n / 2;
  int i0 = own / 2 * half, j0 = own % 2 * half;
  for (int i = i0; i < i0 + half; i++)
    for (int j = j0; j < j0 + half; j++)
      for (int k = 0; k < n; k++)
        a[(i * n + j) * n + k] = start(i, j, k);
  if (own != 0)
    sem_post(&filled);
  pthread_barrier_wait(&together);
  if (own == 0)
    orrery_mark("steps");
  /* The outermost elements stay. */
  int i1 = i0 ? i0 : 1, i2 = i0 ? n - 1 : half;
  int j1 = j0 ? j0 : 1, j2 = j0 ? n - 1 : half;
  for (int t = 0; t < STEPS; t++) {
    for (int i = i1; i < i2; i++)
      for (int j = j1; j < j2; j++)
        for (int k = 1; k < n - 1; k++) {
          double *at = &a[(i * n + j) * n + k];
          next[(i * n + j) * n + k] =
              (at[0] + at[-n * n] + at[n * n] + at[-n] + at[n] + at[-1] + at[1]) / 7;
        }
    /* Nobody writes what another one still reads. */
    pthread_barrier_wait(&together);
    for (int i = i1; i < i2; i++)
      for (int j = j1; j < j2; j++)
        for (int k = 1; k < n - 1; k++)
          a[(i * n + j) * n + k] = next[(i * n + j) * n + k];
    pthread_barrier_wait(&together);
  }
  return NULL;
}

int main(int argc, char **argv) {
  n = argc > 1 ? atoi(argv[1]) : 16;
  if (n != 4 && n != 16) {
    fprintf(stderr, "stencil: found %s; expected 4 or 16 elements along each axis\n", argv[1]);
    return 2;
  }
  a = n == 4 ? small[0][0] : large[0][0];
  next = n == 4 ? small_next[0][0] : large_next[0][0];
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
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) {
        double off = a[(i * n + j) * n + k] - start(i, j, k);
        wrong |= off > 1e-9 || off < -1e-9;
      }
  printf("%d x %d x %d elements, %d steps: %s\n", n, n, n, STEPS, wrong ? "wrong" : "as they were");
  return wrong;
}

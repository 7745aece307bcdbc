/* Two threads that count in turn, each its own. CLOSE: they count one and the same; MENDED: what each counts has a line of its own. */
#include <pthread.h>
#include <stdio.h>
enum { THREADS = 2, ROUNDS = 200 };
#ifdef MENDED
static struct {
  long count, rest[7];
} counts[THREADS] __attribute__((aligned(64)));
#define COUNT(thread) counts[thread].count
#else
static long counts[THREADS] __attribute__((aligned(64)));
#ifdef CLOSE
#define COUNT(thread) counts[0]
#else
#define COUNT(thread) counts[thread]
#endif
#endif
static pthread_barrier_t barrier;

static void *work(void *own) {
  long thread = (long)own;
  for (int round = 0; round < ROUNDS; round++) {
    if (round % THREADS == thread)
      COUNT(thread)++;
    pthread_barrier_wait(&barrier);
  }
  return 0;
}

int main(void) {
  pthread_t threads[THREADS];
  pthread_barrier_init(&barrier, 0, THREADS);
  for (long n = 0; n < THREADS; n++)
    pthread_create(&threads[n], 0, work, (void *)n);
  for (int n = 0; n < THREADS; n++)
    pthread_join(threads[n], 0);
  printf("%ld %p\n", COUNT(0) + COUNT(1), (void *)counts);
  return 0;
}

/* Threads: MODE. many: 1,500 at once; tiny: the smallest stacks there are; churn: 3,000 one after another; cancel: ended from
 * outside, at any instruction; tls: variables of threads; idle: one that works while
 * the first one sleeps; busy THREADS: so many at once, each with references for more than a chunk. */
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 3000
volatile int cells[MOST][16];
static __thread volatile int own[32];
static pthread_barrier_t together;
static int waits;
static sem_t begun;
volatile unsigned long spins[64];

static void *work(void *of) {
  long n = (long)of;
  for (int i = 0; i < 16; i++) cells[n][i] = (int)n + i;
  for (int i = 0; i < 32; i++) own[i] = (int)n;
  if (waits) pthread_barrier_wait(&together);
  int sum = 0;
  for (int i = 0; i < 32; i++) sum += own[i] == (int)n;
  for (int i = 0; i < 16; i++) sum += cells[n][i] == (int)n + i;
  return (void *)(long)(sum == 48);
}

static void *fill(void *of) {
  for (int round = 0; round < 40; round++)
    for (int n = 0; n < MOST; n++)
      for (int i = 0; i < 16; i++) cells[n][i] = round;
  return of;
}

#define SWEEPS 8000
static void *sweep(void *of) {
  long n = (long)of, sum = 0;
  pthread_barrier_wait(&together);
  for (int round = 0; round < SWEEPS; round++)
    for (int i = 0; i < 16; i++) cells[n][i] = round;
  /* None ends before all are done. */
  pthread_barrier_wait(&together);
  for (int i = 0; i < 16; i++) sum += cells[n][i] == SWEEPS - 1;
  return (void *)(long)(sum == 16);
}

static void *spin(void *of) {
  int old;
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
  sem_post(&begun);
  for (;;) spins[(long)of % 64]++;
}


int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "many";
  static pthread_t threads[MOST];
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  int right = 0, count = 1500;
  void *answer;
  void *(*does)(void *) = work;
  if (!strcmp(mode, "busy")) {
    does = sweep;
    if (argc > 2) count = atoi(argv[2]);
    if (count < 1 || count > MOST) return 1;
  }
  if (!strcmp(mode, "cancel")) {
    sem_init(&begun, 0, 0);
    for (int i = 0; i < 200; i++) {
      if (pthread_create(threads, &attributes, spin, (void *)(long)i)) return 1;
      sem_wait(&begun);
      usleep(100 + i);
      pthread_cancel(threads[0]);
      pthread_join(threads[0], &answer);
      right += answer == PTHREAD_CANCELED;
    }
    printf("%d\n", right);
    return 0;
  }
  if (!strcmp(mode, "idle")) {
    cells[0][0] = 1;
    if (pthread_create(threads, NULL, fill, threads)) return 1;
    pthread_join(threads[0], &answer);
    fprintf(stderr, "expect cells %d\n", 40 * MOST * 16 + 1);
    printf("%d\n", answer == threads);
    return 0;
  }
  if (!strcmp(mode, "tiny")) count = 8, pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN));
  if (!strcmp(mode, "tls")) count = 8;
  if (!strcmp(mode, "churn")) {
    for (long i = 0; i < MOST; i++) {
      if (pthread_create(threads, &attributes, work, (void *)i)) return 1;
      pthread_join(threads[0], &answer);
      right += (int)(long)answer;
    }
    count = MOST;
  } else {
    waits = 1;
    pthread_barrier_init(&together, NULL, (unsigned)count);
    for (long i = 0; i < count; i++)
      if (pthread_create(&threads[i], &attributes, does, (void *)i)) return fprintf(stderr, "no thread %ld\n", i), 1;
    for (long i = 0; i < count; i++) {
      pthread_join(threads[i], &answer);
      right += (int)(long)answer;
    }
  }
  fprintf(stderr, "expect cells %d\n", count * (does == sweep ? 16 * (SWEEPS + 1) : 32));
  printf("%d %d\n", right, right == count);
  return 0;
}

/* Four threads, each with an array of its own and one for all; started twice, so that eight threads ran. */
#include <pthread.h>
#include <stdio.h>
#define N 40000
static int own[4][N];
static _Atomic long all;
static _Thread_local int mine[64];

static void *work(void *p) {
  int *array = p;
  for (int i = 0; i < N; i++) {
    array[i] = i;
    mine[i & 63] += i;
  }
  for (int i = 0; i < N; i++) all += array[i] & 1;
  return NULL;
}

int main(void) {
  for (int round = 0; round < 2; round++) {
    pthread_t threads[4];
    for (int t = 0; t < 4; t++) pthread_create(&threads[t], NULL, work, own[t]);
    for (int t = 0; t < 4; t++) pthread_join(threads[t], NULL);
  }
  printf("%ld\n", all);
  return 0;
}

// Two threads that write halves of one array, each with an array of its own on its stack.
#include <pthread.h>
#include <stdio.h>

int shared[2000];

static void *half(void *which) {
    int mine[500];
    int first = which ? 1000 : 0;
    for (int i = 0; i < 500; i++) mine[i] = i;
    __asm__ volatile("" : : "r"(mine) : "memory");
    for (int i = 0; i < 1000; i++) shared[first + i] = i;
    int sum = 0;
    for (int i = 0; i < 500; i++) sum += mine[i];
    return (void *)(long)sum;
}

int main(void) {
    pthread_t threads[2];
    for (long t = 0; t < 2; t++) pthread_create(&threads[t], NULL, half, (void *)t);
    for (int t = 0; t < 2; t++) pthread_join(threads[t], NULL);
    long sum = 0;
    for (int i = 0; i < 2000; i++) sum += shared[i];
    return sum == 999000 ? 0 : 1;
}

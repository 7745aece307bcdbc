// Loops whose references can be counted by hand; -O1 keeps sums in registers and arrays in memory.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>

#define N 24
double A[N][N], B[N][N], C[N][N];
static int histogram[64];
double *heap;

__attribute__((noinline)) void multiply(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++) sum += A[i][k] * B[k][j];
            C[i][j] = sum;
        }
}

__attribute__((noinline)) int reverse(int n) {
    int local[100];
    for (int i = 0; i < 100; i++) local[i] = i * n;
    __asm__ volatile("" : : "r"(local) : "memory");
    int sum = 0;
    for (int i = 99; i >= 0; i--) sum += local[i];
    return sum;
}

__attribute__((noinline)) void count(int n) {
    for (int i = 0; i < n; i++) histogram[i % 64]++;
}

__attribute__((noinline)) int often(int n) {
    int brief[16];
    for (int i = 0; i < 16; i++) brief[i] = i + n;
    __asm__ volatile("" : : "r"(brief) : "memory");
    return brief[n & 15];
}

int main(int argc, char **argv) {
    multiply();
    int sum = reverse(2) + reverse(3);
    count(640);
    for (int i = 0; i < 20; i++) sum += often(i) - often(i);
    if (argc > 1 && strcmp(argv[1], "crash") == 0) raise(SIGSEGV);
    if (argc > 1 && strcmp(argv[1], "forever") == 0) for (;;) count(64);
    fprintf(stderr, "to standard error\n");
    printf("sum %d\n", sum);
    return argc > 1 ? atoi(argv[1]) : 0;
}

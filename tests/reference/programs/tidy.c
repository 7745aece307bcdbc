// Aligned data, and (assembled with instructions kept inside 32-byte bundles) no fetch across a line: what cachegrind and
// the contract count alike. A matrix product, a copy, a walk over a list, and enough code that I1 misses too.
#include "start.h"

// Not static: stores to what nobody reads would be left out.
#define N 7
double a[N][N], b[N][N], c[N][N];
int from[600], to[600];
struct node { struct node *next; long pad[7]; } list[64];

static void multiply(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++) sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
}

static void copy(void) {
    for (int i = 0; i < 300; i++) to[i] = from[(i * 7) % 300];
}

static long walk(void) {
    for (int i = 0; i < 64; i++) list[i].next = &list[(i * 29 + 11) & 63];
    long steps = 0;
    for (struct node *n = list; steps < 150; n = n->next) steps++;
    return steps;
}

// A hundred and a bit bytes of code each; called in turn they do not fit I1.
#define STEP(n)                                                                                                            \
    __attribute__((noinline)) static int step##n(int x) {                                                                  \
        x = x * (n * 2 + 3) + from[(n * 37) % 600];                                                                        \
        x ^= x << (n % 7 + 1);                                                                                             \
        x += from[(n * 91 + 5) % 600] * 17;                                                                                \
        x ^= x >> (n % 5 + 2);                                                                                             \
        to[(n * 53) % 600] = x;                                                                                            \
        return x + from[(n * 13 + 7) % 600];                                                                               \
    }
#define STEPS(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15) F(16) F(17) F(18)
STEPS(STEP)
#define CALL(n) x = step##n(x);

int body(void) {
    int x = 1;
    multiply();
    copy();
    for (int round = 0; round < 5; round++) {
        STEPS(CALL)
        if (round % 2 == 1) x += (int)walk();
    }
    copy();
    return x == 0;
}

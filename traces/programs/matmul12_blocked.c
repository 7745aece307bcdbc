/* C = A B in 4 x 4 blocks: three blocks at a time stay in the cache. */
#include "orrery_record.h"

enum { N = 12, BLOCK = 4 };

static struct {
    double a[N][N], b[N][N], c[N][N];
} memory ORRERY_MEMORY;
#define A memory.a
#define B memory.b
#define C memory.c

static void __attribute__((noinline)) multiply(void)
{
    for (int ii = 0; ii < N; ii += BLOCK)
        for (int jj = 0; jj < N; jj += BLOCK)
            for (int kk = 0; kk < N; kk += BLOCK)
                for (int i = ii; i < ii + BLOCK; i++)
                    for (int j = jj; j < jj + BLOCK; j++) {
                        double sum = 0;
                        for (int k = kk; k < kk + BLOCK; k++) {
                            double a = LOAD_FIRST(A[i][k]);
                            sum += a * B[k][j];
                        }
                        C[i][j] += sum;
                    }
}

/* One element the slow way, to see that the product is right. */
static double expected(int i, int j)
{
    double sum = 0;
    for (int k = 0; k < N; k++)
        sum += A[i][k] * B[k][j];
    return sum;
}

int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            A[i][j] = i + j;
            B[i][j] = i - j;
        }

    orrery_title("12×12 matrix multiply", "in 4×4 blocks");
    orrery_region("A", A, sizeof A, "double", sizeof A[0][0], 2, N, N);
    orrery_region("B", B, sizeof B, "double", sizeof B[0][0], 2, N, N);
    orrery_region("C", C, sizeof C, "double", sizeof C[0][0], 2, N, N);
    orrery_write_tables();

    ORRERY_START();
    multiply();
    ORRERY_STOP();
    return C[1][2] == expected(1, 2) ? 0 : 1;
}

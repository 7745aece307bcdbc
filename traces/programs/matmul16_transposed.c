/* C = A B with B stored transposed: rows against rows. */
#include "orrery_record.h"

enum { N = 16 };

static struct {
    double a[N][N], b[N][N], c[N][N];
} memory ORRERY_MEMORY;
#define A memory.a
#define B memory.b
#define C memory.c

static void __attribute__((noinline)) multiply(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += A[i][k] * B[j][k];
            C[i][j] = sum;
        }
}

/* One element the slow way, to see that the product is right. */
static double expected(int i, int j)
{
    double sum = 0;
    for (int k = 0; k < N; k++)
        sum += A[i][k] * B[j][k];
    return sum;
}

int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            A[i][j] = i + j;
            B[i][j] = i - j;
        }

    orrery_title("16×16 matrix multiply", "right matrix stored transposed");
    orrery_region("A", A, sizeof A, "double", sizeof A[0][0], 2, N, N);
    orrery_region("B", B, sizeof B, "double", sizeof B[0][0], 2, N, N);
    orrery_region("C", C, sizeof C, "double", sizeof C[0][0], 2, N, N);
    orrery_write_tables();

    ORRERY_START();
    multiply();
    ORRERY_STOP();
    return C[1][2] == expected(1, 2) ? 0 : 1;
}

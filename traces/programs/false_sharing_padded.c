/* As false_sharing, but every sum has a line of its own: nobody waits for anybody. */
#include "orrery_record.h"

enum { N = 512, WORKERS = 4, SHARE = N / WORKERS, LINE = 64 };

static struct {
    double a[N];
    double sums[WORKERS][LINE / sizeof(double)];
} memory ORRERY_MEMORY;
#define A memory.a
#define SUM(worker) memory.sums[worker][0]

/* One step of each worker, then the next of each: what threads of equal speed do. */
static void __attribute__((noinline)) add_up(void)
{
    for (int i = 0; i < SHARE; i++)
        for (int worker = 0; worker < WORKERS; worker++) {
            ORRERY_CORE(worker);
            SUM(worker) += A[worker * SHARE + i];
        }
}

int main(void)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        A[i] = i;

    orrery_title("False sharing, mended", "four workers, a line for each sum");
    orrery_region("A", A, sizeof A, "double", sizeof A[0], 2, WORKERS, SHARE);
    orrery_region("sums", memory.sums, sizeof memory.sums, "double", sizeof SUM(0), 2, WORKERS, LINE / (int)sizeof(double));
    orrery_cores(WORKERS);
    orrery_write_tables();

    ORRERY_START();
    add_up();
    ORRERY_STOP();
    for (int worker = 0; worker < WORKERS; worker++)
        sum += SUM(worker);
    return sum != N * (N - 1) / 2;
}

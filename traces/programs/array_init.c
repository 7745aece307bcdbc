/* An array is set to its indices, from its first element to its last: a pure stream of stores. */
#include "orrery_record.h"

enum { N = 1024 };

static struct {
    double a[N];
} memory ORRERY_MEMORY;
#define A memory.a

static void __attribute__((noinline)) initialise(void)
{
    for (int i = 0; i < N; i++)
        A[i] = i;
}

int main(void)
{
    orrery_title("Array initialisation", "1024 doubles, first to last");
    orrery_region("A", A, sizeof A, "double", sizeof A[0], 1, N);
    orrery_write_tables();

    ORRERY_START();
    initialise();
    ORRERY_STOP();
    return A[N - 1] == N - 1 ? 0 : 1;
}

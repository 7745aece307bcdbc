/* Bubble sort of reversed input: every compare swaps, so each makes two reads and two writes. */
#include "orrery_record.h"

enum { N = 512, MARK_EVERY = 64 };

static struct {
    double a[N];
} memory ORRERY_MEMORY;
#define A memory.a

/* Each sweep carries the largest of the first `length` elements to their end. */
static void __attribute__((noinline)) bubble_sort(void)
{
    for (int length = N; length > 1; length--) {
        if (length % MARK_EVERY == 0)
            ORRERY_MARK(length / MARK_EVERY - 1);
        for (int j = 0; j + 1 < length; j++) {
            double left = A[j], right = A[j + 1];
            if (left > right) {
                A[j] = right;
                A[j + 1] = left;
            }
        }
    }
}

int main(void)
{
    static char names[N / MARK_EVERY][32];
    for (int i = 0; i < N; i++)
        A[i] = N - i;

    orrery_title("Bubble sort", "512 doubles, reversed");
    orrery_region("A", A, sizeof A, "double", sizeof A[0], 1, N);
    for (int m = 0; m < N / MARK_EVERY; m++) {
        snprintf(names[m], sizeof names[m], "sweep over %d", (m + 1) * MARK_EVERY);
        orrery_marker(names[m]);
    }
    orrery_write_tables();

    ORRERY_START();
    bubble_sort();
    ORRERY_STOP();
    for (int i = 0; i < N; i++)
        if (A[i] != i + 1)
            return 1;
    return 0;
}

/* Merge sort of random input: halves first, then a merge into a temporary array right after the first, and back. */
#include "orrery_record.h"

enum { N = 512, MARK_FROM = 64 };

static struct {
    double a[N], temporary[N];
} memory ORRERY_MEMORY;
#define A memory.a
#define T memory.temporary

/* Merges A[low..middle) and A[middle..high), reading each element once: the heads of both runs wait in registers. */
static void __attribute__((noinline)) merge(int low, int middle, int high)
{
    int i = low, j = middle, k = low;
    double left = A[i], right = A[j];
    for (;;) {
        if (left <= right) {
            T[k++] = left;
            if (++i == middle) {
                T[k++] = right;
                while (++j < high)
                    T[k++] = A[j];
                break;
            }
            left = A[i];
        } else {
            T[k++] = right;
            if (++j == high) {
                T[k++] = left;
                while (++i < middle)
                    T[k++] = A[i];
                break;
            }
            right = A[j];
        }
    }
    for (k = low; k < high; k++)
        A[k] = T[k];
}

static void __attribute__((noinline)) merge_sort(int low, int high)
{
    int middle = (low + high) / 2;
    if (high - low < 2)
        return;
    merge_sort(low, middle);
    merge_sort(middle, high);
    for (int m = 0, length = MARK_FROM; length <= N; m++, length *= 2)
        if (high - low == length)
            ORRERY_MARK(m);
    merge(low, middle, high);
}

int main(void)
{
    static char names[8][32];
    unsigned long seed = 2011;
    for (int i = 0; i < N; i++) {
        seed = seed * 6364136223846793005UL + 1442695040888963407UL; /* Knuth's MMIX generator */
        A[i] = (double)(seed >> 40);
    }

    orrery_title("Merge sort", "512 doubles, random");
    orrery_region("A", A, sizeof A, "double", sizeof A[0], 1, N);
    orrery_region("temporary", T, sizeof T, "double", sizeof T[0], 1, N);
    for (int m = 0, length = MARK_FROM; length <= N; m++, length *= 2) {
        snprintf(names[m], sizeof names[m], "merge of %d", length);
        orrery_marker(names[m]);
    }
    orrery_write_tables();

    ORRERY_START();
    merge_sort(0, N);
    ORRERY_STOP();
    for (int i = 1; i < N; i++)
        if (A[i - 1] > A[i])
            return 1;
    return 0;
}

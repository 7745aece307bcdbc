// The program behind trace `qs`: the C library's qsort on 20,000 ints, with its whole start and end. Recorded by
// traces.rs with valgrind --tool=lackey --trace-mem=yes.
#include <stdlib.h>

static int compare(const void *a, const void *b) {
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

int main(void) {
    enum { N = 20000 };
    int *v = malloc(N * sizeof *v);
    if (!v) return 2;
    unsigned seed = 1;
    for (int i = 0; i < N; i++) {
        seed = seed * 1664525u + 1013904223u;
        v[i] = (int)(seed >> 1);
    }
    qsort(v, N, sizeof *v, compare);
    for (int i = 1; i < N; i++)
        if (v[i - 1] > v[i]) return 1;
    return 0;
}

// Says of itself where its variables, stack arrays and calls are, for tests/capture/symbols.rs to compare with what the debug
// information tells. The comments behind calls say what the result goes to: name, element type, bytes of an element.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef double row_t[16];
struct point { float x, y, z; };
struct node { struct node *next; double *data; union { int *as_int; float *as_float; }; };
enum color { RED, GREEN, BLUE };
union value { int i; double d; };

double A[16][16];
row_t B[4];
const int table[5] = {1, 2, 3, 4, 5};
static struct point points[10];
struct point origin;
struct { int a; char b; } nameless;
union value values[3];
enum color colors[7];
char *labels[2][3];
int (*handlers[4])(int);
uint8_t cube[2][3][4];
volatile long counter;
static int buffer[3];
_Thread_local int per_thread[4];
double *global_pointer;
struct node head;

void other(void);

#define VAR(x) printf("var " #x " %p %zu\n", (void *)&(x), sizeof(x))

__attribute__((noinline)) void *take(size_t bytes, int line) {
    printf("call %p %d\n", __builtin_return_address(0), line);
    return malloc(bytes);
}

static inline __attribute__((always_inline)) double *make(size_t n) {
    double *made = take(n * sizeof(double), __LINE__); // -> made double 8
    memset(made, 0, n * sizeof(double));
    return made;
}

__attribute__((noinline)) int once(void) {
    static int calls;
    static double cache[8];
    VAR(calls);
    VAR(cache);
    cache[calls & 7] += 1;
    return ++calls;
}

__attribute__((noinline)) int twice(void) {
    static int calls[2];
    VAR(calls);
    return ++calls[1];
}

__attribute__((noinline)) void use(void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }

__attribute__((noinline)) int frame(int n) {
    double local[32];
    int grid[4][8];
    struct point here = {1, 2, 3};
    int sized[n];
    int scalar = n;
    {
        uint16_t inner[12];
        printf("stack inner %ld %zu\n", (long)((char *)inner - (char *)__builtin_dwarf_cfa()), sizeof inner);
        use(inner);
    }
    printf("stack local %ld %zu\n", (long)((char *)local - (char *)__builtin_dwarf_cfa()), sizeof local);
    printf("stack grid %ld %zu\n", (long)((char *)grid - (char *)__builtin_dwarf_cfa()), sizeof grid);
    printf("stack here %ld %zu\n", (long)((char *)&here - (char *)__builtin_dwarf_cfa()), sizeof here);
    use(local); use(grid); use(&here); use(sized); use(&scalar);
    return scalar;
}

__attribute__((noinline)) void calls(struct node *n, char **out, int rows) {
    double *a = take(80, __LINE__); // -> a double 8
    int *b = (int *)take(40, __LINE__); // -> b int 4
    struct point *p = take(120, __LINE__), *q = take(120, __LINE__); // -> ? struct point 12
    double (*m)[16] = take(512, __LINE__); // -> m double 8 16
    int **grid = take((size_t)rows * sizeof *grid, __LINE__); // -> grid int * 8
    for (int i = 0; i < rows; i++) grid[i] = take(64, __LINE__); // -> grid[i] int 4
    n->data = take(16, __LINE__); // -> n->data double 8
    n->next = take(sizeof(struct node), __LINE__); // -> n->next struct node 24
    n->next->data = take(8, __LINE__); // -> n->next->data double 8
    n->as_float = take(8, __LINE__); // -> n->as_float float 4
    *out = take(9, __LINE__); // -> *out char 1
    global_pointer = take(8, __LINE__); // -> global_pointer double 8
    head.data = take(8, __LINE__); // -> head.data double 8
    void *raw = take(8, __LINE__); // -> raw ? 1
    uint32_t *late;
    if ((late = take(4, __LINE__)) == NULL) abort(); // -> late uint32_t 4
    long *split =
        take(4, __LINE__); // -> split long int 8
    // Unsure, all of these: the result goes elsewhere or through something first.
    use(take(1, __LINE__)); // -> none
    size_t number = (size_t)take(1, __LINE__); // -> none
    char *moved = (char *)take(8, __LINE__) + 1; // -> moved char 1
    char *either = rows > 2 ? take(8, __LINE__) : NULL; // -> none
    use(a); use(b); use(p); use(q); use(m); use(grid); use(raw); use(late); use(split); use(moved); use(either);
    use((void *)number);
}

int main(void) {
    VAR(A); VAR(B); VAR(table); VAR(points); VAR(origin); VAR(nameless); VAR(values); VAR(colors); VAR(labels);
    VAR(handlers); VAR(cube); VAR(counter); VAR(buffer); VAR(global_pointer); VAR(head);
    other();
    once();
    twice();
    frame(5);
    char *name = NULL;
    calls(&head, &name, 3);
    double *mine = make(4);
    use(mine);
    per_thread[0] = buffer[0];
    return 0;
}

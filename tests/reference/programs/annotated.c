/* For scripts/annotate-cachegrind.sh: a program that is all its own, no library, so that two tools see the same references to the last
 * one. A multiplication, a sort, a walk across rows, counts in a table, structures with a field that lies over two lines. */
enum { N = 24, M = 600 };
double A[N][N], B[N][N], C[N][N];
int numbers[M];
unsigned seed = 1; /* initialised, so that there is a data segment: without one Valgrind reads no symbols */
unsigned char histogram[256];
struct __attribute__((packed)) item {
  char kind;
  double value;
  int next[5];
} items[200];

static void multiply(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < N; k++)
        sum += A[i][k] * B[k][j];
      C[i][j] = sum;
    }
}

static void sort(void) {
  for (int i = 1; i < M / 4; i++)
    for (int j = i; j > 0 && numbers[j - 1] > numbers[j]; j--) {
      int swapped = numbers[j];
      numbers[j] = numbers[j - 1];
      numbers[j - 1] = swapped;
    }
}

static int walk(void) {
  double sum = 0;
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++)
      sum += C[i][j];
  for (int n = 0; n < 200; n++) {
    items[n].value += sum;
    items[n].next[n % 5] += n;
  }
  return (int)sum;
}

static void count(void) {
  for (int n = 0; n < M; n++) {
    seed = seed * 1664525u + 1013904223u;
    numbers[n] = (int)(seed >> 16);
    histogram[seed >> 24]++;
  }
}

__attribute__((noreturn)) void _start(void) {
  count();
  sort();
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      A[i][j] = B[j][i] = numbers[i] + j;
  multiply();
  int code = walk() & 0;
  __asm__ volatile("syscall" : : "a"(60), "D"(code));
  __builtin_unreachable();
}

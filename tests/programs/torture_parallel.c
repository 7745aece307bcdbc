/* OpenMP: a loop shared by threads. */
#include <stdio.h>
volatile int cells[20000];
static int private_of_thread;
#pragma omp threadprivate(private_of_thread)
int main(void) {
  long sum = 0;
#pragma omp parallel num_threads(4)
  {
    private_of_thread = 1;
    for (int round = 0; round < 10; round++) {
#pragma omp for reduction(+ : sum)
      for (int i = 0; i < 20000; i++) {
        cells[i] = cells[i] + i % 7;
        sum += cells[i] * private_of_thread;
      }
    }
  }
  fprintf(stderr, "expect cells %d\n", 20000 * 10 * 3);
  printf("%ld\n", sum);
  return 0;
}

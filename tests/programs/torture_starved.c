/* A signal in the middle of what records a reference, whose handler fills many chunks: STEPS [ROUNDS]. `stepper` runs it, and sends
 * SIGUSR1 so many instructions after each breakpoint: first none, then one, and so on. What must be recorded is said on standard
 * error. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

volatile unsigned data[256];
volatile unsigned table[64];
static unsigned long rounds = 20000;

static void touch(int sig) {
  (void)sig;
  for (unsigned long k = 0; k < rounds; k++)
    for (int i = 0; i < 64; i++) table[i]++;
}

int main(int argc, char **argv) {
  unsigned steps = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
  if (argc > 2) rounds = strtoul(argv[2], NULL, 10);
  signal(SIGUSR1, touch);
  for (unsigned i = 0; i < steps; i++) {
    __asm__ volatile("int3");
    data[i % 256] = i;
    /* The last signal comes before the next breakpoint. */
    __asm__ volatile(".rept 100; nop; .endr");
  }
  unsigned long sum = 0;
  for (int i = 0; i < 64; i++) sum += table[i];
  fprintf(stderr, "expect table %lu\nexpect data %u\n", steps * rounds * 128 + 64, steps);
  printf("%d\n", sum == steps * rounds * 64);
  return 0;
}

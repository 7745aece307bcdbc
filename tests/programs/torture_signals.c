/* Signals at every instruction: MODE [SIGNALS]. What it computes does not depend on when they come, and is printed; what must be
 * recorded is said on standard error. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define N 4096
volatile unsigned data[N];
volatile unsigned table[64];
volatile unsigned inner[16];
static volatile unsigned long ticks, inner_ticks, jumps;
static unsigned long wanted = 500, rounds;
static sigjmp_buf out;
static int longer = 1;

static void touch(int sig) {
  (void)sig;
  for (int k = 0; k < longer; k++)
    for (int i = 0; i < 64; i++) table[i]++;
  ticks++;
}

/* Handlers of one signal that interrupt each other. */
static void add(int sig) {
  static volatile int depth;
  depth++;
  for (int i = 0; i < 64; i++) {
    if (i == 20 && depth < 4 && ticks % 3) raise(sig);
    __atomic_fetch_add(&table[i], 1, __ATOMIC_RELAXED);
  }
  depth--;
  __atomic_fetch_add(&ticks, 1, __ATOMIC_RELAXED);
}

/* Handlers of several threads at once. */
static void add_once(int sig) {
  (void)sig;
  for (int i = 0; i < 64; i++) __atomic_fetch_add(&table[i], 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&ticks, 1, __ATOMIC_RELAXED);
}

/* Little more than the interruption itself. */
static void swift(int sig) {
  (void)sig;
  table[ticks % 64]++;
  ticks++;
}

static void nested(int sig) {
  for (int i = 0; i < 32; i++) table[i]++;
  raise(SIGUSR2);
  for (int i = 32; i < 64; i++) table[i]++;
  (void)sig;
  ticks++;
}

static void within(int sig) {
  (void)sig;
  for (int i = 0; i < 16; i++) inner[i]++;
  inner_ticks++;
}

static void leave(int sig) {
  (void)sig;
  for (int i = 0; i < 64; i++) table[i]++;
  ticks++;
  jumps++;
  siglongjmp(out, 1);
}

static void on(int sig, void (*handler)(int), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(sig, &action, NULL);
}

static void round_of_work(void) {
  for (unsigned i = 0; i < N; i++) data[i] = data[i] * 1664525u + 1013904223u;
}

static void every(int which, long microseconds) {
  struct itimerval timer = {{0, microseconds}, {0, microseconds}};
  setitimer(which, &timer, NULL);
}

/* Whether each element is what the same arithmetic gives without memory in between. */
static int right(unsigned long times) {
  unsigned sums = 0, value = 0;
  for (unsigned long i = 0; i < times; i++) value = value * 1664525u + 1013904223u;
  for (unsigned i = 0; i < N; i++) sums += data[i] == value;
  return sums == N;
}

#define THREADS 4
#define PART (N / THREADS)
static volatile int done;
static unsigned long rounds_of[THREADS];

static void *work_on_part(void *of) {
  long n = (long)of;
  /* On the stack: what the handler interrupts must find it again. */
  unsigned long own = 0;
  while (!done) {
    for (unsigned i = 0; i < PART; i++) data[n * PART + i] = data[n * PART + i] * 1664525u + 1013904223u;
    own++;
  }
  rounds_of[n] = own;
  return NULL;
}

/* Signals for the process, which any thread takes, and for each thread. */
static int threads_bear_signals(void) {
  pthread_t threads[THREADS];
  on(SIGALRM, add_once, SA_RESTART), on(SIGUSR1, add_once, SA_RESTART);
  for (long n = 0; n < THREADS; n++)
    if (pthread_create(&threads[n], NULL, work_on_part, (void *)n)) return 0;
  every(ITIMER_REAL, 200);
  for (unsigned long sent = 0; ticks < wanted; sent++) pthread_kill(threads[sent % THREADS], SIGUSR1), usleep(50);
  every(ITIMER_REAL, 0);
  done = 1;
  int same = 1;
  unsigned long all = 0;
  for (long n = 0; n < THREADS; n++) {
    pthread_join(threads[n], NULL);
    unsigned value = 0;
    for (unsigned long i = 0; i < rounds_of[n]; i++) value = value * 1664525u + 1013904223u;
    for (unsigned i = 0; i < PART; i++) same &= data[n * PART + i] == value;
    all += rounds_of[n];
  }
  for (unsigned i = 0; i < 64; i++) same &= table[i] == ticks;
  fprintf(stderr, "%lu signals\nexpect table %lu\nexpect data %lu\n", ticks, ticks * 64 + 64, all * PART * 2 + N);
  return same;
}

static int overflow(volatile char *above) {
  volatile char here[256];
  here[0] = above[0];
  return overflow(here) + here[0];
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "timer";
  if (argc > 2) wanted = strtoul(argv[2], NULL, 10);
  int jumping = 0;
  /* Made before any signal comes: a handler that leaves while it is made would leave it empty. */
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  if (!strcmp(mode, "threads")) {
    printf("%d\n", threads_bear_signals());
    return 0;
  }
  if (!strcmp(mode, "onstack")) {
    /* The handler has a stack of its own, and comes back from it. */
    stack_t other = {.ss_sp = malloc(65536), .ss_size = 65536};
    sigaltstack(&other, NULL);
    on(SIGALRM, touch, SA_ONSTACK | SA_RESTART), every(ITIMER_REAL, 200);
  }
  if (!strcmp(mode, "timer")) on(SIGALRM, touch, SA_RESTART), every(ITIMER_REAL, 200);
  if (!strcmp(mode, "prof")) on(SIGPROF, touch, SA_RESTART), every(ITIMER_PROF, 1000);
  if (!strcmp(mode, "nested")) on(SIGALRM, nested, 0), on(SIGUSR2, within, 0), every(ITIMER_REAL, 200);
  if (!strcmp(mode, "nodefer")) on(SIGALRM, add, SA_NODEFER), every(ITIMER_REAL, 40);
  if (!strcmp(mode, "storm")) on(SIGALRM, touch, 0), every(ITIMER_REAL, 40);
  if (!strcmp(mode, "swift")) on(SIGALRM, swift, 0), every(ITIMER_REAL, 30);
  /* Each handler fills chunks of the spool by itself. */
  if (!strcmp(mode, "long")) longer = 600, on(SIGALRM, touch, 0), every(ITIMER_REAL, 3000);
  if (!strcmp(mode, "altstack") || !strcmp(mode, "jump")) {
    stack_t other = {.ss_sp = malloc(65536), .ss_size = 65536};
    int flags = 0;
    if (!strcmp(mode, "altstack")) sigaltstack(&other, NULL), flags = SA_ONSTACK;
    jumping = 1;
    on(SIGALRM, leave, flags);
    /* None comes before there is a place to jump to. */
    sigprocmask(SIG_BLOCK, &alarm, NULL);
    every(ITIMER_REAL, 200);
  }
  if (!strcmp(mode, "overflow")) {
    /* The stack overflows, and a handler on another one comes out of it. */
    stack_t other = {.ss_sp = malloc(65536), .ss_size = 65536};
    sigaltstack(&other, NULL);
    on(SIGSEGV, leave, SA_ONSTACK);
    volatile char top[1] = {1};
    for (volatile unsigned long i = 0; i < wanted; i++)
      if (!sigsetjmp(out, 1)) overflow(top);
    printf("%d\n", ticks == wanted && table[7] == wanted);
    return 0;
  }
  while (ticks < wanted) {
    if (jumping) {
      /* A round that was left begins again where it was. */
      static volatile unsigned at;
      sigsetjmp(out, 1);
      sigprocmask(SIG_UNBLOCK, &alarm, NULL);
      while (at < N && ticks < wanted) {
        unsigned next = data[at] * 1664525u + 1013904223u;
        sigprocmask(SIG_BLOCK, &alarm, NULL);
        data[at] = next;
        at++;
        sigprocmask(SIG_UNBLOCK, &alarm, NULL);
        for (unsigned i = 0; i < 16; i++) inner[i]++;
      }
      if (at == N) {
        /* Left between the two, the round would begin again and not be counted. */
        sigprocmask(SIG_BLOCK, &alarm, NULL);
        at = 0;
        rounds++;
        sigprocmask(SIG_UNBLOCK, &alarm, NULL);
      }
      if (ticks >= wanted) {
        every(ITIMER_REAL, 0);
        for (; at && at < N; at++) data[at] = data[at] * 1664525u + 1013904223u;
        rounds += at == N;
      }
    } else {
      round_of_work();
      rounds++;
    }
  }
  every(ITIMER_REAL, 0);
  every(ITIMER_PROF, 0);
  int same = 1, once = !strcmp(mode, "swift");
  for (unsigned i = 0; i < 64; i++) same &= table[i] == (once ? (ticks + 63 - i) / 64 : ticks * longer);
  for (int i = 0; i < 16 && !jumping; i++) same &= inner[i] == inner_ticks;
  fprintf(stderr, "%lu signals\n", ticks);
  /* The table was read once more above; data is read by right(), below. */
  unsigned long each = once ? 2 : !strcmp(mode, "nodefer") ? 64 : 128;
  fprintf(stderr, "expect table %lu\n", ticks * longer * each + 64);
  if (!jumping) fprintf(stderr, "expect data %lu\n", rounds * N * 2 + N);
  printf("%d %d\n", same, right(rounds));
  return 0;
}

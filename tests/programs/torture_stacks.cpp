// More stacks than one, and frames that end in unusual ways: MODE: ucontext, coroutines, exceptions, unwind.
#include <coroutine>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <stdexcept>
#include <sys/time.h>
#include <ucontext.h>
#include <vector>

volatile int cells[1000];
volatile int table[64];

// ---- coroutines by ucontext, switched also by a timer's handler

static ucontext_t contexts[5];
static char stacks[4][16384];
static int done;

static void turns(int n) {
  for (int round = 0; round < 50; round++) {
    for (int i = n; i < 1000; i += 4) cells[i] = cells[i] + n + 1;
    swapcontext(&contexts[n], &contexts[n == 3 ? 0 : n + 1]);
  }
  done++;
  setcontext(done == 4 ? &contexts[4] : &contexts[n == 3 ? 0 : n + 1]);
}

static int by_ucontext() {
  for (int n = 0; n < 4; n++) {
    getcontext(&contexts[n]);
    contexts[n].uc_stack.ss_sp = stacks[n];
    contexts[n].uc_stack.ss_size = sizeof stacks[n];
    contexts[n].uc_link = &contexts[4];
    makecontext(&contexts[n], reinterpret_cast<void (*)()>(turns), 1, n);
  }
  swapcontext(&contexts[4], &contexts[0]);
  int right = 0;
  for (int i = 0; i < 1000; i++) right += cells[i] == 50 * (i % 4 + 1);
  fprintf(stderr, "expect cells %d\n", 1000 * 50 * 2 + 1000);
  return right;
}

// ---- coroutines of C++20

struct Numbers {
  struct promise_type {
    int value = 0;
    Numbers get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int v) { return value = v, std::suspend_always{}; }
    void return_void() {}
    void unhandled_exception() { std::abort(); }
  };
  std::coroutine_handle<promise_type> handle;
};

static Numbers count(int from) {
  for (int i = 0; i < 100; i++) {
    cells[i] = cells[i] + from;
    co_yield cells[i];
  }
}

static int by_coroutines() {
  std::vector<Numbers> all;
  for (int n = 0; n < 20; n++) all.push_back(count(n));
  int sum = 0;
  for (int i = 0; i < 101; i++)
    for (auto &c : all)
      if (!c.handle.done()) c.handle.resume(), sum += c.handle.done() ? 0 : c.handle.promise().value;
  for (auto &c : all) c.handle.destroy();
  fprintf(stderr, "expect cells %d\n", 20 * 100 * 3);
  return sum;
}

// ---- exceptions through recorded frames

struct Guard {
  int n;
  ~Guard() { table[n % 64] = table[n % 64] + 1; }
};

static int deep(int n) {
  Guard guard{n};
  volatile int local[8] = {n};
  if (n == 0) throw std::runtime_error("bottom");
  return deep(n - 1) + local[0];
}

static int by_exceptions() {
  int caught = 0;
  for (int i = 0; i < 500; i++) {
    try {
      deep(63);
    } catch (const std::runtime_error &e) {
      caught += !strcmp(e.what(), "bottom");
    }
  }
  for (int i = 0; i < 64; i++) caught += table[i] == 500;
  fprintf(stderr, "expect table %d\n", 500 * 64 * 2 + 64);
  return caught;
}

// ---- who called, asked by a handler at any instruction: as profilers do

static volatile long asked, short_ones;
static void look(int) {
  void *calls[64];
  int n = backtrace(calls, 64);
  // The handler, its trampoline, spin, descend (12 times), by_unwind, main, and what is below.
  if (n < 17) short_ones = short_ones + 1;
  asked = asked + 1;
}

__attribute__((noinline)) static int spin(int *p) {
  while (asked < 40)
    for (int i = 0; i < 1000; i++) cells[i] = cells[i] + *p;
  return 1;
}

__attribute__((noinline, noclone)) static int descend(int n, int *p) {
  volatile int kept = n;
  int below = n ? descend(n - 1, p) : spin(p);
  return below + kept;
}

static int by_unwind() {
  void *first[4];
  backtrace(first, 4);
  struct sigaction action = {};
  action.sa_handler = look;
  action.sa_flags = SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);
  itimerval timer = {{0, 1000}, {0, 1000}};
  setitimer(ITIMER_PROF, &timer, nullptr);
  int one = 1, sum = descend(11, &one);
  itimerval off = {};
  setitimer(ITIMER_PROF, &off, nullptr);
  fprintf(stderr, "%ld of %ld short\n", short_ones, asked);
  return short_ones == 0 ? sum : -1;
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "ucontext";
  int answer = 0;
  if (!strcmp(mode, "ucontext")) answer = by_ucontext();
  if (!strcmp(mode, "coroutines")) answer = by_coroutines();
  if (!strcmp(mode, "exceptions")) answer = by_exceptions();
  if (!strcmp(mode, "unwind")) answer = by_unwind();
  printf("%s %d\n", mode, answer);
}

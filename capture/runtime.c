/* The runtime of `orrery cc`: the life of a recorded process, and what programs may say (see spool.h for the layout of what is
 * written, windows.c for where references go, open.c for the file and its collector).
 *
 * All that can run inside a hook is written with system calls alone: no function of the C library is called there, so none
 * can be entered twice, no errno changes, and no vector register is touched (it is compiled with -mgeneral-regs-only). */
#include "runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>

/* Bytes that the spool may take on the disk, where ORRERY_LIMIT does not say otherwise. */
#define LIMIT (1ull << 30)
#define LEAST_LIMIT (8ull << 20)

struct orrery_state orrery_state = {.spool = -1, .alive = -1, .done = -1, .limit = LIMIT};

/* ---- processes
 *
 * Whose memory this is:
 * - fork, however it is done (the library's, a raw system call, clone without CLONE_VM), copies memory but for the pages that
 *   the kernel was told to wipe. Those are the desks, so that the child's hooks find no slot and go the slow way, and `alone`,
 *   which tells it what happened. The child records into a file of its own from its first reference on.
 * - vfork, and clone with CLONE_VM but no thread, make a guest: another process in our memory, with the variables of the thread
 *   that made it. A guest records nothing and ends nothing. It is known by its process number, which the slow way asks for; so
 *   that its hooks, and those of its host, go the slow way, calls of the two functions are replaced (processes.S). The host
 *   of a vfork sleeps until its guest is gone: when a hook of a quiet thread finds that it is the host, that is over. */

static int process(void) { return (int)CALL(SYS_getpid, 0, 0, 0); }

/* In the child of a fork: one thread, whose references belong into a file of their own, made when the first one comes. */
static void in_child(void) {
  state.pid = process();
  if (state.alone) __atomic_store_n(state.alone, 1, __ATOMIC_RELAXED);
  orrery_leave_windows();
  if (state.header) CALL(SYS_munmap, state.header, ORRERY_HEADER, 0);
  state.header = NULL;
  orrery_close_ours(&state.spool, state.inode);
  orrery_close_ours(&state.alive, state.alive_inode);
  orrery_close_ours(&state.done, state.done_inode);
  state.lock = 0;
  state.keeper = 0;
  state.warned = 0;
  orrery_quiet = 0;
  if (state.phase == RECORDING) {
    orrery_take_name_of_process();
    state.phase = UNOPENED;
  }
}

/* As the library's fork calls it. */
static void forked(void) {
  u64 before = block_signals();
  in_child();
  restore_signals(before);
}

static int is_wiped(void) { return state.alone && !__atomic_load_n(state.alone, __ATOMIC_RELAXED); }

int orrery_is_guest(void) {
  if (is_wiped()) in_child();
  return process() != state.pid;
}

static int shares_memory(int other) {
  long order = call6(SYS_kcmp, state.pid, other, KCMP_VM, 0, 0, 0);
  /* Where the kernel does not compare: as long as it lives. */
  return order == 0 || (order < 0 && order != -ESRCH && CALL(SYS_kill, other, 0, 0) != -ESRCH);
}

int orrery_still_quiet(void) {
  if (!is_wiped() && process() != state.pid) return 1;
  if (!is_wiped() && orrery_quiet > 1 && shares_memory(orrery_quiet)) return 2;
  orrery_quiet = 0;
  return 0;
}

int orrery_clone(int (*function)(void *), void *stack, int flags, void *of, ...) HIDDEN;
int orrery_clone(int (*function)(void *), void *stack, int flags, void *of, ...) {
  va_list more;
  va_start(more, of);
  pid_t *parent = va_arg(more, pid_t *);
  void *thread = va_arg(more, void *);
  pid_t *child = va_arg(more, pid_t *);
  va_end(more);
  /* A thread, or what has variables of its own, finds a state of its own there. */
  int hosts = flags & CLONE_VM && !(flags & (CLONE_THREAD | CLONE_SETTLS));
  if (hosts) {
    orrery_quiet = 1;
    __orrery_current = &orrery_nothing;
  }
  int made = clone(function, stack, flags, of, parent, thread, child);
  if (hosts) {
    orrery_quiet = made > 1 && !(flags & CLONE_VFORK) ? made : 1;
    __orrery_current = &orrery_nothing;
  }
  return made;
}

int orrery_on(void) {
  return !state.paused && state.phase != STOPPED && !(orrery_quiet && orrery_still_quiet() == 1);
}

int orrery_open(void) { return state.phase != STOPPED && !(orrery_quiet && orrery_still_quiet() == 1); }

void orrery_finish(void) {
  char words[1024];
  /* A guest, or a child that recorded nothing: what there is is another's. */
  if (is_wiped() || process() != state.pid) return;
  if (__atomic_exchange_n(&state.phase, STOPPED, __ATOMIC_ACQ_REL) != RECORDING) return;
  /* Other threads go on until their next stamp; what they record is read as far as it goes. */
  state.paused = 1;
  __orrery_current = &orrery_nothing;
  state.header->ended = 1;
  if (state.alive < 0) return;
  /* Not only closed: children may hold it, too. */
  if (orrery_inode_of(state.alive) == state.alive_inode) CALL(SYS_shutdown, state.alive, SHUT_WR, 0);
  orrery_close_ours(&state.alive, state.alive_inode);
  if (orrery_inode_of(state.done) == state.done_inode) {
    for (;;) {
      long n = CALL(SYS_read, state.done, words, sizeof words);
      struct iovec line = {words, (size_t)n};
      if (n > 0) orrery_tell(&line, 1);
      if (n != -EINTR && n <= 0) break;
    }
    orrery_close_ours(&state.done, state.done_inode);
  } else {
    /* The program closed our pipes. The collector sees that it ends by the header, and we that it is through by the spool. */
    struct timespec nap = {0, 5 * 1000 * 1000};
    for (int tries = 0; tries < 12000 && CALL(SYS_access, state.part, F_OK, 0) == 0; tries++) CALL(SYS_nanosleep, &nap, 0, 0);
  }
  if (state.keeper)
    while (call6(SYS_wait4, state.keeper, 0, 0x40000000 /* __WALL */, 0, 0, 0) == -EINTR) {}
}

/* ---- the start */

/* The value of a variable of the environment as it was at the start. */
static const char *variable(const char *name) {
  for (char **e = state.environment; e && *e; e++) {
    const char *n = name, *c = *e;
    while (*n && *n == *c) n++, c++;
    if (!*n && *c == '=' && c[1]) return c + 1;
  }
  return NULL;
}

/* Bytes: a number, and one of K, M, G, T behind it; 0 where it is none. */
static u64 bytes(const char *text) {
  u64 n = 0;
  const char *c = text;
  for (; *c >= '0' && *c <= '9' && n < 1ull << 40; c++) n = 10 * n + (u64)(*c - '0');
  if (c == text) return 0;
  static const char units[] = "kmgt";
  for (int i = 0; units[i]; i++)
    if ((*c | 32) == units[i]) {
      n <<= 10 * (i + 1);
      c++;
      if (*c == 'i') c++;
      break;
    }
  if (*c == 'B' || *c == 'b') c++;
  return *c ? 0 : n;
}

/* Before all constructors, those of shared libraries too: the C library stands, nothing else runs. */
static void start(int count, char **arguments, char **environment) {
  (void)count;
  static char exe[4096];
  struct stat about;
  state.environment = environment;
  state.pid = process();
  if (CALL(SYS_fstat, 2, &about, 0) == 0) {
    state.error_device = about.st_dev;
    state.error_inode = about.st_ino;
  }
  if (getauxval(AT_SECURE)) {
    /* Whoever started it has fewer rights than it has, and must not say what it runs or where it writes. */
    state.phase = STOPPED;
    append(state.output, sizeof state.output, arguments[0] ? arguments[0] : "program");
    orrery_say("runs with rights that its user does not have (set-user-ID, set-group-ID or capabilities)",
               "nothing is recorded: run a copy without them");
    return;
  }
  const char *wish = variable("ORRERY_OUT"), *limit = variable("ORRERY_LIMIT");
  if (!wish || wish[0] != '/') {
    long n = CALL(SYS_getcwd, state.output, sizeof state.output, 0);
    if (n <= 0) {
      state.phase = STOPPED;
      state.output[0] = 0;
      append(state.output, sizeof state.output, arguments[0] ? arguments[0] : "program");
      orrery_say("the folder that it runs in cannot be named", "nothing is recorded: run it elsewhere, or set ORRERY_OUT to a path from /");
      return;
    }
    append(state.output, sizeof state.output, "/");
  }
  if (wish) {
    append(state.output, sizeof state.output, wish);
  } else {
    long n = CALL(SYS_readlink, "/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = 0;
    const char *base = exe;
    for (const char *c = exe; *c; c++)
      if (*c == '/') base = c + 1;
    append(state.output, sizeof state.output, *base ? base : "program");
    append(state.output, sizeof state.output, ".orrery");
  }
  if (limit) {
    u64 n = bytes(limit);
    if (n) state.limit = n < LEAST_LIMIT ? LEAST_LIMIT : n;
    else orrery_say("ORRERY_LIMIT is no size", "1G is taken; expected such as 512M or 20G");
  }
  long page = call6(SYS_mmap, 0, ORRERY_DESK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (!FAILED(page) && CALL(SYS_madvise, page, ORRERY_DESK, MADV_WIPEONFORK) == 0) {
    state.alone = (int *)page;
    *state.alone = 1;
  }
  /* At once, where the child was made by the library's fork; and the only way where the kernel wipes nothing. */
  pthread_atfork(NULL, NULL, forked);
  u64 before = block_signals();
  orrery_open_spool();
  restore_signals(before);
}

__attribute__((section(".preinit_array"), used)) static void (*const at_start)(int, char **, char **) = start;

/* The lowest priority is the last to run: destructors and atexit handlers of the program are recorded. */
__attribute__((destructor(101))) static void at_end(void) { orrery_finish(); }

/* ---- what programs may say (orrery.h) */

static void put_text(const char *text) {
  u64 left = length(text);
  for (left = left > 200 ? 200 : left; left; ) {
    u64 n = left < 8 ? left : 8, word = 0;
    for (u64 i = 0; i < n; i++) word |= (u64)(unsigned char)text[i] << (8 * i);
    orrery_put(ORRERY_SPECIAL(ORRERY_AT_TEXT, n), word);
    text += n;
    left -= n;
  }
}

void __orrery_region(const char *name, const void *start_at, size_t element, size_t rows, size_t columns);
void __orrery_region(const char *name, const void *start_at, size_t element, size_t rows, size_t columns) {
  if (!name || !start_at || !element || !rows) return;
  put_text(name);
  orrery_put(ORRERY_SPECIAL(ORRERY_AT_SHAPE, rows), columns);
  orrery_put(ORRERY_SPECIAL(ORRERY_AT_REGION, ORRERY_ADDRESS(start_at)), element);
}

void __orrery_mark(const char *name);
void __orrery_mark(const char *name) {
  if (!name || !*name) return;
  put_text(name);
  orrery_put(ORRERY_SPECIAL(ORRERY_AT_MARK, 0), ORRERY_CALLER);
}

void __orrery_pause(void);
void __orrery_pause(void) {
  state.paused = 1;
  __orrery_current = &orrery_nothing;
}

void __orrery_resume(void);
void __orrery_resume(void) {
  if (state.phase == STOPPED) return;
  state.paused = 0;
}

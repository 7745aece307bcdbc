/* The runtime of `orrery cc`: where the references of a program go (see spool.h for the layout).
 *
 * All that can run inside a hook (claiming a chunk, opening the file) is written with system calls alone: no function of the C
 * library is called there, so none can be entered twice, no errno changes, and no vector register is touched (this file is
 * compiled with -mgeneral-regs-only). Signals are blocked meanwhile. */
#include "runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#ifndef ORRERY_BIN
#define ORRERY_BIN "orrery"
#endif

typedef uint64_t u64;
typedef struct orrery_chunk chunk;

/* ---- system calls; the answer is that of the kernel: -errno where it failed */

static inline long call6(long n, long a, long b, long c, long d, long e, long f) {
  long answer;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(answer)
                   : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return answer;
}
#define CALL(n, a, b, c) call6(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)

/* ---- state */

enum { UNOPENED, RECORDING, STOPPED };

static struct {
  int phase;  /* changed under `lock` or while there is one thread */
  int paused;
  int lock;
  int spool, alive, done; /* file; write end of the pipe whose end says that we are gone; read end that says the file is whole */
  unsigned long device, inode, alive_inode, done_inode;
  int crowd;
  struct orrery_header *header;
  char **environment;
  char output[4096]; /* absolute path of the native file */
  char part[4200];   /* and of the spool */
} state = {.spool = -1, .alive = -1, .done = -1};

/* What a thread without a chunk points to: full, so that its first reference takes the slow path. Threads may raise `next`
 * at the same time and lose a step; it never falls below ORRERY_SLOTS. */
static chunk nothing = {.next = ORRERY_SLOTS};

/* The hooks claim slots here: `mine`, or `nothing` while no references are wanted. */
__thread chunk *__orrery_current __attribute__((tls_model("local-exec"))) = &nothing;
static __thread chunk *mine __attribute__((tls_model("local-exec")));
static __thread int place __attribute__((tls_model("local-exec")));

/* Chunks in use and whose they are, so that those of threads that ended can be given back: nothing tells us of a thread's
 * end, and of the C library's ways to learn of it none may be used inside a hook. */
#define PLACES 1024
static struct { int tid; chunk *chunk; } places[PLACES];

/* ---- small things */

static u64 length(const char *s) {
  u64 n = 0;
  while (s[n]) n++;
  return n;
}

/* Appends to a path; what does not fit is left out, and the file then cannot be created, which is said. */
static void append(char *to, u64 room, const char *from) {
  u64 at = length(to);
  while (*from && at + 1 < room) to[at++] = *from++;
  to[at] = 0;
}

static void append_number(char *to, u64 room, u64 n) {
  char digits[24];
  int at = 23;
  digits[at] = 0;
  do digits[--at] = (char)('0' + n % 10); while (n /= 10);
  append(to, room, digits + at);
}

static void say(const char *what, long error, const char *remedy) {
  char line[5000] = "orrery: ";
  append(line, sizeof line, state.part[0] ? state.part : state.output);
  append(line, sizeof line, ": ");
  append(line, sizeof line, what);
  if (error) {
    append(line, sizeof line, error == ENOSPC ? " (no space left on the disk" : " (errno ");
    if (error != ENOSPC) append_number(line, sizeof line, (u64)error);
    append(line, sizeof line, ")");
  }
  append(line, sizeof line, "; ");
  append(line, sizeof line, remedy);
  append(line, sizeof line, "\n");
  CALL(SYS_write, 2, line, length(line));
}

/* ---- the file */

/* A descriptor out of the way of programs that count on low numbers or close all they see up to some. */
static int out_of_the_way(long fd) {
  if (fd < 0) return (int)fd;
  long high = CALL(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 800);
  if (high < 0) return (int)fd;
  CALL(SYS_close, fd, 0, 0);
  return (int)high;
}

static unsigned long inode_of(int fd) {
  struct stat about;
  return fd >= 0 && CALL(SYS_fstat, fd, &about, 0) == 0 ? about.st_ino : 0;
}

/* Closes a descriptor if it is still what it was: the program may have closed it, and opened something of its own there. */
static int close_ours(int *fd, unsigned long inode) {
  int ours = *fd >= 0 && inode && inode_of(*fd) == inode;
  if (ours) CALL(SYS_close, *fd, 0, 0);
  *fd = -1;
  return ours;
}

/* Lines of /proc/self/maps that map a file as code, then the paths. */
static void describe(struct orrery_header *header) {
  char buffer[1024], line[4400];
  u64 room = ORRERY_HEADER - sizeof *header, at = 0, n = 0;
  long fd = CALL(SYS_open, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0), got;
  while (fd >= 0 && (got = CALL(SYS_read, fd, buffer, sizeof buffer)) > 0) {
    for (long i = 0; i < got; i++) {
      if (n + 1 < sizeof line) line[n++] = buffer[i];
      if (buffer[i] != '\n') continue;
      int code = 0, file = 0;
      for (u64 k = 0; k + 3 < n; k++) {
        code |= line[k] == ' ' && line[k + 1] == 'r' && line[k + 3] == 'x';
        file |= line[k] == ' ' && line[k + 1] == '/';
      }
      if (code && file && at + n < room - 9000)
        for (u64 k = 0; k < n; k++) header->text[at++] = line[k];
      n = 0;
    }
  }
  if (fd >= 0) CALL(SYS_close, fd, 0, 0);
  line[0] = 0;
  append(line, sizeof line, "exe ");
  u64 used = length(line);
  long size = CALL(SYS_readlink, "/proc/self/exe", line + used, sizeof line - used - 2);
  line[used + (u64)(size > 0 ? size : 0)] = 0;
  append(line, sizeof line, "\noutput ");
  for (const char *c = line; *c; c++) header->text[at++] = *c;
  for (const char *c = state.output; *c; c++) header->text[at++] = *c;
  header->text[at++] = '\n';
  header->text_bytes = at;
}

/* Starts the collector as nobody's child and leader of a session of its own, so that the program's wait() does not meet it
 * and Ctrl-C on the terminal does not end it. Its input ends when this process does; its output ends when it is through. */
static long start_collector(void) {
  int alive[2], done[2], status[2];
  const char *binary = ORRERY_BIN;
  for (char **e = state.environment; e && *e; e++) {
    const char *name = "ORRERY_BIN=", *c = *e;
    while (*name && *name == *c) name++, c++;
    if (!*name && *c) binary = c;
  }
  if (CALL(SYS_pipe2, alive, O_CLOEXEC, 0) < 0) return EMFILE;
  if (CALL(SYS_pipe2, done, O_CLOEXEC, 0) < 0 || CALL(SYS_pipe2, status, O_CLOEXEC, 0) < 0) return EMFILE;
  /* clone without flags is fork without the handlers that others hang on it; no exit signal, so no SIGCHLD. */
  long child = call6(SYS_clone, 0, 0, 0, 0, 0, 0);
  if (child == 0) {
    CALL(SYS_setsid, 0, 0, 0);
    if (call6(SYS_clone, 0, 0, 0, 0, 0, 0) == 0) {
      const char *arguments[] = {"orrery", "collect", state.part, "--output", state.output, NULL};
      u64 none = 0;
      /* Descriptors 0 and 1 may be closed in the program, and so be those of the pipes: move these up first. */
      long in = CALL(SYS_fcntl, alive[0], F_DUPFD_CLOEXEC, 3), out = CALL(SYS_fcntl, done[1], F_DUPFD_CLOEXEC, 3);
      long report = CALL(SYS_fcntl, status[1], F_DUPFD_CLOEXEC, 3);
      CALL(SYS_close, alive[1], 0, 0);
      CALL(SYS_dup2, in, 0, 0);
      CALL(SYS_dup2, out, 1, 0);
      call6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, sizeof none, 0, 0);
      int error = (int)-CALL(SYS_execve, binary, arguments, state.environment);
      CALL(SYS_write, report, &error, sizeof error);
    }
    CALL(SYS_exit_group, 0, 0, 0);
  }
  int error = 0;
  CALL(SYS_close, alive[0], 0, 0);
  CALL(SYS_close, done[1], 0, 0);
  CALL(SYS_close, status[1], 0, 0);
  if (child > 0) {
    while (call6(SYS_wait4, child, 0, __WALL, 0, 0, 0) == -EINTR) {}
    while (CALL(SYS_read, status[0], &error, sizeof error) == -EINTR) {}
  } else {
    error = (int)-child;
  }
  CALL(SYS_close, status[0], 0, 0);
  if (error) {
    CALL(SYS_close, alive[1], 0, 0);
    CALL(SYS_close, done[0], 0, 0);
    return error;
  }
  state.alive = out_of_the_way(alive[1]);
  state.done = out_of_the_way(done[0]);
  state.alive_inode = inode_of(state.alive);
  state.done_inode = inode_of(state.done);
  return 0;
}

static void put_pid_into_output(void) {
  static const char end[] = ".orrery";
  u64 n = length(state.output), e = sizeof end - 1;
  if (n > e) state.output[n - e] = 0;
  append(state.output, sizeof state.output, ".");
  append_number(state.output, sizeof state.output, (u64)CALL(SYS_getpid, 0, 0, 0));
  append(state.output, sizeof state.output, end);
}

static long create_part(void) {
  state.part[0] = 0;
  append(state.part, sizeof state.part, state.output);
  append(state.part, sizeof state.part, ".part");
  return CALL(SYS_open, state.part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/* Creates the spool and starts the collector. With the lock held, or while there is one thread. */
static void open_spool(void) {
  struct stat about;
  state.phase = STOPPED;
  long fd = create_part();
  if (fd == -EEXIST) {
    /* Another run's, still going on or never collected: it is not ours to touch. */
    put_pid_into_output();
    fd = create_part();
  }
  if (fd < 0) {
    say("cannot be created", -fd, "nothing is recorded: run in a folder that can be written to, or set ORRERY_OUT");
    return;
  }
  state.spool = out_of_the_way(fd);
  long header = -1, error = call6(SYS_fallocate, state.spool, 0, 0, ORRERY_HEADER, 0, 0);
  if (error == -EOPNOTSUPP || error == -ENOSYS) error = CALL(SYS_ftruncate, state.spool, ORRERY_HEADER, 0);
  if (error == 0) header = call6(SYS_mmap, 0, ORRERY_HEADER, PROT_READ | PROT_WRITE, MAP_SHARED, state.spool, 0);
  if (error < 0 || (header < 0 && header > -4096)) {
    say("cannot be written", error < 0 ? -error : -header, "nothing is recorded: free space there, or set ORRERY_OUT");
    CALL(SYS_unlink, state.part, 0, 0);
    CALL(SYS_close, state.spool, 0, 0);
    return;
  }
  CALL(SYS_fstat, state.spool, &about, 0);
  state.device = about.st_dev;
  state.inode = about.st_ino;
  state.header = (struct orrery_header *)header;
  state.header->version = ORRERY_VERSION;
  state.header->header_bytes = ORRERY_HEADER;
  state.header->chunk_bytes = ORRERY_CHUNK;
  state.header->pid = (u64)CALL(SYS_getpid, 0, 0, 0);
  describe(state.header);
  for (int i = 0; i < 8; i++) state.header->magic[i] = "ORRSPOOL"[i];
  error = start_collector();
  if (error) say("no collector could be started", error, "when the program has ended, `orrery convert` makes it a trace");
  __atomic_store_n(&state.phase, RECORDING, __ATOMIC_RELEASE);
}

/* ---- chunks */

static void stop(long error) {
  if (__atomic_exchange_n(&state.phase, STOPPED, __ATOMIC_ACQ_REL) != RECORDING) return;
  if (state.header) state.header->fault = (uint32_t)error;
  say("recording ends early", error, "what was recorded until here is kept");
}

/* Room for the chunk at `offset`, real room: a store to a page that the disk has no place for would kill the program. */
static long reserve(u64 offset) {
  static const char zeros[4096];
  long error = call6(SYS_fallocate, state.spool, 0, (long)offset, ORRERY_CHUNK, 0, 0);
  if (error != -EOPNOTSUPP && error != -ENOSYS) return error;
  for (u64 at = 0; at < ORRERY_CHUNK; at += sizeof zeros) {
    long n = call6(SYS_pwrite64, state.spool, (long)zeros, sizeof zeros, (long)(offset + at), 0, 0);
    if (n == -EINTR) at -= sizeof zeros;
    else if (n != sizeof zeros) return n < 0 ? n : -ENOSPC;
  }
  return 0;
}

/* Keeps the place of this thread's chunk, which is also the thread's number; takes that of a thread that ended, and its chunk's
 * memory with it, so that a program that starts threads again and again has few numbers. */
static void remember(chunk *c) {
  int tid = (int)CALL(SYS_gettid, 0, 0, 0), pid = (int)CALL(SYS_getpid, 0, 0, 0);
  if (place > 0 && places[place - 1].tid == tid) {
    places[place - 1].chunk = c;
    return;
  }
  if (place > PLACES) return;
  for (int i = 0; i < PLACES; i++) {
    int owner = __atomic_load_n(&places[i].tid, __ATOMIC_ACQUIRE);
    if (owner < 0 || (owner && CALL(SYS_tgkill, pid, owner, 0) != -ESRCH)) continue;
    if (!__atomic_compare_exchange_n(&places[i].tid, &owner, -1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) continue;
    if (owner && places[i].chunk) CALL(SYS_munmap, places[i].chunk, ORRERY_CHUNK, 0);
    places[i].chunk = c;
    place = i + 1;
    __atomic_store_n(&places[i].tid, tid, __ATOMIC_RELEASE);
    return;
  }
  /* More threads at once than places: numbered on, their last chunks stay mapped until the program ends. */
  place = 1 + PLACES + __atomic_fetch_add(&state.crowd, 1, __ATOMIC_RELAXED);
}

/* A new chunk for this thread, in `mine`; NULL where recording has stopped. Signals are blocked. */
static void take_chunk(void) {
  struct stat about;
  chunk *old = mine;
  mine = NULL;
  if (__atomic_load_n(&state.phase, __ATOMIC_ACQUIRE) == UNOPENED) {
    while (__atomic_exchange_n(&state.lock, 1, __ATOMIC_ACQUIRE)) CALL(SYS_sched_yield, 0, 0, 0);
    if (state.phase == UNOPENED && state.output[0]) open_spool();
    __atomic_store_n(&state.lock, 0, __ATOMIC_RELEASE);
  }
  if (__atomic_load_n(&state.phase, __ATOMIC_ACQUIRE) == RECORDING) {
    /* The program may have closed our descriptor, and opened something of its own there. */
    long error = CALL(SYS_fstat, state.spool, &about, 0);
    if (error == 0 && (about.st_dev != state.device || about.st_ino != state.inode)) error = -EBADF;
    if (error == -EBADF) {
      long again = CALL(SYS_open, state.part, O_RDWR | O_CLOEXEC, 0);
      error = again < 0 ? again : CALL(SYS_fstat, again, &about, 0);
      if (error == 0 && (about.st_dev != state.device || about.st_ino != state.inode)) error = -ENOENT;
      if (error == 0) state.spool = out_of_the_way(again);
    }
    u64 offset = ORRERY_HEADER + __atomic_fetch_add(&state.header->claimed, 1, __ATOMIC_RELAXED) * ORRERY_CHUNK;
    if (error == 0) error = reserve(offset);
    if (error == -EFBIG) {
      /* The process's limit for files: the signal that comes with it is ours, not the program's. It is pending, for signals
       * are blocked. */
      u64 set = 1ull << (SIGXFSZ - 1);
      struct timespec now = {0, 0};
      call6(SYS_rt_sigtimedwait, (long)&set, 0, (long)&now, sizeof set, 0, 0);
    }
    long at = -ENOMEM;
    if (error == 0) {
      at = call6(SYS_mmap, 0, ORRERY_CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, state.spool, (long)offset);
      if (at < 0 && at > -4096) error = at;
    }
    if (error) {
      stop(-error);
    } else {
      mine = (chunk *)at;
      remember(mine);
      mine->next = ORRERY_HEAD;
      mine->thread = (u64)place - 1;
      mine->stamp = __builtin_ia32_rdtsc();
      __atomic_store_n(&mine->magic, ORRERY_CHUNK_MAGIC, __ATOMIC_RELEASE);
    }
  }
  if (old) CALL(SYS_munmap, old, ORRERY_CHUNK, 0);
}

/* Claims a slot by one instruction: this thread's signal handlers may come before or after it, not in between. */
static inline u64 claim(chunk *c) {
  u64 n = 1;
  __asm__ volatile("xaddq %0, %1" : "+r"(n), "+m"(c->next) : : "cc");
  return n;
}

static inline void fill(chunk *c, u64 slot, u64 first, u64 second) {
  u64 *words = (u64 *)c + 2 * slot;
  __atomic_store_n(words + 1, second, __ATOMIC_RELAXED);
  __atomic_store_n(words, first, __ATOMIC_RELEASE);
}

/* Stores a record in this thread's chunk; `slot` of `c` was claimed already. */
static void put(chunk *c, u64 slot, u64 first, u64 second) {
  for (;;) {
    if (slot < ORRERY_SLOTS && slot % ORRERY_STAMP) {
      fill(c, slot, first, second);
      return;
    }
    if (slot < ORRERY_SLOTS) {
      fill(c, slot, ORRERY_SPECIAL(ORRERY_AT_STAMP, 0), __builtin_ia32_rdtsc());
    } else {
      u64 all = ~0ull, before = 0;
      call6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before, sizeof all, 0, 0);
      /* A handler may have been here between the claim and now. */
      if (!mine || mine->next >= ORRERY_SLOTS) take_chunk();
      __orrery_current = mine && !state.paused ? mine : &nothing;
      call6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof all, 0, 0);
      if (!mine) {
        if (state.header) __atomic_fetch_add(&state.header->lost, 1, __ATOMIC_RELAXED);
        return;
      }
    }
    c = mine;
    slot = claim(c);
  }
}

/* Where a hook goes whose slot is a stamp's or lies past the end. */
__attribute__((visibility("hidden"))) void __orrery_slow(u64 first, u64 second, u64 slot, chunk *c);
void __orrery_slow(u64 first, u64 second, u64 slot, chunk *c) {
  if (state.paused) {
    __orrery_current = &nothing;
    /* The slot of a stamp is filled, that of the reference itself is not wanted. */
    if (c != &nothing && slot < ORRERY_SLOTS) fill(c, slot, ORRERY_SPECIAL(ORRERY_AT_STAMP, 0), __builtin_ia32_rdtsc());
    return;
  }
  put(c, c == &nothing ? ORRERY_SLOTS : slot, first, second);
  if (mine) __orrery_current = mine;
}

void orrery_put(u64 first, u64 second) {
  chunk *c = mine ? mine : &nothing;
  put(c, claim(c), first, second);
}

int orrery_on(void) { return !state.paused && state.phase != STOPPED; }

int orrery_open(void) { return state.phase != STOPPED; }

/* ---- the life of the process */

/* In the child of a fork: one thread, whose references belong into a file of their own, made when the first one comes. */
static void in_child(void) {
  for (int i = 0; i < PLACES; i++) {
    if (places[i].tid && places[i].chunk) CALL(SYS_munmap, places[i].chunk, ORRERY_CHUNK, 0);
    places[i].tid = 0;
    places[i].chunk = NULL;
  }
  mine = NULL;
  place = 0;
  __orrery_current = &nothing;
  if (state.header) CALL(SYS_munmap, state.header, ORRERY_HEADER, 0);
  state.header = NULL;
  close_ours(&state.spool, state.inode);
  close_ours(&state.alive, state.alive_inode);
  close_ours(&state.done, state.done_inode);
  state.lock = 0;
  if (state.phase == RECORDING) {
    put_pid_into_output();
    state.phase = UNOPENED;
  }
}

void orrery_finish(void) {
  char c;
  if (__atomic_exchange_n(&state.phase, STOPPED, __ATOMIC_ACQ_REL) != RECORDING) return;
  /* Other threads go on until their next stamp; what they record is read as far as it goes. */
  state.paused = 1;
  __orrery_current = &nothing;
  state.header->ended = 1;
  if (state.alive < 0) return;
  close_ours(&state.alive, state.alive_inode);
  if (inode_of(state.done) == state.done_inode) {
    for (;;) {
      long n = CALL(SYS_read, state.done, &c, 1);
      if (n != -EINTR && n <= 0) break;
    }
    close_ours(&state.done, state.done_inode);
    return;
  }
  /* The program closed our pipes. The collector sees that it ends by the header, and we that it is through by the spool. */
  struct timespec nap = {0, 5 * 1000 * 1000};
  for (int tries = 0; tries < 12000 && CALL(SYS_access, state.part, F_OK, 0) == 0; tries++) CALL(SYS_nanosleep, &nap, 0, 0);
}

/* Before all constructors, those of shared libraries too: the C library stands, nothing else runs. */
static void start(int count, char **arguments, char **environment) {
  (void)count;
  (void)arguments;
  const char *wish = NULL;
  char exe[4096];
  state.environment = environment;
  for (char **e = environment; e && *e; e++) {
    const char *name = "ORRERY_OUT=", *c = *e;
    while (*name && *name == *c) name++, c++;
    if (!*name && *c) wish = c;
  }
  if (!wish || wish[0] != '/') {
    long n = CALL(SYS_getcwd, state.output, sizeof state.output, 0);
    if (n <= 0) state.output[0] = 0;
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
  pthread_atfork(NULL, NULL, in_child);
  open_spool();
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
  __orrery_current = &nothing;
}

void __orrery_resume(void);
void __orrery_resume(void) {
  if (state.phase == STOPPED) return;
  state.paused = 0;
}

/* The spool: its file, its room on the disk, and the collector that empties it.
 *
 * As all that can run inside a hook, this is written with system calls alone: no function of the C library is called, so none
 * can be entered twice, no errno changes, and no vector register is touched (it is compiled with -mgeneral-regs-only). Signals
 * are blocked meanwhile, and what is large is not on the stack, which may be small. */
#include "runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <time.h>

#ifndef ORRERY_BIN
#define ORRERY_BIN "orrery"
#endif

/* How long the collector may take to get on before it counts as gone. */
/* Space on the disk that is left alone: this much, or a twentieth of the disk where that is less. */
#define LEFT_ALONE (256ull << 20)


/* ---- words */

void orrery_tell(const struct iovec *words, int count) {
  struct stat about;
  /* The program may have closed it, and opened something of its own there. */
  if (CALL(SYS_fstat, 2, &about, 0) != 0 || about.st_dev != state.error_device || about.st_ino != state.error_inode) return;
  u64 before = block_signals(), pipe = 1ull << (SIGPIPE - 1);
  struct timespec now = {0, 0};
  /* Where nobody reads it any more, the signal for that is ours, not the program's. */
  if (CALL(SYS_writev, 2, words, count) == -EPIPE) call6(SYS_rt_sigtimedwait, (long)&pipe, 0, (long)&now, sizeof pipe, 0, 0);
  restore_signals(before);
}

void orrery_say(const char *what, const char *remedy) {
  const char *path = state.part[0] ? state.part : state.output, *parts[] = {"orrery: ", path, ": ", what, "; ", remedy, "\n"};
  struct iovec line[7];
  for (int i = 0; i < 7; i++) line[i] = (struct iovec){(void *)parts[i], length(parts[i])};
  orrery_tell(line, 7);
}

static const char *with_error(char *to, u64 room, const char *what, long error) {
  to[0] = 0;
  append(to, room, what);
  if (error == ENOSPC) append(to, room, " (no space left on the disk)");
  else if (error == ETIMEDOUT) append(to, room, " (the spool is as large as ORRERY_LIMIT allows, and nothing empties it)");
  else if (error) {
    append(to, room, " (errno ");
    append_number(to, room, (u64)error);
    append(to, room, ")");
  }
  return to;
}

void orrery_stop(long error) {
  char line[160];
  if (__atomic_exchange_n(&state.phase, STOPPED, __ATOMIC_ACQ_REL) != RECORDING) return;
  if (state.header) state.header->fault = (uint32_t)error;
  orrery_say(with_error(line, sizeof line, "recording ends early", error), "what was recorded until here is kept");
}

/* 0 = free, 1 = held, 2 = held and waited for. Waiters sleep: where a thousand threads begin at once, those that look again and again
 * would leave the holder no time. */
void orrery_lock(void) {
  int free = 0;
  if (__atomic_compare_exchange_n(&state.lock, &free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
  while (__atomic_exchange_n(&state.lock, 2, __ATOMIC_ACQUIRE)) {
    struct timespec most = {0, 10 * 1000 * 1000};
    long error = call6(SYS_futex, (long)&state.lock, FUTEX_WAIT_PRIVATE, 2, (long)&most, 0, 0);
    /* A filter of system calls may not know it. */
    if (error == -ENOSYS || error == -EPERM || error == -EACCES) CALL(SYS_nanosleep, &most, 0, 0);
  }
}

void orrery_unlock(void) {
  if (__atomic_exchange_n(&state.lock, 0, __ATOMIC_RELEASE) == 2)
    call6(SYS_futex, (long)&state.lock, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

/* ---- the file */

/* A descriptor out of the way of programs that count on low numbers or close all they see up to some. */
static int out_of_the_way(long fd) {
  struct rlimit limit = {0, 0};
  if (fd < 0) return (int)fd;
  call6(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit, 0, 0);
  long high = limit.rlim_cur > 816 ? 800 : limit.rlim_cur > 32 ? (long)limit.rlim_cur - 16 : 10;
  high = CALL(SYS_fcntl, fd, F_DUPFD_CLOEXEC, high);
  if (high < 0) return (int)fd;
  CALL(SYS_close, fd, 0, 0);
  return (int)high;
}

unsigned long orrery_inode_of(int fd) {
  struct stat about;
  return fd >= 0 && CALL(SYS_fstat, fd, &about, 0) == 0 ? about.st_ino : 0;
}

int orrery_close_ours(int *fd, unsigned long inode) {
  int ours = *fd >= 0 && inode && orrery_inode_of(*fd) == inode;
  if (ours) CALL(SYS_close, *fd, 0, 0);
  *fd = -1;
  return ours;
}

/* Lines of /proc/self/maps that map a file as code, then the paths. */
static void describe(struct orrery_header *header) {
  static char buffer[1024], line[4400];
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

/* ---- the collector
 *
 * The program's wait() must not meet it: a program that waits until it has no child left would wait for the collector, which
 * waits for the end of the program. A child made without an exit signal is not seen by wait(), but one that calls exec gets
 * that signal; and an orphan becomes a child of process 1 or of a sub-reaper, which the program itself may be. So the child
 * that the program does not see stays as it is, the keeper: it starts the collector as a child of its own, waits for it, and
 * ends. It holds none of the program's files, and none of its memory but the page that its code is in. */

void orrery_keep(unsigned long from, unsigned long to) HIDDEN __attribute__((noreturn)); /* processes.S */

/* The collector's own files, limits and signals; then exec. What it says goes where the program, at its end, passes it on. */
static void collect(int in, int out, int report) {
  static const int limits[] = {RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_DATA, RLIMIT_AS, RLIMIT_NOFILE};
  const char *binary = ORRERY_BIN;
  for (char **e = state.environment; e && *e; e++) {
    const char *name = "ORRERY_BIN=", *c = *e;
    while (*name && *name == *c) name++, c++;
    if (!*name && *c) binary = c;
  }
  const char *arguments[] = {"orrery", "collect", state.part, "--output", state.output, NULL};
  for (unsigned i = 0; i < sizeof limits / sizeof *limits; i++) {
    struct rlimit limit;
    if (call6(SYS_prlimit64, 0, limits[i], 0, (long)&limit, 0, 0) < 0) continue;
    limit.rlim_cur = limit.rlim_max;
    call6(SYS_prlimit64, 0, limits[i], (long)&limit, 0, 0, 0);
  }
  /* The three may be 0, 1 or 2 themselves, where the program has those closed: out of the way first. */
  long a = CALL(SYS_fcntl, in, F_DUPFD, 10), b = CALL(SYS_fcntl, out, F_DUPFD, 10), c = CALL(SYS_fcntl, report, F_DUPFD, 10);
  CALL(SYS_dup2, a, 0, 0);
  CALL(SYS_dup2, b, 1, 0);
  CALL(SYS_dup2, b, 2, 0);
  CALL(SYS_dup3, c, 3, O_CLOEXEC);
  if (CALL(SYS_close_range, 4, ~0u, 0) < 0)
    for (int fd = 4; fd < 65536; fd++) CALL(SYS_close, fd, 0, 0);
  CALL(SYS_chdir, "/", 0, 0);
  /* What ends the program is not to end it: it has the file to finish. */
  u64 blocked = 1ull << (SIGHUP - 1) | 1ull << (SIGINT - 1) | 1ull << (SIGTERM - 1) | 1ull << (SIGXFSZ - 1);
  restore_signals(blocked);
  int error = (int)-CALL(SYS_execve, binary, arguments, state.environment);
  CALL(SYS_write, 3, &error, sizeof error);
}

static __attribute__((noinline)) long start_collector(void) {
  int alive[2], done[2], status[2], error = 0;
  if (call6(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, (long)alive, 0, 0) < 0) return EMFILE;
  if (CALL(SYS_pipe2, done, O_CLOEXEC, 0) < 0 || CALL(SYS_pipe2, status, O_CLOEXEC, 0) < 0) return EMFILE;
  u64 before = block_signals();
  /* clone without flags is fork without the handlers that others hang on it; no exit signal, so no SIGCHLD. */
  long keeper = call6(SYS_clone, 0, 0, 0, 0, 0, 0);
  if (keeper == 0) {
    CALL(SYS_setsid, 0, 0, 0);
    long child = call6(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0);
    if (child == 0) {
      collect(alive[0], done[1], status[1]);
      CALL(SYS_exit_group, 0, 0, 0);
    }
    if (child < 0) {
      error = (int)-child;
      CALL(SYS_write, status[1], &error, sizeof error);
      CALL(SYS_exit_group, 0, 0, 0);
    }
    if (CALL(SYS_close_range, 0, ~0u, 0) < 0)
      for (int fd = 0; fd < 65536; fd++) CALL(SYS_close, fd, 0, 0);
    CALL(SYS_chdir, "/", 0, 0);
    CALL(SYS_prctl, 15 /* PR_SET_NAME */, "orrery keeper", 0);
    /* The kernel writes to the C library's area for restartable sequences: that stays, too. */
    extern const ptrdiff_t __rseq_offset __attribute__((weak));
    unsigned long thread, area;
    __asm__("mov %%fs:0, %0" : "=r"(thread));
    area = thread + (unsigned long)(&__rseq_offset ? __rseq_offset : 0);
    orrery_keep(area & ~4095ul, (area & ~4095ul) + 8192);
  }
  restore_signals(before);
  CALL(SYS_close, alive[0], 0, 0);
  CALL(SYS_close, done[1], 0, 0);
  CALL(SYS_close, status[1], 0, 0);
  if (keeper > 0) {
    while (CALL(SYS_read, status[0], &error, sizeof error) == -EINTR) {}
  } else {
    error = (int)-keeper;
  }
  CALL(SYS_close, status[0], 0, 0);
  if (error) {
    CALL(SYS_close, alive[1], 0, 0);
    CALL(SYS_close, done[0], 0, 0);
    if (keeper > 0)
      while (call6(SYS_wait4, keeper, 0, (long)0x40000000 /* __WALL */, 0, 0, 0) == -EINTR) {}
    return error;
  }
  state.keeper = (int)keeper;
  state.alive = out_of_the_way(alive[1]);
  state.done = out_of_the_way(done[0]);
  state.alive_inode = orrery_inode_of(state.alive);
  state.done_inode = orrery_inode_of(state.done);
  return 0;
}

/* Puts a number before the ending of the output's name. */
static void take_number(u64 number) {
  static const char end[] = ".orrery";
  u64 n = length(state.output), e = sizeof end - 1;
  if (n > e) state.output[n - e] = 0;
  append(state.output, sizeof state.output, ".");
  append_number(state.output, sizeof state.output, number);
  append(state.output, sizeof state.output, end);
}

void orrery_take_name_of_process(void) { take_number((u64)CALL(SYS_getpid, 0, 0, 0)); }

/* Whether the output may be replaced: nothing is there, or an empty file, or a trace. */
static int may_be_replaced(int *is_there) {
  struct stat about;
  char magic[4];
  /* Of a pipe or a device nothing is read. */
  long fd = CALL(SYS_open, state.output, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0);
  *is_there = fd != -ENOENT;
  if (fd < 0) return fd != -EISDIR && fd != -ENXIO;
  int is = CALL(SYS_fstat, fd, &about, 0) == 0 && S_ISREG(about.st_mode);
  long bytes = is ? CALL(SYS_read, fd, magic, sizeof magic) : -1;
  CALL(SYS_close, fd, 0, 0);
  return bytes == 0 || (bytes == 4 && magic[0] == 'P' && magic[1] == 'A' && magic[2] == 'R' && magic[3] == '1');
}

static long create_part(void) {
  state.part[0] = 0;
  append(state.part, sizeof state.part, state.output);
  append(state.part, sizeof state.part, ".part");
  return CALL(SYS_open, state.part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/* Opens the spool; the phase that follows. */
static int open_part(void) {
  static struct stat about;
  static char line[160];
  int is_there;
  if (!may_be_replaced(&is_there)) {
    orrery_say("is there and is no trace, so it is not replaced", "nothing is recorded: set ORRERY_OUT to another name");
    return STOPPED;
  }
  long fd = create_part();
  if (fd == -EEXIST) {
    /* Another run's, still going on or never collected: it is not ours to touch. So may be that of our number: this process recorded
     * before an exec. */
    orrery_take_name_of_process();
    u64 stem = length(state.output) - (sizeof ".orrery" - 1);
    for (u64 n = 2; n < 1000; n++) {
      may_be_replaced(&is_there);
      fd = is_there ? -EEXIST : create_part();
      if (fd != -EEXIST) break;
      state.output[stem] = 0;
      append(state.output, sizeof state.output, ".orrery");
      take_number(n);
    }
  }
  if (fd < 0) {
    orrery_say(with_error(line, sizeof line, "cannot be created", -fd),
               "nothing is recorded: run in a folder that can be written to, or set ORRERY_OUT");
    return STOPPED;
  }
  state.spool = out_of_the_way(fd);
  long header = -1, error = call6(SYS_fallocate, state.spool, 0, 0, ORRERY_HEADER, 0, 0);
  if (error == -EOPNOTSUPP || error == -ENOSYS) error = CALL(SYS_ftruncate, state.spool, ORRERY_HEADER, 0);
  if (error == 0) header = call6(SYS_mmap, 0, ORRERY_HEADER, PROT_READ | PROT_WRITE, MAP_SHARED, state.spool, 0);
  if (error < 0 || FAILED(header)) {
    orrery_say(with_error(line, sizeof line, "cannot be written", error < 0 ? -error : -header),
               "nothing is recorded: free space there, or set ORRERY_OUT");
    CALL(SYS_unlink, state.part, 0, 0);
    CALL(SYS_close, state.spool, 0, 0);
    return STOPPED;
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
  if (error)
    orrery_say(with_error(line, sizeof line, "no collector could be started", error),
               "when the program has ended, `orrery convert` makes it a trace");
  return RECORDING;
}

void orrery_open_spool(void) {
  int phase = state.output[0] ? open_part() : STOPPED;
  __atomic_store_n(&state.phase, phase, __ATOMIC_RELEASE);
}

/* ---- room on the disk */

/* Whether the collector still runs: it holds the other end of the pipe. */
int orrery_collected(void) {
  struct pollfd end = {state.done, POLLIN, 0};
  struct timespec now = {0, 0};
  if (state.alive < 0) return 0;
  /* Where the program closed the pipe, nobody knows. */
  if (orrery_inode_of(state.done) != state.done_inode) return 1;
  return call6(SYS_ppoll, (long)&end, 1, (long)&now, 0, 8, 0) == 0 || !(end.revents & POLLHUP);
}

void orrery_call_collector(void) {
  if (state.alive >= 0 && orrery_inode_of(state.alive) == state.alive_inode)
    call6(SYS_sendto, state.alive, (long)"", 1, MSG_DONTWAIT | MSG_NOSIGNAL, 0, 0);
}

void orrery_say_limit(void) {
  if (__atomic_fetch_or(&state.warned, 2, __ATOMIC_RELAXED) & 2) return;
  char line[120] = "";
  append_number(line, sizeof line, state.limit >> 20);
  append(line, sizeof line, " MiB are recorded and not yet collected, which is the limit");
  orrery_say(line, "the program waits for the collector from time to time (ORRERY_LIMIT sets another limit)");
}

static __attribute__((noinline)) long disk(void) {
  struct statfs disk;
  if (CALL(SYS_fstatfs, state.spool, &disk, 0) != 0 || disk.f_blocks == 0) return 0;
  u64 unit = disk.f_frsize ? (u64)disk.f_frsize : (u64)disk.f_bsize, free = (u64)disk.f_bavail * unit;
  u64 keep = (u64)disk.f_blocks * unit / 20, ours = state.header->claimed * ORRERY_CHUNK;
  if (keep > LEFT_ALONE) keep = LEFT_ALONE;
  if (free < keep + ORRERY_CHUNK) return -ENOSPC;
  if (free < 4 * keep && ours > free / 4 && !(__atomic_fetch_or(&state.warned, 1, __ATOMIC_RELAXED) & 1)) {
    char line[80] = "the disk has ";
    append_number(line, sizeof line, free >> 20);
    append(line, sizeof line, " MiB left");
    orrery_say(line, "recording ends before it is full: free space there, or set ORRERY_OUT");
  }
  return 0;
}

/* The spool's descriptor is ours; 0 or -errno. The program may have closed it, and opened something of its own there. */
static long look_at_spool(struct stat *about) {
  long error = CALL(SYS_fstat, state.spool, about, 0);
  if (error == 0 && about->st_dev == state.device && about->st_ino == state.inode) return 0;
  orrery_lock();
  long again = CALL(SYS_open, state.part, O_RDWR | O_CLOEXEC, 0);
  error = again < 0 ? again : CALL(SYS_fstat, again, about, 0);
  if (error == 0 && (about->st_dev != state.device || about->st_ino != state.inode)) error = -ENOENT;
  if (error == 0) state.spool = out_of_the_way(again);
  else if (again >= 0) CALL(SYS_close, again, 0, 0);
  orrery_unlock();
  return error;
}

long orrery_room(u64 *used) {
  struct stat about;
  long error = look_at_spool(&about);
  if (error) return error;
  *used = (u64)about.st_blocks * 512;
  error = disk();
  return error ? error : *used + ORRERY_CHUNK > state.limit ? -EDQUOT : 0;
}

long orrery_reserve_more(u64 offset, u64 bytes) {
  struct stat about;
  long error = look_at_spool(&about);
  return error ? error : orrery_reserve(offset, bytes);
}

long orrery_reserve(u64 offset, u64 bytes) {
  static const char zeros[4096];
  long error = call6(SYS_fallocate, state.spool, 0, (long)offset, (long)bytes, 0, 0);
  if (error == -EOPNOTSUPP || error == -ENOSYS) {
    error = 0;
    for (u64 at = 0; at < bytes && !error; at += sizeof zeros) {
      long n = call6(SYS_pwrite64, state.spool, (long)zeros, sizeof zeros, (long)(offset + at), 0, 0);
      if (n == -EINTR) at -= sizeof zeros;
      else if (n != sizeof zeros) error = n < 0 ? n : -ENOSPC;
    }
  }
  if (error == -EFBIG) {
    /* The process's limit for files: the signal that comes with it is ours, not the program's. It is pending, for signals are
     * blocked. */
    u64 set = 1ull << (SIGXFSZ - 1);
    struct timespec now = {0, 0};
    call6(SYS_rt_sigtimedwait, (long)&set, 0, (long)&now, sizeof set, 0, 0);
  }
  return error;
}

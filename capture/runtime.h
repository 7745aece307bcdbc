/* What the parts of the runtime share. None of it is for programs: theirs is orrery.h. */
#ifndef ORRERY_RUNTIME_H
#define ORRERY_RUNTIME_H

#include "spool.h"

/* Bytes before the chunk in a window: see windows.c. */
#define ORRERY_DESK 4096

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <sys/syscall.h>

#define HIDDEN __attribute__((visibility("hidden")))

typedef uint64_t u64;
typedef struct orrery_chunk chunk;

/* Where a thread claims slots and the chunk that they are of, side by side, so that one address is enough for a hook. */
struct orrery_window {
  int64_t next;     /* slots claimed, less ORRERY_SLOTS: negative while there is room; 0 in the child of a fork */
  u64 offset;       /* of the chunk in the spool */
  u64 room;         /* slots that the disk has room for */
  char unused[ORRERY_DESK - 24];
  chunk chunk;
};

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

/* Whether an answer of mmap is an error. */
#define FAILED(answer) ((answer) < 0 && (answer) > -4096)

/* Blocks all signals of this thread, and gives those that were blocked before. */
static inline u64 block_signals(void) {
  u64 all = ~0ull, before = 0;
  call6(SYS_rt_sigprocmask, 2, (long)&all, (long)&before, sizeof all, 0, 0);
  return before;
}

static inline void restore_signals(u64 before) {
  call6(SYS_rt_sigprocmask, 2, (long)&before, 0, sizeof before, 0, 0);
}

/* ---- state of the process */

enum { UNOPENED, RECORDING, STOPPED };

struct orrery_state {
  int phase; /* changed under `lock` or while there is one thread */
  int paused;
  int lock;
  int pid;     /* of the process that all of this is about; a child that shares our memory has another */
  int *alone;  /* 1, in a page that the kernel wipes in the child of a fork; NULL where it cannot */
  int keeper;  /* process that keeps the collector from the program's wait(), or 0 */
  int warned;  /* bits: 1 the disk, 2 the limit */
  int spool, alive, done; /* file; socket whose end says that we are gone; pipe whose end says that the file is whole */
  unsigned long device, inode, alive_inode, done_inode;
  unsigned long error_device, error_inode; /* of standard error when the program began */
  u64 limit;               /* bytes that the spool may take on the disk */
  struct orrery_header *header;
  char **environment;
  char output[4096]; /* absolute path of the native file */
  char part[4200];   /* and of the spool */
};
extern struct orrery_state orrery_state HIDDEN;
#define state orrery_state

/* The hooks claim slots here: this thread's window, or orrery_nothing while no references are wanted. */
extern __thread struct orrery_window *__orrery_current __attribute__((tls_model("local-exec"))) HIDDEN;
/* This thread may have a guest, a process that runs in our memory and with our thread's variables: 1 from before vfork or clone
 * on, the process number of one that runs beside us. See `guests` in runtime.c. */
extern __thread int orrery_quiet __attribute__((tls_model("local-exec"))) HIDDEN;
/* The window of threads that have none: always full. */
extern struct orrery_window orrery_nothing HIDDEN;

/* ---- records */

/* Records of all kinds; from ordinary calls, not from hooks. Safe in signal handlers. */
void orrery_put(uint64_t first, uint64_t second) HIDDEN;

/* Whether references are wanted now (not paused, not failed). */
int orrery_on(void) HIDDEN;

/* Whether records of any kind are taken (not failed, not ended; paused or not). */
int orrery_open(void) HIDDEN;

/* Ends the recording of this process and waits until its file is whole. */
void orrery_finish(void) HIDDEN;

/* ---- processes (runtime.c) */

/* Whose memory this is: 1 where this process is a guest, which records nothing. Makes the child of a fork one of its own.
 * Signals are blocked. */
int orrery_is_guest(void) HIDDEN;

/* Whether this thread must not record, for a guest of it runs: either we are that guest (1) or it may be running beside us (2). */
int orrery_still_quiet(void) HIDDEN;

/* ---- the spool (open.c) */

/* Creates the spool and starts the collector. With the lock held, or while there is one thread. */
void orrery_open_spool(void) HIDDEN;

/* Whether there is room for another chunk: 0, -EDQUOT at the limit, -ENOSPC near the end of the disk, or another -errno. Tells the
 * bytes that the spool takes. */
long orrery_room(u64 *used) HIDDEN;

/* Says, once, that the limit was reached. */
void orrery_say_limit(void) HIDDEN;

/* Whether the collector still runs. */
int orrery_collected(void) HIDDEN;

/* Room on the disk for bytes of the spool, real room: a store to a page that the disk has no place for would kill the program. */
long orrery_reserve(u64 offset, u64 bytes) HIDDEN;
/* The same, at some time after the last orrery_room(). */
long orrery_reserve_more(u64 offset, u64 bytes) HIDDEN;

/* Wakes the collector, where it sleeps because there was nothing to read. */
void orrery_call_collector(void) HIDDEN;

/* How many chunks the collector has read to their end. */
static inline const u64 *orrery_progress(void) { return (const u64 *)((const char *)state.header + ORRERY_PROGRESS); }

/* Ends the recording early, and says why. */
void orrery_stop(long error) HIDDEN;

/* Words on standard error, if that is still what it was when the program began. */
struct iovec;
void orrery_tell(const struct iovec *words, int count) HIDDEN;

/* One line there: `orrery: PATH: WHAT; REMEDY`. */
void orrery_say(const char *what, const char *remedy) HIDDEN;

void orrery_take_name_of_process(void) HIDDEN;

/* Closes a descriptor if it is still what it was: the program may have closed it, and opened something of its own there. */
int orrery_close_ours(int *fd, unsigned long inode) HIDDEN;
unsigned long orrery_inode_of(int fd) HIDDEN;

void orrery_lock(void) HIDDEN;
void orrery_unlock(void) HIDDEN;

/* ---- windows (windows.c) */

/* In the child of a fork: gives up what was the parent's. */
void orrery_leave_windows(void) HIDDEN;

static inline u64 length(const char *s) {
  u64 n = 0;
  while (s[n]) n++;
  return n;
}

/* Appends to a path; what does not fit is left out, and the file then cannot be created, which is said. */
static inline void append(char *to, u64 room, const char *from) {
  u64 at = length(to);
  while (*from && at + 1 < room) to[at++] = *from++;
  to[at] = 0;
}

static inline void append_number(char *to, u64 room, u64 n) {
  char digits[24];
  int at = 23;
  digits[at] = 0;
  do digits[--at] = (char)('0' + n % 10); while (n /= 10);
  append(to, room, digits + at);
}

#define ORRERY_LOW ((1ull << 56) - 1)
#define ORRERY_ADDRESS(p) ((uint64_t)(uintptr_t)(p) & ORRERY_LOW)
#define ORRERY_REFERENCE(kind, size, p) ((uint64_t)(kind) << 62 | (uint64_t)((size) - 1) << 56 | ORRERY_ADDRESS(p))
#define ORRERY_SPECIAL(code, low) ((uint64_t)(code) << 56 | ((uint64_t)(low) & ORRERY_LOW))
/* The call that is being served: its own address is not known, but it lies just before where it returns to. */
#define ORRERY_CALLER ((uint64_t)(uintptr_t)__builtin_return_address(0) - 1)

#endif
#endif

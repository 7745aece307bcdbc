/* Where the references of a thread go: its windows.
 *
 * A window is an address range of a thread: a private page, the desk, where slots are claimed, and behind it a chunk of the
 * spool. A hook reads the window's address, claims a slot by one instruction, and stores into it; a signal handler may come at
 * any of these points, run hooks of its own, and not return for long, or ever. What makes that safe:
 *
 * - The range of a window stays this thread's for as long as the thread lives: whatever an interrupted hook stores, it stores
 *   into memory of ours, never into the program's.
 * - A hook that has read the address and claimed nothing may wait for ever: in a full window it finds no slot and goes the slow
 *   way; in one that got a new chunk it claims a slot of that, which is this thread's newest.
 * - A hook that has claimed a slot may store late: a window gets a new chunk only when all slots of the old one are filled. One
 *   with a slot that is not is held; its thread goes on in another, and looks again each time that a chunk is full.
 * - A slot may never be filled, for a handler can leave by siglongjmp. Where that happens again and again, many windows are
 *   held; where a timer starves a hook, it is one, for as long as the machine is busy. So the oldest is given up where more than
 *   HELD are held, and any after AGE chunks: it is told to be whole, and private memory takes its place in the window, in case
 *   that the store comes after all. Of these a thread has WINDOWS at most, then the oldest gets a new chunk: such a store could
 *   then replace one record, nothing of the program.
 *
 * A window whose chunk is filled keeps it until the collector has read it, and uses it again: spool.h. Meanwhile the thread goes
 * on in another, of ROUND at most. Where all of these are filled it waits for the collector, and gets a new chunk if that does
 * not get on.
 *
 * Desks lie in pages that the kernel wipes in the child of a fork, however it was made. A wiped desk has no free slots, so
 * the child's first reference takes the slow way, where it leaves what is its parent's. */
#include "runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

/* Windows of a thread at most; most threads have one. */
#define WINDOWS 32
/* Windows that go round, at most. */
#define ROUND 8
/* Where all of them are filled, a thread waits for the collector as long as that gets on: it naps and looks again. A new chunk
 * would cost more than the wait, for its pages are made and given back, and the file would be whole no sooner.
 *
 * Nanoseconds of a nap; the kernel adds some 50,000 to it. */
#define NAP 50000
/* Naps of one wait at most. */
#define NAPS 1024
/* Naps in which the collector has read no chunk of any thread, at most. */
#define IDLE 512
/* Naps after which it is called: it may be asleep. */
#define CALL_AFTER 3
/* Windows of a thread that are held for a slot that is not filled, at most. */
#define HELD 16
/* Chunks that a thread fills before such a slot is given up, at most: the collector cannot read on meanwhile. Fewer where they
 * would be more than a quarter of the limit of the spool, but HELD always. */
#define AGE 256
/* Slots that the first chunk of a thread gets room for at first, and the slot at which it gets the rest: most threads of
 * programs that have a thousand do little. */
#define FIRST 4096
#define GROW 2048
/* Milliseconds that a thread waits for room, at most, where a slot of its own is held, for which the collector waits; and where it
 * has no chunk at all. */
#define HELD_MS 16
/* Milliseconds that it waits where the collector does not get on, at most. */
#define PATIENCE_MS 20000
/* Bytes that refill() and what it calls need of the stack, about. */
#define PROBE 1088

/* What a window is: without memory, filled, recorded into, filled but for a slot that was claimed, and without a chunk. */
enum { NONE, FILLED, CURRENT, PENDING, GIVEN_UP };

struct thread {
  struct thread *next; /* of all that ever were */
  int tid;             /* 0 = nobody's */
  unsigned number, taken;
  unsigned idle; /* naps that it takes while the collector does not get on: fewer where they were in vain */
  u64 turn;      /* of its newest chunk; goes on where a number is given again */
  struct {
    struct orrery_window *window;
    int is;
    unsigned since; /* `taken` when it was left */
    unsigned hole;  /* the first slot that was not filled */
  } held[WINDOWS];
};

struct orrery_window orrery_nothing __attribute__((aligned(ORRERY_DESK)));

__thread struct orrery_window *__orrery_current = &orrery_nothing;
__thread int orrery_quiet;
/* The window that this thread records into, paused or not. */
static __thread struct orrery_window *mine __attribute__((tls_model("local-exec")));
static __thread struct thread *self __attribute__((tls_model("local-exec")));

static struct thread *threads;
static unsigned numbers, swept_at;

/* ---- threads; with the lock held */

/* Nothing more comes into the chunk of a window, which will be unmapped. */
static void let_go(struct orrery_window *window) {
  __atomic_store_n(&window->chunk.whole, ORRERY_SLOTS, __ATOMIC_RELEASE);
  __atomic_store_n(&window->chunk.left, 1, __ATOMIC_RELEASE);
}

static void leave(struct thread *t, int ours) {
  for (int i = 0; i < WINDOWS; i++) {
    struct orrery_window *window = t->held[i].window;
    if (!window) continue;
    if (ours && t->held[i].is != NONE && t->held[i].is != GIVEN_UP) let_go(window);
    CALL(SYS_munmap, window, ORRERY_DESK + ORRERY_CHUNK, 0);
    t->held[i].window = NULL;
    t->held[i].is = NONE;
  }
  t->taken = 0;
  __atomic_store_n(&t->tid, 0, __ATOMIC_RELEASE);
}

/* Takes back what threads had that ended: nothing tells us of their end, and of the C library's ways to learn of it none may
 * be used inside a hook. Gives how many live. */
static unsigned sweep(int tid) {
  unsigned living = 0;
  for (struct thread *t = threads; t; t = t->next) {
    if (!t->tid) continue;
    /* One that has our number, and is not us, has ended. */
    if (t != self && (t->tid == tid || CALL(SYS_tgkill, state.pid, t->tid, 0) == -ESRCH)) leave(t, 1);
    else living++;
  }
  return living;
}

static struct thread *enrol(void) {
  int tid = (int)CALL(SYS_gettid, 0, 0, 0);
  struct thread *free = NULL;
  unsigned used = 0;
  orrery_lock();
  for (struct thread *t = threads; t; t = t->next) used += t->tid != 0;
  /* Among many threads that all live, a look at each for each new one would be long. */
  if (used < 64 || used > swept_at + swept_at / 4) swept_at = sweep(tid);
  for (struct thread *t = threads; t; t = t->next)
    if (!t->tid && (!free || t->number < free->number)) free = t;
  if (!free) {
    enum { BYTES = 16384, COUNT = BYTES / sizeof(struct thread) };
    long block = call6(SYS_mmap, 0, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = COUNT; !FAILED(block) && i-- > 0;) {
      free = (struct thread *)block + i;
      free->number = numbers + (unsigned)i;
      free->next = threads;
      __atomic_store_n(&threads, free, __ATOMIC_RELEASE);
    }
    if (free) numbers += COUNT;
  }
  if (free) free->idle = IDLE;
  if (free) __atomic_store_n(&free->tid, tid, __ATOMIC_RELEASE);
  orrery_unlock();
  return free;
}

/* Private memory in the place of a chunk. */
static long cover(struct orrery_window *window) {
  return call6(SYS_mmap, (long)&window->chunk, ORRERY_CHUNK, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

void orrery_leave_windows(void) {
  struct thread *own = self;
  for (struct thread *t = threads; t; t = t->next) {
    if (t != own) leave(t, 0);
    t->turn = 0;
    /* The child begins with thread 0. */
    if (own && t->number == 0) t->number = own->number, own->number = 0;
  }
  /* Of our own a hook may hold one that the fork interrupted: the range stays, the parent's chunk goes. */
  for (int i = 0; own && i < WINDOWS; i++) {
    struct orrery_window *window = own->held[i].window;
    if (!window) continue;
    window->next = 0;
    own->held[i].is = GIVEN_UP;
    own->held[i].since = 0;
    if (FAILED(cover(window))) own->held[i].is = NONE, own->held[i].window = NULL;
  }
  if (own) own->tid = (int)CALL(SYS_gettid, 0, 0, 0), own->taken = 0;
  mine = NULL;
  __orrery_current = &orrery_nothing;
}

/* ---- windows; signals are blocked */

/* The first slot from `slot` on that is not filled. */
static unsigned hole(struct orrery_window *window, unsigned slot) {
  const volatile u64 *words = (const u64 *)&window->chunk;
  while (slot < ORRERY_SLOTS && words[2 * slot]) slot++;
  return slot;
}

/* The window that is held longest, or -1. */
static int held_longest(struct thread *t, int *held) {
  int oldest = -1;
  *held = 0;
  for (int i = 0; i < WINDOWS; i++) {
    if (t->held[i].is != PENDING) continue;
    ++*held;
    if (oldest < 0 || t->held[i].since < t->held[oldest].since) oldest = i;
  }
  return oldest;
}

/* Does not wait for a slot of a window any more. Where there is no memory for its place, a late store goes into what the collector
 * has read. */
static void give_up(struct thread *t, int i) {
  let_go(t->held[i].window);
  cover(t->held[i].window);
  t->held[i].is = GIVEN_UP;
}

/* Gives up the window that is held longest, if there are too many or it is held for too long. */
static void give_up_old(struct thread *t) {
  int held, oldest = held_longest(t, &held);
  u64 quarter = state.limit / 4 / ORRERY_CHUNK, most = quarter < HELD ? HELD : quarter < AGE ? quarter : AGE;
  if (oldest >= 0 && (held > HELD || t->taken - t->held[oldest].since > most)) give_up(t, oldest);
}

/* Looks which windows nobody stores into any more; gives one whose chunk the collector has read, or -1. Tells how many wait for
 * that, and whether there is one with a slot that is not filled. */
static int look(struct thread *t, int *round, int *pending) {
  int read = -1;
  *round = *pending = 0;
  for (int i = WINDOWS; i-- > 0;) {
    if (t->held[i].is == CURRENT) t->held[i].is = PENDING, t->held[i].since = t->taken, t->held[i].hole = ORRERY_HEAD;
    if (t->held[i].is != PENDING) continue;
    t->held[i].hole = hole(t->held[i].window, t->held[i].hole);
    if (t->held[i].hole < ORRERY_SLOTS) continue;
    t->held[i].is = FILLED;
    __atomic_store_n(&t->held[i].window->chunk.whole, ORRERY_SLOTS, __ATOMIC_RELEASE);
  }
  give_up_old(t);
  for (int i = WINDOWS; i-- > 0;) {
    *pending |= t->held[i].is == PENDING;
    if (t->held[i].is != FILLED) continue;
    ++*round;
    struct orrery_chunk *chunk = &t->held[i].window->chunk;
    if (__atomic_load_n(&chunk->read, __ATOMIC_ACQUIRE) == chunk->turn) read = i;
  }
  return read;
}

/* Whether a signal waits until signals are let in again. */
static int signal_waits(void) {
  u64 waiting = 0;
  return CALL(SYS_rt_sigpending, &waiting, sizeof waiting, 0) == 0 && waiting;
}

/* The same, and waits for the collector where as many go round as may. It does not wait where a slot is not filled: a hook of this
 * thread will fill it, which is interrupted by the handler that we are called from, and the collector waits for that hook. The
 * wait ends when a signal comes: the handler would be late, and if a timer sent the next signal meanwhile, the interrupted hook
 * would never go on. */
static int look_and_wait(struct thread *t, int *round) {
  struct timespec nap = {0, NAP};
  const u64 *progress = orrery_progress();
  int pending, read = look(t, round, &pending);
  if (read >= 0) t->idle = IDLE;
  if (read >= 0 || *round < ROUND || pending || state.alive < 0) return read;
  u64 before = __atomic_load_n(progress, __ATOMIC_RELAXED);
  for (unsigned naps = 0, idle = 0; naps < NAPS && idle < t->idle; naps++, idle++) {
    if (signal_waits() || __atomic_load_n(&state.phase, __ATOMIC_RELAXED) != RECORDING) return -1;
    if (naps == CALL_AFTER) orrery_call_collector();
    CALL(SYS_nanosleep, &nap, 0, 0);
    read = look(t, round, &pending);
    u64 now = __atomic_load_n(progress, __ATOMIC_RELAXED);
    if (now != before || read >= 0) {
      before = now;
      idle = 0;
      t->idle = IDLE;
    }
    if (read >= 0) return read;
  }
  t->idle = t->idle > 1 ? t->idle / 2 : 1;
  return -1;
}

/* Waits until there is room for another chunk; 0 or -errno. A chunk of its own that the collector has read meanwhile needs none: then
 * `read` is its window.
 *
 * If the thread holds a slot that is not filled, the collector waits for that slot while the thread waits for the collector: the
 * slot is given up. A thread that has no chunk at all gets one beyond the limit, since those of all others may go round for ever. */
static __attribute__((noinline)) long wait_for_room(struct thread *t, u64 *used, int *read) {
  struct timespec nap = {0, 1000 * 1000};
  u64 before = 0, least = ~0ull;
  unsigned idle = 0, waited = 0, swept = 0, gave = 0;
  for (;;) {
    int round, pending, held;
    long error = orrery_room(used);
    *read = -1;
    if (error != -EDQUOT && error != -ENOSPC) return error;
    int is_limit = error == -EDQUOT;
    *read = look(t, &round, &pending);
    if (*read >= 0) return 0;
    if (is_limit) orrery_say_limit();
    /* Near the end of the disk only what was held back makes room soon. */
    else if (!pending && !gave) return error;
    u64 now = __atomic_load_n(orrery_progress(), __ATOMIC_RELAXED);
    if (now != before || *used < least) idle = 0;
    before = now;
    if (*used < least) least = *used;
    if (!orrery_collected() || idle > (is_limit ? PATIENCE_MS : 4 * HELD_MS) ||
        __atomic_load_n(&state.phase, __ATOMIC_RELAXED) != RECORDING)
      return is_limit ? -ETIMEDOUT : error;
    if (waited > HELD_MS) {
      if (pending) give_up(t, held_longest(t, &held)), gave = 1;
      else if (is_limit && !round) return 0;
      if (!swept) {
        swept = 1;
        orrery_lock();
        sweep(0);
        orrery_unlock();
      }
      waited = 0;
    }
    CALL(SYS_nanosleep, &nap, 0, 0);
    idle += (unsigned)(nap.tv_nsec / 1000000);
    waited += (unsigned)(nap.tv_nsec / 1000000);
    if (nap.tv_nsec < 8 * 1000 * 1000) nap.tv_nsec *= 2;
  }
}

/* A window for a new chunk: another one where `more` may go round, or one whose chunk nobody has read yet; -1 = none. */
static int choose(struct thread *t, int more) {
  int filled = -1, none = -1, oldest = -1;
  for (int i = 0; i < WINDOWS; i++) {
    if (t->held[i].is == FILLED) filled = i;
    if (t->held[i].is == NONE && none < 0) none = i;
    if (t->held[i].is == GIVEN_UP && (oldest < 0 || t->held[i].since < t->held[oldest].since)) oldest = i;
  }
  if (filled >= 0 && (none < 0 || !more)) {
    let_go(t->held[filled].window);
    return filled;
  }
  if (none < 0) return oldest;
  if (!t->held[none].window) {
    long at = call6(SYS_mmap, 0, ORRERY_DESK + ORRERY_CHUNK, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (FAILED(at)) {
      if (filled < 0) return oldest;
      let_go(t->held[filled].window);
      return filled;
    }
    /* Where the kernel cannot, pthread_atfork is what is left (runtime.c). */
    CALL(SYS_madvise, at, ORRERY_DESK, MADV_WIPEONFORK);
    t->held[none].window = (struct orrery_window *)at;
  }
  return none;
}

/* Maps a new chunk of the spool into a window; 0 or -errno. */
static long map_chunk(struct thread *t, struct orrery_window *window) {
  u64 claimed = __atomic_fetch_add(&state.header->claimed, 1, __ATOMIC_RELAXED);
  u64 offset = ORRERY_HEADER + claimed * ORRERY_CHUNK, slots = t->taken ? ORRERY_SLOTS : FIRST;
  long error = orrery_reserve(offset, slots * 16);
  if (claimed % 64 == 63) {
    orrery_lock();
    sweep(0);
    orrery_unlock();
  }
  if (error) return error;
  long at = call6(SYS_mmap, (long)&window->chunk, ORRERY_CHUNK, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_FIXED | (slots == ORRERY_SLOTS ? MAP_POPULATE : 0), state.spool, (long)offset);
  if (FAILED(at)) {
    cover(window);
    return at;
  }
  window->offset = offset;
  window->room = slots;
  return 0;
}

/* Makes the chunk of a window, which the collector has read, one that is not filled. */
static void clear(struct orrery_window *window) {
  u64 *to = (u64 *)&window->chunk + 2 * ORRERY_HEAD, words = 2 * (ORRERY_SLOTS - ORRERY_HEAD);
  __atomic_store_n(&window->chunk.whole, 0, __ATOMIC_RELEASE);
  __asm__ volatile("rep stosq" : "+D"(to), "+c"(words) : "a"(0ull) : "memory");
}

/* A chunk for this thread, its window in `mine`; NULL where recording has stopped. Signals are blocked. */
static void take(void) {
  mine = NULL;
  if (__atomic_load_n(&state.phase, __ATOMIC_ACQUIRE) == UNOPENED) {
    orrery_lock();
    if (state.phase == UNOPENED) orrery_open_spool();
    orrery_unlock();
  }
  if (!self) self = enrol();
  struct thread *t = self;
  if (__atomic_load_n(&state.phase, __ATOMIC_ACQUIRE) != RECORDING || !t) return;
  int round = 0, i = look_and_wait(t, &round);
  u64 used = 0;
  long error = i >= 0 ? 0 : wait_for_room(t, &used, &i);
  if (!error && i >= 0) {
    clear(t->held[i].window);
  } else {
    /* What goes round is not given back to the disk. */
    if (!error && (i = choose(t, round < ROUND && used < state.limit / 4)) < 0) error = -ENOMEM;
    if (!error) {
      error = map_chunk(t, t->held[i].window);
      /* Whatever it had is gone, or was let go. */
      if (error) t->held[i].is = NONE;
    }
    if (error) {
      orrery_stop(-error);
      return;
    }
  }
  struct orrery_window *window = t->held[i].window;
  t->taken++;
  t->held[i].is = CURRENT;
  window->chunk.thread = t->number;
  window->chunk.stamp = __builtin_ia32_rdtsc();
  /* Whoever sees the turn of a chunk, or the magic of a new one, sees all before. */
  __atomic_store_n(&window->chunk.turn, ++t->turn, __ATOMIC_RELEASE);
  __atomic_store_n(&window->chunk.magic, ORRERY_CHUNK_MAGIC, __ATOMIC_RELEASE);
  window->next = ORRERY_HEAD - ORRERY_SLOTS;
  mine = window;
}

/* Touches what will be the deepest of the stack: a program may overflow it on purpose, and a fault while signals are blocked
 * would be its end. */
static __attribute__((noinline)) void probe(void) {
  char deep[PROBE];
  __asm__ volatile("movb $0, %0" : "=m"(deep[0]));
}

/* A window for this thread that has room; 0 where nothing is recorded. */
static __attribute__((noinline)) int refill(void) {
  probe();
  u64 before = block_signals();
  /* A guest; or a thread that was given our variables for its own. */
  if (orrery_is_guest() || (self && self->tid != (int)CALL(SYS_gettid, 0, 0, 0))) {
    orrery_quiet = 1;
    __orrery_current = &orrery_nothing;
    restore_signals(before);
    return 0;
  }
  /* A handler may have been here between the claim and now. */
  if (!mine || mine->next >= 0) take();
  int found = mine != NULL;
  restore_signals(before);
  return found;
}

/* ---- records */

/* Claims a slot by one instruction: this thread's signal handlers may come before or after it, not in between. */
static inline int64_t claim(struct orrery_window *window) {
  int64_t n = 1;
  __asm__ volatile("xaddq %0, %1" : "+r"(n), "+m"(window->next) : : "cc");
  return n;
}

static inline void fill(struct orrery_window *window, int64_t at, u64 first, u64 second) {
  u64 *words = (u64 *)&window->chunk + 2 * (at + ORRERY_SLOTS);
  __atomic_store_n(words + 1, second, __ATOMIC_RELAXED);
  __atomic_store_n(words, first, __ATOMIC_RELEASE);
}

static void stamp(struct orrery_window *window, int64_t at) {
  fill(window, at, ORRERY_SPECIAL(ORRERY_AT_STAMP, 0), __builtin_ia32_rdtsc());
  /* Without room it is the desk of a child, wiped since the slot was claimed. */
  if (window->room && window->room < ORRERY_SLOTS && at + ORRERY_SLOTS >= GROW) {
    u64 before = block_signals(), from = window->room;
    long error = 0;
    if (from < ORRERY_SLOTS) error = orrery_reserve_more(window->offset + 16 * from, 16 * (ORRERY_SLOTS - from));
    if (!error) window->room = ORRERY_SLOTS;
    restore_signals(before);
    if (error) {
      window->next = 0;
      orrery_stop(-error);
    }
  }
}

/* Stores a record in this thread's window; slot `at` of `window` was claimed already. */
static void put(struct orrery_window *window, int64_t at, u64 first, u64 second) {
  while (window) {
    if (at < 0 && at % ORRERY_STAMP) {
      fill(window, at, first, second);
      return;
    }
    if (at < 0) {
      stamp(window, at);
    } else if (__atomic_load_n(&state.phase, __ATOMIC_RELAXED) == STOPPED || !refill()) {
      if (state.header && !orrery_quiet) __atomic_fetch_add(&state.header->lost, 1, __ATOMIC_RELAXED);
      return;
    }
    window = __atomic_load_n(&mine, __ATOMIC_RELAXED);
    if (window) at = claim(window);
  }
}

/* Where a hook goes whose slot is a stamp's or lies past the end. */
HIDDEN void __orrery_slow(u64 first, u64 second, int64_t at, struct orrery_window *window);
void __orrery_slow(u64 first, u64 second, int64_t at, struct orrery_window *window) {
  int quiet = orrery_quiet ? orrery_still_quiet() : 0;
  if (quiet == 1) return;
  if (state.paused) {
    __orrery_current = &orrery_nothing;
    /* The slot of a stamp is filled, that of the reference itself is not wanted. */
    if (at < 0) stamp(window, at);
    return;
  }
  put(window, at, first, second);
  __orrery_current = mine && !quiet && !orrery_quiet ? mine : &orrery_nothing;
}

void orrery_put(uint64_t first, uint64_t second) {
  if (orrery_quiet && orrery_still_quiet() == 1) return;
  struct orrery_window *window = __atomic_load_n(&mine, __ATOMIC_RELAXED);
  if (!window) window = &orrery_nothing;
  put(window, claim(window), first, second);
}

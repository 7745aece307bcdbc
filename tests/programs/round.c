/* Sweeps whose references are known one by one: that of THREADS arrays, each by a thread of its own. Called with `wait`, one thread
 * goes on to the next sweep only when the collector has read a chunk of what it recorded; then the size of the spool is told. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { THREADS = 3, CELLS = 1 << 16, SWEEPS = 40, HEADER = 65536, CHUNK = 1 << 20 };
unsigned cells[THREADS][CELLS];
static int waits;

/* Whether a chunk of the spool was read to its end: capture/spool.h. */
static int read_one(int spool) {
  uint64_t head[8];
  for (off_t at = HEADER; pread(spool, head, sizeof head, at) == sizeof head; at += CHUNK)
    if (head[0] && head[4] && head[4] == head[5]) return 1;
  return 0;
}

static void *sweep(void *argument) {
  unsigned *mine = argument;
  int spool = waits ? open("recorded.orrery.part", O_RDONLY) : -1;
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    for (int i = 0; i < CELLS; i++) mine[i] = i;
    for (int naps = 0; spool >= 0 && sweep > 2 && naps < 20000 && !read_one(spool); naps++) usleep(1000);
  }
  struct stat about;
  if (spool >= 0 && fstat(spool, &about) == 0) fprintf(stderr, "%lld bytes\n", (long long)about.st_size);
  return NULL;
}

int main(int count, char **arguments) {
  waits = count > 1 && !strcmp(arguments[1], "wait");
  pthread_t threads[THREADS];
  int many = waits ? 1 : THREADS;
  for (int i = 0; i < many; i++) pthread_create(&threads[i], NULL, sweep, cells[i]);
  for (int i = 0; i < many; i++) pthread_join(threads[i], NULL);
  unsigned long sum = 0;
  for (int t = 0; t < THREADS; t++)
    for (int i = 0; i < CELLS; i += 4096) sum += cells[t][i];
  printf("%lu\n", sum);
  return 0;
}

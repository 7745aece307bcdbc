// Stack distances as they are usually measured: a hash table of lines and a Fenwick tree over time (Bennett and Kruskal 1975; Fenwick
// 1994). Reads records of 24 bytes (address first, size at 16), lines of 64 bytes, and prints seconds, accesses, first touches and a
// checksum of the histogram.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct { uint64_t addr, pc; uint32_t size; uint16_t core; uint8_t lane, kind; } record;

static uint64_t *keys;
static uint32_t *times, *tree, *histogram;
static uint64_t mask;
static uint32_t length;

static void add(uint32_t at, int32_t n) {
  for (; at <= length; at += at & -at) tree[at] += (uint32_t)n;
}

static uint32_t sum(uint32_t at) {
  uint32_t total = 0;
  for (; at; at -= at & -at) total += tree[at];
  return total;
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  FILE *file = fopen(argv[1], "rb");
  if (!file) return 1;
  fseek(file, 0, SEEK_END);
  uint64_t count = (uint64_t)ftell(file) / sizeof(record);
  rewind(file);
  record *records = malloc(count * sizeof(record));
  if (fread(records, sizeof(record), count, file) != count) return 1;
  fclose(file);
  double best = 1e9;
  uint64_t accesses = 0, cold = 0, check = 0;
  for (int round = 0; round < 3; round++) {
    length = (uint32_t)(2 * count);
    mask = 1;
    while (mask < 4 << 20) mask *= 2;
    keys = calloc(mask, 8), times = calloc(mask, 4), tree = calloc(length + 1, 4), histogram = calloc(mask, 4);
    mask--;
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    accesses = cold = 0;
    uint32_t now = 0;
    for (uint64_t n = 0; n < count; n++) {
      uint64_t first = records[n].addr >> 6, last = (records[n].addr + records[n].size - 1) >> 6;
      for (uint64_t line = first; line <= last; line++) {
        accesses++, now++;
        uint64_t slot = (line * 0x9e3779b97f4a7c15u >> 20) & mask;
        while (keys[slot] && keys[slot] != line + 1) slot = (slot + 1) & mask;
        if (keys[slot]) {
          uint32_t before = times[slot];
          histogram[sum(now - 1) - sum(before)]++;
          add(before, -1);
        } else {
          keys[slot] = line + 1;
          cold++;
        }
        times[slot] = now;
        add(now, 1);
      }
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    double seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    if (seconds < best) best = seconds;
    check = 0;
    for (uint64_t d = 0; d <= mask; d++) check += (d + 1) * histogram[d] % 1000003;
    free(keys), free(times), free(tree), free(histogram);
  }
  printf("%.6f %llu %llu %llu\n", best, (unsigned long long)accesses, (unsigned long long)cold, (unsigned long long)check);
}

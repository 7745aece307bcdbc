/* Hash join R.key = S.key of two relations in memory, in four ways:
 *   join N 0        no partitioning: one hash table over all of R (build), then each tuple of S looks there (probe)
 *   join N 10       1024 partitions in one pass (10 bits of the key), then a join of each pair of partitions
 *   join N 5 5      the same 1024 partitions in two passes of 5 bits
 *   join N 5 5 24   the same, with 24 unused tuples (3 lines of 64 bytes) between partitions
 * N is the logarithm of the number of tuples of each relation. Radix join and bucket-chained hash table after Boncz,
 * Manegold, Kersten (VLDB 1999, TKDE 2002); the padding after the code of Balkesen, Teubner, Alonso, Ozsu (ICDE 2013). */
#include <orrery.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct { uint32_t key, payload; } tuple;

static uint64_t seed = 1;
static uint32_t below(uint32_t n) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(((seed >> 32) * n) >> 32);
}

/* Joins n tuples of R with m of S; the lowest `skip` bits of all their keys are equal. */
static uint64_t join(const tuple *R, uint32_t n, const tuple *S, uint32_t m, int skip, uint32_t *bucket, uint32_t *next) {
  uint32_t size = 1;
  while (size < n) size *= 2;
  for (uint32_t i = 0; i < size; i++) bucket[i] = 0;
  for (uint32_t i = 0; i < n; i++) { /* build */
    uint32_t h = (R[i].key >> skip) & (size - 1);
    next[i] = bucket[h];
    bucket[h] = i + 1;
  }
  uint64_t sum = 0;
  for (uint32_t j = 0; j < m; j++) { /* probe */
    uint32_t h = (S[j].key >> skip) & (size - 1);
    for (uint32_t i = bucket[h]; i; i = next[i - 1])
      if (R[i - 1].key == S[j].key) sum += R[i - 1].payload ^ S[j].payload;
  }
  return sum;
}

/* Copies n tuples to `out`; those with equal bits [shift, shift + bits) of the key go to out[start[p]..end[p]]. */
static void scatter(const tuple *in, tuple *out, uint32_t n, int shift, int bits, uint32_t pad, uint32_t *start, uint32_t *end) {
  uint32_t fan = 1u << bits, mask = fan - 1, sum = 0;
  for (uint32_t p = 0; p < fan; p++) end[p] = 0;
  for (uint32_t i = 0; i < n; i++) end[(in[i].key >> shift) & mask]++;
  for (uint32_t p = 0; p < fan; p++) { start[p] = sum; sum += end[p] + pad; end[p] = start[p]; }
  for (uint32_t i = 0; i < n; i++) out[end[(in[i].key >> shift) & mask]++] = in[i];
}

static void *array(size_t bytes) {
  void *p = malloc(bytes);
  if (!p) exit(1);
  return p;
}

int main(int count, char **arguments) {
  if (count < 3) { fprintf(stderr, "usage: join N BITS [BITS [PADDING]]\n"); return 2; }
  uint32_t n = 1u << atoi(arguments[1]);
  int first = atoi(arguments[2]), second = count > 3 ? atoi(arguments[3]) : 0;
  uint32_t pad = count > 4 ? (uint32_t)atoi(arguments[4]) : 0;
  uint32_t fan = 1u << first, fine = 1u << second, room = n + fan * fine * pad * 2 + pad;
  orrery_pause(); /* the data is made before the recording begins */
  tuple *R = array(n * sizeof *R), *S = array(n * sizeof *S);
  for (uint32_t i = 0; i < n; i++) R[i] = (tuple){i, i * 7};
  for (uint32_t i = n - 1; i; i--) { uint32_t j = below(i + 1); tuple t = R[i]; R[i] = R[j]; R[j] = t; }
  for (uint32_t j = 0; j < n; j++) S[j] = (tuple){below(n), j};
  uint32_t *bucket = array(n * sizeof *bucket), *next = array(n * sizeof *next);
  uint64_t sum = 0;
  if (!first) {
    orrery_resume();
    sum = join(R, n, S, n, 0, bucket, next);
  } else {
    tuple *R1 = array(room * sizeof *R), *S1 = array(room * sizeof *S);
    uint32_t *startR = array(fan * 4), *endR = array(fan * 4), *startS = array(fan * 4), *endS = array(fan * 4);
    uint32_t wide = second ? pad * (fine + 1) : pad;
    orrery_resume();
    scatter(R, R1, n, 0, first, wide, startR, endR);
    scatter(S, S1, n, 0, first, wide, startS, endS);
    if (!second) {
      for (uint32_t p = 0; p < fan; p++)
        sum += join(R1 + startR[p], endR[p] - startR[p], S1 + startS[p], endS[p] - startS[p], first, bucket, next);
    } else {
      orrery_pause();
      tuple *R2 = array(room * sizeof *R), *S2 = array(room * sizeof *S);
      uint32_t *fineR = array(fine * 4), *fineRend = array(fine * 4), *fineS = array(fine * 4), *fineSend = array(fine * 4);
      orrery_resume();
      for (uint32_t p = 0; p < fan; p++) {
        tuple *r = R2 + startR[p], *s = S2 + startS[p];
        scatter(R1 + startR[p], r, endR[p] - startR[p], first, second, pad, fineR, fineRend);
        scatter(S1 + startS[p], s, endS[p] - startS[p], first, second, pad, fineS, fineSend);
        for (uint32_t q = 0; q < fine; q++)
          sum += join(r + fineR[q], fineRend[q] - fineR[q], s + fineS[q], fineSend[q] - fineS[q], first + second, bucket, next);
      }
    }
  }
  printf("%llu\n", (unsigned long long)sum);
  return 0;
}

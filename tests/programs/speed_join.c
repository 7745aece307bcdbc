#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
struct node { uint64_t key, value; struct node *next; };
int main(void) {
  enum { BUILD = 200000, PROBE = 800000, BUCKETS = 1 << 17 };
  struct node **buckets = calloc(BUCKETS, sizeof *buckets);
  struct node *nodes = malloc(BUILD * sizeof *nodes);
  uint64_t *probe = malloc(PROBE * sizeof *probe);
  uint64_t x = 88172645463325252ull, hits = 0, sum = 0;
  for (int i = 0; i < PROBE; i++) {
    x ^= x << 13; x ^= x >> 7; x ^= x << 17;
    probe[i] = x % (2 * BUILD);
  }
  for (uint64_t i = 0; i < BUILD; i++) {
    uint64_t h = (i * 2 * 0x9e3779b97f4a7c15ull) >> 47;
    nodes[i].key = 2 * i; nodes[i].value = i; nodes[i].next = buckets[h];
    buckets[h] = &nodes[i];
  }
  for (int round = 0; round < 2; round++)
  for (int i = 0; i < PROBE; i++) {
    uint64_t h = (probe[i] * 0x9e3779b97f4a7c15ull) >> 47;
    for (struct node *n = buckets[h]; n; n = n->next)
      if (n->key == probe[i]) { hits++; sum += n->value; break; }
  }
  printf("%llu %llu\n", (unsigned long long)hits, (unsigned long long)sum);
  free(buckets); free(nodes); free(probe);
}

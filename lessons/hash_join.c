/* A hash join: for each row of `probe`, the rows of `build` with the same key.
 *
 * With no argument all rows go through one table. With `partitioned`, rows of both sides are first sorted into 64 parts by their keys,
 * and then joined part by part: a part of the table is small enough for the second cache. */
#include "orrery.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BUILD = 32768, PROBE = 65536, BUCKETS = 32768, PARTS = 64 };

typedef struct {
    uint32_t key, row;
} row;

row build[BUILD], probe[PROBE];
row build_parts[BUILD], probe_parts[PROBE];
uint32_t heads[BUCKETS], next[BUILD];
static uint32_t begins[2][PARTS + 1];

static uint32_t hash(uint32_t key) { return key * 2654435761u; }
static uint32_t bucket(uint32_t key) { return hash(key) >> 17; }
static uint32_t part(uint32_t key) { return hash(key) >> 26; }

static uint64_t __attribute__((noinline)) join(const row *b, uint32_t from, uint32_t to, const row *p, uint32_t first, uint32_t last)
{
    uint64_t found = 0;
    orrery_mark("put in");
    for (uint32_t i = from; i < to; i++) {
        uint32_t h = bucket(b[i].key);
        next[i] = heads[h];
        heads[h] = i + 1;
    }
    orrery_mark("ask");
    for (uint32_t i = first; i < last; i++)
        for (uint32_t at = heads[bucket(p[i].key)]; at; at = next[at - 1])
            if (b[at - 1].key == p[i].key)
                found += b[at - 1].row;
    return found;
}

static void __attribute__((noinline)) divide(const row *from, row *to, uint32_t rows, uint32_t *at)
{
    uint32_t place[PARTS + 1];
    for (uint32_t i = 0; i < rows; i++)
        at[part(from[i].key) + 1]++;
    for (int i = 0; i < PARTS; i++)
        at[i + 1] += at[i];
    memcpy(place, at, sizeof place);
    for (uint32_t i = 0; i < rows; i++)
        to[place[part(from[i].key)]++] = from[i];
}

int main(int argc, char **argv)
{
    (void)argv;
    uint32_t seed = 1;
    for (uint32_t i = 0; i < BUILD; i++)
        build[i] = (row){(seed = seed * 1664525u + 1013904223u) >> 8, i};
    for (uint32_t i = 0; i < PROBE; i++)
        probe[i] = (row){build[(seed = seed * 1664525u + 1013904223u) >> 17].key, i};
    uint64_t found = 0;
    if (argc > 1) {
        orrery_mark("divide");
        divide(build, build_parts, BUILD, begins[0]);
        divide(probe, probe_parts, PROBE, begins[1]);
        for (int i = 0; i < PARTS; i++)
            found += join(build_parts, begins[0][i], begins[0][i + 1], probe_parts, begins[1][i], begins[1][i + 1]);
    } else {
        found = join(build, 0, BUILD, probe, 0, PROBE);
    }
    printf("%llu\n", (unsigned long long)found);
    return 0;
}

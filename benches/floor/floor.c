// The floor: the fastest loops we could write by hand for one fixed shape, as a yardstick for the simulator.
//
// L1 32 KiB 8-way, L2 1 MiB 16-way, 64-byte lines, LRU, write-back, write-allocate; the rules of src/sim/mod.rs. A set is
// its lines' words in order of use, most recent first: tag << 2 | DIRTY | VALID, 0 = empty. Four loops do the same job:
//
//   scalar  looks at word after word, the most recent first, and moves each back on the way: most accesses of real
//           programs end at the first
//   head    the first word as scalar does, with a branch, the rest as vector does
//   vector  compares and rotates all ways at once, without a branch on where the line was
//   blocks  vector, a block of references through L1, then the list of what missed through L2, so that no branch
//           depends on a miss. Exact, because nothing that L2 does comes back to L1.
//
// Usage: floor TRACE PART, with 24-byte little-endian records (struct record). For each line on standard input every loop
// plays the trace once, from empty caches, PART records at a time, and says so by an empty line. At the end of the input
// come the seconds of each loop, the sum of the shortest time of each part, and the counts (see print_counts). Exit
// status 1 if two loops count differently. Without AVX-512 there is only the scalar loop.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __AVX512DQ__
#include <immintrin.h>
#endif

typedef uint64_t u64;
typedef uint32_t u32;
typedef uint8_t u8;

struct record {
    u64 addr, pc;
    u32 size;
    uint16_t core;
    u8 lane, kind;
};

enum { READ, WRITE, MODIFY, FETCH };
#define VALID 1ull
#define DIRTY 2ull
#define LINE_BITS 6
#define LINE (1u << LINE_BITS)
#define L1_BITS 6
#define L1_WAYS 8
#define L2_BITS 10
#define L2_WAYS 16

static _Alignas(64) u64 l1[L1_WAYS << L1_BITS], l2[L2_WAYS << L2_BITS];

struct counts {
    u64 access[3], miss[3], evictions, writebacks; // by read, write, fetch
};
static struct all {
    struct counts l1, l2;
    u64 memory_reads, memory_writes;
} n;

#define INLINE static inline __attribute__((always_inline))
#define OUTLINE static __attribute__((noinline))
#define RARE(x) __builtin_expect((x) != 0, 0)

INLINE u64 *set1(u64 line) { return l1 + (line & ((1 << L1_BITS) - 1)) * L1_WAYS; }
INLINE u64 *set2(u64 line) { return l2 + (line & ((1 << L2_BITS) - 1)) * L2_WAYS; }
INLINE u64 key1(u64 line) { return line >> L1_BITS << 2 | VALID; }
INLINE u64 key2(u64 line) { return line >> L2_BITS << 2 | VALID; }

// Brings `key` to the head of its set. True on a miss; then *victim is the word that left.
INLINE int touch_scalar(u64 *set, int ways, u64 key, u64 dirty, u64 *victim) {
    u64 carried = set[0];
    if ((carried & ~DIRTY) == key) {
        set[0] = carried | dirty;
        return 0;
    }
    for (int i = 1; i < ways; i++) {
        const u64 here = set[i];
        set[i] = carried;
        if ((here & ~DIRTY) == key) {
            set[0] = here | dirty;
            return 0;
        }
        carried = here;
    }
    set[0] = key | dirty;
    *victim = carried;
    return 1;
}

#ifdef __AVX512DQ__
#define BUT_DIRTY _mm512_set1_epi64(~(long long)DIRTY)
#define ONLY_DIRTY _mm512_set1_epi64(DIRTY)

// As touch_scalar for 8 ways; the match as a mask, 0 on a miss; *victim is always the last word.
INLINE u8 touch8(u64 *set, u64 key, u64 dirty, u64 *victim) {
    const __m512i x = _mm512_load_si512(set);
    const __mmask8 match = _mm512_testn_epi64_mask(_mm512_xor_si512(x, _mm512_set1_epi64(key)), BUT_DIRTY);
    const u64 head = key | dirty | (_mm512_mask_test_epi64_mask(match, x, ONLY_DIRTY) ? DIRTY : 0);
    const u32 m = match;
    _mm_storel_epi64((__m128i *)victim, _mm512_castsi512_si128(_mm512_alignr_epi64(x, x, 7)));
    // m ^ (m - 1): the ways up to the match, all of them on a miss; these move back by one.
    _mm512_store_si512(set, _mm512_mask_alignr_epi64(x, (__mmask8)(m ^ (m - 1)), x, _mm512_set1_epi64(head), 7));
    return match;
}

INLINE u8 touch16(u64 *set, u64 key, u64 dirty, u64 *victim) {
    const __m512i x = _mm512_load_si512(set), y = _mm512_load_si512(set + 8), k = _mm512_set1_epi64(key);
    const __mmask8 mx = _mm512_testn_epi64_mask(_mm512_xor_si512(x, k), BUT_DIRTY);
    const __mmask8 my = _mm512_testn_epi64_mask(_mm512_xor_si512(y, k), BUT_DIRTY);
    const u32 was = _mm512_mask_test_epi64_mask(mx, x, ONLY_DIRTY) | _mm512_mask_test_epi64_mask(my, y, ONLY_DIRTY);
    const u64 head = key | dirty | (was ? DIRTY : 0);
    const u32 m = mx | (u32)my << 8, back = m ^ (m - 1);
    _mm_storel_epi64((__m128i *)victim, _mm512_castsi512_si128(_mm512_alignr_epi64(y, y, 7)));
    _mm512_store_si512(set + 8, _mm512_mask_alignr_epi64(y, (__mmask8)(back >> 8), y, x, 7));
    _mm512_store_si512(set, _mm512_mask_alignr_epi64(x, (__mmask8)back, x, _mm512_set1_epi64(head), 7));
    return mx | my;
}
#endif

enum how { SCALAR, HEAD, VECTOR };

// Whether the line was there; else *victim is the word that left for it.
INLINE int touch1(u64 line, u64 dirty, enum how how, u64 *victim) {
#ifdef __AVX512DQ__
    if (how != SCALAR) return touch8(set1(line), key1(line), dirty, victim);
#endif
    (void)how;
    return !touch_scalar(set1(line), L1_WAYS, key1(line), dirty, victim);
}

INLINE int touch2(u64 line, u64 dirty, enum how how, u64 *victim) {
#ifdef __AVX512DQ__
    if (how != SCALAR) return touch16(set2(line), key2(line), dirty, victim);
#endif
    (void)how;
    return !touch_scalar(set2(line), L2_WAYS, key2(line), dirty, victim);
}

// One access at a time. `kind` is READ, WRITE or, as 2, a fetch.
OUTLINE void access2(u64 line, int kind, int covered, enum how how) {
    u64 victim;
    n.l2.access[kind]++;
    if (touch2(line, kind == WRITE ? DIRTY : 0, how, &victim)) return;
    n.l2.miss[kind]++;
    n.l2.evictions += victim & VALID;
    n.memory_reads += !covered;
    n.l2.writebacks += victim >> 1 & 1;
    n.memory_writes += victim >> 1 & 1;
}

OUTLINE void miss1(u64 line, int kind, int covered, u64 victim, enum how how) {
    n.l1.miss[kind]++;
    n.l1.evictions += victim & VALID;
    if (!covered) access2(line, kind == 2 ? 2 : READ, 0, how);
    if (victim & DIRTY) {
        n.l1.writebacks++;
        access2(victim >> 2 << L1_BITS | (line & ((1 << L1_BITS) - 1)), WRITE, 1, how);
    }
}

INLINE u64 last_byte(const struct record *r) {
    const u64 last = r->addr + (r->size ? r->size : 1) - 1;
    return last < r->addr ? ~0ull : last;
}

// Lines that a reference touches, in order, for each of its passes (a modify reads all, then writes all).
#define FOR_PIECES(r)                                                                                                 \
    for (int pass = (r)->kind == MODIFY ? 0 : 1; pass < 2; pass++)                                                    \
        for (u64 line = (r)->addr >> LINE_BITS, end = last_byte(r) >> LINE_BITS, more = 1; more; more = line++ != end)
#define PIECE_KIND(r) (pass == 0 ? READ : (r)->kind == MODIFY ? WRITE : (r)->kind == FETCH ? 2 : (r)->kind)
#define COVERED(r) (PIECE_KIND(r) == WRITE && (r)->addr <= line << LINE_BITS && (line << LINE_BITS | (LINE - 1)) <= last_byte(r))

OUTLINE void straddle(const struct record *r, enum how how) {
    FOR_PIECES(r) {
        u64 victim;
        n.l1.access[PIECE_KIND(r)]++;
        if (!touch1(line, PIECE_KIND(r) == WRITE ? DIRTY : 0, how, &victim))
            miss1(line, PIECE_KIND(r), COVERED(r), victim, how);
    }
}

// Accesses are counted in three fields of one register, 21 bits each.
static const u64 field[4] = {1, 1ull << 21, 1 | 1ull << 21, 1ull << 42};

INLINE void one_by_one(const struct record *r, size_t left, enum how how) {
    while (left) {
        const size_t part = left < 1 << 20 ? left : 1 << 20;
        u64 accesses = 0;
        for (const struct record *end = r + part; r < end; r++) {
            const u64 line = r->addr >> LINE_BITS, offset = r->addr & (LINE - 1);
            const u32 kind = r->kind;
            if (RARE(offset + r->size > LINE)) {
                straddle(r, how);
                continue;
            }
            u64 *set = set1(line), victim;
            const u64 dirty = (kind + 1) & DIRTY;
            accesses += field[kind];
            if (how == HEAD && !RARE((set[0] & ~DIRTY) != key1(line))) {
                // A store only where it changes something: a vector load soon after would have to wait for it.
                if (RARE(dirty & ~set[0])) set[0] |= dirty;
                continue;
            }
            // A modify reads, then writes what the read brought: one touch, which counts as a read where it misses.
            if (!touch1(line, dirty, how, &victim))
                miss1(line, kind == MODIFY ? READ : kind == FETCH ? 2 : (int)kind, kind == WRITE && r->size == LINE, victim, how);
        }
        n.l1.access[0] += accesses & 0x1fffff;
        n.l1.access[1] += accesses >> 21 & 0x1fffff;
        n.l1.access[2] += accesses >> 42;
        left -= part;
    }
}

OUTLINE void scalar(const struct record *r, size_t count) { one_by_one(r, count, SCALAR); }
#ifdef __AVX512DQ__
OUTLINE void head(const struct record *r, size_t count) { one_by_one(r, count, HEAD); }
OUTLINE void vector(const struct record *r, size_t count) { one_by_one(r, count, VECTOR); }

// Blocks. A request is line << 3 | code; codes 0 to 3 are the kinds, 4 is a store or write-back that covers its line.
#define BLOCK 512
#define COVER 4
#define ROOM (2 * BLOCK + 64)
static _Alignas(64) u64 ask1[ROOM], left1[ROOM], ask2[2 * ROOM], left2[2 * ROOM];
static _Alignas(64) u8 match1[ROOM], match2[2 * ROOM];

OUTLINE size_t straddle_in_block(const struct record *r, size_t at) {
    FOR_PIECES(r) {
        const int kind = PIECE_KIND(r);
        ask1[at] = line << 3 | (COVERED(r) ? COVER : kind == 2 ? FETCH : kind);
        match1[at] = touch8(set1(line), key1(line), kind == WRITE ? DIRTY : 0, left1 + at);
        at++;
    }
    return at;
}

#define COUNT(mask) ((u64)__builtin_popcount(mask))
#define IS(code) _mm512_mask_cmpeq_epi64_mask(live, _mm512_and_si512(ask, _mm512_set1_epi64(7)), _mm512_set1_epi64(code))
#define MISSED(match) (live & _mm_testn_epi8_mask(_mm_loadl_epi64((const void *)((match) + i)), _mm_set1_epi8(-1)))

// Counts what L1 did with a block and lists L2's requests: each demand, then its dirty victim. Returns how many.
OUTLINE size_t after1(size_t count) {
    struct counts c = {{0}, {0}, 0, 0};
    u64 modifies = 0;
    size_t out = 0;
    for (size_t i = 0; i < count; i += 8) {
        const u32 live = count - i >= 8 ? 255 : (1u << (count - i)) - 1;
        const __m512i ask = _mm512_load_si512(ask1 + i), left = _mm512_load_si512(left1 + i);
        const u32 missed = MISSED(match1), cover = IS(COVER), write = IS(WRITE) | cover, fetch = IS(FETCH);
        const u32 wet = _mm512_mask_test_epi64_mask(missed, left, ONLY_DIRTY), demand = missed & ~cover;
        modifies += COUNT(IS(MODIFY));
        c.access[1] += COUNT(write);
        c.access[2] += COUNT(fetch);
        c.miss[0] += COUNT(missed & ~write & ~fetch);
        c.miss[1] += COUNT(missed & write);
        c.miss[2] += COUNT(missed & fetch);
        c.evictions += COUNT(_mm512_mask_test_epi64_mask(missed, left, _mm512_set1_epi64(VALID)));
        c.writebacks += COUNT(wet);
        const __m512i wants = _mm512_mask_andnot_epi64(ask, (__mmask8)~fetch, _mm512_set1_epi64(7), ask);
        const __m512i line = _mm512_or_si512(_mm512_slli_epi64(_mm512_srli_epi64(left, 2), L1_BITS + 3),
                                             _mm512_and_si512(ask, _mm512_set1_epi64(((1 << L1_BITS) - 1) << 3)));
        const __m512i gives = _mm512_or_si512(line, _mm512_set1_epi64(COVER));
        const u32 both = _pdep_u32(demand, 0x5555) | _pdep_u32(wet, 0xaaaa);
        const __m512i low = _mm512_permutex2var_epi64(wants, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), gives);
        const __m512i high = _mm512_permutex2var_epi64(wants, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), gives);
        _mm512_storeu_si512(ask2 + out, _mm512_maskz_compress_epi64((__mmask8)both, low));
        out += COUNT(both & 255);
        _mm512_storeu_si512(ask2 + out, _mm512_maskz_compress_epi64((__mmask8)(both >> 8), high));
        out += COUNT(both >> 8);
    }
    n.l1.access[0] += count - c.access[1] - c.access[2];
    n.l1.access[1] += c.access[1] + modifies;
    n.l1.access[2] += c.access[2];
    for (int k = 0; k < 3; k++) n.l1.miss[k] += c.miss[k];
    n.l1.evictions += c.evictions;
    n.l1.writebacks += c.writebacks;
    return out;
}

OUTLINE void through2(size_t count) {
    for (size_t i = 0; i < count; i++) {
        const u64 line = ask2[i] >> 3;
        match2[i] = touch16(set2(line), key2(line), (ask2[i] & COVER) >> 1, left2 + i);
    }
    struct counts c = {{0}, {0}, 0, 0};
    for (size_t i = 0; i < count; i += 8) {
        const u32 live = count - i >= 8 ? 255 : (1u << (count - i)) - 1;
        const __m512i ask = _mm512_load_si512(ask2 + i), left = _mm512_load_si512(left2 + i);
        const u32 missed = MISSED(match2), write = IS(COVER), fetch = IS(FETCH);
        c.access[1] += COUNT(write);
        c.access[2] += COUNT(fetch);
        c.miss[0] += COUNT(missed & ~write & ~fetch);
        c.miss[1] += COUNT(missed & write);
        c.miss[2] += COUNT(missed & fetch);
        c.evictions += COUNT(_mm512_mask_test_epi64_mask(missed, left, _mm512_set1_epi64(VALID)));
        c.writebacks += COUNT(_mm512_mask_test_epi64_mask(missed, left, ONLY_DIRTY));
    }
    n.l2.access[0] += count - c.access[1] - c.access[2];
    n.l2.access[1] += c.access[1];
    n.l2.access[2] += c.access[2];
    for (int k = 0; k < 3; k++) n.l2.miss[k] += c.miss[k];
    n.l2.evictions += c.evictions;
    n.l2.writebacks += c.writebacks;
    n.memory_reads += c.miss[0] + c.miss[2];
    n.memory_writes += c.writebacks;
}

OUTLINE void blocks(const struct record *r, size_t count) {
    const struct record *all = r + count;
    while (r < all) {
        size_t at = 0;
        for (const struct record *end = all - r > BLOCK ? r + BLOCK : all; r < end; r++) {
            // Past the trace's end this names memory that is only hinted at, never read.
            _mm_prefetch((const char *)r + 64 * sizeof *r, _MM_HINT_T0);
            const u64 line = r->addr >> LINE_BITS, offset = r->addr & (LINE - 1);
            const u32 kind = r->kind;
            // A store of a whole line goes this way too.
            if (RARE(offset + r->size >= LINE)) {
                const u64 pieces = 2 * ((last_byte(r) >> LINE_BITS) - line + 1);
                if (pieces > BLOCK) {
                    // Too large for a block: finish that, then go piece by piece.
                    through2(after1(at));
                    at = 0;
                    straddle(r, VECTOR);
                    continue;
                }
                if (at + pieces > ROOM - BLOCK) {
                    through2(after1(at));
                    at = 0;
                }
                at = straddle_in_block(r, at);
                continue;
            }
            ask1[at] = line << 3 | kind;
            match1[at] = touch8(set1(line), key1(line), (kind + 1) & DIRTY, left1 + at);
            at++;
            if (RARE(at >= ROOM - 8)) {
                through2(after1(at));
                at = 0;
            }
        }
        through2(after1(at));
    }
}
#endif

static void print_counts(void) {
    const struct counts *levels[2] = {&n.l1, &n.l2};
    // counts <level: reads writes fetches, read write and fetch misses, evictions, write-backs> x 2 <memory reads, writes>
    printf("counts");
    for (int i = 0; i < 2; i++) {
        const struct counts *c = levels[i];
        for (int k = 0; k < 3; k++) printf(" %llu", (unsigned long long)c->access[k]);
        for (int k = 0; k < 3; k++) printf(" %llu", (unsigned long long)c->miss[k]);
        printf(" %llu %llu", (unsigned long long)c->evictions, (unsigned long long)c->writebacks);
    }
    printf(" %llu %llu\n", (unsigned long long)n.memory_reads, (unsigned long long)n.memory_writes);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const struct {
    const char *name;
    void (*play)(const struct record *, size_t);
} loops[] = {
    {"scalar", scalar},
#ifdef __AVX512DQ__
    {"head", head},
    {"vector", vector},
    {"blocks", blocks},
#endif
};
#define LOOPS (sizeof loops / sizeof *loops)

int main(int argc, char **argv) {
    FILE *file = argc == 3 ? fopen(argv[1], "rb") : NULL;
    const size_t part = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (!file || !part) {
        fprintf(stderr, "usage: floor TRACE PART (a readable file of 24-byte records; records timed at a time)\n");
        return 2;
    }
    fseek(file, 0, SEEK_END);
    const long bytes = ftell(file);
    rewind(file);
    const size_t count = (size_t)bytes / sizeof(struct record), parts = (count + part - 1) / part;
    struct record *trace = aligned_alloc(4096, ((size_t)bytes + 8191) & ~(size_t)4095);
    double(*shortest)[LOOPS] = malloc((parts + 1) * sizeof *shortest);
    if (!trace || !shortest || fread(trace, sizeof *trace, count, file) != count) {
        fprintf(stderr, "floor: %s cannot be read into memory\n", argv[1]);
        return 2;
    }
    fclose(file);
    struct all first;
    char line[16];
    for (int round = 0; fgets(line, sizeof line, stdin); round++) {
        for (size_t i = 0; i < LOOPS; i++) {
            memset(l1, 0, sizeof l1);
            memset(l2, 0, sizeof l2);
            memset(&n, 0, sizeof n);
            for (size_t p = 0; p < parts; p++) {
                const double start = now();
                loops[i].play(trace + p * part, p + 1 < parts ? part : count - p * part);
                const double seconds = now() - start;
                if (round == 0 || seconds < shortest[p][i]) shortest[p][i] = seconds;
            }
            if (round == 0 && i == 0) first = n;
            if (memcmp(&first, &n, sizeof n)) {
                print_counts();
                n = first;
                print_counts();
                fprintf(stderr, "floor: loop %s counts otherwise than the first\n", loops[i].name);
                return 1;
            }
        }
        printf("\n");
        fflush(stdout);
    }
    for (size_t i = 0; i < LOOPS; i++) {
        double seconds = 0;
        for (size_t p = 0; p < parts; p++) seconds += shortest[p][i];
        printf("%s %.9f ", loops[i].name, seconds);
    }
    printf("\n");
    print_counts();
    return 0;
}

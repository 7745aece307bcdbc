// The floor of text: a plain loop over the same file, read in the same blocks, that trusts every byte and keeps nothing but
// sums. Usage: text FORMAT FILE ROUNDS; prints the lines, the seconds of the fastest round, and the sums.
//   lackey  "I  04001000,3": letter, hexadecimal address, comma, decimal size
//   xdin    "r 7fff12a0 10": letter, hexadecimal address, blank, hexadecimal size

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BLOCK (256 << 10)
static char buf[BLOCK + 64];

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static inline unsigned digit(unsigned char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; }

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    const int xdin = !strcmp(argv[1], "xdin"), prefix = xdin ? 2 : 3, radix = xdin ? 16 : 10;
    const char stop = xdin ? ' ' : ',';
    double best = 1e9;
    uint64_t sum = 0, kinds = 0, lines = 0;
    for (int round = atoi(argv[3]); round > 0; round--) {
        const int file = open(argv[2], O_RDONLY);
        if (file < 0) return 1;
        const double start = now();
        size_t kept = 0;
        sum = kinds = lines = 0;
        for (ssize_t n; (n = read(file, buf + kept, BLOCK - kept)) > 0;) {
            const char *p = buf, *end = buf + kept + n;
            while (end > buf && end[-1] != '\n') end--;
            while (p < end) {
                const unsigned kind = (unsigned char)p[0] ^ (unsigned char)p[1];
                p += prefix;
                uint64_t addr = 0, size = 0;
                for (char c; (c = *p++) != stop;) addr = addr << 4 | digit(c);
                if (radix == 10)
                    for (; *p != '\n'; p++) size = size * 10 + (*p - '0');
                else
                    for (; *p != '\n'; p++) size = size << 4 | digit(*p);
                p++;
                sum += addr + size;
                kinds += kind;
                lines++;
            }
            kept = buf + kept + n - end;
            memmove(buf, end, kept);
        }
        const double seconds = now() - start;
        if (seconds < best) best = seconds;
        close(file);
    }
    printf("%llu %.9f %llu %llu\n", (unsigned long long)lines, best, (unsigned long long)sum, (unsigned long long)kinds);
    return 0;
}

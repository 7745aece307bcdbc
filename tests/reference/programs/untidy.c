// What cachegrind and the contract count differently: data across lines, instructions across lines (assembled as they come),
// loads and stores of one instruction, 32-byte stores, and the line at address 0, which only root may map.
#include "start.h"

struct __attribute__((packed)) record { char tag; double value; int count; };
struct record records[90];
int counters[256] __attribute__((aligned(64)));
char block[2048] __attribute__((aligned(64)));

static long map_line_0(void) {
    long result;
    register long flags __asm__("r10") = 0x32; // private, anonymous, fixed
    register long file __asm__("r8") = -1;
    register long offset __asm__("r9") = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(9L), "D"(0L), "S"(4096L), "d"(3L), "r"(flags), "r"(file), "r"(offset)
                     : "rcx", "r11", "memory");
    return result;
}

static void fill(void) {
    for (int i = 0; i < 2048; i += 32) __asm__ volatile("vmovaps %%ymm0, (%0)" : : "r"(block + i) : "memory");
}

int body(void) {
    if (map_line_0() != 0) return 3;
    long base = 0;
    __asm__ volatile("" : "+r"(base)); // the compiler must not know that it is 0
    volatile int *zero = (volatile int *)base;
    int sum = zero[0] + zero[1] + zero[40];
    unsigned seed = 12345;
    for (int round = 0; round < 6; round++) {
        for (int i = 0; i < 90; i++) {
            records[i].value += round;
            records[i].count++;
        }
        for (int i = 0; i < 120; i++) {
            seed = seed * 1664525u + 1013904223u;
            counters[(seed >> 16) & 255] += i;
            sum += block[(seed >> 8) & 2047];
        }
        fill();
        zero[round * 16] = sum;
    }
    return 0;
}

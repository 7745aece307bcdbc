/* What the parts of the runtime share. None of it is for programs: theirs is orrery.h. */
#ifndef ORRERY_RUNTIME_H
#define ORRERY_RUNTIME_H

#include "spool.h"

/* Records of all kinds; from ordinary calls, not from hooks. Safe in signal handlers. */
void orrery_put(uint64_t first, uint64_t second) __attribute__((visibility("hidden")));

/* Whether references are wanted now (not paused, not failed). */
int orrery_on(void) __attribute__((visibility("hidden")));

/* Whether records of any kind are taken (not failed, not ended; paused or not). */
int orrery_open(void) __attribute__((visibility("hidden")));

/* Ends the recording of this process and waits until its file is whole. */
void orrery_finish(void) __attribute__((visibility("hidden")));

#define ORRERY_LOW ((1ull << 56) - 1)
#define ORRERY_ADDRESS(p) ((uint64_t)(uintptr_t)(p) & ORRERY_LOW)
#define ORRERY_REFERENCE(kind, size, p) ((uint64_t)(kind) << 62 | (uint64_t)((size) - 1) << 56 | ORRERY_ADDRESS(p))
#define ORRERY_SPECIAL(code, low) ((uint64_t)(code) << 56 | ((uint64_t)(low) & ORRERY_LOW))
/* The call that is being served: its own address is not known, but it lies just before where it returns to. */
#define ORRERY_CALLER ((uint64_t)(uintptr_t)__builtin_return_address(0) - 1)

#endif

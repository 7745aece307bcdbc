/* What a program may tell Orrery about itself, in C and C++. Where it is not built by `orrery cc` or `orrery c++`, all of it
 * does nothing, and nothing need be linked.
 *
 *     double *grid = malloc(rows * columns * sizeof *grid);
 *     orrery_region("grid", grid, sizeof *grid, rows, columns);
 *     orrery_mark("smooth");
 */
#ifndef ORRERY_H
#define ORRERY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A block is named before it is filled: its content is not looked at. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#define ORRERY_NOT_READ __attribute__((access(none, 2)))
#else
#define ORRERY_NOT_READ
#endif

#if defined(__GNUC__)
#define ORRERY_WEAK __attribute__((weak))
extern void __orrery_region(const char *, const void *, size_t, size_t, size_t) ORRERY_WEAK ORRERY_NOT_READ;
extern void __orrery_mark(const char *) ORRERY_WEAK;
extern void __orrery_pause(void) ORRERY_WEAK;
extern void __orrery_resume(void) ORRERY_WEAK;
#define ORRERY_TELL(function, ...) ((function) ? (function)(__VA_ARGS__) : (void)0)
#else
#define ORRERY_TELL(function, ...) ((void)0)
#endif

/* Names memory: `rows` * `cols` elements of `elem` bytes from `ptr` on; `cols` 0 or 1 = one row of `rows`. The name, at most
 * 200 bytes, holds until the block is freed or named again. */
ORRERY_NOT_READ static inline void orrery_region(const char *name, const void *ptr, size_t elem, size_t rows, size_t cols) {
  (void)name, (void)ptr, (void)elem, (void)rows, (void)cols;
  ORRERY_TELL(__orrery_region, name, ptr, elem, rows, cols);
}

/* Names this moment. */
static inline void orrery_mark(const char *name) {
  (void)name;
  ORRERY_TELL(__orrery_mark, name);
}

/* Records no references until orrery_resume; in other threads after 256 more at most. Allocations, regions and marks are still
 * kept. */
static inline void orrery_pause(void) { ORRERY_TELL(__orrery_pause, ); }

/* Records references again. */
static inline void orrery_resume(void) { ORRERY_TELL(__orrery_resume, ); }

#ifdef __cplusplus
}
#endif
#endif

/* Functions of the C library that touch ranges of memory: recorded, then passed on.
 *
 * A range is a reference for each piece that lies in one line of 64 bytes, read and written in turn where a function does both:
 * what a copying loop with vectors does, whatever the library really uses. Functions that stop early (strlen, memcmp) are
 * recorded as far as their answer says that they had to look. */
#include "runtime.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LINE 64

static size_t to_line_end(const void *p) { return LINE - ((uintptr_t)p & (LINE - 1)); }

/* Reads `from` and writes `to`, either of which may be NULL. `kind` is of the second: a comparison reads both. */
static void ranges(const char *from, const char *to, int kind, size_t n, uint64_t pc) {
  if (!orrery_on()) return;
  while (n) {
    size_t piece = n < LINE ? n : LINE;
    if (from && to_line_end(from) < piece) piece = to_line_end(from);
    if (to && to_line_end(to) < piece) piece = to_line_end(to);
    if (from) orrery_put(ORRERY_REFERENCE(ORRERY_READ, piece, from), pc), from += piece;
    if (to) orrery_put(ORRERY_REFERENCE(kind, piece, to), pc), to += piece;
    n -= piece;
  }
}

#define COPY(to, from, n) ranges((const char *)(from), (const char *)(to), ORRERY_WRITE, n, ORRERY_CALLER)
#define FILL(to, n) ranges(NULL, (const char *)(to), ORRERY_WRITE, n, ORRERY_CALLER)
#define LOOK(from, n) ranges((const char *)(from), NULL, 0, n, ORRERY_CALLER)
#define LOOK_BOTH(a, b, n) ranges((const char *)(a), (const char *)(b), ORRERY_READ, n, ORRERY_CALLER)

#define PUBLIC(result, name, ...) result __orrery_##name(__VA_ARGS__); result __orrery_##name(__VA_ARGS__)

PUBLIC(void *, memcpy, void *to, const void *from, size_t n) {
  COPY(to, from, n);
  return memcpy(to, from, n);
}
PUBLIC(void *, memmove, void *to, const void *from, size_t n) {
  COPY(to, from, n);
  return memmove(to, from, n);
}
PUBLIC(void *, mempcpy, void *to, const void *from, size_t n) {
  COPY(to, from, n);
  return (char *)memcpy(to, from, n) + n;
}
PUBLIC(void *, memset, void *to, int c, size_t n) {
  FILL(to, n);
  return memset(to, c, n);
}
PUBLIC(void, bzero, void *to, size_t n) {
  FILL(to, n);
  memset(to, 0, n);
}

/* Bytes compared until the answer is known. */
static size_t common(const unsigned char *a, const unsigned char *b, size_t n, int text) {
  size_t i = 0;
  while (i < n && a[i] == b[i] && !(text && !a[i])) i++;
  return i < n ? i + 1 : n;
}

PUBLIC(int, memcmp, const void *a, const void *b, size_t n) {
  LOOK_BOTH(a, b, common(a, b, n, 0));
  return memcmp(a, b, n);
}
PUBLIC(void *, memchr, const void *s, int c, size_t n) {
  void *found = memchr(s, c, n);
  LOOK(s, found ? (size_t)((char *)found - (const char *)s) + 1 : n);
  return found;
}
PUBLIC(size_t, strlen, const char *s) {
  size_t n = strlen(s);
  LOOK(s, n + 1);
  return n;
}
PUBLIC(size_t, strnlen, const char *s, size_t most) {
  size_t n = strnlen(s, most);
  LOOK(s, n < most ? n + 1 : n);
  return n;
}
PUBLIC(char *, strcpy, char *to, const char *from) {
  COPY(to, from, strlen(from) + 1);
  return strcpy(to, from);
}
PUBLIC(char *, stpcpy, char *to, const char *from) {
  COPY(to, from, strlen(from) + 1);
  return stpcpy(to, from);
}

static void copy_padded(char *to, const char *from, size_t n, uint64_t pc) {
  size_t used = strnlen(from, n);
  size_t copied = used < n ? used + 1 : n;
  ranges(from, to, ORRERY_WRITE, copied, pc);
  ranges(NULL, to + copied, ORRERY_WRITE, n - copied, pc);
}
PUBLIC(char *, strncpy, char *to, const char *from, size_t n) {
  copy_padded(to, from, n, ORRERY_CALLER);
  return strncpy(to, from, n);
}

static void append_text(char *to, const char *from, size_t n, uint64_t pc) {
  size_t before = strlen(to), used = strnlen(from, n);
  ranges(to, NULL, 0, before + 1, pc);
  ranges(from, to + before, ORRERY_WRITE, used < n ? used + 1 : used, pc);
  if (used == n) ranges(NULL, to + before + used, ORRERY_WRITE, 1, pc);
}
PUBLIC(char *, strcat, char *to, const char *from) {
  append_text(to, from, SIZE_MAX, ORRERY_CALLER);
  return strcat(to, from);
}
PUBLIC(char *, strncat, char *to, const char *from, size_t n) {
  append_text(to, from, n, ORRERY_CALLER);
  return strncat(to, from, n);
}
PUBLIC(int, strcmp, const char *a, const char *b) {
  LOOK_BOTH(a, b, common((const unsigned char *)a, (const unsigned char *)b, SIZE_MAX, 1));
  return strcmp(a, b);
}
PUBLIC(int, strncmp, const char *a, const char *b, size_t n) {
  LOOK_BOTH(a, b, common((const unsigned char *)a, (const unsigned char *)b, n, 1));
  return strncmp(a, b, n);
}
PUBLIC(char *, strchr, const char *s, int c) {
  char *found = strchr(s, c);
  LOOK(s, found ? (size_t)(found - s) + 1 : strlen(s) + 1);
  return found;
}
PUBLIC(char *, strrchr, const char *s, int c) {
  LOOK(s, strlen(s) + 1);
  return strrchr(s, c);
}

/* What -D_FORTIFY_SOURCE makes of them: the check stays the library's. */
extern void *__memcpy_chk(void *, const void *, size_t, size_t), *__memmove_chk(void *, const void *, size_t, size_t);
extern void *__mempcpy_chk(void *, const void *, size_t, size_t), *__memset_chk(void *, int, size_t, size_t);
extern char *__strcpy_chk(char *, const char *, size_t), *__strncpy_chk(char *, const char *, size_t, size_t);
extern char *__strcat_chk(char *, const char *, size_t), *__strncat_chk(char *, const char *, size_t, size_t);
extern char *__stpcpy_chk(char *, const char *, size_t);

PUBLIC(void *, __memcpy_chk, void *to, const void *from, size_t n, size_t room) {
  if (n <= room) COPY(to, from, n);
  return __memcpy_chk(to, from, n, room);
}
PUBLIC(void *, __memmove_chk, void *to, const void *from, size_t n, size_t room) {
  if (n <= room) COPY(to, from, n);
  return __memmove_chk(to, from, n, room);
}
PUBLIC(void *, __mempcpy_chk, void *to, const void *from, size_t n, size_t room) {
  if (n <= room) COPY(to, from, n);
  return __mempcpy_chk(to, from, n, room);
}
PUBLIC(void *, __memset_chk, void *to, int c, size_t n, size_t room) {
  if (n <= room) FILL(to, n);
  return __memset_chk(to, c, n, room);
}
PUBLIC(char *, __strcpy_chk, char *to, const char *from, size_t room) {
  size_t n = strlen(from) + 1;
  if (n <= room) COPY(to, from, n);
  return __strcpy_chk(to, from, room);
}
PUBLIC(char *, __stpcpy_chk, char *to, const char *from, size_t room) {
  size_t n = strlen(from) + 1;
  if (n <= room) COPY(to, from, n);
  return __stpcpy_chk(to, from, room);
}
PUBLIC(char *, __strncpy_chk, char *to, const char *from, size_t n, size_t room) {
  if (n <= room) copy_padded(to, from, n, ORRERY_CALLER);
  return __strncpy_chk(to, from, n, room);
}
PUBLIC(char *, __strcat_chk, char *to, const char *from, size_t room) {
  append_text(to, from, SIZE_MAX, ORRERY_CALLER);
  return __strcat_chk(to, from, room);
}
PUBLIC(char *, __strncat_chk, char *to, const char *from, size_t n, size_t room) {
  append_text(to, from, n, ORRERY_CALLER);
  return __strncat_chk(to, from, n, room);
}

/* movs, stos and lods, with or without rep: called by hooks.S with the registers of the instruction. `flags` is the program's
 * flag word (bit 10: downwards), `what` 0 movs, 1 stos, 2 lods. */
void __orrery_string(char *to, const char *from, size_t count, size_t size, uint64_t pc, unsigned what, uint64_t flags)
    __attribute__((visibility("hidden")));
void __orrery_string(char *to, const char *from, size_t count, size_t size, uint64_t pc, unsigned what, uint64_t flags) {
  if (!count) return;
  size_t bytes = count * size;
  if (flags & (1u << 10)) {
    to -= bytes - size;
    from -= bytes - size;
  }
  ranges(what == 1 ? NULL : from, what == 2 ? NULL : to, ORRERY_WRITE, bytes, pc);
}

/* What programs built by `orrery cc` call in the place of the allocator: each call is passed on and recorded. The text of a call
 * is changed when it is assembled, so that calls of libraries, and function pointers, go where they always went. */
#include "runtime.h"

#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

/* Programs ask for memory through functions of their own, so who called those is told too. By the unwinder of the compiler's
 * library, which stops where it knows no further (code without .eh_frame). */
struct calls {
  uint64_t pc; /* of the call served: what lies below is the runtime itself */
  int found;   /* calls told of, or -1 while still below */
};

static _Unwind_Reason_Code tell(struct _Unwind_Context *context, void *of) {
  struct calls *calls = of;
  uint64_t pc = (uint64_t)_Unwind_GetIP(context) - 1;
  if (calls->found < 0) {
    if (pc == calls->pc) calls->found = 0;
    return _URC_NO_REASON;
  }
  orrery_put(ORRERY_SPECIAL(ORRERY_AT_CALLER, 0), pc);
  return ++calls->found < ORRERY_CALLERS ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static void *got(void *p, size_t bytes, unsigned by, uint64_t pc) {
  int kept = errno;
  if (p && bytes && orrery_open()) {
    struct calls calls = {pc, -1};
    orrery_put(ORRERY_SPECIAL(ORRERY_AT_SITE, by), pc);
    _Unwind_Backtrace(tell, &calls);
    orrery_put(ORRERY_SPECIAL(ORRERY_AT_ALLOC, ORRERY_ADDRESS(p)), bytes);
  }
  errno = kept;
  return p;
}

/* Before the block goes: after, another thread may have it already. */
static inline void gone(void *p, uint64_t pc) {
  if (p) orrery_put(ORRERY_SPECIAL(ORRERY_AT_FREE, ORRERY_ADDRESS(p)), pc);
}

#define PUBLIC(result, name, ...) result __orrery_##name(__VA_ARGS__); result __orrery_##name(__VA_ARGS__)

PUBLIC(void *, malloc, size_t n) { return got(malloc(n), n, ORRERY_BY_MALLOC, ORRERY_CALLER); }

PUBLIC(void *, calloc, size_t n, size_t size) { return got(calloc(n, size), n * size, ORRERY_BY_CALLOC, ORRERY_CALLER); }

static void *resized(void *old, size_t n, uint64_t pc) {
  size_t before = old ? malloc_usable_size(old) : 0;
  gone(old, pc);
  void *p = realloc(old, n);
  /* The old block stays where there is no new one (but for size 0, which frees). */
  if (!p && n) got(old, before, ORRERY_BY_REALLOC, pc);
  return got(p, n, ORRERY_BY_REALLOC, pc);
}

PUBLIC(void *, realloc, void *old, size_t n) { return resized(old, n, ORRERY_CALLER); }

PUBLIC(void *, reallocarray, void *old, size_t n, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(n, size, &bytes)) {
    errno = ENOMEM;
    return NULL;
  }
  return resized(old, bytes, ORRERY_CALLER);
}

PUBLIC(void, free, void *p) {
  gone(p, ORRERY_CALLER);
  free(p);
}

PUBLIC(void *, aligned_alloc, size_t align, size_t n) { return got(aligned_alloc(align, n), n, ORRERY_BY_MALLOC, ORRERY_CALLER); }

PUBLIC(void *, memalign, size_t align, size_t n) { return got(memalign(align, n), n, ORRERY_BY_MALLOC, ORRERY_CALLER); }

PUBLIC(int, posix_memalign, void **p, size_t align, size_t n) {
  int error = posix_memalign(p, align, n);
  if (!error) got(*p, n, ORRERY_BY_MALLOC, ORRERY_CALLER);
  return error;
}

PUBLIC(char *, strdup, const char *s) { return got(strdup(s), strlen(s) + 1, ORRERY_BY_STRDUP, ORRERY_CALLER); }

PUBLIC(char *, strndup, const char *s, size_t n) {
  char *p = strndup(s, n);
  return got(p, p ? strlen(p) + 1 : 0, ORRERY_BY_STRDUP, ORRERY_CALLER);
}

/* operator new and delete: weak, for programs in C have none. Exceptions pass through (-fexceptions). */
#define WEAK(result, name, ...) extern result name(__VA_ARGS__) __attribute__((weak))

WEAK(void *, _Znwm, size_t);
WEAK(void *, _Znam, size_t);
WEAK(void *, _ZnwmRKSt9nothrow_t, size_t, const void *);
WEAK(void *, _ZnamRKSt9nothrow_t, size_t, const void *);
WEAK(void *, _ZnwmSt11align_val_t, size_t, size_t);
WEAK(void *, _ZnamSt11align_val_t, size_t, size_t);
WEAK(void, _ZdlPv, void *);
WEAK(void, _ZdaPv, void *);
WEAK(void, _ZdlPvm, void *, size_t);
WEAK(void, _ZdaPvm, void *, size_t);
WEAK(void, _ZdlPvSt11align_val_t, void *, size_t);
WEAK(void, _ZdaPvSt11align_val_t, void *, size_t);
WEAK(void, _ZdlPvmSt11align_val_t, void *, size_t, size_t);
WEAK(void, _ZdaPvmSt11align_val_t, void *, size_t, size_t);

PUBLIC(void *, _Znwm, size_t n) { return got(_Znwm(n), n, ORRERY_BY_NEW, ORRERY_CALLER); }
PUBLIC(void *, _Znam, size_t n) { return got(_Znam(n), n, ORRERY_BY_NEW, ORRERY_CALLER); }
PUBLIC(void *, _ZnwmRKSt9nothrow_t, size_t n, const void *t) { return got(_ZnwmRKSt9nothrow_t(n, t), n, ORRERY_BY_NEW, ORRERY_CALLER); }
PUBLIC(void *, _ZnamRKSt9nothrow_t, size_t n, const void *t) { return got(_ZnamRKSt9nothrow_t(n, t), n, ORRERY_BY_NEW, ORRERY_CALLER); }
PUBLIC(void *, _ZnwmSt11align_val_t, size_t n, size_t a) { return got(_ZnwmSt11align_val_t(n, a), n, ORRERY_BY_NEW, ORRERY_CALLER); }
PUBLIC(void *, _ZnamSt11align_val_t, size_t n, size_t a) { return got(_ZnamSt11align_val_t(n, a), n, ORRERY_BY_NEW, ORRERY_CALLER); }

#define DELETE(name, parameters, arguments)       \
  void __orrery_##name parameters;                \
  void __orrery_##name parameters {               \
    gone(p, ORRERY_CALLER);                       \
    name arguments;                               \
  }
DELETE(_ZdlPv, (void *p), (p))
DELETE(_ZdaPv, (void *p), (p))
DELETE(_ZdlPvm, (void *p, size_t n), (p, n))
DELETE(_ZdaPvm, (void *p, size_t n), (p, n))
DELETE(_ZdlPvSt11align_val_t, (void *p, size_t a), (p, a))
DELETE(_ZdaPvSt11align_val_t, (void *p, size_t a), (p, a))
DELETE(_ZdlPvmSt11align_val_t, (void *p, size_t n, size_t a), (p, n, a))
DELETE(_ZdaPvmSt11align_val_t, (void *p, size_t n, size_t a), (p, n, a))

/* Ends of the process that run no destructors. */
extern void _exit(int) __attribute__((noreturn));
PUBLIC(void, _exit, int code) {
  orrery_finish();
  _exit(code);
}
PUBLIC(void, _Exit, int code) {
  orrery_finish();
  _Exit(code);
}
PUBLIC(void, quick_exit, int code) {
  /* Handlers of at_quick_exit run after this, unrecorded. */
  orrery_finish();
  quick_exit(code);
}

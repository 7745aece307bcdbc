// Says where malloc was called from; linked with --wrap=malloc.
#include <stddef.h>
#include <stdio.h>

void *__real_malloc(size_t bytes);

void *__wrap_malloc(size_t bytes) {
    static int busy;
    if (!busy) {
        busy = 1;
        printf("call %p 0\n", __builtin_return_address(0));
        fflush(stdout);
        busy = 0;
    }
    return __real_malloc(bytes);
}

// The second half of names.c: statics of the same names as there.
#include <stdio.h>

static int buffer[6];
static short lonely[9];

void other(void) {
    buffer[0]++;
    lonely[1]++;
    printf("var names_other.c:buffer %p %zu\n", (void *)buffer, sizeof buffer);
    printf("var lonely %p %zu\n", (void *)lonely, sizeof lonely);
}

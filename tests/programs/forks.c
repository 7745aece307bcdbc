// A child that outlives its parent, with all that it inherited open.
#include <stdio.h>
#include <unistd.h>

int table[16];

int main(void) {
    for (int i = 0; i < 16; i++) table[i] = i;
    if (fork() == 0) {
        for (int i = 0; i < 16; i++) table[i]++;
        close(1);
        close(2);
        sleep(8);
        return 0;
    }
    return table[3] - 3;
}

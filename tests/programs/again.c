/* Touches 16 cells more each time that it is itself again: [TIMES]. First in a child, which then becomes itself, three times. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

volatile int cells[64];

int main(int argc, char **argv) {
  int times = argc > 1 ? atoi(argv[1]) : 0, status = 0;
  for (int i = 0; i < 16 * (times + 1); i++) cells[i] = i;
  if (times == 3) return 0;
  char next[] = {(char)('1' + times), 0};
  if (times > 0 || fork() == 0) {
    cells[63] = 1;
    execl(argv[0], argv[0], next, (char *)NULL);
    return 9;
  }
  wait(&status);
  printf("%d\n", status);
  return 0;
}

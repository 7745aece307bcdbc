/* Ends in the way that its argument says, having stored 1,000 numbers. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int cells[1000];
int more[500];

static void store(int *p, int n) {
  for (int i = 0; i < n; i++) p[i] = i;
}

int main(int argc, char **argv) {
  const char *way = argc > 1 ? argv[1] : "return";
  store(cells, 1000);
  if (!strcmp(way, "exit")) exit(3);
  if (!strcmp(way, "_exit")) _exit(4);
  if (!strcmp(way, "quick_exit")) quick_exit(5);
  if (!strcmp(way, "abort")) abort();
  if (!strcmp(way, "crash")) *(volatile int *)(intptr_t)(argc - 2) = 1;
  if (!strcmp(way, "kill")) kill(getpid(), SIGKILL);
  if (!strcmp(way, "wait")) {
    puts("ready");
    fflush(stdout);
    for (;;) pause();
  }
  if (!strcmp(way, "fork")) {
    pid_t child = fork();
    if (child == 0) {
      store(more, 500);
      exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    store(cells, 10);
    printf("%d\n", child);
    return WEXITSTATUS(status);
  }
  if (!strcmp(way, "exec")) execv(argv[2], argv + 2);
  if (!strcmp(way, "close")) {
    for (int fd = 3; fd < 1024; fd++) close(fd);
    for (int i = 0; i < 400; i++) store(cells, 1000);
  }
  return 0;
}

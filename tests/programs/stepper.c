/* Runs PROGRAM ARGUMENTS... and sends it SIGUSR1 so many instructions after each of its breakpoints (int3): after the first one
 * none, after the second one, and so on. Ends as the program does. Not recorded. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  pid_t child = fork();
  if (!child) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    execv(argv[1], argv + 1);
    _exit(127);
  }
  int status, begun = 0;
  unsigned steps = 0;
  while (waitpid(child, &status, 0) == child || errno == EINTR) {
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
    int pass = WSTOPSIG(status);
    if (pass == SIGTRAP) {
      pass = 0;
      if (begun) {
        for (unsigned n = 0; n < steps; n++)
          if (ptrace(PTRACE_SINGLESTEP, child, 0, 0) || waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return 3;
        steps++;
        pass = SIGUSR1;
      }
      /* The first is that of exec. */
      begun = 1;
    }
    if (ptrace(PTRACE_CONT, child, 0, pass)) return 3;
  }
  return 3;
}

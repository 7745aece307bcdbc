/* Processes made in every way: MODE. Each stores 500 numbers into `theirs` where it can, the parent 1,000 into `ours` before and
 * 1,000 after. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLONE_STACK 65536
volatile int ours[1000];
volatile int theirs[500];
extern char **environ;

static void store(volatile int *p, int n) {
  for (int i = 0; i < n; i++) p[i] = i;
}

static int child(void *of) {
  (void)of;
  store(theirs, 500);
  return 7;
}

/* Runs beside its maker in the same memory until it is told. */
static volatile int go;
static int beside(void *of) {
  while (!go) store(theirs, 500);
  return of ? 7 : 8;
}

static int waited(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR) {}
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* As a sandbox or a runtime without a library asks the kernel: the call stands in its caller, so that no frame of a function is left. */
static inline __attribute__((always_inline)) long asked(long call, long flags) {
  long answer;
  register long fourth __asm__("r10") = 0;
  register long fifth __asm__("r8") = 0;
  __asm__ volatile("syscall"
                   : "=a"(answer)
                   : "a"(call), "D"(flags), "S"(0L), "d"(0L), "r"(fourth), "r"(fifth)
                   : "rcx", "r11", "memory");
  return answer;
}

static int ends(pid_t pid) {
  if (pid == 0) {
    store(theirs, 500);
    _exit(7);
  }
  return waited(pid);
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "fork";
  char *none[] = {"/nonexistent/program", NULL}, *truly[] = {"/bin/true", NULL}, *script[] = {"sh", "-c", "exit 7", NULL};
  int code = -1;
  store(ours, 1000);
  if (!strcmp(mode, "fork")) code = ends(fork());
  if (!strcmp(mode, "_Fork")) {
#if __GLIBC_PREREQ(2, 34)
    code = ends(_Fork());
#else
    code = ends(fork());
#endif
  }
  if (!strcmp(mode, "exit")) {
    /* The child runs the handlers of exit. */
    pid_t pid = fork();
    if (pid == 0) exit(7);
    code = waited(pid);
  }
  if (!strcmp(mode, "SYS_fork")) code = ends((pid_t)syscall(SYS_fork));
  if (!strcmp(mode, "SYS_clone")) code = ends((pid_t)syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L));
  if (!strcmp(mode, "SYS_clone3")) {
    struct clone_args args;
    memset(&args, 0, sizeof args);
    args.exit_signal = SIGCHLD;
    code = ends((pid_t)syscall(SYS_clone3, &args, sizeof args));
  }
  if (!strcmp(mode, "vfork")) {
    pid_t pid = vfork();
    if (pid == 0) {
      store(theirs, 500);
      _exit(7);
    }
    code = waited(pid);
  }
  if (!strcmp(mode, "raw-vfork") || !strcmp(mode, "raw-clone-vfork")) {
    for (int i = 0; i < 50; i++) {
      long pid = mode[4] == 'v' ? asked(SYS_vfork, 0) : asked(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD);
      if (pid == 0) {
        store(theirs, 500);
        if (i % 2) execv(truly[0], truly);
        _exit(7);
      }
      code = waited((pid_t)pid) + 7 * (i % 2);
      if (code != 7) break;
    }
  }
  if (!strcmp(mode, "raw-fork")) code = ends((pid_t)asked(SYS_clone, SIGCHLD));
  if (!strcmp(mode, "vfork-exec")) {
    pid_t pid = vfork();
    if (pid == 0) {
      execv(truly[0], truly);
      _exit(127);
    }
    code = waited(pid) + 7;
  }
  if (!strcmp(mode, "vfork-fails") || !strcmp(mode, "many-vforks")) {
    for (int i = 0; i < (*mode == 'm' ? 300 : 1); i++) {
      pid_t pid = vfork();
      if (pid == 0) {
        execv(none[0], none);
        _exit(127);
      }
      code = waited(pid) - 120;
    }
  }
  if (!strcmp(mode, "vfork-killed")) {
    pid_t pid = vfork();
    if (pid == 0) {
      store(theirs, 500);
      kill(getpid(), SIGKILL);
    }
    code = waited(pid) - 130;
  }
  char *stack = mmap(NULL, CLONE_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (!strcmp(mode, "clone")) code = waited(clone(child, stack + CLONE_STACK, SIGCHLD, NULL));
  if (!strcmp(mode, "clone-vm")) code = waited(clone(child, stack + CLONE_STACK, CLONE_VM | SIGCHLD, NULL));
  if (!strcmp(mode, "clone-vfork")) code = waited(clone(child, stack + CLONE_STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL));
  if (!strcmp(mode, "clone-beside")) {
    pid_t pid = clone(beside, stack + CLONE_STACK, CLONE_VM | SIGCHLD, stack);
    for (int i = 0; i < 20; i++) store(ours, 1000);
    go = 1;
    code = waited(pid);
  }
  if (!strcmp(mode, "spawn")) {
    pid_t pid;
    if (posix_spawnp(&pid, "sh", NULL, NULL, script, environ)) return 1;
    code = waited(pid);
  }
  if (!strcmp(mode, "system")) code = WEXITSTATUS(system("exit 7"));
  if (!strcmp(mode, "popen")) {
    char line[32] = "";
    FILE *pipe = popen("echo 7", "r");
    if (!pipe || !fgets(line, sizeof line, pipe)) return 1;
    pclose(pipe);
    code = atoi(line);
  }
  if (!strcmp(mode, "daemon")) {
    /* Tells that it is done by a file; who started it has its answer at once. */
    fflush(stdout);
    if (daemon(1, 0)) return 1;
    store(theirs, 500);
    FILE *file = fopen("daemon.done", "w");
    if (file) fputs("done\n", file), fclose(file);
    sleep(1);
    return 0;
  }
  if (!strcmp(mode, "lasting")) {
    /* A child that records nothing and lives on. */
    pid_t pid = (pid_t)syscall(SYS_fork);
    if (pid == 0) {
      close(0), close(1), close(2);
      for (;;) pause();
    }
    printf("%d\n", pid);
    fflush(stdout);
    code = 7;
  }
  if (!strcmp(mode, "init") || !strcmp(mode, "reaper")) {
    /* The main loop of a process 1: waits until no child is left. */
    if (*mode == 'r') prctl(PR_SET_CHILD_SUBREAPER, 1);
    int found = 0, status;
    for (int i = 0; i < 3; i++) {
      if (fork() == 0) {
        /* An orphan, for us to find. */
        if (fork() == 0) usleep(20000);
        store(theirs, 500);
        _exit(0);
      }
    }
    for (;;) {
      pid_t pid = wait(&status);
      if (pid > 0) found++;
      else if (errno == ECHILD) break;
    }
    siginfo_t info;
    int more = waitid(P_ALL, 0, &info, WEXITED | WNOHANG);
    code = found == 6 && more < 0 && errno == ECHILD ? 7 : found;
  }
  store(ours, 1000);
  printf("%s %d\n", *mode == 'l' ? "" : mode, code);
  return code == 7 ? 0 : 1;
}

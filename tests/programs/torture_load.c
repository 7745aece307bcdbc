/* Loads the libraries it is told of, calls their `part`, and unloads them, some times over. */
#include <dlfcn.h>
#include <stdio.h>

volatile int cells[100];

int main(int argc, char **argv) {
  int sum = 0;
  for (int round = 0; round < 20; round++) {
    for (int i = 1; i < argc; i++) {
      void *library = dlopen(argv[i], RTLD_NOW);
      if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
      int (*part)(int) = (int (*)(int))dlsym(library, "part");
      sum += part(round);
      dlclose(library);
    }
    for (int i = 0; i < 100; i++) cells[i] = sum;
  }
  fprintf(stderr, "expect cells %d\n", 20 * 100);
  printf("%d\n", sum);
  return 0;
}

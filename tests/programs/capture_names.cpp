// Everything that may have a name: blocks of new, a vector, arrays of the stack, what the program itself names.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include "orrery.h"

struct Node {
  Node *next;
  int value;
};

static double total(const std::vector<double> &numbers) {
  double sum = 0;
  for (double n : numbers) sum += n;
  return sum;
}

int main(int argc, char **) {
  int local[50];
  double small[4] = {1, 2, 3, 4};
  for (int i = 0; i < 50; i++) local[i] = i * argc;
  std::vector<double> numbers(300);
  for (int i = 0; i < 300; i++) numbers[i] = local[i % 50] + small[3];
  orrery_mark("list");
  Node *list = nullptr;
  for (int i = 0; i < 1000; i++) list = new Node{list, i};
  long sum = 0;
  for (Node *n = list; n; n = n->next) sum += n->value;
  float *grid = static_cast<float *>(std::malloc(20 * 30 * sizeof(float)));
  orrery_region("heat", grid, sizeof *grid, 20, 30);
  for (int i = 0; i < 600; i++) grid[i] = 1;
  orrery_pause();
  for (int i = 0; i < 600; i++) grid[i] = 2;
  orrery_resume();
  orrery_mark("copy");
  char *text = new char[300];
  std::memset(text, 'x', 300);
  char copy[300];
  std::memcpy(copy, text, 300);
  std::printf("%g %ld %c %g\n", total(numbers), sum, copy[argc], grid[7]);
  delete[] text;
  std::free(grid);
  while (list) {
    Node *next = list->next;
    delete list;
    list = next;
  }
}

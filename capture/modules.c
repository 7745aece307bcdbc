/* Shared libraries that come and go while the program runs: who lies where is told when it changes, for another may lie there
 * later. (Those that are there at the start stand in the spool's header.) Called by libraries themselves (library.c), from
 * dlopen and dlclose, so the C library may be used. */
#include "runtime.h"

#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <sys/stat.h>

struct found {
  uint64_t inside, first, past;
  const char *path;
};

static int holds(struct dl_phdr_info *info, size_t size, void *of) {
  struct found *found = of;
  uint64_t first = UINT64_MAX, past = 0;
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD) continue;
    uint64_t from = info->dlpi_addr + (segment->p_vaddr & ~4095ull), to = info->dlpi_addr + segment->p_vaddr + segment->p_memsz;
    if (from < first) first = from;
    if (to > past) past = to;
  }
  if (found->inside < first || found->inside >= past) return 0;
  found->first = first;
  found->past = past;
  found->path = info->dlpi_name;
  return 1;
}

static void put_path(const char *text) {
  while (*text) {
    uint64_t word = 0, n = 0;
    for (; n < 8 && text[n]; n++) word |= (uint64_t)(unsigned char)text[n] << (8 * n);
    orrery_put(ORRERY_SPECIAL(ORRERY_AT_PATH, n), word);
    text += n;
  }
}

static void put_number(uint64_t n) {
  char digits[24];
  int at = 23;
  digits[at] = 0;
  digits[--at] = ' ';
  do digits[--at] = (char)('0' + n % 10); while (n /= 10);
  put_path(digits + at);
}

void orrery_loaded(const void *inside) __attribute__((visibility("hidden")));
void orrery_loaded(const void *inside) {
  struct found found = {.inside = (uint64_t)inside};
  char path[PATH_MAX];
  struct stat about;
  if (!orrery_open() || !dl_iterate_phdr(holds, &found) || !found.path || !realpath(found.path, path)) return;
  if (stat(path, &about)) return;
  /* Which file it was: by its name another may come before anybody has read this one. */
  put_number((uint64_t)about.st_ino);
  put_number((uint64_t)about.st_mtim.tv_sec);
  put_number((uint64_t)about.st_mtim.tv_nsec);
  put_path(path);
  orrery_put(ORRERY_SPECIAL(ORRERY_AT_LOADED, ORRERY_ADDRESS(found.first)), found.past - found.first);
}

void orrery_unloaded(const void *inside) __attribute__((visibility("hidden")));
void orrery_unloaded(const void *inside) {
  struct found found = {.inside = (uint64_t)inside};
  if (orrery_open() && dl_iterate_phdr(holds, &found)) orrery_put(ORRERY_SPECIAL(ORRERY_AT_UNLOADED, ORRERY_ADDRESS(found.first)), 0);
}

/* The part of a shared library that was compiled by orrery cc: when it is loaded, it asks the program for a recorder, sets its
 * doors (doors.S) to that, and says where it lies; when it is unloaded, it says so. In a program without one it does nothing. */
#include "runtime.h"

extern const struct orrery_doors __orrery_doors __attribute__((weak));
extern const void *orrery_doors_here[] __attribute__((visibility("hidden")));
extern const void *orrery_doors_end[] __attribute__((visibility("hidden")));

static int recorded;

__attribute__((constructor(101))) static void loaded(void) {
  const struct orrery_doors *program = &__orrery_doors;
  uint64_t count = (uint64_t)(orrery_doors_end - orrery_doors_here);
  if (!program || program->version != ORRERY_VERSION || program->count != count) return;
  for (uint64_t i = 0; i < count; i++) orrery_doors_here[i] = program->doors[i];
  recorded = 1;
  program->loaded(&recorded);
}

__attribute__((destructor(101))) static void unloaded(void) {
  if (recorded) __orrery_doors.unloaded(&recorded);
}

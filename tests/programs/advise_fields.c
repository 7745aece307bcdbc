/* Particles, of which one field is summed again and again. CLOSE: all fields are; MENDED: the field has an array of its own. */
#include <stdio.h>
enum { COUNT = 500, ROUNDS = 6 };
struct particle {
  double mass, x, y, z, vx, vy, vz, charge;
} particles[COUNT];
#ifdef MENDED
double masses[COUNT];
#define MASS(i) masses[i]
#else
#define MASS(i) particles[i].mass
#endif

int main(void) {
  double sum = 0;
  for (int round = 0; round < ROUNDS; round++)
    for (int i = 0; i < COUNT; i++) {
#ifdef CLOSE
      const struct particle *p = &particles[i];
      sum += p->mass + p->x + p->y + p->z + p->vx + p->vy + p->vz + p->charge;
#else
      sum += MASS(i);
#endif
    }
  printf("%g %g\n", sum, particles[COUNT / 2].charge);
  return 0;
}

/* Material point method in two dimensions (Sulsky, Chen and Schreyer, 1994): two elastic blocks run into each other.
 *
 * Matter is particles, forces are found on a grid that forgets everything after each step. A step is six loops, each of
 * which sweeps over all particles or all nodes in order: particles give the grid their momentum, by mass and velocity at
 * their positions; then the force of their stress; the grid moves by Newton's law; particles are carried along; their
 * stress follows from the strain by Hooke's law (plane strain), with the constitutive model of each. Momentum and stress are the
 * loops that figure 8 of the rings paper shows (Choudhury and Rosen, 2011).
 *
 * The arrays of the particles are streams: far longer than the caches, and gone when the next loop comes to them. A loop
 * that touches each element once misses once a line: with four elements in one, 25 %. */
#include "orrery_record.h"
#include <math.h>

enum { NODES = 24, SIDE = 16, PARTICLES = 2 * SIDE * SIDE, STEPS = 1, PHASES = 6 };

static const double dt = 0.01; /* the grid spacing is 1 */

static struct {
    double mass[PARTICLES], volume[PARTICLES];
    double position[PARTICLES][2], velocity[PARTICLES][2], momentum[PARTICLES][2];
    double stress[PARTICLES][4];       /* xx, yy, xy, zz */
    double constitutive[PARTICLES][2]; /* Lamé's lambda and mu */
    double grid_mass[NODES][NODES], grid_momentum[NODES][NODES][2], grid_force[NODES][NODES][2];
} memory ORRERY_MEMORY;
#define mass memory.mass
#define volume memory.volume
#define position memory.position
#define velocity memory.velocity
#define momentum memory.momentum
#define stress memory.stress
#define constitutive memory.constitutive
#define grid_mass memory.grid_mass
#define grid_momentum memory.grid_momentum
#define grid_force memory.grid_force

/* Bilinear weights of the four nodes round a particle, and their slopes. */
struct shape {
    int i, j;
    double weight[2][2], slope_x[2][2], slope_y[2][2];
};

static struct shape shape_at(int p)
{
    struct shape s;
    double x = position[p][0], y = position[p][1];
    s.i = (int)x;
    s.j = (int)y;
    double wx[2] = {1 - (x - s.i), x - s.i}, wy[2] = {1 - (y - s.j), y - s.j}, slope[2] = {-1, 1};
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
            s.weight[a][b] = wx[a] * wy[b];
            s.slope_x[a][b] = slope[a] * wy[b];
            s.slope_y[a][b] = wx[a] * slope[b];
        }
    return s;
}

static void clear_grid(void)
{
    for (int i = 0; i < NODES; i++)
        for (int j = 0; j < NODES; j++) {
            grid_mass[i][j] = 0;
            grid_momentum[i][j][0] = 0;
            grid_momentum[i][j][1] = 0;
            grid_force[i][j][0] = 0;
            grid_force[i][j][1] = 0;
        }
}

static void momentum_to_grid(void)
{
    for (int p = 0; p < PARTICLES; p++) {
        struct shape s = shape_at(p);
        double m = mass[p], px = m * velocity[p][0], py = m * velocity[p][1];
        momentum[p][0] = px;
        momentum[p][1] = py;
        for (int a = 0; a < 2; a++)
            for (int b = 0; b < 2; b++) {
                int i = s.i + a, j = s.j + b;
                grid_mass[i][j] += s.weight[a][b] * m;
                grid_momentum[i][j][0] += s.weight[a][b] * px;
                grid_momentum[i][j][1] += s.weight[a][b] * py;
            }
    }
}

static void forces_to_grid(void)
{
    for (int p = 0; p < PARTICLES; p++) {
        struct shape s = shape_at(p);
        double v = volume[p], xx = stress[p][0], yy = stress[p][1], xy = stress[p][2];
        for (int a = 0; a < 2; a++)
            for (int b = 0; b < 2; b++) {
                int i = s.i + a, j = s.j + b;
                double gx = s.slope_x[a][b], gy = s.slope_y[a][b];
                grid_force[i][j][0] -= v * (xx * gx + xy * gy);
                grid_force[i][j][1] -= v * (xy * gx + yy * gy);
            }
    }
}

static void move_grid(void)
{
    for (int i = 0; i < NODES; i++)
        for (int j = 0; j < NODES; j++) {
            if (grid_mass[i][j] == 0)
                continue;
            grid_momentum[i][j][0] += dt * grid_force[i][j][0];
            grid_momentum[i][j][1] += dt * grid_force[i][j][1];
        }
}

static void carry_particles(void)
{
    for (int p = 0; p < PARTICLES; p++) {
        struct shape s = shape_at(p);
        double ax = 0, ay = 0, vx = 0, vy = 0; /* acceleration and velocity at the particle */
        for (int a = 0; a < 2; a++)
            for (int b = 0; b < 2; b++) {
                int i = s.i + a, j = s.j + b;
                double m = grid_mass[i][j];
                if (m == 0)
                    continue;
                double w = s.weight[a][b] / m;
                vx += w * grid_momentum[i][j][0];
                vy += w * grid_momentum[i][j][1];
                ax += w * grid_force[i][j][0];
                ay += w * grid_force[i][j][1];
            }
        velocity[p][0] += dt * ax;
        velocity[p][1] += dt * ay;
        position[p][0] += dt * vx;
        position[p][1] += dt * vy;
    }
}

static void update_stress(void)
{
    for (int p = 0; p < PARTICLES; p++) {
        struct shape s = shape_at(p);
        double dxx = 0, dyy = 0, dxy = 0; /* rate of strain */
        for (int a = 0; a < 2; a++)
            for (int b = 0; b < 2; b++) {
                int i = s.i + a, j = s.j + b;
                double gx = s.slope_x[a][b], gy = s.slope_y[a][b], m = grid_mass[i][j];
                if (m == 0)
                    continue;
                double ux = grid_momentum[i][j][0] / m, uy = grid_momentum[i][j][1] / m;
                dxx += gx * ux;
                dyy += gy * uy;
                dxy += (gy * ux + gx * uy) / 2;
            }
        double lambda = constitutive[p][0], mu = constitutive[p][1], trace = lambda * (dxx + dyy);
        volume[p] *= 1 + dt * (dxx + dyy);
        stress[p][0] += dt * (trace + 2 * mu * dxx);
        stress[p][1] += dt * (trace + 2 * mu * dyy);
        stress[p][2] += dt * 2 * mu * dxy;
        stress[p][3] += dt * trace;
    }
}

static void __attribute__((noinline)) run(void)
{
    for (int step = 0; step < STEPS; step++) {
        ORRERY_MARK(PHASES * step);
        clear_grid();
        ORRERY_MARK(PHASES * step + 1);
        momentum_to_grid();
        ORRERY_MARK(PHASES * step + 2);
        forces_to_grid();
        ORRERY_MARK(PHASES * step + 3);
        move_grid();
        ORRERY_MARK(PHASES * step + 4);
        carry_particles();
        ORRERY_MARK(PHASES * step + 5);
        update_stress();
    }
}

/* A square of particles, half a cell apart, round a centre, moving as one. */
static int place_block(int p, double cx, double cy, double vx, double vy)
{
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++, p++) {
            double x = (i - (SIDE - 1) / 2.0) / 2, y = (j - (SIDE - 1) / 2.0) / 2;
            mass[p] = volume[p] = 0.25;
            position[p][0] = cx + x;
            position[p][1] = cy + y;
            velocity[p][0] = vx;
            velocity[p][1] = vy;
            constitutive[p][0] = 300;
            constitutive[p][1] = 200;
        }
    return p;
}

/* Both blocks together have no momentum, before and after. */
static int momentum_is_kept(void)
{
    double px = 0, py = 0, moved = 0;
    for (int p = 0; p < PARTICLES; p++) {
        px += mass[p] * velocity[p][0];
        py += mass[p] * velocity[p][1];
        moved += fabs(stress[p][0]);
    }
    return fabs(px) < 1e-12 && fabs(py) < 1e-12 && moved > 0;
}

int main(void)
{
    static const char *phases[PHASES] = {"clear the grid", "momentum", "forces", "move the grid", "carry particles", "stress"};
    static char names[STEPS][PHASES][48];
    int placed = place_block(0, 6.6, 6.6, 1, 1);
    placed = place_block(placed, 15.4, 15.4, -1, -1);

    orrery_title("Material point method", "two elastic blocks collide, 512 particles, 24×24 grid");
#define REGION(name, array, ...) \
    orrery_region(name, array, sizeof array, "double", 8, sizeof(int[]){__VA_ARGS__} / sizeof(int), __VA_ARGS__)
    REGION("mass", mass, PARTICLES);
    REGION("volume", volume, PARTICLES);
    REGION("position", position, PARTICLES, 2);
    REGION("velocity", velocity, PARTICLES, 2);
    REGION("momentum", momentum, PARTICLES, 2);
    REGION("stress", stress, PARTICLES, 4);
    REGION("constitutive", constitutive, PARTICLES, 2);
    REGION("grid mass", grid_mass, NODES, NODES);
    REGION("grid momentum", grid_momentum, NODES, NODES, 2);
    REGION("grid force", grid_force, NODES, NODES, 2);
    for (int step = 0; step < STEPS; step++)
        for (int phase = 0; phase < PHASES; phase++) {
            snprintf(names[step][phase], sizeof names[step][phase], "%s", phases[phase]);
            orrery_marker(names[step][phase]);
        }
    orrery_write_tables();

    ORRERY_START();
    run();
    ORRERY_STOP();
    return placed == PARTICLES && momentum_is_kept() ? 0 : 1;
}

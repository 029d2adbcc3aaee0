/* sizes.c - the same op from small to large: cost should grow as the work does, with no cliff
 * that the machine itself does not have. */
#include "ops.h"

static tsr_status run_add(job *j) { return tsr_add(&j->z, j->x[0], j->x[1]); }

static void make_vectors(job *j)
{
    for (int i = 0; i < 2; i++) VALUES(&j->x[i], TSR_F32, j->n[0]);
    ROOM(&j->z, TSR_F32, j->n[0]);
}

static void make_vector(job *j) { VALUES(&j->x[0], TSR_F32, j->n[0]); }

static void make_squares(job *j)
{
    for (int i = 0; i < 2; i++) VALUES(&j->x[i], TSR_F32, j->n[0], j->n[0]);
}

static void add_sizes(const char *op, tsr_status (*run)(job *), void (*make)(job *), int read, int written)
{
    for (int64_t n = 1 << 8; n <= 1 << 24; n *= 4) {
        job *j =
            add(4.0 * read * (double)n, written ? 4.0 * (double)n : 4, 0, false, "s.%s.f32.%d", op, (int)n);
        j->make = make;
        j->run = run;
        j->axis = 2;
        j->n[0] = n;
    }
}

void add_all_sizes(void)
{
    static const int sides[] = { 4,  6,   10,  12,  20,  24,  40,  48,   80,
                                 96, 160, 192, 320, 384, 640, 768, 1280, 1536 };
    add_sizes("copy", run_copy, make_vectors, 1, 1);
    add_sizes("add", run_add, make_vectors, 2, 1);
    add_sizes("sum", run_sum, make_vector, 1, 0);
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        const double n = sides[i];
        job *j = add(2 * n * n * 4, n * n * 4, 2 * n * n * n, false, "s.mm.f32.%d", sides[i]);
        j->make = make_squares;
        j->run = run_matmul;
        j->n[0] = sides[i];
    }
}

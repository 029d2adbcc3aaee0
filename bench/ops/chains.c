/* chains.c - ops one after the other: what an op leaves behind is part of its cost. If a
 * result was stored around the caches, the next op has to load it from memory. */
#include <math.h>

#include "ops.h"

static tsr_status add_then_sum(job *j)
{
    const tsr_status s = tsr_add(&j->x[2], j->x[0], j->x[1]);
    return s != TSR_OK ? s : tsr_sum(&j->z, j->x[2], 0, NULL, false);
}

static tsr_status two_layers(job *j)
{
    tsr_status s = tsr_matmul(&j->x[3], j->x[0], j->x[1]);
    if (s == TSR_OK) s = tsr_gelu(&j->x[3], j->x[3]);
    return s != TSR_OK ? s : tsr_matmul(&j->z, j->x[3], j->x[2]);
}

/* (8, 128, 16, 64) with tokens and heads exchanged and laid out anew, times (64, 64). */
static tsr_status permute_then_multiply(job *j)
{
    tsr_tensor *transposed = NULL;
    tsr_status s = tsr_permute(&transposed, j->x[0], TSR_AXES(0, 2, 1, 3));
    if (s == TSR_OK) s = tsr_copy(j->x[3], transposed);
    if (s == TSR_OK) s = tsr_matmul(&j->z, j->x[3], j->x[1]);
    tsr_release(&transposed);
    return s;
}

static void make_two(job *j)
{
    for (int i = 0; i < 2; i++) VALUES(&j->x[i], TSR_F32, j->n[0]);
}

/* Weights are scaled as networks scale them, so that layers neither grow nor vanish. */
static void make_layers(job *j)
{
    const int64_t n = j->n[0];
    for (int i = 0; i < 3; i++) VALUES(&j->x[i], TSR_F32, n, n);
    for (int i = 1; i < 3; i++) must(tsr_mul(&j->x[i], j->x[i], TSR_NUMBER(sqrt(3.0 / (double)n))));
}

static void make_tokens(job *j)
{
    VALUES(&j->x[0], TSR_F32, 8, 128, 16, 64);
    VALUES(&j->x[1], TSR_F32, 64, 64);
    ROOM(&j->x[3], TSR_F32, 8, 16, 128, 64);
}

void add_chains(void)
{
    static const struct {
        const char *tag;
        int64_t n;
    } sizes[] = { { "64K", 1 << 16 }, { "1M", 1 << 20 }, { "16M", N16M } };
    for (int i = 0; i < 3; i++) {
        const double bytes = 4.0 * (double)sizes[i].n;
        job *j = add(3 * bytes, bytes, 0, i == 1, "h.add_sum.f32.%s", sizes[i].tag);
        j->make = make_two;
        j->run = add_then_sum;
        j->n[0] = sizes[i].n;
    }
    for (int64_t n = 256; n <= 1024; n *= 4) {
        const double square = (double)(n * n);
        job *j = add(4 * square * 4, 2 * square * 4, 4 * square * (double)n, n == 256, "h.mm_gelu_mm.f32.%d",
                     (int)n);
        j->make = make_layers;
        j->run = two_layers;
        j->n[0] = n;
    }
    const double x = 8.0 * 128 * 16 * 64;
    job *j = add(2 * x * 4, 2 * x * 4, 2 * x * 64, true, "h.permute_mm.f32.8x128x16x64");
    j->make = make_tokens;
    j->run = permute_then_multiply;
}

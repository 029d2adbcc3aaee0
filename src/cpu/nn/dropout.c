/* dropout.c - elements in row-major order, kept or not by their numbers. */
#ifndef TSR_FREESTANDING

#include <math.h>

#include "nn.h"
#include "core/random_values.h"
#include "cpu/kernels.h"
#include "core/threads_int.h"

enum { NUMBERS = 4 * TSRI_LANES };  /* made at a time */

typedef struct dropping {
    const tsri_loop *loop;
    int64_t          each;      /* elements for an index of the outermost dim */
    uint64_t         seed;
    uint32_t         threshold; /* a word's top 24 bits must reach it */
    double           scale;
    bool             wide;      /* computed in f64 */
    tsri_widen_fn    widen;
    tsri_narrow_fn   narrow;
    int64_t          next;      /* the next element of the walk */
} dropping;

/* The numbers of a batch, in order: word w of block b is number 4 b + w. */
static void make_numbers(uint32_t numbers[NUMBERS], uint64_t seed, int64_t batch)
{
    uint32_t words[4][TSRI_LANES];
    tsri_random_words_lanes(words, seed, (uint64_t)batch * TSRI_LANES, TSRI_STREAM_UNIFORM);
    for (int b = 0; b < TSRI_LANES; b++)
        for (int w = 0; w < 4; w++) numbers[4 * b + w] = words[w][b] >> 8;
}

/* With masks: a branch on random bits would be mispredicted. */
static void drop_floats(float *x, int64_t n, const uint32_t *numbers, uint32_t threshold, float scale)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = tsri_f32_from_bits(tsri_f32_bits(x[i] * scale) & tsri_mask32(numbers[i] >= threshold));
}

static void drop_doubles(double *x, int64_t n, const uint32_t *numbers, uint32_t threshold, double scale)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = tsri_f64_from_bits(tsri_f64_bits(x[i] * scale) & tsri_mask64(numbers[i] >= threshold));
}

/* Elements first .. first + n - 1, all in one batch of numbers. */
static void keep_or_drop(const dropping *d, void *run, int64_t first, int64_t n)
{
    uint32_t numbers[NUMBERS];
    make_numbers(numbers, d->seed, first / NUMBERS);
    const uint32_t *from = numbers + first % NUMBERS;
    if (d->wide) drop_doubles(run, n, from, d->threshold, d->scale);
    else         drop_floats(run, n, from, d->threshold, (float)d->scale);
}

/* Operands: result, x. */
static bool drop_tile(const tsri_tile *t, void *context)
{
    dropping *d = context;
    double run[NUMBERS];
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t i = 0, n = 0; i < t->cols; i += n, d->next += n) {
            const int64_t left = NUMBERS - d->next % NUMBERS;
            n = t->cols - i < left ? t->cols - i : left;
            d->widen(run, t->ptr[1] + r * t->row_step[1] + i * t->col_step[1], t->col_step[1], n);
            keep_or_drop(d, run, d->next, n);
            d->narrow(t->ptr[0] + r * t->row_step[0] + i * t->col_step[0], t->col_step[0], run, n);
        }
    return true;
}

/* Indices begin .. end - 1 of the outermost dim. */
static tsr_status drop_part(void *context, int64_t begin, int64_t end)
{
    dropping d = *(const dropping *)context;
    tsri_loop part = *d.loop;
    if (part.ndim > 0) {
        for (int o = 0; o < part.nop; o++) part.base[o] += begin * part.dim[0].step[o];
        part.dim[0].n = end - begin;
    }
    d.next = begin * d.each;
    (void)tsri_loop_visit(&part, drop_tile, &d);
    return TSR_OK;
}

tsr_status tsri_cpu_dropout(const tsr_op *op)
{
    tsri_loop loop;
    const tsr_dropout_params *p = op->params;
    const tsr_tensor *z = op->out[0], *x = op->in[0];
    const tsri_cpu_kernels *k = tsri_cpu_kernels_get();
    const int64_t size = tsri_dtype_size(x->dtype);
    if (tsr_desc_numel(&z->desc) == 0) return TSR_OK;
    tsri_loop_build(&loop, z->ndim, z->shape, 2,
                    (const tsri_operand[]){ { z->data, z->stride, size }, { x->data, x->stride, size } },
                    TSRI_ORDERED);
    const int64_t n = loop.ndim > 0 ? loop.dim[0].n : 1, each = tsri_loop_count(&loop) / n;
    dropping d = { &loop,
                   each,
                   p->seed,
                   (uint32_t)ceil(p->p * 16777216.0),
                   1 / (1 - p->p),
                   x->dtype == TSR_F64,
                   k->widen[x->dtype],
                   k->narrow[k->wide[x->dtype]][x->dtype],
                   0 };
    return tsri_parallel_for(n, tsri_grain(TSRI_WORK_NUMBER * (double)each), drop_part, &d);
}

#endif

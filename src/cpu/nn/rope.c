/* rope.c - rotary positions: a table of turns for the sequence, then lane by lane. */
#ifndef TSR_FREESTANDING

#include <math.h>

#include "nn.h"
#include "rows_run.h"
#include "core/alloc.h"
#include "core/desc_int.h"
#include "tessera/threads.h"

/* Tables ------------------------------------------------------------------------------- */

typedef struct turning {
    const tsr_op *op;
    int64_t       pairs;
    tsr_c128     *turns;    /* for each place of the sequence, one of each pair */
    const double *slowness; /* theta^(2j / d), where there are no tables */
} turning;

static int64_t position(const tsr_op *op, int64_t i)
{
    const tsr_tensor *p = op->in[1];
    return ((const int64_t *)p->data)[i > 0 ? i * p->stride[0] : 0];
}

static tsr_status make_turns(void *context, int64_t begin, int64_t end)
{
    const turning *t = context;
    for (int64_t i = begin; i < end; i++) {
        const double at = (double)position(t->op, i);
        for (int64_t j = 0; j < t->pairs; j++) {
            const double angle = at / t->slowness[j];
            t->turns[i * t->pairs + j] = (tsr_c128){ cos(angle), sin(angle) };
        }
    }
    return TSR_OK;
}

/* Row `row` of a table of any floating dtype into every second of to[0 .. 2 * pairs - 1]. */
static void read_table(double *to, const tsr_tensor *table, int64_t row, int64_t pairs)
{
    double run[TSRI_RUN];
    const int64_t size = tsri_dtype_size(table->dtype), step = pairs > 1 ? table->stride[1] * size : size;
    const tsri_widen_fn widen = tsri_cpu_kernels_get()->widen[table->dtype];
    const char *x = (const char *)table->data + (row > 0 ? row * table->stride[0] * size : 0);
    for (int64_t j = 0; j < pairs; j += TSRI_RUN) {
        const int64_t n = pairs - j < TSRI_RUN ? pairs - j : TSRI_RUN;
        widen(run, x + j * step, step, n);
        for (int64_t i = 0; i < n; i++)
            to[2 * (j + i)] =
                table->dtype == TSR_F64 ? run[i] : (double)((const float *)(const void *)run)[i];
    }
}

static tsr_status look_up_turns(void *context, int64_t begin, int64_t end)
{
    const turning *t = context;
    for (int64_t i = begin; i < end; i++) {
        const int64_t row = position(t->op, i);
        double *to = (double *)(t->turns + i * t->pairs);
        read_table(to + 1, t->op->in[2], row, t->pairs);
        read_table(to, t->op->in[3], row, t->pairs);
    }
    return TSR_OK;
}

/* Lanes ---------------------------------------------------------------------------------- */

/* beside: the turns of the lane's place. */
static void rope_row(const tsri_rows *r, void *const *row, char *const *beside)
{
    const int mode = ((const tsr_rope_params *)r->params)->mode;
    r->k->rotate[mode](row[0], row[1], r->n, (const tsr_c128 *)(const void *)beside[0]);
}

static tsr_status rotate(const tsr_op *op, const turning *t)
{
    tsr_tensor turns;
    const tsr_tensor *z = op->out[0];
    int64_t strides[TSR_MAX_NDIM] = { 0 };
    tsri_rows rows = { .op = "rope", .fn = rope_row, .params = op->params, .nout = 1, .nin = 1, .nbeside = 1,
                       .axis = z->ndim - 1 };
    strides[z->ndim - 3] = t->pairs;
    tsri_see_memory(&turns, t->turns, TSR_C128, z->ndim, z->shape, strides);
    return tsri_rows_run(&rows, (const tsr_tensor *const[]){ z, op->in[0], &turns });
}

tsr_status tsri_cpu_rope(const tsr_op *op)
{
    const tsr_tensor *z = op->out[0];
    const int64_t d = z->shape[z->ndim - 1], seq = z->shape[z->ndim - 3];
    int64_t bytes = 0;
    turning t = { .op = op, .pairs = d / 2 };
    if (tsr_desc_numel(&z->desc) == 0) return TSR_OK;
    const bool fits = tsri_mul(&bytes, seq, d / 2 * (int64_t)sizeof(tsr_c128)) &&
                      tsri_add(&bytes, bytes, d / 2 * (int64_t)sizeof(double)) && (uint64_t)bytes <= SIZE_MAX;
    t.turns = fits ? tsri_scratch((size_t)bytes) : NULL;
    TSRI_CHECK(t.turns, TSR_ENOMEM, "rope: no room for the turns of %lld places", (long long)seq);
    double *slowness = (double *)(t.turns + seq * t.pairs);
    if (op->kind == TSR_OP_ROPE)
        for (int64_t j = 0; j < t.pairs; j++)
            slowness[j] = pow(((const tsr_rope_params *)op->params)->theta, 2 * (double)j / (double)d);
    t.slowness = slowness;
    tsr_status s = tsr_parallel_for(seq, 1024 / (t.pairs + 1) + 1,
                                    op->kind == TSR_OP_ROPE ? make_turns : look_up_turns, &t);
    if (s == TSR_OK) s = rotate(op, &t);
    tsri_free(t.turns, (size_t)bytes);
    return s;
}

#endif

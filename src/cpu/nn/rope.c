/* rope.c - rotary positions: a table of cosines and sines for the sequence, then lane by lane. */
#ifndef TSR_FREESTANDING

#include <math.h>

#include "nn.h"
#include "rows_run.h"
#include "core/alloc.h"
#include "core/desc_int.h"
#include "tessera/ops/nn.h"
#include "core/threads_int.h"

/* Tables ------------------------------------------------------------------------------- */

typedef struct rotations_job {
    const tsr_op *op;
    int64_t       d;        /* elements of a lane: twice as many as pairs */
    double       *rotations;    /* for each position of the sequence, 2 d numbers */
    const double *slowness; /* theta^(2j / d), where there are no tables */
} rotations_job;

static int64_t position(const tsr_op *op, int64_t i)
{
    const tsr_tensor *p = op->in[1];
    return ((const int64_t *)p->data)[i > 0 ? i * p->stride[0] : 0];
}

/* Pairs j .. j + n - 1 of one position, in the order of row_kernels.h. */
static void lay_rotations(double *rotations, int64_t d, int mode, int64_t j, int64_t n, const double *cosines,
                      const double *sines)
{
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = j + i;
        if (mode == TSR_ROPE_HALVES) {
            rotations[at] = cosines[i];
            rotations[d / 2 + at] = sines[i];
        } else {
            rotations[2 * at] = rotations[2 * at + 1] = cosines[i];
            rotations[d + 2 * at] = -sines[i];
            rotations[d + 2 * at + 1] = sines[i];
        }
    }
}

/* n numbers from column j of a row of a table of any floating dtype. */
static void read_table(double *to, const tsr_tensor *table, int64_t row, int64_t j, int64_t n)
{
    const int64_t size = tsri_dtype_size(table->dtype),
                  step = table->shape[1] > 1 ? tsri_mul_wrapping(table->stride[1], size) : size;
    const char *x = (const char *)table->data + (row > 0 ? row * table->stride[0] * size : 0);
    float run[TSRI_RUN];
    const bool wide = table->dtype == TSR_F64;
    tsri_cpu_kernels_get()->widen[table->dtype](wide ? (void *)to : run, x + j * step, step, n);
    for (int64_t i = 0; i < n && !wide; i++) to[i] = (double)run[i];
}

static tsr_status make_rotations(void *context, int64_t begin, int64_t end)
{
    const rotations_job *t = context;
    const tsri_nn_kernels *k = tsri_row_kernels(TSR_F64);
    const int mode = ((const tsr_rope_params *)t->op->params)->mode;
    for (int64_t i = begin; i < end; i++)
        for (int64_t j = 0; j < t->d / 2; j += TSRI_RUN) {
            double cosines[TSRI_RUN], sines[TSRI_RUN];
            const int64_t left = t->d / 2 - j, n = left < TSRI_RUN ? left : TSRI_RUN, at = position(t->op, i);
            if (t->op->kind == TSR_OP_ROPE) {
                k->rotations(cosines, sines, (double)at, t->slowness + j, n);
            } else {
                read_table(sines, t->op->in[2], at, j, n);
                read_table(cosines, t->op->in[3], at, j, n);
            }
            lay_rotations(t->rotations + i * 2 * t->d, t->d, mode, j, n, cosines, sines);
        }
    return TSR_OK;
}

/* Lanes ---------------------------------------------------------------------------------- */

/* beside: the rotations of the lane's position. */
static void rope_row(const tsri_rows *r, void *const *row, char *const *beside, const tsri_row_options *w)
{
    const int mode = ((const tsr_rope_params *)r->params)->mode;
    r->k->rotate[mode](row[0], row[1], r->n, (const double *)(const void *)beside[0], w);
}

static tsr_status rotate(const tsr_op *op, const rotations_job *t)
{
    tsr_tensor rotations;
    const tsr_tensor *z = op->out[0];
    int64_t strides[TSR_MAX_NDIM] = { 0 };
    tsri_rows rows = { .op = "rope", .fn = rope_row, .params = op->params, .nout = 1, .nin = 1, .nbeside = 1,
                       .axis = z->ndim - 1 };
    strides[z->ndim - 3] = 2 * t->d;
    tsri_view_memory(&rotations, t->rotations, TSR_F64, z->ndim, z->shape, strides);
    return tsri_rows_run(&rows, (const tsr_tensor *const[]){ z, op->in[0], &rotations });
}

tsr_status tsri_cpu_rope(const tsr_op *op)
{
    const tsr_tensor *z = op->out[0];
    const int64_t d = z->shape[z->ndim - 1], seq = z->shape[z->ndim - 3];
    int64_t bytes = 0;
    rotations_job t = { .op = op, .d = d };
    if (tsr_desc_numel(&z->desc) == 0) return TSR_OK;
    const bool fits = tsri_mul(&bytes, seq, 2 * d * (int64_t)sizeof(double)) &&
                      tsri_add(&bytes, bytes, d / 2 * (int64_t)sizeof(double)) && (uint64_t)bytes <= SIZE_MAX;
    t.rotations = fits ? tsri_scratch((size_t)bytes) : NULL;
    TSRI_CHECK(t.rotations, TSR_ENOMEM, "rope: no room for the rotations of %lld positions", (long long)seq);
    double *slowness = t.rotations + seq * 2 * d;
    if (op->kind == TSR_OP_ROPE)
        for (int64_t j = 0; j < d / 2; j++)
            slowness[j] = pow(((const tsr_rope_params *)op->params)->theta, 2 * (double)j / (double)d);
    t.slowness = slowness;
    const int64_t grain = tsri_grain(TSRI_WORK_SEARCH * (double)(d / 2 + 1));
    tsr_status s = tsri_parallel_for(seq, grain, make_rotations, &t);
    if (s == TSR_OK) s = rotate(op, &t);
    tsri_free(t.rotations, (size_t)bytes);
    return s;
}

#endif

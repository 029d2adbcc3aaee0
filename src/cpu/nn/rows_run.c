/* rows_run.c - see rows_run.h.
 *
 * A lane that lies packed in the type that is computed in is a row as it is. Others are
 * widened into scratch memory and narrowed back. Where neighbouring lanes lie closer
 * together than a lane's elements do, a block of them is taken at once, so that each
 * cache line is used whole while it is there.
 *
 * LIMIT: one lane is worked on by one thread. */
#ifndef TSR_FREESTANDING

#include "rows_run.h"
#include "core/alloc.h"
#include "core/atomic.h"
#include "cpu/cpu_run.h"
#include "cpu/lanes.h"

enum {
    BLOCK = 16,        /* lanes: a cache line of floats */
    FEW   = 8 << 10,   /* bytes of scratch that lie on the stack */
    GRAIN = 16 << 10   /* elements that are worth waking a thread for */
};

const tsri_nn_kernels *tsri_row_kernels(tsr_dtype dtype)
{
    return &tsri_cpu_kernels_get()->nn[dtype == TSR_F64 ? TSRI_ROW_F64 : TSRI_ROW_F32];
}

void tsri_see_memory(tsr_tensor *v, void *data, tsr_dtype dtype, int ndim, const int64_t *shape,
                     const int64_t *strides)
{
    int64_t step = 1;
    *v = (tsr_tensor){ .data = data, .count = 1, .flags = TSR_FLAG_PLACED, .device = TSR_CPU,
                       .memory = TSR_MEMORY_HOST };
    v->dtype = dtype;
    v->ndim = ndim;
    for (int i = ndim - 1; i >= 0; i--) {
        v->shape[i] = shape[i];
        v->stride[i] = strides ? strides[i] : step;
        step = tsri_mul_wrapping(step, shape[i]);
    }
}

tsr_status tsri_unpack(void *to, tsr_dtype dtype, const tsr_tensor *t)
{
    tsr_tensor v;
    tsri_see_memory(&v, to, dtype, t->ndim, t->shape, NULL);
    return tsri_cpu_copy(&(tsr_op){ .kind = TSR_OP_COPY, .nin = 1, .nout = 1, .in = { t }, .out = { &v } });
}

/* Lanes and rows --------------------------------------------------------------------- */

static int64_t length(int64_t step) { return step < 0 ? -step : step; }

/* One number of each of `count` rows, from and to a run. */
static void deal(char *rows, const float *run, int64_t pitch, int64_t count)
{
    for (int64_t b = 0; b < count; b++) *(float *)(void *)(rows + b * pitch) = run[b];
}

static void collect(float *run, const char *rows, int64_t pitch, int64_t count)
{
    for (int64_t b = 0; b < count; b++) run[b] = *(const float *)(const void *)(rows + b * pitch);
}

/* `count` lanes of operand o from x on, `across` bytes apart, into rows. */
static void load(const tsri_rows *r, int o, char *rows, const char *x, int64_t across, int64_t count)
{
    float run[BLOCK];
    const int64_t step = r->step[o];
    if (count == 1 || length(across) >= length(step)) {
        for (int64_t b = 0; b < count; b++) r->widen(rows + b * r->pitch, x + b * across, step, r->n);
    } else if (r->size == r->wide) {
        r->copy(&(tsri_tile){ .rows = count, .cols = r->n, .ptr = { rows, (char *)(uintptr_t)x },
                              .row_step = { r->pitch, across }, .col_step = { r->wide, step } }, NULL);
    } else {
        for (int64_t i = 0; i < r->n; i++) {
            r->widen(run, x + i * step, across, count);
            deal(rows + i * r->wide, run, r->pitch, count);
        }
    }
}

/* The other way; by columns of the rows, so that the copy sees which side lies closer. */
static void store(const tsri_rows *r, int o, char *z, char *rows, int64_t across, int64_t count)
{
    float run[BLOCK];
    const int64_t step = r->step[o];
    if (count == 1 || length(across) >= length(step)) {
        for (int64_t b = 0; b < count; b++) r->narrow(z + b * across, step, rows + b * r->pitch, r->n);
    } else if (r->size == r->wide) {
        r->copy(&(tsri_tile){ .rows = r->n, .cols = count, .ptr = { z, rows }, .row_step = { step, r->wide },
                              .col_step = { across, r->pitch } }, NULL);
    } else {
        for (int64_t i = 0; i < r->n; i++) {
            collect(run, rows + i * r->wide, r->pitch, count);
            r->narrow(z + i * step, across, run, count);
        }
    }
}

/* A result is made where the rows of the input of its number are, if those are copies. */
static bool shares(const tsri_rows *r, int o) { return o < r->nout && o < r->nin && !r->direct[r->nout + o]; }

/* One block: at[o] is where operand o's first lane begins. */
static void run_block(const tsri_rows *r, const tsri_tile *t, char *const *at, int64_t count, char *scratch)
{
    const int data = r->nout + r->nin;
    const int64_t pitch = r->pitch;
    char *rows[TSRI_MAX_OPERANDS] = { NULL };
    for (int o = data; o-- > 0;) {
        if (r->direct[o]) continue;
        if (shares(r, o)) {
            rows[o] = rows[r->nout + o];
            continue;
        }
        rows[o] = scratch;
        scratch += r->block * pitch;
        if (o >= r->nout) load(r, o, rows[o], at[o], t->col_step[o], count);
    }
    for (int64_t b = 0; b < count; b++) {
        void *row[TSRI_MAX_OPERANDS];
        char *beside[TSRI_MAX_OPERANDS];
        for (int o = 0; o < data; o++)
            row[o] = r->direct[o] ? at[o] + b * t->col_step[o] : rows[o] + b * pitch;
        for (int i = 0; i < r->nbeside; i++) beside[i] = at[data + i] + b * t->col_step[data + i];
        r->fn(r, row, beside);
    }
    for (int o = 0; o < r->nout; o++)
        if (!r->direct[o]) store(r, o, at[o], rows[o], t->col_step[o], count);
}

static void rows_tile(const tsri_tile *t, const void *params)
{
    const tsri_rows *r = params;
    _Alignas(64) char few[FEW];
    char *scratch = r->scratch <= FEW ? few : tsri_scratch(r->scratch);
    if (!scratch) {
        tsri_store_release(r->no_room, 1);
        return;
    }
    for (int64_t row = 0; row < t->rows; row++)
        for (int64_t c = 0; c < t->cols; c += r->block) {
            char *at[TSRI_MAX_OPERANDS];
            for (int o = 0; o < r->nout + r->nin + r->nbeside; o++)
                at[o] = t->ptr[o] + row * t->row_step[o] + c * t->col_step[o];
            run_block(r, t, at, t->cols - c < r->block ? t->cols - c : r->block, scratch);
        }
    if (scratch != few) tsri_free(scratch, r->scratch);
}

/* Plans ------------------------------------------------------------------------------- */

static void plan_operands(tsri_rows *r, const tsr_tensor *const *operands)
{
    for (int o = 0; o < r->nout + r->nin; o++) {
        r->step[o] = r->n > 1 ? tsri_axis_step(operands[o], r->axis) : r->size;
        r->direct[o] = r->size == r->wide && r->step[o] == r->size;
    }
}

/* Blocks pay where lanes of some operand lie side by side. */
static void plan_block(tsri_rows *r, const tsri_loop *loop)
{
    r->block = 1;
    for (int o = 0; o < r->nout + r->nin && loop->ndim > 0; o++)
        if (!r->direct[o] && length(loop->dim[loop->ndim - 1].step[o]) < length(r->step[o])) r->block = BLOCK;
}

/* Rows are a line further apart than they are long: lengths that are powers of two would put
 * number i of all of them into the same few places of a cache. */
static bool plan_scratch(tsri_rows *r)
{
    int64_t bytes = 0;
    if (!tsri_mul(&bytes, r->n, r->wide) || !tsri_add(&bytes, bytes, 2 * TSRI_CACHE_LINE)) return false;
    r->pitch = bytes / TSRI_CACHE_LINE * TSRI_CACHE_LINE;
    bytes = 0;
    for (int o = 0; o < r->nout + r->nin; o++)
        if (!r->direct[o] && !shares(r, o)) bytes += r->block;
    if (!tsri_mul(&bytes, bytes, r->pitch)) return false;
    r->scratch = (size_t)bytes;
    return r->scratch == (uint64_t)bytes;
}

tsr_status tsri_rows_run(tsri_rows *r, const tsr_tensor *const *operands)
{
    tsri_loop loop;
    int32_t no_room = 0;
    const tsr_tensor *first = operands[0];
    const tsri_cpu_kernels *k = tsri_cpu_kernels_get();
    r->n = first->shape[r->axis];
    r->k = tsri_row_kernels(first->dtype);
    r->size = tsri_dtype_size(first->dtype);
    r->wide = tsri_dtype_size(tsri_row_dtype(first->dtype));
    r->copy = k->copy[__builtin_ctz((unsigned)r->size)];
    r->widen = k->widen[first->dtype];
    r->narrow = k->narrow[k->wide[first->dtype]][first->dtype];
    r->no_room = &no_room;
    plan_operands(r, operands);
    tsri_lanes_build(&loop, &first->desc, r->nout + r->nin + r->nbeside, operands, r->axis);
    plan_block(r, &loop);
    TSRI_CHECK(plan_scratch(r), TSR_ENOMEM, "%s: no room for %lld elements of a lane", r->op,
               (long long)r->n);
    TSRI_TRY(tsri_loop_run_parallel(&loop, rows_tile, r, GRAIN / (r->n + 1) + 1));
    TSRI_CHECK(tsri_load_acquire(&no_room) == 0, TSR_ENOMEM, "%s: no room for %lld elements of a lane", r->op,
               (long long)r->n);
    return TSR_OK;
}

#endif

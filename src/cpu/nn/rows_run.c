/* rows_run.c - see rows_run.h.
 *
 * A lane that is packed in the type that is computed in is used as a row. Other lanes are
 * widened into scratch memory and narrowed back. Where the step between lanes is smaller than
 * the step along a lane, a block of lanes is taken at once, so that each
 * cache line is used whole while it is in cache. Ops with a `side` function work on such lanes
 * together, as columns of a tile; short lanes are transposed for that too.
 *
 * LIMIT: one lane is worked on by one thread. */
#ifndef TSR_FREESTANDING

#include "cpu/edges.h"
#include <math.h>

#include "rows_run.h"
#include "core/alloc.h"
#include "core/atomic.h"
#include "core/mem.h"
#include "core/threads_int.h"
#include "cpu/cpu_run.h"
#include "cpu/lanes.h"

enum {
    BLOCK = 16,        /* lanes: a cache line of floats */
    SHORT = 48,        /* a lane of fewer elements is too short for a row */
    L2_BYTES = 512 << 10, /* of lanes in a tile that stay in the L2 cache; longer lanes are summed in parts */
    MOST_WIDE = 1024,  /* lanes of a tile, at most */
    PART = 16,         /* numbers of a lane at a time, for lanes that are worked on in parts */
    PART_WIDE = 512, /* lanes of a tile of such */
    STACK_BYTES   = 8 << 10    /* bytes of scratch on the stack */
};

const int64_t tsri_edges_rows[] = { SHORT, MOST_WIDE, PART_WIDE, 0 };

const tsri_nn_kernels *tsri_row_kernels(tsr_dtype dtype)
{
    return &tsri_cpu_kernels_get()->nn[dtype == TSR_F64   ? TSRI_ROW_F64
                                       : dtype == TSR_F32 ? TSRI_ROW_F32
                                                          : TSRI_ROW_SHORT];
}

void tsri_view_memory(tsr_tensor *v, void *data, tsr_dtype dtype, int ndim, const int64_t *shape,
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
    tsri_view_memory(&v, to, dtype, t->ndim, t->shape, NULL);
    return tsri_cpu_copy(&(tsr_op){ .kind = TSR_OP_COPY, .nin = 1, .nout = 1, .in = { t }, .out = { &v } });
}

/* Lanes and rows --------------------------------------------------------------------- */

static int64_t length(int64_t step) { return step < 0 ? -step : step; }

/* One number of each of `count` rows, from and to a contiguous run. */
static void scatter_run(char *rows, const float *run, int64_t pitch, int64_t count)
{
    for (int64_t b = 0; b < count; b++) *(float *)(void *)(rows + b * pitch) = run[b];
}

static void gather_run(float *run, const char *rows, int64_t pitch, int64_t count)
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
            scatter_run(rows + i * r->wide, run, r->pitch, count);
        }
    }
}

/* The reverse. The tile's rows are columns here, so that its inner loop has the smaller step in z. */
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
            gather_run(run, rows + i * r->wide, r->pitch, count);
            r->narrow(z + i * step, across, run, count);
        }
    }
}

/* Result o shares the scratch rows of input o, if those are copies. */
static bool shares(const tsri_rows *r, int o) { return o < r->nout && o < r->nin && !r->direct[r->nout + o]; }

/* The last input's next lane is to be prefetched. */
static tsri_row_options find_options(const tsri_rows *r, const char *lane, int64_t across, char *spare)
{
    const int o = r->nout + r->nin - 1;
    return (tsri_row_options){ .next = r->fetch ? lane + across : NULL, .size = r->step[o], .spare = spare,
                           .stream = r->stream };
}

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
        const tsri_row_options options =
            find_options(r, at[data - 1] + b * t->col_step[data - 1], t->col_step[data - 1], scratch);
        for (int o = 0; o < data; o++)
            row[o] = r->direct[o] ? at[o] + b * t->col_step[o] : rows[o] + b * pitch;
        for (int i = 0; i < r->nbeside; i++) beside[i] = at[data + i] + b * t->col_step[data + i];
        r->fn(r, row, beside, &options);
    }
    for (int o = 0; o < r->nout; o++)
        if (!r->direct[o]) store(r, o, at[o], rows[o], t->col_step[o], count);
}

/* Lanes side by side ------------------------------------------------------------------ */

/* Copies `rows` elements of `count` lanes between a tensor and a tile; `to` and `from` are the steps along a
 * lane and from lane to lane. */
static void move_tile(const tsri_rows *r, char *z, const int64_t to[2], const char *x, const int64_t from[2],
                      int64_t rows, int64_t count, bool stream)
{
    r->copy(&(tsri_tile){ .stream = stream, .rows = rows, .cols = count, .ptr = { z, (char *)(uintptr_t)x },
                          .row_step = { to[0], from[0] }, .col_step = { to[1], from[1] } }, NULL);
}

static void load_side(const tsri_rows *r, char *tile, const char *x, int64_t across, int64_t rows,
                      int64_t count)
{
    const int64_t step = r->step[r->nout];
    /* Padding lanes need defined numbers too. */
    if (count % BLOCK) memset(tile, 0, (size_t)(rows * r->pitch));
    if (r->size == r->wide)
        move_tile(r, tile, (const int64_t[]){ r->pitch, r->wide }, x, (const int64_t[]){ step, across }, rows,
                  count, false);
    else
        for (int64_t i = 0; i < rows; i++) r->widen(tile + i * r->pitch, x + i * step, across, count);
}

static void store_side(const tsri_rows *r, char *z, const char *tile, int64_t across, int64_t rows,
                       int64_t count)
{
    const int64_t step = r->step[0];
    if (r->size == r->wide)
        move_tile(r, z, (const int64_t[]){ step, across }, tile, (const int64_t[]){ r->pitch, r->wide }, rows,
                  count, r->stream && across == r->size);
    else
        for (int64_t i = 0; i < rows; i++) r->narrow(z + i * step, across, tile + i * r->pitch, count);
}

static void run_side(const tsri_rows *r, const tsri_tile *t, char *const *at, int64_t count, char *tile)
{
    const int data = r->nout + r->nin;
    load_side(r, tile, at[r->nout], t->col_step[r->nout], r->n, count);
    r->side(r, tile, r->pitch, count, at + data, t->col_step + data);
    if (r->nout > 0) store_side(r, at[0], tile, t->col_step[0], r->n, count);
}

/* Two passes over x: the sums of each lane, then the results. Lanes that need no conversion are read in place
 * in the first pass. */
static void run_parts(const tsri_rows *r, const tsri_tile *t, char *const *at, int64_t count, char *tile)
{
    const bool plain = r->size == r->wide && t->col_step[1] == r->size && count % BLOCK == 0;
    char *most = tile + PART * r->pitch;
    double *const sums[2] = { (double *)(void *)(most + r->pitch),
                              (double *)(void *)(most + r->pitch) + r->block };
    for (int64_t l = 0; l < r->block; l++) {
        if (r->wide == sizeof(float)) ((float *)(void *)most)[l] = -INFINITY;
        else                          ((double *)(void *)most)[l] = -(double)INFINITY;
        sums[0][l] = sums[1][l] = 0;
    }
    for (int64_t i = 0; i < r->n; i += PART) {
        const int64_t rows = r->n - i < PART ? r->n - i : PART;
        const char *x = at[1] + i * r->step[1];
        if (!plain) load_side(r, tile, x, t->col_step[1], rows, count);
        r->k->take_side(most, sums, plain ? x : tile, rows, plain ? r->step[1] : r->pitch, count);
    }
    for (int64_t i = 0; i < r->n; i += PART) {
        const int64_t rows = r->n - i < PART ? r->n - i : PART;
        load_side(r, tile, at[1] + i * r->step[1], t->col_step[1], rows, count);
        r->k->give_side(tile, rows, r->pitch, count, most, sums, r->is_log);
        store_side(r, at[0] + i * r->step[0], tile, t->col_step[0], rows, count);
    }
}

static void rows_tile(const tsri_tile *t, const void *params)
{
    const tsri_rows *r = params;
    _Alignas(64) char on_stack[STACK_BYTES];
    char *scratch = r->scratch <= STACK_BYTES ? on_stack : tsri_scratch(r->scratch);
    if (!scratch) {
        tsri_store_release(r->no_room, 1);
        return;
    }
    for (int64_t row = 0; row < t->rows; row++)
        for (int64_t c = 0; c < t->cols; c += r->block) {
            char *at[TSRI_MAX_OPERANDS];
            const int64_t count = t->cols - c < r->block ? t->cols - c : r->block;
            for (int o = 0; o < r->nout + r->nin + r->nbeside; o++)
                at[o] = t->ptr[o] + row * t->row_step[o] + c * t->col_step[o];
            if (r->in_parts)               run_parts(r, t, at, count, scratch);
            else if (r->beside_each_other) run_side(r, t, at, count, scratch);
            else                           run_block(r, t, at, count, scratch);
        }
    if (r->stream && r->k->fence) r->k->fence();
    if (scratch != on_stack) tsri_free(scratch, r->scratch);
}

/* Plans ------------------------------------------------------------------------------- */

static void plan_operands(tsri_rows *r, const tsr_tensor *const *operands)
{
    for (int o = 0; o < r->nout + r->nin; o++) {
        r->step[o] = r->n > 1 ? tsri_axis_step(operands[o], r->axis) : r->size;
        r->direct[o] = r->size == r->wide && r->step[o] == r->size;
    }
}

/* Is the step between lanes of some operand smaller than the step along a lane? */
static bool are_close(const tsri_rows *r, const tsri_loop *loop)
{
    for (int o = 0; o < r->nout + r->nin && loop->ndim > 0; o++)
        if (!r->direct[o] && length(loop->dim[loop->ndim - 1].step[o]) < length(r->step[o])) return true;
    return false;
}

/* As many lanes as keep a tile in cache: whole cache lines of them. */
static int64_t choose_width(const tsri_rows *r)
{
    const int64_t in_l1 = tsri_tuning_used->lanes.row_tile / r->wide / (r->n + 1) / BLOCK * BLOCK,
                  in_l2 = L2_BYTES / r->wide / (r->n + 1) / BLOCK * BLOCK;
    if (in_l1 >= 4 * BLOCK) return in_l1 < MOST_WIDE ? in_l1 : MOST_WIDE;
    return in_l2 >= 4 * BLOCK ? 4 * BLOCK : BLOCK;
}

static void plan_block(tsri_rows *r, const tsri_loop *loop)
{
    const bool close = are_close(r, loop);
    const int64_t lanes = loop->ndim > 0 ? loop->dim[loop->ndim - 1].n : 1;
    r->beside_each_other = r->side && (close || (r->n <= SHORT && lanes >= BLOCK));
    r->block = r->beside_each_other ? choose_width(r) : close ? BLOCK : 1;
    r->in_parts = r->beside_each_other && r->is_softmax && r->block < 4 * BLOCK;
    if (r->in_parts) r->block = PART_WIDE;
}

/* The pitch of rows is a cache line more than their length: with lengths that are powers of two, number i of
 * all rows would fall into the same few sets of a cache. */
static bool plan_scratch(tsri_rows *r)
{
    int64_t bytes = 0, rows = r->stream ? 1 : 0;
    const int64_t numbers = r->beside_each_other ? r->block : r->n;
    if (!tsri_mul(&bytes, numbers, r->wide) || !tsri_add(&bytes, bytes, 2 * TSRI_CACHE_LINE)) return false;
    r->pitch = bytes / TSRI_CACHE_LINE * TSRI_CACHE_LINE;
    for (int o = 0; o < r->nout + r->nin; o++)
        if (!r->direct[o] && !shares(r, o)) rows += r->block;
    if (r->beside_each_other) {
        r->pitch = (numbers * r->wide + TSRI_CACHE_LINE - 1) / TSRI_CACHE_LINE * TSRI_CACHE_LINE;
        rows = r->in_parts ? PART + 1 + 2 * (int64_t)sizeof(double) / r->wide : r->n;
    }
    if (!tsri_mul(&bytes, rows, r->pitch)) return false;
    r->scratch = (size_t)bytes;
    return r->scratch == (uint64_t)bytes;
}

/* Non-temporal stores: for results that do not fit the cache and are not in place. */
static bool should_stream(const tsri_rows *r, const tsr_tensor *const *operands)
{
    const int data = r->nout + r->nin;
    for (int o = 0; o < r->nout; o++) {
        if (!r->direct[o] && !r->beside_each_other) return false;
        for (int i = r->nout; i < data; i++)
            if (operands[i]->data == operands[o]->data) return false;
    }
    return r->nout > 0 && tsri_cpu_streams(tsr_desc_numel(&operands[0]->desc) * r->size * data);
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
    r->fetch = r->step[r->nout + r->nin - 1] == r->size && r->n * r->size <= tsri_tuning_used->lanes.next_row;
    r->stream = should_stream(r, operands);
    TSRI_CHECK(plan_scratch(r), TSR_ENOMEM, "%s: no room for %lld elements of a lane", r->op,
               (long long)r->n);
    TSRI_TRY(tsri_loop_run_parallel(&loop, &(tsri_kernel){ .fn = rows_tile, .params = r },
                                    tsri_grain(TSRI_WORK_ELEMENT * (double)(r->n + 1))));
    TSRI_CHECK(tsri_load_acquire(&no_room) == 0, TSR_ENOMEM, "%s: no room for %lld elements of a lane", r->op,
               (long long)r->n);
    return TSR_OK;
}

#endif

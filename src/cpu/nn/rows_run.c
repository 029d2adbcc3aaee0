/* rows_run.c - see rows_run.h.
 *
 * A lane that lies packed in the type that is computed in is a row as it is. Others are
 * widened into scratch memory and narrowed back. Where neighbouring lanes lie closer
 * together than a lane's elements do, a block of them is taken at once, so that each
 * cache line is used whole while it is there. Ops that can then work on such lanes as they
 * lie, side by side; lanes that are short are turned for that too.
 *
 * LIMIT: one lane is worked on by one thread. */
#ifndef TSR_FREESTANDING

#include "cpu/edges.h"
#include <math.h>

#include "rows_run.h"
#include "core/alloc.h"
#include "core/atomic.h"
#include "core/mem.h"
#include "cpu/cpu_run.h"
#include "cpu/lanes.h"

enum {
    BLOCK = 16,        /* lanes: a cache line of floats */
    SHORT = 48,        /* elements of a lane that are too few for a row */
    NEAR  = 32 << 10,  /* bytes of lanes side by side that stay in the first level cache */
    FAR   = 512 << 10, /* and in the second */
    MOST_WIDE = 1024,  /* lanes of them */
    PART = 16,         /* numbers of lanes that are worked on in parts */
    PART_WIDE = 512, /* such lanes */
    AHEAD = 256 << 10, /* bytes of a row that may be fetched early */
    FEW   = 8 << 10,   /* bytes of scratch that lie on the stack */
    GRAIN = 16 << 10   /* elements that are worth waking a thread for */
};

const int64_t tsri_edges_rows[] = { SHORT, MOST_WIDE, PART_WIDE, 0 };

const tsri_nn_kernels *tsri_row_kernels(tsr_dtype dtype)
{
    return &tsri_cpu_kernels_get()->nn[dtype == TSR_F64   ? TSRI_ROW_F64
                                       : dtype == TSR_F32 ? TSRI_ROW_F32
                                                          : TSRI_ROW_SHORT];
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

/* Where the last input's next lane is, for it to be fetched. */
static tsri_row_way find_way(const tsri_rows *r, const char *lane, int64_t across, char *spare)
{
    const int o = r->nout + r->nin - 1;
    return (tsri_row_way){ .next = r->fetch ? lane + across : NULL, .size = r->step[o], .spare = spare,
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
        const tsri_row_way way =
            find_way(r, at[data - 1] + b * t->col_step[data - 1], t->col_step[data - 1], scratch);
        for (int o = 0; o < data; o++)
            row[o] = r->direct[o] ? at[o] + b * t->col_step[o] : rows[o] + b * pitch;
        for (int i = 0; i < r->nbeside; i++) beside[i] = at[data + i] + b * t->col_step[data + i];
        r->fn(r, row, beside, &way);
    }
    for (int o = 0; o < r->nout; o++)
        if (!r->direct[o]) store(r, o, at[o], rows[o], t->col_step[o], count);
}

/* Lanes side by side ------------------------------------------------------------------ */

/* `rows` elements of `count` lanes, between how they lie and a tile of them; `to` and `from` are steps
 * along a lane and from lane to lane. */
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
    /* Lanes that only fill lines are numbers too. */
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

/* Twice over x: what each lane comes to, and then its elements again. Lanes that lie as numbers side by side
 * are first looked at where they are. */
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
    _Alignas(64) char few[FEW];
    char *scratch = r->scratch <= FEW ? few : tsri_scratch(r->scratch);
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
    if (r->stream && r->k->settle) r->k->settle();
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

/* Do lanes of some operand lie closer together than a lane's elements? */
static bool are_close(const tsri_rows *r, const tsri_loop *loop)
{
    for (int o = 0; o < r->nout + r->nin && loop->ndim > 0; o++)
        if (!r->direct[o] && length(loop->dim[loop->ndim - 1].step[o]) < length(r->step[o])) return true;
    return false;
}

/* As many lanes as keep all that is worked on in a cache: whole lines of them. */
static int64_t choose_width(const tsri_rows *r)
{
    const int64_t near = NEAR / r->wide / (r->n + 1) / BLOCK * BLOCK,
                  far = FAR / r->wide / (r->n + 1) / BLOCK * BLOCK;
    if (near >= 4 * BLOCK) return near < MOST_WIDE ? near : MOST_WIDE;
    return far >= 4 * BLOCK ? 4 * BLOCK : BLOCK;
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

/* Rows are a line further apart than they are long: lengths that are powers of two would put
 * number i of all of them into the same few places of a cache. */
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

/* Results that would not stay in the cache, and do not lie where an operand does. */
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
    r->fetch = r->step[r->nout + r->nin - 1] == r->size && r->n * r->size <= AHEAD;
    r->stream = should_stream(r, operands);
    TSRI_CHECK(plan_scratch(r), TSR_ENOMEM, "%s: no room for %lld elements of a lane", r->op,
               (long long)r->n);
    TSRI_TRY(tsri_loop_run_parallel(&loop, &(tsri_kernel){ .fn = rows_tile, .params = r }, GRAIN / (r->n + 1) + 1));
    TSRI_CHECK(tsri_load_acquire(&no_room) == 0, TSR_ENOMEM, "%s: no room for %lld elements of a lane", r->op,
               (long long)r->n);
    return TSR_OK;
}

#endif

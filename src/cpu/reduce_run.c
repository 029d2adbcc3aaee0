/* reduce_run.c - a reduction: op -> passes -> blocks of outputs, split over threads.
 *
 *     outer nest      a loop over the outputs
 *     reduced nest    a loop over the elements of one output
 *     block           outputs that are accumulated together
 *     part            a share of the reduced nest, if there are fewer blocks than threads can use
 *
 * Nests, the kind of blocks, joined rows and parts depend on shape and strides only, and parts
 * are merged in order. So the result's bits do not depend on the number of threads.
 *
 * LIMIT: argmax and argmin read elements in the order of their indices, not in memory order.
 */
#include "cpu_run.h"
#include "core/alloc.h"
#include "core/desc_int.h"
#include "reduce_run.h"
#include "core/sizes.h"
#include "core/threads_int.h"

#ifndef TSR_FREESTANDING

#include <math.h>

enum {
    PARTS   = 64,    /* most parts of a nest; with this many blocks there are no parts */
    SLICE   = 64,    /* outputs whose parts are merged at a time */
    SMALL   = 16384, /* up to so many contiguous elements are reduced without a nest */
    TINY    = 8,     /* up to so many elements are added in a plain loop */
    NARROW  = 32,    /* an output with fewer elements is not packed into a run */
    LEAN    = 64,    /* rows with fewer outputs are joined */
    RUN     = 4      /* contiguous elements that are enough for a run */
};

static bool is_arg(tsr_op_kind op) { return op == TSR_OP_ARGMAX || op == TSR_OP_ARGMIN; }

/* Which kernels ----------------------------------------------------------------------- */

static void plan_norm(tsri_reduction *r, tsr_dtype dtype, double p)
{
    const bool wide = dtype == TSR_F64 || dtype == TSR_C128;  /* the squares of the others fit f64 */
    r->p = p;
    r->size = true;
    r->least = p < 0;
    r->passes = p == 0 || p == 1 || isinf(p) || (p == 2 && !wide) ? 1 : 2;
    r->kind[0] = p == 0 ? TSRI_ACC_NONZERO : p == 1 ? TSRI_ACC_ABS_SUM
               : p == 2 && !wide ? TSRI_ACC_SQUARES : TSRI_ACC_LARGEST;
    r->kind[1] = p == 2 ? TSRI_ACC_SQUARES : TSRI_ACC_POWERS;
}

/* False: not a reduction. */
static bool plan_passes(tsri_reduction *r, const tsr_op *op)
{
    const tsr_dtype dtype = op->in[0]->dtype;
    const bool counts = dtype == TSR_BOOL;  /* max of bools: is any true? */
    r->op = op->kind;
    r->passes = 1;
    r->least = op->kind == TSR_OP_MIN || op->kind == TSR_OP_ARGMIN;
    r->size = false;
    r->p = 0;
    switch (op->kind) {
    case TSR_OP_SUM:
    case TSR_OP_MEAN:   r->kind[0] = TSRI_ACC_SUM; return true;
    case TSR_OP_PROD:   r->kind[0] = TSRI_ACC_PROD; return true;
    case TSR_OP_MAX:
    case TSR_OP_MIN:    r->kind[0] = counts ? TSRI_ACC_NONZERO : TSRI_ACC_LARGEST; return true;
    case TSR_OP_ANY:
    case TSR_OP_ALL:
    case TSR_OP_COUNT_NONZERO: r->kind[0] = TSRI_ACC_NONZERO; return true;
    case TSR_OP_ARGMAX:
    case TSR_OP_ARGMIN: r->kind[0] = TSRI_ACC_FIND; return true;
    case TSR_OP_NORM:   plan_norm(r, dtype, ((const tsr_reduce_params *)op->params)->a); return true;
    case TSR_OP_VAR:
    case TSR_OP_STD:
    case TSR_OP_LOGSUMEXP:
        r->passes = 2;
        r->p = ((const tsr_reduce_params *)op->params)->a;
        r->kind[0] = op->kind == TSR_OP_LOGSUMEXP ? TSRI_ACC_LARGEST : TSRI_ACC_SUM;
        r->kind[1] = op->kind == TSR_OP_LOGSUMEXP ? TSRI_ACC_EXPS : TSRI_ACC_DEVIATIONS;
        return true;
    default: return false;
    }
}

/* Bools as 0 and 1. */
static void widen_bools(void *wide, const char *src, int64_t step, int64_t n)
{
    unsigned char *z = wide;
    for (int64_t i = 0; i < n; i++) z[i] = src[i * step] != 0;
}

/* The dtype whose kernels are used for one that has none. */
static tsr_dtype stand_in(tsr_dtype dtype)
{
    if (tsr_dtype_kind(dtype) == TSR_FLOATING && tsri_dtype_size(dtype) < 4) return TSR_F32;
    return dtype == TSR_BOOL ? TSR_U8 : dtype;
}

static tsri_numbers numbers_of(tsr_dtype dtype)
{
    switch (tsr_dtype_kind(dtype)) {
    case TSR_FLOATING: return TSRI_REALS;
    case TSR_COMPLEX:  return TSRI_COMPLEXES;
    case TSR_SIGNED:   return TSRI_SIGNEDS;
    default:           return TSRI_UNSIGNEDS;
    }
}

/* Finds the kernels, and the conversion of elements that they need. False: there are none. */
static bool find_kernels(tsri_reduction *r, tsr_dtype dtype, bool widens)
{
    const tsri_cpu_kernels *k = tsri_cpu_kernels_get();
    tsr_dtype seen = widens ? stand_in(dtype) : dtype;
    for (int i = 0; i < r->passes; i++)
        if (!k->accumulate[r->kind[i]][dtype]) seen = stand_in(dtype);
    for (int i = 0; i < r->passes; i++) {
        r->accumulate[i] = k->accumulate[r->kind[i]][seen];
        if (!r->accumulate[i]) return false;
    }
    r->bytes = tsri_dtype_size(dtype);
    r->wide = tsri_dtype_size(seen);
    r->widen = seen == dtype ? NULL : dtype == TSR_BOOL ? widen_bools : k->widen[dtype];
    r->cast = seen == dtype || dtype == TSR_BOOL ? NULL : k->cast[dtype][seen];
    return true;
}

static tsri_wide wide_of_result(const tsri_reduction *r)
{
    if (r->kind[0] == TSRI_ACC_FIND || (r->kind[0] == TSRI_ACC_NONZERO && r->op != TSR_OP_NORM))
        return TSRI_WIDE_I64;
    if (r->numbers == TSRI_SIGNEDS) return TSRI_WIDE_I64;
    if (r->numbers == TSRI_UNSIGNEDS) return TSRI_WIDE_U64;
    return r->complex_result ? TSRI_WIDE_C128 : TSRI_WIDE_F64;
}

/* Everything but the nests. False: there are no kernels for it. */
static bool describe(tsri_reduction *r, const tsr_op *op)
{
    const tsr_dtype dtype = op->in[0]->dtype, result = op->out[0]->dtype;
    if (!plan_passes(r, op) || !find_kernels(r, dtype, false)) return false;
    r->numbers = numbers_of(dtype);
    r->bools = dtype == TSR_BOOL;
    r->complex_result = r->numbers == TSRI_COMPLEXES && tsr_dtype_kind(result) == TSR_COMPLEX;
    r->flip = r->numbers == TSRI_UNSIGNEDS ? (uint64_t)1 << (8 * r->wide - 1) : 0;
    if (r->least) r->flip = ~r->flip;
    const tsri_cpu_kernels *k = tsri_cpu_kernels_get();
    const tsri_wide wide = wide_of_result(r);
    r->narrow = k->narrow[wide][result];
    r->round = wide == TSRI_WIDE_F64 ? k->cast[TSR_F64][result] : wide == TSRI_WIDE_I64 && result == TSR_I64
             ? k->copy[3] : NULL;
    r->rounded = tsri_dtype_size(result);
    r->times = r->parts = 1;
    r->rescales = tsri_scaled_is_for(op);
    return true;
}

/* Blocks --------------------------------------------------------------------------------- */

/* All elements of b, in one part. */
static void accumulate_block(tsri_states *g, const tsri_block *b, tsri_loop *nest)
{
    const tsri_reduction *r = b->r;
    nest->base[0] = b->x + r->start;
    tsri_walk(g, b, nest, 0);
    tsri_states_repeat(g, r->kind[b->pass], r->numbers, b->width, r->times);
}

static void reduce_block(tsri_block b, tsri_loop *nest, void *words, char *z, int64_t step)
{
    const int64_t slots = TSRI_STATE_WORDS * b.width;
    tsri_states g = tsri_states_in(words, b.width), k = tsri_states_in((double *)words + slots, b.width);
    b.k = &k;
    tsri_states_plain(&k, b.r->kind[0], b.width);
    for (b.pass = 0; b.pass < b.r->passes; b.pass++) {
        if (b.pass == 1) tsri_states_constants(&k, &g, b.r, b.width);
        accumulate_block(&g, &b, nest);
    }
    tsri_states_finish(b.r, z, step, b.width, &g, &k);
    tsri_scaled_redo(&b, z, step);
}

/* Outputs of a row from `first` on, `side` of them at most. */
static tsri_block block_of(const tsri_reduction *r, char *x, const tsri_dim *along, int64_t first,
                           int64_t side)
{
    return (tsri_block){ .r = r, .x = x + first * along->step[1], .across = along->step[1],
                         .width = along->n - first < side ? along->n - first : side,
                         .next = first + side < along->n ? x + (first + side) * along->step[1] : NULL };
}

static void reduce_row(const tsri_reduction *r, char *x, char *z, const tsri_dim *along)
{
    _Alignas(64) double words[2 * TSRI_STATE_WORDS * TSRI_SIDE];
    if (r->reduce_short && tsri_reduce_short_run(r, x, z, along)) return;
    tsri_loop nest = r->reduced;
    const int64_t side = tsri_walk_side(r);
    for (int64_t c = 0; c < along->n; c += side)
        reduce_block(block_of(r, x, along, c, side), &nest, words, z + c * along->step[0], along->step[0]);
}

/* Calls f for each row of outputs of a tile. */
typedef void (*row_fn)(const tsri_reduction *r, char *x, char *z, const tsri_dim *along, void *context);

static void for_each_row(const tsri_tile *t, const tsri_reduction *r, row_fn f, void *context)
{
    const tsri_dim cols = { t->cols, { t->col_step[0], t->col_step[1] } };
    for (int64_t i = 0; i < t->rows; i++) {
        char *z = t->ptr[0] + i * t->row_step[0], *x = t->ptr[1] + i * t->row_step[1];
        if (r->joined == 1) {
            f(r, x, z, &cols, context);
            continue;
        }
        for (int64_t c = 0; c < t->cols; c++)
            f(r, x + c * t->col_step[1], z + c * t->col_step[0], &r->side, context);
    }
}

static void reduce_one_row(const tsri_reduction *r, char *x, char *z, const tsri_dim *along, void *context)
{
    (void)context;
    reduce_row(r, x, z, along);
}

/* Blocks without parts; threads share the blocks. */
static void reduce_tile(const tsri_tile *t, const void *params)
{
    for_each_row(t, params, reduce_one_row, NULL);
}

/* Parts ---------------------------------------------------------------------------------- */

/* A block whose parts are accumulated by several threads. */
typedef struct shared_block {
    tsri_block     b;
    char          *z;
    int64_t        step;
    tsri_states g, k;
    double        *words;   /* the states of each part */
} shared_block;

typedef struct sharing {
    const tsri_reduction *r;
    int                   pass;
    int64_t               n, width;  /* blocks; outputs of each, at most */
    shared_block         *blocks;
} sharing;

static tsri_states states_of_part(const sharing *s, const shared_block *b, int64_t part)
{
    return tsri_states_in(b->words + part * TSRI_STATE_WORDS * s->width, s->width);
}

static tsr_status accumulate_parts(void *context, int64_t first, int64_t end)
{
    const sharing *s = context;
    const tsri_reduction *r = s->r;
    for (int64_t i = first; i < end; i++) {
        const shared_block *shared = &s->blocks[i / r->parts];
        const int64_t p = i % r->parts;
        tsri_block b = shared->b;
        tsri_loop nest = r->reduced;
        tsri_dim *dim = &nest.dim[r->part_dim];
        const int64_t from = dim->n * p / r->parts, to = dim->n * (p + 1) / r->parts;
        const int64_t each = tsri_loop_count(&nest) / dim->n;
        tsri_states g = states_of_part(s, shared, p);
        b.k = &shared->k;
        b.pass = s->pass;
        nest.base[0] = b.x + r->start + from * dim->step[0];
        dim->n = to - from;
        tsri_walk(&g, &b, &nest, from * each);
    }
    return TSR_OK;
}

/* Merges the parts of some outputs: to k of the next pass, or to their results. */
static void merge_slice(const sharing *s, const shared_block *b, int64_t first, int64_t width)
{
    const tsri_reduction *r = s->r;
    const tsri_acc_kind kind = r->kind[s->pass];
    tsri_states g = tsri_states_from(&b->g, first), k = tsri_states_from(&b->k, first);
    tsri_states_begin(&g, kind, r->numbers, width);
    for (int64_t p = 0; p < r->parts; p++) {
        const tsri_states all = states_of_part(s, b, p), part = tsri_states_from(&all, first);
        tsri_states_merge(&g, &part, kind, r->numbers, width);
    }
    tsri_states_repeat(&g, kind, r->numbers, width, r->times);
    if (s->pass + 1 < r->passes) {
        tsri_states_constants(&k, &g, r, width);
        return;
    }
    tsri_block slice = b->b;
    slice.x += first * slice.across;
    slice.width = width;
    tsri_states_finish(r, b->z + first * b->step, b->step, width, &g, &k);
    tsri_scaled_redo(&slice, b->z + first * b->step, b->step);
}

static int64_t slices_of(const sharing *s) { return (s->width + SLICE - 1) / SLICE; }

static tsr_status merge_parts(void *context, int64_t first, int64_t end)
{
    const sharing *s = context;
    const int64_t slices = slices_of(s);
    for (int64_t i = first; i < end; i++) {
        const shared_block *b = &s->blocks[i / slices];
        const int64_t from = i % slices * SLICE, left = b->b.width - from;
        if (left > 0) merge_slice(s, b, from, left < SLICE ? left : SLICE);
    }
    return TSR_OK;
}

/* Lists a row's blocks, or only counts them where there is no list yet. */
static void list_row(const tsri_reduction *r, char *x, char *z, const tsri_dim *along, void *context)
{
    sharing *s = context;
    const int64_t side = tsri_walk_side(r);
    for (int64_t c = 0; c < along->n; c += side) {
        const int64_t at = s->n++;
        if (!s->blocks) continue;
        shared_block *b = &s->blocks[at];
        b->b = block_of(r, x, along, c, side);
        b->z = z + c * along->step[0];
        b->step = along->step[0];
    }
}

static bool list_tile(const tsri_tile *t, void *context)
{
    sharing *s = context;
    for_each_row(t, s->r, list_row, s);
    return true;
}

/* Nests ------------------------------------------------------------------------------------ */

void tsri_build_outer(tsri_loop *loop, const tsr_tensor *z, const tsr_tensor *x, uint32_t axes, bool keepdims)
{
    int64_t shape[TSR_MAX_NDIM], stride[2][TSR_MAX_NDIM];
    const int64_t *of_x = tsri_strides(&x->desc), *of_z = tsri_strides(&z->desc);
    int n = 0, at = 0;
    for (int d = 0; d < x->ndim; d++) {
        if (axes >> d & 1) {
            at += keepdims;
            continue;
        }
        shape[n] = x->shape[d];
        stride[0][n] = of_z[at++];
        stride[1][n++] = of_x[d];
    }
    const tsri_operand operands[] = { { z->data, stride[0], tsri_dtype_size(z->dtype) },
                                      { x->data, stride[1], tsri_dtype_size(x->dtype) } };
    tsri_loop_build(loop, n, shape, 2, operands, 1);
}

/* The loop over the dims in `axes`, of x. A dim with stride 0 is walked once if the states can be
 * multiplied by its size (tsri_states_repeat). */
static void build_reduced(tsri_reduction *r, const tsr_tensor *x, uint32_t axes)
{
    int64_t shape[TSR_MAX_NDIM], stride[TSR_MAX_NDIM];
    const bool once = !is_arg(r->op) && r->op != TSR_OP_PROD;
    int n = 0;
    r->count = r->times = 1;
    for (int d = 0; d < x->ndim; d++) {
        if (!(axes >> d & 1)) continue;
        r->count = tsri_mul_wrapping(r->count, x->shape[d]);
        if (once && x->stride[d] == 0 && x->shape[d] > 0) {
            r->times = tsri_mul_wrapping(r->times, x->shape[d]);
            continue;
        }
        shape[n] = x->shape[d];
        stride[n++] = x->stride[d];
    }
    const tsri_operand operand = { x->data, stride, tsri_dtype_size(x->dtype) };
    tsri_loop_build(&r->reduced, n, shape, 1, &operand, is_arg(r->op) ? TSRI_ORDERED : 0);
    r->start = r->reduced.base[0] - (char *)x->data;
}

static int64_t length(int64_t step) { return step < 0 ? -step : step; }

static tsri_dim innermost(const tsri_loop *loop)
{
    if (loop->ndim == 0) return (tsri_dim){ .n = 1 };
    return loop->dim[loop->ndim - 1];
}

/* Are neighbouring outputs closer in memory than the elements of one output, or are those too few for a
 * run? */
static bool is_better_by_columns(const tsri_reduction *r)
{
    const tsri_dim along = innermost(&r->reduced), side = innermost(&r->outer);
    if (side.n < 2) return false;
    if (r->reduced.ndim == 1 && along.step[0] == r->bytes && along.n >= RUN) return false;
    if (tsri_loop_count(&r->reduced) < NARROW) return side.n >= 16;
    return length(side.step[1]) < length(along.step[0]);
}

/* Joins rows of few outputs: then a block has all outputs of a row, and the outer nest loses that dim. */
static void choose_join(tsri_reduction *r)
{
    const tsri_dim along = innermost(&r->reduced), side = innermost(&r->outer);
    r->joined = 1;
    if (!r->by_columns || side.n >= LEAN || along.n < 4 * (TSRI_JOINED / side.n)) return;
    r->joined = TSRI_JOINED / side.n;
    r->side = side;
    r->outer.ndim--;
}

/* How many blocks there are. */
static int64_t count_blocks(const tsri_reduction *r)
{
    const int64_t outputs = tsri_loop_count(&r->outer), n = innermost(&r->outer).n;
    if (r->joined > 1 || n < 2) return outputs;
    const int64_t side = tsri_walk_side(r);
    return outputs / n * ((n + side - 1) / side);
}

/* Chooses the number of parts so that all blocks together have enough of them. */
static void choose_parts(tsri_reduction *r)
{
    const int64_t width = r->joined > 1 ? r->side.n : r->by_columns ? innermost(&r->outer).n : 1;
    const int64_t elements = tsri_loop_count(&r->reduced) * (width < TSRI_SIDE ? width : TSRI_SIDE);
    const int64_t blocks = count_blocks(r), enough = PARTS / (blocks > 0 ? blocks : 1);
    const int64_t most = elements / tsri_grain(TSRI_WORK_READ), wanted = most < enough ? most : enough;
    r->parts = 1;
    r->part_dim = 0;
    if (wanted < 2) return;
    /* Indices are counted along the outermost dim; otherwise a longer one may do. */
    for (int d = 1; d < r->reduced.ndim && !is_arg(r->op) && r->reduced.dim[r->part_dim].n < wanted; d++)
        if (r->reduced.dim[d].n > r->reduced.dim[r->part_dim].n) r->part_dim = d;
    const int64_t n = r->reduced.ndim > 0 ? r->reduced.dim[r->part_dim].n : 1;
    r->parts = (int)(n < wanted ? n : wanted);
}

/* Accumulates all parts of all blocks, then merges those of each block. */
static tsr_status run_parts(const tsri_reduction *r)
{
    const int64_t side = tsri_walk_side(r), n = r->joined > 1 ? r->side.n : innermost(&r->outer).n;
    sharing s = { .r = r,
                  .width = (int64_t)tsri_round_up((size_t)(n < side ? n : side),
                                                  TSRI_CACHE_LINE / sizeof(double)) };
    (void)tsri_loop_visit(&r->outer, list_tile, &s);
    const size_t blocks = (size_t)s.n, heads = tsri_round_up(blocks * sizeof(shared_block), TSRI_CACHE_LINE);
    const size_t words = TSRI_STATE_WORDS * (size_t)s.width, each = words * (size_t)(r->parts + 2);
    const size_t bytes = heads + blocks * each * sizeof(double);
    char *memory = tsri_scratch(bytes);
    TSRI_CHECK(memory, TSR_ENOMEM, "%s: no memory for %zu bytes of partial results",
               tsr_op_get_info(r->op)->name, bytes);
    s.blocks = (shared_block *)(void *)memory;
    s.n = 0;
    (void)tsri_loop_visit(&r->outer, list_tile, &s);
    for (int64_t i = 0; i < s.n; i++) {
        shared_block *b = &s.blocks[i];
        double *own = (double *)(void *)(memory + heads) + (size_t)i * each;
        b->g = tsri_states_in(own, b->b.width);
        b->k = tsri_states_in(own + words, b->b.width);
        b->words = own + 2 * words;
        tsri_states_plain(&b->k, r->kind[0], b->b.width);
    }
    tsr_status status = TSR_OK;
    for (; s.pass < r->passes && status == TSR_OK; s.pass++) {
        status = tsri_parallel_for(s.n * r->parts, 1, accumulate_parts, &s);
        if (status == TSR_OK) status = tsri_parallel_for(s.n * slices_of(&s), 1, merge_parts, &s);
    }
    tsri_free(memory, bytes);
    return status;
}

/* The op --------------------------------------------------------------------------------- */

/* All of a small contiguous tensor, without a nest. */
static bool reduce_small(tsri_reduction *r, const tsr_tensor *x, char *z)
{
    double words[2 * TSRI_STATE_WORDS] = { 0 };  /* the initial value of sums */
    tsri_states g = tsri_states_in(words, 1), k = tsri_states_in(words + TSRI_STATE_WORDS, 1);
    r->count = 1;
    for (int d = 0; d < x->ndim && r->count <= SMALL; d++)
        r->count = tsri_mul_wrapping(r->count, x->shape[d]);
    if (r->widen || r->count > SMALL || !tsri_is_packed(&x->desc)) return false;
    const tsri_strip s = { .x = x->data, .n = r->count, .width = 1, .by_runs = true, .least = r->least,
                           .size = r->size, .flip = r->flip };
    tsri_states_plain(&k, r->kind[0], 1);
    for (int pass = 0; pass < r->passes; pass++) {
        if (pass == 1) tsri_states_constants(&k, &g, r, 1);
        if (pass > 0 || r->kind[0] != TSRI_ACC_SUM) tsri_states_begin(&g, r->kind[pass], r->numbers, 1);
        if (s.n > 0) r->accumulate[pass](&g, &s, &k);
    }
    tsri_states_finish(r, z, 0, 1, &g, &k);
    return !tsri_scaled_needed(r, z, 0, 1);
}

/* The sum of n contiguous elements of f32 or f64. */
static double add_tiny(const tsr_tensor *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n && x->dtype == TSR_F32; i++) sum += (double)((const float *)x->data)[i];
    for (int64_t i = 0; i < n && x->dtype == TSR_F64; i++) sum += ((const double *)x->data)[i];
    return sum;
}

/* The same for the usual sums and extremes of floats, without a plan: on small tensors the overhead of the
 * call dominates. */
bool tsri_cpu_reduce_row(tsr_op_kind kind, int64_t n, tsr_tensor *out, const tsr_tensor *x)
{
    const bool sum = kind == TSR_OP_SUM || kind == TSR_OP_MEAN, min = kind == TSR_OP_MIN;
    double best = sum ? 0 : -INFINITY, rest = 0, v;
    if (!(sum || min || kind == TSR_OP_MAX) || (x->dtype != TSR_F32 && x->dtype != TSR_F64) || n > SMALL)
        return false;
    if (sum && n <= TINY) {
        best = add_tiny(x, n);
    } else {
        tsri_states g = { .f = { &best, &rest, NULL, NULL } };
        const tsri_strip s = { .x = x->data, .n = n, .width = 1, .by_runs = true, .least = min };
        tsri_cpu_kernels_get()->accumulate[sum ? TSRI_ACC_SUM : TSRI_ACC_LARGEST][x->dtype](&g, &s, NULL);
    }
    if (sum) v = tsri_with_error(best, rest) / (kind == TSR_OP_MEAN ? (double)n : 1);
    else     v = rest != 0 ? (double)NAN : min ? -best : best;
    if (sum && x->dtype == TSR_F64 && v - v != 0) return false;  /* see reduce_scaled.c */
    if (x->dtype == TSR_F32) *(float *)out->data = (float)v;
    else                     *(double *)out->data = v;
    return true;
}

/* The same for an op that has not been checked. */
static bool reduce_small_floats(const tsr_op *op)
{
    const tsr_tensor *x = op->in[0];
    int64_t n = 1;
    for (int d = 0; d < x->ndim && n <= SMALL; d++) n = x->shape[d] <= SMALL ? n * x->shape[d] : SMALL + 1;
    return n > 0 && n <= SMALL && tsri_is_packed(&x->desc) && tsri_cpu_reduce_row(op->kind, n, op->out[0], x);
}

static tsr_status reduce_general(tsri_reduction *r, const tsr_tensor *x, const tsr_tensor *z,
                              const tsr_reduce_params *params)
{
    tsri_build_outer(&r->outer, z, x, params->axes, params->keepdims);
    if (tsri_loop_count(&r->outer) == 0) return TSR_OK;
    build_reduced(r, x, params->axes);
    r->by_columns = is_better_by_columns(r);
    /* Kernels for short floats pay only on long runs. */
    if (r->bytes == 2 && !r->by_columns && innermost(&r->reduced).n < NARROW)
        (void)find_kernels(r, x->dtype, true);
    choose_join(r);
    choose_parts(r);
    tsri_reduce_short_plan(r, x->dtype);
    if (r->parts > 1) return run_parts(r);
    const int64_t each = tsri_loop_count(&r->reduced) * (r->joined > 1 ? r->side.n : 1);
    const int64_t cost = 1 + (int64_t)tsr_op_get_info(r->op)->flops / 2;
    /* Kernels that compare bits take as long as their bytes. */
    const int64_t work = r->reduce_short && r->any_column ? r->bytes : TSRI_WORK_READ * cost;
    const int64_t group = least(TSRI_SHORT_GROUP, innermost(&r->outer).n);
    const tsri_kernel kernel = { .fn = reduce_tile, .params = r,
                                 .cols = { .least = r->reduce_short ? group : 0 } };
    return tsri_loop_run_parallel(&r->outer, &kernel,
                                  tsri_grain((double)each * (double)work + 8 * TSRI_WORK_READ));
}

tsr_status tsri_cpu_reduce(const tsr_op *op)
{
    tsri_reduction r;
    const tsr_tensor *x = op->in[0], *z = op->out[0];
    const tsr_reduce_params *params = op->params;
    const bool all = params->axes == ((uint32_t)1 << x->ndim) - 1;
    if (all && reduce_small_floats(op)) return TSR_OK;
    TSRI_CHECK(describe(&r, op), TSR_EUNSUPPORTED, "%s: there are no kernels for %s",
               tsr_op_get_info(op->kind)->name, TSRI_DESC(&x->desc));
    if (all && reduce_small(&r, x, z->data)) return TSR_OK;
    return reduce_general(&r, x, z, params);
}

#else

/* See reduce.c. */
tsr_status tsri_cpu_reduce(const tsr_op *op) { (void)op; return TSR_EUNSUPPORTED; }
bool tsri_cpu_reduce_row(tsr_op_kind kind, int64_t n, tsr_tensor *out, const tsr_tensor *x)
{
    (void)kind; (void)n; (void)out; (void)x;
    return false;
}

#endif

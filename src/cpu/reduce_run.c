/* reduce_run.c - a reduction: op -> passes -> strips, split over threads.
 *
 *     kept nest       a loop over the outputs: the result, and x where its elements begin
 *     reduced nest    a loop over the elements of one output, relative to that
 *     block           outputs that are collected together: one, or up to TSRI_SIDE side by side
 *     part            a share of the reduced nest, where there are too few blocks to share out
 *
 * Nests, blocks' kind and parts follow from shape and strides alone, and parts
 * are put together in order: so the result's bits do not depend on the threads.
 *
 * LIMIT: argmax and argmin meet elements in the order of their indices, whatever
 * lies next to what in memory.
 */
#include "cpu_run.h"
#include "core/alloc.h"
#include "core/dtype_int.h"
#include "core/loop.h"
#include "kernels.h"
#include "tessera/threads.h"

#ifndef TSR_FREESTANDING

#include <math.h>

enum {
    PART    = 32768, /* elements that are worth waking a thread for */
    PARTS   = 64,    /* most parts of a nest; blocks that are enough to share out */
    LONGEST = 4096   /* elements of a strip: any and all stop between strips */
};

/* Dtypes that are collected alike. */
typedef enum numbers { REAL, COMPLEX, SIGNED, UNSIGNED } numbers;

typedef struct plan {
    tsri_collect kind[2];
    int         count;
} plan;

typedef struct job {
    tsr_op_kind      op;
    plan             passes;
    tsri_collect_fn   collect[2];
    tsri_narrow_fn   narrow;    /* what finish() makes, to the result */
    numbers          number;    /* what x's are, and their bytes */
    int64_t          size;
    bool             complex_result;
    double           p;         /* params->a */
    int64_t          count;     /* elements that come to one output */
    int64_t          times;     /* how often each of the reduced nest's counts */
    tsri_loop        kept, reduced;
    int64_t          start;     /* bytes from an output's first element to where the reduced nest begins */
    bool             by_columns;
    int              parts, part_dim;
    tsri_collected   *partial;   /* one for each part, where there are several */
} job;

static numbers number_of(tsr_dtype dtype)
{
    switch (tsr_dtype_kind(dtype)) {
    case TSR_FLOATING: return REAL;
    case TSR_COMPLEX:  return COMPLEX;
    case TSR_SIGNED:   return SIGNED;
    default:           return UNSIGNED;
    }
}

static bool is_arg(tsr_op_kind op) { return op == TSR_OP_ARGMAX || op == TSR_OP_ARGMIN; }

/* States --------------------------------------------------------------------------- */

static void set_all(tsri_collected *g, int slot, int64_t width, double value)
{
    for (int64_t i = 0; i < width; i++) g->f[slot][i] = value;
}

/* The integer of x's dtype that loses against all others. */
static uint64_t worst_integer(const job *j, bool max)
{
    const int unused = 64 - 8 * (int)j->size;
    if (j->number == SIGNED) return (uint64_t)(max ? INT64_MIN >> unused : INT64_MAX >> unused);
    return max ? 0 : UINT64_MAX >> unused;
}

/* Nothing collected yet. */
static void begin(tsri_collected *g, tsri_collect kind, const job *j, int64_t width)
{
    const bool max = kind == TSRI_COLLECT_MAX || kind == TSRI_COLLECT_ABS_MAX;
    const bool integer = j->number == SIGNED || j->number == UNSIGNED;
    for (int slot = 0; slot < 4; slot++) set_all(g, slot, width, 0);
    switch (kind) {
    case TSRI_COLLECT_PROD:
        for (int64_t i = 0; i < width; i++)
            if (integer) g->u[0][i] = 1;
            else         g->f[0][i] = 1;
        break;
    case TSRI_COLLECT_MAX:
    case TSRI_COLLECT_MIN:
        for (int64_t i = 0; i < width; i++)
            if (integer) g->u[0][i] = worst_integer(j, max);
            else         g->f[0][i] = max ? -INFINITY : INFINITY;
        break;
    case TSRI_COLLECT_ABS_MIN:
        set_all(g, 0, width, INFINITY);
        break;
    case TSRI_COLLECT_ARGMAX:
    case TSRI_COLLECT_ARGMIN:
        for (int64_t i = 0; i < width; i++) g->i[1][i] = -1;
        break;
    default: break;
    }
}

/* Does b, which comes after a, take its place? */
static bool beats(const tsri_collected *b, const tsri_collected *a, int64_t i, numbers number, bool max)
{
    if (number == SIGNED)   return max ? b->i[0][i] > a->i[0][i] : b->i[0][i] < a->i[0][i];
    if (number == UNSIGNED) return max ? b->u[0][i] > a->u[0][i] : b->u[0][i] < a->u[0][i];
    const double x = b->f[0][i], y = a->f[0][i];
    return (max ? x > y : x < y) || (x != x && y == y);
}

static void merge_sums(tsri_collected *a, const tsri_collected *b, numbers number, int64_t i)
{
    if (number == SIGNED || number == UNSIGNED) {
        a->u[0][i] += b->u[0][i];
        return;
    }
    for (int slot = 0; slot < 4; slot += 2) {
        tsri_add_exactly(&a->f[slot][i], &a->f[slot + 1][i], b->f[slot][i]);
        a->f[slot + 1][i] += b->f[slot + 1][i];
    }
}

static void merge_products(tsri_collected *a, const tsri_collected *b, numbers number, int64_t i)
{
    if (number == REAL)         a->f[0][i] *= b->f[0][i];
    else if (number == COMPLEX) tsri_multiply(&a->f[0][i], &a->f[2][i], b->f[0][i], b->f[2][i]);
    else                        a->u[0][i] *= b->u[0][i];
}

/* a takes in what b collected of the part that comes next. */
static void merge(tsri_collected *a, const tsri_collected *b, tsri_collect kind, numbers number, int64_t width)
{
    const bool max = kind == TSRI_COLLECT_MAX || kind == TSRI_COLLECT_ARGMAX || kind == TSRI_COLLECT_ABS_MAX;
    for (int64_t i = 0; i < width; i++)
        switch (kind) {
        case TSRI_COLLECT_PROD: merge_products(a, b, number, i); break;
        case TSRI_COLLECT_NONZERO:
        case TSRI_COLLECT_ZERO: a->i[0][i] += b->i[0][i]; break;
        case TSRI_COLLECT_MAX:
        case TSRI_COLLECT_MIN:
        case TSRI_COLLECT_ABS_MAX:
        case TSRI_COLLECT_ABS_MIN:
            if (beats(b, a, i, number, max)) a->u[0][i] = b->u[0][i];
            if (number == REAL || number == COMPLEX) a->f[1][i] += b->f[1][i];
            break;
        case TSRI_COLLECT_ARGMAX:
        case TSRI_COLLECT_ARGMIN:
            if (a->i[1][i] >= 0 && !beats(b, a, i, number, max)) break;
            a->u[0][i] = b->u[0][i];
            a->i[1][i] = b->i[1][i];
            break;
        default: merge_sums(a, b, number, i);
        }
}

static void repeat_sum(double *sum, double *lost, double times)
{
    const double product = *sum * times;
    *lost = *lost * times + fma(*sum, times, -product);
    *sum = product;
}

/* Every element collected was met that many times. */
static void repeat(tsri_collected *g, tsri_collect kind, numbers number, int64_t width, int64_t times)
{
    if (times == 1 || kind == TSRI_COLLECT_MAX || kind == TSRI_COLLECT_MIN || kind == TSRI_COLLECT_ABS_MAX ||
        kind == TSRI_COLLECT_ABS_MIN)
        return;
    const bool counts = kind == TSRI_COLLECT_NONZERO || kind == TSRI_COLLECT_ZERO;
    for (int64_t i = 0; i < width; i++)
        if (counts || number == SIGNED || number == UNSIGNED) g->u[0][i] *= (uint64_t)times;
        else for (int slot = 0; slot < 4; slot += 2) repeat_sum(&g->f[slot][i], &g->f[slot + 1][i], (double)times);
}

/* Between passes, and after ----------------------------------------------------------- */

static double sum_of(const tsri_collected *g, int slot, int64_t i)
{
    return tsri_with_error(g->f[slot][i], g->f[slot + 1][i]);
}

static double extreme_of(const tsri_collected *g, int64_t i) { return g->f[1][i] != 0 ? NAN : g->f[0][i]; }

/* The mean, and what rounding took from it, which would be seen as a deviation. */
static void set_mean(tsri_collected *k, const tsri_collected *g, int slot, int64_t i, double n)
{
    const double mean = sum_of(g, slot, i) / n;
    k->f[slot][i] = mean;
    k->f[slot + 1][i] = (fma(-mean, n, g->f[slot][i]) + g->f[slot + 1][i]) / n;
}

/* A power of two that brings x near 1. */
static double scale_of(double x)
{
    const int e = x > 0 && x < INFINITY ? ilogb(x) : 0;
    return ldexp(1, e > 1000 ? -1000 : e < -1000 ? 1000 : -e);
}

/* What the second pass needs of the first. k->f[1] keeps the extreme. */
static void set_constants(tsri_collected *k, const tsri_collected *g, const job *j, int64_t width)
{
    for (int64_t i = 0; i < width; i++) {
        if (j->op == TSR_OP_VAR || j->op == TSR_OP_STD) {
            set_mean(k, g, 0, i, (double)j->count);
            set_mean(k, g, 2, i, (double)j->count);
            continue;
        }
        const double m = extreme_of(g, i);
        const bool plain = m - m == 0;
        k->f[1][i] = m;
        k->f[3][i] = j->p;
        if (j->op == TSR_OP_LOGSUMEXP) k->f[0][i] = plain ? m : 0;
        else if (j->p == 2)            k->f[0][i] = scale_of(m);
        else                           k->f[0][i] = plain && m != 0 ? m : 1;
    }
}

static double variance(const job *j, const tsri_collected *g, int64_t i)
{
    const double over = (double)j->count - j->p;
    return j->count > 0 && over > 0 ? sum_of(g, 0, i) / over : NAN;
}

static double norm(const job *j, const tsri_collected *g, const tsri_collected *k, int64_t i)
{
    if (j->count == 0) return 0;
    if (j->p == 0) return (double)g->i[0][i];
    if (j->p == 1) return sum_of(g, 0, i);
    if (isinf(j->p)) return extreme_of(g, i);
    const double m = k->f[1][i];
    if (j->passes.count == 2 && (m == 0 || m - m != 0)) return m;
    if (j->p == 2) return sqrt(sum_of(g, 0, i)) / k->f[0][i];
    return m * pow(sum_of(g, 0, i), 1 / j->p);
}

static double real_result(const job *j, const tsri_collected *g, const tsri_collected *k, int64_t i)
{
    switch (j->op) {
    case TSR_OP_SUM:  return sum_of(g, 0, i);
    case TSR_OP_MEAN: return sum_of(g, 0, i) / (double)j->count;
    case TSR_OP_PROD: return g->f[0][i];
    case TSR_OP_VAR:  return variance(j, g, i);
    case TSR_OP_STD:  return sqrt(variance(j, g, i));
    case TSR_OP_NORM: return norm(j, g, k, i);
    case TSR_OP_LOGSUMEXP: return k->f[1][i] - k->f[1][i] == 0 ? k->f[1][i] + log(sum_of(g, 0, i)) : k->f[1][i];
    default: return extreme_of(g, i);
    }
}

static tsr_c128 complex_result(const job *j, const tsri_collected *g, int64_t i)
{
    if (j->op == TSR_OP_PROD) return (tsr_c128){ g->f[0][i], g->f[2][i] };
    const double n = j->op == TSR_OP_MEAN ? (double)j->count : 1;
    return (tsr_c128){ sum_of(g, 0, i) / n, sum_of(g, 2, i) / n };
}

/* The results of a block. */
static void finish(const job *j, char *z, int64_t step, int64_t width, tsri_collected *g, const tsri_collected *k)
{
    if (is_arg(j->op)) {
        j->narrow(z, step, g->i[1], width);
    } else if (j->op == TSR_OP_ANY || j->op == TSR_OP_ALL) {
        for (int64_t i = 0; i < width; i++) g->i[0][i] = (g->i[0][i] > 0) == (j->op == TSR_OP_ANY);
        j->narrow(z, step, g->i[0], width);
    } else if (j->op == TSR_OP_COUNT_NONZERO || j->number == SIGNED || j->number == UNSIGNED) {
        j->narrow(z, step, g->i[0], width);
    } else if (j->complex_result) {
        tsr_c128 wide[TSRI_SIDE];
        for (int64_t i = 0; i < width; i++) wide[i] = complex_result(j, g, i);
        j->narrow(z, step, wide, width);
    } else {
        double wide[TSRI_SIDE];
        for (int64_t i = 0; i < width; i++) wide[i] = real_result(j, g, k, i);
        j->narrow(z, step, wide, width);
    }
}

/* Walking ---------------------------------------------------------------------------- */

typedef struct walk {
    tsri_collect_fn       collect;
    tsri_collected       *g;
    const tsri_collected *k;
    tsri_strip           strip;
    bool                 stops;  /* once something was counted */
} walk;

static bool collect_tile(const tsri_tile *t, void *context)
{
    walk *w = context;
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->cols; c += LONGEST) {
            w->strip.x = t->ptr[0] + r * t->row_step[0] + c * t->col_step[0];
            w->strip.n = t->cols - c < LONGEST ? t->cols - c : LONGEST;
            w->strip.step = t->col_step[0];
            w->collect(w->g, &w->strip, w->k);
            w->strip.at += w->strip.n;
            if (w->stops && w->g->i[0][0] > 0) return false;
        }
    return true;
}

/* A block of outputs: what walks over it. */
typedef struct block {
    const job           *job;
    const tsri_collected *k;
    int                  pass;
    char                *x;
    int64_t              width, across;
} block;

static void collect_nest(tsri_collected *g, const block *b, const tsri_loop *nest, int64_t at)
{
    const job *j = b->job;
    const bool lone = !j->by_columns;
    walk w = { j->collect[b->pass], g, b->k, { .width = b->width, .across = b->across, .at = at, .lone = lone },
               lone && (j->op == TSR_OP_ANY || j->op == TSR_OP_ALL) };
    begin(g, j->passes.kind[b->pass], j, b->width);
    (void)tsri_loop_visit(nest, collect_tile, &w);
}

static tsr_status collect_parts(void *context, int64_t first, int64_t end)
{
    const block *b = context;
    const job *j = b->job;
    for (int64_t p = first; p < end; p++) {
        tsri_loop nest = j->reduced;
        tsri_dim *dim = &nest.dim[j->part_dim];
        const int64_t from = dim->n * p / j->parts, to = dim->n * (p + 1) / j->parts;
        const int64_t each = tsri_loop_count(&nest) / dim->n;
        nest.base[0] = b->x + j->start + from * dim->step[0];
        dim->n = to - from;
        collect_nest(&j->partial[p], b, &nest, from * each);
    }
    return TSR_OK;
}

static tsr_status collect_block(tsri_collected *g, const block *b, tsri_loop *nest)
{
    const job *j = b->job;
    const tsri_collect kind = j->passes.kind[b->pass];
    if (j->parts == 1) {
        nest->base[0] = b->x + j->start;
        collect_nest(g, b, nest, 0);
    } else {
        TSRI_TRY(tsr_parallel_for(j->parts, 1, collect_parts, (void *)(uintptr_t)b));
        *g = j->partial[0];
        for (int p = 1; p < j->parts; p++) merge(g, &j->partial[p], kind, j->number, b->width);
    }
    repeat(g, kind, j->number, b->width, j->times);
    return TSR_OK;
}

static tsr_status reduce_block(block b, tsri_loop *nest, char *z, int64_t step)
{
    tsri_collected g, k;
    set_all(&k, 0, b.width, 1);
    for (int slot = 1; slot < 4; slot++) set_all(&k, slot, b.width, 0);
    b.k = &k;
    for (b.pass = 0; b.pass < b.job->passes.count; b.pass++) {
        if (b.pass == 1) set_constants(&k, &g, b.job, b.width);
        TSRI_TRY(collect_block(&g, &b, nest));
    }
    finish(b.job, z, step, b.width, &g, &k);
    return TSR_OK;
}

static tsr_status reduce_outputs(const tsri_tile *t, const job *j)
{
    tsri_loop nest = j->reduced;
    const int64_t side = j->by_columns ? TSRI_SIDE : 1;
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->cols; c += side) {
            const block b = { .job = j, .x = t->ptr[1] + r * t->row_step[1] + c * t->col_step[1],
                              .width = t->cols - c < side ? t->cols - c : side, .across = t->col_step[1] };
            TSRI_TRY(reduce_block(b, &nest, t->ptr[0] + r * t->row_step[0] + c * t->col_step[0], t->col_step[0]));
        }
    return TSR_OK;
}

/* Blocks that threads share: none has parts, so none can fail. */
static void reduce_tile(const tsri_tile *t, const void *params) { (void)reduce_outputs(t, params); }

typedef struct in_turn {
    const job *job;
    tsr_status status;
} in_turn;

/* Blocks one after another, each shared by the threads. */
static bool reduce_tile_in_turn(const tsri_tile *t, void *context)
{
    in_turn *c = context;
    c->status = reduce_outputs(t, c->job);
    return c->status == TSR_OK;
}

/* Planning ----------------------------------------------------------------------------- */

static plan norm_passes(double p, tsr_dtype dtype)
{
    const bool wide = dtype == TSR_F64 || dtype == TSR_C128;  /* the squares of the others fit f64 */
    if (p == 0) return (plan){ { TSRI_COLLECT_NONZERO }, 1 };
    if (p == 1) return (plan){ { TSRI_COLLECT_ABS_SUM }, 1 };
    if (isinf(p)) return (plan){ { p > 0 ? TSRI_COLLECT_ABS_MAX : TSRI_COLLECT_ABS_MIN }, 1 };
    if (p == 2 && !wide) return (plan){ { TSRI_COLLECT_SQUARES }, 1 };
    return (plan){ { p > 0 ? TSRI_COLLECT_ABS_MAX : TSRI_COLLECT_ABS_MIN,
                       p == 2 ? TSRI_COLLECT_SQUARES : TSRI_COLLECT_POWERS }, 2 };
}

/* No passes: not a reduction. */
static plan passes_of(const tsr_op *op)
{
    const tsr_reduce_params *params = op->params;
    switch (op->kind) {
    case TSR_OP_SUM:
    case TSR_OP_MEAN:   return (plan){ { TSRI_COLLECT_SUM }, 1 };
    case TSR_OP_PROD:   return (plan){ { TSRI_COLLECT_PROD }, 1 };
    case TSR_OP_VAR:
    case TSR_OP_STD:    return (plan){ { TSRI_COLLECT_SUM, TSRI_COLLECT_DEVIATIONS }, 2 };
    case TSR_OP_MAX:    return (plan){ { TSRI_COLLECT_MAX }, 1 };
    case TSR_OP_MIN:    return (plan){ { TSRI_COLLECT_MIN }, 1 };
    case TSR_OP_ANY:
    case TSR_OP_COUNT_NONZERO: return (plan){ { TSRI_COLLECT_NONZERO }, 1 };
    case TSR_OP_ALL:    return (plan){ { TSRI_COLLECT_ZERO }, 1 };
    case TSR_OP_ARGMAX: return (plan){ { TSRI_COLLECT_ARGMAX }, 1 };
    case TSR_OP_ARGMIN: return (plan){ { TSRI_COLLECT_ARGMIN }, 1 };
    case TSR_OP_LOGSUMEXP: return (plan){ { TSRI_COLLECT_MAX, TSRI_COLLECT_EXPS }, 2 };
    case TSR_OP_NORM:   return norm_passes(params->a, op->in[0]->dtype);
    default:            return (plan){ { 0 }, 0 };
    }
}

/* The loop over all dims but those in `axes`, of the result and x. */
static void build_kept(tsri_loop *loop, const tsr_tensor *z, const tsr_tensor *x, uint32_t axes, bool keepdims)
{
    int64_t shape[TSR_MAX_NDIM], stride[2][TSR_MAX_NDIM];
    int n = 0, at = 0;
    for (int d = 0; d < x->ndim; d++) {
        if (axes >> d & 1) {
            at += keepdims;
            continue;
        }
        shape[n] = x->shape[d];
        stride[0][n] = z->stride[at++];
        stride[1][n++] = x->stride[d];
    }
    const tsri_operand operands[] = { { z->data, stride[0], tsri_dtype_size(z->dtype) },
                                      { x->data, stride[1], tsri_dtype_size(x->dtype) } };
    tsri_loop_build(loop, n, shape, 2, operands, 1);
}

/* The loop over the dims in `axes`, of x. A dim that repeats one element is walked once, if the
 * kind of collecting can make up for it. */
static void build_reduced(job *j, const tsr_tensor *x, uint32_t axes)
{
    int64_t shape[TSR_MAX_NDIM], stride[TSR_MAX_NDIM];
    const bool fold = !is_arg(j->op) && j->op != TSR_OP_PROD;
    int n = 0;
    j->count = j->times = 1;
    for (int d = 0; d < x->ndim; d++) {
        if (!(axes >> d & 1)) continue;
        j->count *= x->shape[d];
        if (fold && x->stride[d] == 0 && x->shape[d] > 0) {
            j->times *= x->shape[d];
            continue;
        }
        shape[n] = x->shape[d];
        stride[n++] = x->stride[d];
    }
    const tsri_operand operand = { x->data, stride, tsri_dtype_size(x->dtype) };
    tsri_loop_build(&j->reduced, n, shape, 1, &operand, is_arg(j->op) ? TSRI_ORDERED : 0);
    j->start = j->reduced.base[0] - (char *)x->data;
}

static int64_t length(int64_t step) { return step < 0 ? -step : step; }

/* Are outputs side by side nearer in memory than the elements of one, or those few? */
static bool better_by_columns(const job *j)
{
    static const tsri_dim once = { .n = 1 };
    const tsri_dim *along = j->reduced.ndim ? &j->reduced.dim[j->reduced.ndim - 1] : &once;
    const tsri_dim *side = j->kept.ndim ? &j->kept.dim[j->kept.ndim - 1] : &once;
    const int64_t step = length(along->step[0]);
    if (side->n < 2) return false;
    if (along->n == 1 || tsri_loop_count(&j->reduced) < 16) return side->n >= 16;
    return length(side->step[1]) < step && (side->n >= 8 || step > 64);
}

/* How many blocks there are. */
static int64_t count_blocks(const job *j)
{
    const int64_t outputs = tsri_loop_count(&j->kept);
    if (!j->by_columns) return outputs;
    const int64_t side = j->kept.dim[j->kept.ndim - 1].n;
    return outputs / side * ((side + TSRI_SIDE - 1) / TSRI_SIDE);
}

static void choose_parts(job *j)
{
    const int64_t elements = tsri_loop_count(&j->reduced);
    const int64_t wanted = elements / PART < PARTS ? elements / PART : PARTS;
    j->parts = 1;
    j->part_dim = 0;
    if (wanted < 2 || count_blocks(j) >= PARTS) return;
    /* Indices are counted along the outermost dim; otherwise a longer one may do. */
    for (int d = 1; d < j->reduced.ndim && !is_arg(j->op) && j->reduced.dim[j->part_dim].n < wanted; d++)
        if (j->reduced.dim[d].n > j->reduced.dim[j->part_dim].n) j->part_dim = d;
    const int64_t n = j->reduced.dim[j->part_dim].n;
    j->parts = (int)(n < wanted ? n : wanted);
}

static tsr_status run_in_turn(job *j)
{
    const size_t bytes = sizeof(tsri_collected) * (size_t)j->parts;
    in_turn context = { j, TSR_OK };
    j->partial = tsri_scratch(bytes);
    TSRI_CHECK(j->partial, TSR_ENOMEM, "%s: no memory for %zu bytes of partial results",
               tsr_op_get_info(j->op)->name, bytes);
    (void)tsri_loop_visit(&j->kept, reduce_tile_in_turn, &context);
    tsri_free(j->partial, bytes);
    return context.status;
}

static tsri_wide wide_of_result(const job *j)
{
    if (is_arg(j->op) || j->op == TSR_OP_ANY || j->op == TSR_OP_ALL || j->op == TSR_OP_COUNT_NONZERO)
        return TSRI_WIDE_I64;
    if (j->number == SIGNED) return TSRI_WIDE_I64;
    if (j->number == UNSIGNED) return TSRI_WIDE_U64;
    return j->complex_result ? TSRI_WIDE_C128 : TSRI_WIDE_F64;
}

bool tsri_cpu_has_reduce(const tsr_op *op)
{
    if (op->nin != 1 || !op->params) return false;
    const tsri_cpu_kernels *k = tsri_cpu_kernels_get();
    const plan passes = passes_of(op);
    for (int i = 0; i < passes.count; i++)
        if (!k->collect[passes.kind[i]][op->in[0]->dtype]) return false;
    return passes.count > 0;
}

tsr_status tsri_cpu_reduce(const tsr_op *op)
{
    job j = { .op = op->kind, .passes = passes_of(op) };
    const tsr_tensor *x = op->in[0];
    const tsr_tensor *z = op->out[0];
    const tsr_reduce_params *params = op->params;
    const tsri_cpu_kernels *k = tsri_cpu_kernels_get();
    for (int i = 0; i < j.passes.count; i++) j.collect[i] = k->collect[j.passes.kind[i]][x->dtype];
    j.p = params->a;
    j.number = number_of(x->dtype);
    j.size = tsri_dtype_size(x->dtype);
    j.complex_result = tsr_dtype_kind(z->dtype) == TSR_COMPLEX;
    j.narrow = k->narrow[wide_of_result(&j)][z->dtype];
    build_kept(&j.kept, z, x, params->axes, params->keepdims);
    if (tsri_loop_count(&j.kept) == 0) return TSR_OK;
    build_reduced(&j, x, params->axes);
    j.by_columns = better_by_columns(&j);
    choose_parts(&j);
    if (j.parts > 1) return run_in_turn(&j);
    const int64_t cost = tsri_loop_count(&j.reduced) * (1 + (int64_t)tsr_op_get_info(j.op)->flops / 2) + 8;
    return tsri_loop_run_parallel(&j.kept, reduce_tile, &j, cost < PART ? PART / cost : 1);
}

/* Scans --------------------------------------------------------------------------------- */

typedef struct scan_job {
    tsri_scan_fn scan;
    tsri_lines   lines;
    int64_t      side;
} scan_job;

static void scan_tile(const tsri_tile *t, const void *params)
{
    const scan_job *j = params;
    tsri_lines lines = j->lines;
    lines.across[0] = t->col_step[0];
    lines.across[1] = t->col_step[1];
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->cols; c += j->side) {
            lines.z = t->ptr[0] + r * t->row_step[0] + c * t->col_step[0];
            lines.x = t->ptr[1] + r * t->row_step[1] + c * t->col_step[1];
            lines.width = t->cols - c < j->side ? t->cols - c : j->side;
            j->scan(&lines);
        }
}

static tsri_scan_fn scan_kernel(const tsr_op *op)
{
    const tsri_scan kind = op->kind == TSR_OP_CUMSUM ? TSRI_SCAN_SUM : op->kind == TSR_OP_CUMPROD ? TSRI_SCAN_PROD
                                                     : op->kind == TSR_OP_CUMMAX  ? TSRI_SCAN_MAX
                                                                                  : TSRI_SCAN_COUNT;
    if (kind == TSRI_SCAN_COUNT || op->nin != 1 || !op->params) return NULL;
    return tsri_cpu_kernels_get()->scan[kind][op->in[0]->dtype];
}

bool tsri_cpu_has_scan(const tsr_op *op) { return scan_kernel(op) != NULL; }

tsr_status tsri_cpu_scan(const tsr_op *op)
{
    tsri_loop kept;
    const tsr_tensor *x = op->in[0];
    const tsr_tensor *z = op->out[0];
    const tsr_reduce_params *params = op->params;
    const int axis = __builtin_ctz(params->axes);
    scan_job j = { scan_kernel(op), { .n = x->shape[axis] }, 1 };
    if (j.lines.n > 1) {  /* the stride of a dim of size 1 may be any number */
        j.lines.step[0] = z->stride[axis] * tsri_dtype_size(z->dtype);
        j.lines.step[1] = x->stride[axis] * tsri_dtype_size(x->dtype);
    }
    build_kept(&kept, z, x, params->axes, true);
    if (kept.ndim && length(kept.dim[kept.ndim - 1].step[1]) < length(j.lines.step[1])) j.side = TSRI_SIDE;
    const int64_t cost = 2 * j.lines.n + 8;
    return tsri_loop_run_parallel(&kept, scan_tile, &j, cost < PART ? PART / cost : 1);
}

#else

/* See reduce.c. */
bool tsri_cpu_has_reduce(const tsr_op *op) { (void)op; return false; }
bool tsri_cpu_has_scan(const tsr_op *op) { (void)op; return false; }
tsr_status tsri_cpu_reduce(const tsr_op *op) { (void)op; return TSR_EUNSUPPORTED; }
tsr_status tsri_cpu_scan(const tsr_op *op) { (void)op; return TSR_EUNSUPPORTED; }

#endif

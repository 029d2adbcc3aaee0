/* attention.c - attention on the CPU, without ever holding all scores.
 *
 * A task is a block of rows that look at one head of k and v: rows of all the heads of q
 * that share it, one after the other. It walks the keys in blocks, and keeps for each row
 * the largest score so far, the sum of the weights relative to it, and their mixture of
 * v. When a block has a larger score, sum and mixture are scaled down to it (online softmax):
 *
 *     block of keys        packed as panels; v is packed only where micro-kernels cannot read it
 *       group of rows      whose scores stay in the L1 cache
 *         scores           micro-kernels of gemm.h, on rows of q and panels of k
 *         weights          row by row; masked scores are -infinity
 *         mixture          micro-kernels on rows of weights and v
 *
 * Keys that no row of a task, or of a micro-tile, sees are skipped. With few rows (a decoding step) keys are
 * not packed: they are read only once. Tasks do not depend on each other
 * or on who does them, so every number of threads gives the same bits.
 *
 * LIMIT: one row of one head alone is done by one thread. */
#include "attention.h"
#include "core/alloc.h"
#include "core/desc_int.h"
#include "core/mem.h"
#include "core/memory_int.h"
#include "core/same_exp.h"
#include "core/sizes.h"
#include "kernels.h"
#include "core/threads_int.h"

enum {
    ROWS = 512, KEYS = TSRI_GEMM_BLOCK, /* of a block, at most */
    WIDTH = KEYS + TSRI_SCORE_STEP, /* of a row of scores: padded, to use different sets of a cache */
    GROUP = 24,          /* rows whose scores stay in cache: whole micro-tiles */
    SIDE = 8,            /* rows that become weights together */
    UNPACKED_ROWS = 4,   /* rows up to which packing keys does not pay */
    LANES = 8            /* partial sums and maxima of a row */
};

static const int64_t MOST_BYTES = INT64_C(1) << 46;  /* of scratch; no machine has more */

static int64_t whole(int64_t n, int64_t size) { return pieces(n, size) * size; }

/* One head's matrix in memory; steps in bytes. */
typedef struct matrix {
    char   *data;
    int64_t head, row, col;
} matrix;

/* What is true of every task. */
typedef struct attention {
    const tsr_tensor *q, *k, *v, *z;
    tsr_tensor        mask;             /* (..., heads, m, n); data is NULL if there is none */
    int64_t           m, n, d, e;
    int64_t           shared, kv_heads; /* heads of q that look at one of k */
    int64_t           block, blocks;    /* rows of a task, and tasks for each head of k */
    double            early_scale;      /* of q, and of scores: */
    double            late_scale;
    int64_t           mixed;            /* columns of v of a micro-tile */
    bool              causal;
    bool              native;           /* operands have the type of scores */
    bool              pack_v, unpacked_keys;      /* v is packed; keys are not */
    const tsri_cpu_kernels    *kernels;
    const tsri_gemm_kernels       *gemm;
    const tsri_attention_rows *rows;
    const tsri_gemm_dtype     *dtype;   /* of the operands */
    tsri_widen_fn              widen_mask;
    tsri_narrow_fn             narrow;
} attention;

/* Rows of the mixture and of packed values are padded, so that they fall into different sets of a cache. */
static int64_t value_width(const attention *a) { return whole(a->e, 2 * TSRI_SCORE_STEP) + TSRI_SCORE_STEP; }
static int64_t block_rows(const attention *a) { return least(a->shared * a->m, a->block); }
static int64_t block_keys(const attention *a) { return least(a->n, KEYS); }

/* Bytes from one index of a dim to the next; 0 where there is no next. */
static int64_t step_of(const tsr_tensor *t, int dim)
{
    return t->shape[dim] > 1 ? tsri_mul_wrapping(t->stride[dim], tsri_dtype_size(t->dtype)) : 0;
}

/* Batch number b of a tensor, whose last three dims are a head's number and its matrix. */
static matrix matrix_of(const tsr_tensor *t, int64_t b)
{
    const int last = t->ndim - 1;
    matrix x = { t->data, step_of(t, last - 2), step_of(t, last - 1), step_of(t, last) };
    for (int i = last - 3; i >= 0; i--) {
        x.data += b % t->shape[i] * step_of(t, i);
        b /= t->shape[i];
    }
    return x;
}

/* Tasks -------------------------------------------------------------------------------------- */

/* Rows first .. first + rows - 1 of those that share a head. Row r is row r % m of head + r / m. */
typedef struct task {
    const attention *a;
    matrix           q, k, v, z, mask;
    int64_t          head, first, rows;
} task;

static task task_of(const attention *a, int64_t number)
{
    const int64_t block = number % a->blocks, kv_head = number / a->blocks % a->kv_heads;
    const int64_t b = number / a->blocks / a->kv_heads;
    task t = { .a = a, .q = matrix_of(a->q, b), .k = matrix_of(a->k, b), .v = matrix_of(a->v, b),
               .z = matrix_of(a->z, b), .head = kv_head * a->shared, .first = block * a->block };
    t.rows = least(a->shared * a->m - t.first, a->block);
    t.k.data += kv_head * t.k.head;
    t.v.data += kv_head * t.v.head;
    if (a->mask.data) t.mask = matrix_of(&a->mask, b);
    return t;
}

/* Row r of the task in a matrix of q, z or the mask. */
static char *row_at(const task *t, matrix x, int64_t r)
{
    const int64_t row = t->first + r;
    return x.data + (t->head + row / t->a->m) * x.head + row % t->a->m * x.row;
}

/* How many of the keys row r of the task sees at most. */
static int64_t keys_of(const task *t, int64_t r)
{
    const attention *a = t->a;
    return a->causal ? least(most((t->first + r) % a->m + 1 + a->n - a->m, 0), a->n) : a->n;
}

/* Keys first .. first + n - 1, as a task walks them. */
typedef struct keys {
    int64_t first, n;
} keys;

/* Rows first .. first + rows - 1 of a task. */
typedef struct group {
    int64_t first, rows;
} group;

/* How many of the keys any of rows r .. end - 1 sees: the last row of a head sees most. */
static int64_t keys_seen(const task *t, const keys *b, int64_t r, int64_t end)
{
    const attention *a = t->a;
    if (!a->causal) return b->n;
    const bool one_head = (t->first + r) / a->m == (t->first + end - 1) / a->m;
    return least((one_head ? keys_of(t, end - 1) : a->n) - b->first, b->n);
}

/* How many of the keys row r sees. */
static int64_t row_keys(const task *t, int64_t r, const keys *b)
{
    return t->a->causal ? most(least(keys_of(t, r) - b->first, b->n), 0) : b->n;
}

static void prefetch_rows(matrix x, int64_t begin, int64_t end, int64_t bytes)
{
    for (int64_t i = begin; i < end; i++)
        for (int64_t c = 0; c < bytes; c += TSRI_CACHE_LINE) __builtin_prefetch(x.data + i * x.row + c, 0, 2);
}

/* While rows r .. end - 1 become weights, as many keys and values of the next block are prefetched. */
static void prefetch_next(const task *t, const keys *b, int64_t r, int64_t end)
{
    const attention *a = t->a;
    const int64_t size = tsri_dtype_size(a->k->dtype), next = b->first + b->n, n = least(a->n - next, KEYS);
    const int64_t first = next + n * r / t->rows, last = next + n * end / t->rows;
    const int64_t step = tsri_tuning_used->lanes.attention_step;
    if (t->k.col == size && a->d * size <= step) prefetch_rows(t->k, first, last, a->d * size);
    if (t->v.col == size && a->e * size <= step) prefetch_rows(t->v, first, last, a->e * size);
}

/* Micro-kernels ------------------------------------------------------------------------------ */

/* How many of the n columns that are left a micro-tile takes: as many as the widest, except that the last two
 * share them where the last would be narrow. */
static int64_t strip_cols(int64_t widest, int64_t n)
{
    if (n <= widest) return n;
    return n - widest <= widest / 3 ? widest - widest / 3 : widest;
}

static const tsri_gemm_microkernels *microkernels_of(const tsri_gemm_kernels *u, int64_t cols)
{
    const tsri_gemm_microkernels *s = u->microkernels;
    while (s->cols < cols) s++;
    return s;
}

#include "template/isa_suffix.inc"
#define T float
#define NAME(x) ISA(x##_f32)
#define EXP tsri_exp_f32
#define BITS tsri_f32_bits
#define EXPONENT 0x7f800000u
#include "template/attention.inc"

#define T double
#define NAME(x) ISA(x##_f64)
#define EXP tsri_exp_f64
#define BITS tsri_f64_bits
#define EXPONENT 0x7ff0000000000000u
#include "template/attention.inc"

/* The op --------------------------------------------------------------------------------------- */

static tsr_status read_mask(attention *a, const tsr_tensor *mask)
{
    int64_t shape[TSR_MAX_NDIM];
    if (!mask) return TSR_OK;
    for (int i = 0; i < a->q->ndim; i++) shape[i] = a->q->shape[i];
    shape[a->q->ndim - 1] = a->n;
    a->mask = *mask;
    a->widen_mask = a->kernels->widen[mask->dtype];
    return tsri_desc_expand(&a->mask.desc, &mask->desc, a->q->ndim, shape);
}

/* The kernels of this machine, and which operands are packed. */
static void choose_kernels(attention *a, tsr_dtype dtype)
{
    const int last = a->v->ndim - 1;
    const int64_t size = tsri_dtype_size(a->v->dtype);
    const int64_t row = step_of(a->v, last - 1), col = step_of(a->v, last);
    a->gemm = &a->kernels->gemm[tsri_gemm_dtypes[dtype].cls];
    a->dtype = &a->gemm->dtypes[a->q->dtype];
    a->native = a->q->dtype == dtype;
    a->mixed = a->gemm->panel;
    a->unpacked_keys = a->shared * a->m <= UNPACKED_ROWS && a->dtype->rows;
    const bool apart = row < 0 || row > tsri_tuning_used->lanes.attention_step;
    a->pack_v = !a->native || (col != size && a->e > 1) || (!a->unpacked_keys && apart);
    a->narrow = a->kernels->narrow[a->kernels->wide[dtype]][a->z->dtype];
    a->rows = dtype == TSR_F64 ? &ISA(rows_f64)
                               : a->kernels->attention ? a->kernels->attention : &ISA(rows_f32);
}

/* Tasks of many rows, which share packed keys; of fewer, where threads would be idle. */
static void cut_rows(attention *a, int64_t heads)
{
    a->block = ROWS;
    if (tsr_threads() > 1 && heads * pieces(a->shared * a->m, a->block) < 2 * (int64_t)tsr_threads())
        a->block /= 2;
    a->blocks = pieces(a->shared * a->m, a->block);
}

tsr_status tsri_cpu_attention(const tsr_op *op)
{
    const tsr_attention_params *p = op->params;
    const tsr_tensor *q = op->in[0], *k = op->in[1], *v = op->in[2], *z = op->out[0];
    const int last = q->ndim - 1;
    const tsr_dtype dtype = q->dtype == TSR_F64 ? TSR_F64 : TSR_F32;
    attention a = { .q = q, .k = k, .v = v, .z = z, .m = q->shape[last - 1], .n = k->shape[last - 1],
                    .d = q->shape[last], .e = v->shape[last], .kv_heads = k->shape[last - 2],
                    .causal = p->causal, .kernels = tsri_cpu_kernels_get() };
    if (tsr_numel(z) == 0) return TSR_OK;
    a.shared = q->shape[last - 2] / a.kv_heads;
    int64_t heads = a.kv_heads;
    for (int i = 0; i < last - 2; i++) heads *= q->shape[i];
    cut_rows(&a, heads);
    choose_kernels(&a, dtype);
    const bool early = p->scale >= -1 && p->scale <= 1;  /* q does not overflow then */
    a.early_scale = early ? p->scale : 1;
    a.late_scale = early ? 1 : p->scale;
    TSRI_TRY(read_mask(&a, op->nin > 3 ? op->in[3] : NULL));
    const double work = (double)block_rows(&a) * (double)(a.n + 1) * (double)(a.d + a.e);
    return tsri_parallel_for(a.blocks * heads, tsri_grain(TSRI_WORK_PRODUCT * work),
                             dtype == TSR_F64 ? ISA(run_f64) : ISA(run_f32), &a);
}

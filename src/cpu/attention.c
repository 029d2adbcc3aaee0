/* attention.c - attention on the CPU, without ever holding all scores.
 *
 * A task is a block of rows that look at one head of k and v: rows of all the heads of q
 * that share it, one after the other. It walks the keys in blocks, and keeps for each row
 * the largest score so far, the sum of the weights relative to it, and their mixture of
 * v. When a block brings a larger score, sum and mixture are scaled down to it:
 *
 *     block of keys        packed as panels, k and v
 *       scores             the gemm microkernel on panels of q and k
 *       mask, weights      row by row; what may not be seen is -infinity
 *       mixture            the microkernel on panels of weights and v
 *
 * Blocks of keys that no row of the task sees are skipped. Tasks do not depend on each
 * other or on who does them, so every number of threads gives the same bits.
 *
 * LIMIT: one row alone (a decoding step of one head) packs k and v for its sake, and is
 * done by one thread. */
#include "attention.h"
#include "core/alloc.h"
#include "core/desc_int.h"
#include "core/same_exp.h"
#include "kernels.h"
#include "tessera/threads.h"

enum {
    ROWS = 64, KEYS = 128,  /* of a block */
    LANES = 8,              /* partial sums and maxima of a row */
    PART_WORK = 1 << 17     /* products that make a thread worth waking */
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t pieces(int64_t n, int64_t size) { return (n + size - 1) / size; }

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
    int64_t           blocks;           /* of rows, for each head of k */
    double            scale;
    bool              causal;
    const tsri_cpu_kernels *kernels;
    const tsri_gemm_ukr    *ukr;
    tsri_gemm_pack_fn       pack;       /* of the operands' dtype */
    tsri_gemm_pack_fn       repack;     /* of the dtype that scores have */
    tsri_widen_fn           widen_mask;
    tsri_narrow_fn          narrow;
} attention;

/* Panels are padded to whole ones. */
static int64_t row_panels(const attention *a) { return pieces(ROWS, a->ukr->mr); }
static int64_t key_width(const attention *a)
{
    return pieces(pieces(KEYS, a->ukr->nr) * a->ukr->nr, LANES) * LANES;
}
static int64_t value_panels(const attention *a) { return pieces(a->e, a->ukr->nr); }

/* Bytes from one index of a dim to the next; 0 where there is no next. */
static int64_t step_of(const tsr_tensor *t, int dim)
{
    return t->shape[dim] > 1 ? t->stride[dim] * tsri_dtype_size(t->dtype) : 0;
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

/* A task: rows first .. first + rows - 1 of those that share a head. Row r is row r % m of
 * head + r / m. */
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
               .z = matrix_of(a->z, b), .head = kv_head * a->shared, .first = block * ROWS };
    t.rows = least(a->shared * a->m - t.first, ROWS);
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

/* How many any row of the task sees. */
static int64_t keys_of_all(const task *t)
{
    int64_t n = 0;
    for (int64_t r = 0; r < t->rows; r++) n = most(n, keys_of(t, r));
    return n;
}

#define T float
#define NAME(x) x##_f32
#define EXP tsri_exp_f32
#define BITS tsri_f32_bits
#define EXPONENT 0x7f800000u
#include "template/attention.inc"

#define T double
#define NAME(x) x##_f64
#define EXP tsri_exp_f64
#define BITS tsri_f64_bits
#define EXPONENT 0x7ff0000000000000u
#include "template/attention.inc"

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

tsr_status tsri_cpu_attention(const tsr_op *op)
{
    const tsr_attention_params *p = op->params;
    const tsr_tensor *q = op->in[0], *k = op->in[1], *v = op->in[2], *z = op->out[0];
    const int last = q->ndim - 1;
    const tsr_dtype dtype = q->dtype == TSR_F64 ? TSR_F64 : TSR_F32;
    attention a = { .q = q, .k = k, .v = v, .z = z, .m = q->shape[last - 1], .n = k->shape[last - 1],
                    .d = q->shape[last], .e = v->shape[last], .kv_heads = k->shape[last - 2],
                    .scale = p->scale, .causal = p->causal, .kernels = tsri_cpu_kernels_get() };
    if (tsr_numel(z) == 0) return TSR_OK;
    a.shared = q->shape[last - 2] / a.kv_heads;
    a.blocks = pieces(a.shared * a.m, ROWS);
    a.ukr = &a.kernels->gemm[tsri_gemm_dtypes[dtype].cls];
    a.pack = tsri_gemm_dtypes[q->dtype].pack;
    a.repack = tsri_gemm_dtypes[dtype].pack;
    a.narrow = a.kernels->narrow[a.kernels->wide[dtype]][z->dtype];
    TSRI_TRY(read_mask(&a, op->nin > 3 ? op->in[3] : NULL));
    int64_t tasks = a.blocks * a.kv_heads;
    for (int i = 0; i < last - 2; i++) tasks *= q->shape[i];
    const double work = (double)least(a.shared * a.m, ROWS) * (double)(a.n + 1) * (double)(a.d + a.e);
    const int64_t grain = work > PART_WORK ? 1 : (int64_t)(PART_WORK / work);
    return tsr_parallel_for(tasks, grain, dtype == TSR_F64 ? run_f64 : run_f32, &a);
}

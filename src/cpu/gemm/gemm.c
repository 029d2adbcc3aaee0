/* gemm.c - the op matmul: batches of products.
 *
 * A batch that is the same as one product with a taller or wider matrix becomes that product. Other
 * batches run in parallel if there are enough products; else the products run one after the
 * other, each in parallel. */
#include "blas.h"
#include "core/atomic.h"
#include "core/desc_int.h"
#include "core/loop.h"
#include "core/sizes.h"
#include "core/threads_int.h"
#include "cpu/kernels.h"
#include "tessera/threads.h"

typedef struct batch {
    tsri_gemm g;       /* data is the batch's */
    tsri_gemm small;   /* g, transposed if that suits micro-kernels better */
    bool      is_small, transposed;
    int32_t  *failed;  /* set where memory was short */
} batch;

static void multiply_small_ones(const tsri_tile *t, const batch *b)
{
    const int ia = b->transposed ? 2 : 1, ib = b->transposed ? 1 : 2;
    tsri_gemm g = b->small;
    for (int64_t r = 0; r < t->rows; r++) {
        g.z.data = t->ptr[0] + r * t->row_step[0];
        g.a.data = t->ptr[ia] + r * t->row_step[ia];
        g.b.data = t->ptr[ib] + r * t->row_step[ib];
        tsri_gemm_small(&g, t->cols, (const int64_t[]){ t->col_step[0], t->col_step[ia], t->col_step[ib] });
    }
}

static void multiply_batch(const tsri_tile *t, const void *params)
{
    const batch *b = params;
    if (b->is_small) {
        multiply_small_ones(t, b);
        return;
    }
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t i = 0; i < t->cols; i++) {
            tsri_gemm g = b->g;
            g.z.data = t->ptr[0] + r * t->row_step[0] + i * t->col_step[0];
            g.a.data = t->ptr[1] + r * t->row_step[1] + i * t->col_step[1];
            g.b.data = t->ptr[2] + r * t->row_step[2] + i * t->col_step[2];
            if (g.c.data) g.c.data = t->ptr[3] + r * t->row_step[3] + i * t->col_step[3];
            if (tsri_gemm_run(&g) != TSR_OK) tsri_store_relaxed(b->failed, 1);
        }
}

/* Do batch dim d and dim `inner` of the matrices merge into one dim? */
static bool can_merge(const tsr_desc *x, int d, int inner)
{
    return x->shape[inner] == 1 || x->shape[d] == 1 ||
           x->stride[d] == tsri_mul_wrapping(x->stride[inner], x->shape[inner]);
}

/* Merges batch dim d, the last one, into dim `inner` of a matrix. */
static void merge(tsr_desc *x, int d, int inner)
{
    if (x->shape[inner] == 1) x->stride[inner] = x->stride[d];
    x->shape[inner] *= x->shape[d];
}

/* Drops the last batch dim, and moves the two of the matrix up. */
static void drop_batch_dim(tsr_desc *x)
{
    const int d = x->ndim - 3;
    for (int i = d; i < d + 2; i++) {
        x->shape[i] = x->shape[i + 1];
        x->stride[i] = x->stride[i + 1];
    }
    x->ndim--;
}

/* Does an operand repeat along dim d? */
static bool repeats(const tsr_desc *x, int d) { return x->shape[d] == 1 || x->stride[d] == 0; }

/* A batch of products with one matrix b is one product with a longer a; with one matrix a, with a wider b. */
static void merge_batch(tsr_desc *z, tsr_desc *a, tsr_desc *b, tsr_desc *c)
{
    while (z->ndim > 2) {
        const int d = z->ndim - 3, m = d + 1, n = d + 2;
        const bool tall = repeats(b, d) && can_merge(z, d, m) && can_merge(a, d, m) && can_merge(c, d, m);
        const bool wide =
            !tall && repeats(a, d) && can_merge(z, d, n) && can_merge(b, d, n) && can_merge(c, d, n);
        if (!tall && !wide) return;
        merge(z, d, tall ? m : n);
        merge(c, d, tall ? m : n);
        merge(tall ? a : b, d, tall ? m : n);
        drop_batch_dim(z);
        drop_batch_dim(a);
        drop_batch_dim(b);
        drop_batch_dim(c);
    }
}

/* Filled field by field, as is the scale: a struct that is built and then copied with wider loads would wait
 * for its stores (store forwarding fails). */
static void set_matrix(tsri_gemm_matrix *m, void *data, const tsr_desc *d)
{
    const int64_t size = tsri_dtype_size(d->dtype);
    m->data = data;
    /* The stride of a dim of size 1, or of an empty matrix, may be any number, also one that overflows. */
    m->row = d->shape[d->ndim - 2] == 1 ? 0 : tsri_mul_wrapping(d->stride[d->ndim - 2], size);
    m->col = d->shape[d->ndim - 1] == 1 ? 0 : tsri_mul_wrapping(d->stride[d->ndim - 1], size);
}

static bool is_zero(tsr_scalar s)
{
    const tsr_c128 c = tsr_scalar_to_c128(s);
    return c.re == 0 && c.im == 0;
}

static bool is_one(tsr_scalar s) { return s.dtype == TSR_I64 && s.as.i == 1; }

static void set_scale(tsri_gemm_scale *s, const tsr_matmul_params *p, bool has_c)
{
    s->plain = !has_c && is_one(p->alpha);
    if (s->plain) return;
    s->alpha = tsr_scalar_to_c128(p->alpha);
    s->beta = tsr_scalar_to_c128(p->beta);
    s->int_alpha = tsr_scalar_to_u64(p->alpha);
    s->int_beta = tsr_scalar_to_u64(p->beta);
}

/* A part of the batch for each thread if there are enough; else one part, whose products are split. */
static int64_t batch_grain(const tsri_gemm *g, int64_t count)
{
    const double work = (double)g->m * (double)g->n * (double)(g->k + 1);
    if (count < 2 * tsr_threads() || work > 64 * (double)tsri_grain(TSRI_WORK_PRODUCT)) return most(count, 1);
    return work < 1 ? count : tsri_grain(TSRI_WORK_PRODUCT * work);
}

static tsr_status run_batch(batch *b, const tsr_desc *z, const tsr_desc *a, const tsr_desc *bd,
                            const tsr_desc *c)
{
    tsri_loop loop;
    const tsri_gemm *g = &b->g;
    b->small = *g;
    b->transposed = tsri_gemm_transpose(&b->small);
    b->is_small = g->m > 0 && g->n > 0 && g->k > 0 && !tsri_gemm_is_long_dot(g) &&
                  tsri_gemm_is_small(&b->small, tsri_gemm_tuning()->small_work);
    char *added = g->c.data ? g->c.data : g->z.data;
    tsri_loop_build(&loop, z->ndim - 2, z->shape, 4,
                    (const tsri_operand[]){ { g->z.data, tsri_strides(z), tsri_dtype_size(z->dtype) },
                                            { g->a.data, tsri_strides(a), tsri_dtype_size(a->dtype) },
                                            { g->b.data, tsri_strides(bd), tsri_dtype_size(bd->dtype) },
                                            { added, tsri_strides(c), tsri_dtype_size(c->dtype) } }, 0);
    const tsri_kernel kernel = { .fn = multiply_batch, .params = b };
    return tsri_loop_run_parallel(&loop, &kernel, batch_grain(g, tsri_loop_count(&loop)));
}

static bool can_multiply(const tsr_tensor *t) { return tsri_gemm_dtypes[t->dtype].pack != NULL; }

bool tsri_cpu_has_matmul(const tsr_op *op)
{
    return can_multiply(op->in[0]) && can_multiply(op->in[1]) && can_multiply(op->out[0]);
}

/* The class in which this machine multiplies matrices of these dtypes. */
static tsri_gemm_class class_of(const tsri_gemm_kernels *kernels, tsr_dtype a, tsr_dtype b)
{
    const tsri_gemm_class cls = tsri_gemm_dtypes[a].cls;
    if (a == TSR_BF16 && b == TSR_BF16 && kernels[TSRI_GEMM_BF16].microkernels) return TSRI_GEMM_BF16;
    if (cls == TSRI_GEMM_U32 && kernels[TSRI_GEMM_SPLIT].microkernels) return TSRI_GEMM_SPLIT;
    if (cls != TSRI_GEMM_I16) return cls;
    if (b == TSR_I8 && a == TSR_I8 && kernels[TSRI_GEMM_S8].microkernels) return TSRI_GEMM_S8;
    if (b == TSR_I8 && a == TSR_U8 && kernels[TSRI_GEMM_U8].microkernels) return TSRI_GEMM_U8;
    return kernels[TSRI_GEMM_PAIRS].microkernels ? TSRI_GEMM_PAIRS : cls;
}

static void describe(tsri_gemm *g, const tsr_op *op, const tsr_tensor *c)
{
    const tsr_tensor *z = op->out[0], *a = op->in[0], *b = op->in[1];
    const tsri_gemm_kernels *kernels = tsri_cpu_kernels_get()->gemm;
    const tsri_gemm_class own = tsri_gemm_dtypes[a->dtype].cls, cls = class_of(kernels, a->dtype, b->dtype);
    const bool vector = z->shape[z->ndim - 2] == 1 || z->shape[z->ndim - 1] == 1;
    const bool bytes = cls == TSRI_GEMM_S8 || cls == TSRI_GEMM_U8;
    g->cls = vector && !bytes ? own : cls; /* read once, other matrices are not worth packing */
    g->kernels = &kernels[g->cls];
    g->a_type = a->dtype;
    g->b_type = b->dtype;
    g->z_type = z->dtype;
    g->blocks = NULL;
    set_scale(&g->scale, op->params, c != NULL);
}

static void take_matrices(tsri_gemm *g, const tsr_op *op, const tsr_tensor *tc, const tsr_desc *z,
                          const tsr_desc *a, const tsr_desc *b, const tsr_desc *c)
{
    set_matrix(&g->a, op->in[0]->data, a);
    set_matrix(&g->b, op->in[1]->data, b);
    set_matrix(&g->z, op->out[0]->data, z);
    set_matrix(&g->c, tc ? tc->data : NULL, c);
    g->m = z->shape[z->ndim - 2];
    g->n = z->shape[z->ndim - 1];
    g->k = a->shape[a->ndim - 1];
}

static TSRI_COLD tsr_status no_memory(const tsr_op *op)
{
    return tsri_fail(TSR_ENOMEM, "%s: no memory to pack %s and %s", tsr_op_get_info(op->kind)->name,
                     TSRI_DESC(&op->in[0]->desc), TSRI_DESC(&op->in[1]->desc));
}

static tsr_status run_merged(const tsr_op *op, const tsr_tensor *tc, batch *whole)
{
    tsr_desc z = op->out[0]->desc, a = op->in[0]->desc, b = op->in[1]->desc, c = tc ? tc->desc : z;
    take_matrices(&whole->g, op, tc, &z, &a, &b, &c);
    if (!tsri_gemm_is_long_dot(&whole->g)) {  /* its order of sums must not depend on the batch */
        merge_batch(&z, &a, &b, &c);
        take_matrices(&whole->g, op, tc, &z, &a, &b, &c);
    }
    if (z.ndim == 2) return tsri_gemm_run(&whole->g);
    TSRI_TRY(run_batch(whole, &z, &a, &b, &c));
    return *whole->failed ? TSR_ENOMEM : TSR_OK;
}

/* Small products of unpacked matrices, without the overhead of a tsri_gemm. */
static bool multiply_one_panel(const tsr_op *op)
{
    const tsr_matmul_params *params = op->params;
    const tsr_tensor *z = op->out[0], *a = op->in[0], *b = op->in[1];
    const tsri_gemm_dtype *dtype = &tsri_gemm_dtypes[a->dtype];
    if (op->nin != 2 || z->ndim != 2 || z->dtype != a->dtype || b->dtype != a->dtype) return false;
    return dtype->native && is_one(params->alpha) &&
           tsri_gemm_one_panel(&tsri_cpu_kernels_get()->gemm[dtype->cls], z, a, b);
}

tsr_status tsri_cpu_matmul(const tsr_op *op)
{
    if (multiply_one_panel(op)) return TSR_OK;
    const tsr_matmul_params *params = op->params;
    const tsr_tensor *z = op->out[0], *a = op->in[0], *b = op->in[1];
    const tsr_tensor *c = op->nin > 2 && !is_zero(params->beta) ? op->in[2] : NULL;
    tsr_status s;
    int32_t failed = 0;
    batch whole;
    whole.failed = &failed;
    describe(&whole.g, op, c);
    if (z->ndim == 2) {
        take_matrices(&whole.g, op, c, &z->desc, &a->desc, &b->desc, c ? &c->desc : &z->desc);
        s = tsri_gemm_blas(&whole.g) ? TSR_OK : tsri_gemm_run(&whole.g);
    } else if (tsr_numel(z) == 0) {
        return TSR_OK;  /* whatever the number of matrices */
    } else {
        s = run_merged(op, c, &whole);
    }
    return s == TSR_ENOMEM ? no_memory(op) : s;
}

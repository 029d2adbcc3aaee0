/* covariance.c - covariances and correlation coefficients of rows. */
#include "dispatch.h"
#include "statistics.h"
#include "core/mem.h"
#include "tessera/move.h"
#include "tessera/ops/elementwise.h"
#include "tessera/ops/linalg.h"
#include "tessera/ops/matmul.h"
#include "tessera/ops/reduce.h"

/* One call: observations in the dtype computed in, and how they count. */
typedef struct covariance {
    const char       *op;
    const tsr_tensor *x;         /* (m, n) */
    tsr_tensor        matrix;    /* x as a matrix, where it is a vector */
    tsr_tensor       *converted, *weights, *mean, *centred, *weighted, *product;
    double            total, divisor;
} covariance;

static tsr_status end_covariance(covariance *c, tsr_status s)
{
    tsr_release_all(&c->converted, &c->weights, &c->mean, &c->centred, &c->weighted, &c->product);
    return s;
}

/* Integers give f64. */
static tsr_dtype dtype_of(tsr_dtype x)
{
    const tsr_kind kind = tsr_dtype_kind(x);
    return kind == TSR_SIGNED || kind == TSR_UNSIGNED ? TSR_F64 : x;
}

/* Short floats are computed in f32. */
static tsr_status open_covariance(covariance *c, const tsr_tensor *x)
{
    c->x = x;
    TSRI_TRY(tsri_as_dtype(&c->x, &c->converted, tsri_computed_dtype(dtype_of(x->dtype))));
    if (x->ndim == 2) return TSR_OK;
    c->matrix = *c->x;
    tsri_insert_dim(&c->matrix.desc, 0, 1, 0);
    c->x = &c->matrix;
    return TSR_OK;
}

/* Weights ------------------------------------------------------------------------------------ */

/* The weights of n observations, their sum, and what covariances are divided by. f and a may be NULL. */
static tsr_status multiply_weights(covariance *c, double *weight, int64_t n, const double *f, const double *a,
                                   double correction)
{
    double important = 0;
    c->total = 0;
    for (int64_t i = 0; i < n; i++) {
        TSRI_CHECK(!f || f[i] >= 0, TSR_EINVAL, "cov: fweights[%lld] is %g", (long long)i, f[i]);
        TSRI_CHECK(!a || a[i] >= 0, TSR_EINVAL, "cov: aweights[%lld] is %g", (long long)i, a[i]);
        weight[i] = (f ? f[i] : 1) * (a ? a[i] : 1);
        c->total += weight[i];
        important += weight[i] * (a ? a[i] : 1);
    }
    c->divisor = c->total - (a ? correction * important / c->total : correction);
    return TSR_OK;
}

static tsr_status read_weights(covariance *c, double *weight, const tsr_tensor *fweights,
                               const tsr_tensor *aweights, double correction)
{
    tsr_tensor *temporary[2] = { NULL, NULL };
    tsr_status s = fweights ? tsri_as_packed(&fweights, &temporary[0], c->op, TSR_F64) : TSR_OK;
    if (s == TSR_OK && aweights) s = tsri_as_packed(&aweights, &temporary[1], c->op, TSR_F64);
    if (s == TSR_OK)
        s = multiply_weights(c, weight, c->x->shape[1], fweights ? fweights->data : NULL,
                             aweights ? aweights->data : NULL, correction);
    tsr_release_all(&temporary[0], &temporary[1]);
    return s;
}

/* c->weights, in the real dtype of x and beside it. */
static tsr_status make_weights(covariance *c, const tsr_tensor *fweights, const tsr_tensor *aweights,
                               double correction)
{
    tsr_desc d;
    tsr_tensor *host = NULL;
    const int64_t n = c->x->shape[1];
    c->total = (double)n;
    c->divisor = c->total - correction;
    if (!fweights && !aweights) return TSR_OK;
    TSRI_TRY(tsri_desc_packed(&d, c->op, tsr_dtype_real(c->x->dtype), 1, &n));
    TSRI_TRY(tsri_make_beside(&c->weights, c->op, &d, c->x));
    tsr_status s = tsri_make_packed(&host, c->op, TSR_F64, 1, &n);
    if (s == TSR_OK) s = read_weights(c, host->data, fweights, aweights, correction);
    if (s == TSR_OK) s = tsr_copy(c->weights, host);
    tsr_release(&host);
    return s;
}

/* Products ------------------------------------------------------------------------------------- */

/* c->mean of each row, as a column. */
static tsr_status find_means(covariance *c)
{
    const int last = 1;
    if (!c->weights) return tsr_mean(&c->mean, c->x, 1, &last, true);
    TSRI_TRY(tsr_mul(&c->weighted, c->x, c->weights));
    TSRI_TRY(tsr_sum(&c->mean, c->weighted, 1, &last, true));
    return tsr_div(&c->mean, c->mean, TSR_NUMBER(c->total));
}

/* c->centred: each row less its mean. */
static tsr_status centre(covariance *c)
{
    TSRI_TRY(find_means(c));
    return tsr_sub(&c->centred, c->x, c->mean);
}

/* c->product (m, m), in the dtype computed in. */
static tsr_status multiply_centred(covariance *c)
{
    tsr_tensor *adjoint = NULL;
    TSRI_TRY(tsr_adjoint(&adjoint, c->centred));
    tsr_status s = c->weights ? tsr_mul(&c->weighted, c->centred, c->weights) : TSR_OK;
    if (s == TSR_OK) s = tsr_matmul(&c->product, c->weights ? c->weighted : c->centred, adjoint);
    tsr_release(&adjoint);
    return s;
}

/* A matrix, or one number for a vector. */
static tsr_status infer_covariance(tsr_desc *out, const char *name, tsr_op_kind kind,
                                   const tsr_desc *const *in, const void *params)
{
    const int64_t m = in[0]->shape[0];
    (void)kind; (void)params;
    return tsri_desc_packed(out, name, dtype_of(in[0]->dtype), in[0]->ndim == 1 ? 0 : 2,
                            (const int64_t[]){ m, m });
}

static tsr_status copy_product(tsr_tensor *out, const covariance *c)
{
    tsr_tensor seen = *c->product;
    seen.ndim = out->ndim;
    return tsri_copy_run(out, &seen);
}

static tsr_status run_cov(const tsr_op *op)
{
    covariance c = { .op = "cov" };
    tsr_status s = open_covariance(&c, op->in[0]);
    if (s == TSR_OK) s = make_weights(&c, op->in[1], op->in[2], *(const double *)op->params);
    if (s == TSR_OK) s = centre(&c);
    if (s == TSR_OK) s = multiply_centred(&c);
    if (s == TSR_OK) s = tsr_div(&c.product, c.product, TSR_NUMBER(c.divisor > 0 ? c.divisor : 0));
    if (s == TSR_OK) s = copy_product(op->out[0], &c);
    return end_covariance(&c, s);
}

tsr_status tsr_cov(tsr_tensor **out, const tsr_tensor *x, double correction, const tsr_tensor *fweights,
                   const tsr_tensor *aweights)
{
    static tsri_composed composed = { .row = "cov",
                                      .traits = { .infer = infer_covariance, .parts = run_cov,
                                                  .optional = 1 << 1 | 1 << 2 } };
    return tsri_dispatch(&(tsri_call){ .composed = &composed, .params = &correction, .nin = 3,
                                       .in = { x, fweights, aweights }, .nout = 1, .out = { out } });
}

/* Correlation ------------------------------------------------------------------------------------ */

/* Both parts of complex numbers as elements. */
static void see_parts(tsr_tensor *v, const tsr_tensor *t)
{
    *v = *t;
    v->dtype = tsr_dtype_real(t->dtype);
    if (v->dtype == t->dtype) return;
    for (int d = 0; d < v->ndim; d++) v->stride[d] *= 2;
    tsri_insert_dim(&v->desc, v->ndim, 2, 1);
}

/* Rows of norm 1, whose products neither overflow nor vanish however large or small elements are. */
static tsr_status normalise(covariance *c)
{
    const int last = 1;
    tsr_tensor *norm = NULL;
    tsr_status s = tsr_norm(&norm, c->centred, 1, &last, true, 2);
    if (s == TSR_OK) s = tsr_div(&c->centred, c->centred, norm);
    tsr_release(&norm);
    return s;
}

/* Holds the product to -1 .. 1: rounding may exceed that. Of no observations it is NaN. */
static tsr_status hold_product(covariance *c)
{
    tsr_tensor parts, *held = &parts;
    if (c->x->shape[1] == 0) return tsr_div(&c->product, c->product, TSR_NUMBER(0));
    see_parts(&parts, c->product);
    return tsr_clip(&held, held, TSR_NUMBER(-1), TSR_NUMBER(1));
}

static tsr_status run_corrcoef(const tsr_op *op)
{
    covariance c = { .op = "corrcoef" };
    tsr_status s = open_covariance(&c, op->in[0]);
    if (s == TSR_OK) s = centre(&c);
    if (s == TSR_OK) s = normalise(&c);
    if (s == TSR_OK) s = multiply_centred(&c);
    if (s == TSR_OK) s = op->in[0]->ndim == 1 ? tsr_div(&c.product, c.product, c.product) : hold_product(&c);
    if (s == TSR_OK) s = copy_product(op->out[0], &c);
    return end_covariance(&c, s);
}

tsr_status tsr_corrcoef(tsr_tensor **out, const tsr_tensor *x)
{
    static tsri_composed call = { .row = "corrcoef",
                                  .traits = { .infer = infer_covariance, .parts = run_corrcoef } };
    return tsri_dispatch_composed(out, &call, NULL, x);
}

/* random.c - tensors of random numbers. The mapping from seed and index to a value is
 * stated in core/random_values.h and core/random_integers.h. */
#include "backend/device_run.h"
#include "tessera/random.h"

#include "core/random_values.h"
#include "dispatch.h"
#include "tessera/backend.h"
#include "tessera/move.h"
#include "tessera/ops/elementwise.h"

void tsr_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2])
{
    if (out && counter && key) tsri_philox(out, counter, key);
}

/* The result's desc, of a dtype that has fractions. */
static tsr_status describe(tsr_desc *desc, const char *op, tsr_tensor **out, tsr_dtype dtype, int ndim,
                           const int64_t *shape)
{
    TSRI_CHECK(out, TSR_ENULL, "%s: out is NULL", op);
    const tsr_kind kind = tsr_dtype_kind(dtype);
    TSRI_CHECK(kind == TSR_FLOATING || kind == TSR_COMPLEX, TSR_EDTYPE,
               "%s: dtype is %s (%d), and must be floating or complex", op, tsr_dtype_name(dtype),
               (int)dtype);
    return tsri_desc_packed(desc, op, dtype, ndim, shape);
}

/* Is v finite, as given and in the dtype? */
static bool is_finite_in(tsr_dtype dtype, double v)
{
    const double rounded = tsri_float_value(dtype, tsri_float_bits(dtype, v));
    return v - v == 0 && rounded - rounded == 0;
}

tsr_status tsr_uniform(tsr_tensor **out, tsr_dtype dtype, int ndim, const int64_t *shape, double low,
                       double high, uint64_t seed)
{
    tsr_desc desc;
    TSRI_TRY(describe(&desc, "uniform", out, dtype, ndim, shape));
    const tsr_dtype real = tsr_dtype_real(dtype);
    TSRI_CHECK(is_finite_in(real, low), TSR_EINVAL, "uniform: low is %g, which is not finite in %s", low,
               tsr_dtype_name(real));
    TSRI_CHECK(is_finite_in(real, high), TSR_EINVAL, "uniform: high is %g, which is not finite in %s", high,
               tsr_dtype_name(real));
    TSRI_CHECK(low <= high, TSR_EINVAL, "uniform: low is %g, above high, which is %g", low, high);

    const tsr_random_params params = { .seed = seed, .low = low, .high = high };
    return tsri_op_make(out, &desc, &(tsr_op){ .kind = TSR_OP_UNIFORM, .nout = 1, .params = &params });
}

tsr_status tsr_randn(tsr_tensor **out, tsr_dtype dtype, int ndim, const int64_t *shape, uint64_t seed)
{
    tsr_desc desc;
    TSRI_TRY(describe(&desc, "randn", out, dtype, ndim, shape));
    const tsr_random_params params = { .seed = seed };
    return tsri_op_make(out, &desc, &(tsr_op){ .kind = TSR_OP_RANDN, .nout = 1, .params = &params });
}

/* Made of these ---------------------------------------------------------------------- */

/* The result's desc, of a floating dtype. */
static tsr_status describe_real(tsr_desc *desc, const char *op, tsr_tensor **out, tsr_dtype dtype, int ndim,
                                const int64_t *shape)
{
    TSRI_CHECK(out, TSR_ENULL, "%s: out is NULL", op);
    TSRI_CHECK(tsr_dtype_kind(dtype) == TSR_FLOATING, TSR_EDTYPE,
               "%s: dtype is %s (%d), and must be floating", op, tsr_dtype_name(dtype), (int)dtype);
    return tsri_desc_packed(desc, op, dtype, ndim, shape);
}

static bool is_finite(double v) { return v - v == 0; }

/* Normal numbers in z, which is f32 or f64. */
static tsr_status fill_normal(tsr_tensor *z, double mean, double deviation, uint64_t seed)
{
    TSRI_TRY(tsr_randn(&z, z->dtype, z->ndim, z->shape, seed));
    return tsr_fma(&z, z, TSR_NUMBER(deviation), TSR_NUMBER(mean));
}

/* The same in a shorter dtype. */
static tsr_status fill_normal_short(tsr_tensor *z, double mean, double deviation, uint64_t seed)
{
    tsr_tensor *wide = NULL;
    tsr_status s;
    TSRI_WORK_ON(z->device, s, tsr_empty(&wide, TSR_F32, z->ndim, z->shape));
    if (s == TSR_OK) s = fill_normal(wide, mean, deviation, seed);
    if (s == TSR_OK) s = tsr_copy(z, wide);
    tsr_release(&wide);
    return s;
}

tsr_status tsr_normal(tsr_tensor **out, tsr_dtype dtype, int ndim, const int64_t *shape, double mean,
                      double deviation, uint64_t seed)
{
    tsr_desc desc;
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    TSRI_TRY(describe_real(&desc, "normal", out, dtype, ndim, shape));
    TSRI_CHECK(is_finite(mean), TSR_EINVAL, "normal: mean is %g, and must be finite", mean);
    TSRI_CHECK(is_finite(deviation) && deviation >= 0, TSR_EINVAL,
               "normal: deviation is %g, and must be finite and not negative", deviation);
    TSRI_TRY(tsri_result(out, &origin, "normal", &desc, NULL));
    const bool is_wide = dtype == TSR_F32 || dtype == TSR_F64;
    return tsri_result_end(out, origin, is_wide ? fill_normal(*out, mean, deviation, seed)
                                               : fill_normal_short(*out, mean, deviation, seed));
}

tsr_status tsr_exponential(tsr_tensor **out, tsr_dtype dtype, int ndim, const int64_t *shape, double rate,
                           uint64_t seed)
{
    tsr_desc desc;
    TSRI_TRY(describe_real(&desc, "exponential", out, dtype, ndim, shape));
    TSRI_CHECK(is_finite(rate) && rate > 0, TSR_EINVAL,
               "exponential: rate is %g, and must be finite and positive", rate);
    const tsr_exponential_params params = { seed, rate };
    return tsri_op_make(out, &desc, &(tsr_op){ .kind = TSR_OP_EXPONENTIAL, .nout = 1, .params = &params });
}

/* Integers ------------------------------------------------------------------------------ */

/* Can the dtype hold v? */
static bool holds(tsr_dtype dtype, int64_t v)
{
    const int bits = 8 * (int)tsr_dtype_size(dtype);
    if (tsr_dtype_kind(dtype) == TSR_UNSIGNED) return v >= 0 && (bits == 64 || v >> bits == 0);
    return bits == 64 || (v >= -((int64_t)1 << (bits - 1)) && v < (int64_t)1 << (bits - 1));
}

tsr_status tsr_integers(tsr_tensor **out, tsr_dtype dtype, int ndim, const int64_t *shape, int64_t low,
                        int64_t high, uint64_t seed)
{
    tsr_desc desc;
    const tsr_kind kind = tsr_dtype_kind(dtype);
    TSRI_CHECK(out, TSR_ENULL, "integers: out is NULL");
    TSRI_CHECK(kind == TSR_SIGNED || kind == TSR_UNSIGNED, TSR_EDTYPE,
               "integers: dtype is %s (%d), and must be integer", tsr_dtype_name(dtype), (int)dtype);
    TSRI_TRY(tsri_desc_packed(&desc, "integers", dtype, ndim, shape));
    TSRI_CHECK(low < high, TSR_EINVAL, "integers: low is %lld, not below high, which is %lld", (long long)low,
               (long long)high);
    TSRI_CHECK(holds(dtype, low) && holds(dtype, high - 1), TSR_EINVAL,
               "integers: [%lld, %lld) does not fit %s", (long long)low, (long long)high,
               tsr_dtype_name(dtype));
    const tsr_integers_params params = { seed, low, high };
    return tsri_op_make(out, &desc, &(tsr_op){ .kind = TSR_OP_INTEGERS, .nout = 1, .params = &params });
}

/* Yes and no ------------------------------------------------------------------------------ */

/* z = the numbers in [0, 1) of this seed are below p. */
static tsr_status fill_bernoulli(tsr_tensor *z, const tsr_tensor *p, uint64_t seed)
{
    tsr_tensor *u = NULL;
    tsr_status s;
    TSRI_WORK_ON(z->device, s, tsr_uniform(&u, TSR_F64, z->ndim, z->shape, 0, 1, seed));
    if (s == TSR_OK) s = tsr_lt(&z, u, p);
    tsr_release(&u);
    return s;
}

tsr_status tsr_bernoulli(tsr_tensor **out, int ndim, const int64_t *shape, double p, uint64_t seed)
{
    tsr_desc desc;
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    TSRI_CHECK(out, TSR_ENULL, "bernoulli: out is NULL");
    TSRI_TRY(tsri_desc_packed(&desc, "bernoulli", TSR_BOOL, ndim, shape));
    TSRI_CHECK(p >= 0 && p <= 1, TSR_EINVAL, "bernoulli: p is %g, and must be in [0, 1]", p);
    TSRI_TRY(tsri_result(out, &origin, "bernoulli", &desc, NULL));
    return tsri_result_end(out, origin, fill_bernoulli(*out, TSR_NUMBER(p), seed));
}

static tsr_status run_bernoulli(const tsr_op *op)
{
    return fill_bernoulli(op->out[0], op->in[0], *(const uint64_t *)op->params);
}

tsr_status tsr_bernoulli_each(tsr_tensor **out, const tsr_tensor *p, uint64_t seed)
{
    static tsri_composed call = { .row = "bernoulli_each", .traits = { .parts = run_bernoulli } };
    return tsri_dispatch_composed(out, &call, &seed, p);
}

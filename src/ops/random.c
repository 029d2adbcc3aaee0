/* random.c - uniform and normal tensors. The mapping from seed and index to a
 * value is stated in core/randoms.h. */
#include "tessera/random.h"

#include "core/randoms.h"
#include "ops/op.h"
#include "tessera/backend.h"

void tsr_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2])
{
    if (out && counter && key) tsri_philox(out, counter, key);
}

/* What both have in common: the result's desc, of a dtype that has fractions. */
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

/* pooling_portable.c - the kernels of pooling in plain C. */
#include "core/half.h"
#include "cpu/conv/pooling.h"
#include "cpu/kernels.h"

#define T float
#define WHICH int32_t
#define IS_NAN(x) ((x) != (x))
#define NAME(x) x##_f32_portable
#include "pooling_portable_max.inc"
#include "pooling_portable_sum.inc"
#undef T
#undef WHICH
#undef NAME

#define T double
#define WHICH int64_t
#define NAME(x) x##_f64_portable
#include "pooling_portable_max.inc"
#include "pooling_portable_sum.inc"
#undef T
#undef IS_NAN
#undef NAME

#define T int64_t
#define IS_NAN(x) ((void)(x), false)
#define NAME(x) x##_i64_portable
#include "pooling_portable_max.inc"
#undef T
#undef WHICH
#undef IS_NAN
#undef NAME

/* Rounds to odd: the bits that a float lacks are cut off, and if any was set, the last bit kept is set. */
static double to_odd(double x)
{
    const uint64_t lost = ((uint64_t)1 << 29) - 1, bits = tsri_f64_bits(x);
    if (x != x || (bits & lost) == 0) return x;
    return tsri_f64_from_bits((bits & ~lost) | (lost + 1));
}

static void mean_f32_portable(void *to, const double *sums, const double *counts, const double *by, int64_t n,
                     bool odd)
{
    float *z = to;
    (void)by;
    for (int64_t i = 0; i < n; i++) z[i] = (float)(odd ? to_odd(sums[i] / counts[i]) : sums[i] / counts[i]);
}

static void mean_f64_portable(void *to, const double *sums, const double *counts, const double *by, int64_t n,
                     bool odd)
{
    double *z = to;
    (void)by; (void)odd;
    for (int64_t i = 0; i < n; i++) z[i] = sums[i] / counts[i];
}

static const tsri_pool_kernels portable[TSRI_POOL_TYPES] = {
    [TSRI_POOL_F32] = { .max = max_f32_portable, .max_at = max_at_f32_portable, .sum = sum_f32_portable,
                        .mean = mean_f32_portable },
    [TSRI_POOL_F64] = { .max = max_f64_portable, .max_at = max_at_f64_portable, .sum = sum_f64_portable,
                        .mean = mean_f64_portable },
    [TSRI_POOL_I64] = { .max = max_i64_portable, .max_at = max_at_i64_portable },
};

void tsri_cpu_pool_portable(tsri_cpu_kernels *k) { k->pool = portable; }

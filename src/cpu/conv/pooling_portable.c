/* pooling_portable.c - the kernels of pooling in plain C. */
#include "core/half.h"
#include "cpu/conv/pooling.h"
#include "cpu/kernels.h"
#include "cpu/template/isa_suffix.inc"

#define T float
#define WHICH int32_t
#define IS_NAN(x) ((x) != (x))
#define NAME(x) ISA(x##_f32)
#include "pooling_portable_max.inc"
#include "pooling_portable_sum.inc"
#undef T
#undef WHICH
#undef NAME

#define T double
#define WHICH int64_t
#define NAME(x) ISA(x##_f64)
#include "pooling_portable_max.inc"
#include "pooling_portable_sum.inc"
#undef T
#undef IS_NAN
#undef NAME

#define T int64_t
#define IS_NAN(x) ((void)(x), false)
#define NAME(x) ISA(x##_i64)
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

static void ISA(mean_f32)(void *to, const double *sums, const double *counts, const double *by, int64_t n,
                          bool odd)
{
    float *z = to;
    (void)by;
    for (int64_t i = 0; i < n; i++) z[i] = (float)(odd ? to_odd(sums[i] / counts[i]) : sums[i] / counts[i]);
}

static void ISA(mean_f64)(void *to, const double *sums, const double *counts, const double *by, int64_t n,
                          bool odd)
{
    double *z = to;
    (void)by; (void)odd;
    for (int64_t i = 0; i < n; i++) z[i] = sums[i] / counts[i];
}

static const tsri_pool_kernels portable[TSRI_POOL_TYPES] = {
    [TSRI_POOL_F32] = { .max = ISA(max_f32), .max_at = ISA(max_at_f32), .sum = ISA(pool_sum_f32),
                        .mean = ISA(mean_f32) },
    [TSRI_POOL_F64] = { .max = ISA(max_f64), .max_at = ISA(max_at_f64), .sum = ISA(pool_sum_f64),
                        .mean = ISA(mean_f64) },
    [TSRI_POOL_I64] = { .max = ISA(max_i64), .max_at = ISA(max_at_i64) },
};

void tsri_cpu_pool_portable(tsri_cpu_kernels *k) { k->pool = portable; }

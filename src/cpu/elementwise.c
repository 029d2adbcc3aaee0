/* elementwise.c - the elementwise kernels in plain C over libm, and their table.
 *
 * LIMIT: transcendental functions go through double and libm one element at a
 * time; they are right before they are fast. */
#ifndef TSR_FREESTANDING

#include <complex.h>
#include <math.h>

#include "core/half.h"
#include "core/mem.h"
#include "kernels.h"
#include "tessera/backend.h"

#ifndef CMPLX  /* clang 14 lacks it before C23 */
#define CMPLX(re, im) (__builtin_complex((double)(re), (double)(im)))
#endif

#include "template/elementwise_lists.h"
#include "template/math.inc"
#include "template/complex_math.inc"

/* x * y + w rounded to odd: the product of two short floats is exact in double,
 * and a sum that lost bits has its last one set, so that the rounding to the
 * short dtype sees which side of a half it lies on. */
static double fma_odd(double x, double y, double w)
{
    const double product = x * y, sum = product + w;
    if (!isfinite(sum)) return sum;
    const double back = sum - product;
    const double lost = (product - (sum - back)) + (w - back);
    const uint64_t bits = tsri_f64_bits(sum);
    if (lost == 0 || (bits & 1)) return sum;
    const bool away = (lost > 0) == (sum > 0);
    return tsri_f64_from_bits(away ? bits + 1 : bits - 1);
}

#define TEMPLATE "float_ops.inc"
#include "template/each_float.inc"
#undef TEMPLATE
#define TEMPLATE "integer_ops.inc"
#include "template/each_integer.inc"
#undef TEMPLATE
#define TEMPLATE "complex_ops.inc"
#include "template/each_complex.inc"
#undef TEMPLATE
#include "template/bool_ops.inc"
#define TEMPLATE "select.inc"
#include "template/each_size.inc"
#undef TEMPLATE

static void enter_where(tsri_tile_fn table[TSR_OP_COUNT][TSR_DTYPE_COUNT])
{
    static const tsri_tile_fn by_size[] = { where_1, where_2, where_4, where_8, where_16 };
    for (int d = 1; d < TSR_DTYPE_COUNT; d++)
        table[TSR_OP_WHERE][d] = by_size[__builtin_ctz((unsigned)tsri_dtype_sizes[d])];
}

void tsri_cpu_elementwise_portable(tsri_cpu_kernels *k)
{
    enter_f8e4m3(k->elementwise); enter_f8e5m2(k->elementwise); enter_f16(k->elementwise);
    enter_bf16(k->elementwise); enter_f32(k->elementwise); enter_f64(k->elementwise);
    enter_i8(k->elementwise); enter_i16(k->elementwise); enter_i32(k->elementwise); enter_i64(k->elementwise);
    enter_u8(k->elementwise); enter_u16(k->elementwise); enter_u32(k->elementwise); enter_u64(k->elementwise);
    enter_c64(k->elementwise); enter_c128(k->elementwise);
    enter_bool(k->elementwise);
    enter_where(k->elementwise);
}

#else

#include "kernels.h"

/* A freestanding build has no libm, and no elementwise ops. */
void tsri_cpu_elementwise_portable(tsri_cpu_kernels *k) { (void)k; }

#endif

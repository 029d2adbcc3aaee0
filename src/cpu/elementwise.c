/* elementwise.c - the elementwise kernels in plain C over libm, and their table.
 *
 * c64 is computed as c128 and rounded once; short floats, and the long functions of f32, are
 * computed as f64 (template/through.inc).
 *
 * LIMIT: transcendental functions go through double and libm one element at a
 * time: accurate, not fast. */
#ifndef TSR_FREESTANDING

#include <complex.h>
#include <math.h>

#include "core/half.h"
#include "core/mem.h"
#include "kernels.h"
#include "tessera/backend.h"
#include "tessera/op_rows.h"
#include "template/isa_suffix.inc"

#ifndef CMPLX  /* clang 14 lacks it before C23 */
#define CMPLX(re, im) (__builtin_complex((double)(re), (double)(im)))
#endif

#include "template/elementwise_lists.h"
#include "template/math.inc"
#include "template/complex_math.inc"

/* x * y + w rounded to odd: the product of two short floats is exact in double,
 * and the last bit of an inexact sum is set. So the rounding to the short dtype
 * never sees a false tie. */
static TSRI_NOINLINE double fma_odd(double x, double y, double w)
{
    const double product = x * y, sum = product + w;
    if (!isfinite(sum)) return sum;
    const double back = sum - product;
    const double lost = (product - (sum - back)) + (w - back);
    const uint64_t bits = tsri_f64_bits(sum);
    if (lost == 0 || (bits & 1)) return sum;
    const bool up = (lost > 0) == (sum > 0);
    return tsri_f64_from_bits(up ? bits + 1 : bits - 1);
}

/* Walks ---------------------------------------------------------------------------------- */

enum {
    RUN_BYTES = 32,  /* of a row that the compiler vectorises */
    BOOL_RUN = 16,   /* elements of a row of bool results, likewise */
    THROUGH = 128    /* elements widened at a time */
};

/* The result may be in place of an operand, but no element depends on another. */
#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#pragma clang diagnostic ignored "-Wpass-failed"  /* not every function has vector instructions */
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* Are the rows of the result and of nin operands contiguous? */
static inline bool is_contiguous(const tsri_tile *t, int nin, int64_t result, int64_t size)
{
    bool yes = t->col_step[0] == result;
    for (int o = 1; o <= nin; o++) yes &= t->col_step[o] == size;
    return yes;
}

/* The number of operands of a walker, and its result: the operands' dtype, a complex number's part, or
 * bool. */
enum { RESULT_SAME, RESULT_PART, RESULT_BOOL };
enum {
    OPERANDS_walk1 = 1, OPERANDS_each1 = 1, OPERANDS_each1p = 1, OPERANDS_test1 = 1, OPERANDS_walk_real = 1,
    OPERANDS_walk2 = 2, OPERANDS_each2 = 2, OPERANDS_test2 = 2, OPERANDS_each3 = 3,
    RESULT_OF_walk1 = RESULT_SAME, RESULT_OF_each1 = RESULT_SAME, RESULT_OF_each1p = RESULT_SAME,
    RESULT_OF_walk2 = RESULT_SAME, RESULT_OF_each2 = RESULT_SAME, RESULT_OF_each3 = RESULT_SAME,
    RESULT_OF_walk_real = RESULT_PART, RESULT_OF_test1 = RESULT_BOOL, RESULT_OF_test2 = RESULT_BOOL
};

/* Floats --------------------------------------------------------------------------------- */

#define TEMPLATE "float_parts.inc"
#include "template/each_float.inc"
#undef TEMPLATE

#define S double
#define DTYPE TSR_F64
#define NAME(x) ISA(x##_f64)
#include "template/walk.inc"
#include "template/float_ops.inc"

#define WALK_each1(f, p)  ISA(each1_f64)(t, f)
#define WALK_each2(f, p)  ISA(each2_f64)(t, f)
#define WALK_each1p(f, p) ISA(each1p_f64)(t, f, p)
#define WALK_each3(f, p)  ISA(each3_f64)(t, f, p)
#define MATH(walker, op, ID) \
    static void ISA(op##_f64)(const tsri_tile *t, const void *p) { (void)p; WALK_##walker(math_##op, p); }
#include "template/float_maths.inc"

/* Finer functions for f64 itself. Shorter dtypes use the kernels above. */
#define FINE_MATHS(X) \
    X(log10, LOG10) X(sinh, SINH) X(cosh, COSH) X(tanh, TANH) X(sigmoid, SIGMOID) X(silu, SILU) \
    X(gelu_tanh, GELU_TANH)
#define FINE_KERNEL(op, ID) \
    static void ISA(fine_##op##_f64)(const tsri_tile *t, const void *p)  \
    {                                                                    \
        (void)p;                                                         \
        ISA(each1_f64)(t, tsri_##op);                                    \
    }
#define ENTER_FINE(op, ID) table[TSR_OP_##ID][TSR_F64] = ISA(fine_##op##_f64);
FINE_MATHS(FINE_KERNEL)

static void enter_f64(tsri_tile_fn table[TSR_OP_COUNT][TSR_DTYPE_COUNT])
{
    ISA(enter_ops_f64)(table);
    ISA(enter_parts_f64)(table);
#define MATH(walker, op, ID) table[TSR_OP_##ID][TSR_F64] = ISA(op##_f64);
#include "template/float_maths.inc"
    FINE_MATHS(ENTER_FINE)
}
#undef FINE_MATHS
#undef FINE_KERNEL
#undef ENTER_FINE
#undef WALK_each1
#undef WALK_each2
#undef WALK_each1p
#undef WALK_each3
#undef S
#undef DTYPE
#undef NAME

#define S float
#define DTYPE TSR_F32
#define NAME(x) ISA(x##_f32)
#include "template/walk.inc"
#include "template/float_ops.inc"
#undef DTYPE
#undef NAME
#undef S

#define S float
#define D double
#define R float
#define E double
#define DTYPE TSR_F32
#define WIDEN(s) ((double)(s))
#define NARROW(d) ((float)(d))
#define NARROW_PART(d) ((float)(d))
#define OPS(X)
#define MATHS
#define WIDER(op) ISA(op##_f64)
#define NAME(x) ISA(x##_f32)
#include "template/through.inc"

#define TEMPLATE "through.inc"
#define EACH_SHORT "short_through.inc"
#include "template/each_short.inc"
#undef EACH_SHORT
#undef TEMPLATE

/* Complex numbers ------------------------------------------------------------------------- */

#define S tsr_c128
#define R double
#define DTYPE TSR_C128
#define NAME(x) ISA(x##_c128)
#include "template/complex_ops.inc"
#undef S
#undef R
#undef DTYPE
#undef NAME

#define COMPLEX_OPS(X) COMPLEX_WALKS(X) COMPLEX_THREES(X)
#define S tsr_c64
#define D tsr_c128
#define R float
#define E double
#define DTYPE TSR_C64
#define WIDEN(s) ((tsr_c128){ (double)(s).re, (double)(s).im })
#define NARROW(d) ((tsr_c64){ (float)(d).re, (float)(d).im })
#define NARROW_PART(e) ((float)(e))
#define OPS COMPLEX_OPS
#define WIDER(op) ISA(op##_c128)
#define NAME(x) ISA(x##_c64)
#include "template/through.inc"

/* Squares of floats neither overflow nor lose bits in double. Every instruction set computes it so. */
static void ISA(norm_c64)(const tsri_tile *t, const void *p)
{
    (void)p;
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t i = 0; i < t->cols; i++) {
            const tsr_c64 *x = (const void *)(t->ptr[1] + r * t->row_step[1] + i * t->col_step[1]);
            const double re = (double)x->re, im = (double)x->im;
            *(float *)(void *)(t->ptr[0] + r * t->row_step[0] + i * t->col_step[0]) =
                isinf(re) || isinf(im) ? (float)INFINITY : (float)sqrt(re * re + im * im);
        }
}

/* x conj(y) / |y|^2: products of floats are exact in double, so that parts keep their bits where they cancel.
 * Every instruction set computes it so. What is not finite follows the rules of C. */
static tsr_c64 quotient_c64(tsr_c64 x, tsr_c64 y)
{
    const double a = (double)x.re, b = (double)x.im, c = (double)y.re, d = (double)y.im;
    const double size = c * c + d * d, re = (a * c + b * d) / size, im = (b * c - a * d) / size;
    if (isfinite(re) && isfinite(im)) return (tsr_c64){ (float)re, (float)im };
    const double complex z = CMPLX(a, b) / CMPLX(c, d);
    return (tsr_c64){ (float)creal(z), (float)cimag(z) };
}

static tsr_c64 reciprocal_of_c64(tsr_c64 x, tsr_c64 y) { (void)y; return quotient_c64((tsr_c64){ 1, 0 }, x); }

/* x / |x| */
static tsr_c64 sign_of_c64(tsr_c64 x, tsr_c64 y)
{
    const double a = (double)x.re, b = (double)x.im, size = sqrt(a * a + b * b);
    (void)y;
    if (size > 0 && size < (double)INFINITY) return (tsr_c64){ (float)(a / size), (float)(b / size) };
    const double complex z = complex_sign(CMPLX(a, b));
    return (tsr_c64){ (float)creal(z), (float)cimag(z) };
}

static TSRI_ALWAYS_INLINE void walk_c64(const tsri_tile *t, int second, tsr_c64 (*f)(tsr_c64, tsr_c64))
{
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t i = 0; i < t->cols; i++) {
            const int64_t y_at = r * t->row_step[second] + i * t->col_step[second];
            const tsr_c64 *x = (const void *)(t->ptr[1] + r * t->row_step[1] + i * t->col_step[1]);
            *(tsr_c64 *)(void *)(t->ptr[0] + r * t->row_step[0] + i * t->col_step[0]) =
                f(*x, *(const tsr_c64 *)(const void *)(t->ptr[second] + y_at));
        }
}
static void ISA(quotients_c64)(const tsri_tile *t, const void *p)   { (void)p; walk_c64(t, 2, quotient_c64); }
static void ISA(reciprocals_c64)(const tsri_tile *t, const void *p)
{
    (void)p;
    walk_c64(t, 1, reciprocal_of_c64);
}
static void ISA(signs_c64)(const tsri_tile *t, const void *p)       { (void)p; walk_c64(t, 1, sign_of_c64); }

/* Integers and bool ----------------------------------------------------------------------- */

#define TEMPLATE "integer_math.inc"
#include "template/each_integer.inc"
#undef TEMPLATE
#define TEMPLATE "walk.inc"
#include "template/each_integer.inc"
#undef TEMPLATE
#define TEMPLATE "integer_ops.inc"
#include "template/each_integer.inc"
#undef TEMPLATE

#include "template/bool_ops.inc"
#define S uint8_t
#define NAME(x) ISA(x##_bool)
#include "template/walk.inc"
#undef S
#undef NAME

#define KERNEL(walker, op, ID) \
    static void ISA(op##_bool)(const tsri_tile *t, const void *p)   \
    {                                                               \
        (void)p;                                                    \
        ISA(walker##_bool)(t, ISA(op_##op##_bool));                 \
    }
#define ENTER(walker, op, ID) table[TSR_OP_##ID][TSR_BOOL] = ISA(op##_bool);
BOOL_WALKS(KERNEL)

static void enter_bool(tsri_tile_fn table[TSR_OP_COUNT][TSR_DTYPE_COUNT])
{
    BOOL_WALKS(ENTER) BOOL_SAME(ENTER)
}
#undef KERNEL
#undef ENTER

/* Elements of any kind ---------------------------------------------------------------------- */

#define TEMPLATE "select.inc"
#include "template/each_size.inc"
#undef TEMPLATE

static void enter_where(tsri_tile_fn table[TSR_OP_COUNT][TSR_DTYPE_COUNT])
{
    static const tsri_tile_fn by_size[] = { ISA(where_1), ISA(where_2), ISA(where_4), ISA(where_8),
                                            ISA(where_16) };
    for (int d = 1; d < TSR_DTYPE_COUNT; d++)
        table[TSR_OP_WHERE][d] = by_size[__builtin_ctz((unsigned)tsri_dtype_sizes[d])];
}

void tsri_cpu_elementwise_portable(tsri_cpu_kernels *k)
{
    tsri_tile_fn (*table)[TSR_DTYPE_COUNT] = k->elementwise;
#define X(ID, suffix, S, mant, exp, inf, dlpack) \
    ISA(enter_through_##suffix)(table); ISA(enter_parts_##suffix)(table);
#include "core/short_floats.def"
#undef X
    ISA(enter_ops_f32)(table); ISA(enter_through_f32)(table); ISA(enter_parts_f32)(table); enter_f64(table);
    ISA(enter_i8)(table); ISA(enter_i16)(table); ISA(enter_i32)(table); ISA(enter_i64)(table);
    ISA(enter_u8)(table); ISA(enter_u16)(table); ISA(enter_u32)(table); ISA(enter_u64)(table);
    ISA(enter_through_c64)(table); ISA(enter_c128)(table);
    table[TSR_OP_ABS][TSR_C64] = ISA(norm_c64);
    table[TSR_OP_DIV][TSR_C64] = ISA(quotients_c64);
    table[TSR_OP_SIGN][TSR_C64] = ISA(signs_c64);
    table[TSR_OP_RECIPROCAL][TSR_C64] = ISA(reciprocals_c64);
    enter_bool(table);
    enter_where(table);
}

#else

#include "kernels.h"

/* A freestanding build has no libm, and no elementwise ops. */
void tsri_cpu_elementwise_portable(tsri_cpu_kernels *k) { (void)k; }

#endif

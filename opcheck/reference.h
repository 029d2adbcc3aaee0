/* reference.h - what every elementwise op should give, one element at a time.
 *
 * Shares nothing with the kernels:
 *
 *   integers and bool   in 128 bits, then cut to the dtype
 *   + - * / sqrt fma    exact, rounded once (exact.h)
 *   other functions     in long double (reference_functions.inc)
 *
 * A result is right if it is within `units` last places of the value here, or its bits are those of the
 * value rounded once where units is 0. The units of an op are the .errors of its row in op.def, and what
 * long double may be off itself. logaddexp, lerp and addcmul have four roundings of the largest term
 * besides, which may cancel. Complex numbers: 1 (c64), 8 (c128) of the result's magnitude, not of each
 * part; for pow, times |y log x|.
 *
 * Not judged: complex products and quotients of c128 whose parts are beyond 2^+-200 (overflow on the
 * way), addcmul and lerp whose intermediate terms overflow the type computed in.
 *
 * LIMIT: needs 128-bit integers, which every 64-bit compiler has. */
#ifndef TSR_OPCHECK_REFERENCE_H
#define TSR_OPCHECK_REFERENCE_H

#include "elementwise_ops.h"
#include "exact.h"

typedef struct ew_want {
    enum { EW_BITS, EW_REAL, EW_COMPLEX, EW_PARTS, EW_CATEGORY, EW_NOT_FINITE, EW_ANYTHING } how;
    unsigned char bits[16];   /* EW_BITS; a NaN is any NaN */
    ew_real       re, im;     /* EW_COMPLEX: as a whole; EW_PARTS: each; EW_CATEGORY: inf, NaN, neither;
                                  EW_NOT_FINITE: either */
    ew_real       units;      /* 0: rounded once */
    ew_real       slack;      /* absolute, besides */
    bool          any_zero;   /* the sign of a zero is free */
} ew_want;

/* What `op` must give for elements of one dtype (where: a bool and two of it). params may be NULL if the op
 * has none. */
ew_want ew_eval(tsr_op_kind op, tsr_dtype dtype, const unsigned char *const in[3], const double *params);

/* What a backend other than the CPU's may give: off by the op's .device_error as well, and with any sign of
 * a zero. That error is what OpenCL's full profile promises of its functions, the least that backends offer,
 * and two units more. Complex functions are compositions: their errors are relative to the whole number. */
ew_want ew_on_device(ew_want w, const elementwise_op *op, tsr_dtype result);

/* Is this element of the result's dtype right? */
bool ew_is_right(tsr_dtype result, const unsigned char *got, const ew_want *w);

/* Values that must come out ------------------------------------------------------------------ */

static inline ew_want ew_want_int(tsr_dtype dtype, ew_int value)
{
    ew_want w = { .how = EW_BITS };
    ref_store_bits(w.bits, ref_size(dtype), (uint64_t)(ew_bits)value);
    return w;
}

static inline ew_want ew_want_bool(bool value)
{
    ew_want w = { .how = EW_BITS };
    w.bits[0] = value;
    return w;
}

static inline ew_want ew_want_exact(tsr_dtype real, ew_exact x)
{
    ew_want w = { .how = EW_BITS };
    ref_store_bits(w.bits, ref_size(real), ref_encode_float(real, ew_shorten(x)));
    return w;
}

static inline ew_want ew_want_once(tsr_dtype real, ew_real x)
{
    ew_want w = { .how = EW_BITS };
    ref_store_bits(w.bits, ref_size(real), ref_encode_float(real, ew_number_of(x)));
    return w;
}

static inline ew_want ew_want_near(ew_real x, ew_real units)
{
    return (ew_want){ .how = EW_REAL, .re = x, .units = units };
}

/* The parts of ew_eval: for floats, for integers and bool, for complex numbers. */
ew_want ew_eval_float(tsr_op_kind op, tsr_dtype dtype, const unsigned char *const *in, const double *params);
ew_want ew_eval_int(tsr_op_kind op, tsr_dtype dtype, const unsigned char *const *in, const double *params);
ew_want ew_eval_complex(tsr_op_kind op, tsr_dtype dtype, const unsigned char *const *in,
                        const double *params);

/* Functions of real and complex numbers in long double; x are re and im, one after the other. */
ew_real    ew_real_function(tsr_op_kind op, const ew_real *x, const double *params);
ew_complex ew_complex_function(tsr_op_kind op, const ew_real *x, const double *params);

#endif

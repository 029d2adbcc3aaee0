/* reference_complex.c - elementwise ops on complex numbers. */
#include <stdio.h>
#include <stdlib.h>

#include "reference.h"

static bool ew_is_finite(ew_complex z) { return isfinite(creall(z)) && isfinite(cimagl(z)); }

/* Are the finite parts 0 or within 2^+-exponent? */
static bool ew_is_within(ew_complex z, int exponent)
{
    const ew_real part[2] = { fabsl(creall(z)), fabsl(cimagl(z)) };
    for (int i = 0; i < 2; i++)
        if (part[i] != 0 && isfinite(part[i]) &&
            (part[i] < ldexpl(1, -exponent) || part[i] > ldexpl(1, exponent)))
            return false;
    return true;
}

/* x y, in parts, as long as both are finite; else as the C standard says. */
static ew_complex ew_times(ew_complex x, ew_complex y)
{
    if (!ew_is_finite(x) || !ew_is_finite(y)) return x * y;
    const ew_real a = creall(x), b = cimagl(x), p = creall(y), q = cimagl(y);
    return ew_make(a * p - b * q, a * q + b * p);
}

/* By Smith's method. */
static ew_complex ew_over(ew_complex x, ew_complex y)
{
    const ew_real a = creall(x), b = cimagl(x), p = creall(y), q = cimagl(y);
    if (!ew_is_finite(x) || !ew_is_finite(y) || y == 0) return x / y;
    if (fabsl(p) >= fabsl(q)) {
        const ew_real r = q / p, d = p + q * r;
        return ew_make((a + b * r) / d, (b - a * r) / d);
    }
    const ew_real r = p / q, d = p * r + q;
    return ew_make((a * r + b) / d, (b * r - a) / d);
}

static bool ew_complex_test(bool *z, tsr_op_kind op, ew_complex x, ew_complex y)
{
    const bool fx = creall(x) != 0 || cimagl(x) != 0, fy = creall(y) != 0 || cimagl(y) != 0;
    const bool same = creall(x) == creall(y) && cimagl(x) == cimagl(y);
    switch (op) {
    case TSR_OP_ISFINITE:    *z = ew_is_finite(x); return true;
    case TSR_OP_ISINF:       *z = isinf(creall(x)) || isinf(cimagl(x)); return true;
    case TSR_OP_ISNAN:       *z = isnan(creall(x)) || isnan(cimagl(x)); return true;
    case TSR_OP_LOGICAL_NOT: *z = !fx; return true;
    case TSR_OP_EQ:          *z = same; return true;
    case TSR_OP_NE:          *z = !same; return true;
    case TSR_OP_LOGICAL_AND: *z = fx && fy; return true;
    case TSR_OP_LOGICAL_OR:  *z = fx || fy; return true;
    case TSR_OP_LOGICAL_XOR: *z = fx != fy; return true;
    default:                 return false;
    }
}

static ew_want ew_want_pair(tsr_dtype dtype, ew_real re, ew_real im)
{
    const tsr_dtype part = ref_part(dtype);
    ew_want w = { .how = EW_BITS };
    ref_store_bits(w.bits, ref_size(part), ref_encode_float(part, ew_number_of(re)));
    ref_store_bits(w.bits + ref_size(part), ref_size(part), ref_encode_float(part, ew_number_of(im)));
    return w;
}

/* The sum of the parts, rounded once each. */
static ew_want ew_complex_add(tsr_dtype dtype, const unsigned char *x, const unsigned char *y,
                                     bool minus)
{
    const tsr_dtype part = ref_part(dtype);
    const int64_t size = ref_size(part);
    ew_want w = { .how = EW_BITS };
    for (int i = 0; i < 2; i++) {
        ew_exact b = ew_exact_of(ref_decode(part, y + i * size));
        if (minus) b.negative = !b.negative;
        const ew_exact sum = ew_add(ew_exact_of(ref_decode(part, x + i * size)), b);
        ref_store_bits(w.bits + i * size, size, ref_encode_float(part, ew_shorten(sum)));
    }
    return w;
}

static ew_want ew_complex_near(tsr_dtype dtype, ew_complex z, ew_real units)
{
    return (ew_want){ .how = EW_COMPLEX, .re = creall(z), .im = cimagl(z),
                      .units = dtype == TSR_C64 ? 1 : units, .any_zero = true };
}

static ew_want ew_complex_pow(tsr_dtype dtype, ew_complex x, ew_complex y)
{
    if (y == 0) return ew_want_pair(dtype, 1, 0);
    if (x == 0) return creall(y) > 0 ? ew_want_pair(dtype, 0, 0) : (ew_want){ .how = EW_ANYTHING };
    const ew_complex power = ew_times(y, clogl(x));
    ew_want w = ew_complex_near(dtype, cexpl(power), 8 + 8 * cabsl(power));
    if (dtype == TSR_C64) w.slack = (8 + 8 * cabsl(power)) * (ew_real)DBL_EPSILON * hypotl(w.re, w.im);
    if (!(cabsl(power) < 1e6L) || !(hypotl(w.re, w.im) < ew_largest(ref_part(dtype)) / 2))
        w.how = EW_ANYTHING;
    return w;
}

/* Products, quotients and what is made of them. `size` bounds the terms that may cancel. */
static ew_want ew_complex_arithmetic(tsr_op_kind op, tsr_dtype dtype, const ew_complex *v,
                                            const double *params)
{
    const ew_complex x = v[0], y = v[1], w = v[2], one = ew_make(1, 0);
    ew_complex z = 0;
    ew_real size = 0;
    for (int i = 0; i < 3; i++)
        if (dtype == TSR_C128 && !ew_is_within(v[i], 200)) return (ew_want){ .how = EW_ANYTHING };
    switch (op) {
    case TSR_OP_SQUARE:     z = ew_times(x, x); break;
    case TSR_OP_MUL:        z = ew_times(x, y); break;
    case TSR_OP_DIV:        z = ew_over(x, y); break;
    case TSR_OP_RECIPROCAL: z = ew_over(one, x); break;
    case TSR_OP_RSQRT:      z = ew_over(one, csqrtl(x)); break;
    case TSR_OP_FMA:        z = ew_times(x, y) + w; size = cabsl(x) * cabsl(y) + cabsl(w); break;
    case TSR_OP_ADDCMUL:
        z = x + ew_times(ew_make(params[0] * creall(y), params[0] * cimagl(y)), w);
        size = cabsl(x) + fabsl((ew_real)params[0]) * cabsl(y) * cabsl(w);
        break;
    case TSR_OP_LERP:
        z = cabsl(w) < 0.5L ? x + ew_times(w, y - x) : y - ew_times(y - x, one - w);
        size = (cabsl(x) + cabsl(y)) * (2 + cabsl(w));
        break;
    default:
        printf("the reference does not know %s of complex numbers\n", tsr_op_get_info(op)->name);
        abort();
    }
    ew_want want = ew_complex_near(dtype, z, 8);
    if (isfinite(size)) want.slack = 8 * (ew_real)DBL_EPSILON * size;
    if (!ew_is_finite(x) || !ew_is_finite(y) || !ew_is_finite(w) || !ew_is_finite(z))
        want.how = op == TSR_OP_SQUARE || op == TSR_OP_MUL || op == TSR_OP_DIV ? EW_CATEGORY : EW_ANYTHING;
    return want;
}

/* The functions that are neither arithmetic nor made of it. */
static bool is_function(tsr_op_kind op)
{
    switch (op) {
    case TSR_OP_SQRT:
    case TSR_OP_EXP:
    case TSR_OP_EXPM1:
    case TSR_OP_LOG:
    case TSR_OP_LOG2:
    case TSR_OP_LOG10:
    case TSR_OP_LOG1P: case TSR_OP_SIN: case TSR_OP_COS: case TSR_OP_TAN: case TSR_OP_ASIN: case TSR_OP_ACOS:
    case TSR_OP_ATAN:
    case TSR_OP_SINH:
    case TSR_OP_COSH:
    case TSR_OP_TANH:
    case TSR_OP_ASINH:
    case TSR_OP_ACOSH:
    case TSR_OP_ATANH: return true;
    default: return false;
    }
}

ew_want ew_eval_complex(tsr_op_kind op, tsr_dtype dtype, const unsigned char *const *in, const double *params)
{
    const tsr_dtype part = ref_part(dtype);
    ew_complex v[3] = { 0, 0, 0 };
    bool yes = false;
    for (int i = 0; i < 3; i++) if (in[i]) v[i] = ew_load_complex(dtype, in[i]);
    const ew_real a = creall(v[0]), b = cimagl(v[0]), size = hypotl(a, b);
    if (ew_complex_test(&yes, op, v[0], v[1])) return ew_want_bool(yes);
    if (is_function(op)) {
        const ew_complex z = ew_complex_function(op, (const ew_real[]){ a, b }, params);
        ew_want w = ew_complex_near(dtype, z, 8);
        if (!ew_is_finite(v[0]) || !ew_is_finite(z)) w.how = EW_PARTS;
        return w;
    }
    switch (op) {
    case TSR_OP_ABS:   return ew_want_near(size, dtype == TSR_C64 ? 1 : 2);
    case TSR_OP_REAL:  return ew_want_once(part, a);
    case TSR_OP_IMAG:  return ew_want_once(part, b);
    case TSR_OP_ANGLE: return ew_want_near(atan2l(b, a), dtype == TSR_C64 ? 1 : 2);
    case TSR_OP_NEG:   return ew_want_pair(dtype, -a, -b);
    case TSR_OP_CONJ:  return ew_want_pair(dtype, a, -b);
    case TSR_OP_ROUND: return ew_want_pair(dtype, rintl(a), rintl(b));
    case TSR_OP_SIGN:
        if (size == 0) return ew_want_pair(dtype, 0, 0);
        if (isfinite(size)) return ew_complex_near(dtype, ew_make(a / size, b / size), 4);
        return isnan(a) || isnan(b) ? ew_want_pair(dtype, NAN, NAN)
                                    : (ew_want){ .how = EW_CATEGORY, .re = NAN };
    case TSR_OP_ADD:
    case TSR_OP_SUB:   return ew_complex_add(dtype, in[0], in[1], op == TSR_OP_SUB);
    case TSR_OP_POW:   return ew_complex_pow(dtype, v[0], v[1]);
    default:           return ew_complex_arithmetic(op, dtype, v, params);
    }
}

/* reference.c - elementwise ops in long double, and whether an element is what they give. */
#include "reference.h"
#include "tessera/op_rows.h"

#define W       ew_real
#define WC      ew_complex
#define F(f)    f##l
#define NAME(x) long_##x
#include "reference_functions.inc"

ew_real ew_real_function(tsr_op_kind op, const ew_real *x, const double *params)
{
    return long_reals[op](x, params);
}

ew_complex ew_complex_function(tsr_op_kind op, const ew_real *x, const double *params)
{
    return long_complexes[op](x, params);
}

ew_want ew_eval(tsr_op_kind op, tsr_dtype dtype, const unsigned char *const in[3], const double *params)
{
    if (op == TSR_OP_WHERE) {
        ew_want w = { .how = EW_BITS };
        memcpy(w.bits, *in[0] ? in[1] : in[2], (size_t)ref_size(dtype));
        return w;
    }
    if (ref_is_complex(dtype)) return ew_eval_complex(op, dtype, in, params);
    if (ref_is_float(dtype)) return ew_eval_float(op, dtype, in, params);
    return ew_eval_int(op, dtype, in, params);
}

/* Other backends --------------------------------------------------------------------------- */

enum { COMPLEX_UNITS = 64 };
#define COMPLEX_LEAST 0.25L

/* Ops of complex numbers that are one of reals for each part. */
static bool is_of_parts(tsr_op_kind op)
{
    switch (op) {
    case TSR_OP_ADD: case TSR_OP_SUB: case TSR_OP_NEG: case TSR_OP_CONJ: case TSR_OP_REAL: case TSR_OP_IMAG:
    case TSR_OP_WHERE: case TSR_OP_ROUND: return true;
    default: return false;
    }
}

/* Errors are counted in units of the type computed in; short floats are rounded to a neighbour besides. */
static ew_real ew_device_slack(tsr_dtype part, ew_real size, ew_real units, ew_real least)
{
    const tsr_dtype in = part == TSR_F64 ? TSR_F64 : TSR_F32;
    if (units == 0 || !isfinite(size)) return 0;
    return units * ew_unit(in, size > least ? size : least) + (part == in ? 0 : ew_unit(part, size));
}

static ew_want ew_load_bits(ew_want w, tsr_dtype result)
{
    const tsr_dtype part = ref_part(result);
    w.re = ew_load(part, w.bits);
    w.im = ref_is_complex(result) ? ew_load(part, w.bits + ref_size(part)) : 0;
    w.how = ref_is_complex(result) ? EW_PARTS : EW_REAL;
    return w;
}

static ew_want ew_complex_on_device(ew_want w, const elementwise_facts *f, tsr_dtype part)
{
    const ew_real least = (ew_real)f->device_least, size = hypotl(w.re, w.im);
    if (!isfinite(w.re) || !isfinite(w.im)) {
        w.how = EW_NOT_FINITE;
        return w;
    }
    w.how = EW_COMPLEX;
    w.slack += ew_device_slack(part, size, COMPLEX_UNITS + 8 * (ew_real)f->device_error,
                               f->device_error > 0 && least < COMPLEX_LEAST ? COMPLEX_LEAST : least);
    return w;
}

ew_want ew_on_device(ew_want w, const elementwise_op *op, tsr_dtype result)
{
    const elementwise_facts *f = &op->facts;
    const tsr_dtype part = ref_part(result);
    if (!ref_is_float(part) || w.how == EW_ANYTHING) return w;
    if (w.how == EW_BITS) w = ew_load_bits(w, result);
    w.any_zero = true;
    if (!ref_is_complex(result))
        w.slack += ew_device_slack(part, fabsl(w.re), (ew_real)f->device_error, (ew_real)f->device_least);
    else if (!is_of_parts(op->kind)) w = ew_complex_on_device(w, f, part);
    return w;
}

/* Judging ---------------------------------------------------------------------------------- */

static bool ew_bits_are(tsr_dtype part, const unsigned char *got, const unsigned char *want)
{
    const int64_t size = ref_size(part);
    if (!memcmp(got, want, (size_t)size)) return true;
    return ref_is_float(part) && ref_decode(part, got).kind == REF_NAN &&
           ref_decode(part, want).kind == REF_NAN;
}

/* Is g within `off` of want? What is beyond the largest number may be infinite, or must be. */
static bool ew_is_near(tsr_dtype part, ew_real g, ew_real want, ew_real off)
{
    const ew_real largest = ew_largest(part), beyond = largest + ew_unit(part, largest) / 2;
    const bool no_infinity = ref_is_float(part) && !ref_format_of(part).infinities;
    if (isnan(want)) return isnan(g);
    if (!isfinite(g)) {
        const bool side = no_infinity ? isnan(g) : isinf(g) && (g > 0) == (want > 0);
        return side && fabsl(want) + off >= beyond;
    }
    return isfinite(want) && fabsl(g - want) <= off;
}

static bool ew_is_real(tsr_dtype part, const unsigned char *got, const ew_want *w)
{
    const ew_real g = ew_load(part, got);
    if (w->re == 0 && !w->any_zero && w->slack == 0) return g == 0 && !signbit(g) == !signbit(w->re);
    return ew_is_near(part, g, w->re, w->units * ew_unit(part, w->re) + w->slack);
}

static bool ew_is_complex(tsr_dtype part, const unsigned char *got, const ew_want *w)
{
    const ew_real re = ew_load(part, got), im = ew_load(part, got + ref_size(part));
    const ew_real size = hypotl(w->re, w->im), off = w->units * ew_unit(part, size) + w->slack;
    return ew_is_near(part, re, w->re, off) && ew_is_near(part, im, w->im, off);
}

/* Infinite, NaN or finite as wanted; finite parts near. */
static bool ew_part_is(tsr_dtype part, const unsigned char *got, ew_real want, ew_real units)
{
    const ew_real g = ew_load(part, got);
    if (!isfinite(want)) return isnan(want) ? isnan(g) : isinf(g);
    return ew_is_near(part, g, want, units * ew_unit(part, want));
}

static bool ew_category_is(tsr_dtype part, const unsigned char *got, const ew_want *w)
{
    const ew_real re = ew_load(part, got), im = ew_load(part, got + ref_size(part));
    if (isinf(w->re) || isinf(w->im)) return isinf(re) || isinf(im);
    if (isnan(w->re) || isnan(w->im)) return isnan(re) || isnan(im);
    return true;
}

bool ew_is_right(tsr_dtype result, const unsigned char *got, const ew_want *w)
{
    const tsr_dtype part = ref_part(result);
    const int64_t size = ref_size(part);
    switch (w->how) {
    case EW_BITS:
        return ew_bits_are(part, got, w->bits) &&
               (!ref_is_complex(result) || ew_bits_are(part, got + size, w->bits + size));
    case EW_REAL:     return ew_is_real(part, got, w);
    case EW_COMPLEX:  return ew_is_complex(part, got, w);
    case EW_PARTS:
        return ew_part_is(part, got, w->re, w->units) && ew_part_is(part, got + size, w->im, w->units);
    case EW_CATEGORY: return ew_category_is(part, got, w);
    case EW_NOT_FINITE:
        return !isfinite(ew_load(part, got)) || !isfinite(ew_load(part, got + size));
    default:          return true;
    }
}

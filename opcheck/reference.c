/* reference.c - elementwise ops in long double, and whether an element is what they give. */
#include "reference.h"
#include "tessera/op_rows.h"

#define W       ew_real
#define WC      ew_complex
#define F(f)    f##l
#define NAME(x) long_##x
#include "reference_functions.inc"

ew_real ew_real_function(tsr_op_kind op, const ew_real *x, const double *params) { return long_reals[op](x, params); }

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
    const bool no_infinity = part == TSR_F8E4M3;
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
    default:          return true;
    }
}

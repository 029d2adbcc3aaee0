/* reference_float.c - elementwise ops on floats. */
#include "elementwise_ops.h"
#include "reference.h"

static bool ew_test(bool *z, tsr_op_kind op, ew_real x, ew_real y)
{
    switch (op) {
    case TSR_OP_ISFINITE:    *z = isfinite(x); return true;
    case TSR_OP_ISINF:       *z = isinf(x); return true;
    case TSR_OP_ISNAN:       *z = isnan(x); return true;
    case TSR_OP_SIGNBIT:     *z = signbit(x) != 0; return true;
    case TSR_OP_LOGICAL_NOT: *z = x == 0; return true;
    case TSR_OP_EQ:          *z = x == y; return true;
    case TSR_OP_NE:          *z = x != y; return true;
    case TSR_OP_LT:          *z = x < y; return true;
    case TSR_OP_LE:          *z = x <= y; return true;
    case TSR_OP_GT:          *z = x > y; return true;
    case TSR_OP_GE:          *z = x >= y; return true;
    case TSR_OP_LOGICAL_AND: *z = x != 0 && y != 0; return true;
    case TSR_OP_LOGICAL_OR:  *z = x != 0 || y != 0; return true;
    case TSR_OP_LOGICAL_XOR: *z = (x != 0) != (y != 0); return true;
    default:                 return false;
    }
}

/* The floor of the quotient: exact below 2^53, the quotient to a unit above. */
static ew_want ew_floor_div(tsr_dtype dtype, ew_real x, ew_real y)
{
    if (isnan(x) || isnan(y) || isinf(x) || isinf(y) || y == 0 || x == 0) return ew_want_once(dtype, x / y);
    if (fabsl(x / y) >= 0x1p53L) return ew_want_near(x / y, 1);
    const ew_real rest = fmodl(x, y), whole = roundl((x - rest) / y);
    const bool down = rest != 0 && (x < 0) != (y < 0);
    return ew_want_once(dtype, down ? whole - 1 : copysignl(whole, x / y));
}

static ew_want ew_remainder(tsr_dtype dtype, ew_real x, ew_real y)
{
    if (isnan(x) || isnan(y) || isinf(x) || y == 0) return ew_want_once(dtype, NAN);
    if (isinf(y)) return ew_want_once(dtype, x == 0 ? copysignl(0, y) : (x < 0) != (y < 0) ? y : x);
    const ew_real rest = fmodl(x, y);
    if (rest == 0) return ew_want_once(dtype, copysignl(0, y));
    if ((rest < 0) == (y < 0)) return ew_want_once(dtype, rest);
    return ew_want_exact(dtype, ew_add(ew_exact_of(ew_number_of(rest)), ew_exact_of(ew_number_of(y))));
}

static ew_want ew_logaddexp(ew_real x, ew_real y, ew_real units)
{
    const ew_real high = x > y ? x : y, low = x > y ? y : x;
    if (isnan(x) || isnan(y)) return ew_want_near(NAN, units);
    if (isinf(high)) return ew_want_near(high, units);
    if (isinf(low)) return (ew_want){ .how = EW_REAL, .re = high, .any_zero = true };
    ew_want w = ew_want_near(high + log1pl(expl(low - high)), units);
    w.slack = 4 * (ew_real)DBL_EPSILON * (fabsl(high) + (high - low) * expl(low - high));
    w.any_zero = true;
    return w;
}

static ew_want ew_lerp(tsr_dtype dtype, ew_real x, ew_real y, ew_real v)
{
    if (isfinite(x) && isfinite(y) && (v == 0 || v == 1)) {
        ew_want w = ew_want_near(v == 0 ? x : y, 0.25L);  /* a quarter of a unit: exactly it */
        w.any_zero = true;
        if (dtype == TSR_F64 && fabsl(y - x) > ew_largest(TSR_F64)) w.how = EW_ANYTHING;
        return w;
    }
    ew_want w = ew_want_near(v < 0.5L ? x + v * (y - x) : y - (y - x) * (1 - v), 1);
    const ew_real scale = fabsl(x) + fabsl(y) + (fabsl(x) + fabsl(y)) * fabsl(v);
    w.any_zero = true;
    if (isfinite(scale)) w.slack = 4 * (ew_real)DBL_EPSILON * scale;
    if (dtype == TSR_F64 && isfinite(scale) && scale > ew_largest(TSR_F64) / 4) w.how = EW_ANYTHING;
    return w;
}

static ew_want ew_addcmul(tsr_dtype dtype, ew_real x, ew_real y, ew_real v, ew_real a)
{
    const tsr_dtype in = dtype == TSR_F64 ? TSR_F64 : TSR_F32;
    const ew_real first = a * y, product = first * v;
    ew_want w = ew_want_near(x + product, 1);
    const ew_real scale = fabsl(x) + fabsl(product);
    const bool wild = (isfinite(first) && (fabsl(first) > ew_largest(in) ||
                                           (first != 0 && fabsl(first) < ldexpl(ew_unit(in, 0), 30)))) ||
                      (isfinite(product) && fabsl(product) > ew_largest(in) / 2);
    w.any_zero = true;
    if (wild) w.how = EW_ANYTHING;
    if (isfinite(scale)) w.slack = 4 * (in == TSR_F64 ? (ew_real)DBL_EPSILON : (ew_real)FLT_EPSILON) * scale +
                                   2 * ew_unit(in, 0);
    return w;
}

/* Below 0 it is a difference, which is near 0 between any two poles; beside its zero at 1.46 the reference
 * here has few digits (test_accuracy has more). */
static ew_want ew_digamma(tsr_dtype dtype, ew_real x, ew_real units)
{
    ew_want w = ew_want_near(ew_real_function(TSR_OP_DIGAMMA, &x, NULL), units);
    if (dtype == TSR_F64 && x > 1 && x < 2) w.slack = 16 * LDBL_EPSILON;
    if (dtype == TSR_F64 && x < 0 && isfinite(w.re))
        w.slack = units * (ew_real)DBL_EPSILON * (1 + log1pl(-x));
    return w;
}

/* The neighbour of x on the way to y, by counting through the patterns in order of value. */
static ew_want ew_nextafter(tsr_dtype dtype, const unsigned char *x, const unsigned char *y)
{
    const ew_real from = ew_load(dtype, x), to = ew_load(dtype, y);
    if (isnan(from) || isnan(to)) return ew_want_once(dtype, NAN);
    if (from == to) return ew_want_once(dtype, to);
    const int bits = ref_bits(dtype);
    const uint64_t sign = (uint64_t)1 << (bits - 1), pattern = ref_load_bits(x, ref_size(dtype));
    const ew_int place = pattern & sign ? -(ew_int)(pattern & ~sign) : (ew_int)pattern;
    const ew_int next = from < to ? place + 1 : place - 1;
    ew_want w = { .how = EW_BITS };
    uint64_t z = next < 0 ? (uint64_t)-next | sign : (uint64_t)next;
    if (next == 0 && place < 0) z = sign;  /* the zero on the side of x */
    ref_store_bits(w.bits, ref_size(dtype), z);
    return w;
}

/* Of a function that is rounded, in units: what its row allows, and what long double may be off: more where
 * the function is as steep as its argument is large. */
static ew_real units_of(tsr_op_kind op, tsr_dtype dtype)
{
    const double *errors = elementwise_find(op)->facts.errors;
    if (dtype == TSR_F64) return errors[ERRORS_F64] + (LDBL_MANT_DIG > 53 ? 1 : 3);
    return errors[dtype == TSR_F32 ? ERRORS_F32 : ERRORS_SHORT] + 0.01L;
}

static bool is_exact(tsr_op_kind op)
{
    const double *errors = elementwise_find(op)->facts.errors;
    return errors[ERRORS_SHORT] == 0 && errors[ERRORS_F32] == 0 && errors[ERRORS_F64] == 0;
}

ew_want ew_eval_float(tsr_op_kind op, tsr_dtype dtype, const unsigned char *const *in, const double *params)
{
    ew_real v[3] = { 0, 0, 0 };
    ew_exact e[3];
    bool yes = false;
    for (int i = 0; i < 3; i++) {
        if (!in[i]) continue;
        v[i] = ew_load(dtype, in[i]);
        e[i] = ew_exact_of(ref_decode(dtype, in[i]));
    }
    if (ew_test(&yes, op, v[0], v[1])) return ew_want_bool(yes);
    switch (op) {
    case TSR_OP_SQUARE:     return ew_want_exact(dtype, ew_mul(e[0], e[0]));
    case TSR_OP_SQRT:       return ew_want_exact(dtype, ew_sqrt(e[0]));
    case TSR_OP_RECIPROCAL: return ew_want_exact(dtype, ew_div((ew_exact){ REF_FINITE, false, 1, 0 }, e[0]));
    case TSR_OP_ADD:        return ew_want_exact(dtype, ew_add(e[0], e[1]));
    case TSR_OP_SUB:        e[1].negative = !e[1].negative; return ew_want_exact(dtype, ew_add(e[0], e[1]));
    case TSR_OP_MUL:        return ew_want_exact(dtype, ew_mul(e[0], e[1]));
    case TSR_OP_DIV:        return ew_want_exact(dtype, ew_div(e[0], e[1]));
    case TSR_OP_FMA:        return ew_want_exact(dtype, ew_add(ew_mul(e[0], e[1]), e[2]));
    case TSR_OP_FLOOR_DIV:  return ew_floor_div(dtype, v[0], v[1]);
    case TSR_OP_REMAINDER:  return ew_remainder(dtype, v[0], v[1]);
    case TSR_OP_LOGADDEXP:  return ew_logaddexp(v[0], v[1], units_of(op, dtype));
    case TSR_OP_DIGAMMA:    return ew_digamma(dtype, v[0], units_of(op, dtype));
    case TSR_OP_NEXTAFTER:  return ew_nextafter(dtype, in[0], in[1]);
    case TSR_OP_LERP:       return ew_lerp(dtype, v[0], v[1], v[2]);
    case TSR_OP_ADDCMUL:    return ew_addcmul(dtype, v[0], v[1], v[2], params[0]);
    case TSR_OP_ELU:
    case TSR_OP_LEAKY_RELU: if (!(v[0] < 0)) return ew_want_once(dtype, v[0]); break;
    default:                break;
    }
    const ew_real z = ew_real_function(op, v, params);
    return is_exact(op) ? ew_want_once(dtype, z) : ew_want_near(z, units_of(op, dtype));
}

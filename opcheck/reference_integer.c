/* reference_integer.c - elementwise ops on integers and bool, in 128 bits. */
#include <stdio.h>
#include <stdlib.h>

#include "reference.h"

/* Modulo 2^128, which holds every modulus here. */
static ew_bits ew_power(ew_bits x, uint64_t n)
{
    if (n == 0) return 1;
    const ew_bits half = ew_power(x, n / 2);
    return half * half * (n % 2 ? x : 1);
}

static ew_int ew_int_pow(ew_int x, ew_int y)
{
    if (y >= 0) return (ew_int)ew_power((ew_bits)x, (uint64_t)y);
    return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
}

static ew_int ew_int_floor(ew_int x, ew_int y)
{
    if (y == 0) return 0;
    return x / y - (x % y != 0 && (x < 0) != (y < 0));
}

static bool ew_int_test(bool *z, tsr_op_kind op, ew_int x, ew_int y)
{
    switch (op) {
    case TSR_OP_ISFINITE:    *z = true; return true;
    case TSR_OP_ISINF:
    case TSR_OP_ISNAN:       *z = false; return true;
    case TSR_OP_SIGNBIT:     *z = x < 0; return true;
    case TSR_OP_LOGICAL_NOT: *z = x == 0; return true;
    case TSR_OP_EQ:          *z = x == y; return true;
    case TSR_OP_NE:          *z = x != y; return true;
    case TSR_OP_LT:          *z = x < y; return true;
    case TSR_OP_LE:          *z = x <= y; return true;
    case TSR_OP_GT:          *z = x > y; return true;
    case TSR_OP_GE:          *z = x >= y; return true;
    case TSR_OP_LOGICAL_AND: *z = x && y; return true;
    case TSR_OP_LOGICAL_OR:  *z = x || y; return true;
    case TSR_OP_LOGICAL_XOR: *z = !x != !y; return true;
    default:                 return false;
    }
}

ew_want ew_eval_int(tsr_op_kind op, tsr_dtype dtype, const unsigned char *const *in, const double *params)
{
    ew_int v[3] = { 0, 0, 0 };
    bool yes = false;
    for (int i = 0; i < 3; i++) if (in[i]) v[i] = ew_load_int(dtype, in[i]);
    const ew_int x = v[0], y = v[1], w = v[2];
    const ew_bits ux = (ew_bits)x, uy = (ew_bits)y, uw = (ew_bits)w;
    const bool shifts_out = y < 0 || y >= ref_bits(dtype);
    if (ew_int_test(&yes, op, x, y)) return ew_want_bool(yes);
    switch (op) {
    case TSR_OP_ABS:         return ew_want_int(dtype, x < 0 ? -x : x);
    case TSR_OP_NEG:         return ew_want_int(dtype, -x);
    case TSR_OP_SIGN:        return ew_want_int(dtype, (x > 0) - (x < 0));
    case TSR_OP_SQUARE:      return ew_want_int(dtype, (ew_int)(ux * ux));
    case TSR_OP_CEIL:
    case TSR_OP_FLOOR:
    case TSR_OP_ROUND:
    case TSR_OP_TRUNC:
    case TSR_OP_CONJ:
    case TSR_OP_REAL:        return ew_want_int(dtype, x);
    case TSR_OP_IMAG:        return ew_want_int(dtype, 0);
    case TSR_OP_RELU:        return ew_want_int(dtype, x > 0 ? x : 0);
    case TSR_OP_BITWISE_NOT: return ew_want_int(dtype, dtype == TSR_BOOL ? !x : -x - 1);
    case TSR_OP_ADD:         return ew_want_int(dtype, x + y);
    case TSR_OP_SUB:         return ew_want_int(dtype, x - y);
    case TSR_OP_MUL:         return ew_want_int(dtype, (ew_int)(ux * uy));
    case TSR_OP_FLOOR_DIV:   return ew_want_int(dtype, ew_int_floor(x, y));
    case TSR_OP_REMAINDER:   return ew_want_int(dtype, y == 0 ? 0 : x - y * ew_int_floor(x, y));
    case TSR_OP_POW:         return ew_want_int(dtype, ew_int_pow(x, y));
    case TSR_OP_MAXIMUM:
    case TSR_OP_FMAX:        return ew_want_int(dtype, x > y ? x : y);
    case TSR_OP_MINIMUM:
    case TSR_OP_FMIN:        return ew_want_int(dtype, x < y ? x : y);
    case TSR_OP_BITWISE_AND: return ew_want_int(dtype, x & y);
    case TSR_OP_BITWISE_OR:  return ew_want_int(dtype, x | y);
    case TSR_OP_BITWISE_XOR: return ew_want_int(dtype, x ^ y);
    case TSR_OP_SHIFT_LEFT:  return ew_want_int(dtype, shifts_out ? 0 : (ew_int)(ux << (int)y));
    case TSR_OP_SHIFT_RIGHT:
        return ew_want_int(dtype, shifts_out ? -(x < 0) : ew_int_floor(x, (ew_int)1 << (int)y));
    case TSR_OP_CLIP:        return ew_want_int(dtype, (x > y ? x : y) < w ? (x > y ? x : y) : w);
    case TSR_OP_FMA:         return ew_want_int(dtype, (ew_int)(ux * uy + uw));
    case TSR_OP_ADDCMUL:     return ew_want_int(dtype, (ew_int)(ux + (ew_bits)(ew_int)params[0] * uy * uw));
    default:                 break;
    }
    printf("the reference does not know %s of integers\n", tsr_op_get_info(op)->name);
    abort();
}

/* integer.cl - functions of integers, in 64 bits: what is too wide is cut when it is stored. */

typedef struct extra { wide a, b; long whole; } extra;

#ifdef CLASS_SIGNED
#define NEGATIVE(x) ((x) < 0)
#define IS_SIGNED 1
#else
#define NEGATIVE(x) 0
#define IS_SIGNED 0
#endif

static inline value op_neg(value x)    { return (value)(0ul - (ulong)x); }
static inline value op_abs(value x)    { return NEGATIVE(x) ? op_neg(x) : x; }
static inline value op_sign(value x)   { return x > 0 ? 1 : NEGATIVE(x) ? (value)-1 : 0; }
static inline value op_square(value x) { return (value)((ulong)x * (ulong)x); }
static inline value op_conj(value x)   { return x; }
static inline value op_real(value x)   { return x; }
static inline value op_ceil(value x)   { return x; }
static inline value op_floor(value x)  { return x; }
static inline value op_round(value x)  { return x; }
static inline value op_trunc(value x)  { return x; }
static inline value op_imag(value x)   { return 0; }
static inline value op_relu(value x)   { return x > 0 ? x : 0; }
static inline value op_bitwise_not(value x) { return ~x; }

static inline value op_add(value x, value y) { return (value)((ulong)x + (ulong)y); }
static inline value op_sub(value x, value y) { return (value)((ulong)x - (ulong)y); }
static inline value op_mul(value x, value y) { return (value)((ulong)x * (ulong)y); }

/* By 0 gives 0; the one quotient that overflows wraps. */
static inline value op_floor_div(value x, value y)
{
    if (y == 0) return 0;
    if (IS_SIGNED && y == (value)-1) return op_neg(x);
    const value q = x / y;
    return IS_SIGNED && x - q * y != 0 && NEGATIVE(x) != NEGATIVE(y) ? q - 1 : q;
}

static inline value op_remainder(value x, value y)
{
    if (y == 0 || (IS_SIGNED && y == (value)-1)) return 0;
    const value r = x % y;
    return IS_SIGNED && r != 0 && NEGATIVE(r) != NEGATIVE(y) ? r + y : r;
}

static inline value op_pow(value x, value y)
{
    if (NEGATIVE(y)) return x == 1 ? 1 : x == (value)-1 ? (y % 2 ? (value)-1 : 1) : 0;
    ulong result = 1, base = (ulong)x;
    for (ulong n = (ulong)y; n; n >>= 1) {
        if (n & 1) result *= base;
        base *= base;
    }
    return (value)result;
}

static inline value op_maximum(value x, value y) { return x > y ? x : y; }
static inline value op_minimum(value x, value y) { return x < y ? x : y; }
static inline value op_fmax(value x, value y)    { return x > y ? x : y; }
static inline value op_fmin(value x, value y)    { return x < y ? x : y; }
static inline value op_bitwise_and(value x, value y) { return x & y; }
static inline value op_bitwise_or(value x, value y)  { return x | y; }
static inline value op_bitwise_xor(value x, value y) { return x ^ y; }

static inline int shifts_out(int dtype, value y)
{
    return NEGATIVE(y) || (ulong)y >= (ulong)(8 * size_of(dtype));
}

static inline value op_shift_left(int dtype, value x, value y)
{
    return shifts_out(dtype, y) ? 0 : (value)((ulong)x << (ulong)y);
}

static inline value op_shift_right(int dtype, value x, value y)
{
    if (!shifts_out(dtype, y)) return x >> y;
    return NEGATIVE(x) ? (value)-1 : 0;
}

static inline value op_clip(value x, value low, value high)
{
    const value up = x > low ? x : low;
    return up < high ? up : high;
}

static inline value op_fma(value x, value y, value w) { return (value)((ulong)x * (ulong)y + (ulong)w); }
static inline value op_addcmul(value x, value y, value w, extra e)
{
    return (value)((ulong)x + (ulong)e.whole * (ulong)y * (ulong)w);
}

static inline int op_isfinite(value x)    { return 1; }
static inline int op_isinf(value x)       { return 0; }
static inline int op_isnan(value x)       { return 0; }
static inline int op_signbit(value x)     { return NEGATIVE(x); }
static inline int op_logical_not(value x) { return x == 0; }
static inline int op_eq(value x, value y) { return x == y; }
static inline int op_ne(value x, value y) { return x != y; }
static inline int op_lt(value x, value y) { return x < y; }
static inline int op_le(value x, value y) { return x <= y; }
static inline int op_gt(value x, value y) { return x > y; }
static inline int op_ge(value x, value y) { return x >= y; }
static inline int op_logical_and(value x, value y) { return x != 0 && y != 0; }
static inline int op_logical_or(value x, value y)  { return x != 0 || y != 0; }
static inline int op_logical_xor(value x, value y) { return (x != 0) != (y != 0); }

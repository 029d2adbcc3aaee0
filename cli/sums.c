/* sums.c - loops for bytes and floats of 16 bits as they are stored, for others as floats or doubles. */
#include "sums.h"

#include <math.h>
#include <string.h>

#include "numbers.h"
#include "wide.h"

enum { RUN = SUMS_MOST };

/* Floats of 16 bits -------------------------------------------------------------------- */

/* The extremes of a run as bits, and how many are 0. Negative numbers run backwards: the largest of all bits
 * is the least number, if there is a negative one. */
static void find_extremes(uint16_t *low, uint16_t *high, int64_t *zeros, const uint16_t *x) CLI_WIDE;
static void find_extremes(uint16_t *low, uint16_t *high, int64_t *zeros, const uint16_t *x)
{
    uint16_t least = UINT16_MAX, most = 0, count = 0;
    int16_t top = INT16_MIN;
    CLI_SIMD(reduction(min : least) reduction(max : most, top) reduction(+ : count))
    for (int i = 0; i < RUN; i++) {
        const int16_t v = (int16_t)x[i];
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
        top = v > top ? v : top;
        count = (uint16_t)(count + ((x[i] & 0x7fff) == 0));
    }
    *low = most >> 15 ? most : least;
    *high = top >= 0 ? (uint16_t)top : least;
    *zeros = count;
}

/* Of a run, two numbers at a time. */
#define SUM_HALVES(name, ...)                                                   \
    static void name(sums *out, const uint16_t *x) CLI_WIDE CLI_FUSED;          \
    static void name(sums *out, const uint16_t *x)                              \
    {                                                                           \
        double sum = 0, squares = 0;                                            \
        CLI_SIMD(reduction(+ : sum, squares))                                   \
        for (int i = 0; i < RUN; i += 2) {                                      \
            uint32_t both;                                                      \
            memcpy(&both, x + i, sizeof both);                                  \
            const double a = (double)cli_upper_half(both << 16, __VA_ARGS__);   \
            const double b = (double)cli_upper_half(both, __VA_ARGS__);         \
            sum += a;                                                           \
            sum += b;                                                           \
            squares += a * a;                                                   \
            squares += b * b;                                                   \
        }                                                                       \
        out->sum = sum;                                                         \
        out->squares = squares;                                                 \
    }
SUM_HALVES(sum_bf16, CLI_BF16)
SUM_HALVES(sum_f16, CLI_F16)

/* False if some are not finite. The shift is 0: squares have 22 bits at most, and where the numbers lie close
 * their sums in doubles are exact. */
static bool sum_halves(sums *out, tsr_dtype dtype, const uint16_t *x)
{
    const double unit = dtype == TSR_F16 ? 0x1p112 : 1;
    uint16_t low = 0, high = 0;
    tsr_scalar least, most;
    *out = (sums){ .finite = RUN };
    find_extremes(&low, &high, &out->zeros, x);
    if (tsr_scalar_load(&least, dtype, &low) != TSR_OK || tsr_scalar_load(&most, dtype, &high) != TSR_OK)
        return false;
    out->low = least.as.c.re;
    out->high = most.as.c.re;
    if (!isfinite(out->low) || !isfinite(out->high)) return false;
    if (dtype == TSR_F16) sum_f16(out, x);
    else                  sum_bf16(out, x);
    out->sum *= unit;
    out->squares *= unit * unit;
    return true;
}

/* Bytes -------------------------------------------------------------------------------- */

/* Of a run, exactly. Processors add products of shorts in pairs: so are squares made, and the sum as products
 * with 1, which the compiler must not know. */
#define SUM_BYTES(name, type, pair)                                                                 \
    static void name(sums *out, const type *x, int16_t one) CLI_WIDE;                               \
    static void name(sums *out, const type *x, int16_t one)                                         \
    {                                                                                               \
        type    low = x[0], high = x[0];                                                            \
        int32_t sum = 0, squares = 0, more = 0, zeros = 0;                                          \
        for (int i = 0; i < RUN; i++) {                                                             \
            low = x[i] < low ? x[i] : low;                                                          \
            high = x[i] > high ? x[i] : high;                                                       \
        }                                                                                           \
        for (int i = 0; i < RUN; i += 128) {                                                        \
            uint8_t count = 0;                                                                      \
            for (int k = i; k < i + 128; k++) count = (uint8_t)(count + (x[k] == 0));               \
            zeros += count;                                                                         \
        }                                                                                           \
        for (int i = 0; i < RUN; i += 2) {                                                          \
            pair both;                                                                              \
            memcpy(&both, x + i, sizeof both);                                                      \
            const int16_t a = CLI_LOWER_BYTE(pair, both), b = CLI_UPPER_BYTE(both);                 \
            const int16_t c = (int16_t)(a + b);                                                     \
            squares += a * a;                                                                       \
            more += b * b;                                                                          \
            sum += c * one;                                                                         \
        }                                                                                           \
        *out = (sums){ 0, sum, squares + more, low, high, zeros, RUN };                             \
    }
SUM_BYTES(sum_i8, int8_t, int16_t)
SUM_BYTES(sum_u8, uint8_t, uint16_t)

/* Others ------------------------------------------------------------------------------- */

#define IS_FINITE(x) ((x) - (x) == 0)
#define ANY(x) true

/* Numbers that do not count count as the shift, and so add nothing. */
#define SUM_RUN(name, type, counts_one)                                                                 \
    static void name(sums *out, const type *x, int64_t n, type shift) CLI_WIDE;                         \
    static void name(sums *out, const type *x, int64_t n, type shift)                                   \
    {                                                                                                   \
        double  sum = 0, squares = 0;                                                                   \
        type    low = shift, high = shift;                                                              \
        int32_t zeros = 0, finite = 0;                                                                  \
        CLI_SIMD(reduction(+ : sum, squares, zeros, finite) reduction(min : low) reduction(max : high)) \
        for (int64_t i = 0; i < n; i++) {                                                               \
            const bool   counts = counts_one(x[i]);                                                     \
            const type   v = counts ? x[i] : shift;                                                     \
            const double d = (double)v - (double)shift;                                                 \
            finite += counts;                                                                           \
            zeros += x[i] == 0;                                                                         \
            sum += d;                                                                                   \
            squares += d * d;                                                                           \
            low = v < low ? v : low;                                                                    \
            high = v > high ? v : high;                                                                 \
        }                                                                                               \
        *out = (sums){ (double)shift, sum, squares, (double)low, (double)high, zeros, finite };         \
    }
SUM_RUN(sum_finite_floats, float, ANY)
SUM_RUN(sum_floats, float, IS_FINITE)
SUM_RUN(sum_doubles, double, IS_FINITE)
SUM_RUN(sum_i32, int32_t, ANY)
SUM_RUN(sum_u32, uint32_t, ANY)

/* The first finite number; the last one if none is. */
#define FIRST_FINITE(name, type)                                \
    static type name(const type *x, int64_t n)                  \
    {                                                           \
        int64_t i = 0;                                          \
        while (i < n - 1 && !isfinite(x[i])) i++;               \
        return x[i];                                            \
    }
FIRST_FINITE(finite_float, float)
FIRST_FINITE(finite_double, double)

/* -0 lies below 0, which comparisons do not tell: an extreme that is 0 takes its sign from all zeros. */
#define SIGN_ZEROS(name, type)                                                \
    static void name(sums *out, const type *x, int64_t n)                       \
    {                                                                           \
        bool below = false, above = false;                                      \
        if (out->low != 0 && out->high != 0) return;                            \
        for (int64_t i = 0; i < n; i++) {                                       \
            below |= x[i] == 0 && signbit(x[i]);                                \
            above |= x[i] == 0 && !signbit(x[i]);                               \
        }                                                                       \
        if (out->low == 0) out->low = below ? -0.0 : 0.0;                       \
        if (out->high == 0) out->high = above ? 0.0 : -0.0;                     \
    }
SIGN_ZEROS(sign_zero_floats, float)
SIGN_ZEROS(sign_zero_doubles, double)

/* Squares of finite floats are finite doubles. */
static bool sum_as_floats(sums *out, const tsr_tensor *t, int64_t from, int64_t n)
{
    float room[RUN];
    const float *x = floats_at(room, t, from, n);
    if (!x) return false;
    sum_finite_floats(out, x, n, x[0]);
    if (!isfinite(out->squares)) sum_floats(out, x, n, finite_float(x, n));
    sign_zero_floats(out, x, n);
    return true;
}

static bool sum_as_stored(sums *out, tsr_dtype dtype, const void *x)
{
    switch (dtype) {
    case TSR_F16:
    case TSR_BF16: return sum_halves(out, dtype, x);
    case TSR_I8:   sum_i8(out, x, 1); return true;
    case TSR_U8:   sum_u8(out, x, 1); return true;
    default:       return false;
    }
}

static bool sum_integers(sums *out, tsr_dtype dtype, const void *x, int64_t n)
{
    if (dtype == TSR_I32) sum_i32(out, x, n, *(const int32_t *)x);
    if (dtype == TSR_U32) sum_u32(out, x, n, *(const uint32_t *)x);
    return dtype == TSR_I32 || dtype == TSR_U32;
}

void sum_numbers(sums *out, const tsr_tensor *t, int64_t from, int64_t n)
{
    double room[RUN];
    const void *x = (const char *)t->data + (size_t)from * tsr_dtype_size(t->dtype);
    if ((n == RUN && sum_as_stored(out, t->dtype, x)) || sum_integers(out, t->dtype, x, n) ||
        sum_as_floats(out, t, from, n))
        return;
    const double *all = doubles_at(room, t, from, n);
    sum_doubles(out, all, n, finite_double(all, n));
    sign_zero_doubles(out, all, n);
}

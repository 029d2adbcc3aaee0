/* check_quant.c - bytes that stand for numbers, by one scale or by one for each index of an axis; quantised
 * blocks; and products of both. */
#include <math.h>
#include <string.h>

#include "trial.h"

enum { X, SCALE, ZERO, RESULT, RANK = TRIAL_RANK };

static double clamp(double x, double low, double high) { return x < low ? low : x > high ? high : x; }
static double lowest_of(tsr_dtype bytes) { return bytes == TSR_I8 ? -128 : 0; }

/* One channel for all of x, or one for each index of the axis. */
typedef struct channels {
    int ndim, axis; /* TSR_ALL_AXES */
    int64_t shape[RANK], count;
    tsr_dtype bytes;
} channels;

static channels draw_channels(trial *t, bool may_be_empty)
{
    channels c = { .axis = TSR_ALL_AXES, .count = 1, .bytes = once_in(t, 2) ? TSR_I8 : TSR_U8 };
    c.ndim = random_shape(t, c.shape, 0, RANK, may_be_empty);
    if (c.ndim == 0 || once_in(t, 4)) return c;
    c.axis = (int)random_below(t, c.ndim);
    c.count = c.shape[c.axis];
    return c;
}

static int64_t channel_of(const channels *c, int64_t k)
{
    int64_t at[RANK];
    index_of(at, k, c->ndim, c->shape);
    return c->axis == TSR_ALL_AXES ? 0 : at[c->axis];
}

/* The value for a channel; a tensor with one element has it for all. */
static value of_channel(const tsr_tensor *x, int64_t channel)
{
    return x ? value_at(x, tsr_numel(x) == 1 ? 0 : channel) : (value){ 0 };
}

/* A zero point of any of its dtypes: none, one, or one for each channel. */
static void make_zeros(trial *t, const channels *c)
{
    static const tsr_dtype dtypes[] = { TSR_I8, TSR_U8, TSR_I16, TSR_I32 };
    if (once_in(t, 4)) return;
    make_input(t, ZERO, dtypes[random_below(t, 4)], 1, once_in(t, 3) ? (const int64_t[]){ 1 } : &c->count,
               FILL_SMALL);
}

/* The quotient is that of f32, or of f64 if x or scale is; then all is exact. */
static double byte_of(const tsr_tensor *x, int64_t k, const tsr_tensor *scale, const tsr_tensor *zero,
                      const channels *c)
{
    const int64_t own = channel_of(c, k);
    const double a = value_at(x, k).re, b = of_channel(scale, own).re;
    const bool is_long = x->dtype == TSR_F64 || scale->dtype == TSR_F64;
    const double quotient = is_long ? a / b : (double)((float)a / (float)b);
    if (isnan(quotient)) return 0;
    return clamp(rint(quotient) + (double)(int64_t)of_channel(zero, own).bits, lowest_of(c->bytes),
                 lowest_of(c->bytes) + 255);
}

static void check_bytes(trial *t, const channels *c)
{
    const int64_t count = count_of(c->ndim, c->shape);
    for (int64_t k = first_sample(t, count, 8); k >= 0; k = next_sample(t, k, count, 8)) {
        const double byte = byte_of(t->tensor[X], k, t->tensor[SCALE], t->tensor[ZERO], c);
        check_near(t, RESULT, k, integer_value(TSR_I64, (uint64_t)(int64_t)byte), 0);
    }
}

static void check_quantise(trial *t)
{
    const channels c = draw_channels(t, true);
    make_input(t, X, t->check->dtype, c.ndim, c.shape, FILL_SPECIAL);
    make_input(t, SCALE, (tsr_dtype)random_between(t, TSR_F8E4M3, TSR_F64), 1, &c.count, FILL_SMALL);
    make_zeros(t, &c);
    make_output(t, RESULT, c.bytes, c.ndim, c.shape);
    GO_ON(t);
    NEED(t,
         tsr_quantise(&t->tensor[RESULT], t->tensor[X], t->tensor[SCALE], t->tensor[ZERO], c.axis, c.bytes));
    check_gaps(t, RESULT);
    check_bytes(t, &c);
}

static void check_dequantise(trial *t)
{
    static const tsr_dtype dtypes[] = { TSR_I8, TSR_U8, TSR_I16, TSR_I32 };
    const channels c = draw_channels(t, true);
    make_input(t, X, dtypes[random_below(t, 4)], c.ndim, c.shape, FILL_SPECIAL);
    make_input(t, SCALE, (tsr_dtype)random_between(t, TSR_F8E4M3, TSR_F64), 1, &c.count, FILL_SMALL);
    make_zeros(t, &c);
    make_output(t, RESULT, t->check->dtype, c.ndim, c.shape);
    GO_ON(t);
    NEED(t, tsr_dequantise(&t->tensor[RESULT], t->tensor[X], t->tensor[SCALE], t->tensor[ZERO], c.axis,
                           t->check->dtype));
    check_gaps(t, RESULT);
    const int64_t count = count_of(c.ndim, c.shape);
    for (int64_t k = first_sample(t, count, 8); k >= 0; k = next_sample(t, k, count, 8)) {
        const int64_t own = channel_of(&c, k);
        const int64_t zero = (int64_t)of_channel(t->tensor[ZERO], own).bits;
        const double steps = (double)((int64_t)value_at(t->tensor[X], k).bits - zero);
        unsigned char wanted[16];
        write_value(t->check->dtype, wanted, real_value(steps * of_channel(t->tensor[SCALE], own).re));
        check_bits(t, RESULT, k, wanted);
    }
}

/* Ranges ------------------------------------------------------------------------------------------ */

static void check_scale(trial *t, const channels *c, int64_t channel, double low, double high, bool symmetric)
{
    double scale = symmetric ? fmax(-low, high) / 127 : high / 255 - low / 255;
    if (scale == 0) scale = 1;
    const double zero = symmetric ? (c->bytes == TSR_I8 ? 0 : 128) : lowest_of(c->bytes) - low / scale;
    check_near(t, SCALE, channel, real_value(scale), 0);
    GO_ON(t);
    const double got = value_at(t->tensor[ZERO], channel).re;
    MUST(t, fabs(got - zero) <= 0.5 + 1e-6, "zero point %lld is %g, and %g was meant", (long long)channel,
         got, zero);
}

/* The finite elements of each channel, and 0, give its range. */
static void check_ranges(trial *t, const channels *c, bool symmetric)
{
    const tsr_tensor *x = t->tensor[X];
    double *range = trial_room(t, 2 * sizeof *range * (size_t)(c->count + 1));
    GO_ON(t);
    memset(range, 0, 2 * sizeof *range * (size_t)(c->count + 1));
    for (int64_t k = 0; k < tsr_numel(x); k++) {
        double *own = range + 2 * channel_of(c, k);
        const double v = value_at(x, k).re;
        if (!isfinite(v)) continue;
        own[0] = fmin(own[0], v);
        own[1] = fmax(own[1], v);
    }
    for (int64_t i = 0; i < c->count && !t->failed; i++)
        check_scale(t, c, i, range[2 * i], range[2 * i + 1], symmetric);
}

static void check_range(trial *t)
{
    const bool symmetric = once_in(t, 2), all = t->check->about != NULL, given = once_in(t, 2);
    const channels c = draw_channels(t, false);
    const int rank = c.axis == TSR_ALL_AXES ? 0 : 1;
    make_input(t, X, t->check->dtype, c.ndim, c.shape, FILL_SPECIAL);
    if (given) make_output(t, SCALE, t->check->dtype == TSR_F64 ? TSR_F64 : TSR_F32, rank, &c.count);
    if (given) make_output(t, ZERO, c.bytes, rank, &c.count);
    if (given && all) make_output(t, RESULT, c.bytes, c.ndim, c.shape);
    GO_ON(t);
    tsr_tensor **s = &t->tensor[SCALE], **z = &t->tensor[ZERO];
    if (all)
        NEED(t, tsr_quantise_dynamic(&t->tensor[RESULT], s, z, t->tensor[X], c.axis, c.bytes, symmetric));
    else
        NEED(t, tsr_quantisation_range(s, z, t->tensor[X], c.axis, c.bytes, symmetric));
    for (int slot = SCALE; given && slot <= (all ? RESULT : ZERO); slot++) check_gaps(t, slot);
    check_shape(t, SCALE, t->check->dtype == TSR_F64 ? TSR_F64 : TSR_F32, rank, &c.count);
    check_ranges(t, &c, symmetric);
    if (all) check_bytes(t, &c);
}

/* Products ---------------------------------------------------------------------------------------- */

enum { A = 0, A_SCALE, A_ZERO, Z, B, B_SCALE, B_ZERO, BIAS, FULL_BIAS };

/* Scales and zero points of rows or columns: none for zero points, one, or one for each. */
static void make_scales(trial *t, int slot, int64_t n, bool rows)
{
    const int64_t wide[] = { rows ? n : 1, rows ? 1 : n };
    const bool matrix = once_in(t, 2);
    static const tsr_dtype zeros[] = { TSR_I8, TSR_U8, TSR_I16, TSR_I32 };
    const tsr_dtype scale = once_in(t, 2) ? TSR_F32 : TSR_F64;
    if (once_in(t, 4))
        make_input(t, slot, scale, 0, NULL, FILL_SMALL);
    else
        make_input(t, slot, scale, matrix ? 2 : 1, matrix ? wide : &n, FILL_SMALL);
    if (once_in(t, 4)) return;
    if (once_in(t, 3))
        make_input(t, slot + 1, zeros[random_below(t, 4)], 0, NULL, FILL_SMALL);
    else
        make_input(t, slot + 1, zeros[random_below(t, 4)], matrix ? 2 : 1, matrix ? wide : &n, FILL_SMALL);
}

static void make_bias(trial *t, int rank, const int64_t *shape)
{
    int64_t own[3];
    const int drop = (int)random_between(t, 0, rank);
    if (once_in(t, 3)) return;
    for (int d = 0; d < rank; d++) own[d] = once_in(t, 3) ? 1 : shape[d];
    make_input(t, BIAS, once_in(t, 2) ? TSR_F32 : t->check->dtype, rank - drop, own + drop, FILL_SMALL);
    make_packed(t, FULL_BIAS, BIAS, rank, shape);
}

static void check_product(trial *t, int64_t k, int64_t m, int64_t depth, int64_t n)
{
    const tsr_tensor *a = t->tensor[A], *b = t->tensor[B];
    const int64_t row = k / n % m, col = k % n, batch = k / (m * n);
    const int64_t za = (int64_t)of_channel(t->tensor[A_ZERO], row).bits,
                  zb = (int64_t)of_channel(t->tensor[B_ZERO], col).bits;
    int64_t sum = 0;
    for (int64_t i = 0; i < depth; i++)
        sum += ((int64_t)value_at(a, (batch * m + row) * depth + i).bits - za) *
               ((int64_t)value_at(b, (batch * depth + i) * n + col).bits - zb);
    const double scaled =
        (double)sum * of_channel(t->tensor[A_SCALE], row).re * of_channel(t->tensor[B_SCALE], col).re;
    const double bias = t->tensor[FULL_BIAS] ? value_at(t->tensor[FULL_BIAS], k).re : 0;
    check_near(t, Z, k, real_value(scaled + bias), 1e-15 * (fabs(scaled) + fabs(bias)));
}

static void check_matmul_quantised(trial *t)
{
    const int64_t most = most_elements(t), m = random_size(t, 0, 9, most),
                  k = random_size(t, 0, 12, most / (m + 1)), longer = m > k ? m : k,
                  n = random_size(t, 0, 9, most / (longer + 1));
    const int64_t batches = m * k + k * n < most / 4 ? random_between(t, 1, 3) : 1;
    const int skip = batches > 1 ? 0 : 1, rank = 3 - skip;
    const int64_t a[] = { batches, m, k }, b[] = { batches, k, n }, z[] = { batches, m, n };
    make_input(t, A, once_in(t, 2) ? TSR_I8 : TSR_U8, rank, a + skip, FILL_SPECIAL);
    make_input(t, B, once_in(t, 2) ? TSR_I8 : TSR_U8, rank, b + skip, FILL_SPECIAL);
    make_scales(t, A_SCALE, m, true);
    make_scales(t, B_SCALE, n, false);
    make_bias(t, rank, z + skip);
    const bool given = !once_in(t, 4);
    if (given) make_output(t, Z, t->check->dtype, rank, z + skip);
    GO_ON(t);
    NEED(t, tsr_matmul_quantised(&t->tensor[Z], t->tensor[A], t->tensor[A_SCALE], t->tensor[A_ZERO],
                                 t->tensor[B], t->tensor[B_SCALE], t->tensor[B_ZERO], t->tensor[BIAS],
                                 t->check->dtype));
    if (given) check_gaps(t, Z);
    check_shape(t, Z, t->check->dtype, rank, z + skip);
    const int64_t count = batches * m * n;
    for (int64_t i = first_sample(t, count, 4 * k + 8); i >= 0; i = next_sample(t, i, count, 4 * k + 8))
        check_product(t, i, m, k, n);
}

/* Blocks ------------------------------------------------------------------------------------------ */

/* A block as bytes, and how many elements it stands for. */
typedef struct block_kind { tsr_block_kind kind; int elements, bytes; } block_kind;

static const block_kind block_kinds[] = {
    { TSR_BLOCKS_Q4_0, 32, 18 },   { TSR_BLOCKS_Q8_0, 32, 34 },   { TSR_BLOCKS_Q4_K, 256, 144 },
    { TSR_BLOCKS_Q6_K, 256, 210 }, { TSR_BLOCKS_Q4_1, 32, 20 },   { TSR_BLOCKS_Q5_0, 32, 22 },
    { TSR_BLOCKS_Q5_1, 32, 24 },   { TSR_BLOCKS_Q2_K, 256, 84 },  { TSR_BLOCKS_Q3_K, 256, 110 },
    { TSR_BLOCKS_Q5_K, 256, 176 }, { TSR_BLOCKS_IQ4_NL, 32, 18 }, { TSR_BLOCKS_IQ4_XS, 256, 136 },
    { TSR_BLOCKS_TQ1_0, 256, 54 }, { TSR_BLOCKS_TQ2_0, 256, 66 }, { TSR_BLOCKS_MXFP4, 32, 17 },
    { TSR_BLOCKS_Q8_K, 256, 292 },
};
enum { WIDE_SCALES = 2 };  /* the last ones, whose sums may leave f32 */
enum { BLOCK_KINDS = sizeof block_kinds / sizeof *block_kinds };

static double half_of(const uint8_t *p) { return read_value(TSR_F16, (const uint8_t[]){ p[0], p[1] }).re; }
static int nibble(const uint8_t *p, int i) { return i < 16 ? p[i] & 15 : p[i - 16] >> 4; }
static int fifth_bit(const uint8_t *p, int i) { return (p[i / 8] >> i % 8 & 1) * 16; }

/* Part j of eight: six bits of a scale (0) or minimum (4). */
static int six_bits(const uint8_t *p, int j, int which)
{
    if (j < 4) return p[j + which] % 64;
    return (which ? p[j + 4] / 16 : p[j + 4] % 16) + p[j - 4 + which] / 64 * 16;
}

static const int levels[] = { -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113 };

/* A float of four bits: sign, two of exponent, one of mantissa. */
static double small_float(int bits)
{
    const int exponent = bits >> 1 & 3, mantissa = bits & 1;
    const double size = exponent ? ldexp(1 + mantissa / 2.0, exponent - 1) : mantissa / 2.0;
    return bits & 8 ? 0 - size : size;  /* no -0 */
}

/* Digit `digit` to the base 3 of byte / 256, less 1. */
static int ternary(int byte, int digit)
{
    int rest = byte;
    for (int i = 0; i < digit; i++) rest = rest * 3 % 256;
    return rest * 3 / 256 - 1;
}

static double number_of_32(tsr_block_kind kind, const uint8_t *p, int i)
{
    const double d = half_of(p), m = half_of(p + 2);
    switch (kind) {
    case TSR_BLOCKS_Q4_0: return d * (nibble(p + 2, i) - 8);
    case TSR_BLOCKS_Q4_1: return d * nibble(p + 4, i) + m;
    case TSR_BLOCKS_Q5_0: return d * (nibble(p + 6, i) + fifth_bit(p + 2, i) - 16);
    case TSR_BLOCKS_Q5_1: return d * (nibble(p + 8, i) + fifth_bit(p + 4, i)) + m;
    case TSR_BLOCKS_Q8_0: return d * (int8_t)p[2 + i];
    case TSR_BLOCKS_MXFP4: return ldexp(small_float(nibble(p + 1, i)), p[0] - 127);
    default: return d * levels[nibble(p + 2, i)];
    }
}

/* Elements of two or six bits lie in halves of 128, in which four runs of 32 share their bytes. */
static double number_of_256(tsr_block_kind kind, const uint8_t *p, int i)
{
    const int half = i / 128, run = i / 32 % 4, at = i % 32, pair = i / 64, part = i / 32, small = i / 16;
    const int two = p[(kind == TSR_BLOCKS_Q3_K ? 32 : 16) + half * 32 + at] >> 2 * run & 3;
    const int four = p[(kind == TSR_BLOCKS_Q5_K ? 48 : 16) + pair * 32 + at] >> part % 2 * 4 & 15;
    switch (kind) {
    case TSR_BLOCKS_Q2_K: return half_of(p + 80) * (p[small] & 15) * two - half_of(p + 82) * (p[small] >> 4);
    case TSR_BLOCKS_Q3_K: {
        const int low = p[96 + small % 8] >> small / 8 * 4 & 15;
        const int high = p[104 + small % 4] >> small / 4 * 2 & 3;
        return half_of(p + 108) * (low + high * 16 - 32) * (two - (p[at] >> part & 1 ? 0 : 4));
    }
    case TSR_BLOCKS_IQ4_XS: {
        const int low = p[4 + part / 2] / (part % 2 ? 16 : 1) % 16;
        const int high = (p[2] + 256 * p[3]) >> 2 * part & 3;
        return half_of(p) * (low + high * 16 - 32) * levels[nibble(p + 8 + part * 16, at)];
    }
    case TSR_BLOCKS_TQ2_0: return half_of(p + 64) * ((p[half * 32 + at] >> 2 * run & 3) - 1);
    case TSR_BLOCKS_TQ1_0:
        if (i < 160) return half_of(p + 52) * ternary(p[at], part);
        if (i < 240) return half_of(p + 52) * ternary(p[32 + i % 16], (i - 160) / 16);
        return half_of(p + 52) * ternary(p[48 + i % 4], (i - 240) / 4);
    case TSR_BLOCKS_Q4_K:
        return half_of(p) * six_bits(p + 4, part, 0) * four - half_of(p + 2) * six_bits(p + 4, part, 4);
    case TSR_BLOCKS_Q5_K:
        return half_of(p) * six_bits(p + 4, part, 0) * (four + (p[16 + at] >> part & 1) * 16) -
               half_of(p + 2) * six_bits(p + 4, part, 4);
    case TSR_BLOCKS_Q6_K: {
        const int low = p[half * 64 + run % 2 * 32 + at] >> run / 2 * 4 & 15;
        const int high = p[128 + half * 32 + at] >> 2 * run & 3;
        return half_of(p + 208) * (int8_t)p[192 + small] * (low + high * 16 - 32);
    }
    default: return read_value(TSR_F32, (const uint8_t[]){ p[0], p[1], p[2], p[3] }).re * (int8_t)p[4 + i];
    }
}

/* Element i of the blocks, as f32: rounded once. */
static double number_in(const tsr_tensor *blocks, const block_kind *k, int64_t i)
{
    uint8_t bytes[292], wanted[16];
    const int64_t first = i / k->elements * k->bytes;
    for (int j = 0; j < k->bytes; j++) bytes[j] = (uint8_t)value_at(blocks, first + j).bits;
    const int at = (int)(i % k->elements);
    const double exact =
        k->elements == 32 ? number_of_32(k->kind, bytes, at) : number_of_256(k->kind, bytes, at);
    write_value(TSR_F32, wanted, real_value(exact));
    return read_value(TSR_F32, wanted).re;
}

static void check_dequantise_blocks(trial *t)
{
    const block_kind *k = &block_kinds[random_below(t, BLOCK_KINDS)];
    int64_t shape[RANK + 1], out[RANK + 1];
    const int rank = random_shape(t, shape, 1, RANK - 1, true);
    for (int d = 0; d < rank; d++) out[d] = shape[d];
    out[rank - 1] *= k->elements;
    shape[rank] = k->bytes;
    make_input(t, X, TSR_U8, rank + 1, shape, FILL_SPECIAL);
    make_output(t, RESULT, TSR_F32, rank, out);
    GO_ON(t);
    NEED(t, tsr_dequantise_blocks(&t->tensor[RESULT], t->tensor[X], k->kind));
    check_gaps(t, RESULT);
    const int64_t count = count_of(rank, out);
    for (int64_t i = first_sample(t, count, k->bytes); i >= 0; i = next_sample(t, i, count, k->bytes)) {
        unsigned char wanted[16];
        write_value(TSR_F32, wanted, real_value(number_in(t->tensor[X], k, i)));
        check_bits(t, RESULT, i, wanted);
    }
}

/* Row r of x times row j of the blocks. Infinite scales give what their sums come to. */
static void check_row_of_blocks(trial *t, const block_kind *k, int64_t r, int64_t j, int64_t depth, int64_t n)
{
    double sum = 0, size = 0;
    for (int64_t i = 0; i < depth; i++) {
        const double term =
            value_at(t->tensor[X], r * depth + i).re * number_in(t->tensor[B], k, j * depth + i);
        sum += term;
        size += fabs(term);
    }
    if (t->tensor[BIAS]) sum += value_at(t->tensor[BIAS], j).re;
    const double slack = (4 + sqrt((double)depth)) * epsilon_of(TSR_F32) * (size + fabs(sum));
    check_near(t, RESULT, r * n + j, real_value(sum), isfinite(slack) ? slack : 0);
}

static void check_linear_blocks(trial *t)
{
    const block_kind *k = &block_kinds[random_below(t, once_in(t, 2) ? 4 : BLOCK_KINDS - WIDE_SCALES)];
    const int64_t most = most_elements(t) / 8, blocks = random_size(t, 0, 5, most / k->elements + 1),
                  depth = blocks * k->elements, n = random_size(t, 0, 40, most / (depth + 1) + 1),
                  m = random_size(t, 0, 9, most / (depth + n + 1) + 1);
    const int64_t x[] = { 1 + once_in(t, 3), m, depth }, w[] = { n, blocks, k->bytes }, z[] = { x[0], m, n };
    const int skip = x[0] > 1 ? 0 : (int)random_below(t, 2);
    make_input(t, X, t->check->dtype, 3 - skip, x + skip, FILL_SMALL);
    make_input(t, B, TSR_U8, 3, w, FILL_SPECIAL);
    if (once_in(t, 2)) make_input(t, BIAS, t->check->dtype, 1, &n, FILL_SMALL);
    make_output(t, RESULT, t->check->dtype, 3 - skip, z + skip);
    GO_ON(t);
    NEED(t, tsr_linear_blocks(&t->tensor[RESULT], t->tensor[X], t->tensor[B], t->tensor[BIAS], k->kind));
    check_gaps(t, RESULT);
    const int64_t count = x[0] * m * n, cost = depth * k->bytes + 8;
    for (int64_t i = first_sample(t, count, cost); i >= 0; i = next_sample(t, i, count, cost))
        check_row_of_blocks(t, k, i / n, i % n, depth, n);
}

static bool is_product(tsr_dtype dtype) { return is_float(dtype) && size_of(dtype) > 1; }
static bool is_f32(tsr_dtype dtype) { return dtype == TSR_F32; }
static bool is_layer(tsr_dtype dtype) { return is_product(dtype) && dtype != TSR_F64; }

void list_quant(check_list *list)
{
    static const char all[] = "all";
    const check c = { .family = "quant" };
    check q = c, d = c, r = c, y = c, m = c;
    q.run = check_quantise;
    d.run = check_dequantise;
    r.run = y.run = check_range;
    y.about = all;
    m.run = check_matmul_quantised;
    m.every = 2;
    m.more = 4;
    q.op = TSR_OP_QUANTISE;
    add_checks(list, q, "quantise", is_float);
    d.op = TSR_OP_DEQUANTISE;
    add_checks(list, d, "dequantise", is_float);
    r.op = TSR_OP_QUANTISATION_RANGE;
    add_checks(list, r, "quantisation_range", is_float);
    y.op = TSR_OP_QUANTISE_DYNAMIC;
    add_checks(list, y, "quantise_dynamic", is_float);
    add_checks(list, m, "matmul_quantised", is_product);
    check b = c, l = m;
    b.run = check_dequantise_blocks;
    b.op = TSR_OP_DEQUANTISE_BLOCKS;
    add_checks(list, b, "dequantise_blocks", is_f32);
    l.run = check_linear_blocks;
    l.op = TSR_OP_LINEAR_BLOCKS;
    add_checks(list, l, "linear_blocks", is_layer);
}

/* check_conv.c - windows over two spatial dims, and bytes that stand for numbers. */
#include <math.h>
#include <string.h>

#include "trial.h"

enum { X, W, BIAS, RESULT, INDICES };

/* Convolution --------------------------------------------------------------------------------- */

typedef struct window {
    int64_t n, c, h, w;       /* of x */
    int64_t o, kh, kw;        /* outputs, and the window */
    int64_t stride, pad;
    int64_t high, wide;       /* of the result */
} window;

static window random_window(trial *t, bool may_pad)
{
    const int64_t most = most_elements(t) / 8;
    window v = { .n = random_between(t, 1, 2), .c = random_size(t, 1, 2, 40), .o = random_size(t, 1, 3, 40) };
    v.kh = random_between(t, 1, 3);
    v.kw = random_size(t, 1, 3, 12);
    v.w = v.kw + random_size(t, 0, 3, most / v.c);
    v.h = v.kh + random_size(t, 0, 3, most / (v.c * v.w));
    v.stride = random_between(t, 1, 3);
    v.pad = may_pad ? random_below(t, 3) : 0;
    v.high = (v.h + 2 * v.pad - v.kh) / v.stride + 1;
    v.wide = (v.w + 2 * v.pad - v.kw) / v.stride + 1;
    return v;
}

/* Place k of the window of an output, as an element of x's image; -1 if it is outside. */
static int64_t seen_at(const window *v, int64_t row, int64_t col, int64_t k)
{
    const int64_t i = row * v->stride - v->pad + k / v->kw, j = col * v->stride - v->pad + k % v->kw;
    return i < 0 || i >= v->h || j < 0 || j >= v->w ? -1 : i * v->w + j;
}

static value right_conv(const trial *t, const window *v, const int64_t *at, double *size)
{
    value sum = value_at(t->tensor[BIAS], at[1]);
    *size = hypot(sum.re, sum.im);
    for (int64_t c = 0; c < v->c; c++)
        for (int64_t k = 0; k < v->kh * v->kw; k++) {
            const int64_t i = seen_at(v, at[2], at[3], k);
            if (i < 0) continue;
            const value x = value_at(t->tensor[X], (at[0] * v->c + c) * v->h * v->w + i);
            const value w = value_at(t->tensor[W], (at[1] * v->c + c) * v->kh * v->kw + k);
            sum.bits += x.bits * w.bits;
            sum.re += x.re * w.re - x.im * w.im;
            sum.im += x.re * w.im + x.im * w.re;
            *size += hypot(x.re, x.im) * hypot(w.re, w.im);
        }
    return sum;
}

static void check_conv(trial *t)
{
    const window v = random_window(t, true);
    const tsr_dtype dtype = t->check->dtype;
    const tsr_conv how = { .stride = { v.stride, v.stride }, .padding = { v.pad, v.pad } };
    const int64_t z[] = { v.n, v.o, v.high, v.wide };
    make_input(t, X, dtype, 4, (const int64_t[]){ v.n, v.c, v.h, v.w }, FILL_SMALL);
    make_input(t, W, dtype, 4, (const int64_t[]){ v.o, v.c, v.kh, v.kw }, FILL_SMALL);
    make_input(t, BIAS, dtype, 1, &v.o, FILL_SMALL);
    make_output(t, RESULT, dtype, 4, z);
    GO_ON(t);
    NEED(t, tsr_conv2d(&t->tensor[RESULT], t->tensor[X], t->tensor[W], t->tensor[BIAS], &how));
    check_gaps(t, RESULT);
    const int64_t count = count_of(4, z), cost = v.c * v.kh * v.kw;
    for (int64_t k = first_sample(t, count, cost); k >= 0; k = next_sample(t, k, count, cost)) {
        int64_t at[4];
        double size = 0;
        index_of(at, k, 4, z);
        const value wanted = right_conv(t, &v, at, &size);
        check_near(t, RESULT, k, wanted, (8 + sqrt((double)cost)) * epsilon_of(dtype) * size);
    }
}

/* Every product of an element of x with a weight goes to one place of the result. */
static value right_transposed(const trial *t, const window *v, const int64_t *at, double *size)
{
    value sum = value_at(t->tensor[BIAS], at[1]);
    *size = hypot(sum.re, sum.im);
    for (int64_t i = 0; i < v->c * v->h * v->w * v->kh * v->kw; i++) {
        const int64_t k = i % (v->kh * v->kw), p = i / (v->kh * v->kw) % (v->h * v->w), c = i / (v->kh * v->kw) / (v->h * v->w);
        if (p / v->w * v->stride - v->pad + k / v->kw != at[2] || p % v->w * v->stride - v->pad + k % v->kw != at[3])
            continue;
        const value x = value_at(t->tensor[X], (at[0] * v->c + c) * v->h * v->w + p);
        const value w = value_at(t->tensor[W], (c * v->o + at[1]) * v->kh * v->kw + k);
        sum.bits += x.bits * w.bits;
        sum.re += x.re * w.re - x.im * w.im;
        sum.im += x.re * w.im + x.im * w.re;
        *size += hypot(x.re, x.im) * hypot(w.re, w.im);
    }
    return sum;
}

static void check_conv_transpose(trial *t)
{
    window v = random_window(t, false);
    const tsr_dtype dtype = t->check->dtype;
    v.pad = v.kh > 1 && v.kw > 1 ? random_below(t, 2) : 0;
    const int64_t high = (v.h - 1) * v.stride - 2 * v.pad + v.kh, wide = (v.w - 1) * v.stride - 2 * v.pad + v.kw;
    const tsr_conv how = { .stride = { v.stride, v.stride }, .padding = { v.pad, v.pad } };
    const int64_t z[] = { v.n, v.o, high, wide };
    make_input(t, X, dtype, 4, (const int64_t[]){ v.n, v.c, v.h, v.w }, FILL_SMALL);
    make_input(t, W, dtype, 4, (const int64_t[]){ v.c, v.o, v.kh, v.kw }, FILL_SMALL);
    make_input(t, BIAS, dtype, 1, &v.o, FILL_SMALL);
    make_output(t, RESULT, dtype, 4, z);
    GO_ON(t);
    NEED(t, tsr_conv_transpose2d(&t->tensor[RESULT], t->tensor[X], t->tensor[W], t->tensor[BIAS], &how));
    check_gaps(t, RESULT);
    const int64_t count = count_of(4, z), cost = v.c * v.kh * v.kw;
    for (int64_t k = first_sample(t, count, cost); k >= 0; k = next_sample(t, k, count, cost)) {
        int64_t at[4];
        double size = 0;
        index_of(at, k, 4, z);
        const value wanted = right_transposed(t, &v, at, &size);
        check_near(t, RESULT, k, wanted, (8 + sqrt((double)cost)) * epsilon_of(dtype) * size);
    }
}

/* Pools ------------------------------------------------------------------------------------------ */

static bool is_larger(tsr_dtype dtype, value a, value b)
{
    if (is_float(dtype)) return a.re > b.re;
    return is_signed(dtype) ? (int64_t)a.bits > (int64_t)b.bits : a.bits > b.bits;
}

/* The first largest of a window, or its mean. */
static void check_pooled(trial *t, const window *v, const int64_t *z, bool largest)
{
    const tsr_tensor *x = t->tensor[X];
    const int64_t count = count_of(4, z), cost = v->kh * v->kw;
    for (int64_t k = first_sample(t, count, cost); k >= 0; k = next_sample(t, k, count, cost)) {
        int64_t at[4], best = -1;
        value most = { 0 };
        double sum = 0;
        index_of(at, k, 4, z);
        for (int64_t p = 0; p < v->kh * v->kw; p++) {
            const int64_t i = seen_at(v, at[2], at[3], p);
            const value own = value_at(x, (at[0] * v->c + at[1]) * v->h * v->w + i);
            sum += own.re;
            if (best >= 0 && !is_larger(x->dtype, own, most)) continue;
            most = own;
            best = i;
        }
        check_near(t, RESULT, k, largest ? most : real_value(sum / (double)(v->kh * v->kw)),
                   largest ? 0 : 1e-12);
        if (largest)
            MUST(t, value_at(t->tensor[INDICES], k).bits == (uint64_t)best, "index %lld is not %lld",
                 (long long)k, (long long)best);
    }
}

static void check_pool(trial *t)
{
    const window v = random_window(t, false);
    const bool largest = t->check->op == TSR_OP_MAX_POOL;
    const tsr_pool how = { .kernel = { v.kh, v.kw }, .stride = { v.stride, v.stride } };
    const int64_t z[] = { v.n, v.c, v.high, v.wide };
    make_input(t, X, t->check->dtype, 4, (const int64_t[]){ v.n, v.c, v.h, v.w }, FILL_SMALL);
    make_output(t, RESULT, t->check->dtype, 4, z);
    GO_ON(t);
    if (largest) NEED(t, tsr_max_pool2d(&t->tensor[RESULT], &t->tensor[INDICES], t->tensor[X], &how));
    else         NEED(t, tsr_avg_pool2d(&t->tensor[RESULT], t->tensor[X], &how));
    check_gaps(t, RESULT);
    check_pooled(t, &v, z, largest);
}

/* Quantisation ------------------------------------------------------------------------------------- */

static double clamp(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

/* One scale, a power of two, so that quotients are exact and the halves are halves. */
static void check_quantise(trial *t)
{
    const double scale = ldexp(1, (int)random_between(t, -4, 0));
    int64_t shape[TRIAL_RANK];
    const int ndim = random_shape(t, shape, 0, 3, true);
    const tsr_dtype bytes = once_in(t, 2) ? TSR_I8 : TSR_U8;
    const bool is_i8 = bytes == TSR_I8;
    make_input(t, X, t->check->dtype, ndim, shape, FILL_SMALL);
    make_output(t, RESULT, bytes, ndim, shape);
    GO_ON(t);
    NEED(t, tsr_full(&t->tensor[W], TSR_F32, TSR_SCALAR_SHAPE, TSR_SCALAR(scale)));
    NEED(t, tsr_quantise(&t->tensor[RESULT], t->tensor[X], t->tensor[W], NULL, TSR_ALL_AXES, bytes));
    check_gaps(t, RESULT);
    GO_ON(t);
    NEED(t, tsr_dequantise(&t->tensor[BIAS], t->tensor[RESULT], t->tensor[W], NULL, TSR_ALL_AXES, TSR_F64));
    const int64_t count = count_of(ndim, shape);
    for (int64_t k = first_sample(t, count, 2); k >= 0; k = next_sample(t, k, count, 2)) {
        const double steps = rint(value_at(t->tensor[X], k).re / scale);
        const double byte = clamp(steps, is_i8 ? -128 : 0, is_i8 ? 127 : 255);
        check_near(t, RESULT, k, integer_value(TSR_I64, (uint64_t)(int64_t)byte), 0);
        check_near(t, BIAS, k, real_value(byte * scale), 0);
    }
}

/* The scale and zero point of all of x. */
static void right_range(const tsr_tensor *x, bool is_i8, bool symmetric, double *scale, double *zero)
{
    double low = 0, high = 0;
    for (int64_t k = 0; k < tsr_numel(x); k++) {
        low = fmin(low, value_at(x, k).re);
        high = fmax(high, value_at(x, k).re);
    }
    *scale = symmetric ? fmax(-low, high) / 127 : high / 255 - low / 255;
    if (*scale == 0) *scale = 1;
    *zero = symmetric ? (is_i8 ? 0 : 128) : rint((is_i8 ? -128 : 0) - low / *scale);
}

/* Checks the range, and the bytes if they are asked for; where a quotient is as good as a half, either will do. */
static void check_range(trial *t)
{
    const bool is_i8 = once_in(t, 2), symmetric = once_in(t, 2), all = t->check->op == TSR_OP_QUANTISE_DYNAMIC;
    const tsr_dtype bytes = is_i8 ? TSR_I8 : TSR_U8;
    int64_t shape[TRIAL_RANK];
    double scale, zero;
    const int ndim = random_shape(t, shape, 0, 3, false);
    tsr_tensor **s = &t->tensor[W], **z = &t->tensor[BIAS];
    make_input(t, X, t->check->dtype, ndim, shape, FILL_SMALL);
    make_output(t, RESULT, bytes, ndim, shape);
    GO_ON(t);
    if (all) NEED(t, tsr_quantise_dynamic(&t->tensor[RESULT], s, z, t->tensor[X], TSR_ALL_AXES, bytes, symmetric));
    else     NEED(t, tsr_quantisation_range(s, z, t->tensor[X], TSR_ALL_AXES, bytes, symmetric));
    check_gaps(t, RESULT);
    right_range(t->tensor[X], is_i8, symmetric, &scale, &zero);
    check_near(t, W, 0, real_value(scale), 4 * epsilon_of(t->check->dtype) * scale);
    MUST(t, fabs(value_at(*z, 0).re - zero) <= 1, "the zero point is %g, not %g", value_at(*z, 0).re, zero);
    for (int64_t k = 0; all && k < count_of(ndim, shape) && !t->failed; k++) {
        const double steps = value_at(t->tensor[X], k).re / value_at(*s, 0).re;
        const double byte = clamp(steps + value_at(*z, 0).re, is_i8 ? -128 : 0, is_i8 ? 127 : 255);
        MUST(t, fabs(value_at(t->tensor[RESULT], k).re - byte) <= 0.5 + 1e-4, "byte %lld is %g, and %g was meant",
             (long long)k, value_at(t->tensor[RESULT], k).re, byte);
    }
}

void list_conv(check_list *list)
{
    for (int d = TSR_I8; d < TSR_DTYPE_COUNT; d++) {
        const tsr_dtype dtype = (tsr_dtype)d;
        if (dtype == TSR_C32) continue;
        add_check(list, (check){ .family = "conv", .op = TSR_OP_CONV, .run = check_conv, .dtype = dtype,
                                 .more = 6 },
                  "conv2d");
        add_check(list,
                  (check){ .family = "conv", .op = TSR_OP_CONV_TRANSPOSE, .run = check_conv_transpose, .dtype = dtype },
                  "conv_transpose2d");
        if (is_complex(dtype)) continue;
        add_check(list, (check){ .family = "pool", .op = TSR_OP_MAX_POOL, .run = check_pool, .dtype = dtype },
                  "max_pool2d");
        if (!is_float(dtype)) continue;
        add_check(list, (check){ .family = "pool", .op = TSR_OP_AVG_POOL, .run = check_pool, .dtype = dtype },
                  "avg_pool2d");
        add_check(list,
                  (check){ .family = "quant", .op = TSR_OP_QUANTISE, .run = check_quantise, .dtype = dtype },
                  "quantise");
        add_check(
            list,
            (check){ .family = "quant", .op = TSR_OP_DEQUANTISE, .run = check_quantise, .dtype = dtype },
            "dequantise");
        add_check(list,
                  (check){ .family = "quant", .op = TSR_OP_QUANTISATION_RANGE, .run = check_range, .dtype = dtype },
                  "quantisation_range");
        add_check(list, (check){ .family = "quant", .op = TSR_OP_QUANTISE_DYNAMIC, .run = check_range, .dtype = dtype },
                  "quantise_dynamic");
    }
}

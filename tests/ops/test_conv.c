/* test_conv.c - convolutions against loops over indices, over any strides, options and dtypes.
 *
 * Operands hold small whole numbers (products.h), so that sums are exact in every order
 * and results are compared for equality; rounding has tests of its own. Everything runs
 * with the backend's kernels and with other ops in their place.
 */
#include <math.h>

#include "ops/dispatch.h"
#include "products.h"

enum { CASES = 220 };

/* A convolution, as numbers ------------------------------------------------------------ */

typedef struct problem {
    int      spatial;
    bool     turned, batched, bias;
    int64_t  batch, groups, channels, kernels;  /* the last two of one group */
    int64_t  in[3], taps[3], out[3];
    tsr_conv how;
} problem;

typedef tsr_status (*conv_fn)(tsr_tensor **, const tsr_tensor *, const tsr_tensor *, const tsr_tensor *,
                              const tsr_conv *);

static const conv_fn convs[2][3] = { { tsr_conv1d, tsr_conv2d, tsr_conv3d },
                                     { tsr_conv_transpose1d, tsr_conv_transpose2d, tsr_conv_transpose3d } };
static const char *const names[2][3] = { { "conv1d", "conv2d", "conv3d" },
                                         { "conv_transpose1d", "conv_transpose2d", "conv_transpose3d" } };

static int64_t or_one(int64_t n) { return n ? n : 1; }

static int64_t low_of(const problem *p, int d)
{
    if (p->how.fit == TSR_CONV_SAME) {
        const int64_t stride = or_one(p->how.stride[d]), out = (p->in[d] + stride - 1) / stride;
        const int64_t reach = (out - 1) * stride + or_one(p->how.dilation[d]) * (p->taps[d] - 1) + 1;
        return reach > p->in[d] ? (reach - p->in[d]) / 2 : 0;
    }
    return p->how.padding[d] + p->how.pad_low[d];
}

/* The result's sizes, by counting: where the last window that fits begins. */
static bool find_sizes(problem *p)
{
    for (int d = 0; d < 3; d++) {
        const int64_t stride = or_one(p->how.stride[d]),
                      reach = or_one(p->how.dilation[d]) * (p->taps[d] - 1);
        const int64_t low = low_of(p, d), high = p->how.padding[d] + p->how.pad_high[d];
        p->out[d] = 0;
        if (p->turned) {
            p->out[d] = (p->in[d] - 1) * stride + reach + 1 - low - high + p->how.output_padding[d];
            if (p->in[d] == 0 || p->out[d] < 0) return false;
        } else if (p->how.fit == TSR_CONV_SAME) {
            p->out[d] = (p->in[d] + stride - 1) / stride;
            if (p->in[d] == 0) return false;
        } else {
            while (p->out[d] * stride + reach < p->in[d] + low + high) p->out[d]++;
            if (p->out[d] == 0) return false;
        }
    }
    return true;
}

static problem random_problem(uint64_t *r)
{
    problem p;
    do {
        memset(&p, 0, sizeof p);
        p.spatial = 1 + (int)test_below(r, 3);
        p.turned = test_below(r, 2) == 0;
        p.batched = test_below(r, 4) != 0;
        p.bias = test_below(r, 2) == 0;
        p.batch = !p.batched ? 1 : test_below(r, 12) == 0 ? 0 : 1 + test_below(r, 3);
        p.groups = test_below(r, 3) == 0 ? 1 + test_below(r, 4) : 1;
        p.channels = test_below(r, 20) == 0 ? 0 : 1 + test_below(r, p.groups > 1 ? 2 : 5);
        p.kernels = test_below(r, 20) == 0 ? 0 : 1 + test_below(r, p.groups > 1 ? 2 : 9);
        p.how.groups = p.groups == 1 && test_below(r, 2) ? 0 : p.groups;
        p.how.fit = test_below(r, 5) == 0 ? (tsr_conv_fit)(1 + test_below(r, 2)) : TSR_CONV_PADDED;
        if (p.turned && p.how.fit == TSR_CONV_SAME) p.how.fit = TSR_CONV_VALID;
        const bool padded = p.how.fit == TSR_CONV_PADDED;
        for (int d = 0; d < 3; d++) p.in[d] = p.taps[d] = 1;
        for (int d = 0; d < p.spatial; d++) {
            p.in[d] = 1 + test_below(r, p.spatial == 1 ? 30 : p.spatial == 2 ? 9 : 5);
            p.taps[d] = test_below(r, 3) == 0 ? 1 : 1 + test_below(r, 4);
            p.how.stride[d] = test_below(r, 2) ? test_below(r, 4) : 1;
            p.how.dilation[d] = test_below(r, 3) ? test_below(r, 2) : 1 + test_below(r, 4);
            if (padded && test_below(r, 2)) p.how.padding[d] = test_below(r, 4);
            if (padded && test_below(r, 4) == 0) p.how.pad_low[d] = test_below(r, 3);
            if (padded && test_below(r, 4) == 0) p.how.pad_high[d] = test_below(r, 6);
            const int64_t most = or_one(p.how.stride[d]) > or_one(p.how.dilation[d])
                                     ? or_one(p.how.stride[d])
                                     : or_one(p.how.dilation[d]);
            if (p.turned && test_below(r, 2)) p.how.output_padding[d] = test_below(r, most);
        }
    } while (!find_sizes(&p));
    return p;
}

/* Shapes of x, w and the result; return ranks. */
static int x_shape(int64_t *shape, const problem *p, bool result)
{
    int n = 0;
    if (p->batched) shape[n++] = p->batch;
    shape[n++] = p->groups * (result ? p->kernels : p->channels);
    for (int d = 0; d < p->spatial; d++) shape[n++] = result ? p->out[d] : p->in[d];
    return n;
}

static int w_shape(int64_t *shape, const problem *p)
{
    shape[0] = p->groups * (p->turned ? p->channels : p->kernels);
    shape[1] = p->turned ? p->kernels : p->channels;
    for (int d = 0; d < p->spatial; d++) shape[2 + d] = p->taps[d];
    return 2 + p->spatial;
}

/* The element of an (n, c, spatial...) or (c, spatial...) tensor. */
static char *place_at(const tsr_tensor *t, const problem *p, int64_t n, int64_t c, const int64_t *at)
{
    const int first = t->ndim - p->spatial;
    int64_t offset = (first > 1 ? n * t->stride[0] : 0) + c * t->stride[first - 1];
    for (int d = 0; d < p->spatial; d++) offset += at[d] * t->stride[first + d];
    return (char *)t->data + offset * (int64_t)tsr_dtype_size(t->dtype);
}

/* What x, w and the bias hold. */
typedef struct contents {
    value *x, *w, *bias;
} contents;

static contents contents_make(const tsr_tensor *x, const tsr_tensor *w, const tsr_tensor *bias)
{
    return (contents){ values_of(x), values_of(w), bias ? values_of(bias) : NULL };
}

static void contents_free(contents *c)
{
    free(c->x);
    free(c->w);
    free(c->bias);
}

static int64_t inside_of(const int64_t *size, int64_t first, const int64_t *at)
{
    return ((first * size[0] + at[0]) * size[1] + at[1]) * size[2] + at[2];
}

static value input_at(const problem *p, const contents *e, int64_t n, int64_t channel, const int64_t *at)
{
    return e->x[inside_of(p->in, n * p->groups * p->channels + channel, at)];
}

static value weight_at(const problem *p, const contents *e, int64_t group, int64_t kernel, int64_t channel,
                       const int64_t *tap)
{
    const int64_t row = p->turned ? (group * p->channels + channel) * p->kernels + kernel
                                  : (group * p->kernels + kernel) * p->channels + channel;
    return e->w[inside_of(p->taps, row, tap)];
}

/* Which input the tap of an output meets along a dim, or -1. */
static int64_t input_of(const problem *p, int d, int64_t o, int64_t tap)
{
    const int64_t stride = or_one(p->how.stride[d]), far = tap * or_one(p->how.dilation[d]),
                  low = low_of(p, d);
    const int64_t i = p->turned ? o + low - far : o * stride - low + far;
    if (i < 0 || (p->turned && i % stride != 0)) return -1;
    return (p->turned ? i / stride : i) < p->in[d] ? (p->turned ? i / stride : i) : -1;
}

/* One output: over taps, then channels. `size`, if not NULL, adds up |x| |w|, and `count` products. */
static value sum_at(const problem *p, const contents *e, int64_t n, int64_t kernel, const int64_t *o,
                    long double *size)
{
    value sum = value_of(0);
    const int64_t group = kernel / or_one(p->kernels), own = kernel % or_one(p->kernels);
    int64_t t[3], i[3];
    for (t[0] = 0; t[0] < p->taps[0]; t[0]++)
        for (t[1] = 0; t[1] < p->taps[1]; t[1]++)
            for (t[2] = 0; t[2] < p->taps[2]; t[2]++) {
                bool inside = true;
                for (int d = 0; d < 3; d++) inside &= (i[d] = input_of(p, d, o[d], t[d])) >= 0;
                for (int64_t c = 0; inside && c < p->channels; c++) {
                    const value a = input_at(p, e, n, group * p->channels + c, i);
                    const value b = weight_at(p, e, group, own, c, t);
                    sum = value_plus(sum, value_times(a, b));
                    if (size) *size += fabsl(a.re * b.re);
                }
            }
    if (!e->bias) return sum;
    if (size) *size += fabsl(e->bias[kernel].re);
    return value_plus(sum, e->bias[kernel]);
}

/* Is z the convolution, element by element? */
static void check_result(const problem *p, const tsr_tensor *z, const tsr_tensor *x, const tsr_tensor *w,
                         const tsr_tensor *bias, const char *what)
{
    int64_t shape[8], o[3];
    const int ndim = x_shape(shape, p, true);
    bool fits = z && z->ndim == ndim && z->dtype == x->dtype;
    for (int d = 0; fits && d < ndim; d++) fits = z->shape[d] == shape[d];
    EXPECT_MSG(fits, "%s: rank %d", what, z ? z->ndim : -1);
    if (!fits) return;
    contents e = contents_make(x, w, bias);
    for (int64_t n = 0; n < p->batch; n++)
        for (int64_t k = 0; k < p->groups * p->kernels; k++)
            for (o[0] = 0; o[0] < p->out[0]; o[0]++)
                for (o[1] = 0; o[1] < p->out[1]; o[1]++)
                    for (o[2] = 0; o[2] < p->out[2]; o[2]++)
                        EXPECT_MSG(
                            is_value(z->dtype, place_at(z, p, n, k, o), sum_at(p, &e, n, k, o, NULL)),
                            "%s %s: image %lld, output %lld at (%lld, %lld, %lld)", what,
                            tsr_dtype_name(z->dtype), (long long)n, (long long)k, (long long)o[0],
                            (long long)o[1], (long long)o[2]);
    contents_free(&e);
}

/* Operands of a problem. */
typedef struct operands {
    strided x, w, bias;
} operands;

static operands make_operands(uint64_t *r, const problem *p, tsr_dtype dtype, bool plain)
{
    int64_t shape[8];
    operands o;
    int ndim = x_shape(shape, p, false);
    o.x = strided_make(r, dtype, ndim, shape, true, plain);
    ndim = w_shape(shape, p);
    o.w = strided_make(r, dtype, ndim, shape, true, plain);
    shape[0] = p->groups * p->kernels;
    o.bias = strided_make(r, dtype, 1, shape, true, plain);
    fill_random(r, o.x.t);
    fill_random(r, o.w.t);
    fill_random(r, o.bias.t);
    return o;
}

static void free_operands(operands *o)
{
    strided_free(&o->x);
    strided_free(&o->w);
    strided_free(&o->bias);
}

static tsr_status run(const problem *p, tsr_tensor **z, const operands *o)
{
    return convs[p->turned][p->spatial - 1](z, o->x.t, o->w.t, p->bias ? o->bias.t : NULL, &p->how);
}

/* Into a result that is made, and into one that is given. */
static void check_problem(uint64_t *r, const problem *p, tsr_dtype dtype, const char *what)
{
    int64_t shape[8];
    tsr_tensor *made = NULL;
    operands o = make_operands(r, p, dtype, test_below(r, 3) == 0);
    const int ndim = x_shape(shape, p, true);
    strided given = strided_make(r, dtype, ndim, shape, false, false);
    EXPECT_OK(run(p, &made, &o));
    if (made) check_result(p, made, o.x.t, o.w.t, p->bias ? o.bias.t : NULL, what);
    EXPECT_OK(run(p, &given.t, &o));
    check_result(p, given.t, o.x.t, o.w.t, p->bias ? o.bias.t : NULL, what);
    tsr_release(&made);
    strided_free(&given);
    free_operands(&o);
}

static void check_dtypes(uint64_t seed, int cases)
{
    for (int i = 0; i < PRODUCT_DTYPES; i++)
        for (int c = 0; c < cases && test_state.failures == 0; c++) {
            uint64_t r = seed + (uint64_t)(i * 1000 + c);
            char what[64];
            const problem p = random_problem(&r);
            snprintf(what, sizeof what, "%s, case %d", names[p.turned][p.spatial - 1], c);
            check_problem(&r, &p, product_dtypes[i], what);
        }
}

TEST(test_convolutions_match_loops_for_every_dtype_stride_and_option)
{
    check_dtypes(11, 2 * CASES);
}

TEST(test_convolutions_done_with_other_ops_match_loops)
{
    tsri_prefer_parts(true);
    check_dtypes(77000, 2 * CASES);
    tsri_prefer_parts(false);
}

/* Sizes that the kernel cuts into pieces ------------------------------------------------- */

/* A problem by name: channels last in memory where asked. */
static void check_large(problem p, tsr_dtype dtype, bool channels_last, const char *what)
{
    uint64_t r = 5;
    tsr_tensor *z = NULL, *x = NULL;
    p.batched = true;
    EXPECT(find_sizes(&p));
    operands o = make_operands(&r, &p, dtype, true);
    if (channels_last) {
        EXPECT_OK(tsr_move_axis(&x, o.x.t, 1, -1));
        EXPECT_OK(tsr_contiguous(&x, x));
        EXPECT_OK(tsr_move_axis(&x, x, -1, 1));
        tsr_release(&o.x.t);
        o.x.t = x;
    }
    EXPECT_OK(run(&p, &z, &o));
    check_result(&p, z, o.x.t, o.w.t, p.bias ? o.bias.t : NULL, what);
    tsr_release(&z);
    free_operands(&o);
}

TEST(test_many_kernels_channels_and_places_are_cut_into_pieces)
{
    const problem kernels = { .spatial = 2,
                              .bias = true,
                              .batch = 2,
                              .groups = 1,
                              .channels = 3,
                              .kernels = 530,
                              .in = { 5, 7, 1 },
                              .taps = { 3, 3, 1 },
                              .how.padding = { 1, 1 } };
    const problem channels = { .spatial = 1,
                               .batch = 1,
                               .groups = 1,
                               .channels = 419,
                               .kernels = 5,
                               .in = { 33, 1, 1 },
                               .taps = { 3, 1, 1 },
                               .how.padding = { 2 },
                               .how.stride = { 2 } };
    const problem places = { .spatial = 2,
                             .bias = true,
                             .batch = 1,
                             .groups = 2,
                             .channels = 2,
                             .kernels = 5,
                             .in = { 41, 37, 1 },
                             .taps = { 3, 2, 1 },
                             .how.padding = { 1, 1 },
                             .how.groups = 2 };
    check_large(kernels, TSR_F32, false, "kernels");
    check_large(kernels, TSR_BF16, true, "kernels");
    check_large(channels, TSR_F64, false, "channels");
    check_large(channels, TSR_I32, true, "channels");
    check_large(places, TSR_F32, true, "places");
    check_large(places, TSR_F16, false, "places");
}

TEST(test_large_windows_are_cut_into_boxes_of_outputs)
{
    const problem rows = { .spatial = 2, .bias = true, .batch = 1, .groups = 1, .channels = 24, .kernels = 2,
                           .in = { 70, 64, 1 }, .taps = { 3, 3, 1 }, .how.padding = { 1, 1 } };
    const problem lined = { .spatial = 2, .batch = 1, .groups = 1, .channels = 3, .kernels = 117,
                            .in = { 9, 31, 1 }, .taps = { 3, 5, 1 }, .how.padding = { 1, 2 } };
    problem line = { .spatial = 1, .batch = 1, .groups = 1, .channels = 40, .kernels = 3,
                     .in = { 4001, 1, 1 }, .taps = { 3, 1, 1 }, .how.padding = { 4 }, .how.dilation = { 7 } };
    problem taps = { .spatial = 1, .batch = 1, .groups = 1, .channels = 2, .kernels = 4, .in = { 700, 1, 1 },
                     .taps = { 300, 1, 1 }, .how.padding = { 20 } };
    check_large(rows, TSR_F32, false, "boxes of rows");
    check_large(lined, TSR_F32, false, "many panels of kernels");
    check_large(lined, TSR_F16, true, "many panels of kernels");
    check_large(line, TSR_F32, false, "parts of a row");
    line.how.stride[0] = 3;
    check_large(line, TSR_F64, false, "parts of a row by 3");
    check_large(taps, TSR_F32, false, "taps that are summed in parts");
}

TEST(test_kernels_that_fill_vectors_match_loops)
{
    static const tsr_dtype dtypes[] = { TSR_F32, TSR_F64, TSR_F32, TSR_BF16, TSR_F16 };
    static const int64_t kernels[] = { 9, 15, 16, 28, 31, 32, 45, 64, 70 },
                         channels[] = { 1, 2, 7, 8, 17, 33 };
    for (int c = 0; c < CASES / 2 && test_state.failures == 0; c++) {
        uint64_t r = 9000 + (uint64_t)c;
        char what[64];
        problem p = random_problem(&r);
        p.kernels = kernels[test_below(&r, 9)];
        p.channels = channels[test_below(&r, 6)];
        snprintf(what, sizeof what, "%s of %d kernels, case %d", names[p.turned][p.spatial - 1],
                 (int)p.kernels, c);
        check_problem(&r, &p, dtypes[c % 5], what);
    }
}

TEST(test_kernels_that_fill_vectors_are_cut_into_boxes_and_bands)
{
    problem line = { .spatial = 1, .bias = true, .batch = 1, .groups = 1, .channels = 56, .kernels = 32,
                     .in = { 1500, 1, 1 }, .taps = { 3, 1, 1 }, .how.padding = { 1 } };
    problem rows = { .spatial = 2,
                     .batch = 1,
                     .groups = 1,
                     .channels = 40,
                     .kernels = 32,
                     .in = { 30, 53, 1 },
                     .taps = { 3, 3, 1 },
                     .how.padding = { 2, 1 },
                     .how.dilation = { 2, 1 } };
    problem boxes = { .spatial = 3,
                      .batch = 1,
                      .groups = 2,
                      .channels = 20,
                      .kernels = 32,
                      .in = { 9, 20, 19 },
                      .taps = { 2, 3, 1 },
                      .how.padding = { 1, 1, 0 },
                      .how.stride = { 1, 2, 2 },
                      .how.groups = 2 };
    for (int last = 0; last < 2; last++) {
        check_large(line, TSR_F32, last, "a line");
        check_large(rows, TSR_F32, last, "rows");
        check_large(boxes, TSR_F64, last, "boxes");
    }
    check_large(boxes, TSR_F16, false, "boxes");
    rows.channels = 90;
    rows.in[0] = 5;
    rows.how.padding[0] = 7;
    check_large(rows, TSR_F32, false, "rows that see nothing, and weights that are summed in parts");
    line.in[0] = 1024;
    line.channels = 33;
    line.batch = 2;
    check_large(line, TSR_F32, false, "lines a page long");
}

TEST(test_depthwise_windows_of_three_by_three)
{
    for (int64_t wide = 1; wide < 72; wide += wide < 36 ? 1 : 7) {
        problem p = { .spatial = 2, .bias = wide % 2 == 0, .batch = 2, .groups = 3, .channels = 1,
                      .kernels = 1 + wide % 2, .in = { 1 + wide % 5, wide, 1 }, .taps = { 3, 3, 1 },
                      .how.groups = 3 };
        for (int d = 0; d < 2; d++) {
            p.how.pad_low[d] = (wide + d) % 4;
            p.how.pad_high[d] = 2;
        }
        check_large(p, TSR_F32, false, "three by three");
    }
    check_large((problem){ .spatial = 2, .batch = 1, .groups = 2, .channels = 1, .kernels = 1,
                           .in = { 90, 100, 1 }, .taps = { 3, 3, 1 }, .how.padding = { 1, 1 },
                           .how.groups = 2 }, TSR_F32, false, "three by three, in parts");
}

TEST(test_windows_of_one_place_are_products_of_matrices)
{
    const problem p = { .spatial = 3, .bias = true, .batch = 2, .groups = 2, .channels = 9, .kernels = 7,
                        .in = { 3, 5, 12 }, .taps = { 1, 1, 1 }, .how.groups = 2 };
    problem column = p;
    column.in[2] = 1;
    column.taps[0] = 3;
    check_large(p, TSR_F32, false, "packed");
    check_large(p, TSR_F32, true, "channels last");
    check_large(column, TSR_F64, true, "a column");
}

TEST(test_depthwise_rows_are_long_and_strided)
{
    const problem p = { .spatial = 2, .bias = true, .batch = 2, .groups = 3, .channels = 1, .kernels = 1,
                        .in = { 6, 601, 1 }, .taps = { 3, 5, 1 }, .how.padding = { 1, 2 }, .how.groups = 3 };
    problem by_two = p, twice = p, turned = p;
    by_two.how.stride[0] = by_two.how.stride[1] = 2;
    twice.kernels = 2;
    turned.turned = true;
    turned.how.stride[1] = 3;
    check_large(p, TSR_F32, false, "depthwise");
    check_large(p, TSR_F16, true, "depthwise, channels last");
    check_large(by_two, TSR_F64, false, "depthwise by 2");
    check_large(twice, TSR_BF16, false, "two kernels each");
    check_large(turned, TSR_F32, false, "depthwise, transposed");
}

/* Rounding and special values --------------------------------------------------------------- */

static double uniform(uint64_t *r) { return (double)test_below(r, 1 << 20) / (1 << 19) - 1; }

static void fill_reals(uint64_t *r, const tsr_tensor *t)
{
    for (int64_t i = 0; i < tsr_numel(t); i++) {
        value v = { 0, (long double)uniform(r), 0 };
        value_store(t->dtype, element_at(t, i), v);
    }
}

/* The unit roundoff of what a dtype is summed in, and of the dtype. */
static long double unit_of(tsr_dtype d)
{
    return d == TSR_F64 ? ldexpl(1, -53) : d == TSR_F32 ? ldexpl(1, -24) : d == TSR_F16 ? ldexpl(1, -11)
         : d == TSR_BF16 ? ldexpl(1, -8) : d == TSR_F8E4M3 ? ldexpl(1, -4) : ldexpl(1, -3);
}

static void check_rounding(tsr_dtype dtype, uint64_t seed)
{
    uint64_t r = seed;
    tsr_tensor *z = NULL;
    int64_t o[3];
    problem p = random_problem(&r);
    operands in = make_operands(&r, &p, dtype, true);
    fill_reals(&r, in.x.t);
    fill_reals(&r, in.w.t);
    fill_reals(&r, in.bias.t);
    EXPECT_OK(run(&p, &z, &in));
    /* half of the least step between small numbers, where a case may come so low */
    const long double tiny = dtype == TSR_F8E4M3 ? ldexpl(1, -10) : dtype == TSR_F8E5M2 ? ldexpl(1, -17)
                           : dtype == TSR_F16 ? ldexpl(1, -25) : 0;
    const long double sums_in = unit_of(dtype == TSR_F64 ? TSR_F64 : TSR_F32);
    contents e = contents_make(in.x.t, in.w.t, p.bias ? in.bias.t : NULL);
    for (int64_t k = 0; z && k < p.groups * p.kernels && p.batch > 0; k++)
        for (o[0] = 0; o[0] < p.out[0]; o[0]++)
            for (o[1] = 0; o[1] < p.out[1]; o[1]++)
                for (o[2] = 0; o[2] < p.out[2]; o[2]++) {
                    long double size = 0;
                    const value want = sum_at(&p, &e, 0, k, o, &size);
                    const value got = value_load(dtype, place_at(z, &p, 0, k, o));
                    const long double n = (long double)(p.channels * p.taps[0] * p.taps[1] * p.taps[2] + 2);
                    const long double slack =
                        n * sums_in * size + unit_of(dtype) * fabsl(want.re) * 1.01L + tiny;
                    EXPECT_MSG(fabsl(got.re - want.re) <= slack, "%s seed %llu: %Lg, not %Lg",
                               tsr_dtype_name(dtype), (unsigned long long)seed, got.re, want.re);
                }
    contents_free(&e);
    tsr_release(&z);
    free_operands(&in);
}

TEST(test_sums_of_fractions_are_rounded_once)
{
    static const tsr_dtype dtypes[] = { TSR_F8E4M3, TSR_F8E5M2, TSR_F16, TSR_BF16, TSR_F32, TSR_F64 };
    for (int parts = 0; parts < 2; parts++) {
        tsri_prefer_parts(parts);
        for (int i = 0; i < 6; i++)
            for (uint64_t c = 0; c < 60 && test_state.failures == 0; c++) check_rounding(dtypes[i], 400 + c);
        tsri_prefer_parts(false);
    }
}

TEST(test_nan_and_infinity_reach_the_windows_that_hold_them)
{
    for (int parts = 0; parts < 2; parts++)
        for (int depthwise = 0; depthwise < 2; depthwise++) {
            tsr_tensor *x = NULL, *w = NULL, *z = NULL;
            const int64_t c = 4;
            tsri_prefer_parts(parts);
            EXPECT_OK(tsr_ones(&x, TSR_F32, 4, (const int64_t[]){ 1, c, 6, 20 }));
            EXPECT_OK(tsr_ones(&w, TSR_F32, 4, (const int64_t[]){ c, depthwise ? 1 : c, 3, 3 }));
            if (!x || !w) return;
            ((float *)x->data)[2 * 20 + 9] = NAN;         /* channel 0, (2, 9) */
            ((float *)x->data)[120 + 4 * 20] = -INFINITY; /* channel 1, (4, 0) */
            EXPECT_OK(
                tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .padding = { 1, 1 }, .groups = depthwise ? c : 1 }));
            for (int64_t k = 0; z && k < c; k++)
                for (int64_t i = 0; i < 6; i++)
                    for (int64_t j = 0; j < 20; j++) {
                        const float got = ((float *)z->data)[k * 120 + i * 20 + j];
                        const bool nan = (k == 0 || !depthwise) && llabs(i - 2) < 2 && llabs(j - 9) < 2;
                        const bool inf = !nan && (k == 1 || !depthwise) && llabs(i - 4) < 2 && j < 2;
                        EXPECT(nan ? isnan(got) : inf ? got == -INFINITY : isfinite(got));
                    }
            tsr_release(&x);
            tsr_release(&w);
            tsr_release(&z);
            tsri_prefer_parts(false);
        }
}

TEST(test_a_complex_bias_keeps_its_infinity_apart)
{
    tsr_tensor *x = NULL, *w = NULL, *b = NULL, *z = NULL;
    EXPECT_OK(tsr_ones(&x, TSR_C64, 3, (const int64_t[]){ 1, 1, 3 }));
    EXPECT_OK(tsr_ones(&w, TSR_C64, 3, (const int64_t[]){ 1, 1, 3 }));
    EXPECT_OK(tsr_full(&b, TSR_C64, 1, (const int64_t[]){ 1 }, tsr_scalar_c128(INFINITY, 2)));
    EXPECT_OK(tsr_conv1d(&z, x, w, b, NULL));
    EXPECT(z && ((tsr_c64 *)z->data)->re == INFINITY && ((tsr_c64 *)z->data)->im == 2);
    tsr_release(&x);
    tsr_release(&w);
    tsr_release(&b);
    tsr_release(&z);
}

/* Threads ---------------------------------------------------------------------------------- */

/* x and the result with channels last in memory, or not. */
static void check_layouts(problem p, tsr_dtype dtype)
{
    uint64_t r = 71;
    tsr_tensor *x[2] = { NULL }, *z[4] = { NULL }, *moved = NULL;
    p.batched = true;
    EXPECT(find_sizes(&p));
    operands o = make_operands(&r, &p, dtype, true);
    fill_reals(&r, o.x.t);
    fill_reals(&r, o.w.t);
    EXPECT_OK(tsr_contiguous(&x[0], o.x.t));
    EXPECT_OK(tsr_move_axis(&moved, x[0], 1, -1));
    EXPECT_OK(tsr_contiguous(&moved, moved));
    EXPECT_OK(tsr_move_axis(&x[1], moved, -1, 1));
    for (int i = 0; i < 4; i++) {
        tsr_release(&o.x.t);
        o.x.t = tsr_retain(x[i % 2]);
        if (i >= 2) {
            EXPECT_OK(tsr_move_axis(&moved, z[0], 1, -1));
            EXPECT_OK(tsr_contiguous(&moved, moved));
            EXPECT_OK(tsr_fill(moved, tsr_scalar_f64(0)));
            EXPECT_OK(tsr_move_axis(&z[i], moved, -1, 1));
        }
        EXPECT_OK(run(&p, &z[i], &o));
        bool same = false;
        EXPECT_OK(tsr_equal(&same, z[0], z[i]));
        EXPECT_MSG(same, "layout %d, %lld kernels", i, (long long)p.kernels);
    }
    tsr_release(&moved);
    for (int i = 0; i < 2; i++) tsr_release(&x[i]);
    for (int i = 0; i < 4; i++) tsr_release(&z[i]);
    free_operands(&o);
}

TEST(test_layouts_give_the_same_bits)
{
    problem p = { .spatial = 2, .bias = true, .batch = 2, .groups = 1, .channels = 70, .kernels = 64,
                  .in = { 9, 13, 1 }, .taps = { 3, 3, 1 }, .how.padding = { 1, 1 } };
    for (int taps = 3; taps >= 1; taps -= 2)
        for (int64_t kernels = 12; kernels <= 76; kernels += 16) {
            p.kernels = kernels;
            p.taps[0] = p.taps[1] = taps;
            p.channels = taps == 1 ? 300 : 70;
            p.how.padding[0] = p.how.padding[1] = taps / 2;
            check_layouts(p, TSR_F32);
            check_layouts(p, TSR_F64);
        }
}

/* Meaning ---------------------------------------------------------------------------------- */

/* Seed 001's shapes: a signal of one channel, an image of one channel. */
TEST(test_the_smallest_signal_and_image)
{
    tsr_tensor *x = NULL, *w = NULL, *z = NULL;
    EXPECT_OK(tsr_from_data(&x, TSR_F32, 3, (const int64_t[]){ 1, 1, 5 }, (const float[]){ 1, 2, 3, 4, 5 }));
    EXPECT_OK(tsr_from_data(&w, TSR_F32, 3, (const int64_t[]){ 1, 1, 3 }, (const float[]){ 1, 0, -1 }));
    EXPECT_OK(tsr_conv1d(&z, x, w, NULL, NULL));
    EXPECT(z && z->ndim == 3 && z->shape[2] == 3);
    for (int i = 0; z && i < 3; i++) EXPECT(((float *)z->data)[i] == -2);
    tsr_release(&x);
    tsr_release(&w);
    tsr_release(&z);
    EXPECT_OK(tsr_ones(&x, TSR_F32, 4, (const int64_t[]){ 1, 1, 4, 4 }));
    EXPECT_OK(tsr_ones(&w, TSR_F32, 4, (const int64_t[]){ 1, 1, 3, 3 }));
    EXPECT_OK(tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .padding = { 1, 1 } }));
    static const float want[] = { 4, 6, 6, 4, 6, 9, 9, 6, 6, 9, 9, 6, 4, 6, 6, 4 };
    EXPECT(z && memcmp(z->data, want, sizeof want) == 0);
    tsr_release(&x);
    tsr_release(&w);
    tsr_release(&z);
}

TEST(test_dtypes_are_promoted_together)
{
    tsr_tensor *x = NULL, *w = NULL, *b = NULL, *z = NULL;
    EXPECT_OK(tsr_ones(&x, TSR_F16, 3, (const int64_t[]){ 1, 2, 4 }));
    EXPECT_OK(tsr_ones(&w, TSR_BF16, 3, (const int64_t[]){ 3, 2, 2 }));
    EXPECT_OK(tsr_ones(&b, TSR_F16, 1, (const int64_t[]){ 3 }));
    EXPECT_OK(tsr_conv1d(&z, x, w, b, NULL));
    EXPECT(z && z->dtype == TSR_F32 && ((float *)z->data)[8] == 5);
    tsr_release(&x);
    tsr_release(&w);
    tsr_release(&b);
    tsr_release(&z);
}

static bool are_equal(const tsr_tensor *a, const tsr_tensor *b)
{
    bool equal = false;
    EXPECT_OK(tsr_equal(&equal, a, b));
    return equal;
}

TEST(test_a_result_may_be_x_itself_or_overlap_it)
{
    for (int parts = 0; parts < 2; parts++)
        for (int turned = 0; turned < 2; turned++) {
            tsr_tensor *all = NULL, *x = NULL, *w = NULL, *want = NULL, *z = NULL, *copy = NULL;
            uint64_t r = 3;
            const tsr_conv how = { .padding = { 1, 1 } };
            tsri_prefer_parts(parts);
            EXPECT_OK(tsr_zeros(&all, TSR_F32, 4, (const int64_t[]){ 3, 3, 5, 6 }));
            EXPECT_OK(tsr_zeros(&w, TSR_F32, 4, (const int64_t[]){ 3, 3, 3, 3 }));
            fill_random(&r, all);
            fill_random(&r, w);
            EXPECT_OK(tsr_slice(&x, all, 0, 0, 2, 1));
            EXPECT_OK(tsr_slice(&z, all, 0, 1, 3, 1));
            EXPECT_OK(tsr_clone(&copy, x));
            EXPECT_OK(convs[turned][1](&want, x, w, NULL, &how));
            EXPECT_OK(convs[turned][1](&z, x, w, NULL, &how));
            EXPECT(z && want && are_equal(z, want));
            EXPECT_OK(tsr_copy(x, copy));
            EXPECT_OK(convs[turned][1](&x, x, w, NULL, &how));
            EXPECT(x && want && are_equal(x, want));
            tsr_release(&all);
            tsr_release(&x);
            tsr_release(&w);
            tsr_release(&want);
            tsr_release(&z);
            tsr_release(&copy);
            tsri_prefer_parts(false);
        }
}

/* Sizes whose sums or products leave 63 bits, and strides longer than everything. */
TEST(test_huge_options_overflow_in_words_or_leave_one_window)
{
    const int64_t huge = INT64_MAX;
    for (int parts = 0; parts < 2; parts++) {
        tsr_tensor *x = NULL, *w = NULL, *z = NULL;
        tsri_prefer_parts(parts);
        EXPECT_OK(tsr_ones(&x, TSR_F32, 3, (const int64_t[]){ 1, 1, 4 }));
        EXPECT_OK(tsr_ones(&w, TSR_F32, 3, (const int64_t[]){ 1, 1, 2 }));
        EXPECT_FAILS(tsr_conv1d(&z, x, w, NULL, &(tsr_conv){ .dilation = { huge } }), TSR_EOVERFLOW,
                     "overflow");
        EXPECT_FAILS(tsr_conv1d(&z, x, w, NULL, &(tsr_conv){ .padding = { huge } }), TSR_EOVERFLOW,
                     "overflow");
        EXPECT_FAILS(tsr_conv1d(&z, x, w, NULL, &(tsr_conv){ .padding = { huge }, .pad_low = { 1 } }),
                     TSR_EOVERFLOW, "overflow");
        EXPECT_FAILS(tsr_conv_transpose1d(&z, x, w, NULL, &(tsr_conv){ .stride = { huge } }), TSR_EOVERFLOW,
                     "overflow");
        EXPECT_FAILS(tsr_conv_transpose1d(&z, x, w, NULL, &(tsr_conv){ .dilation = { huge } }), TSR_EOVERFLOW,
                     "overflow");
        EXPECT_FAILS(tsr_conv1d(&z, x, w, NULL, &(tsr_conv){ .groups = huge }), TSR_ESHAPE, "groups");
        EXPECT_FAILS(tsr_conv1d(&z, x, w, NULL, &(tsr_conv){ .fit = TSR_CONV_SAME, .dilation = { huge } }),
                     TSR_EOVERFLOW, "overflow");
        EXPECT(z == NULL);
        EXPECT_OK(tsr_conv1d(&z, x, w, NULL, &(tsr_conv){ .stride = { huge } }));
        EXPECT(z && z->shape[2] == 1 && *(float *)z->data == 2);
        tsr_release(&z);
        const tsr_conv far = { .stride = { huge / 2 }, .pad_high = { huge / 2 } };
        if (parts) {  /* which would lay the padding out */
            EXPECT_FAILS(tsr_conv1d(&z, x, w, NULL, &far), TSR_EOVERFLOW, "conv");
        } else {
            EXPECT_OK(tsr_conv1d(&z, x, w, NULL, &far));
            EXPECT(z && z->shape[2] == 2 && ((float *)z->data)[0] == 2 && ((float *)z->data)[1] == 0);
        }
        tsr_release(&z);
        EXPECT_OK(tsr_slice(&x, x, 2, 0, 1, 1));
        EXPECT_OK(tsr_conv_transpose1d(&z, x, w, NULL, &(tsr_conv){ .stride = { huge } }));
        EXPECT(z && z->shape[2] == 2 && ((float *)z->data)[0] == 1 && ((float *)z->data)[1] == 1);
        tsr_release(&x);
        tsr_release(&w);
        tsr_release(&z);
        tsri_prefer_parts(false);
    }
}

/* Before there is data ------------------------------------------------------------------------ */

TEST(test_infer_and_cost_need_no_data)
{
    tsr_desc x, w, b, z;
    tsr_cost cost;
    tsr_conv_params p = {
        .spatial = 2, .groups = 1, .stride = { 2, 1 }, .dilation = { 1, 1 }, .low = { 1, 1 }, .high = { 1, 0 }
    };
    EXPECT_OK(tsr_desc_init(&x, TSR_F32, 4, (const int64_t[]){ 2, 3, 8, 9 }, NULL));
    EXPECT_OK(tsr_desc_init(&w, TSR_F32, 4, (const int64_t[]){ 5, 3, 3, 3 }, NULL));
    EXPECT_OK(tsr_desc_init(&b, TSR_F32, 1, (const int64_t[]){ 5 }, NULL));
    const tsr_desc *in[] = { &x, &w, &b };
    EXPECT_OK(tsr_infer(&z, TSR_OP_CONV, 3, in, &p));
    EXPECT(z.ndim == 4 && z.shape[0] == 2 && z.shape[1] == 5 && z.shape[2] == 4 && z.shape[3] == 8);
    EXPECT_OK(tsr_infer(&z, TSR_OP_CONV, 2, in, &p));
    EXPECT_OK(tsr_op_cost(&cost, TSR_OP_CONV, 2, in, &p));
    EXPECT(cost.flops == 2.0 * 2 * 5 * 4 * 8 * 27);
    p.stride[0] = 0;
    EXPECT_FAILS(tsr_infer(&z, TSR_OP_CONV, 2, in, &p), TSR_EINVAL, "stride 0");
    p.stride[0] = 2;
    p.spatial = 4;
    EXPECT_FAILS(tsr_infer(&z, TSR_OP_CONV, 2, in, &p), TSR_EINVAL, "4 spatial dims");
    p.spatial = 2;
    EXPECT_OK(tsr_desc_init(&w, TSR_F32, 4, (const int64_t[]){ 3, 5, 3, 3 }, NULL));
    EXPECT_OK(tsr_infer(&z, TSR_OP_CONV_TRANSPOSE, 3, in, &p));
    EXPECT(z.shape[1] == 5 && z.shape[2] == 7 * 2 + 3 - 2 && z.shape[3] == 8 + 3 - 1);
    EXPECT_OK(tsr_op_cost(&cost, TSR_OP_CONV_TRANSPOSE, 3, in, &p));
    EXPECT(cost.flops == 2.0 * 2 * 3 * 8 * 9 * 5 * 9);
}

/* Bad input ------------------------------------------------------------------------------------ */

TEST(test_bad_arguments_are_refused_in_words)
{
    tsr_tensor *x = NULL, *w = NULL, *b = NULL, *z = NULL, *flags = NULL, *odd = NULL;
    EXPECT_OK(tsr_zeros(&x, TSR_F32, 4, (const int64_t[]){ 1, 4, 5, 6 }));
    EXPECT_OK(tsr_zeros(&w, TSR_F32, 4, (const int64_t[]){ 6, 4, 3, 3 }));
    EXPECT_OK(tsr_zeros(&b, TSR_F32, 1, (const int64_t[]){ 5 }));
    EXPECT_OK(tsr_zeros(&flags, TSR_BOOL, 4, (const int64_t[]){ 1, 4, 5, 6 }));
    EXPECT_OK(tsr_zeros(&odd, TSR_C32, 4, (const int64_t[]){ 1, 4, 5, 6 }));
    EXPECT_FAILS(tsr_conv2d(NULL, x, w, NULL, NULL), TSR_ENULL, "conv2d: out is NULL");
    EXPECT_FAILS(tsr_conv2d(&z, NULL, w, NULL, NULL), TSR_ENULL, "conv2d: x");
    EXPECT_FAILS(tsr_conv2d(&z, x, NULL, NULL, NULL), TSR_ENULL, "conv2d: w");
    EXPECT_FAILS(tsr_conv_transpose3d(NULL, x, w, NULL, NULL), TSR_ENULL, "conv_transpose3d: out is NULL");
    EXPECT_FAILS(tsr_conv1d(&z, x, w, NULL, NULL), TSR_ESHAPE, "conv1d: x is f32(1, 4, 5, 6");
    EXPECT_FAILS(tsr_conv3d(&z, x, w, NULL, NULL), TSR_ESHAPE, "conv3d: w is f32(6, 4, 3, 3");
    EXPECT_FAILS(tsr_conv2d(&z, x, b, NULL, NULL), TSR_ESHAPE, "conv2d: w");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, b, NULL), TSR_ESHAPE, "conv2d: bias");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, x, NULL), TSR_ESHAPE, "conv2d: bias");
    EXPECT_FAILS(tsr_conv_transpose2d(&z, x, w, NULL, NULL), TSR_ESHAPE, "has 4 channels");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .groups = 2 }), TSR_ESHAPE, "groups 2 has 8");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .groups = -1 }), TSR_EINVAL, "-1 groups");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .stride = { 1, -1 } }), TSR_EINVAL,
                 "stride -1 of spatial dim 1");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .dilation = { -2 } }), TSR_EINVAL,
                 "dilation -2 of spatial dim 0");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .padding = { -1 } }), TSR_EINVAL, "padding -1");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .pad_high = { 0, -1 } }), TSR_EINVAL,
                 "pad_high -1 of spatial dim 1");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .output_padding = { 1 } }), TSR_EINVAL,
                 "output_padding 1");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .fit = (tsr_conv_fit)9 }), TSR_EINVAL, "fit 9");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .fit = TSR_CONV_SAME, .padding = { 1 } }),
                 TSR_EINVAL, "fit");
    EXPECT_FAILS(
        tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .dilation = { 2, 3 } }), TSR_ESHAPE,
        "6 long with padding, has no room for the window of w f32(6, 4, 3, 3 | 36, 9, 3, 1), 7 long");
    EXPECT_FAILS(tsr_conv2d(&z, flags, w, NULL, NULL), TSR_EDTYPE, "conv2d");
    EXPECT_FAILS(tsr_conv2d(&z, odd, odd, NULL, NULL), TSR_EDTYPE, "conv2d");
    EXPECT_FAILS(tsr_conv_transpose2d(&z, x, x, NULL, NULL), TSR_ESHAPE, "conv_transpose2d");
    EXPECT_FAILS(tsr_conv2d(&x, x, w, NULL, NULL), TSR_ESHAPE, "conv2d: the result is f32(1, 6, 3, 4");
    tsr_release(&w);
    EXPECT_OK(tsr_zeros(&w, TSR_F32, 4, (const int64_t[]){ 4, 3, 3, 3 }));
    EXPECT_FAILS(tsr_conv_transpose2d(&z, x, w, b, NULL), TSR_ESHAPE,
                 "bias is f32(5 | 1), but there are 3 outputs");
    EXPECT_FAILS(tsr_conv_transpose2d(&z, x, w, NULL, &(tsr_conv){ .groups = 3 }), TSR_ESHAPE, "3 groups");
    EXPECT_FAILS(tsr_conv_transpose2d(&z, x, w, NULL, &(tsr_conv){ .fit = TSR_CONV_SAME }), TSR_EINVAL,
                 "TSR_CONV_SAME");
    EXPECT_FAILS(tsr_conv_transpose2d(&z, x, w, NULL, &(tsr_conv){ .output_padding = { 1 } }), TSR_EINVAL,
                 "output_padding 1 of spatial dim 0 is not below the stride 1");
    EXPECT_FAILS(tsr_conv_transpose2d(&z, x, w, NULL, &(tsr_conv){ .padding = { 9 } }), TSR_ESHAPE,
                 "padding of 18");
    EXPECT_OK(tsr_slice(&x, x, 2, 0, 0, 1));
    EXPECT_FAILS(tsr_conv_transpose2d(&z, x, w, NULL, NULL), TSR_ESHAPE, "spatial dim 0 of x");
    EXPECT_OK(tsr_slice(&w, w, 2, 0, 0, 1));
    EXPECT_FAILS(tsr_conv_transpose2d(&z, x, w, NULL, NULL), TSR_ESHAPE, "is empty");
    EXPECT(z == NULL);
    tsr_release(&x);
    tsr_release(&w);
    tsr_release(&b);
    tsr_release(&flags);
    tsr_release(&odd);
}

/* Memory ---------------------------------------------------------------------------------------- */

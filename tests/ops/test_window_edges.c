/* test_window_edges.c - convolutions and pools whose rows, channels and kernels end where vectors, tiles and
 * boxes do, one before and one behind, with results and operands at pages that nobody may touch.
 *
 * Every result lies at a guard, or has watched gaps between its rows. It is compared with plain loops over
 * its windows, and its bits with those that other numbers of threads give. */
#if defined(__unix__) || defined(__APPLE__)
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <math.h>

#define TEST_OWN_MAIN
#include "guarded.h"

/* Layouts -------------------------------------------------------------------------- */

typedef enum layout { PACKED, WIDE, CHANNELS_LAST, LAYOUTS } layout;

/* (n, c, spatial...) with `gap` more elements in each row, or channels last with as many after them. */
static guarded image_make(int zone, bool high, tsr_dtype dtype, int spatial, const int64_t *shape, layout how,
                          int64_t gap)
{
    int64_t stride[5], reach = 1;
    const int ndim = spatial + 2;
    if (how == CHANNELS_LAST) {
        stride[1] = 1;
        reach = shape[1] + gap;
    }
    for (int d = ndim - 1; d >= 0; d--) {
        if (d == 1 && how == CHANNELS_LAST) continue;
        stride[d] = reach;
        reach *= shape[d];
        if (d == ndim - 1 && how == WIDE) reach += gap;
    }
    return guarded_make(zone, high, dtype, ndim, shape, stride);
}

/* Windows -------------------------------------------------------------------------- */

typedef struct axis {
    int64_t in, out, taps, step, pad, dilation;
} axis;

typedef struct sizes {
    tsr_dtype dtype;
    int spatial;
    int64_t batch, groups, channels, kernels; /* of a group */
    axis a[3];                                /* unused ones come first, and are 1 long */
    layout x, z;
    int64_t gap;
    bool high, bias, transposed;
} sizes;

static void set_axis(axis *a, int64_t in, int64_t taps, int64_t step, int64_t pad, int64_t dilation)
{
    *a = (axis){ in, 0, taps, step, pad, dilation };
    while (a->in + 2 * a->pad < (a->taps - 1) * a->dilation + 1) a->in++;
    a->out = (a->in + 2 * a->pad - (a->taps - 1) * a->dilation - 1) / a->step + 1;
}

static int64_t input_of(const axis *a, int64_t out, int64_t tap)
{
    return out * a->step - a->pad + tap * a->dilation;
}

/* The place of input i of the axes, or -1 if it lies outside. */
static int64_t place_of(const axis *a, const int64_t *i)
{
    for (int d = 0; d < 3; d++)
        if (i[d] < 0 || i[d] >= a[d].in) return -1;
    return (i[0] * a[1].in + i[1]) * a[2].in + i[2];
}

/* Row-major lists of where output o's taps look; returns how many there are. */
static int64_t see(int64_t *places, const axis *a, int64_t o)
{
    const int64_t at[3] = { o / a[2].out / a[1].out, o / a[2].out % a[1].out, o % a[2].out };
    int64_t n = 0;
    for (int64_t i = 0; i < a[0].taps; i++)
        for (int64_t j = 0; j < a[1].taps; j++)
            for (int64_t k = 0; k < a[2].taps; k++)
                places[n++] =
                    place_of(a, (const int64_t[]){ input_of(&a[0], at[0], i), input_of(&a[1], at[1], j),
                                                   input_of(&a[2], at[2], k) });
    return n;
}

static int64_t inputs(const axis *a) { return a[0].in * a[1].in * a[2].in; }
static int64_t outputs(const axis *a) { return a[0].out * a[1].out * a[2].out; }
static int64_t taps(const axis *a) { return a[0].taps * a[1].taps * a[2].taps; }

/* Convolutions --------------------------------------------------------------------- */

/* x[n, c, p...] times w[c, o, k...] is added to every place that the window of p reaches; input and
 * output are exchanged. */
static void transpose_plainly(numbers *z, const sizes *s, const numbers *x, const numbers *w,
                              const numbers *bias)
{
    const int64_t out = inputs(s->a), in = outputs(s->a), window = taps(s->a), all = s->groups * s->kernels;
    int64_t *place = malloc((size_t)window * sizeof *place);
    for (int64_t i = 0; i < s->batch * all * out; i++) {
        z->re[i] = s->bias ? bias->re[i / out % all] : 0;
        z->u[i] = s->bias ? bias->u[i / out % all] : 0;
    }
    for (int64_t i = 0; i < s->batch * s->groups * s->channels * in; i++) {
        const int64_t image = i / in / (s->groups * s->channels),
                      channel = i / in % (s->groups * s->channels);
        (void)see(place, s->a, i % in);
        for (int64_t o = 0; o < s->kernels; o++) {
            const int64_t to = (image * all + channel / s->channels * s->kernels + o) * out;
            for (int64_t t = 0; t < window; t++) {
                if (place[t] < 0) continue;
                z->re[to + place[t]] += x->re[i] * w->re[(channel * s->kernels + o) * window + t];
                z->u[to + place[t]] += x->u[i] * w->u[(channel * s->kernels + o) * window + t];
            }
        }
    }
    free(place);
}

static void convolve_plainly(numbers *z, const sizes *s, const numbers *x, const numbers *w,
                             const numbers *bias)
{
    const int64_t out = outputs(s->a), in = inputs(s->a), window = taps(s->a), all = s->groups * s->kernels;
    int64_t *places = malloc((size_t)(out * window) * sizeof *places);
    for (int64_t o = 0; o < out; o++) (void)see(places + o * window, s->a, o);
    for (int64_t i = 0; i < s->batch * all * out; i++) {
        const int64_t image = i / out / all, kernel = i / out % all, *place = places + i % out * window;
        double sum = s->bias ? bias->re[kernel] : 0;
        uint64_t u = s->bias ? bias->u[kernel] : 0;
        for (int64_t c = 0; c < s->channels; c++) {
            const int64_t from =
                (image * s->groups * s->channels + kernel / s->kernels * s->channels + c) * in;
            for (int64_t t = 0; t < window; t++) {
                if (place[t] < 0) continue;
                sum += x->re[from + place[t]] * w->re[(kernel * s->channels + c) * window + t];
                u += x->u[from + place[t]] * w->u[(kernel * s->channels + c) * window + t];
            }
        }
        z->re[i] = sum;
        z->u[i] = u;
    }
    free(places);
}

static tsr_status convolve(guarded *z, const sizes *s, const tsr_tensor *x, const tsr_tensor *w,
                           const tsr_tensor *bias)
{
    tsr_conv how = { .groups = s->groups };
    for (int d = 0; d < s->spatial; d++) {
        const axis *a = &s->a[3 - s->spatial + d];
        how.stride[d] = a->step;
        how.padding[d] = a->pad;
        how.dilation[d] = a->dilation;
    }
    if (s->transposed && s->spatial == 1) return tsr_conv_transpose1d(&z->t, x, w, bias, &how);
    if (s->transposed && s->spatial == 2) return tsr_conv_transpose2d(&z->t, x, w, bias, &how);
    if (s->transposed) return tsr_conv_transpose3d(&z->t, x, w, bias, &how);
    if (s->spatial == 1) return tsr_conv1d(&z->t, x, w, bias, &how);
    if (s->spatial == 2) return tsr_conv2d(&z->t, x, w, bias, &how);
    return tsr_conv3d(&z->t, x, w, bias, &how);
}

static void name_sizes(const char *op, const sizes *s, int threads)
{
    const axis *a = s->a;
    name_case("%s of %s: batch %lld, groups %lld, channels %lld, kernels %lld, in (%lld, %lld, %lld), "
              "taps (%lld, %lld, %lld), step %lld %lld, pad %lld %lld, dilation %lld, layouts %d %d, gap "
              "%lld, %s end, %d threads",
              op, tsr_dtype_name(s->dtype), (long long)s->batch, (long long)s->groups, (long long)s->channels,
              (long long)s->kernels, (long long)a[0].in, (long long)a[1].in, (long long)a[2].in,
              (long long)a[0].taps, (long long)a[1].taps, (long long)a[2].taps, (long long)a[1].step,
              (long long)a[2].step, (long long)a[1].pad, (long long)a[2].pad, (long long)a[2].dilation, s->x,
              s->z, (long long)s->gap, s->high ? "high" : "low", threads);
}

static char *result_of(const sizes *s, int threads, guarded *z, const tsr_tensor *x, const tsr_tensor *w,
                       const tsr_tensor *bias)
{
    name_sizes(s->transposed ? "conv_transpose" : "conv", s, threads);
    EXPECT_OK(tsr_set_threads(threads));
    guarded_fill(z, FILL);
    EXPECT_OK(convolve(z, s, x, w, bias));
    char *packed = guarded_elements(z);
    EXPECT_MSG(guarded_is_untouched(z), "%s: wrote outside the result", case_name);
    return packed;
}

static int random_threads(uint64_t *random)
{
    static const int some[] = { 2, 3, 5, 8 };
    return some[test_below(random, 4)];
}

static void shape_of(int64_t *shape, const sizes *s, int64_t channels, bool out)
{
    shape[0] = s->batch;
    shape[1] = channels;
    for (int d = 0; d < s->spatial; d++)
        shape[2 + d] = out ? s->a[3 - s->spatial + d].out : s->a[3 - s->spatial + d].in;
}

static void check_conv(const sizes *s, uint64_t *random)
{
    const codes c = codes_of(s->dtype, random);
    const int64_t all = s->groups * s->kernels,
                  count = s->batch * all * (s->transposed ? inputs(s->a) : outputs(s->a));
    int64_t x_shape[5], z_shape[5], w_shape[5] = { all, s->channels }, w_stride[5], reach = 1;
    if (s->transposed) w_shape[0] = s->groups * s->channels, w_shape[1] = s->kernels;
    shape_of(x_shape, s, s->groups * s->channels, s->transposed);
    shape_of(z_shape, s, all, !s->transposed);
    for (int d = 0; d < s->spatial; d++) w_shape[2 + d] = s->a[3 - s->spatial + d].taps;
    for (int d = s->spatial + 1; d >= 0; d--, reach *= w_shape[d + 1]) w_stride[d] = reach;
    guarded z = image_make(0, s->high, s->dtype, s->spatial, z_shape, s->z, s->gap),
            x = image_make(1, !s->high, s->dtype, s->spatial, x_shape, s->x, s->gap),
            w = guarded_make(2, s->high, s->dtype, s->spatial + 2, w_shape, w_stride),
            b = guarded_make(3, s->high, s->dtype, 1, &all, (const int64_t[]){ 1 });
    numbers xs = guarded_random(&x, &c, random), ws = guarded_random(&w, &c, random),
            bs = guarded_random(&b, &c, random), want = numbers_make(count);
    const tsr_tensor *bias = s->bias ? b.t : NULL;
    if (s->transposed)
        transpose_plainly(&want, s, &xs, &ws, &bs);
    else
        convolve_plainly(&want, s, &xs, &ws, &bs);
    char *one = result_of(s, 1, &z, x.t, w.t, bias);
    const int64_t wrong = count_wrong(one, s->dtype, &want, count);
    EXPECT_MSG(wrong == 0, "%s: %lld elements are wrong", case_name, (long long)wrong);
    char *more = result_of(s, random_threads(random), &z, x.t, w.t, bias);
    EXPECT_MSG(memcmp(one, more, (size_t)tsr_byte_size(z.t)) == 0, "%s: other bits than with one", case_name);
    free(one);
    free(more);
    numbers_free(&xs);
    numbers_free(&ws);
    numbers_free(&bs);
    numbers_free(&want);
    tsr_release(&x.t);
    tsr_release(&w.t);
    tsr_release(&b.t);
    tsr_release(&z.t);
}

static layout random_layout(uint64_t *random) { return (layout)test_below(random, LAYOUTS); }

/* A size near a multiple of the lanes of vectors, or small. */
static int64_t random_length(uint64_t *random, int64_t most)
{
    static const int64_t units[] = { 1, 4, 8, 16, 32, 48 };
    const int64_t unit = units[test_below(random, 6)],
                  n = unit * (1 + test_below(random, 4)) + test_below(random, 3) - 1;
    return n < 1 ? 1 : n > most ? most - test_below(random, 3) : n;
}

static void random_axes(sizes *s, uint64_t *random, int64_t most)
{
    static const int64_t windows[] = { 1, 3, 3, 5, 2, 7 };
    const int64_t window = windows[test_below(random, 6)], step = 1 + (test_below(random, 3) == 0),
                  dilation = 1 + (test_below(random, 5) == 0), pad = test_below(random, 2) * (window / 2);
    for (int d = 0; d < 3; d++) {
        if (d < 3 - s->spatial)
            set_axis(&s->a[d], 1, 1, 1, 0, 1);
        else
            set_axis(&s->a[d], d == 2 ? random_length(random, most) : 1 + test_below(random, 12),
                     test_below(random, 6) ? window : 1, step, test_below(random, 6) ? pad : 0, dilation);
    }
}

static sizes random_sizes(uint64_t *random, tsr_dtype dtype, int spatial, int64_t most)
{
    sizes s = { .dtype = dtype,
                .spatial = spatial,
                .batch = 1 + test_below(random, 3),
                .groups = 1,
                .x = random_layout(random),
                .z = random_layout(random),
                .gap = 1 + test_below(random, 9),
                .high = test_below(random, 2),
                .bias = test_below(random, 2) };
    random_axes(&s, random, most);
    return s;
}

static double work_of(const sizes *s)
{
    return (double)(s->batch * s->groups * s->kernels * s->channels) * (double)outputs(s->a) *
           (double)taps(s->a);
}

static const tsr_dtype conv_dtypes[] = { TSR_F32, TSR_F64, TSR_F32, TSR_F16, TSR_BF16, TSR_I8, TSR_I32 };
enum { CONV_DTYPES = sizeof conv_dtypes / sizeof *conv_dtypes };

static void test_convolutions_stay_inside(void)
{
    enum { WORK = 1 << 20 };
    uint64_t r = 1;
    for (int i = 0; i < 1400;) {
        sizes s = random_sizes(&r, conv_dtypes[i % CONV_DTYPES], 1 + (int)test_below(&r, 3), 140);
        s.groups = test_below(&r, 5) ? 1 : 1 + test_below(&r, 4);
        s.channels = test_below(&r, 3) ? 1 + test_below(&r, 9) : random_length(&r, 70);
        s.kernels = test_below(&r, 3) ? 1 + test_below(&r, 9) : random_length(&r, 70);
        if (work_of(&s) > WORK) continue;
        check_conv(&s, &r);
        i++;
    }
}

/* Shapes are those of a convolution whose input and output are exchanged, without a remainder. */
static void test_transposed_convolutions_stay_inside(void)
{
    enum { WORK = 1 << 19 };
    uint64_t r = 5;
    for (int i = 0; i < 400;) {
        sizes s = random_sizes(&r, conv_dtypes[i % CONV_DTYPES], 1 + (int)test_below(&r, 3), 100);
        s.transposed = true;
        s.groups = test_below(&r, 5) ? 1 : 1 + test_below(&r, 4);
        s.channels = 1 + test_below(&r, 20);
        s.kernels = test_below(&r, 2) ? 1 + test_below(&r, 9) : random_length(&r, 70);
        for (int d = 0; d < 3; d++)
            s.a[d].in =
                (s.a[d].out - 1) * s.a[d].step - 2 * s.a[d].pad + s.a[d].dilation * (s.a[d].taps - 1) + 1;
        if (work_of(&s) > WORK || inputs(s.a) < 1) continue;
        check_conv(&s, &r);
        i++;
    }
}

/* One channel to one kernel, also in 3 x 3 windows, which have kernels of their own. */
static void test_depthwise_convolutions_stay_inside(void)
{
    uint64_t r = 2;
    for (int i = 0; i < 500; i++) {
        sizes s = random_sizes(&r, conv_dtypes[i % 4], 1 + (int)test_below(&r, 2), 140);
        s.groups = 1 + test_below(&r, 40);
        s.channels = 1;
        s.kernels = test_below(&r, 4) ? 1 : 2;
        if (i % 2 && s.spatial == 2)
            for (int d = 1; d < 3; d++)
                set_axis(&s.a[d], 1 + test_below(&r, d == 2 ? 100 : 20), 3, 1, test_below(&r, 2), 1);
        check_conv(&s, &r);
    }
}

/* 10^4 to 10^6 elements of results. */
static void test_convolutions_of_middle_sizes_stay_inside(void)
{
    enum { WORK = 12 << 20, LEAST = 10000, MOST = 1000000 };
    uint64_t r = 3;
    for (int i = 0; i < 40;) {
        sizes s = random_sizes(&r, conv_dtypes[i % 4], 2, 140);
        s.channels = 1 + test_below(&r, 40);
        s.kernels = 1 + test_below(&r, 140);
        set_axis(&s.a[1], 5 + test_below(&r, 60), s.a[1].taps, s.a[1].step, s.a[1].pad, s.a[1].dilation);
        const int64_t count = s.batch * s.kernels * outputs(s.a);
        if (work_of(&s) > WORK || count < LEAST || count > MOST) continue;
        check_conv(&s, &r);
        i++;
    }
}

/* Pools ---------------------------------------------------------------------------- */

static void pool_plainly(numbers *largest, numbers *where, numbers *mean, const sizes *s, const numbers *x)
{
    const int64_t out = outputs(s->a), in = inputs(s->a), window = taps(s->a);
    int64_t *place = malloc((size_t)window * sizeof *place);
    for (int64_t i = 0; i < s->batch * s->channels * out; i++) {
        const double *from = x->re + i / out * in;
        const int64_t n = see(place, s->a, i % out);
        double sum = 0;
        int64_t best = -1;
        for (int64_t t = 0; t < n; t++) {
            if (place[t] < 0) continue;
            sum += from[place[t]];
            if (best < 0 || from[place[t]] > from[best]) best = place[t];
        }
        largest->re[i] = best < 0 ? -(double)INFINITY : from[best];
        where->u[i] = (uint64_t)best;
        mean->re[i] = sum / (double)window;
    }
    free(place);
}

static tsr_status pool(const sizes *s, bool mean, tsr_tensor **z, tsr_tensor **indices, const tsr_tensor *x)
{
    tsr_pool how = { .kernel = { 0 } };
    for (int d = 0; d < s->spatial; d++) {
        const axis *a = &s->a[3 - s->spatial + d];
        how.kernel[d] = a->taps;
        how.stride[d] = a->step;
        how.padding[d] = a->pad;
        how.dilation[d] = mean ? 0 : a->dilation;
    }
    if (mean && s->spatial == 1) return tsr_avg_pool1d(z, x, &how);
    if (mean && s->spatial == 2) return tsr_avg_pool2d(z, x, &how);
    if (mean) return tsr_avg_pool3d(z, x, &how);
    if (s->spatial == 1) return tsr_max_pool1d(z, indices, x, &how);
    if (s->spatial == 2) return tsr_max_pool2d(z, indices, x, &how);
    return tsr_max_pool3d(z, indices, x, &how);
}

typedef enum pooled { LARGEST, LARGEST_AND_WHERE, MEAN } pooled;

static void check_pool(const sizes *s, pooled kind, int threads, guarded *z, guarded *indices,
                       const tsr_tensor *x, const numbers *want, const numbers *where)
{
    const int64_t count = tsr_numel(z->t);
    static const char *const names[] = { "max_pool", "max_pool with indices", "avg_pool" };
    name_sizes(names[kind], s, threads);
    EXPECT_OK(tsr_set_threads(threads));
    guarded_fill(z, FILL);
    guarded_fill(indices, FILL);
    EXPECT_OK(pool(s, kind == MEAN, &z->t, kind == LARGEST_AND_WHERE ? &indices->t : NULL, x));
    char *packed = guarded_elements(z), *places = guarded_elements(indices);
    int64_t wrong = count_wrong(packed, s->dtype, want, count);
    if (kind == LARGEST_AND_WHERE) wrong += count_wrong(places, TSR_I64, where, count);
    EXPECT_MSG(wrong == 0, "%s: %lld elements are wrong", case_name, (long long)wrong);
    EXPECT_MSG(guarded_is_untouched(z) && guarded_is_untouched(indices), "%s: wrote outside the result",
               case_name);
    free(packed);
    free(places);
}

static void check_pools(const sizes *s, uint64_t *random)
{
    const codes c = codes_of(s->dtype, random);
    const int64_t count = s->batch * s->channels * outputs(s->a);
    int64_t x_shape[5], z_shape[5];
    shape_of(x_shape, s, s->channels, false);
    shape_of(z_shape, s, s->channels, true);
    guarded z = image_make(0, s->high, s->dtype, s->spatial, z_shape, s->z, s->gap),
            x = image_make(1, !s->high, s->dtype, s->spatial, x_shape, s->x, s->gap),
            indices = image_make(2, s->high, TSR_I64, s->spatial, z_shape, s->z, s->gap);
    numbers xs = guarded_random(&x, &c, random), largest = numbers_make(count), where = numbers_make(count),
            mean = numbers_make(count);
    pool_plainly(&largest, &where, &mean, s, &xs);
    for (int i = 0; i < 2; i++) {
        const int threads = i ? random_threads(random) : 1;
        check_pool(s, LARGEST, threads, &z, &indices, x.t, &largest, &where);
        check_pool(s, LARGEST_AND_WHERE, threads, &z, &indices, x.t, &largest, &where);
        if (s->a[2].dilation == 1) check_pool(s, MEAN, threads, &z, &indices, x.t, &mean, &where);
    }
    numbers_free(&xs);
    numbers_free(&largest);
    numbers_free(&where);
    numbers_free(&mean);
    tsr_release(&x.t);
    tsr_release(&z.t);
    tsr_release(&indices.t);
}

static void test_pools_stay_inside(void)
{
    static const tsr_dtype dtypes[] = { TSR_F32, TSR_F64, TSR_F32, TSR_F16, TSR_BF16 };
    enum { WORK = 1 << 19 };
    uint64_t r = 4;
    for (int i = 0; i < 800;) {
        sizes s = random_sizes(&r, dtypes[i % 5], 1 + (int)test_below(&r, 3), 190);
        s.kernels = 1;
        s.channels = random_length(&r, 70);
        for (int d = 0; d < 3; d++)
            set_axis(&s.a[d], s.a[d].in, s.a[d].taps, test_below(&r, 3) ? s.a[d].step : s.a[d].taps,
                     s.a[d].taps / 2 < s.a[d].pad ? s.a[d].taps / 2 : s.a[d].pad, s.a[d].dilation);
        if (work_of(&s) > WORK) continue;
        check_pools(&s, &r);
        i++;
    }
}

/* Rows longer than the blocks that pools take at a time, and windows of more taps. */
static void test_pools_of_long_rows_stay_inside(void)
{
    uint64_t r = 6;
    for (int i = 0; i < 60; i++) {
        sizes s = random_sizes(&r, i % 3 ? TSR_F32 : TSR_F64, 2, 190);
        const int64_t window = test_below(&r, 3) ? 2 + test_below(&r, 3) : 15 + test_below(&r, 6);
        s.kernels = 1;
        s.channels = 1 + test_below(&r, 4);
        set_axis(&s.a[1], 3 + test_below(&r, 12), 1 + test_below(&r, 3), 1 + test_below(&r, 2), 0, 1);
        set_axis(&s.a[2], 200 + test_below(&r, 1200), window, 1 + test_below(&r, 3), test_below(&r, 2), 1);
        check_pools(&s, &r);
    }
}

int main(int argc, char **argv)
{
    TEST_BEGIN(argc, argv);
    if (!guard_zones()) {
        printf("no memory between guards\n");
        return 1;
    }
    RUN(test_convolutions_stay_inside);
    RUN(test_transposed_convolutions_stay_inside);
    RUN(test_depthwise_convolutions_stay_inside);
    RUN(test_convolutions_of_middle_sizes_stay_inside);
    RUN(test_pools_stay_inside);
    RUN(test_pools_of_long_rows_stay_inside);
    tsr_set_executor(NULL, NULL);
    return TEST_END();
}
#else
#include "test.h"
int main(void) { return 0; }
#endif

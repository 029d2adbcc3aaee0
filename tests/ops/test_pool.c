/* test_pool.c - pools against loops over indices, over any strides, options and dtypes.
 *
 * Everything runs with the backend's kernels and with other ops in their place.
 */
#include <math.h>

#include "ops/dispatch.h"
#include "products.h"

enum { CASES = 220 };

static const tsr_dtype reals[] = { TSR_F8E4M3, TSR_F8E5M2, TSR_F16, TSR_BF16, TSR_F32, TSR_F64, TSR_I8,
                                   TSR_I16,    TSR_I32,    TSR_I64, TSR_U8,   TSR_U16, TSR_U32, TSR_U64 };
enum { FLOATS = 6, REALS = sizeof reals / sizeof *reals };

/* A pool, as numbers ---------------------------------------------------------------------- */

typedef struct problem {
    int      spatial;
    bool     batched, average, adaptive;
    int64_t  batch, channels, in[3], out[3];
    tsr_pool how;
} problem;

static const char *const names[2][3] = { { "max_pool1d", "max_pool2d", "max_pool3d" },
                                         { "avg_pool1d", "avg_pool2d", "avg_pool3d" } };

static tsr_status run(const problem *p, tsr_tensor **z, tsr_tensor **indices, const tsr_tensor *x)
{
    typedef tsr_status (*max_fn)(tsr_tensor **, tsr_tensor **, const tsr_tensor *, const tsr_pool *);
    typedef tsr_status (*avg_fn)(tsr_tensor **, const tsr_tensor *, const tsr_pool *);
    static const max_fn max[] = { tsr_max_pool1d, tsr_max_pool2d, tsr_max_pool3d };
    static const avg_fn avg[] = { tsr_avg_pool1d, tsr_avg_pool2d, tsr_avg_pool3d };
    if (p->adaptive && p->average) return tsr_adaptive_avg_pool(z, x, p->spatial, p->out);
    if (p->adaptive) return tsr_adaptive_max_pool(z, indices, x, p->spatial, p->out);
    return p->average ? avg[p->spatial - 1](z, x, &p->how) : max[p->spatial - 1](z, indices, x, &p->how);
}

static int64_t stride_of(const problem *p, int d)
{
    return p->how.stride[d] ? p->how.stride[d] : p->how.kernel[d];
}
static int64_t dilation_of(const problem *p, int d) { return p->how.dilation[d] ? p->how.dilation[d] : 1; }

/* How many windows there are, by counting. */
static bool find_sizes(problem *p)
{
    for (int d = 0; d < 3 && !p->adaptive; d++) {
        const int64_t reach = dilation_of(p, d) * (p->how.kernel[d] - 1), pad = p->how.padding[d],
                      step = stride_of(p, d);
        int64_t n = 0;
        while (n * step + reach < p->in[d] + 2 * pad) n++;
        if (n == 0) return false;
        /* one more, if the last did not end where x and its padding do, and it begins ahead of x's end */
        if (p->how.ceil_mode && (n - 1) * step + reach + 1 < p->in[d] + 2 * pad && n * step < p->in[d] + pad)
            n++;
        p->out[d] = n;
    }
    return true;
}

static problem random_problem(uint64_t *r, bool average)
{
    problem p;
    do {
        memset(&p, 0, sizeof p);
        p.average = average;
        p.spatial = 1 + (int)test_below(r, 3);
        p.adaptive = test_below(r, 3) == 0;
        p.batched = test_below(r, 4) != 0;
        p.batch = !p.batched ? 1 : test_below(r, 12) == 0 ? 0 : 1 + test_below(r, 3);
        p.channels = test_below(r, 15) == 0 ? 0 : 1 + test_below(r, 3);
        p.how.ceil_mode = test_below(r, 2);
        if (average) p.how.exclude_pad = test_below(r, 2);
        if (average && test_below(r, 4) == 0) p.how.divisor = 1 + test_below(r, 9);
        if (average && test_below(r, 20) == 0) p.how.divisor = -3;
        for (int d = 0; d < 3; d++) p.in[d] = p.out[d] = p.how.kernel[d] = 1;
        for (int d = 0; d < p.spatial; d++) {
            p.in[d] = 1 + test_below(r, p.spatial == 1 ? 50 : p.spatial == 2 ? 12 : 6);
            p.out[d] = test_below(r, 20) ? 1 + test_below(r, 9) : 0;
            p.how.kernel[d] = 1 + test_below(r, 4);
            p.how.stride[d] = test_below(r, 4);
            if (!average && test_below(r, 3) == 0) p.how.dilation[d] = 1 + test_below(r, 3);
            const int64_t window = dilation_of(&p, d) * (p.how.kernel[d] - 1) + 1;
            p.how.padding[d] = test_below(r, 2) ? test_below(r, window / 2 + 1) : 0;
        }
    } while (!find_sizes(&p));
    return p;
}

static int shape_of(int64_t *shape, const problem *p, bool result)
{
    int n = 0;
    if (p->batched) shape[n++] = p->batch;
    shape[n++] = p->channels;
    for (int d = 0; d < p->spatial; d++) shape[n++] = result ? p->out[d] : p->in[d];
    return n;
}

static char *place_at(const tsr_tensor *t, const problem *p, int64_t n, int64_t c, const int64_t *at)
{
    const int first = t->ndim - p->spatial;
    int64_t offset = (first > 1 ? n * t->stride[0] : 0) + c * t->stride[first - 1];
    for (int d = 0; d < p->spatial; d++) offset += at[d] * t->stride[first + d];
    return (char *)t->data + offset * (int64_t)tsr_dtype_size(t->dtype);
}

/* Place t of output o's window along a dim: an input, or -1 outside x, or -2 behind the padding too; -3
 * ends. */
static int64_t place_of(const problem *p, int d, int64_t o, int64_t t)
{
    if (p->adaptive) {
        const int64_t begin = o * p->in[d] / p->out[d];
        return (begin + t) * p->out[d] < (o + 1) * p->in[d] ? begin + t : -3;
    }
    if (t >= p->how.kernel[d]) return -3;
    const int64_t i = o * stride_of(p, d) - p->how.padding[d] + t * dilation_of(p, d);
    if (i >= p->in[d] + p->how.padding[d]) return -2;
    return i >= 0 && i < p->in[d] ? i : -1;
}

/* What one window holds. */
typedef struct window {
    value   best, sum;
    int64_t at;      /* of the best */
    int64_t counted;
} window;

static bool is_larger(tsr_dtype d, value a, value b)
{
    if (tsr_dtype_kind(d) == TSR_SIGNED) return (int64_t)a.u > (int64_t)b.u;
    return is_integer(d) ? a.u > b.u : a.re > b.re || (a.re != a.re && b.re == b.re);
}

/* In one channel of one image. */
static window look(const problem *p, tsr_dtype dtype, const value *plane, const int64_t *o)
{
    window w = { .at = -1 };
    int64_t t[3], i[3];
    for (t[0] = 0; (i[0] = place_of(p, 0, o[0], t[0])) != -3; t[0]++)
        for (t[1] = 0; (i[1] = place_of(p, 1, o[1], t[1])) != -3; t[1]++)
            for (t[2] = 0; (i[2] = place_of(p, 2, o[2], t[2])) != -3; t[2]++) {
                const bool inside = i[0] >= 0 && i[1] >= 0 && i[2] >= 0;
                const bool padding = i[0] > -2 && i[1] > -2 && i[2] > -2;
                w.counted += p->how.exclude_pad || p->adaptive ? inside : padding;
                if (!inside) continue;
                const int64_t at = (i[0] * p->in[1] + i[1]) * p->in[2] + i[2];
                w.sum = value_plus(w.sum, plane[at]);
                if (w.at >= 0 && !is_larger(dtype, plane[at], w.best)) continue;
                w.best = plane[at];
                w.at = at;
            }
    return w;
}

/* The lowest number of a dtype. */
static value lowest_of(tsr_dtype d)
{
    value v = { 0, d == TSR_F8E4M3 ? -448 : -(long double)INFINITY, 0 };
    if (tsr_dtype_kind(d) == TSR_SIGNED) v.u = (uint64_t)-1 << (8 * tsr_dtype_size(d) - 1);
    return v;
}

static value wanted(const problem *p, tsr_dtype d, const window *w)
{
    if (!p->average) return w->at < 0 ? lowest_of(d) : w->best;
    const int64_t over = p->how.divisor && !p->adaptive ? p->how.divisor : w->counted;
    return (value){ 0, (long double)((double)w->sum.re / (double)over), 0 };
}

static void check_result(const problem *p, const tsr_tensor *z, const tsr_tensor *indices,
                         const tsr_tensor *x, const char *what)
{
    int64_t shape[8], o[3];
    const int ndim = shape_of(shape, p, true);
    bool fits = z && z->ndim == ndim && z->dtype == x->dtype && (!indices || indices->dtype == TSR_I64);
    for (int d = 0; fits && d < ndim; d++)
        fits = z->shape[d] == shape[d] && (!indices || indices->shape[d] == shape[d]);
    EXPECT_MSG(fits, "%s: rank %d", what, z ? z->ndim : -1);
    if (!fits) return;
    const int64_t area = p->in[0] * p->in[1] * p->in[2];
    value *values = values_of(x);
    for (int64_t n = 0; n < p->batch; n++)
        for (int64_t c = 0; c < p->channels; c++)
            for (o[0] = 0; o[0] < p->out[0]; o[0]++)
                for (o[1] = 0; o[1] < p->out[1]; o[1]++)
                    for (o[2] = 0; o[2] < p->out[2]; o[2]++) {
                        const window w = look(p, x->dtype, values + (n * p->channels + c) * area, o);
                        EXPECT_MSG(is_value(z->dtype, place_at(z, p, n, c, o), wanted(p, z->dtype, &w)),
                                   "%s %s: image %lld, channel %lld at (%lld, %lld, %lld): %Lg, not %Lg",
                                   what, tsr_dtype_name(z->dtype), (long long)n, (long long)c,
                                   (long long)o[0], (long long)o[1], (long long)o[2],
                                   value_load(z->dtype, place_at(z, p, n, c, o)).re,
                                   wanted(p, z->dtype, &w).re);
                        if (indices)
                            EXPECT_MSG(*(int64_t *)(void *)place_at(indices, p, n, c, o) == w.at,
                                       "%s %s: index", what, tsr_dtype_name(z->dtype));
                    }
    free(values);
}

/* Small whole numbers, and now and then a NaN or an infinity. */
static void fill_special(uint64_t *r, const tsr_tensor *t)
{
    fill_random(r, t);
    if (is_integer(t->dtype) || test_below(r, 2)) return;
    for (int64_t i = 0; i < tsr_numel(t); i++) {
        const int64_t pick = test_below(r, 30);
        const long double special[] = { NAN, INFINITY, -INFINITY };
        if (pick < 3 && (pick == 0 || t->dtype != TSR_F8E4M3))
            value_store(t->dtype, element_at(t, i), (value){ 0, special[pick], 0 });
        else if (pick > 20) value_store(t->dtype, element_at(t, i), lowest_of(t->dtype));
    }
}

/* Into results that are made and that are given, with indices and without. */
static void check_problem(uint64_t *r, const problem *p, tsr_dtype dtype, const char *what)
{
    int64_t shape[8];
    tsr_tensor *z = NULL, *indices = NULL;
    int ndim = shape_of(shape, p, false);
    strided x = strided_make(r, dtype, ndim, shape, true, test_below(r, 3) == 0);
    fill_special(r, x.t);
    ndim = shape_of(shape, p, true);
    strided given = strided_make(r, dtype, ndim, shape, false, false);
    strided places = strided_make(r, TSR_I64, ndim, shape, false, false);
    EXPECT_OK(run(p, &z, NULL, x.t));
    check_result(p, z, NULL, x.t, what);
    EXPECT_OK(run(p, &given.t, &places.t, x.t));
    check_result(p, given.t, p->average ? NULL : places.t, x.t, what);
    tsr_release(&z);
    if (!p->average) {
        EXPECT_OK(run(p, &z, &indices, x.t));
        check_result(p, z, indices, x.t, what);
    }
    tsr_release(&z);
    tsr_release(&indices);
    strided_free(&x);
    strided_free(&given);
    strided_free(&places);
}

static void check_dtypes(bool average, uint64_t seed)
{
    for (int i = 0; i < (average ? FLOATS : REALS); i++)
        for (int c = 0; c < CASES && test_state.failures == 0; c++) {
            uint64_t r = seed + (uint64_t)(i * 1000 + c);
            char what[64];
            const problem p = random_problem(&r, average);
            snprintf(what, sizeof what, "%s%s, case %d", p.adaptive ? "adaptive " : "",
                     names[average][p.spatial - 1], c);
            check_problem(&r, &p, reals[i], what);
        }
}

TEST(test_max_pools_match_loops_for_every_dtype_stride_and_option) { check_dtypes(false, 21); }
TEST(test_avg_pools_match_loops_for_every_dtype_stride_and_option) { check_dtypes(true, 50021); }

TEST(test_pools_done_with_other_ops_match_loops)
{
    tsri_prefer_parts(true);
    check_dtypes(false, 90000);
    check_dtypes(true, 130000);
    tsri_prefer_parts(false);
}

TEST(test_long_rows_and_wide_windows)
{
    uint64_t r = 8;
    problem p = { .spatial = 2, .batched = true, .batch = 1, .channels = 2, .in = { 9, 700, 1 },
                  .how = { .kernel = { 3, 3, 1 }, .stride = { 2, 2, 1 }, .padding = { 1, 1, 0 } } };
    problem wide = { .spatial = 1, .batched = true, .batch = 2, .channels = 1, .in = { 1000, 1, 1 },
                     .how = { .kernel = { 900, 1, 1 }, .stride = { 3, 1, 1 }, .ceil_mode = true } };
    for (int average = 0; average < 2; average++) {
        p.average = wide.average = average;
        EXPECT(find_sizes(&p) && find_sizes(&wide));
        check_problem(&r, &p, TSR_F32, "long rows");
        check_problem(&r, &wide, TSR_F64, "wide windows");
        check_problem(&r, &wide, TSR_BF16, "wide windows");
    }
}

/* Windows that are too large for the ways that small ones go, rows that slide far, and more channels
 * than a vector has lanes, which may lie closest together. */
TEST(test_windows_and_rows_of_every_size)
{
    static const problem sizes[] = {
        { .spatial = 2,
          .channels = 3,
          .in = { 40, 45, 1 },
          .how = { .kernel = { 20, 21, 1 }, .stride = { 5, 4, 1 } } },
        { .spatial = 2,
          .channels = 2,
          .in = { 30, 90, 1 },
          .how = { .kernel = { 2, 17, 1 }, .stride = { 1, 2, 1 }, .padding = { 1, 8, 0 } } },
        { .spatial = 2,
          .channels = 2,
          .in = { 23, 301, 1 },
          .how = { .kernel = { 3, 5, 1 }, .stride = { 7, 9, 1 } } },
        { .spatial = 2,
          .channels = 37,
          .in = { 11, 12, 1 },
          .how = { .kernel = { 3, 3, 1 }, .stride = { 2, 1, 1 }, .padding = { 1, 1, 0 } } },
        { .spatial = 3,
          .channels = 19,
          .in = { 5, 6, 7 },
          .how = { .kernel = { 2, 3, 2 }, .stride = { 2, 2, 2 }, .padding = { 1, 1, 1 } } },
        { .spatial = 1,
          .channels = 21,
          .in = { 900, 1, 1 },
          .how = { .kernel = { 4, 1, 1 }, .stride = { 600, 1, 1 } } },
        { .spatial = 2, .channels = 18, .adaptive = true, .in = { 33, 47, 1 }, .out = { 4, 5, 1 } },
        { .spatial = 2, .channels = 2, .adaptive = true, .in = { 32, 60, 1 }, .out = { 4, 15, 1 } },
    };
    static const tsr_dtype dtypes[] = { TSR_F32, TSR_F64, TSR_F16, TSR_BF16, TSR_U8, TSR_I32, TSR_U64 };
    uint64_t r = 77;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int k = 0; k < 7 * 6; k++) {
            problem p = sizes[i];
            p.batched = true;
            p.batch = 1;
            p.average = k / 7 % 2 && k % 7 < 4;
            for (int d = p.spatial; d < 3; d++) p.out[d] = p.how.kernel[d] = 1;
            EXPECT(find_sizes(&p));
            check_problem(&r, &p, dtypes[k % 7], "of every size");
        }
}

/* Meaning ------------------------------------------------------------------------------------- */

TEST(test_all_places_come_together)
{
    for (int parts = 0; parts < 2; parts++) {
        tsr_tensor *x = NULL, *z = NULL, *at = NULL, *flat = NULL;
        tsri_prefer_parts(parts);
        EXPECT_OK(tsr_arange(&flat, TSR_F32, TSR_SCALAR(0), TSR_SCALAR(48), TSR_SCALAR(1)));
        EXPECT_OK(tsr_view(&x, flat, 4, (const int64_t[]){ 2, 2, 3, 4 }));
        EXPECT_OK(tsr_avg_pool_all(&z, x, 2));
        EXPECT(z && z->ndim == 4 && z->shape[1] == 2 && z->shape[2] == 1 && z->shape[3] == 1);
        for (int i = 0; z && i < 4; i++) EXPECT(((float *)z->data)[i] == 12.0f * (float)i + 5.5f);
        EXPECT_OK(tsr_max_pool_all(&z, &at, x, 2));
        for (int i = 0; z && at && i < 4; i++)
            EXPECT(((float *)z->data)[i] == 12.0f * (float)i + 11 && ((int64_t *)at->data)[i] == 11);
        tsr_release(&z);
        EXPECT_OK(tsr_max_pool_all(&z, NULL, x, 3));  /* (2, 2, 3, 4) is then without a batch */
        EXPECT(z && z->shape[0] == 2 && z->shape[1] == 1 && ((float *)z->data)[1] == 47);
        tsr_release(&z);
        EXPECT_OK(tsr_adaptive_avg_pool(&z, x, 2, (const int64_t[]){ 1, -1 }));
        EXPECT(z && z->shape[2] == 1 && z->shape[3] == 4 && ((float *)z->data)[1] == 5);
        tsr_release(&x);
        tsr_release(&z);
        tsr_release(&at);
        tsr_release(&flat);
        tsri_prefer_parts(false);
    }
}

TEST(test_the_first_nan_is_the_place_of_a_nan)
{
    const float in[] = { 1, NAN, 3, NAN };
    for (int parts = 0; parts < 2; parts++) {
        tsr_tensor *x = NULL, *z = NULL, *at = NULL;
        tsri_prefer_parts(parts);
        EXPECT_OK(tsr_from_data(&x, TSR_F32, 2, (const int64_t[]){ 1, 4 }, in));
        EXPECT_OK(tsr_max_pool1d(&z, &at, x, &(tsr_pool){ .kernel = { 4 } }));
        EXPECT(z && isnan(*(float *)z->data) && at && *(int64_t *)at->data == 1);
        tsr_release(&x);
        tsr_release(&z);
        tsr_release(&at);
        tsri_prefer_parts(false);
    }
}

/* Zeros of both signs and NaNs: values are those that the places lie at, bit for bit. */
TEST(test_windows_that_move_by_two_take_the_first_of_equal_numbers)
{
    static const float choice[] = { -1, 0.0f, -0.0f, 0.0f, -0.0f, -2, NAN };
    uint64_t r = 9;
    for (int64_t wide = 3; wide < 80; wide += 1 + wide / 40)
        for (int kernel = 2; kernel < 4; kernel++) {
            tsr_tensor *x = NULL, *z = NULL, *same = NULL, *place = NULL;
            const tsr_pool how = { .kernel = { kernel, kernel }, .stride = { 2, 2 },
                                   .padding = { kernel / 2, kernel / 2 } };
            EXPECT_OK(tsr_empty(&x, TSR_F32, 4, (const int64_t[]){ 1, 3, 7, wide }));
            for (int64_t i = 0; x && i < 21 * wide; i++) {
                r = r * 6364136223846793005u + 1442695040888963407u;
                ((float *)x->data)[i] = choice[(r >> 40) % (i % 5 == 0 ? 7 : 6)];
            }
            EXPECT_OK(tsr_max_pool2d(&z, NULL, x, &how));
            EXPECT_OK(tsr_max_pool2d(&same, &place, x, &how));
            EXPECT(z && same && !memcmp(z->data, same->data, (size_t)tsr_byte_size(z)));
            tsr_release(&x);
            tsr_release(&z);
            tsr_release(&same);
            tsr_release(&place);
        }
}

/* Results beyond the caches are those of the images one by one, whether or not planes follow each other. */
TEST(test_large_pools_are_those_of_their_images)
{
    static const tsr_pool ways[] = { { .kernel = { 2, 2 }, .stride = { 2, 2 } },
                                     { .kernel = { 3, 3 }, .stride = { 2, 2 }, .padding = { 1, 1 } } };
    static const int64_t heights[] = { 58, 59 };
    enum { IMAGES = 40, CHANNELS = 70 };
    tsr_tensor *x = NULL, *image = NULL, *z = NULL, *one = NULL;
    for (int k = 0; k < 8; k++) {
        const tsr_pool *way = &ways[k & 1];
        const bool average = (k & 2) != 0;
        EXPECT_OK(tsr_empty(&x, TSR_F32, TSR_SHAPE(IMAGES, CHANNELS, heights[k / 4], 54)));
        for (int64_t i = 0; i < tsr_numel(x); i++)
            ((float *)x->data)[i] = (float)((i * 7919 + k) % 10007 - 5000);
        ((float *)x->data)[12345] = NAN;
        EXPECT_OK(average ? tsr_avg_pool2d(&z, x, way) : tsr_max_pool2d(&z, NULL, x, way));
        for (int64_t i = 0; i < IMAGES && z; i += 13) {
            EXPECT_OK(tsr_slice(&image, x, 0, i, i + 1, 1));
            EXPECT_OK(average ? tsr_avg_pool2d(&one, image, way) : tsr_max_pool2d(&one, NULL, image, way));
            const char *part = (const char *)z->data + i * z->stride[0] * (int64_t)sizeof(float);
            EXPECT(one && !memcmp(part, one->data, (size_t)tsr_byte_size(one)));
        }
        tsr_release(&x);
        tsr_release(&image);
        tsr_release(&z);
        tsr_release(&one);
    }
}

TEST(test_sums_of_a_large_window_do_not_lose_small_numbers)
{
    tsr_tensor *x = NULL, *z = NULL;
    EXPECT_OK(tsr_full(&x, TSR_F32, 3, (const int64_t[]){ 1, 1, 1 << 20 }, TSR_SCALAR(0.1)));
    EXPECT_OK(tsr_avg_pool1d(&z, x, &(tsr_pool){ .kernel = { 1 << 20 } }));
    EXPECT(z && *(float *)z->data == 0.1f);
    EXPECT_OK(tsr_avg_pool_all(&z, x, 1));
    EXPECT(z && *(float *)z->data == 0.1f);
    tsr_release(&x);
    tsr_release(&z);
}

TEST(test_a_result_may_overlap_x)
{
    for (int parts = 0; parts < 2; parts++) {
        tsr_tensor *all = NULL, *x = NULL, *z = NULL, *want = NULL;
        uint64_t r = 4;
        bool equal = false;
        const tsr_pool how = { .kernel = { 3 }, .stride = { 1 }, .padding = { 1 } };
        tsri_prefer_parts(parts);
        EXPECT_OK(tsr_zeros(&all, TSR_I32, 2, (const int64_t[]){ 4, 20 }));
        fill_random(&r, all);
        EXPECT_OK(tsr_slice(&x, all, 0, 0, 3, 1));
        EXPECT_OK(tsr_slice(&z, all, 0, 1, 4, 1));
        EXPECT_OK(tsr_max_pool1d(&want, NULL, x, &how));
        EXPECT_OK(tsr_max_pool1d(&z, NULL, x, &how));
        EXPECT_OK(tsr_equal(&equal, z, want));
        EXPECT(equal);
        EXPECT_OK(tsr_max_pool1d(&want, NULL, z, &how));
        EXPECT_OK(tsr_max_pool1d(&z, NULL, z, &how));
        EXPECT_OK(tsr_equal(&equal, z, want));
        EXPECT(equal);
        tsr_release(&all);
        tsr_release(&x);
        tsr_release(&z);
        tsr_release(&want);
        tsri_prefer_parts(false);
    }
}

TEST(test_infer_and_cost_need_no_data)
{
    tsr_desc x, z[2];
    tsr_cost cost;
    tsr_pool_params p = { .spatial = 2, .kernel = { 3, 2 }, .stride = { 2, 2 }, .dilation = { 1, 1 } };
    EXPECT_OK(tsr_desc_init(&x, TSR_F32, 4, (const int64_t[]){ 2, 3, 8, 9 }, NULL));
    const tsr_desc *in[] = { &x };
    EXPECT_OK(tsr_infer(z, TSR_OP_MAX_POOL, 1, in, &p));
    EXPECT(z[0].dtype == TSR_F32 && z[1].dtype == TSR_I64 && z[0].shape[2] == 3 && z[0].shape[3] == 4);
    EXPECT(tsr_desc_same_shape(&z[0], &z[1]));
    EXPECT_OK(tsr_op_cost(&cost, TSR_OP_AVG_POOL, 1, in, &p));
    EXPECT(cost.flops == 2 * 3 * 3 * 4 * 6);
    p.spatial = 0;
    EXPECT_FAILS(tsr_infer(z, TSR_OP_AVG_POOL, 1, in, &p), TSR_EINVAL, "0 spatial dims");
}

/* Bad input --------------------------------------------------------------------------------------- */

TEST(test_bad_arguments_are_refused_in_words)
{
    tsr_tensor *x = NULL, *z = NULL, *at = NULL, *i = NULL, *c = NULL;
    const tsr_pool two = { .kernel = { 2, 2, 2 } };
    EXPECT_OK(tsr_zeros(&x, TSR_F32, 4, (const int64_t[]){ 1, 4, 5, 6 }));
    EXPECT_OK(tsr_zeros(&i, TSR_I32, 4, (const int64_t[]){ 1, 4, 5, 6 }));
    EXPECT_OK(tsr_zeros(&c, TSR_C64, 4, (const int64_t[]){ 1, 4, 5, 6 }));
    EXPECT_FAILS(tsr_max_pool2d(NULL, NULL, x, &two), TSR_ENULL, "max_pool2d: out is NULL");
    EXPECT_FAILS(tsr_max_pool2d(&z, &at, NULL, &two), TSR_ENULL, "max_pool2d: x");
    EXPECT_FAILS(tsr_max_pool2d(&z, &z, x, &two), TSR_EINVAL, "one handle");
    EXPECT_FAILS(tsr_max_pool2d(&z, NULL, x, NULL), TSR_ENULL, "max_pool2d: how is NULL");
    EXPECT_FAILS(tsr_avg_pool2d(NULL, x, &two), TSR_ENULL, "avg_pool2d: out is NULL");
    EXPECT_FAILS(tsr_avg_pool3d(&z, NULL, &two), TSR_ENULL, "avg_pool3d: x");
    EXPECT_FAILS(tsr_avg_pool1d(&z, x, &two), TSR_ESHAPE, "avg_pool1d: x is f32(1, 4, 5, 6");
    EXPECT_FAILS(tsr_avg_pool2d(&z, i, &two), TSR_EDTYPE, "avg_pool2d");
    EXPECT_FAILS(tsr_max_pool2d(&z, NULL, c, &two), TSR_EDTYPE, "max_pool2d");
    EXPECT_FAILS(tsr_max_pool2d(&z, NULL, x, &(tsr_pool){ .kernel = { 2 } }), TSR_EINVAL,
                 "kernel 0 of spatial dim 1");
    EXPECT_FAILS(tsr_max_pool2d(&z, NULL, x, &(tsr_pool){ .kernel = { 2, 2 }, .stride = { -1 } }), TSR_EINVAL,
                 "stride -1");
    EXPECT_FAILS(tsr_max_pool2d(&z, NULL, x, &(tsr_pool){ .kernel = { 2, 2 }, .dilation = { -1 } }),
                 TSR_EINVAL, "dilation -1");
    EXPECT_FAILS(tsr_avg_pool2d(&z, x, &(tsr_pool){ .kernel = { 2, 2 }, .dilation = { 2 } }), TSR_EINVAL,
                 "dilation 2");
    EXPECT_FAILS(tsr_max_pool2d(&z, NULL, x, &(tsr_pool){ .kernel = { 2, 2 }, .padding = { 0, 2 } }),
                 TSR_EINVAL, "padding 2 of spatial dim 1");
    EXPECT_FAILS(tsr_max_pool2d(&z, NULL, x, &(tsr_pool){ .kernel = { 2, 2 }, .padding = { -1 } }),
                 TSR_EINVAL, "padding -1");
    EXPECT_FAILS(tsr_max_pool2d(&z, NULL, x, &(tsr_pool){ .kernel = { 2, 2 }, .divisor = 3 }), TSR_EINVAL,
                 "divisor");
    EXPECT_FAILS(tsr_max_pool2d(&z, NULL, x, &(tsr_pool){ .kernel = { 6, 2 } }), TSR_ESHAPE,
                 "a window 6 long");
    EXPECT_FAILS(tsr_max_pool2d(&z, NULL, x, &(tsr_pool){ .kernel = { INT64_MAX, 2 }, .dilation = { 2 } }),
                 TSR_EOVERFLOW, "overflows");
    EXPECT_OK(tsr_max_pool2d(&z, NULL, x, &(tsr_pool){ .kernel = { 2, 2 }, .stride = { INT64_MAX, 4 } }));
    EXPECT(z && z->shape[2] == 1 && z->shape[3] == 2);
    tsr_release(&z);
    EXPECT_FAILS(tsr_adaptive_max_pool(&z, &at, x, 2, NULL), TSR_ENULL, "adaptive_max_pool: sizes is NULL");
    EXPECT_FAILS(tsr_adaptive_max_pool(&z, &at, x, 4, (const int64_t[]){ 1, 1, 1, 1 }), TSR_EINVAL,
                 "4 spatial dims");
    EXPECT_FAILS(tsr_adaptive_avg_pool(&z, x, 1, (const int64_t[]){ 1 }), TSR_ESHAPE,
                 "adaptive_avg_pool: x is f32(1, 4, 5, 6");
    EXPECT_FAILS(tsr_adaptive_avg_pool(&z, x, 2, (const int64_t[]){ 1, -2 }), TSR_EINVAL, "size -2");
    EXPECT_FAILS(tsr_adaptive_avg_pool(&z, x, 2, (const int64_t[]){ 1, INT64_MAX / 2 }), TSR_EOVERFLOW,
                 "too many");
    EXPECT_FAILS(tsr_adaptive_avg_pool(NULL, x, 2, (const int64_t[]){ 1, 1 }), TSR_ENULL, "out is NULL");
    EXPECT_FAILS(tsr_max_pool_all(&z, NULL, x, 0), TSR_EINVAL, "max_pool_all: 0 spatial dims");
    EXPECT_FAILS(tsr_avg_pool_all(&z, NULL, 1), TSR_ENULL, "avg_pool_all: x");
    EXPECT_FAILS(tsr_max_pool2d(&x, NULL, x, &two), TSR_ESHAPE, "max_pool2d: the result is f32(1, 4, 2, 3");
    EXPECT_OK(tsr_slice(&x, x, 2, 0, 0, 1));
    EXPECT_FAILS(tsr_avg_pool_all(&z, x, 2), TSR_ESHAPE, "spatial dim 0 of x");
    EXPECT(z == NULL && at == NULL);
    tsr_release(&x);
    tsr_release(&i);
    tsr_release(&c);
}

/* Memory ---------------------------------------------------------------------------------------- */

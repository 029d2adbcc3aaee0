/* test_image.c - pictures of other sizes and at other places: what is particular. That they are right over
 * any strides, options and dtypes is for opcheck. All is done with kernels and with other ops in their place.
 */
#include <math.h>

#include "core/resample.h"
#include "cpu/image/image.h"
#include "ops/dispatch.h"
#include "test.h"

#define LINE(n) 2, (const int64_t[]){ 1, n }

static bool is_line(const tsr_tensor *t, int64_t n, const float *right)
{
    bool same = t && tsr_numel(t) == n && t->dtype == TSR_F32;
    for (int64_t i = 0; same && i < n; i++) same = fabsf(((const float *)t->data)[i] - right[i]) < 1e-6f;
    return same;
}

/* Values ------------------------------------------------------------------------------------- */

/* What PyTorch 2 gives for interpolate of [0, 1, 2, 3]. */
TEST(test_lines_are_resized_as_pytorch_does)
{
    static const float in[] = { 0, 1, 2, 3 };
    static const struct { tsr_resize_options how; int64_t n; float right[8];
    } cases[] = {
        { { .mode = TSR_INTERPOLATE_NEAREST }, 6, { 0, 0, 1, 2, 2, 3 } },
        { { .mode = TSR_INTERPOLATE_NEAREST_EXACT }, 6, { 0, 1, 1, 2, 3, 3 } },
        { { .mode = TSR_INTERPOLATE_LINEAR }, 8, { 0, 0.25f, 0.75f, 1.25f, 1.75f, 2.25f, 2.75f, 3 } },
        { { .mode = TSR_INTERPOLATE_LINEAR, .align_corners = true }, 7, { 0, 0.5f, 1, 1.5f, 2, 2.5f, 3 } },
        { { .mode = TSR_INTERPOLATE_LINEAR, .antialias = true }, 2, { 0.7142857f, 2.2857143f } },
        { { .mode = TSR_INTERPOLATE_AREA }, 3, { 0.5f, 1.5f, 2.5f } },
        { { .mode = TSR_INTERPOLATE_LINEAR, .scale = { 0.6 } }, -1, { 1.0f / 3, 2 } },
    };
    for (int parts = 0; parts < 2; parts++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            tsr_tensor *x = NULL, *z = NULL;
            tsri_prefer_parts(parts);
            EXPECT_OK(tsr_from_data(&x, TSR_F32, LINE(4), in));
            EXPECT_OK(tsr_resize(&z, x, 1, &cases[i].n, &cases[i].how));
            EXPECT(is_line(z, cases[i].n < 0 ? 2 : cases[i].n, cases[i].right));
            tsri_prefer_parts(false);
            tsr_release_all(&x, &z);
        }
}

TEST(test_bytes_are_rounded_once_and_held)
{
    static const uint8_t in[] = { 0, 255, 0, 255 };
    for (int parts = 0; parts < 2; parts++) {
        tsr_tensor *x = NULL, *z = NULL;
        tsri_prefer_parts(parts);
        EXPECT_OK(tsr_from_data(&x, TSR_U8, LINE(4), in));
        EXPECT_OK(tsr_resize(&z, x, 1, (const int64_t[]){ 8 },
                             &(tsr_resize_options){ .mode = TSR_INTERPOLATE_CUBIC }));
        static const uint8_t right[] = { 0, 67, 224, 215, 40, 31, 188, 255 };
        EXPECT(z && z->dtype == TSR_U8 && !memcmp(z->data, right, sizeof right));
        tsri_prefer_parts(false);
        tsr_release_all(&x, &z);
    }
}

/* Bytes as image.h of the CPU defines them ---------------------------------------------------- */

enum { MOST_SIZE = 128, MOST_CHANNELS = 5 };

typedef struct bytes_axis {
    int64_t first[MOST_SIZE], count[MOST_SIZE], taps;
    double  weight[MOST_SIZE * MOST_SIZE];
} bytes_axis;

static int64_t held(int64_t x, int64_t low, int64_t high) { return x < low ? low : x > high ? high : x; }

static double largest_of(const double *w, int64_t n)
{
    double largest = 0;
    for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs(w[i]));
    return largest;
}

/* The sum of numbers `step` apart, without its last bits: rounded, halves up. */
static int64_t sum_of(const int64_t *x, int64_t step, const int16_t *w, int64_t n, int shift)
{
    int64_t sum = (int64_t)1 << (shift - 1);
    for (int64_t t = 0; t < n; t++) sum += w[t] * x[t * step];
    return sum >> shift;
}

static void fill_axis(bytes_axis *a, const tsr_resize_params *p, int d, int64_t in)
{
    const tsri_resample r = tsri_resample_of(p, d, in);
    a->taps = tsri_resample_taps(&r);
    (void)tsri_resample_table(&r, a->first, a->count, a->weight);
}

/* Weights of what comes first have at most 22 bits, and leave those of lines; of what comes last 15. */
typedef struct pass { int most, line; } pass;
static const pass first_pass = { 22, -TSRI_LINE_BITS }, last_pass = { 15, TSRI_LINE_BITS };

static void resize_columns(int64_t *z, const int64_t *x, int64_t rows, int64_t in, int64_t out,
                           const bytes_axis *a, pass p)
{
    int16_t w[MOST_SIZE];
    const int bits = tsri_weight_bits(largest_of(a->weight, out * a->taps), p.most);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < out; c++) {
            tsri_fix_weights(w, a->weight + c * a->taps, a->count[c], bits);
            z[r * out + c] = sum_of(x + r * in + a->first[c], 1, w, a->count[c], bits + p.line);
        }
}

static void resize_rows(int64_t *z, const int64_t *x, int64_t out, int64_t columns, const bytes_axis *a,
                        pass p)
{
    int16_t w[MOST_SIZE];
    for (int64_t r = 0; r < out; r++) {
        const double *weight = a->weight + r * a->taps;
        const int bits = tsri_weight_bits(largest_of(weight, a->count[r]), p.most);
        tsri_fix_weights(w, weight, a->count[r], bits);
        for (int64_t c = 0; c < columns; c++)
            z[r * columns + c] = sum_of(x + a->first[r] * columns + c, columns, w, a->count[r],
                                        bits + p.line);
    }
}

/* Rows come first where columns are far apart, and no row is summed often. */
static bool are_rows_first(const bytes_axis *rows, const bytes_axis *columns, const int64_t *in,
                           const int64_t *out, int64_t channels)
{
    return rows->taps * out[0] <= 6 * in[0] &&
           (columns->taps > 4 ? in[1] / 4 >= out[1] : in[1] / 4 > out[1] && channels < 4);
}

/* One channel of a picture, which has `channels` bytes from pixel to pixel. */
static void resize_channel(uint8_t *z, const uint8_t *x, int64_t channels, const int64_t *in,
                           const tsr_resize_params *p)
{
    static bytes_axis rows, columns;
    static int64_t pixels[MOST_SIZE * MOST_SIZE], lines[MOST_SIZE * MOST_SIZE], sums[MOST_SIZE * MOST_SIZE];
    const int64_t *out = p->size;
    fill_axis(&rows, p, 0, in[0]);
    fill_axis(&columns, p, 1, in[1]);
    for (int64_t i = 0; i < in[0] * in[1]; i++) pixels[i] = x[i * channels];
    if (are_rows_first(&rows, &columns, in, out, channels)) {
        resize_rows(lines, pixels, out[0], in[1], &rows, first_pass);
        resize_columns(sums, lines, out[0], in[1], out[1], &columns, last_pass);
    } else {
        resize_columns(lines, pixels, in[0], in[1], out[1], &columns, first_pass);
        resize_rows(sums, lines, out[0], out[1], &rows, last_pass);
    }
    for (int64_t i = 0; i < out[0] * out[1]; i++) z[i * channels] = (uint8_t)held(sums[i], 0, 255);
}

static void expect_bytes(const int64_t *in, const tsr_resize_params *p, int64_t channels)
{
    static uint8_t x[MOST_SIZE * MOST_SIZE * MOST_CHANNELS], right[sizeof x];
    const int64_t count = in[0] * in[1] * channels;
    tsr_tensor *t = NULL, *z = NULL;
    uint32_t seed = 1;
    for (int64_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = seed >> 30 ? (uint8_t)(seed >> 16) : (uint8_t)(seed >> 8 & 1 ? 255 : 0);
    }
    for (int64_t c = 0; c < channels; c++) resize_channel(right + c, x + c, channels, in, p);
    EXPECT_OK(tsr_from_data(&t, TSR_U8, 3, (const int64_t[]){ in[0], in[1], channels }, x));
    EXPECT_OK(tsr_move_axis(&t, t, 2, 0));
    EXPECT_OK(tsr_resize(&z, t, 2, p->size,
                         &(tsr_resize_options){ .mode = (tsr_interpolation)p->mode,
                                                .antialias = p->antialias,
                                                .align_corners = p->align_corners }));
    EXPECT_MSG(z && !memcmp(z->data, right, (size_t)(p->size[0] * p->size[1] * channels)),
               "%lld x %lld x %lld to %lld x %lld, mode %d", (long long)in[0], (long long)in[1],
               (long long)channels, (long long)p->size[0], (long long)p->size[1], (int)p->mode);
    tsr_release_all(&t, &z);
}

TEST(test_bytes_have_the_bits_of_their_definition)
{
    static const int64_t sizes[][4] = { { 9, 40, 20, 33 }, { 40, 120, 13, 7 },  { 30, 64, 15, 32 },
                                        { 5, 3, 11, 50 },  { 17, 126, 17, 61 }, { 64, 50, 31, 50 },
                                        { 90, 127, 10, 31 }, { 3, 100, 40, 9 } };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int64_t channels = 1; channels <= MOST_CHANNELS; channels++)
            for (int how = 0; how < 6; how++) {
                const tsr_resize_params p = { .spatial = 2, .size = { sizes[i][2], sizes[i][3] },
                                              .mode = how == 5 ? TSR_INTERPOLATE_AREA
                                                               : TSR_INTERPOLATE_LINEAR + how % 2,
                                              .antialias = how == 2 || how == 3, .align_corners = how == 4 };
                expect_bytes(sizes[i], &p, channels);
            }
}

/* Weights -------------------------------------------------------------------------------------------- */

static tsri_resample axis_of(int64_t in, int64_t out, tsr_interpolation mode, double scale)
{
    const tsr_resize_params p = { .spatial = 1, .mode = mode, .size = { out }, .scale = { scale } };
    return tsri_resample_of(&p, 0, in);
}

/* Steps that are given lead beyond the input, and sizes that stay are no copies then. */
TEST(test_weights_of_windows_at_the_ends_and_beyond)
{
    int64_t first[8], count[8];
    double w[40];
    tsri_resample r = axis_of(4, 4, TSR_INTERPOLATE_NEAREST, 0.5);
    EXPECT(tsri_resample_taps(&r) == 1 && !tsri_resample_table(&r, first, count, w));
    EXPECT(first[1] == 2 && first[2] == 3 && first[3] == 3 && count[3] == 1 && w[3] == 1);
    r = axis_of(4, 4, TSR_INTERPOLATE_CUBIC, 1);
    EXPECT(tsri_resample_table(&r, first, count, w));
    r = axis_of(4, 4, TSR_INTERPOLATE_CUBIC, 0.75);
    EXPECT(!tsri_resample_table(&r, first, NULL, w));
    r = axis_of(1, 1, TSR_INTERPOLATE_CUBIC, 0.53);  /* four weights of one input, which add up to 1 nearly */
    EXPECT(!tsri_resample_table(&r, first, count, w) && count[0] == 1 && w[0] != 1 && fabs(w[0] - 1) < 1e-14);
    EXPECT(tsri_resample_of(&(tsr_resize_params){ .mode = TSR_INTERPOLATE_LINEAR, .align_corners = true,
                                                  .size = { 1 } }, 0, 5).step == 0);
    r = axis_of(5, 6, TSR_INTERPOLATE_CUBIC, 1);
    r.antialias = true;  /* output 5 sees input 4 alone, from where its weight is 0 */
    EXPECT(tsri_resample_at(&r, 4, first, w) == 1 && *first == 4 && w[0] == 1);
    EXPECT(tsri_resample_at(&r, 5, first, w) == 0);
}

/* An element of weight 0 does not count; one of another weight does. */
TEST(test_infinities_stay_where_they_are_seen)
{
    const float in[] = { 1, INFINITY, 3, 5 };
    for (int parts = 0; parts < 2; parts++) {
        tsr_tensor *x = NULL, *z = NULL;
        tsri_prefer_parts(parts);
        EXPECT_OK(tsr_from_data(&x, TSR_F32, LINE(4), in));
        EXPECT_OK(tsr_resize(&z, x, 1, (const int64_t[]){ 7 },
                             &(tsr_resize_options){ .mode = TSR_INTERPOLATE_LINEAR, .align_corners = true }));
        const float *got = z ? z->data : in;
        EXPECT(got[0] == 1 && isinf(got[1]) && isinf(got[2]) && isinf(got[3]) && got[4] == 3 && got[6] == 5);
        tsri_prefer_parts(false);
        tsr_release_all(&x, &z);
    }
}

TEST(test_channels_that_come_last_stay_last)
{
    tsr_tensor *x = NULL, *seen = NULL, *z = NULL;
    EXPECT_OK(tsr_zeros(&x, TSR_U8, 3, (const int64_t[]){ 6, 8, 3 }));
    EXPECT_OK(tsr_move_axis(&seen, x, 2, 0));
    EXPECT_OK(tsr_resize(&z, seen, 2, (const int64_t[]){ 5, 7 },
                         &(tsr_resize_options){ .mode = TSR_INTERPOLATE_LINEAR }));
    EXPECT(z && z->shape[0] == 3 && z->stride[0] == 1 && z->stride[2] == 3 && z->stride[1] == 21);
    tsr_release_all(&x, &seen, &z);
}

TEST(test_a_grid_of_the_centres_gives_the_picture_back)
{
    tsr_tensor *x = NULL, *grid = NULL, *z = NULL, *flat = NULL;
    static const float centres[] = { -0.5f, -0.5f, 0.5f, -0.5f, -0.5f, 0.5f, 0.5f, 0.5f };
    EXPECT_OK(tsr_arange(&flat, TSR_F32, TSR_SCALAR(0), TSR_SCALAR(8), TSR_SCALAR(1)));
    EXPECT_OK(tsr_view(&x, flat, 4, (const int64_t[]){ 1, 2, 2, 2 }));
    EXPECT_OK(tsr_from_data(&grid, TSR_F32, 4, (const int64_t[]){ 1, 2, 2, 2 }, centres));
    for (int padding = 0; padding < 6; padding++) {
        tsri_prefer_parts(padding > 2);
        EXPECT_OK(tsr_grid_sample(&z, x, grid, TSR_INTERPOLATE_LINEAR, (tsr_grid_padding)(padding % 3),
                                  false));
        tsri_prefer_parts(false);
        for (int i = 0; z && i < 8; i++) EXPECT(((float *)z->data)[i] == (float)i);
    }
    tsr_release_all(&x, &grid, &z, &flat);
}

/* Places that no index can hold, and none at all. */
TEST(test_a_grid_may_lead_anywhere)
{
    static const double places[] = { INFINITY, 0, -INFINITY, 0, 1e300, -1e300, NAN, NAN };
    static const tsr_interpolation modes[] = { TSR_INTERPOLATE_NEAREST, TSR_INTERPOLATE_LINEAR,
                                               TSR_INTERPOLATE_CUBIC };
    for (int k = 0; k < 18; k++) {
        tsr_tensor *x = NULL, *grid = NULL, *z = NULL;
        const tsr_grid_padding padding = (tsr_grid_padding)(k / 3 % 3);
        EXPECT_OK(tsr_ones(&x, TSR_F32, 4, (const int64_t[]){ 1, 1, 3, 4 }));
        EXPECT_OK(tsr_from_data(&grid, TSR_F64, 4, (const int64_t[]){ 1, 1, 4, 2 }, places));
        tsri_prefer_parts(k >= 9);
        EXPECT_OK(tsr_grid_sample(&z, x, grid, modes[k % 3], padding, true));
        tsri_prefer_parts(false);
        const float *got = z ? z->data : NULL;
        for (int i = 0; got && i < 3; i++)
            EXPECT(padding == TSR_GRID_ZEROS ? got[i] == 0 : fabsf(got[i] - 1) < 1e-5f);
        tsr_release_all(&x, &grid, &z);
    }
}

/* The centres of one element are all at one place. */
TEST(test_a_grid_finds_a_single_element)
{
    static const double places[] = { INFINITY, 0, -INFINITY, 1, 1e300, -1e300, NAN, NAN };
    static const tsr_interpolation modes[] = { TSR_INTERPOLATE_NEAREST, TSR_INTERPOLATE_LINEAR,
                                               TSR_INTERPOLATE_CUBIC };
    for (int k = 0; k < 18; k++) {
        tsr_tensor *x = NULL, *grid = NULL, *z = NULL;
        EXPECT_OK(tsr_ones(&x, TSR_F32, 4, (const int64_t[]){ 1, 1, 1, 1 }));
        EXPECT_OK(tsr_from_data(&grid, TSR_F64, 4, (const int64_t[]){ 1, 1, 4, 2 }, places));
        tsri_prefer_parts(k >= 9);
        EXPECT_OK(tsr_grid_sample(&z, x, grid, modes[k % 3], (tsr_grid_padding)(k / 3 % 3), true));
        tsri_prefer_parts(false);
        for (int i = 0; z && i < 4; i++) EXPECT(((const float *)z->data)[i] == 1);
        tsr_release_all(&x, &grid, &z);
    }
}

/* What is refused ----------------------------------------------------------------------------- */

TEST(test_sizes_and_options_are_checked)
{
    tsr_tensor *x = NULL, *i = NULL, *z = NULL, *empty = NULL;
    const int64_t sizes[] = { 4, 4, 4 };
    const tsr_resize_options smooth = { .align_corners = true };
    EXPECT_OK(tsr_ones(&x, TSR_F32, 4, (const int64_t[]){ 1, 2, 3, 3 }));
    EXPECT_OK(tsr_ones(&i, TSR_I32, 4, (const int64_t[]){ 1, 2, 3, 3 }));
    EXPECT_OK(tsr_ones(&empty, TSR_F32, 4, (const int64_t[]){ 1, 2, 0, 3 }));
    EXPECT_FAILS(tsr_resize(NULL, x, 2, sizes, NULL), TSR_ENULL, "out");
    EXPECT_FAILS(tsr_resize(&z, NULL, 2, sizes, NULL), TSR_ENULL, "x");
    EXPECT_FAILS(tsr_resize(&z, x, 2, NULL, NULL), TSR_ENULL, "sizes");
    EXPECT_FAILS(tsr_resize(&z, i, 2, sizes, NULL), TSR_EDTYPE, "resize");
    EXPECT_FAILS(tsr_resize(&z, x, 1, sizes, NULL), TSR_ESHAPE, "1 spatial dims");
    EXPECT_FAILS(tsr_resize(&z, x, 4, sizes, NULL), TSR_EINVAL, "4 spatial dims");
    EXPECT_FAILS(tsr_resize(&z, empty, 2, sizes, NULL), TSR_ESHAPE, "is empty");
    EXPECT_FAILS(tsr_resize(&z, x, 2, (const int64_t[]){ 4, -2 }, NULL), TSR_EINVAL, "size -2");
    EXPECT_FAILS(tsr_resize(&z, x, 2, (const int64_t[]){ 4, INT64_MAX }, NULL), TSR_EOVERFLOW, "too many");
    EXPECT_FAILS(tsr_resize(&z, x, 2, sizes, &smooth), TSR_EINVAL, "align_corners");
    EXPECT_FAILS(tsr_resize(&z, x, 2, sizes, &(tsr_resize_options){ .mode = (tsr_interpolation)9 }),
                 TSR_EINVAL, "mode is 9");
    EXPECT_FAILS(tsr_resize(&z, x, 2, sizes, &(tsr_resize_options){ .scale = { 1, -1 } }), TSR_EINVAL,
                 "scale -1");
    EXPECT_FAILS(tsr_resize(&z, x, 2, (const int64_t[]){ -1, 3 }, &(tsr_resize_options){ .scale = { NAN } }),
                 TSR_EINVAL, "scale");
    EXPECT_FAILS(tsr_resize(&z, x, 2, (const int64_t[]){ -1, 3 }, &(tsr_resize_options){ .scale = { 1e30 } }),
                 TSR_EOVERFLOW, "scale");
    EXPECT_OK(tsr_resize(&z, empty, 2, (const int64_t[]){ 0, 5 }, NULL));
    EXPECT(z && z->shape[2] == 0 && z->shape[3] == 5);
    tsr_release_all(&x, &i, &z, &empty);
}

TEST(test_grids_are_checked)
{
    tsr_tensor *x = NULL, *grid = NULL, *three = NULL, *volume = NULL, *places = NULL, *z = NULL;
    EXPECT_OK(tsr_ones(&x, TSR_F32, 4, (const int64_t[]){ 1, 2, 3, 3 }));
    EXPECT_OK(tsr_ones(&grid, TSR_F32, 4, (const int64_t[]){ 1, 2, 3, 2 }));
    EXPECT_OK(tsr_ones(&three, TSR_F32, 4, (const int64_t[]){ 1, 2, 3, 3 }));
    EXPECT_OK(tsr_ones(&volume, TSR_F32, 5, (const int64_t[]){ 1, 2, 3, 3, 3 }));
    EXPECT_OK(tsr_ones(&places, TSR_F32, 5, (const int64_t[]){ 1, 2, 3, 3, 3 }));
    EXPECT_FAILS(tsr_grid_sample(&z, x, three, TSR_INTERPOLATE_LINEAR, TSR_GRID_ZEROS, false), TSR_ESHAPE,
                 "grid");
    EXPECT_FAILS(tsr_grid_sample(&z, x, grid, TSR_INTERPOLATE_AREA, TSR_GRID_ZEROS, false), TSR_EINVAL,
                 "mode is 4");
    EXPECT_FAILS(tsr_grid_sample(&z, volume, places, TSR_INTERPOLATE_CUBIC, TSR_GRID_ZEROS, false),
                 TSR_EINVAL, "cubic");
    EXPECT_FAILS(tsr_grid_sample(&z, x, grid, TSR_INTERPOLATE_LINEAR, (tsr_grid_padding)7, false), TSR_EINVAL,
                 "padding is 7");
    EXPECT_FAILS(tsr_grid_sample(&z, x, NULL, TSR_INTERPOLATE_LINEAR, TSR_GRID_ZEROS, false), TSR_ENULL,
                 "grid");
    tsr_release_all(&x, &grid, &three, &volume, &places, &z);
}

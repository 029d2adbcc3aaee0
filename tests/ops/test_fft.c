/* test_fft.c - Fourier transforms against direct sums in long double, by our own kernels and,
 * where it is there, by FFTW.
 *
 * The reference knows the definition and nothing else: every output is the sum of all inputs
 * times a root of unity, one axis after the other. */
#include <float.h>
#include <math.h>

#include "core/alloc.h"
#include "cpu/fft/fft.h"
#include "cpu/fft/fft_kernels.h"
#include "cpu/fft/roots.h"
#define TEST_OWN_MAIN
#include "property/reference.h"

/* An allocation beyond all memory fails, under a sanitizer too. */
const char *__asan_default_options(void);
const char *__tsan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }
const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }

enum { HALF = REF_BYTES / 2, MOST = 4200 };

/* The reference ------------------------------------------------------------------------ */

typedef struct num { long double re, im; } num;

typedef struct array {
    int     ndim;
    int64_t shape[TSR_MAX_NDIM], n;
    num     v[MOST];
} array;

static array work, held;

/* cos and sin of 2 pi j / n, for j in 0 .. n - 1; of the latest n. */
static const num *roots_of(int64_t n)
{
    static num roots[MOST];
    static int64_t latest;
    const long double turn = 6.283185307179586476925286766559005768L;
    for (int64_t j = 0; j < n && latest != n; j++) {
        /* From the nearest quarter turn on, where the argument is small. */
        const int64_t quarter = (4 * j + n / 2) / n, rest = 4 * j - quarter * n;
        const long double a = turn * (long double)rest / (4 * (long double)n), c = cosl(a), s = sinl(a);
        static const int cosines[] = { 1, 0, -1, 0 }, sines[] = { 0, 1, 0, -1 };
        const long double qc = cosines[quarter % 4], qs = sines[quarter % 4];
        roots[j] = (num){ c * qc - s * qs, s * qc + c * qs };
    }
    latest = n;
    return roots;
}

/* A number for each lane, made of the lane. */
typedef num (*lane_fn)(const num *lane, int64_t step, int64_t size, int64_t k, int64_t n, int sign);

/* Every lane along the axis becomes one of `out` elements. */
static void each_lane(array *a, int axis, int64_t out, lane_fn make, int64_t n, int sign)
{
    int64_t step = 1, outer = 1;
    const int64_t size = a->shape[axis];
    for (int d = axis + 1; d < a->ndim; d++) step *= a->shape[d];
    for (int d = 0; d < axis; d++) outer *= a->shape[d];
    held = *a;
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < step; i++)
            for (int64_t k = 0; k < out; k++)
                a->v[(o * out + k) * step + i] = make(&held.v[o * size * step + i], step, size, k, n, sign);
    a->shape[axis] = out;
    a->n = outer * out * step;
}

static num element(const num *lane, int64_t step, int64_t size, int64_t k, int64_t n, int sign)
{
    (void)n; (void)sign;
    return k < size ? lane[k * step] : (num){ 0, 0 };
}

/* Element k of what has this half, 0 .. n / 2, and is its own mirrored conjugate. */
static num mirrored(const num *lane, int64_t step, int64_t size, int64_t k, int64_t n, int sign)
{
    const bool second = k > n / 2;
    num v = element(lane, step, size, second ? n - k : k, n, sign);
    if (second) v.im = -v.im;
    if (2 * k % n == 0) v.im = 0;
    return v;
}

static num direct_sum(const num *lane, int64_t step, int64_t size, int64_t k, int64_t n, int sign)
{
    const num *roots = roots_of(n);
    num sum = { 0, 0 };
    for (int64_t j = 0; j < size; j++) {
        const num x = lane[j * step], w = roots[j * k % n];
        sum.re += x.re * w.re - sign * x.im * w.im;
        sum.im += x.im * w.re + sign * x.re * w.im;
    }
    return sum;
}

static num part_real(const num *lane, int64_t step, int64_t size, int64_t k, int64_t n, int sign)
{
    return (num){ element(lane, step, size, k, n, sign).re, 0 };
}

static long double scale_of(tsr_fft_norm norm, bool inverse, int64_t n)
{
    if (norm == TSR_FFT_ORTHO) return 1 / sqrtl((long double)n);
    return (norm == TSR_FFT_FORWARD) != inverse ? 1 / (long double)n : 1;
}

/* The ops ------------------------------------------------------------------------------ */

typedef tsr_status (*one_fn)(tsr_tensor **, const tsr_tensor *, int64_t, int, tsr_fft_norm);
typedef tsr_status (*many_fn)(tsr_tensor **, const tsr_tensor *, int, const int64_t *, const int *,
                              tsr_fft_norm);

typedef struct op_case {
    const char *name;
    bool        inverse;
    bool        half_in, half_out; /* the last axis has half a spectrum there, and reals on the other side */
    one_fn      one;
    many_fn     many;
} op_case;

static const op_case ops[] = {
    { "fft", false, false, false, tsr_fft, NULL },     { "ifft", true, false, false, tsr_ifft, NULL },
    { "rfft", false, false, true, tsr_rfft, NULL },    { "irfft", true, true, false, tsr_irfft, NULL },
    { "hfft", false, true, false, tsr_hfft, NULL },    { "ihfft", true, false, true, tsr_ihfft, NULL },
    { "fftn", false, false, false, NULL, tsr_fftn },   { "ifftn", true, false, false, NULL, tsr_ifftn },
    { "rfftn", false, false, true, NULL, tsr_rfftn },  { "irfftn", true, true, false, NULL, tsr_irfftn },
};
enum { ONE = 6, OPS = 10 };

/* A call: axes are not negative, lengths not 0. */
typedef struct call {
    const op_case *op;
    int            count;
    int            axis[TSR_MAX_NDIM];
    int64_t        n[TSR_MAX_NDIM];
    tsr_fft_norm   norm;
} call;

static void reference_axis(array *a, const call *c, int i)
{
    const int axis = c->axis[i];
    const int64_t n = c->n[i];
    const bool last = i == c->count - 1;
    const long double scale = scale_of(c->norm, c->op->inverse, n);
    each_lane(a, axis, n, last && c->op->half_in ? mirrored : element, n, 0);
    each_lane(a, axis, last && c->op->half_out ? n / 2 + 1 : n, direct_sum, n, c->op->inverse ? 1 : -1);
    if (last && c->op->half_in) each_lane(a, axis, n, part_real, n, 0);
    for (int64_t k = 0; k < a->n; k++) a->v[k].re *= scale, a->v[k].im *= scale;
}

static void reference(array *a, const call *c)
{
    for (int i = 0; i < c->count - 1; i++)
        if (c->op->half_in) reference_axis(a, c, i);
    reference_axis(a, c, c->count - 1);
    for (int i = 0; i < c->count - 1; i++)
        if (!c->op->half_in) reference_axis(a, c, i);
}

static long double eps_of(tsr_dtype dtype)
{
    return dtype == TSR_F64 || dtype == TSR_C128 ? (long double)DBL_EPSILON : (long double)FLT_EPSILON;
}

/* Elements ----------------------------------------------------------------------------- */

static long double value_of(tsr_dtype part, const void *p)
{
    const ref_number n = ref_decode(part, p);
    const long double v = ldexpl((long double)n.bits, n.exponent);
    return n.kind == REF_NAN ? NAN : n.kind == REF_INFINITE ? INFINITY : n.negative ? -v : v;
}

static num load(tsr_dtype dtype, const unsigned char *p)
{
    const tsr_dtype part = ref_part(dtype);
    return (num){ value_of(part, p), ref_is_complex(dtype) ? value_of(part, p + ref_size(part)) : 0 };
}

static void store_random(uint64_t *random, tsr_dtype dtype, unsigned char *p)
{
    const tsr_dtype part = ref_part(dtype);
    for (int i = 0; i < (ref_is_complex(dtype) ? 2 : 1); i++) {
        const double v = (double)(int64_t)test_next(random) * 0x1p-63;
        ref_convert(part, p + i * ref_size(part), TSR_F64, &v);
    }
}

static long double size_of(const array *a)
{
    long double sum = 0;
    for (int64_t k = 0; k < a->n; k++) sum += a->v[k].re * a->v[k].re + a->v[k].im * a->v[k].im;
    return sqrtl(sum);
}

/* Lengths ------------------------------------------------------------------------------ */

static struct { long double units; int64_t n; const char *name; } worst[2]; /* of float, of double */

/* The error of a whole lane, by the size of the lane, in units of eps log2 n. */
static void expect_accurate(const op_case *op, tsr_dtype dtype, int64_t n, tsr_fft_norm norm)
{
    const int64_t size = op->half_in ? n / 2 + 1 : n;
    const call f = { op, 1, { 0 }, { n }, norm };
    tsr_tensor *x = NULL, *z = NULL;
    uint64_t random = (uint64_t)n;
    EXPECT_OK(tsr_empty(&x, dtype, 1, &size));
    if (!x) return;
    work.ndim = 1;
    work.n = work.shape[0] = size;
    for (int64_t k = 0; k < size; k++) {
        unsigned char *at = (unsigned char *)x->data + k * ref_size(dtype);
        store_random(&random, dtype, at);
        work.v[k] = load(dtype, at);
    }
    reference(&work, &f);
    EXPECT_OK(op->one(&z, x, n, 0, norm));
    EXPECT(z && z->shape[0] == work.n);
    long double error = 0;
    for (int64_t k = 0; z && k < work.n; k++) {
        const num got = load(z->dtype, (unsigned char *)z->data + k * ref_size(z->dtype));
        const long double re = got.re - work.v[k].re, im = got.im - work.v[k].im;
        error += re * re + im * im;
    }
    const long double unit = eps_of(dtype) * (n > 2 ? log2l((long double)n) : 1);
    const long double units = sqrtl(error) / size_of(&work) / unit;
    const bool wide = eps_of(dtype) < 1e-10L;
    if (units > worst[wide].units) worst[wide].units = units, worst[wide].n = n, worst[wide].name = op->name;
    EXPECT_MSG(units <= 1, "%s of %lld %s: %Lg units of eps log2 n", op->name, (long long)n,
               tsr_dtype_name(dtype), units);
    tsr_release_all(&x, &z);
}

static void expect_length(int64_t n)
{
    static const tsr_dtype real[] = { TSR_F32, TSR_F64 }, complex[] = { TSR_C64, TSR_C128 };
    for (int o = 0; o < ONE; o++)
        for (int d = 0; d < 2; d++) {
            const tsr_fft_norm norm = (tsr_fft_norm)((n + o) % 3);
            expect_accurate(&ops[o], ops[o].half_out ? real[d] : complex[d], n, norm);
            if (!ops[o].half_out && !ops[o].half_in && n < 70) expect_accurate(&ops[o], real[d], n, norm);
        }
}

static void say_worst(void)
{
    for (int d = 0; d < 2; d++)
        printf("%s: at most %.2Lf eps log2 n of error, in %s of %lld\n", d ? "f64" : "f32", worst[d].units,
               worst[d].name ? worst[d].name : "none", (long long)worst[d].n);
    memset(worst, 0, sizeof worst);
}

static void all_lengths_to_130(void)
{
    for (int64_t n = 1; n <= 130; n++) expect_length(n);
    say_worst();
}

static void long_lengths(void)
{
    static const int64_t lengths[] = { 256, 243, 343, 360, 512, 509, 625, 720, 1000, 1009, 1024, 1331 };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) expect_length(lengths[i]);
    static const int64_t longer[] = { 2048, 3125, 3721, 4095, 4096, 4099 };
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++) {
        expect_accurate(&ops[0], TSR_C128, longer[i], TSR_FFT_BACKWARD);
        expect_accurate(&ops[2], TSR_F32, longer[i], TSR_FFT_BACKWARD);
    }
    say_worst();
}

/* Laws --------------------------------------------------------------------------------- */

/* The largest |a - b| of packed tensors of one dtype, f64 or c128 or their narrow kin. */
static double distance(const tsr_tensor *a, const tsr_tensor *b)
{
    double most = 0;
    const bool narrow = a->dtype == TSR_F32 || a->dtype == TSR_C64;
    const int64_t n = tsr_numel(a) * (ref_is_complex(a->dtype) ? 2 : 1);
    for (int64_t i = 0; i < n; i++) {
        const double x = narrow ? (double)((float *)a->data)[i] : ((double *)a->data)[i];
        const double y = narrow ? (double)((float *)b->data)[i] : ((double *)b->data)[i];
        if (!(fabs(x - y) <= most)) most = fabs(x - y);
    }
    return most;
}

static void round_trip(one_fn forth, one_fn back, tsr_dtype dtype, int64_t n, tsr_fft_norm norm)
{
    tsr_tensor *x = NULL, *y = NULL, *z = NULL;
    EXPECT_OK(tsr_uniform(&x, dtype, 1, &n, -1, 1, (uint64_t)n));
    EXPECT_OK(forth(&y, x, 0, 0, norm));
    EXPECT_OK(back(&z, y, n, 0, norm));
    const double bound = (double)eps_of(dtype) * 2 * (log2((double)n) + 1);
    EXPECT_MSG(z && distance(x, z) < bound, "%lld %s: %g", (long long)n, tsr_dtype_name(dtype),
               z ? distance(x, z) : 0);
    tsr_release_all(&x, &y, &z);
}

static void round_trips(void)
{
    /* Of the last two, the second level has a group of one column. */
    static const int64_t lengths[] = { 1, 2, 17, 4096, 59049, 65537, 65536, 100003, 120000, 131072, 131071,
                                       177147, 262144, 512 * 529, 1024 * 529 };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const tsr_fft_norm norm = (tsr_fft_norm)(i % 3);
        round_trip(tsr_fft, tsr_ifft, TSR_C128, lengths[i], norm);
        round_trip(tsr_fft, tsr_ifft, TSR_C64, lengths[i], norm);
        round_trip(tsr_rfft, tsr_irfft, TSR_F64, lengths[i], norm);
        round_trip(tsr_rfft, tsr_irfft, TSR_F32, lengths[i], norm);
        round_trip(tsr_ihfft, tsr_hfft, TSR_F64, lengths[i], norm);
    }
}

/* Output k of a transform of packed c128, summed directly. */
static tsr_c128 output_of(const tsr_tensor *x, int64_t k)
{
    const int64_t n = x->shape[0];
    tsr_c128 sum = { 0, 0 };
    for (int64_t j = 0, at = 0; j < n; j++, at = (at + k) % n) {
        const double angle = -6.283185307179586 * (double)at / (double)n, c = cos(angle), s = sin(angle);
        const tsr_c128 v = TSR_AT(tsr_c128, x, j);
        sum.re += v.re * c - v.im * s;
        sum.im += v.re * s + v.im * c;
    }
    return sum;
}

/* Lengths of two levels, whose groups end with one column, two, or any number. */
static void test_lengths_of_two_levels_match_direct_sums(void)
{
    static const int64_t lengths[] = { 385 * 384, 465 * 464, 481 * 480, 513 * 512, 529 * 512, 561 * 560,
                                       625 * 624, 450 * 448, 418 * 416, 377 * 368, 399 * 377, 437 * 403,
                                       131072 * 3, 59049 * 5, 117649 * 2, 161051 };
    (void)tsri_fft_use(TSRI_FFT_OWN);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const int64_t n = lengths[i], k[] = { 1, n / 3 + (int64_t)i, n - 1 };
        tsr_tensor *x = NULL, *z = NULL;
        EXPECT_OK(tsr_uniform(&x, TSR_C128, 1, &n, -1, 1, (uint64_t)n));
        EXPECT_OK(tsr_fft(&z, x, 0, 0, TSR_FFT_BACKWARD));
        for (int q = 0; x && z && q < 3; q++) {
            const tsr_c128 want = output_of(x, k[q]), got = TSR_AT(tsr_c128, z, k[q]);
            const double off = hypot(got.re - want.re, got.im - want.im);
            EXPECT_MSG(off < 1e-13 * sqrt((double)n), "%lld, output %lld: off by %g", (long long)n,
                       (long long)k[q], off);
        }
        tsr_release_all(&x, &z);
    }
}

/* Reals have a spectrum that is its own mirrored conjugate, to the last bit. */
static void mirrored_spectra(void)
{
    for (int64_t n = 1; n < 200; n += n < 20 ? 1 : 13) {
        tsr_tensor *x = NULL, *z = NULL, *half = NULL;
        EXPECT_OK(tsr_uniform(&x, TSR_F64, 2, (const int64_t[]){ n, 3 }, -1, 1, 5));
        EXPECT_OK(tsr_ifft(&z, x, 0, 0, TSR_FFT_ORTHO));
        EXPECT_OK(tsr_ihfft(&half, x, 0, 0, TSR_FFT_ORTHO));
        for (int64_t v = 0; z && half && v < 3; v++)
            for (int64_t k = 0; k < n; k++) {
                const tsr_c128 a = TSR_AT(tsr_c128, z, k, v), b = TSR_AT(tsr_c128, z, (n - k) % n, v);
                EXPECT(a.re == b.re && a.im == -b.im);
                if (k <= n / 2) EXPECT(!memcmp(&a, &TSR_AT(tsr_c128, half, k, v), sizeof a));
            }
        tsr_release_all(&x, &z, &half);
    }
}

/* What a spectrum of reals cannot have is not looked at. */
static void unseen_parts(void)
{
    for (int64_t n = 1; n < 140; n++) {
        const int64_t size = n / 2 + 1;
        tsr_tensor *x = NULL, *y = NULL, *a = NULL, *b = NULL;
        EXPECT_OK(tsr_uniform(&x, TSR_C128, 1, &size, -1, 1, 3));
        EXPECT_OK(tsr_clone(&y, x));
        if (!y) return;
        ((tsr_c128 *)y->data)[0].im = NAN;
        if (n % 2 == 0) ((tsr_c128 *)y->data)[n / 2].im = INFINITY;
        EXPECT_OK(tsr_irfft(&a, x, n, 0, TSR_FFT_BACKWARD));
        EXPECT_OK(tsr_irfft(&b, y, n, 0, TSR_FFT_BACKWARD));
        EXPECT_MSG(a && b && !memcmp(a->data, b->data, (size_t)n * 8), "%lld", (long long)n);
        tsr_release_all(&x, &y, &a, &b);
    }
}

/* Lanes, threads, places --------------------------------------------------------------- */

static tsr_tensor *column_of(const tsr_tensor *t, int64_t v)
{
    tsr_tensor *view = NULL, *packed = NULL;
    EXPECT_OK(tsr_select(&view, t, 1, v));
    EXPECT_OK(tsr_rearrange(&packed, view));
    tsr_release(&view);
    return packed;
}

static bool same_bytes(const tsr_tensor *a, const tsr_tensor *b)
{
    return a && b && tsr_byte_size(a) == tsr_byte_size(b) &&
           !memcmp(a->data, b->data, (size_t)tsr_byte_size(a));
}

/* A lane among others gives the bits it gives alone, even beside NaN. */
static void lanes_alone(void)
{
    static const int64_t lengths[] = { 1, 2, 3, 8, 30, 49, 64, 67, 100, 131, 1000 };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int o = 0; o < ONE; o++)
            for (int wide = 0; wide < 2; wide++) {
                const tsr_dtype dtype =
                    ops[o].half_out ? (wide ? TSR_F64 : TSR_F32) : (wide ? TSR_C128 : TSR_C64);
                const int64_t n = lengths[i], width = 21;
                tsr_tensor *x = NULL, *z = NULL;
                EXPECT_OK(tsr_uniform(&x, dtype, 2, (const int64_t[]){ n, width }, -1, 1, 9));
                if (!x) return;
                /* NaN in lane 4. */
                memset((char *)x->data + 4 * ref_size(dtype), 0xff, (size_t)ref_size(dtype));
                EXPECT_OK(ops[o].one(&z, x, n, 0, TSR_FFT_ORTHO));
                for (int64_t v = 0; z && v < width; v++) {
                    tsr_tensor *alone = column_of(x, v), *got = column_of(z, v), *want = NULL;
                    EXPECT_OK(ops[o].one(&want, alone, n, 0, TSR_FFT_ORTHO));
                    if (v != 4)
                        EXPECT_MSG(same_bytes(got, want), "%s of %lld, lane %lld", ops[o].name, (long long)n,
                                   (long long)v);
                    tsr_release_all(&alone, &got, &want);
                }
                tsr_release_all(&x, &z);
            }
}

static void in_place(void)
{
    for (int64_t n = 1; n < 70; n++) {
        tsr_tensor *x = NULL, *want = NULL, *real = NULL, *t = NULL;
        EXPECT_OK(tsr_uniform(&x, TSR_C64, 2, (const int64_t[]){ n, 5 }, -1, 1, 1));
        EXPECT_OK(tsr_fftn(&want, x, 0, NULL, NULL, TSR_FFT_BACKWARD));
        EXPECT_OK(tsr_fftn(&x, x, 0, NULL, NULL, TSR_FFT_BACKWARD));
        EXPECT(same_bytes(x, want));
        /* Real x at the start of the result's own memory. */
        EXPECT_OK(tsr_view_real(&real, x));
        tsr_release(&want);
        EXPECT_OK(tsr_fft(&want, real, 0, 0, TSR_FFT_FORWARD));
        EXPECT_OK(tsr_fft(&x, real, 0, 0, TSR_FFT_FORWARD));
        EXPECT(same_bytes(x, want));
        tsr_release(&want);
        EXPECT_OK(tsr_transpose(&t, x, 0, 1));
        if (n == 5) {
            EXPECT_OK(tsr_fft(&want, t, 0, 0, TSR_FFT_FORWARD));
            EXPECT_OK(tsr_fft(&x, t, 0, 0, TSR_FFT_FORWARD));
            EXPECT(same_bytes(x, want));
        }
        tsr_release_all(&x, &want, &real, &t);
    }
}

/* Threads of one program plan and transform at once, more lengths than plans are kept. */
static tsr_status transform_some(void *context, int64_t begin, int64_t end)
{
    tsr_tensor *const *x = context;
    for (int64_t i = begin; i < end; i++) {
        tsr_tensor *z = NULL;
        TSR_TRY(tsr_fft(&z, x[i % 40], 0, 0, TSR_FFT_BACKWARD));
        const tsr_status s = same_bytes(z, x[40 + i % 40]) ? TSR_OK : TSR_EINVAL;
        tsr_release(&z);
        TSR_TRY(s);
    }
    return TSR_OK;
}

static void many_plans_at_once(void)
{
    tsr_tensor *x[80] = { NULL };
    for (int64_t i = 0; i < 40; i++) {
        const int64_t n = i * 17 + 1;
        EXPECT_OK(tsr_uniform(&x[i], i % 2 ? TSR_C64 : TSR_C128, 1, &n, -1, 1, 3));
        EXPECT_OK(tsr_fft(&x[40 + i], x[i], 0, 0, TSR_FFT_BACKWARD));
    }
    EXPECT_OK(tsr_set_threads(5));
    EXPECT_OK(tsr_parallel_for(2000, 1, transform_some, x));
    EXPECT_OK(tsr_set_threads(0));
    for (int i = 0; i < 80; i++) tsr_release(&x[i]);
}

/* Both ways of computing --------------------------------------------------------------- */

#define BOTH(fn, name)                                                            \
    static void test_##name##_by_our_kernels(void)                                \
    {                                                                             \
        (void)tsri_fft_use(TSRI_FFT_OWN);                                         \
        fn();                                                                     \
        (void)tsri_fft_use(TSRI_FFT_OWN);                                         \
    }                                                                             \
    static void test_##name##_by_fftw(void)                                       \
    {                                                                             \
        (void)tsri_fft_use(TSRI_FFT_FFTW);                                        \
        fn();                                                                     \
        (void)tsri_fft_use(TSRI_FFT_OWN);                                         \
    }

BOTH(all_lengths_to_130, lengths_to_130_match_direct_sums)
BOTH(long_lengths, long_and_prime_lengths_match_direct_sums)
BOTH(round_trips, transforms_there_and_back_give_the_same)
BOTH(mirrored_spectra, spectra_of_reals_are_mirrored_to_the_last_bit)
BOTH(unseen_parts, imaginary_parts_that_reals_cannot_have_are_not_seen)
BOTH(lanes_alone, a_lane_does_not_depend_on_its_neighbours)
BOTH(in_place, results_may_be_where_x_is)
BOTH(many_plans_at_once, threads_transform_at_once)

/* The kernels -------------------------------------------------------------------------- */

static void test_roots_are_right_to_half_a_unit(void)
{
    for (int64_t n = 1; n < MOST; n += n < 700 ? 1 : 491) {
        tsri_fft_roots roots;
        void *tables = malloc(tsri_fft_roots_bytes(n));
        const num *want = roots_of(n);
        tsri_fft_roots_init(&roots, n, tables);
        for (int64_t k = 0; k < n; k++) {
            double c, s;
            tsri_fft_roots_at(&c, &s, &roots, k);
            EXPECT_MSG(fabsl(c - want[k].re) < 0x1.1p-53L && fabsl(s - want[k].im) < 0x1.1p-53L,
                       "%lld / %lld", (long long)k, (long long)n);
        }
        free(tables);
    }
}

/* The same transform of the same lanes by two sets of kernels. */
static void expect_same_kernels(const tsri_fft_kernels *a, const tsri_fft_kernels *b, int64_t n,
                                int64_t lanes, bool wide, tsri_fft_side side)
{
    enum { ROOM = 8200 };
    static double first[4][ROOM], second[4][ROOM];
    tsri_fft_plan mine;
    const tsri_fft_plan *plan = NULL;
    uint64_t random = (uint64_t)(n * lanes);
    bool same = false;
    EXPECT(tsri_fft_plan_get(&plan, &mine, n, side != TSRI_FFT_COMPLEX, wide) == TSR_OK);
    if (plan->wide) {
        for (int i = 0; i < ROOM; i++) first[0][i] = second[0][i] = (double)(int64_t)test_next(&random);
        for (int i = 0; i < ROOM; i++) first[1][i] = second[1][i] = (double)(int64_t)test_next(&random);
        tsri_fft_buffers_f64 p = { .re = first[0], .im = first[1], .re2 = first[2], .im2 = first[3] };
        tsri_fft_buffers_f64 q = { .re = second[0], .im = second[1], .re2 = second[2], .im2 = second[3] };
        EXPECT_OK(a->lanes_f64(plan, side, &p, lanes));
        EXPECT_OK(b->lanes_f64(plan, side, &q, lanes));
        const size_t bytes = (size_t)(plan->n * lanes) * sizeof(double);
        same = !memcmp(p.re, q.re, bytes) && !memcmp(p.im, q.im, bytes);
    } else {
        float *x = (float *)first, *y = (float *)second;
        for (int i = 0; i < 2 * ROOM; i++) x[i] = y[i] = (float)(int64_t)test_next(&random);
        tsri_fft_buffers_f32 p = { .re = x, .im = x + ROOM, .re2 = x + 2 * ROOM, .im2 = x + 3 * ROOM };
        tsri_fft_buffers_f32 q = { .re = y, .im = y + ROOM, .re2 = y + 2 * ROOM, .im2 = y + 3 * ROOM };
        EXPECT_OK(a->lanes_f32(plan, side, &p, lanes));
        EXPECT_OK(b->lanes_f32(plan, side, &q, lanes));
        const size_t bytes = (size_t)(plan->n * lanes) * sizeof(float);
        same = !memcmp(p.re, q.re, bytes) && !memcmp(p.im, q.im, bytes);
    }
    EXPECT_MSG(same, "%lld, %lld lanes", (long long)n, (long long)lanes);
    tsri_fft_plan_put(plan);
}

static void test_instruction_sets_give_the_bits_of_portable(void)
{
    const tsri_fft_kernels *best = tsri_fft_kernels_get();
    if (best == &tsri_fft_kernels_portable) SKIP("there is no other set here");
    for (int64_t n = 1; n < 400; n += n < 130 ? 1 : 29)
        for (int64_t lanes = 1; lanes <= 9; lanes += n > 130 ? 7 : 4)
            for (int wide = 0; wide < 2; wide++)
                for (int side = 0; side < 3; side++)
                    expect_same_kernels(&tsri_fft_kernels_portable, best, n, lanes, wide,
                                        (tsri_fft_side)side);
}

/* Shapes and arguments ----------------------------------------------------------------- */

static void test_empty_tensors_have_empty_spectra(void)
{
    tsr_tensor *x = NULL, *z = NULL;
    EXPECT_OK(tsr_zeros(&x, TSR_F32, 3, (const int64_t[]){ 4, 0, 3 }));
    EXPECT_OK(tsr_fft(&z, x, 0, 0, TSR_FFT_BACKWARD));
    EXPECT(z && z->dtype == TSR_C64 && z->shape[0] == 4 && z->shape[1] == 0);
    tsr_release(&z);
    EXPECT_OK(tsr_rfftn(&z, x, 2, NULL, (const int[]){ 2, 0 }, TSR_FFT_ORTHO));
    EXPECT(z && z->shape[0] == 3 && z->shape[1] == 0 && z->shape[2] == 3);
    tsr_release(&z);
    /* Nothing, lengthened, is zeros. */
    EXPECT_OK(tsr_fft(&z, x, 2, 1, TSR_FFT_BACKWARD));
    EXPECT(z && tsr_numel(z) == 24);
    for (int i = 0; z && i < 48; i++) EXPECT(((float *)z->data)[i] == 0);
    tsr_release(&z);
    EXPECT_OK(tsr_irfft(&z, x, 3, 1, TSR_FFT_BACKWARD));
    EXPECT(z && z->dtype == TSR_F32 && z->shape[1] == 3 && ((float *)z->data)[35] == 0);
    tsr_release(&z);
    EXPECT_FAILS(tsr_fft(&z, x, 0, 1, TSR_FFT_BACKWARD), TSR_ESHAPE, "axis 1 of f32(4, 0, 3");
    tsr_release(&x);
}

static void test_a_scalar_over_no_axes_is_itself(void)
{
    tsr_tensor *x = NULL, *z = NULL;
    EXPECT_OK(tsr_full(&x, TSR_F64, 0, NULL, TSR_SCALAR(2.5)));
    EXPECT_OK(tsr_fftn(&z, x, 0, NULL, NULL, TSR_FFT_ORTHO));
    EXPECT(z && z->dtype == TSR_C128 && z->ndim == 0 && ((double *)z->data)[0] == 2.5 &&
           ((double *)z->data)[1] == 0);
    tsr_release(&z);
    EXPECT_FAILS(tsr_fft(&z, x, 0, -1, TSR_FFT_BACKWARD), TSR_EINDEX, "fft: axis -1");
    EXPECT_FAILS(tsr_rfftn(&z, x, 0, NULL, NULL, TSR_FFT_BACKWARD), TSR_ESHAPE, "no axis");
    EXPECT_FAILS(tsr_irfftn(&z, x, 0, NULL, NULL, TSR_FFT_BACKWARD), TSR_ESHAPE, "no axis");
    tsr_release(&x);
}

static void expect_one_refuses(const op_case *op, const tsr_tensor *x, const tsr_tensor *ints)
{
    tsr_tensor *z = NULL, none = { 0 };
    EXPECT_FAILS(op->one(NULL, x, 0, 0, TSR_FFT_BACKWARD), TSR_ENULL, "out is NULL");
    EXPECT_FAILS(op->one(&z, NULL, 0, 0, TSR_FFT_BACKWARD), TSR_ENULL, "x");
    EXPECT_STATUS(op->one(&z, &none, 0, 0, TSR_FFT_BACKWARD), TSR_EDTYPE);
    EXPECT_FAILS(op->one(&z, ints, 0, 0, TSR_FFT_BACKWARD), TSR_EDTYPE, "tsr_cast");
    EXPECT_FAILS(op->one(&z, x, -1, 0, TSR_FFT_BACKWARD), TSR_EINVAL, "n is -1");
    EXPECT_FAILS(op->one(&z, x, 0, 2, TSR_FFT_BACKWARD), TSR_EINDEX, "axis 2 of f32(2, 3");
    EXPECT_FAILS(op->one(&z, x, 0, -3, TSR_FFT_BACKWARD), TSR_EINDEX, op->name);
    EXPECT_FAILS(op->one(&z, x, 0, 0, (tsr_fft_norm)3), TSR_EINVAL, "3 is no norm");
    EXPECT_STATUS(op->one(&z, x, INT64_MAX, 0, TSR_FFT_BACKWARD), TSR_EOVERFLOW);
    EXPECT_STATUS(op->one(&z, x, INT64_MAX / 64, 0, TSR_FFT_BACKWARD), TSR_ENOMEM);
    EXPECT(z == NULL);
}

static void expect_many_refuses(const op_case *op, const tsr_tensor *x, const tsr_tensor *ints)
{
    tsr_tensor *z = NULL;
    EXPECT_FAILS(op->many(NULL, x, 0, NULL, NULL, TSR_FFT_BACKWARD), TSR_ENULL, "out is NULL");
    EXPECT_FAILS(op->many(&z, NULL, 0, NULL, NULL, TSR_FFT_BACKWARD), TSR_ENULL, "x");
    EXPECT_FAILS(op->many(&z, ints, 0, NULL, NULL, TSR_FFT_BACKWARD), TSR_EDTYPE, "tsr_cast");
    EXPECT_FAILS(op->many(&z, x, 2, (const int64_t[]){ 3, -2 }, NULL, TSR_FFT_BACKWARD), TSR_EINVAL,
                 "n is -2");
    EXPECT_FAILS(op->many(&z, x, 1, NULL, (const int[]){ 2 }, TSR_FFT_BACKWARD), TSR_EINDEX, "axis 2");
    EXPECT_FAILS(op->many(&z, x, 2, NULL, (const int[]){ 1, -1 }, TSR_FFT_BACKWARD), TSR_EINVAL, "twice");
    EXPECT_FAILS(op->many(&z, x, 3, NULL, NULL, TSR_FFT_BACKWARD), TSR_EINDEX, "3 axes");
    EXPECT_FAILS(op->many(&z, x, -1, NULL, NULL, TSR_FFT_BACKWARD), TSR_EINVAL, op->name);
    EXPECT_FAILS(op->many(&z, x, 17, NULL, (const int[17]){ 0 }, TSR_FFT_BACKWARD), TSR_EINVAL, op->name);
    EXPECT_FAILS(op->many(&z, x, 0, NULL, NULL, (tsr_fft_norm)-1), TSR_EINVAL, "no norm");
    EXPECT(z == NULL);
}

static void test_bad_arguments_are_refused_in_words(void)
{
    tsr_tensor *x = NULL, *ints = NULL, *c32 = NULL, *c64 = NULL, *z = NULL;
    EXPECT_OK(tsr_zeros(&x, TSR_F32, 2, (const int64_t[]){ 2, 3 }));
    EXPECT_OK(tsr_zeros(&ints, TSR_I32, 2, (const int64_t[]){ 2, 3 }));
    EXPECT_OK(tsr_zeros(&c32, TSR_C32, 1, (const int64_t[]){ 3 }));
    EXPECT_OK(tsr_zeros(&c64, TSR_C64, 2, (const int64_t[]){ 2, 3 }));
    for (int o = 0; o < ONE; o++) expect_one_refuses(&ops[o], x, ints);
    for (int o = ONE; o < OPS; o++) expect_many_refuses(&ops[o], x, ints);
    EXPECT_FAILS(tsr_fft(&z, c32, 0, 0, TSR_FFT_BACKWARD), TSR_EDTYPE, "but x is c32(3");
    EXPECT_FAILS(tsr_rfft(&z, c64, 0, 0, TSR_FFT_BACKWARD), TSR_EDTYPE, "rfft: x: dtype must be floating");
    EXPECT_FAILS(tsr_ihfft(&z, c64, 0, 0, TSR_FFT_BACKWARD), TSR_EDTYPE, "ihfft");
    EXPECT_FAILS(tsr_rfftn(&z, c64, 0, NULL, NULL, TSR_FFT_BACKWARD), TSR_EDTYPE, "rfftn");
    EXPECT_FAILS(tsr_fft(&x, x, 0, 0, TSR_FFT_BACKWARD), TSR_EDTYPE, "fft: the result is c64(2, 3");
    EXPECT_FAILS(tsr_fft(&c64, x, 4, 0, TSR_FFT_BACKWARD), TSR_ESHAPE, "fft: the result is c64(4, 3");
    EXPECT_FAILS(tsr_irfft(&z, c32, 0, 0, TSR_FFT_BACKWARD), TSR_EDTYPE, "irfft");
    EXPECT_OK(tsr_slice(&c64, c64, 1, 0, 1, 1));
    EXPECT_FAILS(tsr_irfft(&z, c64, 0, 1, TSR_FFT_BACKWARD), TSR_ESHAPE, "irfft: axis 1 of c64(2, 1");
    EXPECT_FAILS(tsr_fftfreq(&z, 0, 1, TSR_F32), TSR_EINVAL, "fftfreq: n is 0");
    EXPECT_FAILS(tsr_fftfreq(&z, 3, 0, TSR_F32), TSR_EINVAL, "d is 0");
    EXPECT_FAILS(tsr_rfftfreq(&z, 3, NAN, TSR_F32), TSR_EINVAL, "d is nan");
    EXPECT_FAILS(tsr_rfftfreq(&z, -3, 1, TSR_F32), TSR_EINVAL, "n is -3");
    EXPECT_FAILS(tsr_rfftfreq(&z, 3, 1, TSR_I32), TSR_EDTYPE, "i32");
    EXPECT_STATUS(tsr_fftfreq(&z, INT64_MAX, 1, TSR_F64), TSR_EOVERFLOW);
    EXPECT_FAILS(tsr_fftshift(&z, x, 1, (const int[]){ 2 }), TSR_EINDEX, "fftshift: axis 2");
    EXPECT_FAILS(tsr_fftshift(&z, x, 1, NULL), TSR_ENULL, "fftshift: axes");
    EXPECT_FAILS(tsr_ifftshift(&z, x, 2, (const int[]){ 0, 0 }), TSR_EINVAL, "twice");
    EXPECT_FAILS(tsr_ifftshift(&ints, x, 0, NULL), TSR_EDTYPE, "ifftshift: the result");
    EXPECT(z == NULL);
    tsr_release_all(&x, &ints, &c32, &c64);
}

/* Memory ------------------------------------------------------------------------------- */

static void test_fftw_is_here(void)
{
    const bool here = tsri_fft_use(TSRI_FFT_FFTW);
    (void)tsri_fft_use(TSRI_FFT_OWN);
    if (!here) SKIP("no FFTW for float and double");
}

#define RUN_BY_FFTW(name) do { if (fftw) RUN(test_##name##_by_fftw); } while (0)

static void test_without_libraries_of_others_the_kernels_are_our_own(void)
{
    tsr_tensor *x = NULL, *own = NULL, *z = NULL;
    const bool used = tsr_get_external();
    EXPECT_OK(tsr_randn(&x, TSR_F64, TSR_SHAPE(60), 3));
    (void)tsri_fft_use(TSRI_FFT_OWN);
    EXPECT_OK(tsr_fft(&own, x, 0, 0, TSR_FFT_BACKWARD));
    tsr_set_external(false);
    EXPECT(!tsri_fft_use(TSRI_FFT_FFTW));
    EXPECT_OK(tsr_fft(&z, x, 0, 0, TSR_FFT_BACKWARD));
    bool same = false;
    EXPECT(tsr_equal(&same, z, own) == TSR_OK && same);
    tsr_set_external(used);
    (void)tsri_fft_use(TSRI_FFT_OWN);
    tsr_release(&x); tsr_release(&own); tsr_release(&z);
}

int main(int argc, char **argv)
{
    const bool fftw = tsri_fft_use(TSRI_FFT_FFTW);
    ref_begin(argc, argv);
    RUN(test_fftw_is_here);
    RUN(test_roots_are_right_to_half_a_unit);
    RUN(test_instruction_sets_give_the_bits_of_portable);
    RUN(test_lengths_to_130_match_direct_sums_by_our_kernels);
    RUN_BY_FFTW(lengths_to_130_match_direct_sums);
    RUN(test_long_and_prime_lengths_match_direct_sums_by_our_kernels);
    RUN_BY_FFTW(long_and_prime_lengths_match_direct_sums);
    RUN(test_lengths_of_two_levels_match_direct_sums);
    RUN(test_transforms_there_and_back_give_the_same_by_our_kernels);
    RUN_BY_FFTW(transforms_there_and_back_give_the_same);
    RUN(test_spectra_of_reals_are_mirrored_to_the_last_bit_by_our_kernels);
    RUN_BY_FFTW(spectra_of_reals_are_mirrored_to_the_last_bit);
    RUN(test_imaginary_parts_that_reals_cannot_have_are_not_seen_by_our_kernels);
    RUN_BY_FFTW(imaginary_parts_that_reals_cannot_have_are_not_seen);
    RUN(test_a_lane_does_not_depend_on_its_neighbours_by_our_kernels);
    RUN_BY_FFTW(a_lane_does_not_depend_on_its_neighbours);
    RUN(test_results_may_be_where_x_is_by_our_kernels);
    RUN_BY_FFTW(results_may_be_where_x_is);
    RUN(test_threads_transform_at_once_by_our_kernels);
    RUN_BY_FFTW(threads_transform_at_once);
    RUN(test_empty_tensors_have_empty_spectra);
    RUN(test_a_scalar_over_no_axes_is_itself);
    RUN(test_bad_arguments_are_refused_in_words);
    RUN(test_without_libraries_of_others_the_kernels_are_our_own);
    return TEST_END();
}

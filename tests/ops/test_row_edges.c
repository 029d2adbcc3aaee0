/* test_row_edges.c - attention, Fourier transforms, sorting and quantisation of rows of every length, with
 * results and operands at pages that nobody may touch.
 *
 * Every result lies at a guard, or has watched gaps between its rows. It is compared with plain loops, and
 * its bits with those that other numbers of threads give. */
#if defined(__unix__) || defined(__APPLE__)
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <math.h>

#define TEST_OWN_MAIN
#include "guarded.h"

enum { MOST_NDIM = 3 };

/* (a, b, c) with `gap` more elements in each row. */
static guarded rows_make(int zone, bool high, tsr_dtype dtype, int64_t a, int64_t b, int64_t c, int64_t gap)
{
    return guarded_make(zone, high, dtype, MOST_NDIM, (const int64_t[]){ a, b, c },
                        (const int64_t[]){ b * (c + gap), c + gap, 1 });
}

static double number_at(const tsr_tensor *t, int64_t place)
{
    return (double)value_load(t->dtype, element_at(t, place)).re;
}

/* Numbers between -1 and 1 as the dtype holds them. */
static numbers fill_reals(const guarded *g, uint64_t *random)
{
    const int64_t n = tsr_numel(g->t);
    const bool complex = tsr_dtype_kind(g->t->dtype) == TSR_COMPLEX;
    numbers x = numbers_make(n);
    guarded_fill(g, 0xff);
    for (int64_t i = 0; i < n; i++) {
        value v = { 0, (long double)test_below(random, 4097) / 2048 - 1, 0 };
        if (complex) v.im = (long double)test_below(random, 4097) / 2048 - 1;
        value_store(g->t->dtype, element_at(g->t, i), v);
        v = value_load(g->t->dtype, element_at(g->t, i));
        x.re[i] = (double)v.re;
        x.im[i] = (double)v.im;
    }
    return x;
}

static double epsilon_of(tsr_dtype dtype)
{
    switch (dtype) {
    case TSR_F64:
    case TSR_C128: return 0x1p-52;
    case TSR_F32:
    case TSR_C64: return 0x1p-23;
    case TSR_F16: return 0x1p-10;
    default: return 0x1p-7;
    }
}

/* Elements whose error exceeds the bound. */
static int64_t count_beyond(const char *packed, tsr_dtype dtype, const numbers *want, int64_t n, double bound)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < n; i++) {
        const value v = value_load(dtype, packed + i * (int64_t)tsr_dtype_size(dtype));
        wrong += !(fabs((double)v.re - want->re[i]) <= bound && fabs((double)v.im - want->im[i]) <= bound);
    }
    return wrong;
}

static int random_threads(uint64_t *random)
{
    static const int some[] = { 2, 3, 5, 8 };
    return some[test_below(random, 4)];
}

/* Runs a call on one thread and on some, with the result watched. The elements of the first run are left in
 * `packed`. */
#define RUN_GUARDED(packed, z, random, call) \
    do { \
        for (int run_ = 0; run_ < 2; run_++) { \
            EXPECT_OK(tsr_set_threads(run_ ? random_threads(random) : 1)); \
            guarded_fill(z, FILL); \
            EXPECT_OK(call); \
            char *got_ = guarded_elements(z); \
            EXPECT_MSG(guarded_is_untouched(z), "%s: wrote outside the result", case_name); \
            EXPECT_MSG(!run_ || memcmp(packed, got_, (size_t)tsr_byte_size((z)->t)) == 0, \
                       "%s: other bits with %d threads", case_name, tsr_threads()); \
            if (run_) \
                free(got_); \
            else \
                (packed) = got_; \
        } \
    } while (0)

/* Lengths where vectors and blocks end, and just before and behind. */
static int64_t random_length(uint64_t *random, int64_t most)
{
    static const int64_t units[] = { 1, 4, 8, 16, 32, 64 };
    const int64_t unit = units[test_below(random, 6)],
                  n = unit * (1 + test_below(random, most / unit)) + test_below(random, 3) - 1;
    return n < 1 ? 1 : n > most ? most : n;
}

/* Attention ------------------------------------------------------------------------ */

typedef struct looks {
    tsr_dtype dtype;
    int64_t heads, m, n, d, e, gap;
    bool causal, high;
} looks;

static void attend_plainly(numbers *z, const looks *s, const numbers *q, const numbers *k, const numbers *v)
{
    double *p = malloc((size_t)s->n * sizeof *p);
    for (int64_t row = 0; row < s->heads * s->m; row++) {
        const int64_t head = row / s->m, sees = s->causal ? row % s->m + s->n - s->m + 1 : s->n;
        double largest = -(double)INFINITY, sum = 0;
        for (int64_t j = 0; j < sees; j++) {
            p[j] = 0;
            for (int64_t c = 0; c < s->d; c++)
                p[j] += q->re[row * s->d + c] * k->re[(head * s->n + j) * s->d + c];
            p[j] /= sqrt((double)s->d);
            largest = p[j] > largest ? p[j] : largest;
        }
        for (int64_t j = 0; j < sees; j++) sum += p[j] = exp(p[j] - largest);
        for (int64_t c = 0; c < s->e; c++)
            for (int64_t j = 0; j < sees; j++)
                z->re[row * s->e + c] += p[j] / sum * v->re[(head * s->n + j) * s->e + c];
    }
    free(p);
}

static void check_attention(const looks *s, uint64_t *random)
{
    guarded z = rows_make(0, s->high, s->dtype, s->heads, s->m, s->e, s->gap),
            q = rows_make(1, !s->high, s->dtype, s->heads, s->m, s->d, s->gap),
            k = rows_make(2, s->high, s->dtype, s->heads, s->n, s->d, s->gap),
            v = rows_make(3, s->high, s->dtype, s->heads, s->n, s->e, s->gap);
    numbers qs = fill_reals(&q, random), ks = fill_reals(&k, random), vs = fill_reals(&v, random),
            want = numbers_make(s->heads * s->m * s->e);
    const tsr_attention_options how = { .causal = s->causal };
    char *packed = NULL;
    attend_plainly(&want, s, &qs, &ks, &vs);
    name_case("attention of %s: heads %lld, m %lld, n %lld, d %lld, e %lld, gap %lld, causal %d, %s end",
              tsr_dtype_name(s->dtype), (long long)s->heads, (long long)s->m, (long long)s->n,
              (long long)s->d, (long long)s->e, (long long)s->gap, s->causal, s->high ? "high" : "low");
    RUN_GUARDED(packed, &z, random, tsr_attention(&z.t, q.t, k.t, v.t, NULL, &how));
    const double bound = (s->dtype == TSR_F64 ? 0x1p-46 : 0x1p-17) + epsilon_of(s->dtype);
    const int64_t wrong = count_beyond(packed, s->dtype, &want, s->heads * s->m * s->e, bound);
    EXPECT_MSG(wrong == 0, "%s: %lld elements are wrong", case_name, (long long)wrong);
    free(packed);
    numbers_free(&qs);
    numbers_free(&ks);
    numbers_free(&vs);
    numbers_free(&want);
    tsr_release(&q.t);
    tsr_release(&k.t);
    tsr_release(&v.t);
    tsr_release(&z.t);
}

static void test_attention_stays_inside(void)
{
    static const tsr_dtype dtypes[] = { TSR_F32, TSR_F64, TSR_F16, TSR_BF16 };
    enum { WORK = 1 << 19 };
    uint64_t r = 1;
    for (int i = 0; i < 500;) {
        looks s = { dtypes[i % 4],
                    1 + test_below(&r, 4),
                    random_length(&r, 90),
                    random_length(&r, 150),
                    random_length(&r, 140),
                    random_length(&r, 140),
                    test_below(&r, 2) * (1 + test_below(&r, 9)),
                    test_below(&r, 2),
                    test_below(&r, 2) };
        if (test_below(&r, 4) == 0) s.m = 1;
        if (test_below(&r, 2)) s.e = s.d;
        if (s.causal && s.n < s.m) continue;
        if (s.heads * s.m * s.n * (s.d + s.e) > WORK) continue;
        check_attention(&s, &r);
        i++;
    }
}

/* Fourier transforms --------------------------------------------------------------- */

static void transform_plainly(numbers *z, const numbers *x, int64_t rows, int64_t n, int64_t kept)
{
    const double angle = 8 * atan(1.0) / (double)n;
    double *cosine = malloc((size_t)n * sizeof *cosine), *sine = malloc((size_t)n * sizeof *sine);
    for (int64_t i = 0; i < n; i++) cosine[i] = cos(angle * (double)i), sine[i] = -sin(angle * (double)i);
    for (int64_t i = 0; i < rows * kept; i++) {
        const double *re = x->re + i / kept * n, *im = x->im + i / kept * n;
        for (int64_t j = 0, at = 0; j < n; j++, at = (at + i % kept) % n) {
            z->re[i] += re[j] * cosine[at] - im[j] * sine[at];
            z->im[i] += re[j] * sine[at] + im[j] * cosine[at];
        }
    }
    free(cosine);
    free(sine);
}

/* (rows, n), in memory row by row or column by column. */
static guarded lines_make(int zone, bool high, tsr_dtype dtype, int64_t rows, int64_t n, int64_t gap,
                          bool transposed)
{
    const int64_t side = (transposed ? rows : n) + gap;
    return guarded_make(zone, high, dtype, 2, (const int64_t[]){ rows, n },
                        (const int64_t[]){ transposed ? 1 : side, transposed ? side : 1 });
}

static void check_fft(tsr_dtype dtype, int64_t rows, int64_t n, int64_t gap, bool transposed, bool high,
                      uint64_t *random)
{
    const bool real = tsr_dtype_kind(dtype) != TSR_COMPLEX, wide = dtype == TSR_F64 || dtype == TSR_C128;
    const int64_t kept = real ? n / 2 + 1 : n;
    guarded z = lines_make(0, high, wide ? TSR_C128 : TSR_C64, rows, kept, gap, transposed),
            x = lines_make(1, high, dtype, rows, n, gap, transposed);
    numbers xs = fill_reals(&x, random), want = numbers_make(rows * kept);
    char *packed = NULL;
    transform_plainly(&want, &xs, rows, n, kept);
    name_case("fft of %s: %lld rows of %lld, gap %lld, %s, %s end", tsr_dtype_name(dtype), (long long)rows,
              (long long)n, (long long)gap, transposed ? "columns" : "rows", high ? "high" : "low");
    if (real)
        RUN_GUARDED(packed, &z, random, tsr_rfft(&z.t, x.t, n, 1, TSR_FFT_BACKWARD));
    else
        RUN_GUARDED(packed, &z, random, tsr_fft(&z.t, x.t, n, 1, TSR_FFT_BACKWARD));
    const int64_t wrong = count_beyond(packed, z.t->dtype, &want, rows * kept,
                                       4 * epsilon_of(z.t->dtype) * (double)n + 1e-13 * (double)n);
    EXPECT_MSG(wrong == 0, "%s: %lld elements are wrong", case_name, (long long)wrong);
    free(packed);
    numbers_free(&xs);
    numbers_free(&want);
    tsr_release(&x.t);
    tsr_release(&z.t);
}

static void test_transforms_stay_inside(void)
{
    static const tsr_dtype dtypes[] = { TSR_C64, TSR_C128, TSR_F32, TSR_F64 };
    uint64_t r = 2;
    for (int64_t n = 1; n <= 150; n++)
        for (int d = 0; d < 4; d++)
            check_fft(dtypes[d], 1 + test_below(&r, 20), n, test_below(&r, 2) * 3, test_below(&r, 2),
                      (n + d) % 2, &r);
    for (int i = 0; i < 60; i++)
        check_fft(dtypes[i % 4], 1 + test_below(&r, 5), 150 + test_below(&r, 450), test_below(&r, 2),
                  test_below(&r, 2), i / 4 % 2, &r);
}

/* Order ---------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool is_sorted_copy(const char *packed, tsr_dtype dtype, const double *want, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if ((double)value_load(dtype, packed + i * (int64_t)tsr_dtype_size(dtype)).re != want[i])
            return false;
    return true;
}

/* Does each index lead to the value that stands there? */
static bool are_indices_of(const char *indices, const guarded *x, int64_t row, const double *want, int64_t n)
{
    const int64_t wide = x->t->shape[1];
    for (int64_t i = 0; i < n; i++) {
        int64_t at;
        memcpy(&at, indices + i * (int64_t)sizeof at, sizeof at);
        if (at < 0 || at >= wide || number_at(x->t, row * wide + at) != want[i]) return false;
    }
    return true;
}

static void fill_order(const guarded *g, uint64_t *random)
{
    const int64_t n = tsr_numel(g->t);
    guarded_fill(g, 0xff);
    for (int64_t i = 0; i < n; i++) {
        const int64_t x = test_below(random, 100);
        value_store(g->t->dtype, element_at(g->t, i), (value){ (uint64_t)x, (long double)x, 0 });
    }
}

static void check_sort(tsr_dtype dtype, int64_t rows, int64_t n, int64_t gap, bool high, uint64_t *random)
{
    const int64_t size = (int64_t)tsr_dtype_size(dtype), top = 1 + test_below(random, n);
    guarded z = lines_make(0, high, dtype, rows, n, gap, false),
            x = lines_make(1, high, dtype, rows, n, gap, false),
            where = lines_make(2, high, TSR_I64, rows, n, gap, false),
            best = lines_make(3, high, dtype, rows, top, gap, false),
            best_at = lines_make(4, high, TSR_I64, rows, top, gap, false);
    char *sorted = NULL, *indices = NULL, *topmost = NULL;
    double *want = malloc((size_t)n * sizeof *want);
    fill_order(&x, random);
    name_case("sort of %s: %lld rows of %lld, top %lld, gap %lld, %s end", tsr_dtype_name(dtype),
              (long long)rows, (long long)n, (long long)top, (long long)gap, high ? "high" : "low");
    RUN_GUARDED(sorted, &z, random, tsr_sort(&z.t, x.t, 1, false));
    RUN_GUARDED(indices, &where, random, tsr_argsort(&where.t, x.t, 1, false));
    guarded_fill(&best_at, FILL);
    RUN_GUARDED(topmost, &best, random, tsr_topk(&best.t, &best_at.t, x.t, top, 1, false, true));
    EXPECT_MSG(guarded_is_untouched(&best_at), "%s: wrote outside the indices", case_name);
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t i = 0; i < n; i++) want[i] = number_at(x.t, row * n + i);
        qsort(want, (size_t)n, sizeof *want, compare);
        EXPECT_MSG(is_sorted_copy(sorted + row * n * size, dtype, want, n), "%s: row %lld", case_name,
                   (long long)row);
        EXPECT_MSG(is_sorted_copy(topmost + row * top * size, dtype, want, top), "%s: topk, row %lld",
                   case_name, (long long)row);
        EXPECT_MSG(are_indices_of(indices + row * n * 8, &x, row, want, n), "%s: argsort, row %lld",
                   case_name, (long long)row);
    }
    free(want);
    free(sorted);
    free(indices);
    free(topmost);
    tsr_release(&z.t);
    tsr_release(&x.t);
    tsr_release(&where.t);
    tsr_release(&best.t);
    tsr_release(&best_at.t);
}

static void test_sorted_rows_stay_inside(void)
{
    static const tsr_dtype dtypes[] = {
        TSR_F32, TSR_I32, TSR_F64, TSR_I64, TSR_U8, TSR_F16, TSR_U16, TSR_I8
    };
    uint64_t r = 3;
    for (int64_t n = 1; n <= 140; n++)
        check_sort(dtypes[test_below(&r, 8)], 1 + test_below(&r, 5), n, test_below(&r, 3), n % 2, &r);
    for (int i = 0; i < 8 * 12; i++)
        check_sort(dtypes[i % 8], 1 + test_below(&r, 3), 140 + random_length(&r, 2500), test_below(&r, 3),
                   i / 8 % 2, &r);
    for (int i = 0; i < 8; i++) check_sort(dtypes[i], 1, 20000 + test_below(&r, 50000), 0, i % 2, &r);
}

/* Quantisation --------------------------------------------------------------------- */

/* Numbers that are whole after the division. */
static void check_quantise(tsr_dtype dtype, int64_t rows, int64_t n, int64_t gap, bool high, uint64_t *random)
{
    const codes c = codes_of(dtype, random);
    guarded z = lines_make(0, high, TSR_I8, rows, n, gap, false),
            x = lines_make(1, high, dtype, rows, n, gap, false),
            back = lines_make(2, high, dtype, rows, n, gap, false);
    tsr_number half, three;
    numbers xs = guarded_random(&x, &c, random), want = numbers_make(rows * n);
    char *packed = NULL, *again = NULL;
    const tsr_tensor *scale = tsr_number_init(&half, tsr_scalar_f64(0.5)),
                     *zero = tsr_number_init(&three, tsr_scalar_i64(3));
    tsr_tensor *scale_32 = NULL, *zero_8 = NULL;
    EXPECT_OK(tsr_cast(&scale_32, scale, TSR_F32));
    EXPECT_OK(tsr_cast(&zero_8, zero, TSR_I8));
    for (int64_t i = 0; i < rows * n; i++) want.u[i] = (uint64_t)(int64_t)(2 * xs.re[i] + 3);
    name_case("quantise of %s: %lld rows of %lld, gap %lld, %s end", tsr_dtype_name(dtype), (long long)rows,
              (long long)n, (long long)gap, high ? "high" : "low");
    RUN_GUARDED(packed, &z, random, tsr_quantise(&z.t, x.t, scale_32, zero_8, TSR_ALL_AXES, TSR_I8));
    const int64_t wrong = count_wrong(packed, TSR_I8, &want, rows * n);
    EXPECT_MSG(wrong == 0, "%s: %lld elements are wrong", case_name, (long long)wrong);
    guarded_fill(&z, 0x7f);
    for (int64_t i = 0; i < rows * n; i++) *element_at(z.t, i) = packed[i];
    RUN_GUARDED(again, &back, random, tsr_dequantise(&back.t, z.t, scale_32, zero_8, TSR_ALL_AXES, dtype));
    const int64_t other = count_wrong(again, dtype, &xs, rows * n);
    EXPECT_MSG(other == 0, "%s: %lld elements do not come back", case_name, (long long)other);
    free(packed);
    free(again);
    numbers_free(&xs);
    numbers_free(&want);
    tsr_release(&scale_32);
    tsr_release(&zero_8);
    tsr_release(&x.t);
    tsr_release(&z.t);
    tsr_release(&back.t);
}

static void test_quantised_rows_stay_inside(void)
{
    static const tsr_dtype dtypes[] = { TSR_F32, TSR_F64, TSR_F16, TSR_BF16 };
    uint64_t r = 4;
    for (int64_t n = 1; n <= 100; n++)
        check_quantise(dtypes[test_below(&r, 4)], 1 + test_below(&r, 5), n, test_below(&r, 3), n % 2, &r);
    for (int i = 0; i < 12; i++)
        check_quantise(dtypes[i % 4], 1 + i, 10000 + test_below(&r, 3000), i % 3, i / 4 % 2, &r);
}

int main(int argc, char **argv)
{
    TEST_BEGIN(argc, argv);
    if (!guard_zones()) {
        printf("no memory between guards\n");
        return 1;
    }
    RUN(test_attention_stays_inside);
    RUN(test_transforms_stay_inside);
    RUN(test_sorted_rows_stay_inside);
    RUN(test_quantised_rows_stay_inside);
    tsr_set_executor(NULL, NULL);
    return TEST_END();
}
#else
#include "test.h"
int main(void) { return 0; }
#endif

/* test_sampling.c - random integers, choices and orders: the mapping from seed and index read
 * off its description, statistics with fixed seeds, and the promise that nothing else decides.
 *
 * A chi-squared statistic with k degrees of freedom has mean k and variance 2 k; bounds are
 * five deviations up. Seeds are fixed: a test passes or it does not.
 */
#include <math.h>

#include "ops/dispatch.h"
#include "test.h"

enum { MANY = 200000 };

/* Element `place` of a packed tensor. */
static tsr_scalar scalar_at(const tsr_tensor *t, int64_t place)
{
    tsr_scalar s = { .dtype = TSR_DTYPE_INVALID };
    EXPECT_OK(tsr_scalar_load(&s, t->dtype, (char *)t->data + place * (int64_t)tsr_dtype_size(t->dtype)));
    return s;
}

static int64_t integer_at(const tsr_tensor *t, int64_t i) { return tsr_scalar_to_i64(scalar_at(t, i)); }
static double number_at(const tsr_tensor *t, int64_t i) { return tsr_scalar_to_f64(scalar_at(t, i)); }

static void set(const tsr_tensor *t, int64_t place, double x)
{
    char *at = (char *)t->data + place * (int64_t)tsr_dtype_size(t->dtype);
    EXPECT_OK(tsr_scalar_store(at, t->dtype, tsr_scalar_f64(x)));
}

/* The statistic of counts against expectations. */
static double chi_squared(int n, const int64_t *counts, const double *expected)
{
    double chi = 0;
    for (int i = 0; i < n; i++)
        chi += ((double)counts[i] - expected[i]) * ((double)counts[i] - expected[i]) / expected[i];
    return chi;
}

static double bound(int degrees) { return degrees + 5 * sqrt(2.0 * degrees); }

/* Integers ---------------------------------------------------------------------------------- */

/* Number i below r, by the description in core/random_integers.h. */
static uint64_t integer_for(uint64_t seed, uint64_t i, uint64_t r)
{
    for (uint32_t attempt = 0;; attempt++) {
        uint32_t w[4];
        const uint64_t each = r <= 1ull << 32 ? 4 : 2;
        tsr_philox(w, (const uint32_t[]){ (uint32_t)(i / each), (uint32_t)(i / each >> 32), 2, attempt },
                   (const uint32_t[]){ (uint32_t)seed, (uint32_t)(seed >> 32) });
        if (each == 4) {
            const uint64_t product = w[i % 4] * r;
            if ((product & 0xffffffffu) >= ((1ull << 32) - r) % r) return product >> 32;
        } else {
            const uint64_t bits = (uint64_t)w[i % 2 * 2 + 1] << 32 | w[i % 2 * 2];
            if (bits >= (UINT64_MAX - r + 1) % r) return bits % r;
        }
    }
}

TEST(test_integers_follow_their_description)
{
    static const int64_t ranges[][2] = {
        { 0, 1 },
        { 0, 2 },
        { -3, 4 },
        { 0, 100 },
        { -128, 128 },
        { 0, 1ll << 31 },
        { -5, (1ll << 31) + 7 },
        { 0, 3221225472ll },
        { 0, 1ll << 32 },
        { 0, (1ll << 32) + 1 },
        { -1, 3ll << 40 },
        { INT64_MIN, INT64_MAX },
        { INT64_MIN, 0 },
        { -(1ll << 62), (1ll << 62) + 9 },
    };
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
        for (uint64_t seed = 1; seed < 1ull << 60; seed *= 0x123456789abull) {
            const int64_t low = ranges[r][0], high = ranges[r][1];
            tsr_tensor *t = NULL;
            EXPECT_OK(tsr_integers(&t, TSR_I64, TSR_SHAPE(501), low, high, seed));
            for (int64_t i = 0; t && i < 501; i++) {
                const int64_t want =
                    (int64_t)((uint64_t)low + integer_for(seed, (uint64_t)i, (uint64_t)high - (uint64_t)low));
                EXPECT_MSG(integer_at(t, i) == want && want >= low && want < high, "%lld: %lld, not %lld",
                           (long long)i, (long long)integer_at(t, i), (long long)want);
            }
            tsr_release(&t);
        }
}

TEST(test_integers_are_the_same_in_every_dtype)
{
    for (int d = TSR_I8; d <= TSR_U64; d++) {
        tsr_tensor *want = NULL, *z = NULL;
        EXPECT_OK(tsr_integers(&want, TSR_I64, TSR_SHAPE(10000), 0, 100, 5));
        EXPECT_OK(tsr_integers(&z, (tsr_dtype)d, TSR_SHAPE(10000), 0, 100, 5));
        for (int64_t k = 0; z && want && k < 10000; k++)
            EXPECT_MSG(integer_at(z, k) == integer_at(want, k), "%s at %lld", tsr_dtype_name((tsr_dtype)d),
                       (long long)k);
        tsr_release_all(&want, &z);
    }
}

TEST(test_integers_are_equally_likely)
{
    static const int64_t ranges[] = { 2, 3, 7, 10, 64, 100, 255 };
    for (int r = 0; r < 7; r++) {
        const int n = (int)ranges[r];
        int64_t counts[256] = { 0 }, pairs[256] = { 0 };
        double expected[256];
        tsr_tensor *t = NULL;
        EXPECT_OK(tsr_integers(&t, TSR_I16, TSR_SHAPE(MANY), -50, n - 50, 77));
        for (int64_t i = 0; t && i < MANY; i++) {
            counts[integer_at(t, i) + 50]++;
            if (i % 2 && n <= 10) pairs[(integer_at(t, i) + 50) * n + integer_at(t, i - 1) + 50]++;
        }
        for (int i = 0; i < n; i++) expected[i] = (double)MANY / n;
        EXPECT_MSG(chi_squared(n, counts, expected) < bound(n - 1), "%d: %g", n,
                   chi_squared(n, counts, expected));
        for (int i = 0; i < 100; i++) expected[i] = (double)MANY / 2 / n / n;
        if (n <= 10) EXPECT_MSG(chi_squared(n * n, pairs, expected) < bound(n * n - 1), "pairs of %d", n);
        tsr_release(&t);
    }
}

/* Ranges of 3/4 of 2^32 and 2^64: remainders without rejection would make the lower third twice as likely. */
TEST(test_wide_ranges_are_not_biased)
{
    static const int64_t highs[] = { 3221225472ll, 0x5fffffffffffffffll };
    for (int w = 0; w < 2; w++) {
        const int64_t low = w ? INT64_MIN / 2 - 0x1fffffffffffffffll : 0, high = highs[w];
        const double width = (double)((uint64_t)high - (uint64_t)low);
        int64_t counts[12] = { 0 };
        double expected[12];
        tsr_tensor *t = NULL;
        EXPECT_OK(tsr_integers(&t, TSR_I64, TSR_SHAPE(MANY), low, high, 3));
        for (int64_t i = 0; t && i < MANY; i++) {
            const int bin = (int)((double)((uint64_t)integer_at(t, i) - (uint64_t)low) / width * 12);
            counts[bin > 11 ? 11 : bin]++;
        }
        for (int i = 0; i < 12; i++) expected[i] = MANY / 12.0;
        EXPECT_MSG(chi_squared(12, counts, expected) < bound(11), "%g", chi_squared(12, counts, expected));
        tsr_release(&t);
    }
}

/* Numbers -------------------------------------------------------------------------------------- */

TEST(test_exponential_follows_its_description)
{
    tsr_tensor *f = NULL, *d = NULL, *h = NULL;
    EXPECT_OK(tsr_exponential(&f, TSR_F32, TSR_SHAPE(403), 2.5, 77));
    EXPECT_OK(tsr_exponential(&d, TSR_F64, TSR_SHAPE(403), 2.5, 77));
    EXPECT_OK(tsr_exponential(&h, TSR_F16, TSR_SHAPE(403), 2.5, 77));
    for (uint32_t i = 0; f && d && h && i < 403; i++) {
        uint32_t w[4];
        tsr_philox(w, (uint32_t[]){ i / 4, 0, 3, 0 }, (uint32_t[]){ 77, 0 });
        const double short_e = -log((w[i % 4] + 0.5) / 4294967296.0) / 2.5;
        tsr_philox(w, (uint32_t[]){ i / 2, 0, 3, 0 }, (uint32_t[]){ 77, 0 });
        const uint64_t bits = (uint64_t)w[i % 2 * 2 + 1] << 32 | w[i % 2 * 2];
        const double e = -log(((double)(bits >> 11) + 0.5) / 9007199254740992.0) / 2.5;
        EXPECT_MSG(fabs(number_at(f, i) - short_e) <= 1e-6 * short_e + 1e-7, "%g, not %g", number_at(f, i),
                   short_e);
        EXPECT_MSG(fabs(number_at(d, i) - e) <= 1e-14 * e + 1e-15, "%g, not %g", number_at(d, i), e);
        EXPECT(fabs(number_at(h, i) - short_e) <= 1e-3 * short_e + 1e-7);
    }
    tsr_release_all(&h, &d, &f);
}

TEST(test_exponential_has_its_distribution)
{
    int64_t counts[20] = { 0 };
    double expected[20];
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_exponential(&t, TSR_F64, TSR_SHAPE(MANY), 0.5, 4));
    for (int64_t i = 0; t && i < MANY; i++) counts[(int)((1 - exp(-0.5 * number_at(t, i))) * 20)]++;
    for (int i = 0; i < 20; i++) expected[i] = MANY / 20.0;
    EXPECT(chi_squared(20, counts, expected) < bound(19));
    tsr_release(&t);
}

/* Order ---------------------------------------------------------------------------------------------- */

/* All 24 orders of four, over seeds. */
TEST(test_permutations_are_equally_likely)
{
    int64_t counts[256] = { 0 }, found[24];
    double expected[24];
    int n = 0;
    for (uint64_t seed = 0; seed < 24000; seed++) {
        tsr_tensor *t = NULL;
        EXPECT_OK(tsr_permutation(&t, 4, seed));
        if (t)
            counts[integer_at(t, 0) << 6 | integer_at(t, 1) << 4 | integer_at(t, 2) << 2 |
                   integer_at(t, 3)]++;
        tsr_release(&t);
    }
    for (int i = 0; i < 256; i++)
        if (counts[i]) {
            EXPECT(n < 24);
            if (n < 24) found[n++] = counts[i];
        }
    EXPECT(n == 24);
    for (int i = 0; i < 24; i++) expected[i] = 1000;
    EXPECT_MSG(chi_squared(24, found, expected) < bound(23), "%g", chi_squared(24, found, expected));
}

/* By weight -------------------------------------------------------------------------------------------- */

TEST(test_multinomial_draws_by_weight)
{
    static const double weights[] = { 0, 1, 2, 0, 3, 0.5, 0 };
    int64_t counts[7] = { 0 };
    double expected[4];
    tsr_tensor *w = NULL, *z = NULL;
    EXPECT_OK(tsr_empty(&w, TSR_F32, TSR_SHAPE(7)));
    for (int i = 0; w && i < 7; i++) set(w, i, weights[i] * 1e30);
    EXPECT_OK(tsr_multinomial(&z, w, MANY, true, 21));
    for (int64_t i = 0; z && i < MANY; i++) counts[integer_at(z, i)]++;
    EXPECT(counts[0] == 0 && counts[3] == 0 && counts[6] == 0);
    const int64_t found[] = { counts[1], counts[2], counts[4], counts[5] };
    for (int i = 0; i < 4; i++) expected[i] = MANY / 6.5 * (double[]){ 1, 2, 3, 0.5 }[i];
    EXPECT_MSG(chi_squared(4, found, expected) < bound(3), "%g", chi_squared(4, found, expected));
    tsr_release_all(&z, &w);
}

/* Index i is drawn first with probability w[i], and j after it with w[j] / (1 - w[i]). */
TEST(test_multinomial_without_replacement_draws_one_after_the_other)
{
    enum { ROWS = 60000 };
    static const double weights[] = { 0.5, 0.2, 0.2, 0.1 };
    int64_t counts[16] = { 0 }, found[12];
    double expected[12];
    int n = 0;
    tsr_tensor *w = NULL, *rows = NULL, *z = NULL;
    EXPECT_OK(tsr_from_data(&w, TSR_F64, TSR_SHAPE(4), weights));
    EXPECT_OK(tsr_expand(&rows, w, TSR_SHAPE(ROWS, 4)));
    EXPECT_OK(tsr_multinomial(&z, rows, 2, false, 5));
    for (int64_t i = 0; z && i < ROWS; i++) counts[integer_at(z, 2 * i) * 4 + integer_at(z, 2 * i + 1)]++;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            if (i == j) {
                EXPECT(counts[i * 4 + j] == 0);
                continue;
            }
            found[n] = counts[i * 4 + j];
            expected[n++] = ROWS * weights[i] * weights[j] / (1 - weights[i]);
        }
    EXPECT_MSG(chi_squared(12, found, expected) < bound(11), "%g", chi_squared(12, found, expected));
    tsr_release_all(&z, &rows, &w);
}

/* What has no weight is never drawn, and what has hardly any is drawn as often as its like. */
TEST(test_multinomial_tells_tiny_weights_from_none)
{
    static const double weights[] = { 0, 0x1p-1060, 1, 0x1p-1060, 0 };
    int counts[5] = { 0 };
    tsr_tensor *w = NULL, *z = NULL;
    EXPECT_OK(tsr_from_data(&w, TSR_F64, TSR_SHAPE(5), weights));
    for (uint64_t seed = 0; seed < 100; seed++) {
        EXPECT_OK(tsr_multinomial(&z, w, 2, false, seed));
        EXPECT(z && integer_at(z, 0) == 2);
        counts[z ? integer_at(z, 1) : 0]++;
        tsr_release(&z);
    }
    EXPECT_MSG(counts[1] > 20 && counts[3] > 20 && counts[1] + counts[3] == 100, "%d %d", counts[1],
               counts[3]);
    tsr_release(&w);
}

TEST(test_bad_weights_are_refused_in_words)
{
    tsr_tensor *w = NULL, *z = NULL;
    EXPECT_OK(tsr_ones(&w, TSR_F32, TSR_SHAPE(2, 3, 4)));
    if (!w) return;
    set(w, 17, -1);
    EXPECT_FAILS(tsr_multinomial(&z, w, 2, true, 1), TSR_EINVAL,
                 "multinomial: row (1, 1) of weights has a negative weight");
    set(w, 17, NAN);
    EXPECT_FAILS(tsr_multinomial(&z, w, 2, true, 1), TSR_EINVAL,
                 "row (1, 1) of weights has a weight that is infinite or NaN");
    set(w, 17, INFINITY);
    EXPECT_FAILS(tsr_multinomial(&z, w, 2, false, 1), TSR_EINVAL, "infinite or NaN");
    for (int64_t i = 0; i < 4; i++) set(w, 16 + i, 0);
    EXPECT_FAILS(tsr_multinomial(&z, w, 2, true, 1), TSR_EINVAL,
                 "row (1, 1) of weights has no weight above 0");
    set(w, 17, 3);
    EXPECT_FAILS(tsr_multinomial(&z, w, 2, false, 1), TSR_EINVAL,
                 "row (1, 1) of weights has fewer weights above 0");
    EXPECT_OK(tsr_multinomial(&z, w, 1, false, 1));
    EXPECT(z && integer_at(z, 4) == 1);
    tsr_release_all(&z, &w);
}

/* Logits ---------------------------------------------------------------------------------------------- */

TEST(test_sample_has_the_distribution_of_softmax)
{
    static const double logits[] = { 0.5, -1, 2, 0, 1 };
    int64_t counts[5] = { 0 };
    double expected[5], sum = 0;
    tsr_tensor *x = NULL, *rows = NULL, *z = NULL;
    EXPECT_OK(tsr_from_data(&x, TSR_F64, TSR_SHAPE(5), logits));
    EXPECT_OK(tsr_expand(&rows, x, TSR_SHAPE(MANY, 5)));
    EXPECT_OK(tsr_sample(&z, rows, 0.8, 0, 1, 31));
    for (int64_t i = 0; z && i < MANY; i++) counts[integer_at(z, i)]++;
    for (int i = 0; i < 5; i++) sum += expected[i] = exp(logits[i] / 0.8);
    for (int i = 0; i < 5; i++) expected[i] *= MANY / sum;
    EXPECT_MSG(chi_squared(5, counts, expected) < bound(4), "%g", chi_squared(5, counts, expected));
    tsr_release(&z);
    EXPECT_OK(tsr_sample(&z, rows, 1, 2, 1, 31));  /* of the best two only */
    for (int64_t i = 0; z && i < MANY; i++) EXPECT(integer_at(z, i) == 2 || integer_at(z, i) == 4);
    tsr_release(&z);
    EXPECT_OK(tsr_sample(&z, rows, 1, 0, 0.5, 31));  /* exp(2) is more than half of all */
    for (int64_t i = 0; z && i < MANY; i++) EXPECT(integer_at(z, i) == 2);
    tsr_release_all(&z, &rows, &x);
}

TEST(test_sample_of_a_vector_is_a_scalar)
{
    tsr_tensor *x = NULL, *z = NULL;
    EXPECT_OK(tsr_zeros(&x, TSR_F16, TSR_SHAPE(100)));
    EXPECT_OK(tsr_sample_with(&z, x, 1, 0, 1, 0.505));
    EXPECT(z && z->ndim == 0 && integer_at(z, 0) == 50);
    EXPECT_OK(tsr_sample_with(&z, x, 1, 0, 1, 0));
    EXPECT(z && integer_at(z, 0) == 0);
    EXPECT_OK(tsr_sample(&z, x, 0, 0, 1, 7));  /* the first of equals */
    EXPECT(z && integer_at(z, 0) == 0);
    tsr_release_all(&z, &x);
}

TEST(test_logits_that_cannot_be_sampled_are_refused_in_words)
{
    tsr_tensor *x = NULL, *z = NULL;
    EXPECT_OK(tsr_full(&x, TSR_F32, TSR_SHAPE(3, 4), TSR_SCALAR(1)));
    if (!x) return;
    set(x, 6, NAN);
    EXPECT_FAILS(tsr_sample(&z, x, 1, 0, 1, 1), TSR_EINVAL, "sample: row (1) of logits has a NaN");
    EXPECT_FAILS(tsr_sample_with(&z, x, 0, 0, 1, 0.5), TSR_EINVAL,
                 "sample_with: row (1) of logits has a NaN");
    set(x, 6, INFINITY);
    EXPECT_FAILS(tsr_sample(&z, x, 1, 0, 1, 1), TSR_EINVAL, "row (1) of logits has an infinity");
    set(x, 6, 0);
    for (int64_t i = 8; i < 12; i++) set(x, i, -INFINITY);
    EXPECT_FAILS(tsr_sample(&z, x, 1, 0, 1, 1), TSR_EINVAL, "row (2) of logits is all -infinity");
    set(x, 10, -5);
    EXPECT_OK(tsr_sample(&z, x, 1, 0, 1, 1));
    EXPECT(z && integer_at(z, 2) == 2);
    tsr_release_all(&z, &x);
}

/* Bad input ---------------------------------------------------------------------------------------------- */

TEST(test_bad_arguments_of_numbers_are_refused_in_words)
{
    tsr_tensor *z = NULL, *b = NULL, *f = NULL;
    const int64_t negative[] = { -1 };
    EXPECT_OK(tsr_zeros(&b, TSR_BOOL, TSR_SHAPE(3)));
    EXPECT_OK(tsr_zeros(&f, TSR_F32, TSR_SHAPE(3)));
    EXPECT_FAILS(tsr_integers(&z, TSR_F32, TSR_SHAPE(3), 0, 9, 1), TSR_EDTYPE, "integers: dtype is f32");
    EXPECT_FAILS(tsr_integers(&z, TSR_BOOL, TSR_SHAPE(3), 0, 2, 1), TSR_EDTYPE, "integers: dtype is bool");
    EXPECT_FAILS(tsr_integers(&z, TSR_I8, 1, NULL, 0, 9, 1), TSR_ENULL, "integers: shape is NULL");
    EXPECT_FAILS(tsr_integers(&z, TSR_I8, 1, negative, 0, 9, 1), TSR_ESHAPE, "integers");
    EXPECT_FAILS(tsr_integers(&z, TSR_I8, TSR_SHAPE(3), 9, 9, 1), TSR_EINVAL, "low is 9, not below high");
    EXPECT_FAILS(tsr_integers(&z, TSR_I8, TSR_SHAPE(3), 0, 129, 1), TSR_EINVAL, "[0, 129) does not fit i8");
    EXPECT_FAILS(tsr_integers(&z, TSR_I16, TSR_SHAPE(3), -32769, 0, 1), TSR_EINVAL, "does not fit i16");
    EXPECT_FAILS(tsr_integers(&z, TSR_U64, TSR_SHAPE(3), -1, 9, 1), TSR_EINVAL, "does not fit u64");
    EXPECT_FAILS(tsr_integers(&z, TSR_U32, TSR_SHAPE(3), 0, (1ll << 32) + 1, 1), TSR_EINVAL,
                 "does not fit u32");
    EXPECT_FAILS(tsr_integers(&f, TSR_I8, TSR_SHAPE(3), 0, 9, 1), TSR_EDTYPE, "integers: the result is i8");
    EXPECT_FAILS(tsr_normal(&z, TSR_C64, TSR_SHAPE(3), 0, 1, 1), TSR_EDTYPE, "normal: dtype is c64");
    EXPECT_FAILS(tsr_normal(&z, TSR_F32, TSR_SHAPE(3), NAN, 1, 1), TSR_EINVAL, "mean is nan");
    EXPECT_FAILS(tsr_normal(&z, TSR_F32, TSR_SHAPE(3), 0, -1, 1), TSR_EINVAL, "deviation is -1");
    EXPECT_FAILS(tsr_normal(&b, TSR_F32, TSR_SHAPE(3), 0, 1, 1), TSR_EDTYPE, "normal: the result is f32");
    EXPECT_FAILS(tsr_exponential(&z, TSR_I32, TSR_SHAPE(3), 1, 1), TSR_EDTYPE, "exponential: dtype is i32");
    EXPECT_FAILS(tsr_exponential(&z, TSR_F32, TSR_SHAPE(3), 0, 1), TSR_EINVAL, "rate is 0");
    EXPECT_FAILS(tsr_exponential(&z, TSR_F32, TSR_SHAPE(3), INFINITY, 1), TSR_EINVAL, "rate is inf");
    EXPECT_FAILS(tsr_bernoulli(&z, 1, NULL, 0.5, 1), TSR_ENULL, "bernoulli: shape is NULL");
    EXPECT_FAILS(tsr_bernoulli(&z, TSR_SHAPE(3), 1.5, 1), TSR_EINVAL, "p is 1.5");
    EXPECT_FAILS(tsr_bernoulli(&z, TSR_SHAPE(3), NAN, 1), TSR_EINVAL, "p is nan");
    EXPECT_FAILS(tsr_bernoulli(&f, TSR_SHAPE(3), 0.5, 1), TSR_EDTYPE, "bernoulli: the result is bool");
    EXPECT_FAILS(tsr_bernoulli_each(&z, b, 1), TSR_EDTYPE, "bernoulli_each: p: dtype must be");
    EXPECT(z == NULL);
    tsr_release_all(&f, &b);
}

TEST(test_bad_arguments_of_choices_are_refused_in_words)
{
    tsr_tensor *z = NULL, *f = NULL, *i = NULL, *scalar = NULL, *empty = NULL;
    EXPECT_OK(tsr_ones(&f, TSR_F32, TSR_SHAPE(2, 3)));
    EXPECT_OK(tsr_ones(&i, TSR_I64, TSR_SHAPE(2, 3)));
    EXPECT_OK(tsr_ones(&scalar, TSR_F32, TSR_SCALAR_SHAPE));
    EXPECT_OK(tsr_ones(&empty, TSR_F32, TSR_SHAPE(2, 0)));
    EXPECT_FAILS(tsr_permutation(&z, -1, 1), TSR_EINVAL, "n is -1");
    EXPECT_FAILS(tsr_permutation(&i, 3, 1), TSR_ESHAPE, "permutation: the result is i64(3");
    EXPECT_FAILS(tsr_shuffle(&z, f, 2, 1), TSR_EINDEX, "shuffle: axis 2 of f32(2, 3");
    EXPECT_FAILS(tsr_shuffle(&z, scalar, 0, 1), TSR_EINDEX, "shuffle: axis 0");
    EXPECT_FAILS(tsr_shuffle(&i, f, 0, 1), TSR_EDTYPE, "shuffle: the result is f32");
    EXPECT_FAILS(tsr_multinomial(&z, i, 1, true, 1), TSR_EDTYPE, "multinomial: weights: dtype must be");
    EXPECT_FAILS(tsr_multinomial(&z, scalar, 1, true, 1), TSR_ESHAPE, "a dim to choose along");
    EXPECT_FAILS(tsr_multinomial(&z, empty, 1, true, 1), TSR_ESHAPE, "nothing to choose from");
    EXPECT_FAILS(tsr_multinomial(&z, f, -1, true, 1), TSR_EINVAL, "samples is -1");
    EXPECT_FAILS(tsr_multinomial(&z, f, 4, false, 1), TSR_EINVAL,
                 "4 samples without replacement of f32(2, 3");
    EXPECT_FAILS(tsr_multinomial(&i, f, 2, false, 1), TSR_ESHAPE, "multinomial: the result is i64(2, 2");
    EXPECT_FAILS(tsr_sample(&z, i, 1, 0, 1, 1), TSR_EDTYPE, "sample: logits: dtype must be floating");
    EXPECT_FAILS(tsr_sample(&z, scalar, 1, 0, 1, 1), TSR_ESHAPE, "a dim to choose along");
    EXPECT_FAILS(tsr_sample(&z, empty, 1, 0, 1, 1), TSR_ESHAPE, "nothing to choose from");
    EXPECT_FAILS(tsr_sample(&z, f, -1, 0, 1, 1), TSR_EINVAL, "temperature is -1");
    EXPECT_FAILS(tsr_sample(&z, f, NAN, 0, 1, 1), TSR_EINVAL, "temperature is nan");
    EXPECT_FAILS(tsr_sample(&z, f, 1, -2, 1, 1), TSR_EINVAL, "top_k is -2");
    EXPECT_FAILS(tsr_sample(&z, f, 1, 0, 1.5, 1), TSR_EINVAL, "top_p is 1.5");
    EXPECT_FAILS(tsr_sample_with(&z, f, 1, 0, 1, 1), TSR_EINVAL, "random is 1");
    EXPECT_FAILS(tsr_sample_with(&z, f, 1, 0, 1, NAN), TSR_EINVAL, "random is nan");
    EXPECT_FAILS(tsr_sample_with(&i, f, 1, 0, 1, 0), TSR_ESHAPE, "sample_with: the result is i64(2");
    EXPECT(z == NULL);
    tsr_release_all(&empty, &scalar, &i, &f);
}

TEST(test_nothing_gives_nothing)
{
    tsr_tensor *none = NULL, *z = NULL, *f = NULL;
    EXPECT_OK(tsr_zeros(&none, TSR_F32, TSR_SHAPE(0, 4)));
    EXPECT_OK(tsr_ones(&f, TSR_F32, TSR_SHAPE(2, 4)));
    EXPECT_OK(tsr_sample(&z, none, 1, 0, 1, 1));
    EXPECT(z && z->ndim == 1 && tsr_numel(z) == 0);
    tsr_release(&z);
    EXPECT_OK(tsr_multinomial(&z, none, 3, true, 1));
    EXPECT(z && z->ndim == 2 && tsr_numel(z) == 0);
    tsr_release(&z);
    EXPECT_OK(tsr_multinomial(&z, f, 0, false, 1));
    EXPECT(z && z->ndim == 2 && tsr_numel(z) == 0);
    tsr_release(&z);
    EXPECT_OK(tsr_bernoulli(&z, TSR_SHAPE(0, 3), 0.5, 1));
    tsr_release(&z);
    EXPECT_OK(tsr_integers(&z, TSR_U8, TSR_SCALAR_SHAPE, 5, 6, 1));
    EXPECT(z && integer_at(z, 0) == 5);
    tsr_release_all(&z, &f, &none);
}

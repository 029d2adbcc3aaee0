/* test_random.c - known answers, statistics, and the promise that seed and index
 * alone decide. */
#include "test.h"

#include "core/random_values.h"

enum { MANY = 1000000 };

static const tsr_dtype floats[] = { TSR_F8E4M3, TSR_F8E5M2, TSR_F16, TSR_BF16, TSR_F32, TSR_F64 };
enum { FLOATS = sizeof floats / sizeof *floats };

static double value_at(const tsr_tensor *t, int64_t i)
{
    tsr_scalar s = tsr_scalar_f64(0);
    EXPECT_OK(tsr_scalar_load(&s, t->dtype, (const char *)t->data + i * (int64_t)tsr_dtype_size(t->dtype)));
    return tsr_scalar_to_f64(s);
}

/* Known answers -------------------------------------------------------------- */

static void check_philox(const uint32_t counter[4], const uint32_t key[2], const uint32_t want[4])
{
    uint32_t got[4];
    tsr_philox(got, counter, key);
    EXPECT_MSG(!memcmp(got, want, sizeof got), "%08x %08x %08x %08x", got[0], got[1], got[2], got[3]);
}

/* From the Random123 distribution, kat_vectors. */
TEST(test_philox_gives_the_published_words)
{
    check_philox((uint32_t[]){ 0, 0, 0, 0 }, (uint32_t[]){ 0, 0 },
                 (uint32_t[]){ 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 });
    check_philox((uint32_t[]){ 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff },
                 (uint32_t[]){ 0xffffffff, 0xffffffff },
                 (uint32_t[]){ 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd });
    check_philox((uint32_t[]){ 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
                 (uint32_t[]){ 0xa4093822, 0x299f31d0 },
                 (uint32_t[]){ 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 });
}

TEST(test_philox_leaves_null_alone)
{
    uint32_t words[4] = { 1, 2, 3, 4 };
    tsr_philox(NULL, words, words);
    tsr_philox(words, NULL, words);
    tsr_philox(words, words, NULL);
    EXPECT(words[0] == 1 && words[3] == 4);
}

/* The bits of the first values, the same on every machine. */
TEST(test_random_values_have_known_bits)
{
    static const uint32_t uniform_f32[] = {
        0x3ee14088u, 0x3f0b1960u, 0xbf56b0c0u, 0xbd2f6020u, 0x3eb72850u, 0xbeb707ccu
    };
    static const uint64_t uniform_f64[] = {
        0x3fe1632c12ee1408u, 0xbfa5ec001bad6180u, 0xbfd6e0f93d291af8u,
        0x3fd94ced1fb2a008u, 0x3f91e65a07be7140u, 0xbfe95c06526c0408u
    };
    static const uint32_t normal_f32[] = {
        0xbe3a5662u, 0x3dc670d7u, 0x3fa8de29u, 0x3e39b901u, 0xbea5e167u, 0xbdf8db12u
    };
    static const uint64_t normal_f64[] = {
        0x3ff4d15ee4fdffddu, 0x3fc6e54cfe3257bdu, 0x3fd87848cfb422fdu,
        0x3ff03079616cc594u, 0x3ff7a7b2250f3ac8u, 0xbfb6510aa780fcc3u
    };
    const uint64_t seed = 0x0123456789abcdefu;
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_uniform(&t, TSR_F32, TSR_SHAPE(6), -1, 1, seed));
    EXPECT(!memcmp(t->data, uniform_f32, sizeof uniform_f32));
    tsr_release(&t);
    EXPECT_OK(tsr_uniform(&t, TSR_F64, TSR_SHAPE(6), -1, 1, seed));
    EXPECT(!memcmp(t->data, uniform_f64, sizeof uniform_f64));
    tsr_release(&t);
    EXPECT_OK(tsr_randn(&t, TSR_F32, TSR_SHAPE(6), seed));
    EXPECT(!memcmp(t->data, normal_f32, sizeof normal_f32));
    tsr_release(&t);
    EXPECT_OK(tsr_randn(&t, TSR_F64, TSR_SHAPE(6), seed));
    EXPECT(!memcmp(t->data, normal_f64, sizeof normal_f64));
    tsr_release(&t);
}

/* The mapping, read off its description and not off its code. */
TEST(test_uniform_follows_its_description)
{
    const uint64_t seed = 77;
    tsr_tensor *f = NULL, *d = NULL;
    EXPECT_OK(tsr_uniform(&f, TSR_F32, TSR_SHAPE(103), 0, 1, seed));
    EXPECT_OK(tsr_uniform(&d, TSR_F64, TSR_SHAPE(103), 0, 1, seed));
    for (uint32_t i = 0; i < 103; i++) {
        uint32_t w[4];
        tsr_philox(w, (uint32_t[]){ i / 4, 0, 0, 0 }, (uint32_t[]){ 77, 0 });
        EXPECT((double)((float *)f->data)[i] == (double)(w[i % 4] >> 8) / 16777216.0);
        tsr_philox(w, (uint32_t[]){ i / 2, 0, 0, 0 }, (uint32_t[]){ 77, 0 });
        const uint64_t bits = (uint64_t)w[i % 2 * 2 + 1] << 32 | w[i % 2 * 2];
        EXPECT(((double *)d->data)[i] == (double)(bits >> 11) / 9007199254740992.0);
    }
    tsr_release_all(&d, &f);
}

/* Statistics ------------------------------------------------------------------- */

typedef struct moments {
    double mean, variance, third, fourth, neighbour; /* neighbour: mean of x[i] * x[i + 1], centred */
} moments;

static moments moments_of(const tsr_tensor *t)
{
    moments m = { 0 };
    double before = 0;
    for (int64_t i = 0; i < MANY; i++) m.mean += value_at(t, i) / MANY;
    for (int64_t i = 0; i < MANY; i++) {
        const double x = value_at(t, i) - m.mean;
        m.variance += x * x / MANY;
        m.third += x * x * x / MANY;
        m.fourth += x * x * x * x / MANY;
        m.neighbour += x * before / MANY;
        before = x;
    }
    return m;
}

static bool near(double x, double want, double by) { return x >= want - by && x <= want + by; }

/* Five deviations to either side: the seed is fixed, so this passes or it does not. */
TEST(test_uniform_has_the_moments_of_a_uniform)
{
    static const tsr_dtype dtypes[] = { TSR_F16, TSR_F32, TSR_F64 };
    for (int k = 0; k < 3; k++) {
        tsr_tensor *t = NULL;
        EXPECT_OK(tsr_uniform(&t, dtypes[k], TSR_SHAPE(MANY), 0, 1, 2024));
        const moments m = moments_of(t);
        EXPECT_MSG(near(m.mean, 0.5, 0.0015), "mean %g", m.mean);
        EXPECT_MSG(near(m.variance, 1.0 / 12, 0.0004), "variance %g", m.variance);
        EXPECT_MSG(near(m.third, 0, 0.0002), "third %g", m.third);
        EXPECT_MSG(near(m.fourth, 1.0 / 80, 0.0001), "fourth %g", m.fourth);
        EXPECT_MSG(near(m.neighbour, 0, 5 * 0.0000834), "neighbour %g", m.neighbour);
        tsr_release(&t);
    }
}

TEST(test_uniform_fills_256_bins_evenly)
{
    tsr_tensor *t = NULL;
    int64_t bin[256] = { 0 };
    double chi = 0;
    EXPECT_OK(tsr_uniform(&t, TSR_F32, TSR_SHAPE(MANY), 3, 5, 1));
    for (int64_t i = 0; i < MANY; i++) bin[(int)((value_at(t, i) - 3) * 128)]++;
    for (int b = 0; b < 256; b++) {
        const double off = (double)bin[b] - MANY / 256.0;
        chi += off * off / (MANY / 256.0);
    }
    EXPECT_MSG(near(chi, 255, 5 * 22.6), "chi-square %g with 255 degrees", chi);
    tsr_release(&t);
}

TEST(test_randn_has_the_moments_of_a_normal)
{
    static const tsr_dtype dtypes[] = { TSR_F16, TSR_F32, TSR_F64 };
    for (int k = 0; k < 3; k++) {
        tsr_tensor *t = NULL;
        EXPECT_OK(tsr_randn(&t, dtypes[k], TSR_SHAPE(MANY), 2024));
        const moments m = moments_of(t);
        EXPECT_MSG(near(m.mean, 0, 0.005), "mean %g", m.mean);
        EXPECT_MSG(near(m.variance, 1, 0.0071), "variance %g", m.variance);
        EXPECT_MSG(near(m.third, 0, 5 * 0.003873), "third %g", m.third);
        EXPECT_MSG(near(m.fourth, 3, 5 * 0.0098), "fourth %g", m.fourth);
        EXPECT_MSG(near(m.neighbour, 0, 0.005), "neighbour %g", m.neighbour);
        tsr_release(&t);
    }
}

/* Bins of one sixteenth each, by the normal distribution's quantiles; and tails. */
TEST(test_randn_fills_equal_bins_evenly)
{
    static const double edge[] = { 0, 0.1573106846, 0.3186393640, 0.4887764111, 0.6744897502, 0.8871465590,
                                   1.1503493804, 1.5341205444 };
    tsr_tensor *t = NULL;
    int64_t bin[16] = { 0 }, beyond_3 = 0, beyond_4 = 0;
    double chi = 0, largest = 0;
    EXPECT_OK(tsr_randn(&t, TSR_F32, TSR_SHAPE(MANY), 5));
    for (int64_t i = 0; i < MANY; i++) {
        const double x = value_at(t, i), size = x < 0 ? -x : x;
        int b = 7;
        while (size < edge[b]) b--;
        bin[x < 0 ? 7 - b : 8 + b]++;
        beyond_3 += size > 3;
        beyond_4 += size > 4;
        if (size > largest) largest = size;
    }
    for (int b = 0; b < 16; b++) {
        const double off = (double)bin[b] - MANY / 16.0;
        chi += off * off / (MANY / 16.0);
    }
    EXPECT_MSG(chi < 15 + 5 * 5.5, "chi-square %g with 15 degrees", chi);
    EXPECT_MSG(near((double)beyond_3, 2699.8, 5 * 52), "%lld beyond 3", (long long)beyond_3);
    EXPECT_MSG(near((double)beyond_4, 63.3, 5 * 8), "%lld beyond 4", (long long)beyond_4);
    EXPECT_MSG(largest > 4.2 && largest < 6.77, "largest %g", largest);
    tsr_release(&t);
}

/* The ends of Box and Muller's transform: log of the smallest number and of 1. */
TEST(test_normal_is_finite_at_the_ends)
{
    EXPECT(tsri_log_f32(1.0f) == 0 && tsri_sqrt_f32(0) == 0);
    EXPECT(tsri_log_f64(1.0) == 0 && tsri_sqrt_f64(0) == 0);
    const double f = (double)tsri_sqrt_f32(-2.0f * tsri_log_f32(0.5f / 4294967296.0f));
    EXPECT_MSG(near(f, 6.7637, 1e-4), "%g", f);
    const double d = tsri_sqrt_f64(-2.0 * tsri_log_f64(0.5 / 9007199254740992.0));
    EXPECT_MSG(near(d, 8.6522, 1e-4), "%g", d);
}

TEST(test_quarter_turns_are_exact)
{
    static const double want[4][2] = { { 1, 0 }, { 0, 1 }, { -1, 0 }, { 0, -1 } };
    for (uint32_t q = 0; q < 4; q++) {
        float c, s;
        double cd, sd;
        tsri_cos_sin_f32(&c, &s, q << 30);
        tsri_cos_sin_f64(&cd, &sd, (uint64_t)q << 62);
        EXPECT((double)c == want[q][0] && (double)s == want[q][1]);
        EXPECT(cd == want[q][0] && sd == want[q][1]);
    }
}

/* Angles at which both series are at their ends, and the identity everywhere. */
TEST(test_cos_and_sin_lie_on_the_circle)
{
    for (uint64_t i = 0; i < 4096; i++) {
        float c, s;
        double cd, sd;
        tsri_cos_sin_f32(&c, &s, (uint32_t)(i << 20));
        tsri_cos_sin_f64(&cd, &sd, i << 52);
        const double one = (double)c * (double)c + (double)s * (double)s;
        EXPECT_MSG(near(one, 1, 3e-7), "%g", one - 1);
        EXPECT_MSG(near(cd * cd + sd * sd, 1, 5e-16), "%g", cd * cd + sd * sd - 1);
        EXPECT_MSG(near(cd, (double)c, 2e-7) && near(sd, (double)s, 2e-7), "turn %d of 4096", (int)i);
    }
    float c, s;
    tsri_cos_sin_f32(&c, &s, 0x15555555); /* 1/12 of a turn */
    EXPECT(near((double)c, 0.8660254038, 2e-7) && near((double)s, 0.5, 2e-7));
}

/* Seed and index alone decide -------------------------------------------------- */

static bool make(tsr_tensor **out, bool normal, tsr_dtype dtype, int ndim, const int64_t *shape,
                 uint64_t seed)
{
    const tsr_status s = normal ? tsr_randn(out, dtype, ndim, shape, seed)
                                : tsr_uniform(out, dtype, ndim, shape, -2, 3, seed);
    EXPECT_STATUS(s, TSR_OK);
    return s == TSR_OK;
}

TEST(test_random_values_do_not_depend_on_strides)
{
    static char buffer[1 << 14];
    static const int64_t shape[] = { 3, 1, 5, 4 };
    static const int64_t strides[][4] = { { 20, 99, 4, 1 }, { 1, 7, 3, 15 }, { -20, 0, -4, -1 },
                                          { 4, 0, -12, 1 }, { 90, -5, 14, 3 } };
    for (int k = 0; k < 2 * TSR_DTYPE_COUNT; k++) {
        const tsr_dtype dtype = (tsr_dtype)(k / 2);
        if (tsr_dtype_kind(dtype) != TSR_FLOATING && tsr_dtype_kind(dtype) != TSR_COMPLEX) continue;
        const int64_t size = (int64_t)tsr_dtype_size(dtype);
        tsr_tensor *packed = NULL;
        if (!make(&packed, k % 2, dtype, 4, shape, 9)) continue;
        for (int s = 0; s < 5; s++) {
            tsr_desc desc;
            tsr_tensor *view = NULL;
            EXPECT_OK(tsr_desc_init(&desc, dtype, 4, shape, strides[s]));
            EXPECT_OK(tsr_wrap(&view, buffer + sizeof buffer / 2, &desc));
            (void)make(&view, k % 2, dtype, 4, shape, 9);
            for (int64_t i = 0; i < 60; i++) {
                const int64_t at = i / 20 * strides[s][0] + i / 4 % 5 * strides[s][2] + i % 4 * strides[s][3];
                const char *got = (char *)view->data + at * size, *want = (char *)packed->data + i * size;
                EXPECT_MSG(!memcmp(got, want, (size_t)size), "%s, strides %d, element %d",
                           tsr_dtype_name(dtype), s, (int)i);
            }
            tsr_release(&view);
        }
        tsr_release(&packed);
    }
}

TEST(test_a_shorter_tensor_is_the_start_of_a_longer_one)
{
    for (int k = 0; k < 2 * FLOATS; k++) {
        tsr_tensor *whole = NULL;
        const tsr_dtype dtype = floats[k / 2];
        if (!make(&whole, k % 2, dtype, TSR_SHAPE(5, 41), 3)) continue;
        for (int64_t n = 0; n < 20; n++) {
            tsr_tensor *part = NULL;
            if (make(&part, k % 2, dtype, TSR_SHAPE(n), 3))
                EXPECT(!memcmp(part->data, whole->data, (size_t)n * tsr_dtype_size(dtype)));
            tsr_release(&part);
        }
        tsr_release(&whole);
    }
}

TEST(test_random_elements_are_the_same_in_any_pieces)
{
    const tsri_range range = tsri_range_of(TSR_F32, -2, 3);
    float whole[64], part[64];
    tsri_random_elements(whole, TSR_C64, 8, &range, 0, 32);
    for (int64_t first = 0; first < 9; first++)
        for (int64_t n = 0; n < 9; n++) {
            memset(part, 0, sizeof part);
            tsri_random_elements(part, TSR_C64, 8, &range, first, n);
            EXPECT(!memcmp(part, whole + 2 * first, (size_t)n * 8));
            EXPECT(part[2 * n] == 0);
        }
}

/* Elements are made many blocks at a time; one block at a time gives the same. */
TEST(test_random_elements_are_those_of_their_blocks)
{
    const tsri_range f32_range = tsri_range_of(TSR_F32, -2, 3), f64_range = tsri_range_of(TSR_F64, -2, 3);
    const uint64_t seed = 0xfedcba9876543210u;
    float  f[2][400], block_f[4];
    double d[2][400], block_d[2];
    tsri_random_elements(f[0], TSR_F32, seed, &f32_range, 0, 400);
    tsri_random_elements(f[1], TSR_F32, seed, NULL, 0, 400);
    tsri_random_elements(d[0], TSR_F64, seed, &f64_range, 0, 400);
    tsri_random_elements(d[1], TSR_F64, seed, NULL, 0, 400);
    for (uint64_t b = 0; b < 100; b++) {
        tsri_uniform_f32(block_f, seed, b, -2, 3);
        EXPECT(!memcmp(block_f, f[0] + 4 * b, sizeof block_f));
        tsri_randn_f32(block_f, seed, b);
        EXPECT(!memcmp(block_f, f[1] + 4 * b, sizeof block_f));
        tsri_uniform_f64(block_d, seed, b, -2, 3);
        EXPECT(!memcmp(block_d, d[0] + 2 * b, sizeof block_d));
        tsri_randn_f64(block_d, seed, b);
        EXPECT(!memcmp(block_d, d[1] + 2 * b, sizeof block_d));
    }
}

TEST(test_random_counts_blocks_beyond_32_bits)
{
    const tsri_range range = tsri_range_of(TSR_F32, 0, 1);
    const int64_t block = ((int64_t)5 << 32) + 6;
    uint32_t w[4];
    float x;
    tsr_philox(w, (uint32_t[]){ 6, 5, 0, 0 }, (uint32_t[]){ 1, 2 });
    tsri_random_elements(&x, TSR_F32, ((uint64_t)2 << 32) + 1, &range, block * 4 + 3, 1);
    EXPECT((double)x == (double)(w[3] >> 8) / 16777216.0);
}

TEST(test_complex_parts_are_consecutive_numbers)
{
    static const tsr_dtype pairs[][2] = { { TSR_C32, TSR_F16 }, { TSR_C64, TSR_F32 }, { TSR_C128, TSR_F64 } };
    for (int k = 0; k < 6; k++) {
        tsr_tensor *c = NULL, *r = NULL;
        const tsr_dtype complex = pairs[k / 2][0], real = pairs[k / 2][1];
        if (make(&c, k % 2, complex, TSR_SHAPE(7, 3), 4) && make(&r, k % 2, real, TSR_SHAPE(42), 4))
            EXPECT(!memcmp(c->data, r->data, 42 * tsr_dtype_size(real)));
        tsr_release_all(&r, &c);
    }
}

TEST(test_short_floats_are_rounded_f32)
{
    tsr_tensor *f = NULL, *h = NULL, *b = NULL;
    EXPECT_OK(tsr_randn(&f, TSR_F32, TSR_SHAPE(1000), 6));
    EXPECT_OK(tsr_randn(&h, TSR_F16, TSR_SHAPE(1000), 6));
    EXPECT_OK(tsr_randn(&b, TSR_F8E4M3, TSR_SHAPE(1000), 6));
    for (int i = 0; i < 1000; i++) {
        EXPECT(((uint16_t *)h->data)[i] == tsr_f32_to_f16(((float *)f->data)[i]));
        EXPECT(((uint8_t *)b->data)[i] == tsr_f32_to_f8e4m3(((float *)f->data)[i]));
    }
    EXPECT_OK(tsr_uniform(&f, TSR_F32, TSR_SHAPE(1000), 0, 1, 6));
    EXPECT_OK(tsr_uniform(&h, TSR_F16, TSR_SHAPE(1000), 0, 1, 6));
    for (int i = 0; i < 1000; i++) {
        const uint16_t rounded = tsr_f32_to_f16(((float *)f->data)[i]);
        EXPECT(((uint16_t *)h->data)[i] == (rounded == 0x3c00 ? 0x3bff : rounded)); /* never 1 */
    }
    tsr_release_all(&b, &h, &f);
}

TEST(test_another_seed_and_the_other_stream_give_other_values)
{
    uint32_t a[4], b[4];
    tsri_random_words(a, 1, 0, TSRI_STREAM_UNIFORM);
    tsri_random_words(b, 1, 0, TSRI_STREAM_NORMAL);
    EXPECT(memcmp(a, b, sizeof a) != 0);
    tsri_random_words(b, (uint64_t)1 << 32 | 1, 0, TSRI_STREAM_UNIFORM);
    EXPECT(memcmp(a, b, sizeof a) != 0);
    tsri_random_words(b, 2, 0, TSRI_STREAM_UNIFORM);
    EXPECT(memcmp(a, b, sizeof a) != 0);
}

/* Bounds ------------------------------------------------------------------------- */

/* Does the dtype have a number in [low, high)? Looks at every pattern of the short
 * dtypes; f32 and f64 have their neighbours of low to offer. */
static bool has_number_in(tsr_dtype dtype, double low, double high)
{
    if (dtype == TSR_F64) return low < high;
    if (dtype == TSR_F32) {
        const float near_low = (float)low;
        const uint32_t bits = tsri_f32_bits(near_low);
        for (int off = -1; off <= 1; off++) {
            const double v = (double)tsri_f32_from_bits(bits + (uint32_t)off);
            if (v >= low && v < high) return true;
        }
        return (double)near_low >= low && (double)near_low < high;
    }
    for (uint32_t bits = 0; bits < 1u << (8 * tsr_dtype_size(dtype)); bits++) {
        const double v = dtype == TSR_F16 ? (double)tsr_f16_to_f32((uint16_t)bits)
                         : dtype == TSR_BF16 ? (double)tsr_bf16_to_f32((uint16_t)bits)
                         : dtype == TSR_F8E4M3 ? (double)tsr_f8e4m3_to_f32((uint8_t)bits)
                                               : (double)tsr_f8e5m2_to_f32((uint8_t)bits);
        if (v >= low && v < high) return true;
    }
    return false;
}

static double rounded_to(tsr_dtype dtype, double v)
{
    unsigned char element[16];
    tsr_scalar s = tsr_scalar_f64(0);
    EXPECT_OK(tsr_scalar_store(element, dtype, tsr_scalar_f64(v)));
    EXPECT_OK(tsr_scalar_load(&s, dtype, element));
    return tsr_scalar_to_f64(s);
}

TEST(test_uniform_stays_within_its_bounds)
{
    static const double ranges[][2] = {
        { 0, 1 }, { -1, 0 }, { 0.1, 0.2 }, { 0.1, 0.3 }, { -0.3, -0.1 }, { 1, 1 }, { 0, 0 }, { -2.5, -2.5 },
        { 0.1, 0.1 },
        { 1, 1.00000011920928955078125 },      /* the next f32 */
        { 1, 1.0000000000000002220446 },       /* the next f64 */
        { 1.00000005, 1.0000001 },             /* between two f32s */
        { 1, 1.0009765625 },                   /* the next f16 */
        { 100, 101 }, { 99, 105 }, { -448, 448 }, { -1, 448 }, { 0, 1e-7 }, { -1e-7, 1e-7 },
    };
    for (size_t k = 0; k < FLOATS * (sizeof ranges / sizeof *ranges); k++) {
        const tsr_dtype dtype = floats[k % FLOATS];
        const double low = ranges[k / FLOATS][0], high = ranges[k / FLOATS][1];
        const bool any = has_number_in(dtype, low, high);
        const double only = rounded_to(dtype, low);
        tsr_tensor *t = NULL;
        EXPECT_OK(tsr_uniform(&t, dtype, TSR_SHAPE(20000), low, high, 12));
        for (int64_t i = 0; i < 20000; i++) {
            const double v = value_at(t, i);
            EXPECT_MSG(any ? v >= low && v < high : v == only, "%s in [%.17g, %.17g): %.17g",
                       tsr_dtype_name(dtype), low, high, v);
        }
        tsr_release(&t);
    }
}

/* high - low overflows; half of the values lie on each side all the same. */
TEST(test_uniform_spans_the_whole_of_a_dtype)
{
    static const double tops[] = { 448, 57344, 65504, 3.3895313892515355e38, 3.4028234663852886e38,
                                   1.7976931348623157e308 };
    for (int k = 0; k < FLOATS; k++) {
        tsr_tensor *t = NULL;
        int64_t above = 0, high = 0;
        EXPECT_OK(tsr_uniform(&t, floats[k], TSR_SHAPE(10000), -tops[k], tops[k], 12));
        for (int64_t i = 0; i < 10000; i++) {
            const double v = value_at(t, i);
            EXPECT(v >= -tops[k] && v < tops[k]);
            above += v > 0;
            high += v > tops[k] / 2;
        }
        EXPECT_MSG(near((double)above, 5000, 250) && near((double)high, 2500, 250),
                   "%s: %lld above 0, %lld high", tsr_dtype_name(floats[k]), (long long)above,
                   (long long)high);
        tsr_release(&t);
    }
}

TEST(test_random_of_no_elements_and_of_rank_0)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_uniform(&t, TSR_F32, TSR_SHAPE(3, 0, 2), 0, 1, 1));
    EXPECT(t && tsr_numel(t) == 0);
    tsr_release(&t);
    EXPECT_OK(tsr_randn(&t, TSR_C128, TSR_SHAPE(0), 1));
    tsr_release(&t);
    EXPECT_OK(tsr_randn(&t, TSR_F64, TSR_SCALAR_SHAPE, 1));
    EXPECT(t && t->ndim == 0 && value_at(t, 0) != 0);
    tsr_release(&t);
}

TEST(test_random_refuses_bad_arguments)
{
    const double inf = 1e308 * 10, nan = inf - inf;
    tsr_tensor *t = NULL;
    EXPECT_FAILS(tsr_uniform(NULL, TSR_F32, TSR_SHAPE(3), 0, 1, 1), TSR_ENULL, "uniform: out");
    EXPECT_FAILS(tsr_randn(NULL, TSR_F32, TSR_SHAPE(3), 1), TSR_ENULL, "randn: out");
    EXPECT_FAILS(tsr_uniform(&t, TSR_I32, TSR_SHAPE(3), 0, 1, 1), TSR_EDTYPE, "i32");
    EXPECT_FAILS(tsr_randn(&t, TSR_BOOL, TSR_SHAPE(3), 1), TSR_EDTYPE, "randn: dtype is bool");
    EXPECT_FAILS(tsr_randn(&t, (tsr_dtype)99, TSR_SHAPE(3), 1), TSR_EDTYPE, "99");
    EXPECT_FAILS(tsr_uniform(&t, TSR_F32, TSR_SHAPE(3), 2, 1, 1), TSR_EINVAL, "above high");
    EXPECT_FAILS(tsr_uniform(&t, TSR_F64, TSR_SHAPE(3), -inf, 1, 1), TSR_EINVAL, "low is -inf");
    EXPECT_FAILS(tsr_uniform(&t, TSR_F64, TSR_SHAPE(3), 0, nan, 1), TSR_EINVAL, "high is");
    EXPECT_FAILS(tsr_uniform(&t, TSR_F64, TSR_SHAPE(3), nan, 0, 1), TSR_EINVAL, "low is");
    EXPECT_FAILS(tsr_uniform(&t, TSR_F32, TSR_SHAPE(3), 0, 1e39, 1), TSR_EINVAL, "not finite in f32");
    EXPECT_FAILS(tsr_uniform(&t, TSR_C32, TSR_SHAPE(3), -70000, 0, 1), TSR_EINVAL, "not finite in f16");
    EXPECT_FAILS(tsr_uniform(&t, TSR_F8E4M3, TSR_SHAPE(3), 0, 500, 1), TSR_EINVAL, "not finite in f8e4m3");
    EXPECT_STATUS(tsr_uniform(&t, TSR_F32, TSR_SHAPE(3, -1), 0, 1, 1), TSR_ESHAPE);
    EXPECT_STATUS(tsr_randn(&t, TSR_F32, 2, NULL, 1), TSR_ENULL);
    EXPECT(t == NULL);
    EXPECT_OK(tsr_randn(&t, TSR_F32, TSR_SHAPE(2, 3), 1));
    const tsr_tensor *held = t;
    EXPECT_STATUS(tsr_randn(&t, TSR_F32, TSR_SHAPE(3, 2), 1), TSR_ESHAPE);
    EXPECT_STATUS(tsr_randn(&t, TSR_F64, TSR_SHAPE(2, 3), 1), TSR_EDTYPE);
    EXPECT(t == held);
    tsr_release(&t);
}

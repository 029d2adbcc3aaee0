/* test_draw.c - random tensors, made with vectors, against the numbers one block at a time: every bit, for
 * every place that a run can begin and end. */
#include "test.h"

#include "core/random_integers.h"
#include "cpu/draw.h"
#include "cpu/kernels.h"

/* Number i of the stream, in the dtype's own steps. */
static float number_f32(bool uniform, uint64_t seed, uint64_t i, float low, float high)
{
    float v[4];
    if (uniform) tsri_uniform_f32(v, seed, i / 4, low, high);
    else         tsri_randn_f32(v, seed, i / 4);
    return v[i % 4];
}

static double number_f64(bool uniform, uint64_t seed, uint64_t i, double low, double high)
{
    double v[2];
    if (uniform) tsri_uniform_f64(v, seed, i / 2, low, high);
    else         tsri_randn_f64(v, seed, i / 2);
    return v[i % 2];
}

static tsr_status fill(tsr_tensor **z, bool uniform, tsr_dtype dtype, int64_t n, double low, double high,
                       uint64_t seed)
{
    return uniform ? tsr_uniform(z, dtype, 1, &n, low, high, seed) : tsr_randn(z, dtype, 1, &n, seed);
}

/* Elements `step` apart. */
static bool is_right(const void *at, int64_t step, tsr_dtype dtype, bool uniform, int64_t n, double low,
                     double high, uint64_t seed)
{
    const int64_t parts = dtype == TSR_C64 || dtype == TSR_C128 ? 2 : 1;
    const bool wide = dtype == TSR_F64 || dtype == TSR_C128;
    for (int64_t i = 0; i < n * parts; i++) {
        const int64_t place = i / parts * step * parts + i % parts;
        const float f = number_f32(uniform, seed, (uint64_t)i, (float)low, (float)high);
        const double d = wide ? number_f64(uniform, seed, (uint64_t)i, low, high) : 0;
        if (wide ? memcmp((const double *)at + place, &d, 8) : memcmp((const float *)at + place, &f, 4))
            return false;
    }
    return true;
}

static const tsr_dtype dtypes[] = { TSR_F32, TSR_F64, TSR_C64, TSR_C128 };
static const double ranges[][2] = { { 0, 1 }, { -2, 3 }, { -3e38, 3e38 }, { 0, 0 }, { -1, -0.0 } };

static void check_length(int64_t n)
{
    for (int d = 0; d < 4; d++)
        for (int r = 0; r < 6; r++) {
            tsr_tensor *z = NULL;
            const double low = r < 5 ? ranges[r][0] : 0, high = r < 5 ? ranges[r][1] : 1;
            const uint64_t seed = 0x9876543210fedcbau + (uint64_t)n;
            EXPECT_OK(fill(&z, r < 5, dtypes[d], n, low, high, seed));
            EXPECT_MSG(is_right(z->data, 1, dtypes[d], r < 5, n, low, high, seed), "%s, %lld, range %d",
                       tsr_dtype_name(dtypes[d]), (long long)n, r);
            tsr_release(&z);
        }
}

TEST(test_every_length_has_the_numbers_of_its_blocks)
{
    for (int64_t n = 1; n < 140; n++) check_length(n);
    static const int64_t more[] = { 511, 512, 513, 1023, 1024, 1025, 1500, 2047, 4097, 9001 };
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) check_length(more[i]);
}

TEST(test_views_have_the_numbers_of_packed_tensors)
{
    tsr_tensor *whole = NULL, *part = NULL;
    for (int d = 0; d < 4; d++)
        for (int64_t skip = 0; skip < 5; skip++)
            for (int64_t step = 1; step < 4; step++) {
                const int64_t n = 3000, room = skip + n * step;
                EXPECT_OK(tsr_zeros(&whole, dtypes[d], 1, &room));
                EXPECT_OK(tsr_slice(&part, whole, 0, skip, room, step));
                EXPECT_OK(fill(&part, false, dtypes[d], n, 0, 1, 11));
                EXPECT(is_right(part->data, step, dtypes[d], false, n, 0, 1, 11));
                tsr_release_all(&part, &whole);
            }
}

TEST(test_numbers_do_not_depend_on_threads_and_size)
{
    tsr_tensor *z[2] = { NULL };
    const int64_t n = (12 << 20) + 5, few = 70000;
    for (int kind = 0; kind < 2; kind++) {
        for (int k = 0; k < 2; k++) {
            EXPECT_OK(tsr_set_threads(k == 0 ? 1 : 3));
            EXPECT_OK(fill(&z[k], kind == 0, TSR_F32, n, -1, 1, 5));  /* written around the caches */
        }
        EXPECT(!memcmp(z[0]->data, z[1]->data, (size_t)n * 4));
        EXPECT(is_right(z[1]->data, 1, TSR_F32, kind == 0, few, -1, 1, 5));
        EXPECT((double)((float *)z[0]->data)[n - 1] ==
               (double)number_f32(kind == 0, 5, (uint64_t)n - 1, -1, 1));
        for (int k = 0; k < 2; k++) tsr_release(&z[k]);
    }
    EXPECT_OK(tsr_set_threads(0));
}

TEST(test_words_are_those_of_philox_beyond_32_bits)
{
    static const uint64_t firsts[] = { 0, 5, 0xfffffff0u, 0xffffffffu, 0x1fffffffeu, 0x500000006u };
    uint32_t words[TSRI_DRAW_WORDS], want[4];
    for (size_t f = 0; f < sizeof firsts / sizeof *firsts; f++)
        for (uint32_t stream = 0; stream < 4; stream++) {
            const uint64_t seed = 0x123456789abcdef0u + stream;
            tsri_cpu_kernels_get()->draw->words(words, seed, firsts[f], stream, TSRI_DRAW_WORDS / 4);
            for (uint64_t b = 0; b < TSRI_DRAW_WORDS / 4; b++) {
                const uint64_t block = firsts[f] + b;
                tsr_philox(want, (uint32_t[]){ (uint32_t)block, (uint32_t)(block >> 32), stream, 0 },
                           (uint32_t[]){ (uint32_t)seed, (uint32_t)(seed >> 32) });
                EXPECT(!memcmp(want, words + 4 * b, sizeof want));
            }
        }
}

/* As many as the kernel made, from a block on; nothing beyond them is written. */
static bool are_right(const float *got, int64_t made, uint64_t first, bool uniform, float low, float high)
{
    for (int64_t i = 0; i < made; i++) {
        const float want = number_f32(uniform, 9, 4 * first + (uint64_t)i, low, high);
        if (memcmp(got + i, &want, sizeof want)) return false;
    }
    return (double)got[made] == 77;
}

TEST(test_values_made_from_blocks_are_those_of_the_words)
{
    static const uint64_t firsts[] = {
        0, 5, 0xffffffc0u, 0xffffffdfu, 0xffffffe0u, 0xfffffff0u, 0x1ffffff80u
    };
    const tsri_draw_kernels *k = tsri_cpu_kernels_get()->draw;
    enum { MOST = 400 };
    _Alignas(64) float got[MOST + 1];
    for (size_t f = 0; f < sizeof firsts / sizeof *firsts && k->normals_f32; f++)
        for (int64_t n = 4; n <= MOST; n += 36)
            for (int kind = 0; kind < 3; kind++) {
                const float low = kind == 1 ? -1 : 0, high = kind == 1 ? 3 : 1;
                const tsri_range range = tsri_range_of(TSR_F32, (double)low, (double)high);
                for (int i = 0; i <= MOST; i++) got[i] = 77;
                const int64_t made = kind == 2 ? k->normals_f32(got, 9, firsts[f], n, n % 8 == 0)
                                               : k->uniforms_f32(got, 9, firsts[f], n, &range, n % 8 == 0);
                EXPECT(made >= 0 && made <= n && made % 4 == 0);
                EXPECT(are_right(got, made, firsts[f], kind != 2, low, high));
            }
}

/* Words that a stream hardly ever has: both ends, quarters of a turn, and what lies next to them. */
static uint32_t odd_word(uint32_t i)
{
    static const uint32_t ends[] = { 0, 1, 2, 0x1fffffff, 0x20000000, 0x3fffffff, 0x40000000, 0x5fffffff,
                                     0x60000000, 0x7fffffff, 0x80000000, 0xbfffffff, 0xc0000000, 0xe0000000,
                                     0xfffffffe, 0xffffffff };
    return i < 16 ? ends[i] : i * 2654435761u;
}

TEST(test_normal_kernels_have_the_bits_of_same_math)
{
    static uint32_t words[TSRI_DRAW_WORDS];
    static float f[TSRI_DRAW_WORDS], g[2];
    static double d[TSRI_DRAW_WORDS / 2], e[2];
    for (uint32_t i = 0; i < TSRI_DRAW_WORDS; i += 4) {
        const uint32_t k = i / 4;
        words[i] = odd_word(k % 16);
        words[i + 1] = odd_word(k / 16);
        words[i + 2] = odd_word(k + 16);
        words[i + 3] = odd_word(k % 16);
    }
    tsri_cpu_kernels_get()->draw->normal_f32(f, words, TSRI_DRAW_WORDS, false);
    tsri_cpu_kernels_get()->draw->normal_f64(d, words, TSRI_DRAW_WORDS / 2, false);
    for (int i = 0; i < TSRI_DRAW_WORDS; i += 2) {
        tsri_randn_pair_f32(&g[0], &g[1], words[i], words[i + 1]);
        EXPECT(!memcmp(g, f + i, sizeof g));
    }
    for (int i = 0; i < TSRI_DRAW_WORDS / 2; i += 2) {
        tsri_randn_pair_f64(&e[0], &e[1], tsri_random_bits(words[2 * i], words[2 * i + 1]),
                            tsri_random_bits(words[2 * i + 2], words[2 * i + 3]));
        EXPECT(!memcmp(e, d + i, sizeof e));
    }
}

TEST(test_integers_and_exponentials_are_those_of_their_words)
{
    for (int64_t n = 1; n < 3000; n = n * 2 + 1) {
        tsr_tensor *narrow = NULL, *wide = NULL, *e = NULL, *f = NULL;
        EXPECT_OK(tsr_integers(&narrow, TSR_I16, 1, &n, -3, 30000, 9));
        EXPECT_OK(tsr_integers(&wide, TSR_U64, 1, &n, 1, INT64_MAX, 9));
        EXPECT_OK(tsr_exponential(&e, TSR_F32, 1, &n, 0.5, 9));
        EXPECT_OK(tsr_exponential(&f, TSR_F64, 1, &n, 0.5, 9));
        for (int64_t i = 0; i < n; i++) {
            const uint64_t at = (uint64_t)i;
            uint32_t w[4];
            tsri_draw_words(w, 9, at / 4, TSRI_STREAM_INTEGERS, 0);
            EXPECT(((int16_t *)narrow->data)[i] ==
                   (int16_t)(-3 + (int64_t)tsri_draw_below_32(w, 9, at, 30003)));
            tsri_draw_words(w, 9, at / 2, TSRI_STREAM_INTEGERS, 0);
            EXPECT(((uint64_t *)wide->data)[i] == 1 + tsri_draw_below_64(w, 9, at, INT64_MAX - 1));
            tsri_draw_words(w, 9, at / 4, TSRI_STREAM_EXPONENTIAL, 0);
            const float u = (float)w[i % 4] * (1.0f / 4294967296.0f) + 0.5f / 4294967296.0f;
            EXPECT(((float *)e->data)[i] == (float)((double)(0.0f - tsri_log_f32(u)) / 0.5));
            tsri_draw_words(w, 9, at / 2, TSRI_STREAM_EXPONENTIAL, 0);
            EXPECT(((double *)f->data)[i] == tsri_exponential_f64(w + i % 2 * 2) / 0.5);
        }
        tsr_release_all(&narrow, &wide, &e, &f);
    }
}

/* Numbers below r whose words leave a rest, which is drawn again; 2^32 has none. */
static void expect_integers(int64_t low, int64_t high)
{
    const uint64_t r = (uint64_t)high - (uint64_t)low;
    const int64_t n = 777;
    tsr_tensor *t = NULL;
    int again = 0;
    EXPECT_OK(tsr_integers(&t, TSR_I64, 1, &n, low, high, 5));
    for (int64_t i = 0; i < n; i++) {
        const uint64_t at = (uint64_t)i, per = r >> 32 && r != (uint64_t)1 << 32 ? 2 : 4;
        uint32_t w[4];
        tsri_draw_words(w, 5, at / per, TSRI_STREAM_INTEGERS, 0);
        const uint64_t first =
            per == 4 ? w[i % 4] * r >> 32 : tsri_random_bits(w[i % 2 * 2], w[i % 2 * 2 + 1]) % r;
        const uint64_t v = per == 4 ? tsri_draw_below_32(w, 5, at, r) : tsri_draw_below_64(w, 5, at, r);
        const int64_t got = ((int64_t *)t->data)[i];
        EXPECT(v < r && got == (int64_t)((uint64_t)low + v) && got >= low && got < high);
        again += v != first;
    }
    EXPECT_MSG(again > 100 || r == (uint64_t)1 << 32, "%d were drawn again", again);
    tsr_release(&t);
}

TEST(test_integers_are_drawn_again_where_words_leave_a_rest)
{
    expect_integers(-7, ((int64_t)3 << 30) + 1);
    expect_integers(0, (int64_t)1 << 32);
    expect_integers(INT64_MIN / 4, INT64_MAX);
    expect_integers(-((int64_t)3 << 61), (int64_t)3 << 61);
}

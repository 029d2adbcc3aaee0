/* resize_bytes_avx2.c - lines of bytes to other columns and combined, with integers (cpu/image/image.h). */
#include <immintrin.h>
#include <string.h>

#include "cpu/image/image.h"
#include "cpu/kernels.h"

static const tsri_image_kernels *plain;

static inline __m256i load(const void *p) { return _mm256_loadu_si256(p); }
static inline __m128i load_half(const void *p) { return _mm_loadu_si128(p); }

static inline __m256i load_halves(const void *low, const void *high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load_half(low)), load_half(high), 1);
}

/* Columns whose inputs are shuffled by block ---------------------------------------------------------- */

/* The products of two blocks and a pair of taps. */
static inline __m256i shuffled_products(const uint8_t *x, const int32_t *base, const uint8_t *shuffle,
                                    const int16_t *weight)
{
    const __m256i bytes = load_halves(x + base[0], x + base[1]);
    return _mm256_madd_epi16(_mm256_shuffle_epi8(bytes, load(shuffle)), load(weight));
}

static void spread_shuffled_avx2(int16_t *z, const uint8_t *x, const tsri_byte_columns *c)
{
    const int shift = c->bits - TSRI_LINE_BITS;
    const __m256i half = _mm256_set1_epi32(1 << (shift - 1));
    const __m128i by = _mm_cvtsi32_si128(shift);
    for (int64_t b = 0; b < c->blocks; b += 4) {
        __m256i low = half, high = half;
        for (int64_t k = 0, i = b; k < c->pairs; k++, i += c->blocks) {
            const uint8_t *shuffle = c->shuffle + 16 * i;
            const int16_t *weight = c->by_pair + 8 * i;
            low = _mm256_add_epi32(low, shuffled_products(x, c->base + i, shuffle, weight));
            high = _mm256_add_epi32(high, shuffled_products(x, c->base + i + 2, shuffle + 32, weight + 16));
        }
        const __m256i both = _mm256_packs_epi32(_mm256_sra_epi32(low, by), _mm256_sra_epi32(high, by));
        _mm256_storeu_si256((__m256i *)(void *)(z + 4 * b), _mm256_permute4x64_epi64(both, 0xd8));
    }
}

/* Columns of many taps ----------------------------------------------------------------------------- */

/* The columns from o on, which no vector reaches. */
static void spread_rest_avx2(int16_t *z, const uint8_t *x, const tsri_byte_columns *c, int64_t o)
{
    tsri_byte_columns rest = *c;
    rest.out -= o;
    rest.first += o;
    rest.count += o;
    rest.weight += o * c->taps;
    plain->spread_bytes(z + o * c->inner, x, &rest);
}

/* One element: 16 taps at a time. */
static inline __m256i sum_line(const uint8_t *x, const int16_t *w, int64_t n)
{
    __m256i sum = _mm256_setzero_si256();
    for (int64_t t = 0; t < n; t += 16)
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_cvtepu8_epi16(load_half(x + t)), load(w + t)));
    return sum;
}

static void spread_long_avx2(int16_t *z, const uint8_t *x, const tsri_byte_columns *c)
{
    const int shift = c->bits - TSRI_LINE_BITS;
    int64_t o = 0;
    for (; o + 4 <= c->inside; o += 4) {
        __m256i s[4];
        for (int i = 0; i < 4; i++)
            s[i] = sum_line(x + c->first[o + i], c->weight + (o + i) * c->taps, c->count[o + i]);
        const __m256i sums = _mm256_hadd_epi32(_mm256_hadd_epi32(s[0], s[1]), _mm256_hadd_epi32(s[2], s[3]));
        const __m128i all = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1)),
                      rounded = _mm_sra_epi32(_mm_add_epi32(all, _mm_set1_epi32(1 << (shift - 1))),
                                              _mm_cvtsi32_si128(shift));
        _mm_storel_epi64((__m128i *)(void *)(z + o), _mm_packs_epi32(rounded, rounded));
    }
    spread_rest_avx2(z, x, c, o);
}

/* The products of four taps of a pixel. */
static inline __m128i sum_four(const uint8_t *x, const int16_t *w, __m128i first, __m128i second)
{
    const __m128i bytes = load_half(x), weights = _mm_loadl_epi64((const __m128i *)(const void *)w);
    return _mm_add_epi32(_mm_madd_epi16(_mm_shuffle_epi8(bytes, first), _mm_shuffle_epi32(weights, 0x00)),
                         _mm_madd_epi16(_mm_shuffle_epi8(bytes, second), _mm_shuffle_epi32(weights, 0x55)));
}

/* Pixels of three or four elements: eight taps at a time, four in each half, and perhaps four more. */
static inline __m128i sum_pixel(const uint8_t *x, const int16_t *w, int64_t n, int64_t inner, __m256i first,
                                __m256i second)
{
    __m256i sum = _mm256_setzero_si256();
    int64_t t = 0;
    for (; t + 4 < n; t += 8) {
        const __m256i bytes = load_halves(x + t * inner, x + (t + 4) * inner),
                      weights = _mm256_permute4x64_epi64(_mm256_castsi128_si256(load_half(w + t)), 0x50);
        const __m256i a = _mm256_madd_epi16(_mm256_shuffle_epi8(bytes, first),
                                            _mm256_shuffle_epi32(weights, 0x00)),
                      b = _mm256_madd_epi16(_mm256_shuffle_epi8(bytes, second),
                                            _mm256_shuffle_epi32(weights, 0x55));
        sum = _mm256_add_epi32(sum, _mm256_add_epi32(a, b));
    }
    const __m128i all = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    if (t >= n) return all;
    return _mm_add_epi32(all, sum_four(x + t * inner, w + t, _mm256_castsi256_si128(first),
                                       _mm256_castsi256_si128(second)));
}

/* Indices that bring taps t and t + 1 of each element together. */
static inline __m256i pair_taps(int64_t inner, int64_t t)
{
    uint8_t at[16];
    for (int i = 0; i < 16; i++)
        at[i] = (uint8_t)(i % 2 || i / 4 >= inner ? 0x80 : (t + i / 2 % 2) * inner + i / 4);
    return _mm256_broadcastsi128_si256(load_half(at));
}

static void spread_pixels_avx2(int16_t *z, const uint8_t *x, const tsri_byte_columns *c)
{
    const int shift = c->bits - TSRI_LINE_BITS;
    const int64_t inner = c->inner;
    const __m256i first = pair_taps(inner, 0), second = pair_taps(inner, 2);
    int64_t o = 0;
    for (; o < c->inside; o++) {
        const __m128i all = sum_pixel(x + c->first[o] * inner, c->weight + o * c->taps, c->count[o], inner,
                                      first, second),
                      rounded = _mm_sra_epi32(_mm_add_epi32(all, _mm_set1_epi32(1 << (shift - 1))),
                                              _mm_cvtsi32_si128(shift));
        _mm_storel_epi64((__m128i *)(void *)(z + o * inner), _mm_packs_epi32(rounded, rounded));
    }
    spread_rest_avx2(z, x, c, o);
}

static void spread_bytes_avx2(int16_t *z, const uint8_t *x, const tsri_byte_columns *c)
{
    if (c->base) spread_shuffled_avx2(z, x, c);
    else if (c->inner == 1) spread_long_avx2(z, x, c);
    else if (c->inner == 3 || c->inner == 4) spread_pixels_avx2(z, x, c);
    else plain->spread_bytes(z, x, c);
}

/* Rows --------------------------------------------------------------------------------------------- */

/* 16 elements of a row of outputs. */
static inline __m256i sum_rows(const void *const *row, const int16_t *w, int64_t taps, int64_t i,
                               __m256i half, __m128i by)
{
    __m256i low = half, high = half;
    for (int64_t t = 0; t < taps; t += 2) {
        const int64_t next = t + 1 < taps ? t + 1 : t;
        const int32_t pair = (uint16_t)w[t] | (int32_t)((uint32_t)(next > t ? w[next] : 0) << 16);
        const __m256i a = load((const int16_t *)row[t] + i), b = load((const int16_t *)row[next] + i),
                      weights = _mm256_set1_epi32(pair);
        low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), weights));
        high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), weights));
    }
    return _mm256_packs_epi32(_mm256_sra_epi32(low, by), _mm256_sra_epi32(high, by));
}

static void combine_bytes_avx2(uint8_t *z, const void *const *row, const int16_t *w, int bits, int64_t taps,
                               int64_t n)
{
    const int shift = bits + TSRI_LINE_BITS;
    const __m256i half = _mm256_set1_epi32(1 << (shift - 1));
    const __m128i by = _mm_cvtsi32_si128(shift);
    for (int64_t i = 0; i < n; i += 32) {
        const __m256i low = sum_rows(row, w, taps, i, half, by),
                      high = sum_rows(row, w, taps, i + 16, half, by),
                      bytes = _mm256_permute4x64_epi64(_mm256_packus_epi16(low, high), 0xd8);
        uint8_t last[32];
        _mm256_storeu_si256((__m256i *)(void *)(i + 32 <= n ? z + i : last), bytes);
        if (i + 32 > n) memcpy(z + i, last, (size_t)(n - i));
    }
}

/* Rows first --------------------------------------------------------------------------------------- */

/* The weights of taps t and t + 1; behind the last one is 0. */
static inline __m256i pair_weights(const int16_t *w, int64_t t, int64_t taps)
{
    return _mm256_set1_epi32((uint16_t)w[t] | (int32_t)((uint32_t)(t + 1 < taps ? w[t + 1] : 0) << 16));
}

/* 64 elements of a line, 16 of each pair of sums. */
static inline void combine_64(int16_t *z, const void *const *row, const int16_t *w, int64_t taps, int64_t i,
                              __m256i half, __m128i by)
{
    enum { VECTORS = 4 };
    __m256i low[VECTORS], high[VECTORS];
    for (int k = 0; k < VECTORS; k++) low[k] = high[k] = half;
    for (int64_t t = 0; t < taps; t += 2) {
        const uint8_t *above = (const uint8_t *)row[t] + i,
                      *below = (const uint8_t *)row[t + 1 < taps ? t + 1 : t] + i;
        const __m256i weights = pair_weights(w, t, taps);
        for (int k = 0; k < VECTORS; k++) {
            const __m256i a = _mm256_cvtepu8_epi16(load_half(above + 16 * k)),
                          b = _mm256_cvtepu8_epi16(load_half(below + 16 * k));
            low[k] = _mm256_add_epi32(low[k], _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), weights));
            high[k] = _mm256_add_epi32(high[k], _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), weights));
        }
    }
    for (int k = 0; k < VECTORS; k++)
        _mm256_storeu_si256((__m256i *)(void *)(z + i + 16 * k),
                            _mm256_packs_epi32(_mm256_sra_epi32(low[k], by), _mm256_sra_epi32(high[k], by)));
}

/* The last vectors begin where they end with the rows: what they make once more is the same. */
static void combine_rows_avx2(int16_t *z, const void *const *row, const int16_t *w, int bits, int64_t taps,
                              int64_t n)
{
    const int shift = bits - TSRI_LINE_BITS;
    const __m256i half = _mm256_set1_epi32(1 << (shift - 1));
    const __m128i by = _mm_cvtsi32_si128(shift);
    if (n < 64) {
        plain->combine_rows(z, row, w, bits, taps, n);
        return;
    }
    for (int64_t i = 0; i + 64 <= n; i += 64) combine_64(z, row, w, taps, i, half, by);
    if (n % 64) combine_64(z, row, w, taps, n - 64, half, by);
}

/* Four sums, rounded, as bytes. */
static inline int32_t four_bytes(__m128i sums, __m128i half, __m128i by)
{
    const __m128i rounded = _mm_sra_epi32(_mm_add_epi32(sums, half), by),
                  words = _mm_packs_epi32(rounded, rounded);
    return _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
}

static inline __m256i sum_numbers(const int16_t *x, const int16_t *w, int64_t n)
{
    __m256i sum = _mm256_setzero_si256();
    for (int64_t t = 0; t < n; t += 16)
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(load(x + t), load(w + t)));
    return sum;
}

/* One element: the sums of four outputs at a time. Those of the last four are made with the ones before. */
static void gather_elements_avx2(uint8_t *z, const int16_t *x, const tsri_byte_columns *c)
{
    const int shift = c->bits + TSRI_LINE_BITS;
    const __m128i half = _mm_set1_epi32(1 << (shift - 1)), by = _mm_cvtsi32_si128(shift);
    for (int64_t next = 0; next < c->out; next += 4) {
        const int64_t o = next + 4 <= c->out ? next : c->out - 4;
        __m256i s[4];
        for (int i = 0; i < 4; i++)
            s[i] = sum_numbers(x + c->first[o + i], c->weight + (o + i) * c->taps, c->count[o + i]);
        const __m256i sums = _mm256_hadd_epi32(_mm256_hadd_epi32(s[0], s[1]), _mm256_hadd_epi32(s[2], s[3]));
        const int32_t bytes = four_bytes(
            _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1)), half, by);
        memcpy(z + o, &bytes, 4);
    }
}

/* Indices that bring two taps of each element together, of numbers of 16 bits. */
static inline __m256i pair_numbers(int64_t inner)
{
    uint8_t at[16];
    for (int i = 0; i < 16; i++)
        at[i] = (uint8_t)(i / 4 >= inner ? 0x80 : 2 * (i / 2 % 2 * inner + i / 4) + i % 2);
    return _mm256_broadcastsi128_si256(load_half(at));
}

/* Pixels of two to four elements: four taps at a time, two in each half. */
static inline __m128i sum_pixel_numbers(const int16_t *x, const int16_t *w, int64_t n, int64_t inner,
                                        __m256i order)
{
    const __m256i halves = _mm256_setr_epi32(0x03020100, 0x03020100, 0x03020100, 0x03020100, 0x07060504,
                                             0x07060504, 0x07060504, 0x07060504);
    __m256i sum = _mm256_setzero_si256();
    for (int64_t t = 0; t < n; t += 4) {
        const __m128i four = _mm_loadl_epi64((const __m128i *)(const void *)(w + t));
        const __m256i weights = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(four), halves),
                      numbers = load_halves(x + t * inner, x + (t + 2) * inner);
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_shuffle_epi8(numbers, order), weights));
    }
    return _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
}

/* Each pixel is written as four bytes, of which the next one overwrites what is not its own. */
static void gather_pixels_avx2(uint8_t *z, const int16_t *x, const tsri_byte_columns *c)
{
    const int shift = c->bits + TSRI_LINE_BITS;
    const int64_t inner = c->inner;
    const __m256i order = pair_numbers(inner);
    const __m128i half = _mm_set1_epi32(1 << (shift - 1)), by = _mm_cvtsi32_si128(shift);
    for (int64_t o = 0; o < c->out; o++) {
        const __m128i sums = sum_pixel_numbers(x + c->first[o] * inner, c->weight + o * c->taps, c->count[o],
                                               inner, order);
        const int32_t bytes = four_bytes(sums, half, by);
        if (o + 1 < c->out) memcpy(z + o * inner, &bytes, 4);
        else                memcpy(z + o * inner, &bytes, (size_t)inner);
    }
}

static void gather_bytes_avx2(uint8_t *z, const int16_t *x, const tsri_byte_columns *c)
{
    if (c->inner == 1 && c->out >= 4)         gather_elements_avx2(z, x, c);
    else if (c->inner > 1 && c->inner <= 4)   gather_pixels_avx2(z, x, c);
    else                                      plain->gather_bytes(z, x, c);
}

/* Means ---------------------------------------------------------------------------------------------- */

/* Sums of the pixels of each pair, in each half: `order` brings their elements together. */
static inline __m256i add_pairs(const uint8_t *x, int64_t next, __m256i order)
{
    return _mm256_maddubs_epi16(_mm256_shuffle_epi8(load_halves(x, x + next), order), _mm256_set1_epi8(1));
}

/* Indices that bring the bytes of both pixels of a pair together; what 16 bytes have no room for is 0. */
static inline __m256i pair_pixels(int64_t inner, int64_t bytes)
{
    uint8_t at[16];
    for (int64_t i = 0; i < 16; i++)
        at[i] = (uint8_t)(i >= bytes ? 0x80 : (i / (2 * inner) * 2 + i % 2) * inner + i / 2 % inner);
    return _mm256_broadcastsi128_si256(load_half(at));
}

/* 16 sums of two by two bytes. */
static inline __m256i add_squares(const uint8_t *above, const uint8_t *below)
{
    const __m256i one = _mm256_set1_epi8(1);
    return _mm256_add_epi16(_mm256_maddubs_epi16(load(above), one), _mm256_maddubs_epi16(load(below), one));
}

/* Single elements: 32 outputs at a time; returns how many that are. */
static int64_t halve_elements_avx2(uint8_t *z, const uint8_t *above, const uint8_t *below, int64_t n)
{
    const __m256i two = _mm256_set1_epi16(2);
    int64_t i = 0;
    for (; i + 32 <= n; i += 32) {
        const __m256i low = add_squares(above + 2 * i, below + 2 * i),
                      high = add_squares(above + 2 * i + 32, below + 2 * i + 32),
                      bytes = _mm256_packus_epi16(_mm256_srli_epi16(_mm256_add_epi16(low, two), 2),
                                                  _mm256_srli_epi16(_mm256_add_epi16(high, two), 2));
        _mm256_storeu_si256((__m256i *)(void *)(z + i), _mm256_permute4x64_epi64(bytes, 0xd8));
    }
    return i;
}

static void halve_bytes_avx2(uint8_t *z, const uint8_t *above, const uint8_t *below, int64_t out,
                             int64_t inner)
{
    const int64_t n = out * inner, some = 8 / inner * inner;  /* bytes of z in each half */
    const __m256i order = pair_pixels(inner, 2 * some), two = _mm256_set1_epi16(2);
    int64_t i = inner == 1 ? halve_elements_avx2(z, above, below, n) : 0;
    for (; 2 * i + 2 * some + 16 <= 2 * n && i + some + 8 <= n; i += 2 * some) {
        const __m256i sum = _mm256_add_epi16(add_pairs(above + 2 * i, 2 * some, order),
                                             add_pairs(below + 2 * i, 2 * some, order)),
                      mean = _mm256_srli_epi16(_mm256_add_epi16(sum, two), 2),
                      bytes = _mm256_packus_epi16(mean, mean);
        _mm_storel_epi64((__m128i *)(void *)(z + i), _mm256_castsi256_si128(bytes));
        _mm_storel_epi64((__m128i *)(void *)(z + i + some), _mm256_extracti128_si256(bytes, 1));
    }
    for (; i < n; i++) {
        const int64_t at = (i / inner * 2) * inner + i % inner;
        z[i] = (uint8_t)((above[at] + above[at + inner] + below[at] + below[at + inner] + 2) >> 2);
    }
}

void tsri_cpu_resize_bytes_avx2(tsri_cpu_kernels *k);
void tsri_cpu_resize_bytes_avx2(tsri_cpu_kernels *k)
{
    static tsri_image_kernels own;
    plain = k->image;
    own = *plain;
    own.spread_bytes = spread_bytes_avx2;
    own.combine_bytes = combine_bytes_avx2;
    own.combine_rows = combine_rows_avx2;
    own.gather_bytes = gather_bytes_avx2;
    own.halve_bytes = halve_bytes_avx2;
    k->image = &own;
}

/* sort_avx512.c - sorting with the vectors of AVX-512. */
#define ISA(name) name##_avx512
#include "cpu/simd/avx512.h"
#include "cpu/simd/sort_words.h"

/* 0, 1, 2, ... */
V vi lanes_32(void) { return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15); }
V __m256i lanes_64(void) { return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7); }

/* Keys of 32 bits ------------------------------------------------------------------------------ */

typedef __mmask16 mask_32;

V vi min_32(vi a, vi b) { return _mm512_min_epu32(a, b); }
V vi max_32(vi a, vi b) { return _mm512_max_epu32(a, b); }
V vi swap_1_32(vi a) { return _mm512_shuffle_epi32(a, _MM_PERM_CDAB); }
V vi swap_2_32(vi a) { return _mm512_shuffle_epi32(a, _MM_PERM_BADC); }
V vi swap_4_32(vi a) { return _mm512_shuffle_i64x2(a, a, 0xb1); }
V vi swap_8_32(vi a) { return _mm512_shuffle_i64x2(a, a, 0x4e); }
V vi reverse_32(vi a) { return _mm512_permutexvar_epi32(vi_sub(vi_set(15), lanes_32()), a); }
V vi blend_32(unsigned lanes, vi a, vi b) { return _mm512_mask_mov_epi32(a, (mask_32)lanes, b); }
V vi set_32(uint32_t x) { return _mm512_set1_epi32((int)x); }
V mask_32 below_32(vi a, vi b) { return _mm512_cmplt_epu32_mask(a, b); }
V mask_32 up_to_32(vi a, vi b) { return _mm512_cmple_epu32_mask(a, b); }
V mask_32 none_of_32(mask_32 m) { return _knot_mask16(m); }

/* The first n keys; missing lanes are the largest key. */
V vi load_n_32(const uint32_t *x, int64_t n)
{
    return _mm512_mask_loadu_epi32(set_32(UINT32_MAX), vm_first(held(n, 16)), x);
}
V mask_32 first_32(int64_t n) { return vm_first(held(n, 16)); }
V int64_t count_32(mask_32 m) { return __builtin_popcount(m); }
V void divide_32(uint32_t *low, uint32_t *high, vi a, mask_32 m)
{
    const int64_t highs = 16 - count_32(m);
    vi_store(low, _mm512_maskz_compress_epi32(m, a));
    _mm512_mask_storeu_epi32(high - highs, first_32(highs), _mm512_maskz_compress_epi32(none_of_32(m), a));
}
V vi every_32(const uint32_t *x, int apart)
{
    return _mm512_i32gather_epi32(_mm512_mullo_epi32(lanes_32(), _mm512_set1_epi32(apart)), x, 4);
}
V void put_every_32(uint32_t *z, vi a, int apart)
{
    _mm512_i32scatter_epi32(z, _mm512_mullo_epi32(lanes_32(), _mm512_set1_epi32(apart)), a, 4);
}
V void store_n_32(uint32_t *z, vi a, int64_t n) { _mm512_mask_storeu_epi32(z, vm_first(held(n, 16)), a); }

/* Keys that are to be compared are moved to the same lane of two vectors, so that every lane of min and
 * max is used; the last two shuffles move all of them to their final lanes. */
V void sort_bitonic_two_32(vi *a, vi *b)
{
    const vi first = _mm512_setr_epi32(0, 16, 2, 18, 1, 17, 3, 19, 8, 24, 10, 26, 9, 25, 11, 27);
    const vi second = _mm512_setr_epi32(4, 20, 6, 22, 5, 21, 7, 23, 12, 28, 14, 30, 13, 29, 15, 31);
    vi low = _mm512_shuffle_i64x2(*a, *b, 0x44), high = _mm512_shuffle_i64x2(*a, *b, 0xee);
    vi x = min_32(low, high), y = max_32(low, high);
    low = _mm512_shuffle_i64x2(x, y, 0x88), high = _mm512_shuffle_i64x2(x, y, 0xdd);
    x = min_32(low, high), y = max_32(low, high);
    low = _mm512_unpacklo_epi64(x, y), high = _mm512_unpackhi_epi64(x, y);
    x = min_32(low, high), y = max_32(low, high);
    low = vf_bits(_mm512_shuffle_ps(vi_as_vf(x), vi_as_vf(y), 0x88));
    high = vf_bits(_mm512_shuffle_ps(vi_as_vf(x), vi_as_vf(y), 0xdd));
    x = min_32(low, high), y = max_32(low, high);
    *a = _mm512_permutex2var_epi32(x, first, y);
    *b = _mm512_permutex2var_epi32(x, second, y);
}

/* Transposes: row i becomes column i. */
V void transpose_32(vi a[16])
{
    vi b[16];
    transpose_fours_in_lanes(a, a, 16);
    UNROLL(2)
    for (int i = 0; i < 2; i++)
        UNROLL(4)
        for (int k = 0; k < 4; k++) {
            b[8 * i + k] = _mm512_shuffle_i32x4(a[8 * i + k], a[8 * i + 4 + k], 0x88);
            b[8 * i + 4 + k] = _mm512_shuffle_i32x4(a[8 * i + k], a[8 * i + 4 + k], 0xdd);
        }
    UNROLL(8)
    for (int i = 0; i < 8; i++) {
        a[i] = _mm512_shuffle_i32x4(b[i], b[8 + i], 0x88);
        a[8 + i] = _mm512_shuffle_i32x4(b[i], b[8 + i], 0xdd);
    }
}

/* Eight rows: each vector becomes one column in ascending and another in descending order. */
V void transpose_8_32(vi a[8])
{
    const vi low = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 23, 22, 21, 20, 7, 6, 5, 4);
    const vi high = _mm512_setr_epi32(8, 9, 10, 11, 24, 25, 26, 27, 31, 30, 29, 28, 15, 14, 13, 12);
    vi c[8];
    transpose_fours_in_lanes(c, a, 8);
    UNROLL(4)
    for (int k = 0; k < 4; k++) {
        a[k] = _mm512_permutex2var_epi32(c[k], low, c[4 + k]);
        a[4 + k] = _mm512_permutex2var_epi32(c[k], high, c[4 + k]);
    }
}

/* Keys of 64 bits ------------------------------------------------------------------------------ */

typedef __mmask8 mask_64;

V vi min_64(vi a, vi b) { return _mm512_min_epu64(a, b); }
V vi max_64(vi a, vi b) { return _mm512_max_epu64(a, b); }
V vi swap_1_64(vi a) { return _mm512_shuffle_epi32(a, _MM_PERM_BADC); }
V vi swap_2_64(vi a) { return _mm512_shuffle_i64x2(a, a, 0xb1); }
V vi swap_4_64(vi a) { return _mm512_shuffle_i64x2(a, a, 0x4e); }
V vi reverse_64(vi a) { return _mm512_permutexvar_epi64(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0), a); }
V vi blend_64(unsigned lanes, vi a, vi b) { return _mm512_mask_mov_epi64(a, (mask_64)lanes, b); }
V vi set_64(uint64_t x) { return _mm512_set1_epi64((int64_t)x); }
V mask_64 below_64(vi a, vi b) { return _mm512_cmplt_epu64_mask(a, b); }
V mask_64 none_of_64(mask_64 m) { return _knot_mask8(m); }
V vi load_n_64(const uint64_t *x, int64_t n)
{
    return _mm512_mask_loadu_epi64(set_64(UINT64_MAX), vk_first(held(n, 8)), x);
}
V mask_64 first_64(int64_t n) { return vk_first(held(n, 8)); }
V int64_t count_64(mask_64 m) { return __builtin_popcount(m); }
V void divide_64(uint64_t *low, uint64_t *high, vi a, mask_64 m)
{
    const int64_t highs = 8 - count_64(m);
    vi_store(low, _mm512_maskz_compress_epi64(m, a));
    _mm512_mask_storeu_epi64(high - highs, first_64(highs), _mm512_maskz_compress_epi64(none_of_64(m), a));
}
V vi every_64(const uint64_t *x, int apart)
{
    return _mm512_i32gather_epi64(_mm256_mullo_epi32(lanes_64(), _mm256_set1_epi32(apart)), x, 8);
}
V void put_every_64(uint64_t *z, vi a, int apart)
{
    _mm512_i32scatter_epi64(z, _mm256_mullo_epi32(lanes_64(), _mm256_set1_epi32(apart)), a, 8);
}
V void store_n_64(uint64_t *z, vi a, int64_t n) { _mm512_mask_storeu_epi64(z, vk_first(held(n, 8)), a); }

/* As for 32 bits. */
V void sort_bitonic_two_64(vi *a, vi *b)
{
    const vi first = _mm512_setr_epi64(0, 8, 1, 9, 4, 12, 5, 13);
    const vi second = _mm512_setr_epi64(2, 10, 3, 11, 6, 14, 7, 15);
    vi low = _mm512_shuffle_i64x2(*a, *b, 0x44), high = _mm512_shuffle_i64x2(*a, *b, 0xee);
    vi x = min_64(low, high), y = max_64(low, high);
    low = _mm512_shuffle_i64x2(x, y, 0x88), high = _mm512_shuffle_i64x2(x, y, 0xdd);
    x = min_64(low, high), y = max_64(low, high);
    low = _mm512_unpacklo_epi64(x, y), high = _mm512_unpackhi_epi64(x, y);
    x = min_64(low, high), y = max_64(low, high);
    *a = _mm512_permutex2var_epi64(x, first, y);
    *b = _mm512_permutex2var_epi64(x, second, y);
}

/* Transposes eight rows of `a` to every second vector of z. */
V void transpose_half_64(vi *z, const vi *a)
{
    vi b[8], c[8];
    UNROLL(4)
    for (int i = 0; i < 4; i++) {
        b[2 * i] = _mm512_unpacklo_epi64(a[2 * i], a[2 * i + 1]);
        b[2 * i + 1] = _mm512_unpackhi_epi64(a[2 * i], a[2 * i + 1]);
    }
    UNROLL(2)
    for (int i = 0; i < 2; i++)
        UNROLL(2)
        for (int k = 0; k < 2; k++) {
            c[4 * i + k] = _mm512_shuffle_i64x2(b[4 * i + k], b[4 * i + 2 + k], 0x88);
            c[4 * i + 2 + k] = _mm512_shuffle_i64x2(b[4 * i + k], b[4 * i + 2 + k], 0xdd);
        }
    UNROLL(4)
    for (int k = 0; k < 4; k++) {
        z[2 * k] = _mm512_shuffle_i64x2(c[k], c[4 + k], 0x88);
        z[2 * (k + 4)] = _mm512_shuffle_i64x2(c[k], c[4 + k], 0xdd);
    }
}

V void transpose_8_64(vi a[8])
{
    vi z[16];
    transpose_half_64(z, a);
    UNROLL(8)
    for (int i = 0; i < 8; i++) a[i] = z[2 * i];
}

V void transpose_64(vi a[16])
{
    vi z[16];
    transpose_half_64(z, a);
    transpose_half_64(z + 1, a + 8);
    UNROLL(16)
    for (int i = 0; i < 16; i++) a[i] = z[i];
}

V vi items_of(__m256i keys, __m256i indices)
{
    return vi_or(vl_shl(_mm512_cvtepu32_epi64(keys), 32), _mm512_cvtepu32_epi64(indices));
}

V int64_t put_items(uint64_t *z, vi keys, vi indices, mask_32 m)
{
    const vi low = items_of(_mm512_castsi512_si256(keys), _mm512_castsi512_si256(indices));
    const vi high = items_of(_mm512_extracti64x4_epi64(keys, 1), _mm512_extracti64x4_epi64(indices, 1));
    vi_store(z, _mm512_maskz_compress_epi64((mask_64)m, low));
    vi_store(z + __builtin_popcount(m & 0xff), _mm512_maskz_compress_epi64((mask_64)(m >> 8), high));
    return __builtin_popcount(m);
}

#define LANES_32 16
#define LANES_64 8
#include "cpu/simd/sort_kernels.inc"

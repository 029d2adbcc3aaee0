/* sort_avx2.c - sorting with the vectors of AVX2. */
#define ISA(name) name##_avx2
#include "cpu/simd/avx2.h"
#include "cpu/simd/sort_words.h"

/* Masks have a bit for each word of 32 bits, so two for a key of 64. */
typedef unsigned mask_32;
typedef unsigned mask_64;

/* By mask: the numbers of the words in the mask, then those of the others, four bits each. */
#define IN_MASK(m, i) __builtin_popcount((m) & ((1u << (i)) - 1))
#define PLACE(m, i) ((m) >> (i) & 1 ? IN_MASK(m, i) : __builtin_popcount(m) + (i) - IN_MASK(m, i))
#define WORD(m, i) (i##u << 4 * PLACE(m, i))
#define ORDER(m) WORD(m, 1) | WORD(m, 2) | WORD(m, 3) | WORD(m, 4) | WORD(m, 5) | WORD(m, 6) | WORD(m, 7)
#define ORDERS_4(m) ORDER(m), ORDER((m) + 1u), ORDER((m) + 2u), ORDER((m) + 3u)
#define ORDERS_16(m) ORDERS_4(m), ORDERS_4((m) + 4u), ORDERS_4((m) + 8u), ORDERS_4((m) + 12u)
#define ORDERS_64(m) ORDERS_16(m), ORDERS_16((m) + 16u), ORDERS_16((m) + 32u), ORDERS_16((m) + 48u)
static const uint32_t orders[256] = { ORDERS_64(0u), ORDERS_64(64u), ORDERS_64(128u), ORDERS_64(192u) };

/* The words of the mask in front, the others behind. */
V vi divided(vi a, unsigned m)
{
    const vi shifts = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
    return _mm256_permutevar8x32_epi32(a, _mm256_srlv_epi32(vi_set((int)orders[m]), shifts));
}

V vi lanes_32(void) { return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7); }
V vi halves_low(vi a, vi b) { return _mm256_permute2x128_si256(a, b, 0x20); }
V vi halves_high(vi a, vi b) { return _mm256_permute2x128_si256(a, b, 0x31); }

/* Keys of 32 bits ------------------------------------------------------------------------------ */

V vi min_32(vi a, vi b) { return _mm256_min_epu32(a, b); }
V vi max_32(vi a, vi b) { return _mm256_max_epu32(a, b); }
V vi swap_1_32(vi a) { return _mm256_shuffle_epi32(a, 0xb1); }
V vi swap_2_32(vi a) { return _mm256_shuffle_epi32(a, 0x4e); }
V vi swap_4_32(vi a) { return _mm256_permute4x64_epi64(a, 0x4e); }
V vi reverse_32(vi a) { return _mm256_permutevar8x32_epi32(a, vi_sub(vi_set(7), lanes_32())); }
#define blend_32(lanes, a, b) _mm256_blend_epi32(a, b, (lanes) & 0xff)
V vi set_32(uint32_t x) { return vi_set((int32_t)x); }
V mask_32 none_of_32(mask_32 m) { return m ^ 0xff; }
V mask_32 up_to_32(vi a, vi b) { return vm_mask(vi_eq(min_32(a, b), a)); }
V mask_32 below_32(vi a, vi b) { return none_of_32(up_to_32(b, a)); }
V mask_32 first_32(int64_t n) { return (1u << held(n, VF)) - 1; }
V int64_t count_32(mask_32 m) { return __builtin_popcount(m); }
V void divide_32(uint32_t *low, uint32_t *high, vi a, mask_32 m)
{
    const vi both = divided(a, m);
    vi_store(low, both);
    vi_store(high - VF, both);
}
V vi load_n_32(const uint32_t *x, int64_t n)
{
    return n >= VF ? vi_load(x) : vi_or(vi_load_n(x, held(n, VF)), vm_not(vm_first(n)));
}
V void store_n_32(uint32_t *z, vi a, int64_t n)
{
    if (n >= VF) vi_store(z, a);
    else         vi_store_n(z, a, held(n, VF));
}
V vi every_32(const uint32_t *x, int apart)
{
    return _mm256_i32gather_epi32((const int *)x, vi_mul(lanes_32(), vi_set(apart)), 4);
}
V void put_every_32(uint32_t *z, vi a, int apart)
{
    uint32_t lanes[VF];
    vi_store(lanes, a);
    for (int i = 0; i < VF; i++) z[i * apart] = lanes[i];
}

/* As in sort_avx512.c: keys that are compared are moved to the same lane of two vectors. */
V void sort_bitonic_two_32(vi *a, vi *b)
{
    vi low = halves_low(*a, *b), high = halves_high(*a, *b);
    vi x = min_32(low, high), y = max_32(low, high);
    low = vi_un_low64(x, y), high = vi_un_high64(x, y);
    x = min_32(low, high), y = max_32(low, high);
    low = vf_bits(_mm256_shuffle_ps(vi_as_vf(x), vi_as_vf(y), 0x88));
    high = vf_bits(_mm256_shuffle_ps(vi_as_vf(x), vi_as_vf(y), 0xdd));
    x = min_32(low, high), y = max_32(low, high);
    low = vi_un_low32(x, y), high = vi_un_high32(x, y);
    x = vi_un_low64(low, high), y = vi_un_high64(low, high);
    *a = halves_low(x, y);
    *b = halves_high(x, y);
}

/* Transposes eight rows of `a` to vectors `apart` from each other. */
V void transpose_to_32(vi *z, const vi *a, int apart)
{
    vi c[8];
    transpose_fours_in_lanes(c, a, 8);
    UNROLL(4)
    for (int k = 0; k < 4; k++) {
        z[apart * k] = halves_low(c[k], c[4 + k]);
        z[apart * (k + 4)] = halves_high(c[k], c[4 + k]);
    }
}

V void transpose_8_32(vi a[8]) { transpose_to_32(a, a, 1); }

V void transpose_32(vi a[16])
{
    vi z[16];
    transpose_to_32(z, a, 2);
    transpose_to_32(z + 1, a + 8, 2);
    UNROLL(16)
    for (int i = 0; i < 16; i++) a[i] = z[i];
}

/* Keys of 64 bits ------------------------------------------------------------------------------ */

/* In networks they are signed integers: unsigned ones cannot be compared. */
V vi flipped(vi a) { return vi_xor(a, vl_set(INT64_MIN)); }
V vi min_64(vi a, vi b) { return vl_select(vl_gt(a, b), b, a); }
V vi max_64(vi a, vi b) { return vl_select(vl_gt(a, b), a, b); }
V vi swap_1_64(vi a) { return _mm256_shuffle_epi32(a, 0x4e); }
V vi swap_2_64(vi a) { return _mm256_permute4x64_epi64(a, 0x4e); }
V vi reverse_64(vi a) { return _mm256_permute4x64_epi64(a, 0x1b); }
#define blend_64(lanes, a, b) vd_bits(_mm256_blend_pd(vl_as_vd(a), vl_as_vd(b), (lanes) & 0xf))
V vi set_64(uint64_t x) { return vl_set((int64_t)x); }
V mask_64 none_of_64(mask_64 m) { return m ^ 0xff; }
V mask_64 below_64(vi a, vi b) { return vm_mask(vl_gt(flipped(b), flipped(a))); }
V mask_64 first_64(int64_t n) { return first_32(2 * n); }
V int64_t count_64(mask_64 m) { return __builtin_popcount(m) / 2; }
V void divide_64(uint64_t *low, uint64_t *high, vi a, mask_64 m)
{
    divide_32((uint32_t *)low, (uint32_t *)high, a, m);
}
V vi load_n_64(const uint64_t *x, int64_t n) { return flipped(load_n_32((const uint32_t *)x, 2 * n)); }
V void store_n_64(uint64_t *z, vi a, int64_t n) { store_n_32((uint32_t *)z, flipped(a), 2 * n); }
V vi every_64(const uint64_t *x, int apart)
{
    return flipped(_mm256_setr_epi64x((int64_t)x[0], (int64_t)x[apart], (int64_t)x[2 * apart],
                                      (int64_t)x[3 * apart]));
}
V void put_every_64(uint64_t *z, vi a, int apart)
{
    uint64_t lanes[VD];
    vi_store(lanes, flipped(a));
    for (int i = 0; i < VD; i++) z[i * apart] = lanes[i];
}

V void sort_bitonic_two_64(vi *a, vi *b)
{
    vi low = halves_low(*a, *b), high = halves_high(*a, *b);
    vi x = min_64(low, high), y = max_64(low, high);
    low = vi_un_low64(x, y), high = vi_un_high64(x, y);
    x = min_64(low, high), y = max_64(low, high);
    low = vi_un_low64(x, y), high = vi_un_high64(x, y);
    *a = halves_low(low, high);
    *b = halves_high(low, high);
}

V void transpose_to_64(vi *z, const vi *a, int apart)
{
    const vi b0 = vi_un_low64(a[0], a[1]), b1 = vi_un_high64(a[0], a[1]);
    const vi b2 = vi_un_low64(a[2], a[3]), b3 = vi_un_high64(a[2], a[3]);
    z[0] = halves_low(b0, b2);
    z[apart] = halves_low(b1, b3);
    z[2 * apart] = halves_high(b0, b2);
    z[3 * apart] = halves_high(b1, b3);
}

/* Four columns of 4 * `fours` rows. */
V void transpose_fours_64(vi *a, int fours)
{
    vi z[16];
    UNROLL(4)
    for (int i = 0; i < fours; i++) transpose_to_64(z + i, a + 4 * i, fours);
    UNROLL(16)
    for (int i = 0; i < 4 * fours; i++) a[i] = z[i];
}

V void transpose_8_64(vi a[8]) { transpose_fours_64(a, 2); }
V void transpose_64(vi a[16]) { transpose_fours_64(a, 4); }

/* The mask of four keys of 64 bits, from four bits. */
V mask_64 widened(unsigned m) { return (m & 1) * 3 | (m & 2) * 6 | (m & 4) * 12 | (m & 8) * 24; }

V int64_t put_items(uint64_t *z, vi keys, vi indices, mask_32 m)
{
    const vi evens = vi_un_low32(indices, keys), odds = vi_un_high32(indices, keys);
    const vi low = halves_low(evens, odds), high = halves_high(evens, odds);
    vi_store(z, divided(low, widened(m)));
    vi_store(z + __builtin_popcount(m & 15), divided(high, widened(m >> 4)));
    return __builtin_popcount(m);
}

#define LANES_32 8
#define LANES_64 4
#include "cpu/simd/sort_kernels.inc"

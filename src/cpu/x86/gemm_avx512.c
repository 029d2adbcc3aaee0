/* gemm_avx512.c - products of matrices with the vectors of AVX-512. */
#define ISA(name) name##_avx512
#include "core/half.h"
#include "cpu/gemm/gemm.h"
#include "cpu/gemm/micro_tiles.h"
#include "cpu/kernels.h"
#include "cpu/simd/avx512.h"

V __m128i bytes_16(const char *p) { return _mm_loadu_si128((const __m128i *)(const void *)p); }
V int64_t bytes_8(const char *p)
{
    int64_t x;
    __builtin_memcpy(&x, p, sizeof x);
    return x;
}

V vi lanes_of(const char *a, const char *b, const char *c, const char *d)
{
    const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(bytes_16(a)), bytes_16(b), 1);
    const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(bytes_16(c)), bytes_16(d), 1);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}
V vi lanes_f32(const char *const *row, int64_t at)
{
    return lanes_of(row[0] + at, row[4] + at, row[8] + at, row[12] + at);
}
V vi lanes_f64(const char *const *row, int64_t at)
{
    return lanes_of(row[0] + at, row[2] + at, row[4] + at, row[6] + at);
}
V __m256i halves_of(const char *const *row, int64_t at)
{
    return _mm256_setr_epi64x(bytes_8(row[0] + at), bytes_8(row[4] + at), bytes_8(row[8] + at),
                              bytes_8(row[12] + at));
}
V vi lanes_f16(const char *const *row, int64_t at) { return vf_bits(_mm512_cvtph_ps(halves_of(row, at))); }
V vi lanes_bf16(const char *const *row, int64_t at)
{
    return vi_shl(_mm512_cvtepu16_epi32(halves_of(row, at)), 16);
}

V __m256i halves_n(const void *p, int64_t n) { return _mm256_maskz_loadu_epi16(vm_first(n), p); }
V vf load_f16_n(const void *p, int64_t n) { return _mm512_cvtph_ps(halves_n(p, n)); }
V void store_f16_n(void *p, vf v, int64_t n)
{
    _mm256_mask_storeu_epi16(p, vm_first(n), _mm512_cvtps_ph(v, NEAREST));
}
V void store_bf16_n(void *p, vf v, int64_t n)
{
    _mm512_mask_cvtepi32_storeu_epi16(p, vm_first(n), vf_round_bf16(v));
}
V vf load_bf16_n(const void *p, int64_t n)
{
    return vi_as_vf(vi_shl(_mm512_cvtepu16_epi32(halves_n(p, n)), 16));
}

#define BATCHED(rows, across) ((rows) == 8 || (rows) == ((across) == 1 ? 16 : (across) == 2 ? 14 : 6))
#define WHOLE(rows, across) ((across) >= 3 && BATCHED(rows, across))
#define PREFETCH_ROWS 8
#define PREFETCH_ACROSS 3

/* Half vectors ----------------------------------------------------------------------------- */

#define E float
#define VEC __m256
#define W 8
#define TRANSPOSED 4
#define LOAD(p) _mm256_loadu_ps((const float *)(const void *)(p))
#define LOAD_N(p, n) _mm256_maskz_loadu_ps(vk_first(n), p)
#define STORE(p, v) _mm256_storeu_ps((float *)(void *)(p), v)
#define STORE_N(p, v, n) _mm256_mask_storeu_ps(p, vk_first(n), v)
#define STREAM(p, v) _mm256_stream_ps((float *)(void *)(p), v)
#define SPREAD(p) _mm256_set1_ps(*(const float *)(const void *)(p))
#define MADD(x, y, s) _mm256_fmadd_ps(x, y, s)
#define ADD(x, y) _mm256_add_ps(x, y)
#define ZERO() _mm256_setzero_ps()
#define START(p) _mm256_setzero_ps()
#define START_ROWS 0
#define KEEP_N(v, n) _mm256_maskz_mov_ps(vk_first(n), v)

/* Eight columns: as many loads as for sixteen, but shorter loads are faster. */
#define EACH_1 TO_16
#define NAME(x) ISA(half_##x##_f32)
#include "cpu/gemm/microkernel_real.inc"
#undef NAME
#undef EACH_1

/* Panels of eight rows. */
V __m256i pair_f32(const char *const *row, int64_t at)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(bytes_16(row[0] + at)), bytes_16(row[4] + at), 1);
}
V __m128i pair_of_halves(const char *const *row, int64_t at)
{
    return _mm_insert_epi64(_mm_cvtsi64_si128(bytes_8(row[0] + at)), bytes_8(row[4] + at), 1);
}
V __m256i pair_f16(const char *const *row, int64_t at)
{
    return _mm256_castps_si256(_mm256_cvtph_ps(pair_of_halves(row, at)));
}
V __m256i pair_bf16(const char *const *row, int64_t at)
{
    return _mm256_slli_epi32(_mm256_cvtepu16_epi32(pair_of_halves(row, at)), 16);
}
V void transpose_half(__m256 *v, __m256i a, __m256i b, __m256i c, __m256i d)
{
    const __m256i ab = _mm256_unpacklo_epi32(a, b), cd = _mm256_unpacklo_epi32(c, d);
    const __m256i ab_high = _mm256_unpackhi_epi32(a, b), cd_high = _mm256_unpackhi_epi32(c, d);
    v[0] = _mm256_castsi256_ps(_mm256_unpacklo_epi64(ab, cd));
    v[1] = _mm256_castsi256_ps(_mm256_unpackhi_epi64(ab, cd));
    v[2] = _mm256_castsi256_ps(_mm256_unpacklo_epi64(ab_high, cd_high));
    v[3] = _mm256_castsi256_ps(_mm256_unpackhi_epi64(ab_high, cd_high));
}

#define S float
#define NAME(x) ISA(half_##x##_f32)
#define ELEMENT(p) (*(const float *)(const void *)(p))
#define TRANSPOSE(v, row, at) \
    transpose_half(v, pair_f32(row, at), pair_f32(row + 1, at), pair_f32(row + 2, at), pair_f32(row + 3, at))
#include "cpu/gemm/pack_along.inc"
#undef S
#undef NAME
#undef ELEMENT
#undef TRANSPOSE
#define S uint16_t
#define NAME(x) ISA(half_##x##_f16)
#define ELEMENT(p) tsri_f16_to_f32(*(const uint16_t *)(const void *)(p))
#define TRANSPOSE(v, row, at) \
    transpose_half(v, pair_f16(row, at), pair_f16(row + 1, at), pair_f16(row + 2, at), pair_f16(row + 3, at))
#include "cpu/gemm/pack_along.inc"
#undef NAME
#undef ELEMENT
#undef TRANSPOSE
#define NAME(x) ISA(half_##x##_bf16)
#define ELEMENT(p) tsri_bf16_to_f32(*(const uint16_t *)(const void *)(p))
#define TRANSPOSE(v, row, at) \
    transpose_half(v, pair_bf16(row, at), pair_bf16(row + 1, at), pair_bf16(row + 2, at), \
                   pair_bf16(row + 3, at))
#include "cpu/gemm/pack_along.inc"
#undef S
#undef NAME
#undef ELEMENT
#undef TRANSPOSE
#undef E
#undef VEC
#undef W
#undef TRANSPOSED
#undef LOAD
#undef LOAD_N
#undef STORE
#undef STREAM
#undef STORE_N
#undef SPREAD
#undef MADD
#undef ADD
#undef ZERO
#undef START
#undef START_ROWS
#undef KEEP_N

/* Whole vectors ---------------------------------------------------------------------------- */

#define NARROW_32 8
#define NARROW_64 0
#define pack_narrow_f32 ISA(half_pack_along_f32)
#define pack_narrow_f16 ISA(half_pack_along_f16)
#define pack_narrow_bf16 ISA(half_pack_along_bf16)
#define pack_narrow_f64 ISA(pack_along_f64)

/* Micro-tiles three or four vectors wide have the fewest loads for their sums. With three a panel of b leaves
 * room in the L1 cache; four suit the columns of small matrices. */
#define EACH_1 TO_16
#define EACH_2 TO_14
#define EACH_3 TO_8
#define EACH_4 TO_6
#include "cpu/gemm/float_kernels.inc"

#undef EACH_1
#undef EACH_2
#undef EACH_4
#define EACH_1 TO_12
#define EACH_2 TO_12
V vi madd_pairs(vi x, vi y, vi s) { return vi_add(s, _mm512_madd_epi16(x, y)); }
#include "cpu/gemm/integer_kernels.inc"

#define EACH_COMPLEX_1 TO_8
#define COMPLEX_ROWS_1 8
#define EACH_COMPLEX_2 TO_4
#define COMPLEX_ROWS_2 4
#include "cpu/gemm/complex_kernels.inc"

/* Tables ----------------------------------------------------------------------------------- */

#define HALF(r) ISA(half_microkernel_##r##x1_f32),
static const tsri_gemm_microkernels microkernels_f32[] = {
    { VF / 2, 16, { NULL, TO_16(HALF) } },         { VF, 16, { NULL, KERNELS_16(1, f32) } },
    { 2 * VF, 14, { NULL, KERNELS_14(2, f32) } },  { 3 * VF, 8, { NULL, KERNELS_8(3, f32) } },
    { 4 * VF, 6, { NULL, KERNELS_6(4, f32) } },    { 0 }
};
static const tsri_gemm_microkernels microkernels_f64[] = {
    { VD, 16, { NULL, KERNELS_16(1, f64) } },     { 2 * VD, 14, { NULL, KERNELS_14(2, f64) } },
    { 3 * VD, 8, { NULL, KERNELS_8(3, f64) } },   { 4 * VD, 6, { NULL, KERNELS_6(4, f64) } },
    { 0 }
};
static const tsri_gemm_microkernels microkernels_pairs[] = KERNELS_12_12_8(VF, pairs);
static const tsri_gemm_microkernels microkernels_u32[] = KERNELS_12_12_8(VF, u32);

enum { MR = 14, FLOAT_VECTORS = 4, WORD_VECTORS = 3 };
#define PANEL_F32 ISA(microkernel_14x2_f32)
#define PANEL_F64 ISA(microkernel_14x2_f64)
#include "cpu/gemm/enter_kernels.inc"

void tsri_cpu_gemm_avx512(tsri_cpu_kernels *k);
void tsri_cpu_gemm_avx512(tsri_cpu_kernels *k) { enter_products(k->gemm); }

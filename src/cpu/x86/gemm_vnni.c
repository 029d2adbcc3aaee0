/* gemm_vnni.c - products of bytes and of short integers with AVX512-VNNI: one instruction sums the
 * products of four, or two, neighbouring indices of k.
 *
 * It multiplies unsigned bytes (of a) by signed ones (of b). Where a is signed, 128 is added to its
 * elements, and sums start from -128 times the column sums of b, which are the first row of a packed
 * panel. Sums wrap modulo 2^32, so an overflow on the way does no harm.
 *
 * Integers of 32 bits are split in halves: x is low + 2^16 high, with a signed low half. Modulo 2^32, x y is
 * low low + 2^16 (low high + high low). The first term takes one product of pairs for two indices of k, the
 * second one for each index. */
#define ISA(name) name##_vnni
#include "core/mem.h"
#include "cpu/gemm/gemm.h"
#include "cpu/gemm/micro_tiles.h"
#include "cpu/kernels.h"
#include "cpu/simd/avx512.h"

#define EACH_1 TO_12
#define EACH_2 TO_12
#define EACH_3 TO_8
V vi madd_pairs(vi x, vi y, vi s) { return _mm512_dpwssd_epi32(s, x, y); }
#include "cpu/gemm/microkernel_pairs.inc"

/* Micro-kernels of fours ------------------------------------------------------------------- */

#define PACKED_ONLY
#define E uint32_t
#define VEC vi
#define W VF
#define LOAD(p) vi_load(p)
#define LOAD_N(p, n) vi_load_n(p, n)
#define STORE(p, v) vi_store(p, v)
#define STORE_N(p, v, n) vi_store_n(p, v, n)
#define SPREAD(p) vi_set(*(const int32_t *)(const void *)(p))
#define ADD(x, y) vi_add(x, y)
#define START(p) vi_load(p)
#define START_ROWS 1
#define MADD(x, y, s) _mm512_dpbusd_epi32(s, x, y)
#define NAME(x) ISA(x##_fours)
#include "cpu/gemm/microkernel_real.inc"

#undef NAME
#undef MADD
#undef START

/* Micro-kernels of halves ------------------------------------------------------------------ */

#define START(p) vi_load(p)
#define MADD(x, y, s) _mm512_dpwssd_epi32(s, x, y)
#define SHIFT_SUM(v) vi_shl(v, 16)
#define NAME(x) ISA(x##_halves)
#include "cpu/gemm/microkernel_real.inc"
#undef SHIFT_SUM

/* Panels of halves: first, for each index of k, the low and high half of each lane as one word; then, for
 * each two indices, their low halves as one word. In b the high half comes first. */
static tsri_gemm_pack_fn pack_words;

static void ISA(split_words)(uint32_t *z, const char *src, int64_t step, int64_t step_k, int64_t n, int64_t k,
                             int width, const bool swap)
{
    enum { INDICES = 16 };
    _Alignas(64) uint32_t word[INDICES * 3 * VF];
    const int64_t pairs = (k + 1) / 2;
    uint32_t *both = z, *low = z + 2 * pairs * width;
    for (int64_t p = 0; p < k; p += INDICES) {
        const int64_t some = k - p < INDICES ? k - p : INDICES, words = (some + 1) / 2 * 2 * width;
        pack_words(word, src + p * step_k, step, step_k, n, some, width);
        for (int64_t i = some * width; i < words; i++) word[i] = 0;
        for (int64_t i = 0; i < words; i++) {
            const uint32_t x = word[i] + ((word[i] & 0x8000) << 1);
            *both++ = swap ? x << 16 | x >> 16 : x;
        }
        for (int64_t q = 0; q < words; q += 2 * width)
            for (int64_t i = 0; i < width; i++) *low++ = (word[q + i] & 0xffff) | word[q + width + i] << 16;
    }
}

static void ISA(split_a)(void *panel, const char *src, int64_t step, int64_t step_k, int64_t n, int64_t k,
                         int width)
{
    ISA(split_words)(panel, src, step, step_k, n, k, width, false);
}

/* Sums start from 0. */
static void ISA(split_b)(void *panel, const char *src, int64_t step, int64_t step_k, int64_t n, int64_t k,
                         int width)
{
    memset(panel, 0, (size_t)width * 12);
    ISA(split_words)((uint32_t *)panel + 3 * width, src, step, step_k, n, k, width, true);
}

/* Panels of fours -------------------------------------------------------------------------- */

#include "cpu/x86/pack_fours.inc"

static void ISA(pack_u8)(void *panel, const char *src, int64_t step, int64_t step_k, int64_t n, int64_t k,
                         int width)
{
    ISA(pack_bytes)(panel, src, step, step_k, n, k, width);
}

/* With 128 added, also to the padding: b has zeros there. */
static void ISA(pack_s8)(void *panel, const char *src, int64_t step, int64_t step_k, int64_t n, int64_t k,
                         int width)
{
    char *z = panel;
    const int64_t bytes = (k + 3) / 4 * 4 * width;
    ISA(pack_bytes)(z, src, step, step_k, n, k, width);
    for (int64_t i = 0; i < bytes; i += VBYTES)
        vi_store_bytes(
            z + i,
            vi_xor(vi_load_bytes(z + i, bytes - i < VBYTES ? bytes - i : VBYTES), _mm512_set1_epi8(-128)),
            bytes - i < VBYTES ? bytes - i : VBYTES);
}

/* Panels of b have whole vectors. */
static void ISA(pack_b)(void *panel, const char *src, int64_t step, int64_t step_k, int64_t n, int64_t k,
                        int width)
{
    memset(panel, 0, (size_t)width * 4);
    ISA(pack_bytes)((char *)panel + 4 * width, src, step, step_k, n, k, width);
}

static void ISA(pack_b_for_s8)(void *panel, const char *src, int64_t step, int64_t step_k, int64_t n,
                               int64_t k, int width)
{
    char *z = panel;
    ISA(pack_bytes)(z + 4 * width, src, step, step_k, n, k, width);
    for (int64_t i = 0; i < 4 * (int64_t)width; i += VBYTES) {
        vi sum = vi_set(0);
        for (int64_t p = 1; p <= (k + 3) / 4; p++)
            sum = _mm512_dpbusd_epi32(sum, _mm512_set1_epi8(1), vi_load(z + 4 * p * width + i));
        vi_store(z + i, vi_sub(vi_set(0), vi_shl(sum, 7)));
    }
}

/* Dots ------------------------------------------------------------------------------------- */

/* Of x and a row. Where 128 was added to the elements of x, 128 times the sum of the row is subtracted. */
V uint32_t dot(const char *x, const char *row, int64_t k, const bool added)
{
    const vi one = _mm512_set1_epi8(1);
    vi sum[2] = { vi_set(0), vi_set(0) }, all[2] = { vi_set(0), vi_set(0) };
    int64_t p = 0;
    for (; p + 2 * VBYTES <= k; p += 2 * VBYTES)
        UNROLL for (int i = 0; i < 2; i++) {
            const vi v = vi_load(row + p + i * VBYTES);
            sum[i] = _mm512_dpbusd_epi32(sum[i], vi_load(x + p + i * VBYTES), v);
            if (added) all[i] = _mm512_dpbusd_epi32(all[i], one, v);
        }
    for (; p < k; p += VBYTES) {
        const int64_t n = k - p < VBYTES ? k - p : VBYTES;
        const vi v = vi_load_bytes(row + p, n);
        sum[0] = _mm512_dpbusd_epi32(sum[0], vi_load_bytes(x + p, n), v);
        if (added) all[0] = _mm512_dpbusd_epi32(all[0], one, v);
    }
    const vi less = vi_shl(vi_add(all[0], all[1]), 7);
    return (uint32_t)_mm512_reduce_add_epi32(vi_sub(vi_add(sum[0], sum[1]), less));
}

static void ISA(dots_s8)(uint32_t *sums, const char *x, const char *row, int64_t step, int64_t rows,
                         int64_t k)
{
    for (int64_t i = 0; i < rows; i++) sums[i] = dot(x, row + i * step, k, true);
}

static void ISA(dots_u8)(uint32_t *sums, const char *x, const char *row, int64_t step, int64_t rows,
                         int64_t k)
{
    for (int64_t i = 0; i < rows; i++) sums[i] = dot(x, row + i * step, k, false);
}

/* Tables ----------------------------------------------------------------------------------- */

static tsri_gemm_dtype s8_dtypes[TSR_DTYPE_COUNT], s8_right[TSR_DTYPE_COUNT], u8_dtypes[TSR_DTYPE_COUNT],
    u8_right[TSR_DTYPE_COUNT], split_dtypes[TSR_DTYPE_COUNT], split_right[TSR_DTYPE_COUNT];

static void fill(tsri_gemm_dtype *dtypes, tsr_dtype dtype, tsri_gemm_pack_fn pack)
{
    for (int i = 0; i < TSR_DTYPE_COUNT; i++) {
        dtypes[i] = tsri_gemm_dtypes[i];
        dtypes[i].rows = NULL;
        dtypes[i].native = dtypes[i].cls == TSRI_GEMM_U32;  /* of results */
    }
    dtypes[dtype].pack = pack;
}

static const tsri_gemm_microkernels microkernels_fours[] = KERNELS_12_12_8(VF, fours);
static const tsri_gemm_microkernels microkernels_pairs[] = KERNELS_12_12_8(VF, pairs);
static const tsri_gemm_microkernels microkernels_halves[] = KERNELS_12_12_8(VF, halves);

void tsri_cpu_gemm_vnni(tsri_cpu_kernels *k);
void tsri_cpu_gemm_vnni(tsri_cpu_kernels *k)
{
    const tsri_gemm_kernels fours = { .element = 4,
                                      .sum = 4,
                                      .group = 4,
                                      .start = 1,
                                      .panel = 3 * VF,
                                      .packed_only = true,
                                      .microkernels = microkernels_fours };
    fill(s8_dtypes, TSR_I8, ISA(pack_s8));
    fill(s8_right, TSR_I8, ISA(pack_b_for_s8));
    fill(u8_dtypes, TSR_U8, ISA(pack_u8));
    fill(u8_right, TSR_I8, ISA(pack_b));
    k->gemm[TSRI_GEMM_S8] = k->gemm[TSRI_GEMM_U8] = fours;
    k->gemm[TSRI_GEMM_S8].dtypes = s8_dtypes;
    k->gemm[TSRI_GEMM_S8].right = s8_right;
    k->gemm[TSRI_GEMM_S8].dots = ISA(dots_s8);
    k->gemm[TSRI_GEMM_U8].dtypes = u8_dtypes;
    k->gemm[TSRI_GEMM_U8].right = u8_right;
    k->gemm[TSRI_GEMM_U8].dots = ISA(dots_u8);
    k->gemm[TSRI_GEMM_PAIRS].microkernels = microkernels_pairs;
    pack_words = k->gemm[TSRI_GEMM_F32].dtypes[TSR_F32].pack;  /* it moves words, whatever their meaning */
    fill(split_dtypes, TSR_I32, ISA(split_a));
    fill(split_right, TSR_I32, ISA(split_b));
    split_dtypes[TSR_U32].pack = ISA(split_a);
    split_right[TSR_U32].pack = ISA(split_b);
    k->gemm[TSRI_GEMM_SPLIT] = (tsri_gemm_kernels){
        .element = 12, .sum = 4, .group = 2, .start = 1, .block = TSRI_GEMM_BLOCK,
        .panel = 3 * VF, .packed_only = true, .microkernels = microkernels_halves,
        .dtypes = split_dtypes, .right = split_right
    };
}

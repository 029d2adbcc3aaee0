/* gemm_vnni.c - products of bytes and of short integers where a machine sums four, or two,
 * products of neighbouring indices of k at once.
 *
 * It multiplies bytes without a sign (of a) by bytes with one (of b). Where a has signs,
 * 128 is added to its elements, and sums start from -128 times the column sums of b, which
 * lie before the packed panels. Sums wrap, so it does not matter that they may. */
#include "core/mem.h"
#include "cpu/gemm/gemm.h"
#include "cpu/gemm/strips.h"
#include "cpu/kernels.h"
#include "cpu/simd/avx512.h"

#define EACH_1 TO_12
#define EACH_2 TO_12
#define EACH_3 TO_8
V vi madd_pairs(vi x, vi y, vi s) { return _mm512_dpwssd_epi32(s, x, y); }
#include "cpu/gemm/pairs.inc"

/* Strips of fours -------------------------------------------------------------------------- */

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
#define NAME(x) x##_fours
#include "cpu/gemm/strip.inc"

/* Panels of fours -------------------------------------------------------------------------- */

#include "cpu/gemm/fours.inc"

static void pack_u8(void *panel, const char *src, int64_t step, int64_t step_k, int64_t n, int64_t k, int width)
{
    pack_bytes(panel, src, step, step_k, n, k, width);
}

/* With 128 added: also to what is missing, which b has zeros for. */
static void pack_s8(void *panel, const char *src, int64_t step, int64_t step_k, int64_t n, int64_t k, int width)
{
    char *z = panel;
    const int64_t bytes = (k + 3) / 4 * 4 * width;
    pack_bytes(z, src, step, step_k, n, k, width);
    for (int64_t i = 0; i < bytes; i += VBYTES)
        vi_store_bytes(z + i, vi_xor(vi_load_bytes(z + i, bytes - i < VBYTES ? bytes - i : VBYTES), _mm512_set1_epi8(-128)),
                       bytes - i < VBYTES ? bytes - i : VBYTES);
}

/* Panels of b have whole vectors. */
static void pack_b(void *panel, const char *src, int64_t step, int64_t step_k, int64_t n, int64_t k, int width)
{
    memset(panel, 0, (size_t)width * 4);
    pack_bytes((char *)panel + 4 * width, src, step, step_k, n, k, width);
}

static void pack_b_for_s8(void *panel, const char *src, int64_t step, int64_t step_k, int64_t n, int64_t k, int width)
{
    char *z = panel;
    pack_bytes(z + 4 * width, src, step, step_k, n, k, width);
    for (int64_t i = 0; i < 4 * (int64_t)width; i += VBYTES) {
        vi sum = vi_set(0);
        for (int64_t p = 1; p <= (k + 3) / 4; p++)
            sum = _mm512_dpbusd_epi32(sum, _mm512_set1_epi8(1), vi_load(z + 4 * p * width + i));
        vi_store(z + i, vi_sub(vi_set(0), vi_shl(sum, 7)));
    }
}

/* Tables ----------------------------------------------------------------------------------- */

static tsri_gemm_dtype s8_dtypes[TSR_DTYPE_COUNT], s8_right[TSR_DTYPE_COUNT], u8_dtypes[TSR_DTYPE_COUNT],
    u8_right[TSR_DTYPE_COUNT];

static void fill(tsri_gemm_dtype *dtypes, tsr_dtype dtype, tsri_gemm_pack_fn pack)
{
    for (int i = 0; i < TSR_DTYPE_COUNT; i++) {
        dtypes[i] = tsri_gemm_dtypes[i];
        dtypes[i].rows = NULL;
        dtypes[i].native = dtypes[i].cls == TSRI_GEMM_U32;  /* of results */
    }
    dtypes[dtype].pack = pack;
}

#define ONE(r) strip_1_##r##_fours,
#define TWO(r) strip_2_##r##_fours,
#define THREE(r) strip_3_##r##_fours,
static const tsri_gemm_strips strips_fours[] = {
    { VF, 12, { NULL, TO_12(ONE) } }, { 2 * VF, 12, { NULL, TO_12(TWO) } }, { 3 * VF, 8, { NULL, TO_8(THREE) } }, { 0 }
};
#undef ONE
#undef TWO
#undef THREE
#define ONE(r) strip_1_##r##_pairs,
#define TWO(r) strip_2_##r##_pairs,
#define THREE(r) strip_3_##r##_pairs,
static const tsri_gemm_strips strips_pairs[] = {
    { VF, 12, { NULL, TO_12(ONE) } }, { 2 * VF, 12, { NULL, TO_12(TWO) } }, { 3 * VF, 8, { NULL, TO_8(THREE) } }, { 0 }
};

void tsri_cpu_gemm_vnni(tsri_cpu_kernels *k);
void tsri_cpu_gemm_vnni(tsri_cpu_kernels *k)
{
    const tsri_gemm_ukr fours = { .element = 4, .sum = 4, .group = 4, .start = 1, .panel = 3 * VF, .packed_only = true,
                                  .strips = strips_fours };
    fill(s8_dtypes, TSR_I8, pack_s8);
    fill(s8_right, TSR_I8, pack_b_for_s8);
    fill(u8_dtypes, TSR_U8, pack_u8);
    fill(u8_right, TSR_I8, pack_b);
    k->gemm[TSRI_GEMM_S8] = k->gemm[TSRI_GEMM_U8] = fours;
    k->gemm[TSRI_GEMM_S8].dtypes = s8_dtypes;
    k->gemm[TSRI_GEMM_S8].right = s8_right;
    k->gemm[TSRI_GEMM_U8].dtypes = u8_dtypes;
    k->gemm[TSRI_GEMM_U8].right = u8_right;
    k->gemm[TSRI_GEMM_PAIRS].strips = strips_pairs;
}

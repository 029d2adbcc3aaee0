/* gemm_avx2.c - products of matrices with the vectors of AVX2. */
#define ISA(name) name##_avx2
#include "core/half.h"
#include "core/mem.h"
#include "cpu/gemm/gemm.h"
#include "cpu/gemm/micro_tiles.h"
#include "cpu/kernels.h"
#include "cpu/simd/avx2.h"

V __m128i bytes_16(const char *p) { return _mm_loadu_si128((const __m128i *)(const void *)p); }
V int64_t bytes_8(const char *p)
{
    int64_t x;
    __builtin_memcpy(&x, p, sizeof x);
    return x;
}

V vi lanes_of(const char *a, const char *b)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(bytes_16(a)), bytes_16(b), 1);
}
V vi lanes_f32(const char *const *row, int64_t at) { return lanes_of(row[0] + at, row[4] + at); }
V vi lanes_f64(const char *const *row, int64_t at) { return lanes_of(row[0] + at, row[2] + at); }
V __m128i halves_of(const char *const *row, int64_t at)
{
    return _mm_insert_epi64(_mm_cvtsi64_si128(bytes_8(row[0] + at)), bytes_8(row[4] + at), 1);
}
V vi lanes_f16(const char *const *row, int64_t at) { return vf_bits(_mm256_cvtph_ps(halves_of(row, at))); }
V vi lanes_bf16(const char *const *row, int64_t at)
{
    return vi_shl(_mm256_cvtepu16_epi32(halves_of(row, at)), 16);
}

V vf load_f16_n(const void *p, int64_t n)
{
    uint16_t x[VF] = { 0 };
    memcpy(x, p, (size_t)n * sizeof *x);
    return vf_load_f16(x);
}
V vf load_bf16_n(const void *p, int64_t n)
{
    uint16_t x[VF] = { 0 };
    memcpy(x, p, (size_t)n * sizeof *x);
    return vf_load_bf16(x);
}
V void store_f16_n(void *p, vf v, int64_t n)
{
    uint16_t x[VF];
    vf_store_f16(x, v);
    memcpy(p, x, (size_t)n * sizeof *x);
}
V void store_bf16_n(void *p, vf v, int64_t n)
{
    uint16_t x[VF];
    vf_store_bf16(x, v);
    memcpy(p, x, (size_t)n * sizeof *x);
}

#define NARROW_32 0
#define NARROW_64 0
#define pack_narrow_f32 ISA(pack_along_f32)
#define pack_narrow_f16 ISA(pack_along_f16)
#define pack_narrow_bf16 ISA(pack_along_bf16)
#define pack_narrow_f64 ISA(pack_along_f64)

#define WHOLE(rows, across) true
#define BATCHED(rows, across) ((rows) == 8 || (rows) == ((across) == 1 ? 12 : 6))
#define PREFETCH_ROWS 6
#define PREFETCH_ACROSS 2
#define EACH_1 TO_12
#define EACH_2 TO_6
#include "cpu/gemm/float_kernels.inc"

V vi madd_pairs(vi x, vi y, vi s) { return vi_add(s, _mm256_madd_epi16(x, y)); }
#include "cpu/gemm/integer_kernels.inc"

#define EACH_COMPLEX_1 TO_4
#define COMPLEX_ROWS_1 4
#include "cpu/gemm/complex_kernels.inc"

#define KERNELS_12_6(lanes, suffix) \
    { { (lanes), 12, { NULL, KERNELS_12(1, suffix) } }, \
      { 2 * (lanes), 6, { NULL, KERNELS_6(2, suffix) } }, { 0 } }
static const tsri_gemm_microkernels microkernels_f32[] = KERNELS_12_6(VF, f32);
static const tsri_gemm_microkernels microkernels_f64[] = KERNELS_12_6(VD, f64);
static const tsri_gemm_microkernels microkernels_pairs[] = KERNELS_12_6(VF, pairs);
static const tsri_gemm_microkernels microkernels_u32[] = KERNELS_12_6(VF, u32);

enum { MR = 6, FLOAT_VECTORS = 2, WORD_VECTORS = 2 };
#define PANEL_F32 ISA(microkernel_6x2_f32)
#define PANEL_F64 ISA(microkernel_6x2_f64)
#include "cpu/gemm/enter_kernels.inc"

void tsri_cpu_gemm_avx2(tsri_cpu_kernels *k);
void tsri_cpu_gemm_avx2(tsri_cpu_kernels *k) { enter_products(k->gemm); }

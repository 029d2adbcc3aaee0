/* gemm_bf16.c - products of bf16 with AVX512-BF16: one instruction adds the products of two neighbouring
 * indices of k to a sum in float. Subnormal numbers count as 0. */
#define ISA(name) name##_avx512bf16
#include "core/mem.h"
#include "cpu/gemm/gemm.h"
#include "cpu/gemm/micro_tiles.h"
#include "cpu/kernels.h"
#include "cpu/simd/avx512.h"
#include "cpu/x86/pack_pairs_16.inc"

#define EACH_1 TO_12
#define EACH_2 TO_12
#define EACH_3 TO_8

/* Sums are vectors of floats from the start: if they are cast from integers and back, gcc 12 stores all of
 * them with every other index. */
V vf add_products(vf x, vf y, vf s) { return _mm512_dpbf16_ps(s, (__m512bh)x, (__m512bh)y); }

#define PACKED_ONLY
#define E uint32_t
#define VEC vf
#define W VF
#define LOAD(p) vf_load(p)
#define LOAD_N(p, n) vf_load_n(p, n)
#define STORE(p, v) vf_store(p, v)
#define STORE_N(p, v, n) vf_store_n(p, v, n)
#define SPREAD(p) vi_as_vf(vi_set(*(const int32_t *)(const void *)(p)))
#define ADD(x, y) vf_add(x, y)
#define START(p) vf_zero()
#define START_ROWS 0
#define MADD(x, y, s) add_products(x, y, s)
#define NAME(x) ISA(x##_bf16)
#include "cpu/gemm/microkernel_real.inc"

static const tsri_gemm_microkernels microkernels[] = KERNELS_12_12_8(VF, bf16);

static tsri_gemm_dtype dtypes[TSR_DTYPE_COUNT];

void tsri_cpu_gemm_bf16(tsri_cpu_kernels *k);
void tsri_cpu_gemm_bf16(tsri_cpu_kernels *k)
{
    for (int i = 0; i < TSR_DTYPE_COUNT; i++) {
        dtypes[i] = k->gemm[TSRI_GEMM_F32].dtypes[i];
        dtypes[i].native = false;
        dtypes[i].rows = NULL;
    }
    dtypes[TSR_BF16].pack = ISA(pack_pairs_16);
    k->gemm[TSRI_GEMM_BF16] = (tsri_gemm_kernels){
        .element = 4, .sum = 4, .group = 2, .panel = 3 * VF, .packed_only = true,
        .microkernels = microkernels, .dtypes = dtypes, .right = dtypes
    };
}

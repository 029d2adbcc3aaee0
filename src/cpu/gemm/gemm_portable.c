/* gemm_portable.c - micro-kernels in plain C, for 16 vector registers of 16 bytes. */
#include "core/status_int.h"
#include "gemm.h"
#include "cpu/template/isa_suffix.inc"

#define NAME(x) ISA(x##_f32)
#define P float
#define A float
#define MR 4
#define NR 8
#define PRODUCT(x, y) ((x) * (y))
#include "portable_real.inc"

#define NAME(x) ISA(x##_f64)
#define P double
#define A double
#define MR 4
#define NR 4
#define PRODUCT(x, y) ((x) * (y))
#include "portable_real.inc"

#define NAME(x) ISA(x##_i16)
#define P int16_t
#define A uint32_t
#define MR 4
#define NR 8
#define PRODUCT(x, y) ((uint32_t)((int32_t)(x) * (int32_t)(y)))
#include "portable_real.inc"

#define NAME(x) ISA(x##_u32)
#define P uint32_t
#define A uint32_t
#define MR 4
#define NR 4
#define PRODUCT(x, y) ((x) * (y))
#include "portable_real.inc"

#define NAME(x) ISA(x##_u64)
#define P uint64_t
#define A uint64_t
#define MR 4
#define NR 4
#define PRODUCT(x, y) ((x) * (y))
#include "portable_real.inc"

#define NAME(x) ISA(x##_c64)
#define R float
#define MR 2
#define NR 4
#include "portable_complex.inc"

#define NAME(x) ISA(x##_c128)
#define R double
#define MR 2
#define NR 4
#include "portable_complex.inc"

#define ROW(suffix, rows, cols, bytes, of_sum)                                                             \
    { .run = ISA(panel_##suffix), .mr = rows, .nr = cols, .element = bytes, .sum = of_sum, .group = 1, \
      .panel = cols, \
      .microkernels = ISA(microkernels_##suffix), .dtypes = tsri_gemm_dtypes, .right = tsri_gemm_dtypes }

const tsri_gemm_kernels tsri_gemm_kernels_portable[TSRI_GEMM_CLASSES] = {
    [TSRI_GEMM_F32]  = ROW(f32,  4, 8, 4, 4),
    [TSRI_GEMM_F64]  = ROW(f64,  4, 4, 8, 8),
    [TSRI_GEMM_I16]  = ROW(i16,  4, 8, 2, 4),
    [TSRI_GEMM_U32]  = ROW(u32,  4, 4, 4, 4),
    [TSRI_GEMM_U64]  = ROW(u64,  4, 4, 8, 8),
    [TSRI_GEMM_C64]  = ROW(c64,  2, 4, 8, 8),
    [TSRI_GEMM_C128] = ROW(c128, 2, 4, 16, 16),
};

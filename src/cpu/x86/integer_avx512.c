/* integer_avx512.c - elementwise kernels of integers with the vectors of AVX-512. */
#define ISA(name) name##_avx512
#include "cpu/simd/avx512.h"

/* VD integers of 32 bits as doubles, and back: whole numbers whose low 32 bits count. */
V vd vd_load_i32(const void *p) { return _mm512_cvtepi32_pd(_mm256_loadu_si256(p)); }
V vd vd_load_u32(const void *p) { return _mm512_cvtepu32_pd(_mm256_loadu_si256(p)); }
V void vd_store_i32(void *p, vd x) { _mm256_storeu_si256(p, _mm512_cvtepi64_epi32(_mm512_cvtpd_epi64(x))); }
V void vd_store_u32(void *p, vd x) { vd_store_i32(p, x); }

#include "cpu/simd/integer_dtypes.inc"

void tsri_cpu_integer_avx512(tsri_cpu_kernels *k);
void tsri_cpu_integer_avx512(tsri_cpu_kernels *k) { ISA(enter_integers)(k); }

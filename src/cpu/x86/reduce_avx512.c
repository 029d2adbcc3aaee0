/* reduce_avx512.c - reductions with the vectors of AVX-512. */
#define ISA(name) name##_avx512
#include "cpu/simd/avx512.h"
V vl vi_sum8(vi x) { return _mm512_sad_epu8(x, _mm512_setzero_si512()); }
/* A bit for each byte that is not 0. */
V uint64_t vi_set_bytes(vi x) { return _mm512_test_epi8_mask(x, x); }
#include "cpu/simd/reduce_dtypes.inc"

void tsri_cpu_reduce_avx512(tsri_cpu_kernels *k);
void tsri_cpu_reduce_avx512(tsri_cpu_kernels *k) { ISA(enter_reduces)(k); }

/* reduce_avx2.c - reductions with the vectors of AVX2. */
#define ISA(name) name##_avx2
#include "cpu/simd/avx2.h"
V vl vi_sum8(vi x) { return _mm256_sad_epu8(x, _mm256_setzero_si256()); }
/* A bit for each byte that is not 0. */
V uint64_t vi_set_bytes(vi x)
{
    return (uint32_t)~_mm256_movemask_epi8(_mm256_cmpeq_epi8(x, _mm256_setzero_si256()));
}
#include "cpu/simd/reduce_dtypes.inc"

void tsri_cpu_reduce_avx2(tsri_cpu_kernels *k);
void tsri_cpu_reduce_avx2(tsri_cpu_kernels *k) { ISA(enter_reduces)(k); }

/* attention_avx512.c - rows of scores with the vectors of AVX-512. */
#define ISA(name) name##_avx512
#include "cpu/simd/avx512.h"

V float vf_largest(vf x) { return _mm512_reduce_max_ps(x); }

#include "cpu/simd/attention.inc"

void tsri_cpu_attention_avx512(tsri_cpu_kernels *k);
void tsri_cpu_attention_avx512(tsri_cpu_kernels *k) { k->attention = &attention_rows; }

/* blocks_avx512.c - products with quantised blocks, with the vectors of AVX-512. */
#define ISA(name) name##_avx512
#include "cpu/simd/avx512.h"
#include "cpu/simd/blocks.inc"

void tsri_cpu_blocks_avx512(tsri_cpu_kernels *k);
void tsri_cpu_blocks_avx512(tsri_cpu_kernels *k) { k->blocks = block_kernels; }

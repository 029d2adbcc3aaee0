/* blocks_avx2.c - products with quantised blocks, with the vectors of AVX2. */
#define ISA(name) name##_avx2
#include "cpu/simd/avx2.h"
#include "cpu/simd/blocks.inc"

void tsri_cpu_blocks_avx2(tsri_cpu_kernels *k);
void tsri_cpu_blocks_avx2(tsri_cpu_kernels *k) { k->blocks = block_kernels; }

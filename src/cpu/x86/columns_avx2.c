/* columns_avx2.c - columns of factorisations, with the vectors of AVX2. */
#define ISA(name) name##_avx2
#include "cpu/simd/avx2.h"
#include "cpu/simd/columns.inc"

void tsri_cpu_columns_avx2(tsri_cpu_kernels *k);
void tsri_cpu_columns_avx2(tsri_cpu_kernels *k)
{
    (void)k;
    ISA(enter_columns)();
}

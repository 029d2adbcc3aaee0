/* columns_avx512.c - columns of factorisations, with the vectors of AVX-512. */
#define ISA(name) name##_avx512
#include "cpu/simd/avx512.h"
#include "cpu/simd/columns.inc"

void tsri_cpu_columns_avx512(tsri_cpu_kernels *k);
void tsri_cpu_columns_avx512(tsri_cpu_kernels *k)
{
    (void)k;
    ISA(enter_columns)();
}

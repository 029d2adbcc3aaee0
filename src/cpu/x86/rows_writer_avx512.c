/* rows_writer_avx512.c - short rows put together with the vectors of AVX-512. */
#define ISA(name) name##_avx512
#include "cpu/simd/avx512.h"
#include "cpu/simd/rows_writer.inc"

void tsri_cpu_rows_writer_avx512(tsri_cpu_kernels *k);
void tsri_cpu_rows_writer_avx512(tsri_cpu_kernels *k)
{
    (void)k;  /* it has a table of its own */
    enter_rows_writing();
}

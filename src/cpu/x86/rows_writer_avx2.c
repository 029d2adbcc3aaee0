/* rows_writer_avx2.c - short rows put together with the vectors of AVX2. */
#define ISA(name) name##_avx2
#include "cpu/simd/avx2.h"
#include "cpu/simd/rows_writer.inc"

void tsri_cpu_rows_writer_avx2(tsri_cpu_kernels *k);
void tsri_cpu_rows_writer_avx2(tsri_cpu_kernels *k)
{
    (void)k;  /* it has a table of its own */
    enter_rows_writing();
}

/* fft_avx2.c - the Fourier kernels again, compiled for AVX2. */
#define ISA(name) name##_avx2
#define KERNELS tsri_fft_kernels_avx2
#define VBYTES 32
#include "cpu/fft/fft_kernels.inc"
#include "cpu/kernels.h"

void tsri_cpu_fft_avx2(tsri_cpu_kernels *k);
void tsri_cpu_fft_avx2(tsri_cpu_kernels *k)
{
    (void)k;  /* they have a table of their own */
    tsri_fft_kernels_used = &tsri_fft_kernels_avx2;
}

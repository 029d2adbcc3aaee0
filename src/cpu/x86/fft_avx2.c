/* fft_avx2.c - the Fourier kernels again, compiled for AVX2. */
#define KERNELS tsri_fft_kernels_avx2
#include "cpu/fft/fft_kernels.inc"

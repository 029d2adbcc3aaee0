/* fft_avx512.c - the Fourier kernels again, compiled for AVX-512. */
#define KERNELS tsri_fft_kernels_avx512
#include "cpu/fft/fft_kernels.inc"

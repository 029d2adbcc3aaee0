/* fft_portable.c - the portable kernels, and the choice of kernels. */
#define KERNELS tsri_fft_kernels_portable
#include "fft_kernels.inc"
#include "cpu/kernels.h"

const tsri_fft_kernels *tsri_fft_kernels_get(void)
{
    const tsri_isa isa = tsri_cpu_machine().isa;
    (void)isa;
#ifdef TSRI_HAVE_AVX512
    if (isa >= TSRI_ISA_AVX512) return &tsri_fft_kernels_avx512;
#endif
#ifdef TSRI_HAVE_AVX2
    if (isa >= TSRI_ISA_AVX2) return &tsri_fft_kernels_avx2;
#endif
    return &tsri_fft_kernels_portable;
}

/* fft_portable.c - the portable kernels, which those of an instruction set replace. */
#define KERNELS tsri_fft_kernels_portable
#include "fft_kernels.inc"
#include "cpu/kernels.h"

const tsri_fft_kernels *tsri_fft_kernels_used = &tsri_fft_kernels_portable;

const tsri_fft_kernels *tsri_fft_kernels_get(void)
{
    (void)tsri_cpu_kernels_get();
    return tsri_fft_kernels_used;
}

/* fft.h - Fourier transforms on the CPU: by kernels of our own, or by FFTW where that is asked for and the
 * machine has it. */
#ifndef TSRI_FFT_H
#define TSRI_FFT_H

#include "core/status_int.h"
#include "tessera/op.h"

tsr_status tsri_cpu_fft(const tsr_op *op);

typedef enum tsri_fft_choice {
    TSRI_FFT_OWN,
    TSRI_FFT_FFTW  /* if it is there */
} tsri_fft_choice;

/* Overrules TSR_FFT (own, fftw) in the environment. Returns whether FFTW, for both
 * float and double, will be used. For tests: not while transforms run. */
bool tsri_fft_use(tsri_fft_choice choice);

#endif

/* fft.h - Fourier transforms on the CPU: by FFTW where the machine has it, else by kernels
 * of our own. */
#ifndef TSRI_FFT_H
#define TSRI_FFT_H

#include "core/status_int.h"
#include "tessera/op.h"

tsr_status tsri_cpu_fft(const tsr_op *op);

typedef enum tsri_fft_choice {
    TSRI_FFT_AUTO, /* FFTW if it is there */
    TSRI_FFT_OWN,
    TSRI_FFT_FFTW  /* if it is there */
} tsri_fft_choice;

/* Overrules TSR_FFT (auto, own, fftw) in the environment. Returns whether FFTW, for both
 * float and double, will be used. For tests: not while transforms run. */
bool tsri_fft_use(tsri_fft_choice choice);

#endif

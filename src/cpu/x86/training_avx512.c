/* training_avx512.c - steps of training, vectorised by the compiler for AVX-512. */
#include <math.h>

#define ISA(name) name##_avx512
#include "cpu/kernels.h"
#include "cpu/training.h"
#include "cpu/template/training.inc"

void tsri_cpu_training_avx512(tsri_cpu_kernels *k);
void tsri_cpu_training_avx512(tsri_cpu_kernels *k) { k->training = &ISA(training_rows); }

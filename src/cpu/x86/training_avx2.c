/* training_avx2.c - steps of training, vectorised by the compiler for AVX2. */
#include <math.h>

#define ISA(name) name##_avx2
#include "cpu/kernels.h"
#include "cpu/training.h"
#include "cpu/template/training.inc"

void tsri_cpu_training_avx2(tsri_cpu_kernels *k);
void tsri_cpu_training_avx2(tsri_cpu_kernels *k) { k->training = &ISA(training_rows); }

/* portable.c - copy, fill and cast kernels in plain C, with no instruction set assumed. */
#include "template/families.inc"

void tsri_cpu_portable(tsri_cpu_kernels *k) { fill_table(k); }

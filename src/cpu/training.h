/* training.h - rows of the steps of training. */
#ifndef TSRI_CPU_TRAINING_H
#define TSRI_CPU_TRAINING_H

#include "tessera/op.h"

/* A row of n numbers of each operand of a step, in place: x[0] is the parameter, then the gradient, and the
 * velocity or both moments. They do not overlap. Every operation is rounded, in the same order everywhere. */
typedef struct tsri_training_kernels {
    void (*f32)(tsr_op_kind kind, const tsr_step_params *s, int64_t n, float *const *x);
    void (*f64)(tsr_op_kind kind, const tsr_step_params *s, int64_t n, double *const *x);
} tsri_training_kernels;

struct tsri_cpu_kernels;
void tsri_cpu_training_portable(struct tsri_cpu_kernels *k);

/* Steps on the CPU: of one tensor, and of a list. */
tsr_status tsri_cpu_step(const tsr_op *op);
tsr_status tsri_cpu_step_all(int n, const tsr_op *ops);
bool       tsri_cpu_has_step(const tsr_op *op);

/* The norm of one tensor, in the dtype of the result. */
tsr_status tsri_cpu_joint_norm(const tsr_op *op);

#endif

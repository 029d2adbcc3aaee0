/* training.h - the rules and parts of training's steps. */
#ifndef TSRI_TRAINING_H
#define TSRI_TRAINING_H

#include "dispatch.h"

tsr_status tsri_infer_step(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                           const void *params);
tsr_status tsri_step_parts(const tsr_op *op);
tsr_status tsri_infer_joint_norm(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                                 const void *params);
tsr_status tsri_joint_norm_parts(const tsr_op *op);

#endif

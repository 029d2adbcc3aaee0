/* run.h - an op, run by the backend of its operands' device. */
#ifndef TSRI_RUN_H
#define TSRI_RUN_H

#include "core/tensor_int.h"
#include "tessera/backend.h"

/* Hands the op to the backend of its operands' device. Operands are checked,
 * outputs writable and allocated. TSR_EDEVICE if the operands disagree. */
tsr_status tsri_op_run(const tsr_op *op);

/* Has the backend of the op's device a kernel for it? */
bool tsri_op_supported(const tsr_op *op);

/* dst = src for operands that are checked and do not overlap, except exactly. */
tsr_status tsri_copy_run(tsr_tensor *dst, const tsr_tensor *src);

/* Every element of t = value; t is writable. */
tsr_status tsri_fill_run(tsr_tensor *t, tsr_scalar value);

#endif

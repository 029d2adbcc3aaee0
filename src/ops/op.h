/* op.h - the single road from a call to a backend: fit the result, run. */
#ifndef TSRI_OP_H
#define TSRI_OP_H

#include "core/tensor_int.h"
#include "tessera/backend.h"

/* Hands the op to the backend of its operands' device. Operands are checked,
 * outputs writable and allocated. TSR_EDEVICE if the operands disagree. */
tsr_status tsri_op_run(const tsr_op *op);

/* A result of this dtype and shape: made (with the desc's strides, in host
 * memory) if *out is NULL, else checked to fit and to be writable. *made tells
 * which. */
tsr_status tsri_result(tsr_tensor **out, bool *made, const char *op, const tsr_desc *desc);

/* Drops a result that was made, if s is a failure; returns s. */
tsr_status tsri_result_end(tsr_tensor **out, bool made, tsr_status s);

/* tsri_result, run with op->out[0] = *out, tsri_result_end. */
tsr_status tsri_op_make(tsr_tensor **out, const tsr_desc *desc, tsr_op *op);

/* dst = src for operands that are checked and do not overlap, except exactly. */
tsr_status tsri_copy_run(tsr_tensor *dst, const tsr_tensor *src);

/* Every element of t = value; t is writable. */
tsr_status tsri_fill_run(tsr_tensor *t, tsr_scalar value);

#endif

/* run.h - an op, run by the backend of its operands' device. */
#ifndef TSRI_RUN_H
#define TSRI_RUN_H

#include "core/tensor_int.h"
#include "tessera/backend.h"

/* Hands the op to the backend of its operands' device. Operands are checked,
 * outputs writable and allocated. TSR_EDEVICE if the operands disagree. */
tsr_status tsri_op_run(const tsr_op *op);

/* The same for an elementwise op on the CPU, whose operand i is converted to dtypes[i] as it is read
 * (builtin.h). */
tsr_status tsri_op_run_converted(const tsr_op *op, const tsr_dtype *dtypes);

/* Who will run an op, and how. */
typedef struct tsri_planned {
    const tsr_backend *backend;
    int                index;    /* of the device */
    bool               carries;  /* numbers must first be copied to the device; then it is planned again */
    tsr_plan           plan;     /* run is NULL: the backend makes none */
} tsri_planned;

/* Has the backend of the op's device a kernel for the op? Then tsri_planned_run does what tsri_op_run does,
 * without looking for the kernel again. */
bool       tsri_op_plan(tsri_planned *out, const tsr_op *op);
tsr_status tsri_planned_run(const tsri_planned *p, const tsr_op *op);

/* plan() of p->backend, or supports() if it has none; and running what was planned. */
bool       tsri_plan_ask(tsri_planned *p, const tsr_op *op);
tsr_status tsri_plan_do(const tsri_planned *p, const tsr_op *op);

/* Runs n ops of one kind with the same params, on one device, in one call of its backend; *s is the status.
 * False if the backend cannot do that: then nothing was done. Sets the streams of the ops. */
bool tsri_op_run_all(tsr_status *s, int n, tsr_op *ops);

/* Would the backend take all of them, and run them at once? */
bool tsri_takes_all(const tsr_backend *backend, int index, int n, const tsr_op *ops);

/* dst = src for operands that are checked and do not overlap, except exactly. */
tsr_status tsri_copy_run(tsr_tensor *dst, const tsr_tensor *src);

/* Every element of t = value; t is writable. */
tsr_status tsri_fill_run(tsr_tensor *t, tsr_scalar value);

#endif

/* device_run.h - ops on devices that are not the CPU, and operands that are there. */
#ifndef TSRI_DEVICE_RUN_H
#define TSRI_DEVICE_RUN_H

#include "run.h"

/* tsri_op_run (or tsri_planned_run, where there is a plan) and tsri_op_plan where the first result is not on
 * the CPU: on the current stream of its device, and by the policy of tsr_set_fallback where its backend
 * cannot. Inputs on the CPU that are one element (numbers) are carried along. */
tsr_status tsri_device_run(const tsr_op *op, const tsri_planned *planned);
bool       tsri_device_plan(tsri_planned *out, const tsr_op *op);

/* dst[i] = src[i] for at most TSRI_PIECES pairs of one dtype and shape each, where no dst overlaps anything.
 * All dst are on one device that is not the CPU. */
enum { TSRI_PIECES = 32 };
tsr_status tsri_device_copies(int n, tsr_tensor *dst, const tsr_tensor *const *src);

/* tsri_op_run_all for devices that are not the CPU. */
bool tsri_device_run_all(tsr_status *s, int n, tsr_op *ops);

/* Are all elements of an i64 tensor on a device in low .. high? False also if its backend cannot check it. */
bool tsri_device_in_range(const tsr_tensor *t, int64_t low, int64_t high);

/* Counts an op on a device that was done with other ops. */
void tsri_count_in_parts(tsr_op_kind kind);

/* "add: operands on cpu:0 and cuda:0": TSR_EDEVICE. */
tsr_status tsri_fail_devices(const char *op, tsr_device a, tsr_device b);

/* Waits for the work on *t and makes *t readable by the host: it stays as it is, or becomes a copy, which
 * *temporary then holds for the caller to release. */
tsr_status tsri_copy_to_host(const tsr_tensor **t, tsr_tensor **temporary);

/* Where tensors without an operand are made: on the device that this thread works on, or else on the
 * default one. tsri_work_on returns the device that was set before, for the caller to set again. */
tsr_device tsri_device_here(void);
tsr_device tsri_work_on(tsr_device device);

/* s = call; tensors that the call creates without an operand are created on this device. */
#define TSRI_WORK_ON(device, s, call)                      \
    do {                                                   \
        const tsr_device before_ = tsri_work_on(device);   \
        (s) = (call);                                      \
        (void)tsri_work_on(before_);                       \
    } while (0)

/* The desc with the strides that a device prefers: d itself, or *room. */
const tsr_desc *tsri_laid_out(tsr_desc *room, const tsr_desc *d, tsr_device device);

#endif

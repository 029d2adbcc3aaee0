/* builtin.h - the backend that is part of the library, that of the CPU.
 *
 * src/cpu defines it and backend/registry.c alone names it; everybody else reaches it as any other backend,
 * and what it does beyond the table of all backends by tsri_host (backend/registry.h). */
#ifndef TSRI_BUILTIN_H
#define TSRI_BUILTIN_H

#include "tessera/backend.h"

/* What is done with memory of the host alone. Operands are checked, and the host reaches all of them; out is
 * writable and overlaps none, but that a row may be exactly an operand. False: nothing was done, and the op
 * is run as any other; else *s is its status. */
typedef struct tsri_host_entries {
    /* Calls that cost little. An elementwise op on n > 0 elements that follow each other, in the result as in
     * all operands, which are of one dtype. */
    bool (*run_row)(tsr_op_kind kind, const void *params, int64_t n, tsr_tensor *out, int nin,
                    const tsr_tensor *const *in);

    /* Sum, mean, largest or smallest of the n > 0 elements of x, which is packed, into the one element of
     * out, which has the dtype of x or is not supported. */
    bool (*reduce_row)(tsr_op_kind kind, int64_t n, tsr_tensor *out, const tsr_tensor *x);

    /* An elementwise op on operands of its result's shape. Operand i is converted to dtypes[i] a tile at a
     * time; one that is not of that dtype does not overlap the result. */
    tsr_status (*run_converted)(const tsr_op *op, const tsr_dtype *dtypes);

    /* out = the n tensors, of one dtype, along its last axis, which they do not have. */
    bool (*stack_last)(tsr_status *s, tsr_tensor *out, int n, const tsr_tensor *const *in);

    /* out = x, of its dtype, with before[d] elements ahead of it in dim d, and value around it. */
    bool (*pad)(tsr_status *s, tsr_tensor *out, const tsr_tensor *x, const int64_t *before, tsr_scalar value);

    /* dst = src, of one dtype, where dst is a piece of a result of `whole` bytes that is written as a
     * whole. */
    tsr_status (*copy_piece)(tsr_tensor *dst, const tsr_tensor *src, int64_t whole);
} tsri_host_entries;

extern const tsr_backend       tsri_cpu_backend;
extern const tsri_host_entries tsri_cpu_entries;

#endif

/* op.h - the single road from a call to a backend: fit the result, run. */
#ifndef TSRI_OP_H
#define TSRI_OP_H

#include "core/tensor_int.h"
#include "tessera/backend.h"
#include "tessera/match.h"

/* Hands the op to the backend of its operands' device. Operands are checked,
 * outputs writable and allocated. TSR_EDEVICE if the operands disagree. */
tsr_status tsri_op_run(const tsr_op *op);

/* Has the backend of the op's device a kernel for it? */
bool tsri_op_supported(const tsr_op *op);

/* A tensor without data that has this desc, for a question about descs alone; returns t. */
static inline const tsr_tensor *tsri_tensor_like(tsr_tensor *t, const tsr_desc *d)
{
    t->data = tsri_nowhere();
    t->storage = NULL;
    tsri_desc_copy(&t->desc, d);
    t->flags = 0;
    t->device = TSR_CPU;
    t->memory = TSR_MEMORY_HOST;
    return t;
}

/* The kind of memory for a result that is made beside t: t's own, but that no file is made. */
static inline tsr_memory tsri_memory_beside(const tsr_tensor *t)
{
    return t->memory == TSR_MEMORY_FILE ? TSR_MEMORY_HOST : t->memory;
}

/* What was done to have a result, and must be undone if the op fails. */
typedef enum tsri_fresh {
    TSRI_HAD,        /* it was there */
    TSRI_ALLOCATED,  /* it was described, and has memory now */
    TSRI_BOUND,      /* it was a placed "none" */
    TSRI_MADE        /* it was NULL */
} tsri_fresh;

/* A result of this dtype and shape: made (with the desc's strides) where `beside` is, if *out is
 * NULL, else checked to fit and to be writable. Without `beside` it comes from nothing, and is
 * made on the device for such. */
tsr_status tsri_result(tsr_tensor **out, tsri_fresh *fresh, const char *op, const tsr_desc *desc,
                       const tsr_tensor *beside);

/* A tensor for the length of a call, where `beside` is. */
tsr_status tsri_make_beside(tsr_tensor **out, const char *op, const tsr_desc *desc, const tsr_tensor *beside);

/* The operand that says where an op runs: the first that is not on the CPU, where numbers and
 * single elements may be that join it. */
const tsr_tensor *tsri_leader(int n, const tsr_tensor *const *in);

/* The same, made with this device and kind. */
tsr_status tsri_result_in(tsr_tensor **out, tsri_fresh *fresh, const char *op, const tsr_desc *desc,
                          tsr_device device, tsr_memory memory);

/* Leaves *out as it was before, if s is a failure; returns s. */
tsr_status tsri_result_end(tsr_tensor **out, tsri_fresh fresh, tsr_status s);

/* tsri_result from nothing, run with op->out[0] = *out, tsri_result_end. */
tsr_status tsri_op_make(tsr_tensor **out, const tsr_desc *desc, tsr_op *op);

/* What an op's signature says of dtypes, read once. */
typedef struct tsri_dtype_rule {
    uint32_t  accepts[TSR_OP_MAX_IN]; /* dtypes each operand takes, as bits */
    bool      grouped[TSR_OP_MAX_IN]; /* promoted together, as dT */
    uint32_t  usual;                  /* dtypes that all operands may have alike, of those C computes in */
    uint8_t   nin;
    enum { TSRI_RESULT_GROUP, TSRI_RESULT_REAL, TSRI_RESULT_FIXED } result;
    tsr_dtype fixed;
} tsri_dtype_rule;

const tsri_dtype_rule *tsri_rule_of(tsr_op_kind kind);

/* An elementwise op: promote, broadcast, fit the result, run. */
tsr_status tsri_elementwise(tsr_tensor **out, tsr_op_kind kind, const void *params, int nin,
                            const tsr_tensor *const *in);

/* What a reduction or scan of x gives, from descs alone. The axes in params are x's own. */
tsr_status tsri_infer_reduce(tsr_desc *out, tsr_op_kind kind, const tsr_desc *x, const tsr_reduce_params *params);

/* dst = src for operands that are checked and do not overlap, except exactly. */
tsr_status tsri_copy_run(tsr_tensor *dst, const tsr_tensor *src);

/* Every element of t = value; t is writable. */
tsr_status tsri_fill_run(tsr_tensor *t, tsr_scalar value);

#endif

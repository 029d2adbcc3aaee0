/* op.h - the results of ops: fitted, made, undone. */
#ifndef TSRI_OP_H
#define TSRI_OP_H

#include "backend/run.h"
#include "core/match_int.h"

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

/* Where a result comes from, and so what must be undone if the op fails. */
typedef enum tsri_origin {
    TSRI_ORIGIN_GIVEN,      /* it was there */
    TSRI_ORIGIN_ALLOCATED,  /* it was described, and has memory now */
    TSRI_ORIGIN_PLACED,     /* it was a placed "none" */
    TSRI_ORIGIN_MADE        /* it was NULL */
} tsri_origin;

/* A result of this dtype and shape: made (with the desc's strides) where `beside` is, if *out is
 * NULL, else checked to fit and to be writable. Without `beside` (a factory) it is made on the
 * device of this thread (tsri_device_here). */
tsr_status tsri_result(tsr_tensor **out, tsri_origin *origin, const char *op, const tsr_desc *desc,
                       const tsr_tensor *beside);

/* TSR_EDTYPE: `what` is of none of these dtypes, as bits. */
tsr_status tsri_fail_dtype(const char *op, const char *what, uint32_t dtypes, const tsr_desc *d) TSRI_COLD;

/* tsri_check_allocated of an operand whose dtype must be of these kinds. */
static inline tsr_status tsri_check_kinds(const char *op, const char *what, const tsr_tensor *t, int kinds)
{
    TSRI_TRY(tsri_check_allocated(op, what, t));
    if (TSRI_LIKELY(kinds >> tsr_dtype_kind(t->dtype) & 1)) return TSR_OK;
    return tsri_fail_dtype(op, what, tsri_dtypes_of_kinds(kinds), &t->desc);
}

/* tsri_check_allocated of tensor i of a list, which messages call "operand 3". */
tsr_status tsri_check_of_list(const char *op, const char *what, int i, const tsr_tensor *t);

/* A tensor for the length of a call, where `beside` is. */
tsr_status tsri_make_beside(tsr_tensor **out, const char *op, const tsr_desc *desc, const tsr_tensor *beside);

/* The operand on whose device an op runs: the first that is not on the CPU, else the first. (Numbers and
 * single elements on the CPU are copied to a device.) in[i] may be NULL; NULL if all are. */
const tsr_tensor *tsri_leader(int n, const tsr_tensor *const *in);

/* tsri_result, made with this device and kind of memory. */
tsr_status tsri_result_in(tsr_tensor **out, tsri_origin *origin, const char *op, const tsr_desc *desc,
                          tsr_device device, tsr_memory memory);

/* Leaves *out as it was before, if s is a failure; returns s. */
tsr_status tsri_result_end(tsr_tensor **out, tsri_origin origin, tsr_status s);

/* A part of `op` failed with s: its message shall begin with the name of `op`. Returns s; TSR_OK stays. */
tsr_status tsri_blame(const char *op, tsr_status s) TSRI_COLD;
static inline tsr_status tsri_as_of(const char *op, tsr_status s)
{
    return TSRI_LIKELY(s == TSR_OK) ? s : tsri_blame(op, s);
}

/* The results of one call: all are there, or none is changed. Begins with op and n = 0. */
typedef struct tsri_results {
    const char  *op;
    int          n;
    tsr_tensor **out[TSR_OP_MAX_OUT];
    tsri_origin  origin[TSR_OP_MAX_OUT];
} tsri_results;

/* tsri_result of one more; TSR_EOVERLAP if it overlaps one that is there. */
tsr_status tsri_results_add(tsri_results *r, tsr_tensor **out, const tsr_desc *desc,
                            const tsr_tensor *beside);

/* tsri_result_end of all; the words of a failure are the op's own. */
tsr_status tsri_results_end(tsri_results *r, tsr_status s);

/* tsri_result of a factory, run with op->out[0] = *out, tsri_result_end. */
tsr_status tsri_op_make(tsr_tensor **out, const tsr_desc *desc, tsr_op *op);

/* An elementwise op of given operands. */
tsr_status tsri_elementwise(tsr_tensor **out, tsr_op_kind kind, const void *params, int nin,
                            const tsr_tensor *const *in);

/* Results whose shape depends on values are made on the host first, and then handed over beside t, or x. */

/* *out = `made`, which is released unless it becomes the result itself; returns s. */
tsr_status tsri_give(tsr_tensor **out, const char *op, tsr_tensor *made, const tsr_tensor *t, tsr_status s);

/* Copies made[i], where it is not NULL, to its result: all results are there, or none is changed. */
tsr_status tsri_deliver(const char *op, int n, tsr_tensor **const *outs, const tsr_tensor *const *made,
                        const tsr_tensor *x);

#endif

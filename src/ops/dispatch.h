/* dispatch.h - from a public call to a backend, for every op whose signature says what its operands are.
 *
 *     check       operands are tensors with memory; some may be left out
 *     promote     operands that share a dtype name come to one dtype
 *     match       dtypes and dims against the signature; names bind
 *     infer       the results' descs, by the op's own rule or from the signature
 *     fit         the results are made, or checked
 *     separate    an operand that a result overlaps is copied first
 *     run         by the backend, or, where it cannot, with other ops (parts)
 *
 * An op joins with its row in op.def, its row in traits.c, and a public function
 * that fills in a call:
 *
 *     tsr_status tsr_softmax(tsr_tensor **out, const tsr_tensor *x, int axis)
 *     {
 *         const tsr_axis_params params = { axis };
 *         return tsri_dispatch(&(tsri_call){ .kind = TSR_OP_SOFTMAX, .params = &params,
 *                                        .nin = 1, .in = { x }, .nout = 1, .out = { out } });
 *     }
 */
#ifndef TSRI_DISPATCH_H
#define TSRI_DISPATCH_H

#include "op.h"

/* What a caller asked for. */
typedef struct tsri_call {
    tsr_op_kind       kind;
    const void       *params;
    int               nin, nout;
    const tsr_tensor *in[TSR_OP_MAX_IN];
    tsr_tensor      **out[TSR_OP_MAX_OUT];
    const char       *name;  /* begins the messages; NULL: the op's own */
} tsri_call;

tsr_status tsri_dispatch(const tsri_call *call);

/* An op of one operand and one result; quicker. */
tsr_status tsri_dispatch_unary(tsr_tensor **out, tsr_op_kind kind, const void *params, const tsr_tensor *x);

/* What an op knows beyond its row in op.def. in[i] is NULL for an operand left out.
 * Where infer is asked, dtypes and dims match the signature. */
typedef tsr_status (*tsri_infer_fn)(tsr_desc *out, const char *name, tsr_op_kind kind,
                                    const tsr_desc *const *in, const void *params);

/* Computes op's results with other ops. Operands are as a backend would get them. */
typedef tsr_status (*tsri_parts_fn)(const tsr_op *op);

/* How often the row's flops are done. */
typedef double (*tsri_work_fn)(const tsr_desc *const *in, const tsr_desc *out, const void *params);

typedef struct tsri_op_traits {
    tsri_infer_fn infer;     /* NULL: the signature says it all */
    tsri_parts_fn parts;     /* NULL: every backend must have the op */
    tsri_work_fn  work;      /* NULL: once for each element of the first result */
    uint32_t      in_place;  /* bit i: the first result may be exactly operand i */
    uint32_t      optional;  /* bit i: operand i may be NULL; a shorter nin leaves out the last ones */
} tsri_op_traits;

/* The traits of an op (traits.c). */
extern const tsri_op_traits tsri_traits[TSR_OP_COUNT];
static inline const tsri_op_traits *tsri_traits_of(tsr_op_kind kind) { return &tsri_traits[kind]; }

/* The rules of the families that prepare operands by themselves. */
tsr_status tsri_infer_elementwise(tsr_desc *out, const char *name, tsr_op_kind kind,
                                  const tsr_desc *const *in, const void *params);
tsr_status tsri_infer_matmul(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                             const void *params);

tsr_status tsri_infer_reduce(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                             const void *params);

/* For parts: tests switch the backends' own kernels off (true), and see the op done with others. */
void tsri_prefer_parts(bool on);

#endif

/* road.h - one road for every op whose signature says what its operands are.
 *
 *     check       operands are tensors with memory; some may be left out
 *     promote     operands that share a dtype name come to one dtype
 *     match       dtypes and dims against the signature; names bind
 *     infer       the results' descs, by the op's own rule or from the signature
 *     fit         the results are made, or checked
 *     separate    an operand that a result overlaps is copied first
 *     hand over   to the backend, or, where it cannot, to other ops (parts)
 *
 * An op joins with its row in op.def, its row in ways.c, and a public function
 * that fills in a call:
 *
 *     tsr_status tsr_softmax(tsr_tensor **out, const tsr_tensor *x, int axis)
 *     {
 *         const tsr_axis_params params = { axis };
 *         return tsri_road(&(tsri_call){ .kind = TSR_OP_SOFTMAX, .params = &params,
 *                                        .nin = 1, .in = { x }, .nout = 1, .out = { out } });
 *     }
 */
#ifndef TSRI_ROAD_H
#define TSRI_ROAD_H

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

tsr_status tsri_road(const tsri_call *call);

/* What an op knows beyond its row in op.def. in[i] is NULL for an operand left out.
 * Where infer is asked, dtypes and dims match the signature. */
typedef tsr_status (*tsri_infer_fn)(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                                    const void *params);

/* Computes op's results with other ops. Operands are as a backend would get them. */
typedef tsr_status (*tsri_parts_fn)(const tsr_op *op);

/* How often the row's flops are done. */
typedef double (*tsri_work_fn)(const tsr_desc *const *in, const tsr_desc *out, const void *params);

typedef struct tsri_way {
    tsri_infer_fn infer;     /* NULL: the signature says it all */
    tsri_parts_fn parts;     /* NULL: every backend must have the op */
    tsri_work_fn  work;      /* NULL: once for each element of the first result */
    uint32_t      in_place;  /* bit i: the first result may be exactly operand i */
    uint32_t      optional;  /* bit i: operand i may be NULL; a shorter nin leaves out the last ones */
} tsri_way;

/* The way of an op (ways.c). */
const tsri_way *tsri_way_of(tsr_op_kind kind);

/* An op's signature, parsed once. */
const tsr_signature *tsri_signature_of(tsr_op_kind kind);

/* The dtype that each of nin operands comes to: those that share a name are promoted. */
tsr_status tsri_promote_named(tsr_dtype *out, const char *op, const tsr_signature *s, int nin,
                              const tsr_desc *const *in);

/* The results of a call on operands that match: what the signature's names came to.
 * `...` in a result is what it stood for in the first operand that has it; operands
 * must agree on it. */
tsr_status tsri_infer_by_signature(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                                   const tsr_bindings *bindings);

/* The rules of the families that have roads of their own. */
tsr_status tsri_infer_elementwise(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                                  const void *params);
tsr_status tsri_infer_matmul(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                             const void *params);

/* For parts: tests switch the backends' own kernels off (true), and see the op done with others. */
void tsri_prefer_parts(bool on);

#endif

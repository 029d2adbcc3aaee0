/* dispatch.h - from a public call to a backend, for every op.
 *
 *     check       operands are tensors with memory; some may be left out
 *     promote     operands that share a dtype name come to one dtype
 *     match       dtypes and dims against the signature; names bind
 *     infer       the results' descs, by the op's own rule or from the signature
 *     fit         the results are made, or checked
 *     prepare     operands are converted, copied if a result overlaps them, and broadcast
 *     run         by the backend, or, where it cannot, with other ops (parts)
 *
 * Composed ops take the same steps (tsri_composed). Indices are checked by their parts, before these write
 * (index.c, open_index).
 *
 * These ops check their arguments themselves, because a signature cannot say what they take:
 *
 *     lists of tensors       a list may be longer than a signature (concat, stack, batch_join, einsum,
 *                            meshgrid, joint_norm, and the steps of training.c, which change their tensors);
 *                            matmul_quantised has more operands than a tsr_op (tsri_check_of_list)
 *     results by values      the shape is known when the values were read (unique, nonzero, masked_select,
 *                            bincount), one result follows from another (the edges of a histogram), or it is
 *                            a slice of one (kthvalue): it is computed, and then handed over (op.h, tsri_give
 *                            and tsri_deliver)
 *     no operands            factories, frequencies and random numbers (create.c, fft.c, random.c,
 *                            permutation of sample.c): there is nothing to promote or to separate (op.h,
 *                            tsri_result and tsri_op_make)
 *     copies                 copy, cast, rearrange, clone and fill are what this front itself is made of
 *                            (move.c, create.c)
 *     other ops' names       multi_head_attention, adjoint, matrix_transpose, trace, matrix_norm,
 *                            vector_norm, global_avg_pool and sample check what only they ask for; the ops
 *                            that they call take the steps above
 *     answers                equal and allclose give a bool (compare.c)
 *
 * Three calls do not pass through this file, because for a few elements these steps take longer than the
 * kernel: contiguous operands of one dtype and shape (elementwise.c, count_usual), matrices that need no
 * preparation (matmul.c, is_plain_product), and the total of a contiguous tensor (reduce.c,
 * count_plain_total). Each tests that no step has anything to do, and runs the op at once.
 *
 * An op has a row in op.def, a row in traits.c, and a public function that fills in
 * a call:
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
#include "signature.h"

struct tsri_operands;
struct tsri_composed;

/* What a caller asked for. */
typedef struct tsri_call {
    tsr_op_kind       kind;
    struct tsri_composed *composed; /* NULL: the op is of this kind, else operands are promoted as its are */
    const void       *params;
    int               nin, nout;
    const tsr_tensor *in[TSR_OP_MAX_IN];
    tsr_tensor      **out[TSR_OP_MAX_OUT];
    const char       *name;  /* begins the messages; NULL: the op's own */
    const char *const *names; /* of the operands, in messages; NULL: the signature's */
} tsri_call;

/* A call with one result, named as its op; for composed see above. */
static inline void tsri_call_init(tsri_call *call, tsr_tensor **out, tsr_op_kind kind,
                                  struct tsri_composed *composed, const void *params, int nin,
                                  const tsr_tensor *const *in)
{
    call->kind = kind;
    call->composed = composed;
    call->params = params;
    call->nin = nin;
    call->nout = 1;
    for (int i = 0; i < nin; i++) call->in[i] = in[i];
    call->out[0] = out;
    call->name = NULL;
    call->names = NULL;
}

tsr_status tsri_dispatch(const tsri_call *call);

/* An op of one operand and one result; quicker. */
tsr_status tsri_dispatch_unary(tsr_tensor **out, tsr_op_kind kind, const void *params, const tsr_tensor *x);

/* A composed op of one operand and one result; one that multiplies two, and promotes as matmul does. */
tsr_status tsri_dispatch_composed(tsr_tensor **out, struct tsri_composed *composed, const void *params,
                                  const tsr_tensor *x);
tsr_status tsri_dispatch_product(tsr_tensor **out, struct tsri_composed *composed, const void *params,
                                 const tsr_tensor *a, const tsr_tensor *b);

/* What an op knows beyond its row in op.def. in[i] is NULL for an operand left out.
 * Where infer is asked, dtypes and dims match the signature. */
typedef tsr_status (*tsri_infer_fn)(tsr_desc *out, const char *name, tsr_op_kind kind,
                                    const tsr_desc *const *in, const void *params);

/* Computes op's results with other ops. Operands are as a backend would get them. */
typedef tsr_status (*tsri_parts_fn)(const tsr_op *op);

/* How often the row's flops are done. */
typedef double (*tsri_work_fn)(const tsr_desc *const *in, const tsr_desc *out, const void *params);

/* Gives operands and result the dims that a backend takes. *out may become *view. */
typedef tsr_status (*tsri_broadcast_fn)(struct tsri_operands *o, int nin, tsr_tensor **out, tsr_tensor *view);

typedef struct tsri_op_traits {
    tsri_infer_fn     infer;     /* NULL: the signature says it all */
    tsri_parts_fn     parts;     /* NULL: every backend must have the op */
    tsri_work_fn      work;      /* NULL: once for each element of the first result */
    tsri_broadcast_fn broadcast; /* NULL: operands are handed over with their dims. Else the signature tells
                                  * the dims that the backend sees, and infer checks those of the call. */
    uint32_t          in_place;  /* bit i: the first result may be exactly operand i */
    uint32_t          optional;  /* bit i: operand i may be NULL; a shorter nin leaves out the last ones */
    bool              by_tile;   /* the CPU converts operands of another dtype as it reads them */
} tsri_op_traits;

/* The traits of an op (traits.c). */
extern const tsri_op_traits tsri_traits[TSR_OP_COUNT];
static inline const tsri_op_traits *tsri_traits_of(tsr_op_kind kind) { return &tsri_traits[kind]; }

/* A composed op takes the same steps, by the signature of its row; its parts run, and no backend is asked. */
typedef struct tsri_composed {
    const char    *row;       /* the name in op.def; begins the messages */
    const char    *signature; /* what it takes where that is not what a backend is given; NULL: the row's */
    tsri_op_traits traits;
    const tsri_parsed *parsed; /* when it is first called */
} tsri_composed;

/* What a call on operands of these descs gives, after promotion; n of them. */
tsr_status tsri_infer(tsr_desc *out, const char *name, tsr_op_kind kind, int n, const tsr_desc *const *in,
                      const void *params);

/* The rules of families. The first gives a packed result of the first operand's dtype and shape. */
tsr_status tsri_infer_packed(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                             const void *params);
tsr_status tsri_infer_elementwise(tsr_desc *out, const char *name, tsr_op_kind kind,
                                  const tsr_desc *const *in, const void *params);
tsr_status tsri_infer_matmul(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                             const void *params);
tsr_status tsri_infer_reduce(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                             const void *params);
tsr_status tsri_linear_activation_parts(const tsr_op *op);
tsr_status tsri_broadcast_elementwise(struct tsri_operands *o, int nin, tsr_tensor **out, tsr_tensor *view);
tsr_status tsri_broadcast_matmul(struct tsri_operands *o, int nin, tsr_tensor **out, tsr_tensor *view);

/* For parts: tests switch the backends' own kernels off (true), and see the op done with others. */
void tsri_prefer_parts(bool on);
bool tsri_prefers_parts(void);

#endif

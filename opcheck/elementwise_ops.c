/* elementwise_ops.c - made of the rows of op.def. */
#include "elementwise_ops.h"
#include "tessera/tessera.h"

#define EXACT .narrow = false

const elementwise_op elementwise_ops[] = {
#define UNARY(ID, name, dtypes, result, flops, doc, ...) \
    { TSR_OP_##ID, #name, 1, 0, { .one = tsr_##name }, { __VA_ARGS__ } },
#define UNARY_A(ID, name, dtypes, result, flops, doc, call, ...) \
    { TSR_OP_##ID, #name, 1, 1, { .one_a = tsr_##name }, { __VA_ARGS__ } },
#define UNARY_AB(ID, name, dtypes, result, flops, doc, call, ...) \
    { TSR_OP_##ID, #name, 1, 2, { .one_ab = tsr_##name }, { __VA_ARGS__ } },
#define BINARY(ID, name, dtypes, result, flops, doc, ...) \
    { TSR_OP_##ID, #name, 2, 0, { .two = tsr_##name }, { __VA_ARGS__ } },
#define TERNARY(ID, name, dtypes, signature, flops, doc, call, ...) \
    { TSR_OP_##ID, #name, 3, 0, { .three = tsr_##name }, { __VA_ARGS__ } },
#define TERNARY_A(ID, name, dtypes, signature, flops, doc, call, ...) \
    { TSR_OP_##ID, #name, 3, 1, { .three_a = tsr_##name }, { __VA_ARGS__ } },
#include "tessera/op.def"
};
const int elementwise_count = sizeof elementwise_ops / sizeof *elementwise_ops;

const elementwise_op *elementwise_find(tsr_op_kind kind)
{
    for (int i = 0; i < elementwise_count; i++)
        if (elementwise_ops[i].kind == kind) return &elementwise_ops[i];
    return NULL;
}

tsr_status elementwise_call(const elementwise_op *op, tsr_tensor **out, const tsr_tensor *const *in,
                            const double *params)
{
    const double *p = params ? params : op->facts.params;
    if (op->nin == 2) return op->call.two(out, in[0], in[1]);
    if (op->nin == 3)
        return op->nparams ? op->call.three_a(out, in[0], in[1], in[2], p[0])
                           : op->call.three(out, in[0], in[1], in[2]);
    if (op->nparams == 2) return op->call.one_ab(out, in[0], p[0], p[1]);
    return op->nparams ? op->call.one_a(out, in[0], p[0]) : op->call.one(out, in[0]);
}

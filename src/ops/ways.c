/* ways.c - what ops know beyond their rows in op.def: one row for each that has
 * a rule of its own for its results, can be done with other ops, or may work in
 * place. */
#include "road.h"

/* Rules of the primitives ----------------------------------------------------------- */

static tsr_status infer_same(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                             const void *params)
{
    (void)name; (void)kind; (void)params;
    return tsri_desc_packed_like(out, in[0], in[0]->dtype);
}

/* As index, with x's dtype; the front has made all operands of one rank. */
static tsr_status infer_gather(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                               const void *params)
{
    (void)kind; (void)params;
    TSRI_CHECK(in[0]->ndim == in[1]->ndim, TSR_ESHAPE, "%s: x is %s and index is %s, which differ in rank", name,
               TSRI_DESC(in[0]), TSRI_DESC(in[1]));
    return tsri_desc_packed_like(out, in[1], in[0]->dtype);
}

static tsr_status infer_chosen(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                               const void *params)
{
    (void)out; (void)kind; (void)in; (void)params;
    return tsri_fail(TSR_EUNSUPPORTED, "infer: %s writes into a result that its caller chooses", name);
}

/* The table --------------------------------------------------------------------------- */

static const tsri_way ways[TSR_OP_COUNT] = {
    [TSR_OP_COPY]    = { .infer = infer_same, .in_place = 1 },
    [TSR_OP_FILL]    = { .infer = infer_chosen },
    [TSR_OP_UNIFORM] = { .infer = infer_chosen },
    [TSR_OP_RANDN]   = { .infer = infer_chosen },
    [TSR_OP_GATHER]  = { .infer = infer_gather },
    [TSR_OP_SCATTER] = { .infer = infer_chosen },
    [TSR_OP_MATMUL]  = { .infer = tsri_infer_matmul, .optional = 1 << 2 },
};

const tsri_way *tsri_way_of(tsr_op_kind kind) { return &ways[kind]; }

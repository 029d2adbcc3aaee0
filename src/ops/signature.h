/* signature.h - what an op's row says of dtypes and dims, read once for each op. */
#ifndef TSRI_SIGNATURE_H
#define TSRI_SIGNATURE_H

#include "core/atomic.h"
#include "core/status_int.h"
#include "tessera/match.h"
#include "tessera/op.h"

/* What a signature says of dtypes. */
typedef struct tsri_dtype_rule {
    uint32_t  accepts[TSR_OP_MAX_IN]; /* dtypes each operand takes, as bits */
    uint8_t   group[TSR_OP_MAX_IN];   /* operands of one group are promoted together; TSRI_NO_NAME: alone */
    uint32_t  usual;                  /* dtypes that all operands may share, of those C computes in */
    uint8_t   nin;
    bool      any_shape;              /* every operand takes every shape */
    enum { TSRI_RESULT_GROUP, TSRI_RESULT_REAL, TSRI_RESULT_FIXED } result;
    tsr_dtype fixed;
} tsri_dtype_rule;

typedef struct tsri_parsed {
    tsr_signature   signature;
    tsri_dtype_rule rule;
} tsri_parsed;

extern tsri_parsed tsri_parsed_ops[TSR_OP_COUNT];
extern uint8_t     tsri_parsed_ready[TSR_OP_COUNT];
void               tsri_parse_op(tsr_op_kind kind);

static inline const tsri_parsed *tsri_parsed_of(tsr_op_kind kind)
{
    if (!TSRI_LIKELY(tsri_load_acquire(&tsri_parsed_ready[kind]))) tsri_parse_op(kind);
    return &tsri_parsed_ops[kind];
}

static inline const tsr_signature *tsri_signature_of(tsr_op_kind kind)
{
    return &tsri_parsed_of(kind)->signature;
}
static inline const tsri_dtype_rule *tsri_rule_of(tsr_op_kind kind) { return &tsri_parsed_of(kind)->rule; }

/* The results of a call on operands that match: what the signature's names came to.
 * `...` in a result is what it stood for in the first operand that has it; operands
 * must agree on it. */
tsr_status tsri_infer_by_signature(tsr_desc *out, const char *name, tsr_op_kind kind,
                                   const tsr_desc *const *in, const tsr_bindings *bindings);

#endif

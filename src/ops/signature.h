/* signature.h - what an op's row says of dtypes and dims, read when an op that says so is first called. */
#ifndef TSRI_SIGNATURE_H
#define TSRI_SIGNATURE_H

#include "core/atomic.h"
#include "core/match_int.h"
#include "core/op_info.h"
#include "core/status_int.h"
#include "tessera/match.h"
#include "tessera/op.h"

/* What a signature says of dtypes. */
typedef struct tsri_dtype_rule {
    uint32_t  accepts[TSR_OP_MAX_IN]; /* dtypes each operand takes, as bits */
    uint8_t   group[TSR_OP_MAX_IN];   /* operands of one group are promoted together; TSRI_NO_NAME: alone */
    uint8_t   first[TSR_OP_MAX_IN];   /* operand of the group; one that is alone is its own */
    uint32_t  usual;                  /* dtypes that all operands may share, of those C computes in */
    uint8_t   nin;
    uint8_t   least[TSR_OP_MAX_IN];   /* dims of each operand */
    uint8_t   most[TSR_OP_MAX_IN];
    bool      any_sizes;              /* of shapes nothing else is asked: no size is given, or stands twice */
    enum { TSRI_RESULT_GROUP, TSRI_RESULT_REAL, TSRI_RESULT_FIXED } result;
    tsr_dtype fixed;
} tsri_dtype_rule;

typedef struct tsri_parsed {
    tsri_dtype_rule     rule;
    tsri_signature_view signature;
    const char         *text;
} tsri_parsed;

extern const tsri_parsed *tsri_parsed_ops[TSR_OP_COUNT];  /* NULL until the op is first called */

/* Sets *parsed to what a signature says, which is parsed unless an op of the same one was called before. */
const tsri_parsed *tsri_parse(const tsri_parsed **parsed, const char *signature);

/* The memory for parsed signatures that is left, in per cent. */
int tsri_parse_room(void);

/* *parsed of a composed op that is called for the first time; without a signature, that of its row. */
const tsri_parsed *tsri_parse_composed(const tsri_parsed **parsed, const char *row, const char *signature);

static inline const tsri_parsed *tsri_parsed_of(tsr_op_kind kind)
{
    const tsri_parsed *p = tsri_load_acquire(&tsri_parsed_ops[kind]);
    return TSRI_LIKELY(p != NULL) ? p : tsri_parse(&tsri_parsed_ops[kind], tsri_op_infos[kind].signature);
}

static inline const tsri_signature_view *tsri_signature_of(tsr_op_kind kind)
{
    return &tsri_parsed_of(kind)->signature;
}
static inline const tsri_dtype_rule *tsri_rule_of(tsr_op_kind kind) { return &tsri_parsed_of(kind)->rule; }

/* The results of a call on operands that match: what the signature's names came to.
 * `...` in a result is what it stood for in the first operand that has it; operands
 * must agree on it. */
tsr_status tsri_infer_by_signature(tsr_desc *out, const char *name, const tsri_signature_view *s,
                                   const tsr_desc *const *in, const tsr_bindings *bindings);

#endif

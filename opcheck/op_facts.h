/* op_facts.h - what can be said of an op from its row in op.def, signature read. */
#ifndef TSR_OPCHECK_OP_FACTS_H
#define TSR_OPCHECK_OP_FACTS_H

#include "tessera/match.h"
#include "tessera/op.h"

typedef struct op_facts {
    const tsr_op_info *info;
    tsr_signature      signature;
    uint32_t           dtypes[TSR_MATCH_OPERANDS]; /* bit i: the operand can have dtype i */
    int                group[TSR_MATCH_OPERANDS];  /* which operand's dtype it shares; itself if none */
} op_facts;

/* False if there is no such op, or its signature cannot be read. */
bool op_facts_get(op_facts *out, tsr_op_kind kind);
bool op_facts_of(op_facts *out, const tsr_op_info *row);

/* Families in the order in which op.def first names them. */
enum { FAMILIES_MOST = 64 };
int list_families(const char *families[FAMILIES_MOST]);

/* A set of dtypes as text, as snprintf: every dtype ("i8 i16 i32"), or by kind where the
 * set holds all of one ("bool/integer", "f32/f64"). */
size_t dtypes_text(char *out, size_t size, uint32_t dtypes);
size_t dtype_kinds_text(char *out, size_t size, uint32_t dtypes);

/* The dtypes of some kinds, by the names they have in signatures. */
typedef struct kind_name {
    const char *name;
    uint32_t    kinds; /* bit i: tsr_kind i */
} kind_name;

extern const kind_name kind_names[]; /* widest first; ends with a NULL name */
uint32_t dtypes_of_kinds(uint32_t kinds);

#endif

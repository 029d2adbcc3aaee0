/* match.h - the constraint notation, running.
 *
 * What an operator demands of its tensors is written as
 *
 *     { dtype | shape | strides }
 *
 * and a signature is a list of these, each with the operand's name:
 *
 *     a{ dT | ((...,) m, k) }  b{ dT | ((...,) k, n) }  -> c{ dT | ((...,) m, n) | (~) }
 *
 *   dtype     f32 or float32   that dtype
 *             f16/bf16/f32     one of these; kinds may stand in the list too
 *             floating         any of a kind: bool signed unsigned integer floating complex real numeric any
 *             dT               any dtype, the same wherever dT stands; has a capital letter
 *             dT:floating      the same, from a kind or list
 *   shape     (m, 3, k)        rank 3; the middle dim is 3; m and k bind
 *             _                any one dim
 *             (b,)             an optional dim: ((b,) h, w, c) is rank 3 or 4
 *             ...              any number of dims, once in a list; (...,) the same, as seed 000 writes it
 *             ()               a scalar
 *   strides   left out, (...)  any
 *             (~)              row-major and packed
 *             (..., 1)         the last is 1; numbers, names, _, (s,) and ... as in shapes; may be negative
 *
 * integer is signed and unsigned; real is integer and floating; numeric is real
 * and complex; any is numeric and bool.
 *
 * The rank alone decides which optional dims are there: the rightmost first, all
 * of them before `...` takes any. An optional dim that is left out binds nothing.
 *
 * A name binds where it is first met and must be equal wherever it is met again,
 * across all operands. The strides of a dim of size 1, and of a desc without
 * elements, match anything, and then bind nothing. A bare `{...}` is an operand
 * called "tensor"; the names of dims, strides and dtypes are separate. ';' may
 * stand for '|'. Operands after -> are results: they are matched like the others
 * when they are given.
 *
 * A signature is parsed once, into a value that needs no freeing.
 */
#ifndef TESSERA_MATCH_H
#define TESSERA_MATCH_H

#include "desc.h"

TSR_BEGIN_C

enum {
    TSR_MATCH_OPERANDS = 8,   /* operands in a signature */
    TSR_MATCH_NAMES    = 24,  /* different names in a signature */
    TSR_MATCH_NAME     = 16,  /* bytes of a name, with the closing 0 */
    TSR_MATCH_TERMS    = 64   /* dims and strides in a signature, all operands together */
};

typedef struct tsr_match_term {
    uint8_t what;      /* a term_... of match.c */
    uint8_t name;      /* which name, where one binds */
    bool    optional;
    uint8_t reserved[5];
    int64_t value;     /* of a literal number */
} tsr_match_term;

/* A shape or strides: term[first .. first + count - 1] of its signature. */
typedef struct tsr_match_list {
    uint8_t first, count;
    uint8_t required, optional; /* of those, dims that must and that may be there */
    bool    many;               /* holds `...` */
    uint8_t reserved[3];
} tsr_match_list;

typedef struct tsr_match_operand {
    char     name[TSR_MATCH_NAME];
    uint32_t dtypes;          /* bit i: dtype i is accepted */
    uint8_t  dtype_name;      /* which name binds the dtype, 0xff for none */
    bool     is_result;
    bool     contiguous;      /* (~) */
    bool     any_strides;
    tsr_match_list shape, stride;
} tsr_match_operand;

/* Fields are the library's; read noperands, nresults (of those, after ->) and
 * operand[i].name freely. */
typedef struct tsr_signature {
    uint8_t noperands, nresults, nnames, nterms;
    uint8_t name_kind[TSR_MATCH_NAMES];  /* of a dim, a stride or a dtype */
    char    names[TSR_MATCH_NAMES][TSR_MATCH_NAME];
    tsr_match_operand operand[TSR_MATCH_OPERANDS];
    tsr_match_term    term[TSR_MATCH_TERMS];
} tsr_signature;

/* The values that the names of a signature were bound to. To keep bindings from one
 * match to the next of the same signature, pass the same struct; start from zeroed memory. */
typedef struct tsr_bindings {
    uint8_t bound[TSR_MATCH_NAMES];  /* 0 free, else operand that bound it + 1 */
    int64_t value[TSR_MATCH_NAMES];  /* a size, a stride, or a dtype */
} tsr_bindings;

/* TSR_EFORMAT, with the place in the text and what was expected there:
 * "signature: column 12: expected ',' or ')', found 'k'". Columns count bytes
 * from 1. On failure out is left as it was. */
TSR_API TSR_MUST_CHECK tsr_status tsr_signature_parse(tsr_signature *out, const char *text);

/* Do n descs fit the first n operands? NULL entries are skipped. `op` begins the
 * message (may be NULL): "matmul: b: k is 4 from a, but dim -2 of b is 5". Dims
 * that come after `...` or an optional dim are counted from the end.
 * TSR_EDTYPE, TSR_ESHAPE or TSR_ESTRIDE by the part that failed; TSR_EINVAL if n
 * is not 0 .. noperands or a desc has no legal rank. bindings may be NULL; on
 * failure it is left as it was. */
TSR_API TSR_MUST_CHECK tsr_status tsr_match(const tsr_signature *s, const char *op, int n,
                                            const tsr_desc *const *descs, tsr_bindings *bindings);

/* One pattern against one desc: parse and match. TSR_EINVAL if the pattern has
 * more operands than one. */
TSR_API TSR_MUST_CHECK tsr_status tsr_match_text(const char *pattern, const tsr_desc *desc);

/* The value a name was bound to. TSR_EINVAL if there is no such name or it is
 * not bound. A name that stands for a dtype gives the dtype's number. Where a
 * dim, a stride and a dtype share a name, the first of these is meant. */
TSR_API TSR_MUST_CHECK tsr_status tsr_binding(int64_t *out, const tsr_signature *s, const tsr_bindings *b,
                                              const char *name);

/* The signature written back in its normal form; as snprintf. The text parses to
 * the same signature. Returns 0 for NULL. */
TSR_API size_t tsr_signature_to_string(char *out, size_t size, const tsr_signature *s);

TSR_END_C

#endif

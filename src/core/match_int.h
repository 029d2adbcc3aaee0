/* match_int.h - what the parser, the printer and the matcher of signatures share.
 *
 * A signature holds one pool of terms; each operand's shape and strides are runs
 * of it. A list has the number of its required and of its optional dims,
 * so that a rank decides at once which terms stand for which dims, and matching
 * is one walk without going back. Names are indices by then: no text is touched
 * until a failure is put into words.
 */
#ifndef TSRI_MATCH_INT_H
#define TSRI_MATCH_INT_H

#include "text.h"
#include "mem.h"
#include "tessera/match.h"

enum { TSRI_TERM_ONE, TSRI_TERM_NUMBER, TSRI_TERM_NAME, TSRI_TERM_MANY };   /* _  3  m  ... */
enum { TSRI_NAME_DIM, TSRI_NAME_STRIDE, TSRI_NAME_DTYPE };
enum { TSRI_NO_NAME = 0xff };

/* Sets of kinds, as bits. */
enum {
    TSRI_INTEGER = 1 << TSR_SIGNED | 1 << TSR_UNSIGNED,
    TSRI_FLOATING = 1 << TSR_FLOATING,
    TSRI_REAL    = TSRI_INTEGER | TSRI_FLOATING,
    TSRI_NUMERIC = TSRI_REAL | 1 << TSR_COMPLEX,
    TSRI_ANY     = TSRI_NUMERIC | 1 << TSR_BOOLEAN
};

/* Kinds of dtypes by name (match_parse.c), larger sets first: the normal form
 * takes the first that fits. */
enum { TSRI_KIND_SETS = 8 };
typedef struct tsri_kind_set { const char *name; int kinds; } tsri_kind_set;
extern const tsri_kind_set tsri_kind_sets[TSRI_KIND_SETS];

/* Every dtype of the kinds, as bits. Set 0 is all of them. */
uint32_t tsri_dtypes_of_kinds(int kinds);

/* A bare word is a dtype variable if it has one. */
bool tsri_has_capital(const char *word);

/* The index of a name of this kind, or -1. */
int tsri_find_name(const tsr_signature *s, int kind, const char *name);

/* A signature whose lists lie elsewhere, so that they may be as long as they need to be. */
typedef struct tsri_signature_view {
    uint8_t                  noperands, nresults, nnames;
    const tsr_match_operand *operand;
    const tsr_match_term    *term;
    const char             (*names)[TSR_MATCH_NAME];
} tsri_signature_view;

static inline tsri_signature_view tsri_view_signature(const tsr_signature *s)
{
    return (tsri_signature_view){ s->noperands, s->nresults, s->nnames, s->operand, s->term, s->names };
}

/* As tsr_match. */
tsr_status tsri_match(const tsri_signature_view *s, const char *op, int n, const tsr_desc *const *descs,
                      tsr_bindings *bindings);

/* The most dims a list takes. */
static inline int tsri_most_dims(const tsr_match_list *list)
{
    return list->many ? TSR_MAX_NDIM : list->required + list->optional;
}

/* Writing (match_text.c). */
void tsri_put_match_dtypes(tsri_text *text, uint32_t set);
void tsri_put_match_list(tsri_text *text, const tsri_signature_view *s, const tsr_match_list *list);

#endif

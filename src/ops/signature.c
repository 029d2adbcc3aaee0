/* signature.c - parses the signatures of op.def, and infers results from them. */
#include "signature.h"
#include "core/desc_int.h"
#include "core/lock.h"
#include "core/mem.h"
#include "core/status_int.h"

const tsri_parsed *tsri_parsed_ops[TSR_OP_COUNT];

/* Dtypes -------------------------------------------------------------------------------- */

static bool is_one(uint32_t set) { return (set & (set - 1)) == 0; }

static void read_result(tsri_dtype_rule *rule, const tsr_match_operand *z)
{
    rule->result = z->dtype_name != TSRI_NO_NAME ? TSRI_RESULT_GROUP : is_one(z->dtypes) ? TSRI_RESULT_FIXED
                                                                                          : TSRI_RESULT_REAL;
    if (rule->result == TSRI_RESULT_FIXED) rule->fixed = (tsr_dtype)__builtin_ctz(z->dtypes);
}

/* Complex numbers may give real ones: they are left to the general path. */
static void read_usual(tsri_dtype_rule *rule)
{
    rule->usual = ((uint32_t)1 << TSR_C32) - 1;
    for (int i = 0; i < rule->nin; i++) rule->usual &= rule->group[i] != TSRI_NO_NAME ? rule->accepts[i] : 0;
}

/* Where the dtype name of operand i is met first; there it says what it takes. */
static uint8_t first_of(const tsr_signature *s, int i)
{
    int first = i;
    for (int k = i - 1; k >= 0 && s->operand[i].dtype_name != TSRI_NO_NAME; k--)
        if (s->operand[k].dtype_name == s->operand[i].dtype_name) first = k;
    return (uint8_t)first;
}

/* Is the size of a term's dim given, or that of an earlier term? Signatures of ops have no strides. */
static bool is_bound(const tsr_signature *s, int term)
{
    bool bound = s->term[term].what == TSRI_TERM_NUMBER;
    for (int k = 0; k < term; k++)
        bound = bound || (s->term[term].what == TSRI_TERM_NAME && s->term[k].what == TSRI_TERM_NAME &&
                          s->term[k].name == s->term[term].name);
    return bound;
}

static void read_rule(tsri_dtype_rule *rule, const tsr_signature *s)
{
    rule->nin = (uint8_t)(s->noperands - s->nresults);
    TSRI_ASSERT(rule->nin <= TSR_OP_MAX_IN);
    rule->any_sizes = true;
    for (int i = 0; i < rule->nin; i++) {
        rule->first[i] = first_of(s, i);
        rule->accepts[i] = s->operand[rule->first[i]].dtypes;
        rule->group[i] = s->operand[i].dtype_name;
        const tsr_match_list *shape = &s->operand[i].shape;
        rule->least[i] = shape->required;
        rule->most[i] = shape->many ? TSR_MAX_NDIM : (uint8_t)(shape->required + shape->optional);
        for (int k = shape->first; k < shape->first + shape->count; k++)
            rule->any_sizes = rule->any_sizes && !is_bound(s, k);
    }
    if (s->nresults) read_result(rule, &s->operand[rule->nin]);
    read_usual(rule);
}

/* Parsed signatures ---------------------------------------------------------------------- */

/* Room for the signatures of all rows and those that composed ops state themselves, each once, and a little
 * more: a test parses them all. */
enum { SIGNATURES = 192, OPERANDS = 512, TERMS = 864, NAMES = 336 };

static tsri_mutex lock = TSRI_MUTEX_INIT;
static struct {
    int               signatures, operands, terms, names;  /* so many are in use */
    tsr_signature     whole;                               /* the one that is being parsed */
    tsri_parsed       signature[SIGNATURES];
    tsr_match_operand operand[OPERANDS];
    tsr_match_term    term[TERMS];
    char              name[NAMES][TSR_MATCH_NAME];
} known;

TSRI_HELD_AT_FORK(lock, (void)0);

int tsri_parse_room(void)
{
    tsri_lock(&lock);
    const int used[] = { 100 * known.signatures / SIGNATURES, 100 * known.operands / OPERANDS,
                         100 * known.terms / TERMS, 100 * known.names / NAMES };
    tsri_unlock(&lock);
    int most = 0;
    for (int i = 0; i < 4; i++) most = used[i] > most ? used[i] : most;
    return 100 - most;
}

/* The lists of a signature, as long as they are. */
static tsri_signature_view keep(const tsr_signature *s)
{
    tsr_match_operand *operand = &known.operand[known.operands];
    tsr_match_term *term = &known.term[known.terms];
    char (*names)[TSR_MATCH_NAME] = &known.name[known.names];
    memcpy(operand, s->operand, s->noperands * sizeof *operand);
    memcpy(term, s->term, s->nterms * sizeof *term);
    memcpy(names, s->names, s->nnames * sizeof *names);
    known.operands += s->noperands;
    known.terms += s->nterms;
    known.names += s->nnames;
    return (tsri_signature_view){ s->noperands, s->nresults, s->nnames, operand, term,
                                  (const char (*)[TSR_MATCH_NAME])names };
}

static const tsri_parsed *find_or_parse(const char *text)
{
    for (int i = 0; i < known.signatures; i++)
        if (tsri_streq(known.signature[i].text, text)) return &known.signature[i];
    const tsr_status s = tsr_signature_parse(&known.whole, text);
    TSRI_ASSERT(s == TSR_OK);
    (void)s;
    tsri_parsed *p = &known.signature[known.signatures++];
    p->text = text;
    p->signature = keep(&known.whole);
    read_rule(&p->rule, &known.whole);
    return p;
}

TSRI_COLD const tsri_parsed *tsri_parse(const tsri_parsed **parsed, const char *signature)
{
    tsri_lock(&lock);
    const tsri_parsed *p = find_or_parse(signature);
    tsri_unlock(&lock);
    tsri_store_release(parsed, p);
    return p;
}

TSRI_COLD const tsri_parsed *tsri_parse_composed(const tsri_parsed **parsed, const char *row,
                                                 const char *signature)
{
    int i = 0;
    if (signature) return tsri_parse(parsed, signature);
    while (!tsri_streq(tsr_op_row(i)->name, row)) i++;
    return tsri_parse(parsed, tsr_op_row(i)->signature);
}

/* Dims ---------------------------------------------------------------------------------- */

/* Which dims `...` stands for in a list that matches a rank: `count` from `*first` on. */
static int many_dims(int *first, const tsri_signature_view *s, const tsr_match_list *list, int ndim)
{
    const int spare = ndim - list->required;
    int absent = spare < list->optional ? list->optional - spare : 0;
    *first = 0;
    for (int i = 0; i < list->count; i++) {
        const tsr_match_term *t = &s->term[list->first + i];
        if (t->what == TSRI_TERM_MANY) break;
        if (t->optional && absent > 0) absent--;
        else (*first)++;
    }
    return list->many && spare > list->optional ? spare - list->optional : 0;
}

/* The dims that `...` came to, which all operands that have it must share. */
typedef struct many {
    const tsr_desc *desc;
    const char     *name;
    int             first, count;
} many;

static bool same_many(const many *a, const many *b)
{
    if (a->count != b->count) return false;
    for (int i = 0; i < a->count; i++)
        if (a->desc->shape[a->first + i] != b->desc->shape[b->first + i]) return false;
    return true;
}

static tsr_status find_many(many *out, const char *name, const tsri_signature_view *s,
                            const tsr_desc *const *in)
{
    out->desc = NULL;
    out->first = out->count = 0;
    for (int i = 0; i < s->noperands - s->nresults; i++) {
        const tsr_match_operand *o = &s->operand[i];
        if (!in[i] || !o->shape.many) continue;
        many m = { in[i], o->name, 0, 0 };
        m.count = many_dims(&m.first, s, &o->shape, in[i]->ndim);
        if (!out->desc) *out = m;
        TSRI_CHECK(same_many(out, &m), TSR_ESHAPE,
                   "%s: %s is %s and %s is %s, which differ in the dims (...)", name, out->name,
                   TSRI_DESC(out->desc), m.name, TSRI_DESC(in[i]));
    }
    return TSR_OK;
}

static tsr_dtype result_dtype(const tsr_match_operand *o, const tsr_bindings *b)
{
    return o->dtype_name != TSRI_NO_NAME ? (tsr_dtype)b->value[o->dtype_name]
                                         : (tsr_dtype)__builtin_ctz(o->dtypes);
}

/* One result: names give their values, numbers themselves; an optional dim whose name is free is not there.
 */
static tsr_status infer_result(tsr_desc *out, const char *name, const tsri_signature_view *s,
                               const tsr_match_operand *o, const many *dots, const tsr_bindings *b)
{
    int64_t shape[TSR_MAX_NDIM];
    int n = 0;
    for (int i = 0; i < o->shape.count; i++) {
        const tsr_match_term *t = &s->term[o->shape.first + i];
        if (t->what == TSRI_TERM_MANY) {
            for (int k = 0; k < dots->count && n < TSR_MAX_NDIM; k++)
                shape[n++] = dots->desc->shape[dots->first + k];
            continue;
        }
        if (t->optional && !b->bound[t->name]) continue;
        TSRI_CHECK(n < TSR_MAX_NDIM, TSR_ESHAPE, "%s: the result would have more than %d dims", name,
                   TSR_MAX_NDIM);
        shape[n++] = t->what == TSRI_TERM_NUMBER ? t->value : b->value[t->name];
    }
    return tsri_desc_packed(out, name, result_dtype(o, b), n, shape);
}

tsr_status tsri_infer_by_signature(tsr_desc *out, const char *name, const tsri_signature_view *s,
                                   const tsr_desc *const *in, const tsr_bindings *bindings)
{
    const int nin = s->noperands - s->nresults;
    many dots;
    TSRI_TRY(find_many(&dots, name, s, in));
    for (int r = 0; r < s->nresults; r++)
        TSRI_TRY(infer_result(&out[r], name, s, &s->operand[nin + r], &dots, bindings));
    return TSR_OK;
}

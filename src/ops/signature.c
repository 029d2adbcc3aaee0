/* signature.c - parses the signatures of op.def, and infers results from them. */
#include "signature.h"
#include "core/desc_int.h"
#include "core/lock.h"
#include "core/match_int.h"
#include "core/status_int.h"

tsri_parsed tsri_parsed_ops[TSR_OP_COUNT];
uint8_t     tsri_parsed_ready[TSR_OP_COUNT];
static tsri_mutex lock = TSRI_MUTEX_INIT;

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

/* A name that is met again takes what it took first. */
static uint32_t accepted(const tsr_signature *s, int i)
{
    int first = i;
    for (int k = i - 1; k >= 0 && s->operand[i].dtype_name != TSRI_NO_NAME; k--)
        if (s->operand[k].dtype_name == s->operand[i].dtype_name) first = k;
    return s->operand[first].dtypes;
}

static void read_rule(tsri_dtype_rule *rule, const tsr_signature *s)
{
    rule->nin = (uint8_t)(s->noperands - s->nresults);
    rule->any_shape = true;
    for (int i = 0; i < rule->nin; i++) {
        rule->accepts[i] = accepted(s, i);
        rule->group[i] = s->operand[i].dtype_name;
        rule->any_shape = rule->any_shape && s->operand[i].shape.many && s->operand[i].shape.count == 1;
    }
    if (s->nresults) read_result(rule, &s->operand[rule->nin]);
    read_usual(rule);
}

TSRI_COLD void tsri_parse_op(tsr_op_kind kind)
{
    tsri_lock(&lock);
    if (!tsri_parsed_ready[kind]) {
        tsri_parsed *p = &tsri_parsed_ops[kind];
        const tsr_status s = tsr_signature_parse(&p->signature, tsr_op_get_info(kind)->signature);
        TSRI_ASSERT(s == TSR_OK);
        (void)s;
        read_rule(&p->rule, &p->signature);
        tsri_store_release(&tsri_parsed_ready[kind], 1);
    }
    tsri_unlock(&lock);
}

/* Dims ---------------------------------------------------------------------------------- */

/* Which dims `...` stands for in a list that matches a rank: `count` from `*first` on. */
static int many_dims(int *first, const tsr_signature *s, const tsr_match_list *list, int ndim)
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

static tsr_status find_many(many *out, const char *name, const tsr_signature *s, const tsr_desc *const *in)
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
static tsr_status infer_result(tsr_desc *out, const char *name, const tsr_signature *s,
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

tsr_status tsri_infer_by_signature(tsr_desc *out, const char *name, tsr_op_kind kind,
                                   const tsr_desc *const *in, const tsr_bindings *bindings)
{
    const tsr_signature *s = tsri_signature_of(kind);
    const int nin = s->noperands - s->nresults;
    many dots;
    TSRI_TRY(find_many(&dots, name, s, in));
    for (int r = 0; r < s->nresults; r++)
        TSRI_TRY(infer_result(&out[r], name, s, &s->operand[nin + r], &dots, bindings));
    return TSR_OK;
}

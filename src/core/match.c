/* match.c - descs against signatures, with bindings and words. */
#include "desc_int.h"
#include "match_int.h"

enum { LIST_TEXT = 96 };  /* of a list shown in a message */

/* One desc against one operand, with what the message of a failure needs. */
typedef struct attempt {
    const tsri_signature_view *s;
    const char                *op;
    const tsr_match_operand   *o;
    const tsr_desc            *d;
    tsr_bindings              *b;
    int                        index;  /* of the operand */
    bool                       empty;  /* d has no elements; set before strides are met */
} attempt;

/* How every message begins: "matmul: b: ". */
#define WHO "%s%s%s: "
#define WHO_ARGS(a) (a)->op ? (a)->op : "", (a)->op ? ": " : "", (a)->o->name

/* The operand that bound a name, which is bound. */
static const char *source_of(const attempt *a, int name)
{
    const int i = a->b->bound[name] - 1;
    return i < a->s->noperands ? a->s->operand[i].name : "an earlier match";
}

static bool bind(const attempt *a, int name, int64_t value)
{
    tsr_bindings *b = a->b;
    if (b->bound[name]) return b->value[name] == value;
    b->bound[name] = (uint8_t)(a->index + 1);
    b->value[name] = value;
    return true;
}

static TSRI_COLD tsr_status blame_negative(const attempt *a)
{
    int at = 0;
    while (a->d->shape[at] >= 0) at++;
    return tsri_fail(TSR_ESHAPE, WHO "dim %d is negative in %s", WHO_ARGS(a), at, TSRI_DESC(a->d));
}

static tsr_status check_desc(const attempt *a)
{
    const tsr_desc *d = a->d;
    TSRI_CHECK(d->dtype > TSR_DTYPE_INVALID && d->dtype < TSR_DTYPE_COUNT, TSR_EDTYPE, WHO "%d is no dtype",
               WHO_ARGS(a), (int)d->dtype);
    TSRI_CHECK(d->ndim >= 0 && d->ndim <= TSR_MAX_NDIM, TSR_EINVAL, WHO "rank %d, outside 0 .. %d",
               WHO_ARGS(a), (int)d->ndim, TSR_MAX_NDIM);
    int64_t signs = 0;
    for (int i = 0; i < d->ndim; i++) signs |= d->shape[i];
    return signs >= 0 ? TSR_OK : blame_negative(a);
}

static TSRI_COLD tsr_status blame_dtype(const attempt *a)
{
    const char *is = tsr_dtype_name(a->d->dtype);
    char list[LIST_TEXT];
    tsri_text text = tsri_text_into(list, sizeof list);
    const int name = a->o->dtype_name;
    if (a->o->dtypes >> a->d->dtype & 1)
        return tsri_fail(TSR_EDTYPE, WHO "%s is %s from %s, but %s is %s", WHO_ARGS(a), a->s->names[name],
                         tsr_dtype_name((tsr_dtype)a->b->value[name]), source_of(a, name), a->o->name, is);
    tsri_put_match_dtypes(&text, a->o->dtypes);
    return tsri_fail(TSR_EDTYPE, WHO "dtype must be %s, but %s is %s", WHO_ARGS(a), list, a->o->name, is);
}

static tsr_status match_dtype(const attempt *a)
{
    const tsr_match_operand *o = a->o;
    if (!(o->dtypes >> a->d->dtype & 1)) return blame_dtype(a);
    if (o->dtype_name != TSRI_NO_NAME && !bind(a, o->dtype_name, (int64_t)a->d->dtype)) return blame_dtype(a);
    return TSR_OK;
}

static TSRI_COLD tsr_status blame_rank(const attempt *a, const tsr_match_list *list)
{
    const bool strides = list == &a->o->stride;
    char ranks[32], shown[LIST_TEXT];
    tsri_text rank = tsri_text_into(ranks, sizeof ranks), text = tsri_text_into(shown, sizeof shown);
    tsri_put_i64(&rank, list->required);
    if (list->many) tsri_put(&rank, " or more");
    else if (list->optional) tsri_put(&rank, list->optional == 1 ? " or %d" : " to %d", tsri_most_dims(list));
    tsri_put_match_list(&text, a->s, list);
    return tsri_fail(strides ? TSR_ESTRIDE : TSR_ESHAPE, WHO "rank must be %s for %s%s, but %s is %s",
                     WHO_ARGS(a), ranks, strides ? "strides " : "", shown, a->o->name, TSRI_DESC(a->d));
}

/* Term `at` of the list against dim `d` of the desc, which it does not fit. */
static TSRI_COLD tsr_status blame_term(const attempt *a, const tsr_match_list *list, int at, int d)
{
    const bool strides = list == &a->o->stride;
    const tsr_status status = strides ? TSR_ESTRIDE : TSR_ESHAPE;
    const char *what = strides ? "stride" : "dim";
    const tsr_match_term *terms = a->s->term + list->first, *t = &terms[at];
    const int64_t is = (strides ? a->d->stride : a->d->shape)[d];
    int place = d;
    for (int i = 0; i < at; i++)
        if (terms[i].optional || terms[i].what == TSRI_TERM_MANY) place = d - a->d->ndim;
    if (t->what == TSRI_TERM_NUMBER)
        return tsri_fail(status, WHO "%s %d must be %lld, but %s is %s", WHO_ARGS(a), what, place,
                         (long long)t->value, a->o->name, TSRI_DESC(a->d));
    return tsri_fail(status, WHO "%s is %lld from %s, but %s %d of %s is %lld", WHO_ARGS(a),
                     a->s->names[t->name], (long long)a->b->value[t->name], source_of(a, t->name), what,
                     place, a->o->name, (long long)is);
}

static bool accepts(const attempt *a, const tsr_match_term *t, int64_t value)
{
    switch (t->what) {
    case TSRI_TERM_NUMBER: return t->value == value;
    case TSRI_TERM_NAME:   return bind(a, t->name, value);
    default:          return true;
    }
}

/* A stride is free where no step is ever taken along its dim. */
static bool is_free(const attempt *a, const tsr_match_list *list, int d)
{
    return list == &a->o->stride && (a->empty || a->d->shape[d] == 1);
}

static tsr_status match_list(const attempt *a, const tsr_match_list *list, const int64_t *values)
{
    if (list->many && list->count == 1) return TSR_OK;   /* (...) takes anything, and is common */
    const int spare = a->d->ndim - list->required;
    if (spare < 0 || (spare > list->optional && !list->many)) return blame_rank(a, list);
    int absent = spare < list->optional ? list->optional - spare : 0;   /* of the optional, from the left */
    const int many = spare > list->optional ? spare - list->optional : 0;
    const tsr_match_term *terms = a->s->term + list->first;

    for (int i = 0, d = 0; i < list->count; i++) {
        const tsr_match_term *t = &terms[i];
        if (t->what == TSRI_TERM_MANY) {
            d += many;
        } else if (t->optional && absent > 0) {
            absent--;
        } else {
            if (!is_free(a, list, d) && !accepts(a, t, values[d])) return blame_term(a, list, i, d);
            d++;
        }
    }
    return TSR_OK;
}

static tsr_status match_strides(attempt *a)
{
    if (a->o->any_strides) return TSR_OK;
    if (!a->o->contiguous) {
        a->empty = tsri_desc_is_empty(a->d);
        return match_list(a, &a->o->stride, a->d->stride);
    }
    TSRI_CHECK(tsr_desc_is_contiguous(a->d), TSR_ESTRIDE, WHO "must be row-major and packed, but %s is %s",
               WHO_ARGS(a), a->o->name, TSRI_DESC(a->d));
    return TSR_OK;
}

static tsr_status match_operand(attempt *a)
{
    TSRI_TRY(check_desc(a));
    TSRI_TRY(match_dtype(a));
    TSRI_TRY(match_list(a, &a->o->shape, a->d->shape));
    return match_strides(a);
}

/* Only the names in use are copied: bindings are large, signatures short. */
static void copy_bindings(tsr_bindings *to, const tsr_bindings *from, int names)
{
    for (int i = 0; i < names; i++) {
        to->bound[i] = from->bound[i];
        if (from->bound[i]) to->value[i] = from->value[i];
    }
}

tsr_status tsri_match(const tsri_signature_view *s, const char *op, int n, const tsr_desc *const *descs,
                      tsr_bindings *bindings)
{
    TSRI_CHECK(descs || n == 0, TSR_ENULL, "match: descs is NULL");
    TSRI_CHECK(n >= 0 && n <= s->noperands, TSR_EINVAL, "%s: %d descs for a signature of %d operands",
               op ? op : "match", n, s->noperands);
    tsr_bindings work;
    if (bindings) copy_bindings(&work, bindings, s->nnames);
    else memset(work.bound, 0, sizeof work.bound);

    for (int i = 0; i < n; i++) {
        if (!descs[i]) continue;
        attempt a = { s, op, &s->operand[i], descs[i], &work, i, false };
        TSRI_TRY(match_operand(&a));
    }
    if (bindings) copy_bindings(bindings, &work, s->nnames);
    return TSR_OK;
}

tsr_status tsr_match(const tsr_signature *s, const char *op, int n, const tsr_desc *const *descs,
                     tsr_bindings *bindings)
{
    TSRI_CHECK(s, TSR_ENULL, "match: s is NULL");
    const tsri_signature_view view = tsri_view_signature(s);
    return tsri_match(&view, op, n, descs, bindings);
}

tsr_status tsr_match_text(const char *pattern, const tsr_desc *desc)
{
    TSRI_CHECK(pattern, TSR_ENULL, "match_text: pattern is NULL");
    TSRI_CHECK(desc, TSR_ENULL, "match_text: desc is NULL");
    tsr_signature s;
    TSRI_TRY(tsr_signature_parse(&s, pattern));
    TSRI_CHECK(s.noperands == 1, TSR_EINVAL, "match_text: a pattern of %d operands for one desc",
               s.noperands);
    return tsr_match(&s, "match_text", 1, &desc, NULL);
}

tsr_status tsr_binding(int64_t *out, const tsr_signature *s, const tsr_bindings *b, const char *name)
{
    TSRI_CHECK(out, TSR_ENULL, "binding: out is NULL");
    TSRI_CHECK(s, TSR_ENULL, "binding: s is NULL");
    TSRI_CHECK(b, TSR_ENULL, "binding: b is NULL");
    TSRI_CHECK(name, TSR_ENULL, "binding: name is NULL");
    int i = tsri_find_name(s, TSRI_NAME_DIM, name);
    if (i < 0) i = tsri_find_name(s, TSRI_NAME_STRIDE, name);
    if (i < 0) i = tsri_find_name(s, TSRI_NAME_DTYPE, name);
    TSRI_CHECK(i >= 0, TSR_EINVAL, "binding: the signature has no name %s", name);
    TSRI_CHECK(b->bound[i], TSR_EINVAL, "binding: %s is not bound", name);
    *out = b->value[i];
    return TSR_OK;
}

/* road.c - from a call to a backend, led by the op's signature. */
#include "road.h"
#include "away.h"
#include "core/atomic.h"
#include "core/lock.h"
#include "core/match_int.h"
#include "core/overlap.h"
#include "tessera/move.h"

/* Signatures -------------------------------------------------------------------------- */

static tsr_signature signatures[TSR_OP_COUNT];
static uint8_t ready[TSR_OP_COUNT];
static tsri_mutex lock = TSRI_MUTEX_INIT;

const tsr_signature *tsri_signature_of(tsr_op_kind kind)
{
    if (!TSRI_LIKELY(tsri_load_acquire(&ready[kind]))) {
        tsri_lock(&lock);
        if (!ready[kind]) {
            const tsr_status s = tsr_signature_parse(&signatures[kind], tsr_op_get_info(kind)->signature);
            TSRI_ASSERT(s == TSR_OK);
            (void)s;
            tsri_store_release(&ready[kind], 1);
        }
        tsri_unlock(&lock);
    }
    return &signatures[kind];
}

/* What the operands with this dtype name come to, in their order. */
static tsr_status common_dtype(tsr_dtype *out, const char *op, const tsr_signature *s, int name, int nin,
                               const tsr_desc *const *in)
{
    *out = TSR_DTYPE_INVALID;
    for (int i = 0; i < nin; i++) {
        if (!in[i] || s->operand[i].dtype_name != name || in[i]->dtype == *out) continue;
        if (*out == TSR_DTYPE_INVALID) *out = in[i]->dtype;
        else TSRI_CHECK(tsr_dtype_promote(out, *out, in[i]->dtype) == TSR_OK, TSR_EDTYPE,
                        "%s: %s and %s do not mix (tsr_cast converts)", op, tsr_dtype_name(*out), TSRI_DESC(in[i]));
    }
    return TSR_OK;
}

tsr_status tsri_promote_named(tsr_dtype *out, const char *op, const tsr_signature *s, int nin,
                              const tsr_desc *const *in)
{
    for (int i = 0; i < nin; i++) {
        const int name = s->operand[i].dtype_name;
        if (!in[i] || name == TSRI_NO_NAME) out[i] = in[i] ? in[i]->dtype : TSR_DTYPE_INVALID;
        else TSRI_TRY(common_dtype(&out[i], op, s, name, nin, in));
    }
    return TSR_OK;
}

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
        TSRI_CHECK(same_many(out, &m), TSR_ESHAPE, "%s: %s is %s and %s is %s, which differ in the dims (...)", name,
                   out->name, TSRI_DESC(out->desc), m.name, TSRI_DESC(in[i]));
    }
    return TSR_OK;
}

static tsr_dtype result_dtype(const tsr_match_operand *o, const tsr_bindings *b)
{
    return o->dtype_name != TSRI_NO_NAME ? (tsr_dtype)b->value[o->dtype_name] : (tsr_dtype)__builtin_ctz(o->dtypes);
}

/* One result: names give their values, numbers themselves; an optional dim whose name is free is not there. */
static tsr_status infer_result(tsr_desc *out, const char *name, const tsr_signature *s, const tsr_match_operand *o,
                               const many *dots, const tsr_bindings *b)
{
    int64_t shape[TSR_MAX_NDIM];
    int n = 0;
    for (int i = 0; i < o->shape.count; i++) {
        const tsr_match_term *t = &s->term[o->shape.first + i];
        if (t->what == TSRI_TERM_MANY) {
            for (int k = 0; k < dots->count && n < TSR_MAX_NDIM; k++) shape[n++] = dots->desc->shape[dots->first + k];
            continue;
        }
        if (t->optional && !b->bound[t->name]) continue;
        TSRI_CHECK(n < TSR_MAX_NDIM, TSR_ESHAPE, "%s: the result would have more than %d dims", name, TSR_MAX_NDIM);
        shape[n++] = t->what == TSRI_TERM_NUMBER ? t->value : b->value[t->name];
    }
    return tsri_desc_packed(out, name, result_dtype(o, b), n, shape);
}

tsr_status tsri_infer_by_signature(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                                   const tsr_bindings *bindings)
{
    const tsr_signature *s = tsri_signature_of(kind);
    const int nin = s->noperands - s->nresults;
    many dots;
    TSRI_TRY(find_many(&dots, name, s, in));
    for (int r = 0; r < s->nresults; r++)
        TSRI_TRY(infer_result(&out[r], name, s, &s->operand[nin + r], &dots, bindings));
    return TSR_OK;
}

/* The road ------------------------------------------------------------------------------ */

/* One call under way. */
typedef struct journey {
    const tsri_call     *call;
    const char          *name;
    const tsr_signature *s;
    const tsr_tensor    *in[TSR_OP_MAX_IN];
    tsr_tensor          *aside[TSR_OP_MAX_IN];  /* copies to release */
    tsri_fresh           fresh[TSR_OP_MAX_OUT];
    tsr_desc             desc[TSR_OP_MAX_OUT];
} journey;

static tsr_status check_operands(journey *j)
{
    const tsri_call *c = j->call;
    for (int i = 0; i < c->nout; i++)
        TSRI_CHECK(c->out[i], TSR_ENULL, "%s: %s is NULL", j->name, c->nout == 1 ? "out" : j->s->operand[c->nin + i].name);
    for (int i = 0; i < c->nout; i++)
        for (int k = 0; k < i; k++)
            TSRI_CHECK(c->out[i] != c->out[k], TSR_EINVAL, "%s: two results are to go into one handle", j->name);
    for (int i = 0; i < c->nin; i++) {
        j->in[i] = c->in[i];
        j->aside[i] = NULL;
        if (c->in[i] || !(tsri_way_of(c->kind)->optional >> i & 1))
            TSRI_TRY(tsri_check_allocated(j->name, j->s->operand[i].name, c->in[i]));
    }
    return TSR_OK;
}

/* Operands with one dtype name come to one dtype; what differs is cast aside. */
static tsr_status promote(journey *j)
{
    const tsr_desc *descs[TSR_OP_MAX_IN] = { NULL };
    tsr_dtype dtypes[TSR_OP_MAX_IN];
    const int nin = j->call->nin;
    for (int i = 0; i < nin; i++) descs[i] = j->in[i] ? &j->in[i]->desc : NULL;
    TSRI_TRY(tsri_promote_named(dtypes, j->name, j->s, nin, descs));
    for (int i = 0; i < nin; i++) {
        if (!j->in[i] || j->in[i]->dtype == dtypes[i]) continue;
        TSRI_TRY(tsr_cast(&j->aside[i], j->in[i], dtypes[i]));
        j->in[i] = j->aside[i];
    }
    return TSR_OK;
}

static tsr_status infer(journey *j)
{
    const tsri_call *c = j->call;
    const tsri_way *way = tsri_way_of(c->kind);
    const tsr_desc *descs[TSR_OP_MAX_IN] = { NULL };
    tsr_bindings bindings;
    memset(bindings.bound, 0, sizeof bindings.bound);
    for (int i = 0; i < c->nin; i++) descs[i] = j->in[i] ? &j->in[i]->desc : NULL;
    TSRI_TRY(tsr_match(j->s, j->name, c->nin, descs, &bindings));
    return way->infer ? way->infer(j->desc, j->name, c->kind, descs, c->params)
                      : tsri_infer_by_signature(j->desc, j->name, c->kind, descs, &bindings);
}

/* Where results are made: with the first operand. */
static tsr_status fit(journey *j, int *made)
{
    const tsr_tensor *first = NULL;
    for (int i = j->call->nin; i-- > 0;)
        if (j->in[i]) first = j->in[i];
    for (*made = 0; *made < j->call->nout; (*made)++)
        TSRI_TRY(tsri_result_in(j->call->out[*made], &j->fresh[*made], j->name, &j->desc[*made],
                                first ? first->device : TSR_CPU, first ? tsri_memory_beside(first) : TSR_MEMORY_HOST));
    return TSR_OK;
}

static bool may_stay(const journey *j, int i, int result)
{
    const tsr_tensor *t = j->in[i], *out = *j->call->out[result];
    return result == 0 && (tsri_way_of(j->call->kind)->in_place >> i & 1) && t->data == out->data &&
           tsr_desc_same(&t->desc, &out->desc);
}

static tsr_status separate(journey *j)
{
    for (int r = 0; r < j->call->nout; r++) {
        const tsr_tensor *out = *j->call->out[r];
        if (j->fresh[r] != TSRI_HAD) continue;
        for (int k = 0; k < r; k++) {
            const tsr_tensor *other = *j->call->out[k];
            TSRI_CHECK(!tsri_overlap(out->data, &out->desc, other->data, &other->desc), TSR_EOVERLAP,
                       "%s: the results overlap each other", j->name);
        }
        for (int i = 0; i < j->call->nin; i++) {
            const tsr_tensor *t = j->in[i];
            if (!t || may_stay(j, i, r) || !tsri_overlap(out->data, &out->desc, t->data, &t->desc)) continue;
            tsr_tensor *copy = NULL;
            TSRI_TRY(tsr_clone(&copy, t));
            tsr_release(&j->aside[i]);
            j->in[i] = j->aside[i] = copy;
        }
    }
    return TSR_OK;
}

static uint8_t parts_first;

void tsri_prefer_parts(bool on) { tsri_store_release(&parts_first, (uint8_t)on); }

static tsr_status hand_over(journey *j)
{
    const tsri_call *c = j->call;
    const tsri_way *way = tsri_way_of(c->kind);
    tsr_op op = { .kind = c->kind, .nin = c->nin, .nout = c->nout, .params = c->params };
    for (int i = 0; i < c->nin; i++) op.in[i] = j->in[i];
    for (int i = 0; i < c->nout; i++) op.out[i] = *c->out[i];
    if (!way->parts || !(tsri_load_acquire(&parts_first) || !tsri_op_supported(&op))) return tsri_op_run(&op);
    const tsr_device before = tsri_work_on(op.out[0]->device);
    const tsr_status s = way->parts(&op);
    tsri_work_on(before);
    if (op.out[0]->device != TSR_CPU) tsri_count_in_parts(c->kind);
    return s;
}

static tsr_status travel(journey *j, int *made)
{
    TSRI_TRY(promote(j));
    TSRI_TRY(infer(j));
    TSRI_TRY(fit(j, made));
    TSRI_TRY(separate(j));
    return hand_over(j);
}

tsr_status tsri_road(const tsri_call *call)
{
    int made = 0;
    journey j;
    j.call = call;
    j.name = call->name ? call->name : tsr_op_get_info(call->kind)->name;
    j.s = tsri_signature_of(call->kind);
    TSRI_TRY(check_operands(&j));
    tsr_status s = travel(&j, &made);
    for (int i = 0; i < call->nin; i++) tsr_release(&j.aside[i]);
    while (made-- > 0) s = tsri_result_end(call->out[made], j.fresh[made], s);
    return s;
}

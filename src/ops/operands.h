/* operands.h - the operands of one call, as the backend is to see them: of one dtype where they are promoted
 * together, of the shape they are broadcast to, and apart from the result. */
#ifndef TSRI_OPERANDS_H
#define TSRI_OPERANDS_H

#include "core/see.h"
#include "op.h"
#include "signature.h"

typedef struct tsri_operands {
    const tsr_tensor *in[TSR_OP_MAX_IN];         /* as given, then as they are handed over */
    tsr_tensor        view[TSR_OP_MAX_IN];       /* room for operands that are seen otherwise */
    tsr_tensor       *temporary[TSR_OP_MAX_IN];  /* copies, to be released */
    unsigned char     number[TSR_OP_MAX_IN][16];
} tsri_operands;

static inline bool tsri_is_number(const tsr_tensor *t) { return (t->flags & TSR_FLAG_NUMBER) != 0; }

/* Do operands stay as they are? Those of each group are of one dtype, and, where kinds mix, of one that the
 * op takes. */
static inline bool tsri_keep_dtypes(const tsri_dtype_rule *rule, int n, const tsr_tensor *const *in)
{
    for (int i = 0; i < n; i++) {
        const tsr_tensor *t = in[i], *first = in[rule->first[i]];
        if (!t) continue;
        if (!first || t->dtype != first->dtype) return false;
        if (tsri_mine.mixes && !(rule->accepts[i] >> t->dtype & 1)) return false;
    }
    return true;
}

/* May a number of this kind stand where elements are of the other? */
bool tsri_number_fits(tsr_kind number, tsr_kind kind);

/* The dtypes that the operands of an op come to. Those of one group of its rule are promoted together;
 * numbers take the dtype of the tensors beside them, and count only among themselves. in[i] may be NULL.
 * TSR_EDTYPE if they are not promoted together, or a number does not fit. */
tsr_status tsri_dtypes_of(tsr_dtype *out, const char *op, tsr_op_kind kind, int n,
                          const tsr_tensor *const *in, const tsri_dtype_rule *rule);

/* The same for operands that all come to one dtype. */
tsr_status tsri_promote_all(tsr_dtype *out, const char *op, int n, const tsr_tensor *const *in);

/* *t in this dtype: itself, or a copy in *temporary. */
tsr_status tsri_as_dtype(const tsr_tensor **t, tsr_tensor **temporary, tsr_dtype dtype);

/* Operand i in this dtype: a number in place, a tensor as a temporary. */
tsr_status tsri_operand_convert(tsri_operands *o, int i, tsr_dtype dtype);

/* Operand i as a view, to be changed: o->view[i] is what in[i] was. Only dims that count are copied. */
static inline tsr_tensor *tsri_operand_view(tsri_operands *o, int i)
{
    tsr_tensor *v = &o->view[i];
    const tsr_tensor *t = o->in[i];
    o->in[i] = v;
    if (t != v) tsri_see_as(v, t);
    return v;
}

/* Operand i broadcast to this shape, which it has not. */
tsr_status tsri_operand_expand_slowly(tsri_operands *o, int i, int ndim, const int64_t *shape);

/* The same for any. */
static inline tsr_status tsri_operand_expand(tsri_operands *o, int i, int ndim, const int64_t *shape)
{
    const tsr_desc *d = &o->in[i]->desc;
    bool same = d->ndim == ndim;
    for (int k = 0; k < ndim && same; k++) same = d->shape[k] == shape[k];
    return TSRI_LIKELY(same) ? TSR_OK : tsri_operand_expand_slowly(o, i, ndim, shape);
}

/* An operand that overlaps the result is replaced by a copy, which *temporary holds, to be released. Only a
 * result that was given can overlap one. */
tsr_status tsri_separate(const tsr_tensor **t, tsr_tensor **temporary, const tsr_tensor *out,
                         tsri_origin origin);

/* Do the two see the same elements at the same addresses? */
static inline bool tsri_is_exactly(const tsr_tensor *t, const tsr_tensor *out)
{
    return t->data == out->data && tsr_desc_same(&t->desc, &out->desc);
}

static inline void tsri_operands_release(tsri_operands *o, int n)
{
    for (int i = 0; i < n; i++)
        if (o->temporary[i]) tsr_release(&o->temporary[i]);
}

#endif

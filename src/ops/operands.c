/* operands.c - promotes, converts and separates operands. */
#include "operands.h"
#include "core/match_int.h"
#include "core/overlap.h"
#include "tessera/move.h"

/* Promotion ------------------------------------------------------------------------------- */

static bool is_in_group(const uint8_t *group, int i, int first)
{
    return !group || (group[i] == group[first] && group[i] != TSRI_NO_NAME);
}

/* The dtype of tensors beside a number that may be of a wider kind. */
static tsr_dtype with_number(tsr_dtype dtype, tsr_dtype number)
{
    if (tsri_number_fits(tsr_dtype_kind(number), tsr_dtype_kind(dtype))) return dtype;
    const tsr_dtype floating = tsr_dtype_floating(dtype);
    if (tsr_dtype_kind(number) != TSR_COMPLEX)
        return tsr_dtype_kind(number) == TSR_FLOATING ? floating : TSR_I64; /* bool beside an integer */
    return floating == TSR_F64 ? TSR_C128 : TSR_C64;
}

static bool accepts(uint32_t dtypes, tsr_dtype dtype) { return dtypes >> dtype & 1; }

/* What a dtype becomes where an op takes only these. */
static tsr_dtype widened(uint32_t dtypes, tsr_dtype dtype, bool divides)
{
    const tsr_kind kind = tsr_dtype_kind(dtype);
    if (accepts(dtypes, dtype)) return dtype;
    if (kind == TSR_BOOLEAN && accepts(dtypes, TSR_I8)) return TSR_I8;
    if (kind == TSR_FLOATING || kind == TSR_COMPLEX || !accepts(dtypes, TSR_F64)) return dtype;
    return divides ? TSR_F64 : tsr_dtype_floating(dtype);
}

/* Where kinds mix: bool that an op does not take comes to an integer, and integers come to floats. Not for
 * products, whose sums of bools would wrap in i8. */
static void widen(tsr_dtype *dtypes, tsr_op_kind kind, int n, const tsri_dtype_rule *rule)
{
    if (kind == TSR_OP_MATMUL) return;
    for (int i = 0; i < n && tsri_mine.mixes; i++)
        if (dtypes[i] != TSR_DTYPE_INVALID && rule->group[i] != TSRI_NO_NAME)
            dtypes[i] = widened(rule->accepts[i], dtypes[i], kind == TSR_OP_DIV);
}

/* What the group of operand `first` comes to. */
static tsr_status common_dtype(tsr_dtype *out, const char *op, int n, const tsr_tensor *const *in,
                               const uint8_t *group, int first)
{
    tsr_dtype dtype = TSR_DTYPE_INVALID;
    for (int pass = 0; pass < 2 && dtype == TSR_DTYPE_INVALID;
         pass++) /* tensors, and numbers if there are none */
        for (int i = first; i < n; i++) {
            if (!in[i] || !is_in_group(group, i, first) || (pass == 0 && tsri_is_number(in[i]))) continue;
            if (in[i]->dtype == dtype) continue;
            if (dtype == TSR_DTYPE_INVALID) dtype = in[i]->dtype;
            else TSRI_CHECK(tsr_dtype_promote(&dtype, dtype, in[i]->dtype) == TSR_OK, TSR_EDTYPE,
                            "%s: %s and %s are not promoted together; "
                            "tsr_cast one of them, or tsr_set_promotion",
                            op, tsr_dtype_name(dtype), TSRI_DESC(&in[i]->desc));
        }
    for (int i = first; i < n && tsri_mine.mixes; i++)
        if (in[i] && is_in_group(group, i, first) && tsri_is_number(in[i]))
            dtype = with_number(dtype, in[i]->dtype);
    *out = dtype;
    return TSR_OK;
}

/* Operands of one group come to one dtype. */
static tsr_status promote(tsr_dtype *out, const char *op, int n, const tsr_tensor *const *in,
                          const uint8_t *group)
{
    for (int i = 0; i < n; i++) {
        int first = 0;
        out[i] = in[i] ? in[i]->dtype : TSR_DTYPE_INVALID;
        if (!in[i] || (group && group[i] == TSRI_NO_NAME)) continue;
        while (!in[first] || !is_in_group(group, first, i)) first++;
        if (first < i) out[i] = out[first];
        else TSRI_TRY(common_dtype(&out[i], op, n, in, group, i));
    }
    return TSR_OK;
}

bool tsri_number_fits(tsr_kind number, tsr_kind kind)
{
    static const uint8_t rank[] = {
        [TSR_BOOLEAN] = 0, [TSR_SIGNED] = 1, [TSR_UNSIGNED] = 1, [TSR_FLOATING] = 2, [TSR_COMPLEX] = 3
    };
    return rank[number] <= rank[kind];
}

/* TSR_EDTYPE if a number does not fit the dtype that it comes to. */
static tsr_status check_numbers(const char *op, int n, const tsr_tensor *const *in, const tsr_dtype *dtypes)
{
    for (int i = 0; i < n; i++) {
        if (!in[i] || !tsri_is_number(in[i])) continue;
        const tsr_kind kind = tsr_dtype_kind(in[i]->dtype);
        TSRI_CHECK(tsri_number_fits(kind, tsr_dtype_kind(dtypes[i])), TSR_EDTYPE,
                   "%s: a %s number does not fit %s", op, tsr_kind_name(kind), tsr_dtype_name(dtypes[i]));
    }
    return TSR_OK;
}

tsr_status tsri_dtypes_of(tsr_dtype *out, const char *op, tsr_op_kind kind, int n,
                          const tsr_tensor *const *in, const tsri_dtype_rule *rule)
{
    TSRI_TRY(promote(out, op, n, in, rule->group));
    widen(out, kind, n, rule);
    return check_numbers(op, n, in, out);
}

tsr_status tsri_promote_all(tsr_dtype *out, const char *op, int n, const tsr_tensor *const *in)
{
    TSRI_TRY(common_dtype(out, op, n, in, NULL, 0));
    for (int i = 0; i < n; i++) TSRI_TRY(check_numbers(op, in[i] ? 1 : 0, &in[i], out));
    return TSR_OK;
}

/* Conversion ------------------------------------------------------------------------------- */

tsr_status tsri_as_dtype(const tsr_tensor **t, tsr_tensor **temporary, tsr_dtype dtype)
{
    if ((*t)->dtype == dtype) return TSR_OK;
    TSRI_TRY(tsr_cast(temporary, *t, dtype));
    *t = *temporary;
    return TSR_OK;
}

static tsr_status convert_number(tsri_operands *o, int i, tsr_dtype dtype)
{
    tsr_scalar value;
    TSRI_TRY(tsr_scalar_load(&value, o->in[i]->dtype, o->in[i]->data));
    TSRI_TRY(tsr_scalar_store(o->number[i], dtype, value));
    tsr_tensor *view = tsri_operand_view(o, i);
    view->data = o->number[i];
    view->dtype = dtype;
    return TSR_OK;
}

tsr_status tsri_operand_convert(tsri_operands *o, int i, tsr_dtype dtype)
{
    if (!o->in[i] || o->in[i]->dtype == dtype) return TSR_OK;
    if (tsri_is_number(o->in[i])) return convert_number(o, i, dtype);
    return tsri_as_dtype(&o->in[i], &o->temporary[i], dtype);
}

tsr_status tsri_operand_expand_slowly(tsri_operands *o, int i, int ndim, const int64_t *shape)
{
    tsr_desc own;  /* the view may be the operand itself */
    tsri_desc_copy(&own, &o->in[i]->desc);
    return tsri_desc_expand(&tsri_operand_view(o, i)->desc, &own, ndim, shape);
}

/* Separation ------------------------------------------------------------------------------- */

tsr_status tsri_separate(const tsr_tensor **t, tsr_tensor **temporary, const tsr_tensor *out,
                         tsri_origin origin)
{
    tsr_tensor *copy = NULL;
    if (origin != TSRI_ORIGIN_GIVEN) return TSR_OK;
    if (!tsri_overlap(out->data, &out->desc, (*t)->data, &(*t)->desc)) return TSR_OK;
    TSRI_TRY(tsr_clone(&copy, *t));
    tsr_release(temporary);
    *t = *temporary = copy;
    return TSR_OK;
}

/* desc_view.c - the public forms of view.c: check the input, let `out` be the
 * input, and leave it alone on failure. */
#include "desc_int.h"

static tsr_status check(const char *op, const tsr_desc *out, const tsr_desc *d)
{
    TSRI_CHECK(out, TSR_ENULL, "%s: out is NULL", op);
    return tsri_desc_check(op, d);
}

static tsr_status hand_over(tsr_desc *out, const tsr_desc *made)
{
    tsri_desc_copy(out, made);
    return TSR_OK;
}

static tsr_status hand_over_at(tsr_desc *out, int64_t *offset, const tsr_desc *made, int64_t at)
{
    if (offset) *offset = at;
    return hand_over(out, made);
}

tsr_status tsr_desc_view(tsr_desc *out, const tsr_desc *d, int ndim, const int64_t *shape)
{
    tsr_desc made;
    TSRI_TRY(check("view", out, d));
    TSRI_TRY(tsri_desc_view(&made, d, ndim, shape));
    return hand_over(out, &made);
}

tsr_status tsr_desc_slice(tsr_desc *out, int64_t *offset, const tsr_desc *d, int axis, int64_t start,
                          int64_t stop, int64_t step)
{
    tsr_desc made;
    int64_t at = 0;
    TSRI_TRY(check("slice", out, d));
    TSRI_TRY(tsri_desc_slice(&made, &at, d, axis, start, stop, step));
    return hand_over_at(out, offset, &made, at);
}

tsr_status tsr_desc_select(tsr_desc *out, int64_t *offset, const tsr_desc *d, int axis, int64_t index)
{
    tsr_desc made;
    int64_t at = 0;
    TSRI_TRY(check("select", out, d));
    TSRI_TRY(tsri_desc_select(&made, &at, d, axis, index));
    return hand_over_at(out, offset, &made, at);
}

tsr_status tsr_desc_permute(tsr_desc *out, const tsr_desc *d, int n, const int *axes)
{
    tsr_desc made;
    TSRI_TRY(check("permute", out, d));
    TSRI_TRY(tsri_desc_permute(&made, d, n, axes));
    return hand_over(out, &made);
}

tsr_status tsr_desc_transpose(tsr_desc *out, const tsr_desc *d, int a, int b)
{
    tsr_desc made;
    TSRI_TRY(check("transpose", out, d));
    TSRI_TRY(tsri_desc_transpose(&made, d, a, b));
    return hand_over(out, &made);
}

tsr_status tsr_desc_move_axis(tsr_desc *out, const tsr_desc *d, int from, int to)
{
    tsr_desc made;
    TSRI_TRY(check("move_axis", out, d));
    TSRI_TRY(tsri_desc_move_axis(&made, d, from, to));
    return hand_over(out, &made);
}

tsr_status tsr_desc_expand(tsr_desc *out, const tsr_desc *d, int ndim, const int64_t *shape)
{
    tsr_desc made;
    TSRI_TRY(check("expand", out, d));
    TSRI_TRY(tsri_desc_expand(&made, d, ndim, shape));
    return hand_over(out, &made);
}

tsr_status tsr_desc_squeeze(tsr_desc *out, const tsr_desc *d, int axis)
{
    tsr_desc made;
    TSRI_TRY(check("squeeze", out, d));
    TSRI_TRY(tsri_desc_squeeze(&made, d, axis));
    return hand_over(out, &made);
}

tsr_status tsr_desc_squeeze_all(tsr_desc *out, const tsr_desc *d)
{
    tsr_desc made;
    TSRI_TRY(check("squeeze_all", out, d));
    tsri_desc_squeeze_all(&made, d);
    return hand_over(out, &made);
}

tsr_status tsr_desc_unsqueeze(tsr_desc *out, const tsr_desc *d, int axis)
{
    tsr_desc made;
    TSRI_TRY(check("unsqueeze", out, d));
    TSRI_TRY(tsri_desc_unsqueeze(&made, d, axis));
    return hand_over(out, &made);
}

tsr_status tsr_desc_flip(tsr_desc *out, int64_t *offset, const tsr_desc *d, int n, const int *axes)
{
    tsr_desc made;
    int64_t at = 0;
    TSRI_TRY(check("flip", out, d));
    TSRI_TRY(tsri_desc_flip(&made, &at, d, n, axes));
    return hand_over_at(out, offset, &made, at);
}

tsr_status tsr_desc_diagonal(tsr_desc *out, int64_t *offset, const tsr_desc *d, int64_t k, int a, int b)
{
    tsr_desc made;
    int64_t at = 0;
    TSRI_TRY(check("diagonal", out, d));
    TSRI_TRY(tsri_desc_diagonal(&made, &at, d, k, a, b));
    return hand_over_at(out, offset, &made, at);
}

tsr_status tsr_desc_unfold(tsr_desc *out, const tsr_desc *d, int axis, int64_t size, int64_t step)
{
    tsr_desc made;
    TSRI_TRY(check("unfold", out, d));
    TSRI_TRY(tsri_desc_unfold(&made, d, axis, size, step));
    return hand_over(out, &made);
}

tsr_status tsr_desc_merge(tsr_desc *out, const tsr_desc *d, int axis, int count)
{
    tsr_desc made;
    TSRI_TRY(check("merge_dims", out, d));
    TSRI_TRY(tsri_desc_merge(&made, d, axis, count));
    return hand_over(out, &made);
}

tsr_status tsr_desc_split(tsr_desc *out, const tsr_desc *d, int axis, int n, const int64_t *sizes)
{
    tsr_desc made;
    TSRI_TRY(check("split_dim", out, d));
    TSRI_TRY(tsri_desc_split(&made, d, axis, n, sizes));
    return hand_over(out, &made);
}

tsr_status tsr_desc_real(tsr_desc *out, const tsr_desc *d)
{
    tsr_desc made;
    TSRI_TRY(check("view_real", out, d));
    tsri_desc_real(&made, d);
    return hand_over(out, &made);
}

tsr_status tsr_desc_imag(tsr_desc *out, int64_t *offset, const tsr_desc *d)
{
    tsr_desc made;
    int64_t at = 0;
    TSRI_TRY(check("view_imag", out, d));
    TSRI_TRY(tsri_desc_imag(&made, &at, d));
    return hand_over_at(out, offset, &made, at);
}

tsr_status tsr_desc_bit_view(tsr_desc *out, const tsr_desc *d, tsr_dtype dtype)
{
    tsr_desc made;
    TSRI_TRY(check("bit_view", out, d));
    TSRI_TRY(tsri_desc_bit_view(&made, d, dtype));
    return hand_over(out, &made);
}

tsr_status tsr_desc_packed_like(tsr_desc *out, const tsr_desc *d, tsr_dtype dtype)
{
    tsr_desc made;
    TSRI_TRY(check("packed_like", out, d));
    TSRI_CHECK(tsri_dtype_is_valid(dtype), TSR_EDTYPE, "packed_like: %d is no dtype", (int)dtype);
    TSRI_TRY(tsri_desc_packed_like(&made, d, dtype));
    return hand_over(out, &made);
}

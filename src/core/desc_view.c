/* desc_view.c - the public forms of view_algebra.c: check the input, let `out` be the
 * input, and leave it alone on failure. */
#include "desc_int.h"

static tsr_status check(const char *op, const tsr_desc *out, const tsr_desc *d)
{
    TSRI_CHECK(out, TSR_ENULL, "%s: out is NULL", op);
    return tsri_desc_check(op, d);
}

/* The view that was made, unless that failed. */
static tsr_status hand_over(tsr_desc *out, int64_t *offset, const tsr_desc *made, int64_t at, tsr_status s)
{
    if (s != TSR_OK) return s;
    if (offset) *offset = at;
    tsri_desc_copy(out, made);
    return TSR_OK;
}

#define VIEW(desc, name, parameters, ...)                                                            \
    tsr_status tsr_desc_##desc(tsr_desc *out, const tsr_desc *d, TSRI_UNWRAP parameters)             \
    {                                                                                                \
        tsr_desc made;                                                                               \
        TSRI_TRY(check(#name, out, d));                                                              \
        return hand_over(out, NULL, &made, 0, tsri_desc_##desc(&made, d, __VA_ARGS__));              \
    }
#define VIEW_AT(desc, name, parameters, ...)                                                         \
    tsr_status tsr_desc_##desc(tsr_desc *out, int64_t *offset, const tsr_desc *d, TSRI_UNWRAP parameters) \
    {                                                                                                \
        tsr_desc made;                                                                               \
        int64_t at = 0;                                                                              \
        TSRI_TRY(check(#name, out, d));                                                              \
        const tsr_status s = tsri_desc_##desc(&made, &at, d, __VA_ARGS__);                           \
        return hand_over(out, offset, &made, at, s);                                                 \
    }
#include "views.def"

tsr_status tsr_desc_squeeze_all(tsr_desc *out, const tsr_desc *d)
{
    tsr_desc made;
    TSRI_TRY(check("squeeze_all", out, d));
    tsri_desc_squeeze_all(&made, d);
    return hand_over(out, NULL, &made, 0, TSR_OK);
}

tsr_status tsr_desc_real(tsr_desc *out, const tsr_desc *d)
{
    tsr_desc made;
    TSRI_TRY(check("view_real", out, d));
    tsri_desc_real(&made, d);
    return hand_over(out, NULL, &made, 0, TSR_OK);
}

tsr_status tsr_desc_imag(tsr_desc *out, int64_t *offset, const tsr_desc *d)
{
    tsr_desc made;
    int64_t at = 0;
    TSRI_TRY(check("view_imag", out, d));
    const tsr_status s = tsri_desc_imag(&made, &at, d);
    return hand_over(out, offset, &made, at, s);
}

tsr_status tsr_desc_bit_view(tsr_desc *out, const tsr_desc *d, tsr_dtype dtype)
{
    tsr_desc made;
    TSRI_TRY(check("bit_view", out, d));
    return hand_over(out, NULL, &made, 0, tsri_desc_bit_view(&made, d, dtype));
}

tsr_status tsr_desc_packed_like(tsr_desc *out, const tsr_desc *d, tsr_dtype dtype)
{
    tsr_desc made;
    TSRI_TRY(check("packed_like", out, d));
    TSRI_CHECK(tsri_dtype_is_valid(dtype), TSR_EDTYPE, "packed_like: %d is no dtype", (int)dtype);
    return hand_over(out, NULL, &made, 0, tsri_desc_packed_like(&made, d, dtype));
}

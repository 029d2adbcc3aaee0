/* statistics.c - operands of statistics as packed memory, of the host or of a device. */
#include "statistics.h"
#include "tessera/move.h"

tsr_status tsri_as_packed(const tsr_tensor **t, tsr_tensor **temporary, const char *op, tsr_dtype dtype)
{
    const tsr_tensor *x = *t;
    if (x->dtype == dtype && tsri_is_plain(x) && tsri_is_packed(&x->desc)) return TSR_OK;
    TSRI_TRY(tsri_make_packed(temporary, op, dtype, x->ndim, x->shape));
    *t = *temporary;
    return tsr_copy(*temporary, x);
}

tsr_status tsri_make_packed_beside(tsr_tensor **out, const char *op, tsr_dtype dtype, int ndim,
                                   const int64_t *shape, const tsr_tensor *x)
{
    tsr_desc d;
    if (x->device == TSR_CPU) return tsri_make_packed(out, op, dtype, ndim, shape);
    TSRI_TRY(tsri_desc_packed(&d, op, dtype, ndim, shape));
    return tsri_make_beside(out, op, &d, x);
}

tsr_status tsri_as_packed_beside(const tsr_tensor **t, tsr_tensor **temporary, const char *op,
                                 tsr_dtype dtype, const tsr_tensor *x)
{
    const tsr_tensor *given = *t;
    if (x->device == TSR_CPU) return tsri_as_packed(t, temporary, op, dtype);
    if (given->device == x->device && given->dtype == dtype && tsri_is_packed(&given->desc)) return TSR_OK;
    TSRI_TRY(tsri_make_packed_beside(temporary, op, dtype, given->ndim, given->shape, x));
    *t = *temporary;
    return tsr_copy(*temporary, given);
}

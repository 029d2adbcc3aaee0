/* statistics.c - see statistics.h. */
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

/* axpy.c - alpha * x + y, which is fma with a number. */
#include "core/tensor_int.h"
#include "tessera/ops.h"

tsr_status tsr_axpy(tsr_tensor **out, tsr_scalar alpha, const tsr_tensor *x, const tsr_tensor *y)
{
    tsr_number number;
    double ignored;
    TSRI_CHECK(out, TSR_ENULL, "axpy: out is NULL");
    TSRI_TRY(tsri_check_allocated("axpy", "x", x));
    TSRI_TRY(tsri_check_allocated("axpy", "y", y));
    TSRI_TRY(tsr_scalar_store(&ignored, TSR_F64, alpha));  /* is it a scalar? */
    return tsr_fma(out, tsr_number_init(&number, alpha), x, y);
}

/* axpy.c - alpha * x + y, which is fma with a number. */
#include "dispatch.h"
#include "tessera/ops.h"

tsr_status tsr_axpy(tsr_tensor **out, tsr_scalar alpha, const tsr_tensor *x, const tsr_tensor *y)
{
    static const char *const names[] = { "alpha", "x", "y" };
    tsr_number number;
    double ignored;
    TSRI_TRY(tsri_as_of("axpy", tsr_scalar_store(&ignored, TSR_F64, alpha)));  /* is it a scalar? */
    return tsri_dispatch(&(tsri_call){ .kind = TSR_OP_FMA, .name = "axpy", .names = names, .nin = 3,
                                       .in = { tsr_number_init(&number, alpha), x, y },
                                       .nout = 1, .out = { out } });
}

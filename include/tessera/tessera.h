/* tessera.h - strided N-dimensional tensors for C.
 *
 * The example is compiled and run by the tests:
 *
 *     #include <stdio.h>
 *     #include <tessera/tessera.h>
 *
 *     int main(void)
 *     {
 *         TSR_AUTO tsr_tensor *a = NULL, *column = NULL, *copy = NULL;  // released where main is left
 *         float x = 0;
 *
 *         // Make: 2 x 3 floats, and set one.
 *         TSR_MUST(tsr_zeros(&a, TSR_F32, TSR_SHAPE(2, 3)));
 *         TSR_AT(float, a, 1, 2) = 5.0f;
 *
 *         // View: the last column, the same memory.
 *         TSR_MUST(tsr_select(&column, a, 1, -1));
 *         TSR_MUST(tsr_fill(column, TSR_SCALAR(7)));
 *
 *         // Read: checked, by index.
 *         TSR_MUST(tsr_get_f32(&x, a, TSR_INDEX(1, 2)));
 *
 *         // Copy: packed memory of its own, then print it.
 *         TSR_MUST(tsr_rearrange(&copy, column));
 *         TSR_MUST(TSR_SHOW(copy));
 *         return 0;
 *     }
 *
 * Five ideas carry the library:
 *
 *   desc      a value: dtype, shape, strides             desc.h
 *   storage   counted bytes on one device                memory.h
 *   tensor    a desc looking at a storage                tensor.h, scope.h, view.h, element.h
 *   op        reads tensors, writes tensors              ops.h, op.h, move.h, random.h
 *   backend   memory and kernels of a kind of device     device.h, backend.h
 *
 * Files hold tensors (io.h), and other libraries share them (interop.h).
 *
 * Rules that hold everywhere, and so are not repeated below:
 *
 *   - Every call that can fail returns tsr_status; TSR_OK is 0. What went wrong is
 *     in tsr_last_error(), in words. No call prints, exits or aborts. A NULL where
 *     a pointer is needed is TSR_ENULL, and the message names the argument.
 *   - Results come first, then inputs: tsr_cast(&y, x, TSR_F16) reads y = cast x.
 *   - If *out is NULL a tensor is allocated; otherwise it must have the result's
 *     shape and dtype, and is overwritten. View functions release *out and replace
 *     it. After a failure a NULL *out is still NULL, and any other still holds its
 *     tensor; its contents may be undefined only if the failure is ENOMEM or a
 *     device's.
 *   - What you make or are given through a result, you release.
 *   - Sizes and indices are int64_t, strides count elements. Negative axes and
 *     indices count from the end.
 *   - A const tensor is never written; any number of threads may read it at once.
 *     Distinct tensors may be used by distinct threads; counts are atomic.
 */
#ifndef TESSERA_TESSERA_H
#define TESSERA_TESSERA_H

#include "config.h"
#include "status.h"
#include "dtype.h"
#include "scalar.h"
#include "desc.h"
#include "match.h"
#include "device.h"
#include "memory.h"
#include "tensor.h"
#include "scope.h"
#include "view.h"
#include "element.h"
#include "move.h"
#include "random.h"
#include "compare.h"
#include "ops.h"
#include "op.h"
#include "print.h"
#include "io.h"
#include "interop.h"
#include "stream.h"
#include "log.h"
#include "threads.h"

#endif

/* 10_compute.c - arithmetic, broadcasting, reductions, products and sorting.
 *
 * Every op follows the same rules: the result comes first and is made if it is NULL;
 * operands broadcast; a bare number takes the dtype of the tensor beside it. */
#include <stdio.h>
#include <tessera/tessera.h>

int main(void)
{
    TSR_AUTO tsr_tensor *x = NULL, *mean = NULL, *centred = NULL, *transposed = NULL, *gram = NULL;
    TSR_AUTO tsr_tensor *positive = NULL, *kept = NULL, *sorted = NULL;

    /* 0, 2, 4, ... as 2 rows of 3. */
    TSR_MUST(tsr_arange(&x, TSR_F32, TSR_SCALAR(0), TSR_SCALAR(12), TSR_SCALAR(2)));
    TSR_MUST(tsr_view(&x, x, TSR_SHAPE(2, 3)));
    TSR_MUST(TSR_SHOW(x));

    /* The mean of each column, taken from every row: (2, 3) - (3). */
    TSR_MUST(tsr_mean(&mean, x, TSR_AXES(0), false));
    TSR_MUST(tsr_sub(&centred, x, mean));
    TSR_MUST(TSR_SHOW(centred));

    /* A product with a transposed view; nothing is copied for it. */
    TSR_MUST(tsr_transpose(&transposed, x, 0, 1));
    TSR_MUST(tsr_matmul(&gram, x, transposed));
    TSR_MUST(TSR_SHOW(gram));

    /* A comparison is a bool tensor, and where() chooses by one. */
    TSR_MUST(tsr_gt(&positive, centred, TSR_NUMBER(0)));
    TSR_MUST(tsr_where(&kept, positive, x, TSR_NUMBER(-1)));
    TSR_MUST(TSR_SHOW(kept));

    TSR_MUST(tsr_sort(&sorted, kept, 1, true));
    TSR_MUST(TSR_SHOW(sorted));

    /* Integers, bools and floats are not promoted together. */
    if (tsr_add(&gram, x, positive) != TSR_OK) printf("%s\n", tsr_last_error());
    return 0;
}

/* Output:
x: f32(2, 3 | 3, 1)
[[ 0.  2.  4.]
 [ 6.  8. 10.]]
centred: f32(2, 3 | 3, 1)
[[-3. -3. -3.]
 [ 3.  3.  3.]]
gram: f32(2, 2 | 2, 1)
[[ 20.  56.]
 [ 56. 200.]]
kept: f32(2, 3 | 3, 1)
[[-1. -1. -1.]
 [ 6.  8. 10.]]
sorted: f32(2, 3 | 3, 1)
[[-1. -1. -1.]
 [10.  8.  6.]]
add: f32 and bool(2, 3 | 3, 1) are not promoted together; tsr_cast one of them, or tsr_set_promotion
*/

/* 01_views.c - other ways to look at the same memory.
 *
 * A view function never copies: its result shares the storage of its input, and keeps
 * it alive. Writing through one is seen through all. */
#include <stdio.h>
#include <tessera/tessera.h>

int main(void)
{
    TSR_AUTO tsr_tensor *a = NULL, *column = NULL, *transposed = NULL, *flat = NULL;

    /* 0 .. 11 as 3 x 4. View functions replace their result, so `a` may be its own view. */
    TSR_MUST(tsr_arange(&a, TSR_I32, TSR_SCALAR(0), TSR_SCALAR(12), TSR_SCALAR(1)));
    TSR_MUST(tsr_view(&a, a, TSR_SHAPE(3, 4)));
    TSR_MUST(TSR_SHOW(a));

    /* The last column: axis 1, index -1 (negative counts from the end). */
    TSR_MUST(tsr_select(&column, a, 1, -1));
    TSR_MUST(tsr_fill(column, TSR_SCALAR(99)));
    TSR_MUST(tsr_print(a, &(tsr_print_opts){ .name = "a, its last column filled through a view" }));

    /* Rows 1 and 2, columns 0 and 2, then transposed: three views, no copy. */
    TSR_MUST(tsr_slice(&transposed, a, 0, 1, 3, 1));
    TSR_MUST(tsr_slice(&transposed, transposed, 1, 0, TSR_NONE, 2));
    TSR_MUST(tsr_transpose(&transposed, transposed, 0, 1));
    TSR_MUST(TSR_SHOW(transposed));

    /* A view exists exactly when the strides allow it. reshape copies when they do not. */
    if (tsr_view(&flat, transposed, TSR_SHAPE(4)) != TSR_OK) printf("%s\n", tsr_last_error());
    TSR_MUST(tsr_reshape(&flat, transposed, TSR_SHAPE(4)));
    TSR_MUST(TSR_SHOW(flat));

    /* The view outlives the tensor it was made from. */
    tsr_release(&a);
    printf("transposed(1, 0) is still %d\n", (int)TSR_AT(int32_t, transposed, 1, 0));
    return 0;
}

/* Output:
a: i32(3, 4 | 4, 1)
[[ 0  1  2  3]
 [ 4  5  6  7]
 [ 8  9 10 11]]
a, its last column filled through a view: i32(3, 4 | 4, 1)
[[ 0  1  2 99]
 [ 4  5  6 99]
 [ 8  9 10 99]]
transposed: i32(2, 2 | 2, 4)
[[ 4  8]
 [ 6 10]]
view: cannot view i32(2, 2 | 2, 4) as (4): dims 0 and 1 are not contiguous (tsr_reshape copies)
flat: i32(4 | 1)
[ 4  8  6 10]
transposed(1, 0) is still 6
*/

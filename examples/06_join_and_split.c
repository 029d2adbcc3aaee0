/* 06_join_and_split.c - several tensors as one, and one as several.
 *
 * Joining copies: concat along an axis the tensors have, stack along a new one. Splitting
 * does not: the parts are views. */
#include <stdio.h>
#include <tessera/tessera.h>

int main(void)
{
    tsr_tensor *a = NULL, *b = NULL, *joined = NULL, *stacked = NULL, *batch = NULL, *none = NULL;
    tsr_tensor *parts[2] = { NULL }, *rows[3] = { NULL };
    TSR_SCOPE(scope); /* what is made from here on is released where the block is left */

    TSR_MUST(tsr_full(&a, TSR_I32, TSR_SHAPE(1, 4), TSR_SCALAR(1)));
    TSR_MUST(tsr_arange(&b, TSR_I32, TSR_SCALAR(0), TSR_SCALAR(8), TSR_SCALAR(1)));
    TSR_MUST(tsr_view(&b, b, TSR_SHAPE(2, 4)));

    TSR_MUST(tsr_concat(&joined, 2, (const tsr_tensor *[]){ a, b }, 0));
    TSR_MUST(tsr_print(joined, &(tsr_print_opts){ .name = "concat along axis 0" }));

    TSR_MUST(tsr_stack(&stacked, 2, (const tsr_tensor *[]){ b, b }, -1));
    TSR_MUST(tsr_print(stacked, &(tsr_print_opts){ .name = "stack along a new last axis" }));

    /* Cut along axis 1 into 1 + 3 columns. Zeroing one part changes the whole. */
    TSR_MUST(tsr_split(parts, joined, 1, 2, (int64_t[]){ 1, 3 }));
    TSR_MUST(tsr_zero(parts[0]));
    TSR_MUST(tsr_print(parts[1], &(tsr_print_opts){ .name = "the second part" }));
    TSR_MUST(tsr_print(joined, &(tsr_print_opts){ .name = "the whole, its first part zeroed" }));

    /* One view per row, without the axis; join the rows in another order. */
    TSR_MUST(tsr_unstack(rows, joined, 0, 3));
    TSR_MUST(tsr_batch_join(&batch, 3, (const tsr_tensor *[]){ rows[2], rows[1], rows[0] }, false));
    TSR_MUST(tsr_print(batch, &(tsr_print_opts){ .name = "rows in another order" }));

    /* What does not fit is refused, in words. */
    if (tsr_stack(&none, 2, (const tsr_tensor *[]){ a, b }, 0) != TSR_OK) printf("%s\n", tsr_last_error());
    return 0;
}

/* Output:
concat along axis 0: i32(3, 4 | 4, 1)
[[1 1 1 1]
 [0 1 2 3]
 [4 5 6 7]]
stack along a new last axis: i32(2, 4, 2 | 8, 2, 1)
[[[0 0]
  [1 1]
  [2 2]
  [3 3]]

 [[4 4]
  [5 5]
  [6 6]
  [7 7]]]
the second part: i32(3, 3 | 4, 1)
[[1 1 1]
 [1 2 3]
 [5 6 7]]
the whole, its first part zeroed: i32(3, 4 | 4, 1)
[[0 1 1 1]
 [0 1 2 3]
 [0 5 6 7]]
rows in another order: i32(3, 4 | 4, 1)
[[0 5 6 7]
 [0 1 2 3]
 [0 1 1 1]]
stack: dim 0 is 2 in tensor 1 i32(2, 4 | 4, 1) and 1 in tensor 0 i32(1, 4 | 4, 1)
*/

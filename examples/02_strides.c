/* 02_strides.c - what strides mean: element (i, j) lies i * stride[0] + j * stride[1]
 * elements from element (0, 0).
 *
 * A stride may be negative (walk backwards) or 0 (repeat one element). Layout is strides
 * and nothing else: a column-major matrix is a matrix with other strides. */
#include <stdio.h>
#include <tessera/tessera.h>

int main(void)
{
    float memory[6] = { 1, 2, 3, 4, 5, 6 };
    TSR_AUTO tsr_tensor *a = NULL, *back = NULL, *wide = NULL, *columns = NULL, *bare = NULL;
    tsr_desc d;

    /* A desc is a value: dtype, shape, strides. TSR_DESC is a row-major one. */
    TSR_MUST(tsr_wrap(&a, memory, TSR_DESC(TSR_F32, 2, 3)));
    TSR_MUST(TSR_SHOW(a));

    /* Backwards along axis 1: data points at element (0, 0), which is memory[2] here. */
    TSR_MUST(tsr_flip(&back, a, TSR_AXES(1)));
    TSR_MUST(tsr_print(back, &(tsr_print_opts){ .name = "flipped" }));
    printf("its data is memory + %d\n", (int)((float *)back->data - memory));

    /* One row, three times: a broadcast dim has stride 0 and takes no memory. */
    TSR_MUST(tsr_slice(&wide, a, 0, 1, 2, 1));
    TSR_MUST(tsr_expand(&wide, wide, TSR_SHAPE(3, 3)));
    TSR_MUST(tsr_print(wide, &(tsr_print_opts){ .name = "expanded" }));

    /* Writing there would write one address three times, so it is refused. */
    if (tsr_zero(wide) != TSR_OK) printf("%s\n", tsr_last_error());

    /* Column-major: declare the layout, copy into it, and look at the bare memory. */
    TSR_MUST(tsr_desc_init_column_major(&d, TSR_F32, TSR_SHAPE(2, 3)));
    TSR_MUST(tsr_declare(&columns, &d, TSR_CPU, TSR_MEMORY_HOST));
    TSR_MUST(tsr_copy(columns, a));
    TSR_MUST(tsr_print(columns, &(tsr_print_opts){ .name = "column-major" }));
    TSR_MUST(tsr_wrap(&bare, columns->data, TSR_DESC(TSR_F32, 6)));
    TSR_MUST(tsr_print(bare, &(tsr_print_opts){ .name = "in memory" }));
    return 0;
}

/* Output:
a: f32(2, 3 | 3, 1)
[[1. 2. 3.]
 [4. 5. 6.]]
flipped: f32(2, 3 | 3, -1)
[[3. 2. 1.]
 [6. 5. 4.]]
its data is memory + 2
expanded: f32(3, 3 | 0, 1)
[[4. 5. 6.]
 [4. 5. 6.]
 [4. 5. 6.]]
zero: t is f32(3, 3 | 0, 1), where several indices reach one address, so it cannot be written
column-major: f32(2, 3 | 1, 2)
[[1. 2. 3.]
 [4. 5. 6.]]
in memory: f32(6 | 1)
[1. 4. 2. 5. 3. 6.]
*/

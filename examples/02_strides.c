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
    tsr_tensor *a = NULL, *back = NULL, *wide = NULL, *columns = NULL;
    tsr_desc d;
    tsr_status s;

    /* A desc is a value: dtype, shape, strides. Strides left out (NULL) are row-major. */
    TSR_GO(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2, 3), NULL));
    TSR_GO(tsr_wrap(&a, memory, &d));
    TSR_GO(tsr_print(a, &(tsr_print_opts){ .name = "a" }));

    /* Backwards along axis 1: data points at element (0, 0), which is memory[2] here. */
    TSR_GO(tsr_flip(&back, a, TSR_AXES(1)));
    TSR_GO(tsr_print(back, &(tsr_print_opts){ .name = "flipped" }));
    printf("its data is memory + %d\n", (int)((float *)back->data - memory));

    /* One row, three times: a broadcast dim has stride 0 and takes no memory. */
    TSR_GO(tsr_slice(&wide, a, 0, 1, 2, 1));
    TSR_GO(tsr_expand(&wide, wide, TSR_SHAPE(3, 3)));
    TSR_GO(tsr_print(wide, &(tsr_print_opts){ .name = "expanded" }));

    /* Writing there would write one address three times, so it is refused. */
    if (tsr_zero(wide) != TSR_OK) printf("%s\n", tsr_last_error());

    /* Column-major: declare the layout, copy into it, and look at the bare memory. */
    TSR_GO(tsr_desc_init_column_major(&d, TSR_F32, TSR_SHAPE(2, 3)));
    TSR_GO(tsr_declare(&columns, &d, TSR_CPU, TSR_MEMORY_HOST));
    TSR_GO(tsr_copy(columns, a));
    TSR_GO(tsr_print(columns, &(tsr_print_opts){ .name = "column-major" }));
    for (int i = 0; i < 6; i++) printf("%g ", ((float *)columns->data)[i]);
    printf("in memory\n");

done:
    if (s != TSR_OK) fprintf(stderr, "%s\n", tsr_last_error());
    tsr_release_all(&a, &back, &wide, &columns);
    return s != TSR_OK;
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
1 4 2 5 3 6 in memory
*/

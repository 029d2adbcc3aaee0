/* 05_errors.c - how calls fail.
 *
 * Nothing aborts, exits or prints. A call that fails returns a status, leaves a sentence
 * for its thread in tsr_last_error(), and leaves its result as it was. In a function of
 * your own that returns tsr_status, TSR_TRY passes a failure up in one line; main ends with
 * TSR_MUST. */
#include <stdio.h>
#include <tessera/tessera.h>

static void show(tsr_status s)
{
    printf("%-14s %s\n", tsr_status_name(s), tsr_last_error());
}

/* The diagonal of a square matrix, as a view. The caller releases *out. */
static tsr_status diagonal_of_square(tsr_tensor **out, const tsr_tensor *t)
{
    TSR_TRY(tsr_match_text("{ any | (n, n) }", tsr_desc_of(t)));
    return tsr_diagonal(out, t, 0, 0, 1);
}

int main(void)
{
    const float constants[3] = { 1, 2, 3 };
    TSR_AUTO tsr_tensor *a = NULL, *b = NULL, *fixed = NULL, *v = NULL;

    TSR_MUST(tsr_zeros(&a, TSR_F32, TSR_SHAPE(2, 3)));
    TSR_MUST(tsr_zeros(&b, TSR_F32, TSR_SHAPE(3, 2)));
    TSR_MUST(tsr_wrap_const(&fixed, constants, TSR_DESC(TSR_F32, 3)));

    show(tsr_zeros(&v, TSR_F32, 2, NULL));
    show(tsr_zeros(&v, TSR_F32, TSR_SHAPE(2, -3)));
    show(tsr_zeros(&v, TSR_F64, TSR_SHAPE(INT64_MAX, 2)));
    show(tsr_slice(&v, a, 3, 0, 1, 1));
    show(tsr_slice(&v, a, 1, 0, 4, 1));
    show(tsr_as_strided(&v, a, TSR_SHAPE(4), (int64_t[]){ 2 }, 0));
    show(tsr_copy(a, b));
    show(tsr_fill(fixed, TSR_SCALAR(0)));
    show(diagonal_of_square(&v, a));
    printf("v is %s\n", v ? "something" : "still NULL");

    /* A success leaves the last message alone; clearing it is explicit. */
    tsr_clear_error();
    printf("cleared: \"%s\"\n", tsr_last_error());
    return 0;
}

/* Output:
TSR_ENULL      zeros: shape is NULL
TSR_ESHAPE     zeros: dim 1 is -3 in shape (2, -3)
TSR_EOVERFLOW  zeros: the number of elements of shape (9223372036854775807, 2) exceeds 2^63 - 1
TSR_EINDEX     slice: axis 3 of f32(2, 3 | 3, 1), which has 2 dims
TSR_EINDEX     slice: 0 to 4 by 1 leaves dim 1 of f32(2, 3 | 3, 1), which has 3
TSR_EBOUNDS    as_strided: f32(4 | 2) from element 0 on leaves the memory of f32(2, 3 | 3, 1)
TSR_ESHAPE     copy: dst is f32(2, 3 | 3, 1), but src is f32(3, 2 | 2, 1)
TSR_EREADONLY  fill: t is f32(3 | 1) in read-only memory
TSR_ESHAPE     match_text: tensor: n is 2 from tensor, but dim 1 of tensor is 3
v is still NULL
cleared: ""
*/

/* 04_elements.c - reading and writing single elements, at three speeds, and dtypes.
 *
 *   TSR_AT(float, t, i, j)               unchecked, an lvalue; for hot loops
 *   tsr_get_f32(&x, t, TSR_INDEX(i, j))  checked: dtype, number of indices, range
 *   tsr_get(&s, t, TSR_INDEX(i, j))      checked, and converts any dtype to a scalar */
#include <stdio.h>
#include <tessera/tessera.h>

int main(void)
{
    TSR_AUTO tsr_tensor *a = NULL, *half = NULL, *byte = NULL, *back = NULL;
    tsr_scalar value;
    double sum = 0, item = 0;
    float x = 0;

    TSR_MUST(tsr_empty(&a, TSR_F32, TSR_SHAPE(2, 3)));
    for (int64_t i = 0; i < a->shape[0]; i++)
        for (int64_t j = 0; j < a->shape[1]; j++) TSR_AT(float, a, i, j) = 0.1f * (float)(i * 3 + j + 1);

    TSR_MUST(tsr_get_f32(&x, a, TSR_INDEX(-1, -1)));
    printf("the last element is %g\n", x);

    /* A checked read says what was wrong, and writes nothing. */
    if (tsr_get_f32(&x, a, TSR_INDEX(0, 3)) != TSR_OK) printf("%s\n", tsr_last_error());
    if (tsr_get_f64(&item, a, TSR_INDEX(0, 0)) != TSR_OK) printf("%s\n", tsr_last_error());

    /* Eighteen dtypes, converted with rounding to nearest even: f32 to f16 to f8 and back. */
    TSR_MUST(tsr_cast(&half, a, TSR_F16));
    TSR_MUST(tsr_cast(&byte, half, TSR_F8E4M3));
    TSR_MUST(tsr_cast(&back, byte, TSR_F32));
    TSR_MUST(TSR_SHOW(half));
    TSR_MUST(TSR_SHOW(byte));
    TSR_MUST(tsr_print(back, &(tsr_print_opts){ .name = "back", .precision = 4 }));

    /* Any dtype reads as a scalar, so one loop serves them all. */
    for (int64_t j = 0; j < 3; j++) {
        TSR_MUST(tsr_get(&value, byte, TSR_INDEX(0, j)));
        sum += tsr_scalar_to_f64(value);
    }
    printf("the first row of byte sums to %g\n", sum);

    /* A tensor with exactly one element is a number. */
    TSR_MUST(tsr_at_prefix(&back, back, TSR_INDEX(1, 0)));
    TSR_MUST(tsr_item_f64(&item, back));
    printf("back(1, 0) is %g\n", item);
    return 0;
}

/* Output:
the last element is 0.6
get_f32: index 3 of dim 1 of f32(2, 3 | 3, 1), which has 3
get_f64: f32(2, 3 | 3, 1) is not f64 (tsr_get and tsr_set convert)
half: f16(2, 3 | 3, 1)
[[0.1 0.2 0.3]
 [0.4 0.5 0.6]]
byte: f8e4m3(2, 3 | 3, 1)
[[0.1 0.2 0.3]
 [0.4 0.5 0.6]]
back: f32(2, 3 | 3, 1)
[[0.1016 0.2031 0.3125]
 [0.4062 0.5    0.625 ]]
the first row of byte sums to 0.617188
back(1, 0) is 0.40625
*/

/* 09_random_and_compare.c - random numbers that can be repeated, and four kinds of equal.
 *
 * A seed and an element's index give its value: the same on every machine, for every
 * thread count and every layout. */
#include <stdio.h>
#include <tessera/tessera.h>

int main(void)
{
    TSR_AUTO tsr_tensor *a = NULL, *b = NULL, *rounded = NULL, *view = NULL, *four = NULL, *six = NULL;
    tsr_close_report report;
    bool answer = false;
    char text[256];
    tsr_desc d;

    TSR_MUST(tsr_randn(&a, TSR_F32, TSR_SHAPE(2, 3), 42));
    TSR_MUST(tsr_print(a, &(tsr_print_opts){ .name = "a", .precision = 4 }));

    /* The same seed into other strides: the same values at the same indices. */
    TSR_MUST(tsr_desc_init_column_major(&d, TSR_F32, TSR_SHAPE(2, 3)));
    TSR_MUST(tsr_declare(&b, &d, TSR_CPU, TSR_MEMORY_HOST));
    TSR_MUST(tsr_randn(&b, TSR_F32, TSR_SHAPE(2, 3), 42));
    TSR_MUST(tsr_print(b, &(tsr_print_opts){ .name = "b", .precision = 4 }));

    /* Same look? Same memory? Same values? */
    TSR_MUST(tsr_view(&view, a, TSR_SHAPE(2, 3)));
    TSR_MUST(tsr_equal(&answer, a, b));
    printf("a and b:    same desc %d, identical %d, equal %d\n", tsr_same_desc(a, b), tsr_identical(a, b),
           answer);
    TSR_MUST(tsr_equal(&answer, a, view));
    printf("a and view: same desc %d, identical %d, equal %d\n", tsr_same_desc(a, view),
           tsr_identical(a, view), answer);

    /* Close? Through f16 and back, each value keeps 11 bits. */
    TSR_MUST(tsr_cast(&rounded, a, TSR_F16));
    TSR_MUST(tsr_cast(&b, rounded, TSR_F32));
    TSR_MUST(tsr_allclose(&answer, a, b, &(tsr_close_opts){ .rtol = 1e-3 }, NULL));
    printf("a and its f16, rtol 1e-3: close %d\n", answer);
    TSR_MUST(tsr_allclose(&answer, a, b, &(tsr_close_opts){ .rtol = 1e-4 }, &report));
    tsr_close_report_to_string(text, sizeof text, &report, a->ndim);
    printf("a and its f16, rtol 1e-4: close %d: %s\n", answer, text);

    /* Uniform in [low, high); a longer tensor starts with the values of a shorter one. */
    TSR_MUST(tsr_uniform(&four, TSR_F32, TSR_SHAPE(4), -1, 1, 7));
    TSR_MUST(tsr_uniform(&six, TSR_F32, TSR_SHAPE(6), -1, 1, 7));
    TSR_MUST(TSR_SHOW(four));
    TSR_MUST(TSR_SHOW(six));
    return 0;
}

/* Output:
a: f32(2, 3 | 3, 1)
[[ 2.1277  2.1614 -0.4083]
 [-1.6598  2.0213 -0.1082]]
b: f32(2, 3 | 1, 2)
[[ 2.1277  2.1614 -0.4083]
 [-1.6598  2.0213 -0.1082]]
a and b:    same desc 0, identical 0, equal 1
a and view: same desc 1, identical 1, equal 1
a and its f16, rtol 1e-3: close 1
a and its f16, rtol 1e-4: close 0: 4 of 6 differ; first and worst at (0, 0): 2.1276907920837402 vs 2.126953125 (0.0007376670837402344, 3094 ulps)
four: f32(4 | 1)
[ 0.90919423  0.50030434 -0.7716453  -0.82868433]
six: f32(6 | 1)
[ 0.90919423  0.50030434 -0.7716453  -0.82868433 -0.18607926  0.59056807]
*/

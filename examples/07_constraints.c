/* 07_constraints.c - saying what a function demands of its tensors, and checking it.
 *
 * A signature lists operands as name{ dtype | shape | strides }. Names bind across the
 * operands: k of a must be k of b. The same text makes the check and the message. */
#include <stdio.h>
#include <tessera/tessera.h>

/* c += a b, for row-major c and any strides of a and b. */
static tsr_status multiply(tsr_tensor *c, const tsr_tensor *a, const tsr_tensor *b)
{
    tsr_signature sig;
    TSR_TRY(tsr_signature_parse(&sig, "a{ f32 | (m, k) } b{ f32 | (k, n) } -> c{ f32 | (m, n) | (..., 1) }"));
    TSR_TRY(tsr_match(&sig, "multiply", 3, (const tsr_desc *[]){ &a->desc, &b->desc, &c->desc }, NULL));
    for (int64_t i = 0; i < c->shape[0]; i++)
        for (int64_t j = 0; j < c->shape[1]; j++)
            for (int64_t k = 0; k < a->shape[1]; k++)
                TSR_AT(float, c, i, j) += TSR_AT(float, a, i, k) * TSR_AT(float, b, k, j);
    return TSR_OK;
}

static void try_pattern(const char *pattern, const tsr_tensor *t)
{
    const tsr_status s = tsr_match_text(pattern, tsr_desc_of(t));
    printf("%-36s %s\n", pattern, s == TSR_OK ? "fits" : tsr_last_error());
}

int main(void)
{
    TSR_AUTO tsr_tensor *a = NULL, *b = NULL, *c = NULL, *transposed = NULL;

    TSR_MUST(tsr_ones(&a, TSR_F32, TSR_SHAPE(2, 4)));
    TSR_MUST(tsr_full(&b, TSR_F32, TSR_SHAPE(4, 3), TSR_SCALAR(0.5)));
    TSR_MUST(tsr_zeros(&c, TSR_F32, TSR_SHAPE(2, 3)));
    TSR_MUST(tsr_transpose(&transposed, b, 0, 1));
    TSR_MUST(multiply(c, a, b));
    TSR_MUST(TSR_SHOW(c));

    if (multiply(c, a, transposed) != TSR_OK) printf("%s\n", tsr_last_error());

    /* One pattern against one tensor: transposed is f32(3, 4 | 1, 3). */
    try_pattern("{ floating | (m, n) }", transposed);
    try_pattern("{ f16/bf16 | (m, n) }", transposed);
    try_pattern("{ dT | ((b,) h, w, c) | (...) }", transposed);
    try_pattern("{ dT | ((...,) m, n) | (~) }", transposed);
    try_pattern("{ f32 | (3, n) | (1, ld) }", transposed);
    try_pattern("{ f32 | (m n) }", transposed);
    return 0;
}

/* Output:
c: f32(2, 3 | 3, 1)
[[2. 2. 2.]
 [2. 2. 2.]]
multiply: b: k is 4 from a, but dim 0 of b is 3
{ floating | (m, n) }                fits
{ f16/bf16 | (m, n) }                match_text: tensor: dtype must be f16/bf16, but tensor is f32
{ dT | ((b,) h, w, c) | (...) }      match_text: tensor: rank must be 3 or 4 for ((b,) h, w, c), but tensor is f32(3, 4 | 1, 3)
{ dT | ((...,) m, n) | (~) }         match_text: tensor: must be row-major and packed, but tensor is f32(3, 4 | 1, 3)
{ f32 | (3, n) | (1, ld) }           fits
{ f32 | (m n) }                      signature: column 12: expected ',' or ')', found 'n'
*/

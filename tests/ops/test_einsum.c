/* test_einsum.c - Einstein's notation: how it is read, and what is particular. Sums are for opcheck. */
#include "test.h"

TEST(test_einsum_reads_every_part_of_the_notation)
{
    tsr_tensor *a = NULL, *z = NULL, *s = NULL, *v = NULL;
    EXPECT_OK(tsr_arange(&v, TSR_F64, tsr_scalar_i64(0), tsr_scalar_i64(9), tsr_scalar_i64(1)));
    EXPECT_OK(tsr_view(&a, v, TSR_SHAPE(3, 3)));
    EXPECT_OK(tsr_full(&s, TSR_F64, TSR_SCALAR_SHAPE, tsr_scalar_i64(2)));
    const struct {
        const char *text;
        int n;
        const tsr_tensor *in[3];
        int rank;
        double first, last;
    } cases[] = { { "ij->ji", 1, { a }, 2, 0, 8 },
                  { "ii->i", 1, { a }, 1, 0, 8 },
                  { "ii", 1, { a }, 0, 12, 12 },
                  { "ij->", 1, { a }, 0, 36, 36 },
                  { "ij->j", 1, { a }, 1, 9, 15 },
                  { "ba", 1, { a }, 2, 0, 8 },
                  { "ij,jk", 2, { a, a }, 2, 15, 111 },
                  { "ij,ij->ij", 2, { a, a }, 2, 0, 64 },
                  { " i j , j k - > i k", 2, { a, a }, 2, 15, 111 },
                  { "...", 1, { a }, 2, 0, 8 },
                  { "...->...", 1, { a }, 2, 0, 8 },
                  { "...->", 1, { a }, 0, 36, 36 },
                  { ",ij->ij", 2, { s, a }, 2, 0, 16 },
                  { "->", 1, { s }, 0, 2, 2 },
                  { "", 1, { s }, 0, 2, 2 },
                  { ",,->", 3, { s, s, s }, 0, 8, 8 },
                  { "Aa->aA", 1, { a }, 2, 0, 8 },
                  { "i...->...i", 1, { a }, 2, 0, 8 },
                  { "ij,jk,kl->il", 3, { a, a, a }, 2, 180, 1476 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool spaced = strstr(cases[i].text, "- >") != NULL;
        if (spaced) {  /* an arrow is one sign */
            EXPECT_FAILS(tsr_einsum(&z, cases[i].text, cases[i].n, cases[i].in), TSR_EFORMAT, "column 13");
            continue;
        }
        EXPECT_OK(tsr_einsum(&z, cases[i].text, cases[i].n, cases[i].in));
        const double *x = z->data;
        EXPECT_MSG(z->ndim == cases[i].rank && x[0] == cases[i].first && x[tsr_numel(z) - 1] == cases[i].last,
                   "%s: rank %d, %g .. %g", cases[i].text, (int)z->ndim, x[0], x[tsr_numel(z) - 1]);
        tsr_release(&z);
    }
    tsr_release(&a); tsr_release(&s); tsr_release(&v);
}

TEST(test_einsum_points_at_what_is_wrong)
{
    tsr_tensor *a = NULL, *b = NULL, *none = NULL, *z = NULL;
    tsr_desc d;
    EXPECT_OK(tsr_ones(&a, TSR_F32, TSR_SHAPE(2, 3)));
    EXPECT_OK(tsr_ones(&b, TSR_F32, TSR_SHAPE(4, 5)));
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2), NULL));
    EXPECT_OK(tsr_declare(&none, &d, TSR_CPU, TSR_MEMORY_HOST));
    const tsr_tensor *const ab[] = { a, b }, *const missing[] = { a, NULL }, *const described[] = { a, none };
    EXPECT_FAILS(tsr_einsum(&z, "ij,jk-ik", 2, ab), TSR_EFORMAT,
                 "einsum: column 7 of \"ij,jk-ik\": expected the '>' of \"->\", found 'i'");
    EXPECT_FAILS(tsr_einsum(&z, "ij,jk-", 2, ab), TSR_EFORMAT,
                 "column 7 of \"ij,jk-\": expected the '>' of \"->\", found the end");
    EXPECT_FAILS(tsr_einsum(&z, "ij,j2", 2, ab), TSR_EFORMAT,
                 "column 5 of \"ij,j2\": expected a name, \"...\", ',' or \"->\", found '2'");
    EXPECT_FAILS(tsr_einsum(&z, "ij,jk->ik,", 2, ab), TSR_EFORMAT,
                 "column 10 of \"ij,jk->ik,\": expected a name, \"...\" or the end, found ','");
    EXPECT_FAILS(tsr_einsum(&z, "i..j,jk", 2, ab), TSR_EFORMAT,
                 "column 4 of \"i..j,jk\": expected a '.' of \"...\", found 'j'");
    EXPECT_FAILS(tsr_einsum(&z, "i.", 1, ab), TSR_EFORMAT,
                 "column 3 of \"i.\": expected a '.' of \"...\", found the end");
    EXPECT_FAILS(tsr_einsum(&z, "i...j...,jk", 2, ab), TSR_EFORMAT,
                 "column 6 of \"i...j...,jk\": expected one \"...\" in an operand");
    EXPECT_FAILS(tsr_einsum(&z, "ij,kl->ix", 2, ab), TSR_EFORMAT,
                 "einsum: column 9: x of the result is in no operand");
    EXPECT_FAILS(tsr_einsum(&z, "ij,kl->iji", 2, ab), TSR_EFORMAT,
                 "einsum: column 10: i stands twice in the result");
    EXPECT_FAILS(tsr_einsum(&z, "ij,jk->ik", 2, ab), TSR_ESHAPE,
                 "einsum: column 4: j is 3 from operand 0, but dim 0 of operand 1 is 4, in f32(4, 5 | 5, 1)");
    EXPECT_FAILS(tsr_einsum(&z, "...,...", 2, ab), TSR_ESHAPE,
                 "einsum: column 5: a dim of \"...\" is 2 from operand 0, but dim 0 of operand 1 is 4");
    EXPECT_FAILS(tsr_einsum(&z, "ij,jkl->ik", 2, ab), TSR_ESHAPE,
                 "einsum: column 4: operand 1 has 3 names, but is f32(4, 5 | 5, 1), with 2 dims");
    EXPECT_FAILS(tsr_einsum(&z, "...abc", 1, ab), TSR_ESHAPE, "operand 0 has \"...\" and 3 names");
    EXPECT_FAILS(tsr_einsum(&z, "ii", 1, ab), TSR_ESHAPE,
                 "einsum: column 2: i is 2 from operand 0, but dim 1 of operand 0 is 3");
    EXPECT_FAILS(tsr_einsum(&z, "ij", 2, ab), TSR_EINVAL, "einsum: \"ij\" names 1 operands, but 2 are given");
    EXPECT_FAILS(tsr_einsum(&z, "ij,kl", 0, ab), TSR_EINVAL, "einsum: 0 operands; 1 to 32 can be had");
    EXPECT_FAILS(tsr_einsum(&z, "ij,kl", 33, ab), TSR_EINVAL, "einsum: 33 operands");
    EXPECT_FAILS(tsr_einsum(&z, "ij,kl", 2, missing), TSR_ENULL, "einsum: operand 1 is NULL");
    EXPECT_FAILS(tsr_einsum(&z, "ij,k", 2, described), TSR_ESTATE,
                 "einsum: operand 1 is f32(2 | 1), which is described");
    EXPECT_FAILS(tsr_einsum(&z, NULL, 2, ab), TSR_ENULL, "einsum: text is NULL");
    EXPECT_FAILS(tsr_einsum(&z, "ij,kl", 2, NULL), TSR_ENULL, "einsum: operands is NULL");
    EXPECT_FAILS(tsr_einsum(&z, "abcdefghijklmnopq", 1, ab), TSR_ESHAPE,
                 "einsum: column 17: more than 16 dims, the highest rank");
    EXPECT_FAILS(tsr_einsum(&z, ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,", 2, ab), TSR_EFORMAT,
                 "more than 32 operands");
    EXPECT(z == NULL);
    tsr_release(&a); tsr_release(&b); tsr_release(&none);
}

TEST(test_einsum_takes_numbers_and_mixed_dtypes)
{
    tsr_tensor *a = NULL, *h = NULL, *z = NULL;
    EXPECT_OK(tsr_full(&a, TSR_F32, TSR_SHAPE(2), tsr_scalar_i64(3)));
    EXPECT_OK(tsr_full(&h, TSR_F16, TSR_SHAPE(2), tsr_scalar_i64(5)));
    EXPECT_OK(tsr_einsum(&z, "i,i,->i", 3, (const tsr_tensor *const[]){ a, h, TSR_NUMBER(0.5) }));
    EXPECT(z->dtype == TSR_F32 && ((float *)z->data)[1] == 7.5f);
    tsr_release(&z);
    EXPECT_OK(tsr_einsum(&z, "i,->", 2, (const tsr_tensor *const[]){ h, TSR_NUMBER(2) }));
    EXPECT(z->dtype == TSR_F16 && tsr_f16_to_f32(*(uint16_t *)z->data) == 20.0f);
    tsr_release(&a); tsr_release(&h); tsr_release(&z);
}

TEST(test_einsum_keeps_products_on_the_way_in_f32)
{
    /* 300 * 300 is more than f16 holds; times 1 / 1024 it is not. */
    tsr_tensor *a = NULL, *b = NULL, *z = NULL;
    EXPECT_OK(tsr_full(&a, TSR_F16, TSR_SHAPE(4), tsr_scalar_i64(300)));
    EXPECT_OK(tsr_full(&b, TSR_F16, TSR_SHAPE(4), tsr_scalar_f64(1.0 / 1024)));
    EXPECT_OK(tsr_einsum(&z, "i,i,i->i", 3, (const tsr_tensor *const[]){ a, a, b }));
    EXPECT(((uint16_t *)z->data)[2] == tsr_f32_to_f16(90000.0f / 1024));
    tsr_release(&z);
    EXPECT_OK(tsr_einsum(&z, "i,j->i", 2, (const tsr_tensor *const[]){ b, a })); /* j is summed first: 1200 */
    EXPECT(((uint16_t *)z->data)[0] == tsr_f32_to_f16(1200.0f / 1024));
    tsr_release(&a); tsr_release(&b); tsr_release(&z);
}

TEST(test_einsum_multiplies_the_smallest_product_first)
{
    /* In any other order a product on the way would need terabytes. */
    tsr_tensor *a = NULL, *b = NULL, *z = NULL;
    EXPECT_OK(tsr_ones(&a, TSR_F32, TSR_SHAPE(1000)));
    EXPECT_OK(tsr_ones(&b, TSR_F32, TSR_SHAPE(1000, 2)));
    EXPECT_OK(
        tsr_einsum(&z, "a,b,c,d,ax,bx,cx,dx->x", 8, (const tsr_tensor *const[]){ a, a, a, a, b, b, b, b }));
    EXPECT(((float *)z->data)[1] == 1e12f);
    tsr_release(&a); tsr_release(&b); tsr_release(&z);
}

TEST(test_einsum_works_at_the_highest_rank)
{
    int64_t twos[TSR_MAX_NDIM];
    int back[TSR_MAX_NDIM];
    for (int i = 0; i < TSR_MAX_NDIM; i++) { twos[i] = 2; back[i] = TSR_MAX_NDIM - 1 - i; }
    tsr_tensor *a = NULL, *b = NULL, *z = NULL, *v = NULL;
    EXPECT_OK(
        tsr_arange(&v, TSR_F64, tsr_scalar_i64(0), tsr_scalar_i64(1 << TSR_MAX_NDIM), tsr_scalar_i64(1)));
    EXPECT_OK(tsr_view(&a, v, TSR_MAX_NDIM, twos));
    EXPECT_OK(tsr_permute(&b, a, TSR_MAX_NDIM, back));
    /* All dims are batch dims, reversed in b. */
    EXPECT_OK(tsr_einsum(&z, "...,...->...", 2, (const tsr_tensor *const[]){ a, b }));
    EXPECT(((double *)z->data)[1] == 1.0 * 32768 && ((double *)z->data)[65535] == 65535.0 * 65535);
    tsr_release(&z);
    EXPECT_OK(tsr_einsum(&z, "abcdefghijklmnop,abcdefghijklmnop->", 2, (const tsr_tensor *const[]){ a, b }));
    double want = 0;
    for (int i = 0; i < 65536; i++) {
        int reversed = 0;
        for (int bit = 0; bit < 16; bit++) reversed |= (i >> bit & 1) << (15 - bit);
        want += (double)i * reversed;
    }
    EXPECT(*(double *)z->data == want);
    tsr_release(&z);
    /* Fifteen batch dims that do not merge, and a sum. */
    EXPECT_OK(tsr_einsum(&z, "abcdefghijklmnop,onmlkjihgfedcbap->aobncmdlekfjgih", 2,
                         (const tsr_tensor *const[]){ a, b }));
    double sum = 0, all = 0;
    for (int i = 0; i < 1 << 15; i++) sum += ((double *)z->data)[i];
    tsr_release(&z);
    EXPECT_OK(tsr_einsum(&z, "abcdefghijklmnop,onmlkjihgfedcbap->", 2, (const tsr_tensor *const[]){ a, b }));
    all = *(double *)z->data;
    EXPECT(sum == all);
    tsr_release(&a); tsr_release(&b); tsr_release(&z); tsr_release(&v);
}


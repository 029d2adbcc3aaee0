/* test_einsum.c - random expressions of Einstein's notation against a loop over all indices. */
#include "products.h"

/* A naive evaluator ------------------------------------------------------------------
 *
 * Every name is an index; all indices run over all their values, and each time the
 * product of the operands' elements is added to the result's element. */

enum {
    MAX_OPERANDS = 5,
    MAX_RANK = 6,
    DOTS = 52,
    ALL = DOTS + 4
}; /* names: letters, then dims of "..." from the right */

typedef struct expression {
    char    text[256];
    int     n, nz;
    int     rank[MAX_OPERANDS], name[MAX_OPERANDS][MAX_RANK];
    int64_t shape[MAX_OPERANDS][MAX_RANK];
    int     z[12];
    int64_t size[ALL];   /* 0 dims too; -1: not used */
} expression;

static char name_letter(int name) { return (char)(name < 26 ? 'A' + name : 'a' + name - 26); }

static void evaluate(value *z, const expression *e, tsr_tensor *const *operands)
{
    int used[ALL], count = 0;
    int64_t at[ALL] = { 0 }, total = 1;
    for (int i = 0; i < ALL; i++)
        if (e->size[i] >= 0) { used[count++] = i; total *= e->size[i]; }
    for (int64_t step = 0; step < total; step++) {
        value product = value_of(1);
        int64_t rest = step, place = 0;
        for (int i = count - 1; i >= 0; i--) {
            at[used[i]] = rest % e->size[used[i]];
            rest /= e->size[used[i]];
        }
        for (int o = 0; o < e->n; o++) {
            int64_t offset = 0;
            for (int d = 0; d < e->rank[o]; d++)
                if (e->shape[o][d] > 1) offset += at[e->name[o][d]] * operands[o]->stride[d];
            product =
                value_times(product, value_load(operands[o]->dtype,
                                                (char *)operands[o]->data +
                                                    offset * (int64_t)tsr_dtype_size(operands[o]->dtype)));
        }
        for (int d = 0; d < e->nz; d++) place = place * e->size[e->z[d]] + at[e->z[d]];
        z[place] = value_plus(z[place], product);
    }
}

/* Random expressions -------------------------------------------------------------------- */

static void put(expression *e, uint64_t *r, const char *text)
{
    if (test_below(r, 8) == 0) strcat(e->text, " ");
    strcat(e->text, text);
}

static void put_name(expression *e, uint64_t *r, int name) { put(e, r, (char[]){ name_letter(name), '\0' }); }

/* An operand: some of the names in use, perhaps one twice, perhaps "..." among them. */
static void add_operand(expression *e, uint64_t *r, const int *names, int nnames, int max_rank)
{
    const int o = e->n++, letters = (int)test_below(r, max_rank + 1);
    const int dots = test_below(r, 3) == 0 ? (int)test_below(r, 3) : -1,
              before = dots >= 0 ? (int)test_below(r, letters + 1) : -1;
    if (o) put(e, r, ",");
    e->rank[o] = 0;
    for (int l = 0; l <= letters; l++) {
        if (l == before) {
            put(e, r, "...");
            for (int d = 0; d < dots; d++) {
                const int name = DOTS + dots - 1 - d;
                if (e->size[name] < 0) e->size[name] = 1;
                const bool one = test_below(r, 3) == 0;
                if (e->size[name] == 1 && !one) e->size[name] = 1 + test_below(r, 3);
                e->name[o][e->rank[o]] = name;
                e->shape[o][e->rank[o]++] = one ? 1 : e->size[name];
            }
        }
        if (l == letters) break;
        const int name = names[test_below(r, nnames)];
        if (e->size[name] < 0)
            e->size[name] = test_below(r, 25) ? 1 + test_below(r, test_below(r, 4) ? 5 : 12) : 0;
        put_name(e, r, name);
        e->name[o][e->rank[o]] = name;
        e->shape[o][e->rank[o]++] = e->size[name];
    }
}

static int times_named(const expression *e, int name)
{
    int n = 0;
    for (int o = 0; o < e->n; o++)
        for (int d = 0; d < e->rank[o]; d++) n += e->name[o][d] == name;
    return n;
}

static int dots_of(const expression *e)
{
    int n = 0;
    while (n < 4 && e->size[DOTS + n] >= 0) n++;
    return n;
}

static bool has_dots(const expression *e) { return strstr(e->text, "...") != NULL; }

static void add_dots(expression *e)
{
    for (int d = dots_of(e) - 1; d >= 0; d--) e->z[e->nz++] = DOTS + d;
}

static void imply_result(expression *e)
{
    add_dots(e);
    for (int name = 0; name < DOTS; name++)
        if (times_named(e, name) == 1) e->z[e->nz++] = name;
}

static void write_result(expression *e, uint64_t *r)
{
    int names[DOTS], count = 0;
    for (int i = 0; i < DOTS; i++)
        if (e->size[i] >= 0) names[count++] = i;
    const bool dots = has_dots(e) && test_below(r, 8);
    put(e, r, "->");
    const int wanted = (int)test_below(r, (count < 5 ? count : 5) + 1),
              place = (int)test_below(r, wanted + 1);
    for (int i = 0; i <= wanted; i++) {
        if (i == place && dots) { put(e, r, "..."); add_dots(e); }
        if (i == wanted) break;
        const int pick = i + (int)test_below(r, count - i), swap = names[i];
        names[i] = names[pick];
        names[pick] = swap;
        put_name(e, r, names[i]);
        e->z[e->nz++] = names[i];
    }
}

static int64_t index_count(const expression *e)
{
    int64_t n = 1;
    for (int i = 0; i < ALL; i++)
        if (e->size[i] >= 0) n *= e->size[i];
    return n;
}

static expression random_expression(uint64_t *r)
{
    expression e;
    do {
        int names[6];
        memset(&e, 0, sizeof e);
        for (int i = 0; i < ALL; i++) e.size[i] = -1;
        for (int i = 0; i < 6; i++) names[i] = (int)test_below(r, DOTS);
        const int operands = 1 + (int)(test_below(r, 3) ? test_below(r, 2) : test_below(r, MAX_OPERANDS));
        for (int i = 0; i < operands; i++)
            add_operand(&e, r, names, 2 + (int)test_below(r, 5), operands > 2 ? 3 : 4);
        if (test_below(r, 3) == 0) imply_result(&e);
        else write_result(&e, r);
    } while (index_count(&e) > 20000 || e.nz > 8);
    return e;
}

static void run_expression(uint64_t *r, const expression *e, tsr_dtype dtype, int round)
{
    strided s[MAX_OPERANDS], z = { NULL, NULL };
    tsr_tensor *operands[MAX_OPERANDS];
    int64_t shape[12], count = 1;
    for (int o = 0; o < e->n; o++) {
        s[o] = strided_make(r, dtype, e->rank[o], e->shape[o], true, round % 4 == 0);
        fill_random(r, s[o].t);
        operands[o] = s[o].t;
    }
    for (int d = 0; d < e->nz; d++) count *= shape[d] = e->size[e->z[d]];
    if (round % 2) z = strided_make(r, dtype, e->nz, shape, false, false);
    value *want = calloc((size_t)count + 1, sizeof *want);
    evaluate(want, e, operands);
    const tsr_status status = tsr_einsum(&z.t, e->text, e->n, (const tsr_tensor *const *)operands);
    EXPECT_MSG(status == TSR_OK, "round %d: \"%s\": %s", round, e->text, tsr_last_error());
    if (status == TSR_OK) {
        EXPECT_MSG(z.t->ndim == e->nz && memcmp(z.t->shape, shape, sizeof *shape * (size_t)e->nz) == 0,
                   "\"%s\"", e->text);
        for (int64_t i = 0; i < count; i++)
            EXPECT_MSG(is_value(dtype, element_at(z.t, i), want[i]), "round %d: \"%s\" of %s: element %lld",
                       round, e->text, tsr_dtype_name(dtype), (long long)i);
    }
    free(want);
    for (int o = 0; o < e->n; o++) strided_free(&s[o]);
    strided_free(&z);
}

TEST(test_einsum_is_the_sum_over_all_indices)
{
    uint64_t r = 21;
    for (int round = 0; round < 10000; round++) {
        const expression e = random_expression(&r);
        /* Sums that a short float cannot hold exactly in f32 do not arise: at most 3^5 * 20000. */
        run_expression(&r, &e, product_dtypes[round % PRODUCT_DTYPES], round);
    }
}

/* By name ------------------------------------------------------------------------------------ */

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
    EXPECT_FAILS(tsr_einsum(NULL, "ij,kl", 2, ab), TSR_ENULL, "einsum: out is NULL");
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
        int turned = 0;
        for (int bit = 0; bit < 16; bit++) turned |= (i >> bit & 1) << (15 - bit);
        want += (double)i * turned;
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

TEST(test_einsum_may_write_over_its_operands)
{
    tsr_tensor *a = NULL, *copy = NULL, *want = NULL;
    EXPECT_OK(tsr_arange(&copy, TSR_I32, tsr_scalar_i64(0), tsr_scalar_i64(16), tsr_scalar_i64(1)));
    EXPECT_OK(tsr_view(&a, copy, TSR_SHAPE(4, 4)));
    const char *texts[] = { "ij->ji", "ij,jk->ki", "ij,ij->ij", "ij,ji->ij", "ij,jk,kl->li" };
    for (int t = 0; t < 5; t++) {
        const tsr_tensor *const in[] = { a, a, a };
        const int n = t == 0 ? 1 : t == 4 ? 3 : 2;
        EXPECT_OK(tsr_einsum(&want, texts[t], n, in));
        EXPECT_OK(tsr_einsum(&a, texts[t], n, in));
        EXPECT(memcmp(a->data, want->data, 64) == 0);
        tsr_release(&want);
    }
    tsr_release(&a); tsr_release(&copy);
}

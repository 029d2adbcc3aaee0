/* test_infer.c - what an op would give and cost, before there is data. */
#include "test.h"

static tsr_desc packed(tsr_dtype dtype, int ndim, const int64_t *shape)
{
    tsr_desc d;
    memset(&d, 0, sizeof d);
    EXPECT_OK(tsr_desc_init(&d, dtype, ndim, shape, NULL));
    return d;
}

#define D(dtype, ...) packed((dtype), TSR_SHAPE(__VA_ARGS__))

static tsr_status infer1(tsr_desc *z, tsr_op_kind kind, tsr_desc x, const void *params)
{
    return tsr_infer(z, kind, 1, (const tsr_desc *[]){ &x }, params);
}

static tsr_status infer2(tsr_desc *z, tsr_op_kind kind, tsr_desc x, tsr_desc y)
{
    return tsr_infer(z, kind, 2, (const tsr_desc *[]){ &x, &y }, NULL);
}

TEST(test_every_op_is_found_by_its_name)
{
    for (int kind = TSR_OP_NONE + 1; kind < TSR_OP_COUNT; kind++)
        EXPECT(tsr_op_find(tsr_op_get_info((tsr_op_kind)kind)->name) == (tsr_op_kind)kind);
    EXPECT(tsr_op_find("no such op") == TSR_OP_NONE);
    EXPECT(tsr_op_find(NULL) == TSR_OP_NONE);
}

TEST(test_every_signature_parses)
{
    for (int kind = TSR_OP_NONE + 1; kind < TSR_OP_COUNT; kind++) {
        tsr_signature s;
        const tsr_op_info *info = tsr_op_get_info((tsr_op_kind)kind);
        EXPECT_MSG(tsr_signature_parse(&s, info->signature) == TSR_OK, "%s: %s", info->name,
                   tsr_last_error());
        EXPECT_MSG(s.nresults >= 1 && s.nresults <= TSR_OP_MAX_OUT, "%s", info->name);
        EXPECT_MSG(s.noperands - s.nresults <= TSR_OP_MAX_IN, "%s", info->name);
    }
}

TEST(test_rows_are_the_ops_and_then_the_composed_ones)
{
    int count = 0;
    for (; tsr_op_row(count); count++) {
        const tsr_op_info *row = tsr_op_row(count);
        tsr_signature s;
        EXPECT_MSG((int)row->kind == (count + 1 < TSR_OP_COUNT ? count + 1 : TSR_OP_NONE), "%s", row->name);
        EXPECT_MSG(tsr_op_get_info(row->kind) == (row->kind ? row : NULL), "%s", row->name);
        EXPECT_MSG(tsr_op_find(row->name) == row->kind, "%s", row->name);
        EXPECT_MSG(tsr_signature_parse(&s, row->signature) == TSR_OK, "%s: %s", row->name, tsr_last_error());
        EXPECT_MSG(strstr(row->call, "->") || !strncmp(row->call, "by ", 3), "%s: %s", row->name, row->call);
        for (int i = 0; i < count; i++) EXPECT_MSG(strcmp(tsr_op_row(i)->name, row->name), "%s", row->name);
    }
    EXPECT(count > TSR_OP_COUNT);
}

TEST(test_elementwise_ops_promote_and_broadcast)
{
    tsr_desc z, want = D(TSR_F32, 2, 4, 3);
    EXPECT_OK(infer2(&z, TSR_OP_ADD, D(TSR_F32, 2, 1, 3), D(TSR_BF16, 4, 1)));
    EXPECT(tsr_desc_same(&z, &want));
    EXPECT_OK(infer2(&z, TSR_OP_LT, D(TSR_F32, 3), D(TSR_F32, 3)));
    EXPECT(z.dtype == TSR_BOOL);
    EXPECT_FAILS(infer2(&z, TSR_OP_ADD, D(TSR_F32, 2), D(TSR_F32, 3)), TSR_ESHAPE, "add");
    EXPECT_FAILS(infer2(&z, TSR_OP_ADD, D(TSR_F32, 2), D(TSR_I32, 2)), TSR_EDTYPE, "add");
}

TEST(test_reductions_lose_their_axes)
{
    tsr_desc z, want = D(TSR_I64, 2, 4);
    tsr_reduce_params params = { .axes = 1 << 1 };
    EXPECT_OK(infer1(&z, TSR_OP_SUM, D(TSR_I8, 2, 3, 4), &params));
    EXPECT(tsr_desc_same(&z, &want));
    params.axes = 1 << 3;
    EXPECT_FAILS(infer1(&z, TSR_OP_SUM, D(TSR_I8, 2, 3, 4), &params), TSR_EINDEX, "axes");
    EXPECT_FAILS(infer1(&z, TSR_OP_SUM, D(TSR_I8, 2, 3, 4), NULL), TSR_ENULL, "params");
}

TEST(test_matmul_broadcasts_its_batch)
{
    tsr_desc z, want = D(TSR_F16, 5, 3, 2, 7), row = D(TSR_F32, 7);
    EXPECT_OK(infer2(&z, TSR_OP_MATMUL, D(TSR_F16, 5, 1, 2, 4), D(TSR_F16, 3, 4, 7)));
    EXPECT(tsr_desc_same(&z, &want));
    EXPECT_OK(infer2(&z, TSR_OP_MATMUL, D(TSR_F32, 4), D(TSR_F32, 4, 7)));
    EXPECT(tsr_desc_same(&z, &row));
    EXPECT_OK(infer2(&z, TSR_OP_MATMUL_I8, D(TSR_I8, 2, 4), D(TSR_U8, 4, 7)));
    EXPECT(z.dtype == TSR_I32);
    EXPECT_FAILS(infer2(&z, TSR_OP_MATMUL, D(TSR_F32, 2, 4), D(TSR_F32, 5, 7)), TSR_ESHAPE, "k is 4");
}

TEST(test_sorting_gives_values_and_indices)
{
    tsr_desc z[2];
    const tsr_sort_params params = { 0, false };
    EXPECT_OK(infer1(z, TSR_OP_SORT, D(TSR_F32, 3, 2), &params));
    EXPECT(z[0].dtype == TSR_F32 && z[1].dtype == TSR_I64 && z[1].shape[0] == 3 && z[1].ndim == 2);
}

TEST(test_results_that_the_caller_chooses_are_not_inferred)
{
    tsr_desc z;
    const tsr_fill_params params = { TSR_SCALAR(1) };
    EXPECT_FAILS(tsr_infer(&z, TSR_OP_FILL, 0, NULL, &params), TSR_EUNSUPPORTED, "chooses");
}

TEST(test_inferring_and_computing_agree)
{
    tsr_tensor *x = NULL, *y = NULL, *z = NULL;
    tsr_desc d;
    EXPECT_OK(tsr_zeros(&x, TSR_F32, TSR_SHAPE(3, 4)));
    EXPECT_OK(tsr_transpose(&y, x, 0, 1));
    EXPECT_OK(tsr_exp(&z, y));
    EXPECT_OK(infer1(&d, TSR_OP_EXP, y->desc, NULL));
    EXPECT(tsr_desc_same(&d, &z->desc));
    tsr_release_all(&z, &y, &x);
}

TEST(test_cost_counts_bytes_and_flops)
{
    tsr_cost c;
    tsr_desc a = D(TSR_F32, 10, 20), b = D(TSR_F32, 20, 30);
    EXPECT_OK(tsr_op_cost(&c, TSR_OP_MATMUL, 2, (const tsr_desc *[]){ &a, &b }, NULL));
    EXPECT(c.flops == 2.0 * 10 * 20 * 30);
    EXPECT(c.bytes == 4.0 * (10 * 20 + 20 * 30 + 10 * 30));
    EXPECT_OK(tsr_op_cost(&c, TSR_OP_ADD, 2, (const tsr_desc *[]){ &a, &a }, NULL));
    EXPECT(c.flops == 200 && c.bytes == 2400);
    const tsr_reduce_params all = { .axes = 3 };
    EXPECT_OK(tsr_op_cost(&c, TSR_OP_SUM, 1, (const tsr_desc *[]){ &a }, &all));
    EXPECT(c.flops == 200 && c.bytes == 804);
}

TEST(test_bad_questions_are_explained)
{
    tsr_desc z, x = D(TSR_F32, 2), broken = x;
    tsr_cost c;
    const tsr_desc *in[] = { &x, NULL };
    broken.ndim = 99;
    EXPECT_FAILS(tsr_infer(NULL, TSR_OP_NEG, 1, in, NULL), TSR_ENULL, "out");
    EXPECT_FAILS(tsr_infer(&z, TSR_OP_NONE, 1, in, NULL), TSR_EINVAL, "no op");
    EXPECT_FAILS(tsr_infer(&z, TSR_OP_COUNT, 1, in, NULL), TSR_EINVAL, "no op");
    EXPECT_FAILS(tsr_infer(&z, TSR_OP_NEG, 3, in, NULL), TSR_EINVAL, "takes 1");
    EXPECT_FAILS(tsr_infer(&z, TSR_OP_NEG, 1, NULL, NULL), TSR_ENULL, "in is NULL");
    EXPECT_FAILS(tsr_infer(&z, TSR_OP_ADD, 2, in, NULL), TSR_ENULL, "y");
    EXPECT_FAILS(tsr_infer(&z, TSR_OP_ADD, 1, in, NULL), TSR_ENULL, "y");
    EXPECT_FAILS(infer1(&z, TSR_OP_NEG, broken, NULL), TSR_EINVAL, "neg");
    EXPECT_FAILS(tsr_op_cost(NULL, TSR_OP_NEG, 1, in, NULL), TSR_ENULL, "out");
    EXPECT_FAILS(tsr_op_cost(&c, TSR_OP_MAX_, 1, in, NULL), TSR_EINVAL, "no op");
}

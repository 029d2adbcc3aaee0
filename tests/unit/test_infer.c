/* test_infer.c - what an op would give and cost, before there is data. */
#include "ops/signature.h"
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

/* Of the memory for parsed signatures some is left for those that composed ops state themselves. */
TEST(test_signatures_of_all_rows_are_kept_and_each_once)
{
    const tsri_parsed *parsed[2] = { NULL, NULL };
    for (int i = 0; tsr_op_row(i); i++) {
        tsr_signature s;
        char copy[512];
        snprintf(copy, sizeof copy, "%s", tsr_op_row(i)->signature);
        EXPECT_OK(tsr_signature_parse(&s, copy));
        if (s.noperands - s.nresults > TSR_OP_MAX_IN) continue;  /* made of calls of other rows */
        (void)tsri_parse(&parsed[0], tsr_op_row(i)->signature);
        EXPECT(tsri_parse(&parsed[1], copy) == parsed[0] && parsed[1] == parsed[0]);
    }
    EXPECT_MSG(tsri_parse_room() >= 8 && tsri_parse_room() < 20, "%d per cent left", tsri_parse_room());
}

/* Descs as text: "f32(2, 3) i64(3)". Returns how many. */
static int read_descs(tsr_desc *out, const char *text)
{
    int n = 0;
    while (*text) {
        char name[16];
        int64_t shape[TSR_MAX_NDIM];
        int ndim = 0, length = 0;
        tsr_dtype dtype = TSR_DTYPE_INVALID;
        (void)sscanf(text, " %15[a-z0-9](%n", name, &length);
        EXPECT_OK(tsr_dtype_parse(&dtype, name));
        for (text += length; *text && *text != ')'; text += strspn(text, ", "))
            shape[ndim++] = strtoll(text, (char **)&text, 10);
        text += strspn(text, ") ");
        EXPECT_OK(tsr_desc_init(&out[n++], dtype, ndim, shape, NULL));
    }
    return n;
}

#define P(type, ...) &(const tsr_##type##_params){ __VA_ARGS__ }

static const tsr_conv_params window = {
    .spatial = 2, .groups = 1, .stride = { 2, 1 }, .dilation = { 1, 1 }, .low = { 1, 1 }, .high = { 1, 0 }
};
static const tsr_pool_params pool = {
    .spatial = 2, .kernel = { 3, 2 }, .stride = { 2, 2 }, .dilation = { 1, 1 }
};

static const struct { tsr_op_kind op; const char *in; const void *params; const char *out; double flops;
} inferences[] = {
    { TSR_OP_ADD, "f32(2, 1, 3) bf16(4, 1)", NULL, "f32(2, 4, 3)", -1 },
    { TSR_OP_ADD, "f32(10, 20) f32(10, 20)", NULL, "f32(10, 20)", 200 },
    { TSR_OP_LT, "f32(3) f32(3)", NULL, "bool(3)", 3 },
    { TSR_OP_SUM, "i8(2, 3, 4)", P(reduce, .axes = 2), "i64(2, 4)", 24 },
    { TSR_OP_SUM, "i16(2, 3, 4)", P(reduce, .axes = 5, .keepdims = true), "i64(1, 3, 1)", 24 },
    { TSR_OP_ARGMIN, "i16(2, 3, 4)", P(reduce, .axes = 2), "i64(2, 4)", 24 },
    { TSR_OP_CUMMAX, "i16(2, 3, 4)", P(reduce, .axes = 2), "i16(2, 3, 4)", 24 },
    { TSR_OP_SORT, "f32(3, 2)", P(sort, 0, false), "f32(3, 2) i64(3, 2)", -1 },
    { TSR_OP_MATMUL, "f32(10, 20) f32(20, 30)", NULL, "f32(10, 30)", 2 * 10 * 20 * 30 },
    { TSR_OP_MATMUL, "f16(5, 1, 2, 4) f16(3, 4, 7)", NULL, "f16(5, 3, 2, 7)", 2 * 5 * 3 * 2 * 4 * 7 },
    { TSR_OP_MATMUL, "f32(4) f32(4, 7)", NULL, "f32(7)", 2 * 4 * 7 },
    { TSR_OP_MATMUL_I8, "i8(2, 4) u8(4, 7)", NULL, "i32(2, 7)", 2 * 2 * 4 * 7 },
    { TSR_OP_CONV, "f32(2, 3, 8, 9) f32(5, 3, 3, 3) f32(5)", &window, "f32(2, 5, 4, 8)", -1 },
    { TSR_OP_CONV, "f32(2, 3, 8, 9) f32(5, 3, 3, 3)", &window, "f32(2, 5, 4, 8)", 2 * 2 * 5 * 4 * 8 * 27 },
    { TSR_OP_CONV_TRANSPOSE, "f32(2, 3, 8, 9) f32(3, 5, 3, 3) f32(5)", &window, "f32(2, 5, 15, 10)",
      2 * 2 * 3 * 8 * 9 * 5 * 9 },
    { TSR_OP_MAX_POOL, "f32(2, 3, 8, 9)", &pool, "f32(2, 3, 3, 4) i64(2, 3, 3, 4)", -1 },
    { TSR_OP_AVG_POOL, "f32(2, 3, 8, 9)", &pool, "f32(2, 3, 3, 4)", 2 * 3 * 3 * 4 * 6 },
    { TSR_OP_ATTENTION, "f16(2, 8, 10, 4) f16(2, 2, 20, 4) f16(2, 2, 20, 6)", P(attention, 1, false),
      "f16(2, 8, 10, 6)", 2 * 2 * 8 * 10 * 20 * (4 + 6) },
    { TSR_OP_ATTENTION, "f16(2, 8, 10, 4) f16(2, 2, 20, 4) f16(2, 2, 20, 6)", P(attention, 1, true),
      "f16(2, 8, 10, 6)", 2 * 2 * 8 * (11 + 12 + 13 + 14 + 15 + 16 + 17 + 18 + 19 + 20) * (4 + 6) },
    { TSR_OP_SELF_ATTENTION, "f32(5, 8, 4) f32(7, 2, 4) f32(7, 2, 4)", P(attention, 1, true), "f32(5, 8, 4)",
      2 * 8 * (3 + 4 + 5 + 6 + 7) * 8 },
    { TSR_OP_SOFTMAX, "f16(2, 5, 4)", P(axis, 1), "f16(2, 5, 4)", -1 },
    { TSR_OP_CROSS_ENTROPY, "f16(2, 5, 4) i64(2, 4)", P(loss, .reduction = TSR_REDUCTION_MEAN), "f16()",
      16 * 40 },
    { TSR_OP_CROSS_ENTROPY, "f16(2, 5, 4) i64(2, 4)", P(loss, .reduction = TSR_REDUCTION_NONE), "f16(2, 4)",
      -1 },
    { TSR_OP_QUANTISE, "f64(4, 5) f32(5)", P(quant, 1, TSR_U8, false), "u8(4, 5)", -1 },
    { TSR_OP_QUANTISE_DYNAMIC, "f64(4, 5)", P(quant, 1, TSR_U8, false), "u8(4, 5) f64(5) u8(5)", -1 },
    { TSR_OP_QUANTISATION_RANGE, "f64(4, 5)", P(quant, 1, TSR_U8, false), "f64(5) u8(5)", -1 },
    { TSR_OP_DEQUANTISE, "i32(4, 5) f32()", P(quant, TSR_ALL_AXES, TSR_F16, false), "f16(4, 5)", -1 },
    { TSR_OP_FFT, "f32(3, 8)", P(fft, .axis = 1, .n = 8, .scale = 1), "c64(3, 8)", 5 * 3 * 8 * 3 },
    { TSR_OP_RFFT, "f32(3, 8)", P(fft, .axis = 1, .n = 8, .scale = 1), "c64(3, 5)", -1 },
    { TSR_OP_IRFFT, "c128(3, 5)", P(fft, .axis = 1, .n = 8, .scale = 1), "f64(3, 8)", -1 },
    { TSR_OP_SVD, "c64(2, 5, 3)", P(factor, .full = true), "f32(2, 3) c64(2, 5, 5) c64(2, 3, 3)", -1 },
    { TSR_OP_QR, "c64(2, 5, 3)", P(factor, .full = false), "c64(2, 5, 3) c64(2, 3, 3)", -1 },
    { TSR_OP_LU, "c64(2, 5, 3)", NULL, "c64(2, 5, 3) i64(2, 3)", -1 },
    { TSR_OP_EIG, "f64(4, 4)", NULL, "c128(4) c128(4, 4)", -1 },
    { TSR_OP_EIGH, "f64(4, 4)", NULL, "f64(4) f64(4, 4)", -1 },
    { TSR_OP_SOLVE, "f64(4, 4) f64(4, 7)", NULL, "f64(4, 7)", -1 },
    { TSR_OP_INV, "f64(4, 4)", NULL, "f64(4, 4)", 2 * 64 },
};

/* The operands are read and the results written. Where flops are below 0, the cost is not compared. */
TEST(test_results_and_costs_need_no_data)
{
    for (size_t i = 0; i < sizeof inferences / sizeof *inferences; i++) {
        tsr_desc in[TSR_OP_MAX_IN], want[TSR_OP_MAX_OUT], got[TSR_OP_MAX_OUT];
        const tsr_desc *operands[TSR_OP_MAX_IN];
        const tsr_op_kind op = inferences[i].op;
        const int n = read_descs(in, inferences[i].in), results = read_descs(want, inferences[i].out);
        tsr_cost cost;
        double bytes = 0;
        for (int k = 0; k < n; k++) operands[k] = &in[k], bytes += (double)tsr_desc_bytes(&in[k]);
        EXPECT_OK(tsr_infer(got, op, n, operands, inferences[i].params));
        EXPECT_OK(tsr_op_cost(&cost, op, n, operands, inferences[i].params));
        for (int k = 0; k < results; k++) {
            char text[200];
            (void)tsr_desc_to_string(text, sizeof text, &got[k]);
            EXPECT_MSG(tsr_desc_same(&got[k], &want[k]), "%s of %s: result %d is %s",
                       tsr_op_get_info(op)->name, inferences[i].in, k, text);
            bytes += (double)tsr_desc_bytes(&want[k]);
        }
        const double off = cost.flops - inferences[i].flops;
        EXPECT_MSG(inferences[i].flops < 0 || (cost.bytes == bytes && off < 1e-9 && off > -1e-9),
                   "%s of %s: %g flops, %g bytes", tsr_op_get_info(op)->name, inferences[i].in, cost.flops,
                   cost.bytes);
    }
}

TEST(test_operands_that_do_not_fit_are_not_inferred)
{
    tsr_desc z;
    EXPECT_FAILS(infer2(&z, TSR_OP_ADD, D(TSR_F32, 2), D(TSR_F32, 3)), TSR_ESHAPE, "add");
    EXPECT_FAILS(infer2(&z, TSR_OP_ADD, D(TSR_F32, 2), D(TSR_I32, 2)), TSR_EDTYPE, "add");
    EXPECT_FAILS(infer2(&z, TSR_OP_MATMUL, D(TSR_F32, 2, 4), D(TSR_F32, 5, 7)), TSR_ESHAPE, "k is 4");
    EXPECT_FAILS(infer1(&z, TSR_OP_SUM, D(TSR_I8, 2, 3, 4), P(reduce, .axes = 8)), TSR_EINDEX, "axes");
    EXPECT_FAILS(infer1(&z, TSR_OP_SUM, D(TSR_I8, 2, 3, 4), NULL), TSR_ENULL, "params");
    EXPECT_FAILS(infer1(&z, TSR_OP_SOFTMAX, D(TSR_F16, 2, 5, 4), P(axis, 3)), TSR_EINDEX, "axis 3");
    tsr_conv_params still = window, deep = window;
    still.stride[0] = 0;
    deep.spatial = 4;
    const tsr_desc x = D(TSR_F32, 2, 3, 8, 9), w = D(TSR_F32, 5, 3, 3, 3), *in[] = { &x, &w };
    EXPECT_FAILS(tsr_infer(&z, TSR_OP_CONV, 2, in, &still), TSR_EINVAL, "stride 0");
    EXPECT_FAILS(tsr_infer(&z, TSR_OP_CONV, 2, in, &deep), TSR_EINVAL, "4 spatial dims");
    EXPECT_FAILS(infer1(&z, TSR_OP_AVG_POOL, x, P(pool, .spatial = 0)), TSR_EINVAL, "0 spatial dims");
    const tsr_desc c = D(TSR_C128, 3, 5);
    EXPECT_STATUS(infer1(&z, TSR_OP_RFFT, c, P(fft, .axis = 1, .n = 8)), TSR_EDTYPE);
    EXPECT_FAILS(infer1(&z, TSR_OP_FFT, c, P(fft, .axis = 2, .n = 8)), TSR_EINDEX, "axis 2");
    EXPECT_FAILS(infer1(&z, TSR_OP_FFT, c, P(fft, .axis = 0, .n = 2)), TSR_ESHAPE, "axis 0");
    EXPECT_FAILS(infer1(&z, TSR_OP_FFT, c, P(fft, .axis = 0, .n = 0)), TSR_EINVAL, "n is 0");
    EXPECT_STATUS(infer1(&z, TSR_OP_EIG, D(TSR_C64, 2, 5, 3), NULL), TSR_ESHAPE);
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

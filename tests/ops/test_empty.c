/* Tensors without elements may have any strides: no op multiplies, adds or follows them. */
#include "any_op.h"

static const int64_t FAR = INT64_MAX / 2;

static tsr_tensor *empty_with(int ndim, const int64_t *shape, const int64_t *stride)
{
    static float nothing;
    tsr_tensor *t = NULL;
    tsr_desc d;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, ndim, shape, stride));
    EXPECT_OK(tsr_wrap(&t, &nothing, &d));
    return t;
}

static void expect_filled(tsr_tensor **t, int64_t n, double with)
{
    EXPECT_MSG(*t && tsr_numel(*t) == n, "%lld elements", *t ? (long long)tsr_numel(*t) : -1);
    for (int64_t i = 0; *t && i < tsr_numel(*t); i++) EXPECT(((const float *)(*t)->data)[i] == (float)with);
    tsr_release(t);
}

/* x is (0, 5): what is reduced is empty, and what is kept is not. */
static void check_reductions(tsr_tensor *x)
{
    tsr_tensor *z = NULL;
    const int first[] = { 0 };
    EXPECT_OK(tsr_sum(&z, x, 1, first, false));
    expect_filled(&z, 5, 0);
    EXPECT_OK(tsr_prod(&z, x, 1, first, true));
    expect_filled(&z, 5, 1);
    EXPECT_OK(tsr_norm(&z, x, 1, first, false, 2));
    expect_filled(&z, 5, 0);
    EXPECT_OK(tsr_sum(&z, x, 0, NULL, false));
    expect_filled(&z, 1, 0);
    EXPECT_OK(tsr_mean(&z, x, 1, first, false));
    EXPECT(z && tsr_numel(z) == 5);
    tsr_release(&z);
}

static void check_lanes(tsr_tensor *x)
{
    tsr_tensor *z = NULL;
    for (int axis = 0; axis < 2; axis++) {
        EXPECT_OK(tsr_cumsum(&z, x, axis));
        expect_filled(&z, 0, 0);
        EXPECT_OK(tsr_sort(&z, x, axis, false));
        expect_filled(&z, 0, 0);
        EXPECT_OK(tsr_softmax(&z, x, axis));
        expect_filled(&z, 0, 0);
        EXPECT_OK(tsr_diff(&z, x, axis, 0));
        expect_filled(&z, 0, 0);
    }
    EXPECT_OK(tsr_exp(&z, x));
    expect_filled(&z, 0, 0);
    EXPECT_OK(tsr_clone(&z, x));
    expect_filled(&z, 0, 0);
}

TEST(test_empty_tensors_with_any_strides)
{
    const int64_t strides[][2] = {
        { 1, FAR }, { FAR, FAR }, { -FAR, -FAR }, { FAR, -FAR }, { INT64_MIN, INT64_MIN }
    };
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
        tsr_tensor *x = empty_with(TSR_SHAPE(0, 5), strides[i]);
        check_reductions(x);
        check_lanes(x);
        tsr_release(&x);
    }
}

/* Dims whose product is no number, beside one that is 0. */
TEST(test_empty_tensors_with_huge_dims)
{
    tsr_tensor *x = empty_with(TSR_SHAPE(FAR, 0, 16, FAR), (const int64_t[]){ 1, 1, 1, 1 }), *z = NULL;
    EXPECT_OK(tsr_sum(&z, x, 0, NULL, false));
    expect_filled(&z, 1, 0);
    EXPECT_OK(tsr_sum(&z, x, 2, (const int[]){ 0, 3 }, false));
    expect_filled(&z, 0, 0);
    tsr_release(&x);
}

/* Every op ------------------------------------------------------------------------------------ */

/* The operand's shape with `leading` dims more, and 0 for each dim of this size. */
static any_shape emptied(any_shape s, int64_t size, int leading)
{
    any_shape out = { s.ndim + leading, { 0 } };
    for (int i = 0; i < leading; i++) out.dim[i] = 3 + i;
    for (int i = 0; i < s.ndim; i++) out.dim[leading + i] = s.dim[i] == size ? 0 : s.dim[i];
    return out;
}

static bool has_zero(any_shape s)
{
    for (int i = 0; i < s.ndim; i++)
        if (s.dim[i] == 0) return true;
    return false;
}

/* The same tensor; where it has no elements, with strides that lead out of all memory. */
static tsr_tensor *with_wild_strides(const tsr_tensor *t)
{
    static char nothing[16];
    static const int64_t wild[2 * ANY_OP_DIMS] = { INT64_MAX / 2, INT64_MIN, INT64_MAX, -INT64_MAX / 3,
                                                   INT64_MAX / 5, -INT64_MAX, INT64_MAX - 7, INT64_MIN / 3 };
    tsr_tensor *out = NULL;
    tsr_desc d;
    if (tsr_numel(t) > 0) {
        EXPECT_OK(tsr_clone(&out, t));
        return out;
    }
    EXPECT_OK(tsr_desc_init(&d, t->dtype, t->ndim, t->shape, wild));
    EXPECT_OK(tsr_wrap(&out, nothing, &d));
    return out;
}

static tsr_status run_on(const any_op *a, tsr_tensor **in, tsr_tensor **out)
{
    tsri_call call = { .kind = a->op.kind, .params = a->op.params, .nin = a->op.nin, .nout = a->op.nout };
    for (int i = 0; i < call.nin; i++) call.in[i] = in[i];
    for (int i = 0; i < call.nout; i++) call.out[i] = &out[i];
    return tsri_dispatch(&call);
}

/* Bit for bit: sums of nothing are not NaN by chance. */
static void expect_same_tensors(tsr_op_kind kind, const tsr_tensor *a, const tsr_tensor *b)
{
    const bool same =
        a && b && tsr_desc_same_shape(&a->desc, &b->desc) && a->dtype == b->dtype &&
        (tsr_numel(a) == 0 || !memcmp(a->data, b->data, (size_t)tsr_numel(a) * tsr_dtype_size(a->dtype)));
    EXPECT_MSG(same, "%s: strides of no elements matter", tsr_op_get_info(kind)->name);
}

/* Calls that broadcast, or that check what the indices are. */
static tsr_status run_call(const any_op *a, tsr_tensor **in, tsr_tensor **out)
{
    switch (a->op.kind) {
    case TSR_OP_MATMUL: return tsr_matmul(&out[0], in[0], in[1]);
    case TSR_OP_MATMUL_I8: return tsr_matmul_i8(&out[0], in[0], in[1]);
    case TSR_OP_ADD: return tsr_add(&out[0], in[0], in[1]);
    case TSR_OP_WHERE: return tsr_where(&out[0], in[0], in[1], in[2]);
    case TSR_OP_ROPE_WITH: return tsr_rope_with(&out[0], in[0], in[1], in[2], in[3], TSR_ROPE_HALVES);
    case TSR_OP_CROSS_ENTROPY:
        return tsr_cross_entropy(&out[0], in[0], in[1], in[2], TSR_REDUCTION_MEAN, -100, 0);
    case TSR_OP_NLL_LOSS: return tsr_nll_loss(&out[0], in[0], in[1], in[2], TSR_REDUCTION_MEAN, -100);
    default: return run_on(a, in, out);
    }
}

/* Does the op do the same with packed operands and with wild ones? */
static int compare_strides(tsr_op_kind kind, int64_t size, int leading)
{
    any_op a = { .op = { .kind = kind, .params = any_params_of(kind) } };
    tsr_tensor *wild[TSR_OP_MAX_IN] = { NULL }, *packed_out[TSR_OP_MAX_OUT] = { NULL },
               *wild_out[TSR_OP_MAX_OUT] = { NULL };
    tsr_dtype dtypes[TSR_OP_MAX_IN];
    uint64_t seed = 5;
    bool empty = false;
    EXPECT_OK(tsr_signature_parse(&a.s, tsr_op_get_info(kind)->signature));
    a.op.nin = a.s.noperands - a.s.nresults;
    a.op.nout = a.s.nresults;
    any_set_dtypes(dtypes, &a.s, 0, any_usual(any_dtypes(&a.s, 0)));
    for (int i = 0; i < a.op.nin; i++) {
        const any_shape shape = emptied(any_shape_of(kind, i), size, leading);
        empty = empty || has_zero(shape);
        EXPECT_OK(any_operand(&a.in[i], a.s.operand[i].name, dtypes[i], shape, &seed));
        wild[i] = with_wild_strides(a.in[i]);
    }
    const tsr_status want = empty ? run_call(&a, a.in, packed_out) : TSR_EINVAL;
    if (empty) EXPECT_STATUS(run_call(&a, wild, wild_out), want);
    for (int i = 0; i < a.op.nout && want == TSR_OK; i++)
        expect_same_tensors(kind, packed_out[i], wild_out[i]);
    for (int i = 0; i < a.op.nin; i++) tsr_release(&wild[i]);
    for (int i = 0; i < a.op.nout; i++) tsr_release(&packed_out[i]), tsr_release(&wild_out[i]);
    any_op_end(&a);
    return want == TSR_OK;
}

static bool goes_by_signature(tsr_op_kind kind)
{
    const char *family = tsr_op_get_info(kind)->family;
    const bool own = !strcmp(family, "elementwise") || !strcmp(family, "matmul") ||
                     !strcmp(family, "reduce") || !strcmp(family, "scan") || !strcmp(family, "create") ||
                     !strcmp(family, "random");
    return kind != TSR_OP_SCATTER &&
           (!own || kind == TSR_OP_MATMUL || kind == TSR_OP_MATMUL_I8 || kind == TSR_OP_ADD);
}

TEST(test_no_op_looks_at_the_strides_of_no_elements)
{
    int done = 0;
    for (int kind = TSR_OP_NONE + 1; kind < TSR_OP_COUNT; kind++) {
        if (!goes_by_signature((tsr_op_kind)kind)) continue;
        for (int operand = 0; operand < TSR_OP_MAX_IN; operand++) {
            const any_shape s = any_shape_of((tsr_op_kind)kind, operand);
            for (int i = 0; i < s.ndim; i++)
                for (int leading = 0; leading + s.ndim < ANY_OP_DIMS + 1; leading++)
                    done += compare_strides((tsr_op_kind)kind, s.dim[i], leading);
        }
    }
    EXPECT_MSG(done > 100, "%d cases ran", done);
}

/* Batches of empty matrices: leading dims alone would reach too far, or be too many. */
TEST(test_products_of_empty_matrices_of_huge_batches)
{
    const int64_t strides[] = { FAR, FAR, 1 };
    tsr_tensor *a = empty_with(TSR_SHAPE(3, 0, 4), strides), *b = empty_with(TSR_SHAPE(3, 4, 0), strides),
               *z = NULL;
    EXPECT_OK(tsr_matmul(&z, a, b));
    EXPECT(z && z->ndim == 3 && z->shape[0] == 3 && z->shape[1] == 0 && z->shape[2] == 0);
    tsr_release(&z);
    EXPECT_OK(tsr_matmul(&z, b, a));
    expect_filled(&z, 3 * 4 * 4, 0);
    EXPECT_OK(tsr_desc_matmul_check(&a->desc, &b->desc));
    tsr_release_all(&a, &b);
}

/* More matrices and lines than can be counted through, all without elements: nothing is done for each. */
TEST(test_time_does_not_depend_on_how_many_empty_matrices_there_are)
{
    const int64_t shape[] = { (int64_t)1 << 40, (int64_t)1 << 18, 0, 4 };
    tsr_tensor *x = empty_with(4, shape, (const int64_t[]){ 1, 1, 1, 1 }), *z = NULL;
    tsr_tensor *w = empty_with(TSR_SHAPE(4, 0), (const int64_t[]){ 1, 1 }), *transposed = NULL, *bytes = NULL,
               *byte_w = NULL;
    EXPECT_OK(tsr_matmul(&z, x, w));
    expect_filled(&z, 0, 0);
    EXPECT_OK(tsr_transpose(&transposed, w, 0, 1));
    EXPECT_OK(tsr_linear(&z, x, transposed, NULL));
    expect_filled(&z, 0, 0);
    EXPECT_OK(tsr_cast(&bytes, x, TSR_I8));
    EXPECT_OK(tsr_cast(&byte_w, w, TSR_I8));
    EXPECT_OK(tsr_matmul_i8(&z, bytes, byte_w));
    expect_filled(&z, 0, 0);
    for (int axis = 0; axis < 4; axis++) {
        EXPECT_OK(tsr_cumsum(&z, x, axis));
        expect_filled(&z, 0, 0);
        EXPECT_OK(tsr_sort(&z, x, axis, false));
        expect_filled(&z, 0, 0);
        EXPECT_OK(tsr_softmax(&z, x, axis));
        expect_filled(&z, 0, 0);
    }
    tsr_tensor **all[] = { &x, &w, &transposed, &bytes, &byte_w };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tsr_release(all[i]);
}

/* An empty result whose packed strides are no numbers is refused, with the op's name. */
TEST(test_products_whose_strides_overflow_are_refused)
{
    tsr_tensor *a = empty_with(TSR_SHAPE(FAR, FAR, 0, 4), (const int64_t[]){ 1, 1, 1, 1 });
    tsr_tensor *b = empty_with(TSR_SHAPE(4, 0), (const int64_t[]){ 1, 1 }), *z = NULL;
    EXPECT_FAILS(tsr_matmul(&z, a, b), TSR_EOVERFLOW, "matmul: ");
    EXPECT(!z);
    tsr_release_all(&a, &b);
}

TEST(test_frequencies_of_no_length_are_refused)
{
    tsr_tensor *z = NULL;
    EXPECT_FAILS(tsr_fftfreq(&z, INT64_MIN, 1, TSR_F32), TSR_EINVAL, "n is");
    EXPECT_FAILS(tsr_rfftfreq(&z, INT64_MIN, 1, TSR_F32), TSR_EINVAL, "n is");
    EXPECT(!z);
}

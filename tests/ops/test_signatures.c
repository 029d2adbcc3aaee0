/* test_signatures.c - the dtypes that signatures name are those that ops take, no fewer and no more. */
#include "any_op.h"

/* Not every matrix has factors. */
static bool may_fail(tsr_op_kind kind, tsr_status s)
{
    return !strcmp(tsr_op_get_info(kind)->family, "linalg") && s == TSR_EINVAL;
}

static void expect_taken(tsr_op_kind kind, int operand, tsr_dtype d, const tsr_dtype *dtypes)
{
    any_op a;
    tsr_status s = any_op_make(&a, kind, dtypes, 1);
    if (s == TSR_OK) s = any_op_run(&a);
    EXPECT_MSG(s == TSR_OK || may_fail(kind, s), "%s: %s as %s, which the signature names: %s",
               tsr_op_get_info(kind)->name, a.s.operand[operand].name, tsr_dtype_name(d), tsr_last_error());
    any_op_end(&a);
}

static void expect_refused(tsr_op_kind kind, int operand, tsr_dtype d, const tsr_dtype *dtypes)
{
    any_op a;
    const tsr_status s = any_op_make(&a, kind, dtypes, 1);
    EXPECT_MSG(s == TSR_EDTYPE, "%s: %s as %s, which the signature does not name, gives %s",
               tsr_op_get_info(kind)->name, a.s.operand[operand].name, tsr_dtype_name(d), tsr_status_name(s));
    any_op_end(&a);
}

static void expect_exact(tsr_op_kind kind)
{
    tsr_signature s;
    EXPECT_OK(tsr_signature_parse(&s, tsr_op_get_info(kind)->signature));
    for (int i = 0; i < s.noperands - s.nresults; i++)
        for (int d = 1; d < TSR_DTYPE_COUNT; d++) {
            tsr_dtype dtypes[TSR_OP_MAX_IN];
            any_set_dtypes(dtypes, &s, i, (tsr_dtype)d);
            if (any_dtypes(&s, i) >> d & 1) expect_taken(kind, i, (tsr_dtype)d, dtypes);
            else expect_refused(kind, i, (tsr_dtype)d, dtypes);
        }
}

TEST(test_ops_take_the_dtypes_of_their_signatures_and_no_others)
{
    for (int kind = TSR_OP_NONE + 1; kind < TSR_OP_COUNT; kind++)
        if (kind != TSR_OP_SCATTER) expect_exact((tsr_op_kind)kind);
}

/* What is scattered into is the caller's, so the call is asked. It makes i64 of any integers. */
TEST(test_scatter_takes_the_dtypes_of_its_signature_and_no_others)
{
    tsr_tensor *x = NULL, *at = NULL, *z = NULL;
    EXPECT_OK(tsr_zeros(&at, TSR_I64, TSR_SHAPE(3)));
    for (int d = 1; d < TSR_DTYPE_COUNT; d++) {
        EXPECT_OK(tsr_zeros(&x, (tsr_dtype)d, TSR_SHAPE(3)));
        EXPECT_OK(tsr_scatter(&z, x, at, x, 0, TSR_SCATTER_SET));
        tsr_release(&z);
        const tsr_kind kind = tsr_dtype_kind((tsr_dtype)d);
        EXPECT_STATUS(tsr_scatter(&z, at, x, at, 0, TSR_SCATTER_SET),
                      kind == TSR_SIGNED || kind == TSR_UNSIGNED ? TSR_OK : TSR_EDTYPE);
        tsr_release_all(&z, &x);
    }
    tsr_release(&at);
}

/* Results that the caller chooses. */
static tsr_status draw(tsr_op_kind kind, tsr_tensor **t, tsr_dtype d)
{
    switch (kind) {
    case TSR_OP_FILL: return tsr_full(t, d, TSR_SHAPE(3), TSR_SCALAR(1));
    case TSR_OP_UNIFORM: return tsr_uniform(t, d, TSR_SHAPE(3), 0, 1, 7);
    case TSR_OP_RANDN: return tsr_randn(t, d, TSR_SHAPE(3), 7);
    case TSR_OP_INTEGERS: return tsr_integers(t, d, TSR_SHAPE(3), 0, 9, 7);
    default: return tsr_exponential(t, d, TSR_SHAPE(3), 1, 7);
    }
}

TEST(test_results_are_made_of_the_dtypes_of_their_signatures_and_no_others)
{
    static const tsr_op_kind kinds[] = { TSR_OP_FILL, TSR_OP_UNIFORM, TSR_OP_RANDN, TSR_OP_INTEGERS,
                                         TSR_OP_EXPONENTIAL };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int d = 1; d < TSR_DTYPE_COUNT; d++) {
            tsr_signature s;
            tsr_tensor *t = NULL;
            EXPECT_OK(tsr_signature_parse(&s, tsr_op_get_info(kinds[i])->signature));
            const tsr_status want = s.operand[0].dtypes >> d & 1 ? TSR_OK : TSR_EDTYPE,
                             got = draw(kinds[i], &t, (tsr_dtype)d);
            EXPECT_MSG(got == want, "%s of %s: %s, not %s", tsr_op_get_info(kinds[i])->name,
                       tsr_dtype_name((tsr_dtype)d), tsr_status_name(got), tsr_status_name(want));
            tsr_release(&t);
        }
}

/* The traits of ops ---------------------------------------------------------------------------- */

/* Tensor number i of a call; NULL: it has fewer. Kinds that are their argument's name are no tensors. */
static const char *tensor_of(const char *call, int i)
{
    static const char *const others[] = { "axis", "axes", "shape", "dtype", "seed", "text" };
    const char *end = strstr(call, " -> ");
    for (const char *p = call; p && p < end; p = strstr(p, ", ") ? strstr(p, ", ") + 2 : NULL) {
        const size_t n = strcspn(p, ":, ");
        bool tensor = p[n] != ':';
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            tensor = tensor && (strlen(others[k]) != n || memcmp(p, others[k], n) != 0);
        if (tensor && i-- == 0) return p;
    }
    return NULL;
}

TEST(test_signatures_operands_that_a_call_may_leave_out_are_those_of_the_traits)
{
    for (int kind = TSR_OP_NONE + 1; kind < TSR_OP_COUNT; kind++) {
        const tsr_op_info *info = tsr_op_get_info((tsr_op_kind)kind);
        const uint32_t optional = tsri_traits_of((tsr_op_kind)kind)->optional;
        tsr_signature s;
        EXPECT_OK(tsr_signature_parse(&s, info->signature));
        if (!strncmp(info->call, "by ", 3)) continue;
        for (int i = 0; i < 32; i++) {
            const char *arg = i < s.noperands - s.nresults ? tensor_of(info->call, i) : NULL;
            const bool may = arg && !strncmp(arg + strcspn(arg, ":, "), " = none", 7);
            const bool unnamed = i < s.noperands - s.nresults && !arg;
            EXPECT_MSG(unnamed || may == (optional >> i & 1), "%s: operand %d", info->name, i);
        }
    }
}

static bool same_dims(const tsr_signature *s, const tsr_match_operand *a, const tsr_match_operand *b)
{
    if (a->shape.count != b->shape.count) return false;
    for (int k = 0; k < a->shape.count; k++) {
        const tsr_match_term *x = &s->term[a->shape.first + k], *y = &s->term[b->shape.first + k];
        if (x->what != y->what || x->name != y->name || x->value != y->value) return false;
    }
    return true;
}

/* A result of other dims would be no result in place. Elementwise ops share their traits. */
TEST(test_signatures_operands_that_may_be_the_result_have_its_dims)
{
    for (int kind = TSR_OP_NONE + 1; kind < TSR_OP_COUNT; kind++) {
        const tsr_op_info *info = tsr_op_get_info((tsr_op_kind)kind);
        const uint32_t in_place = tsri_traits_of((tsr_op_kind)kind)->in_place;
        tsr_signature s;
        EXPECT_OK(tsr_signature_parse(&s, info->signature));
        const int nin = s.noperands - s.nresults;
        if (!strcmp(info->family, "elementwise")) continue;
        EXPECT_MSG(in_place >> nin == 0, "%s has %d operands", info->name, nin);
        for (int i = 0; i < nin; i++)
            if (in_place >> i & 1)
                EXPECT_MSG(same_dims(&s, &s.operand[i], &s.operand[nin]), "%s: operand %d", info->name, i);
    }
}

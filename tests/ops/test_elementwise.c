/* test_elementwise.c - what elementwise ops promise beside their results: every f8 value, refusals and their
 * words, running out of memory, working in place. The results are checked by tests/net
 * (opcheck/check_elementwise.c).
 */
#include "opcheck/elementwise_ops.h"
#include "opcheck/reference.h"
#include "property/reference.h"

/* The ops ------------------------------------------------------------------------------- */

static tsr_status call(tsr_tensor **out, tsr_op_kind op, const tsr_tensor *const *in, const double *params)
{
    return elementwise_call(elementwise_find(op), out, in, params);
}

/* What a signature says, read here with strstr and nothing more. */
typedef struct rule {
    tsr_op_kind op;
    int         nin;
    bool        takes[TSR_DTYPE_COUNT];  /* the group; `where` has a bool before it */
    enum { SAME, REAL, BOOL } result;
} rule;

static bool is_elementwise(int op)
{
    return !strcmp(tsr_op_get_info((tsr_op_kind)op)->family, "elementwise");
}
static bool is_grouped(const rule *r, int i) { return r->op != TSR_OP_WHERE || i > 0; }

/* Is a dtype in one of the classes named between dT: and the bar? */
static bool class_has(const char *signature, tsr_dtype d)
{
    enum { BOOLS = 1 << TSR_BOOLEAN, INTEGERS = 1 << TSR_SIGNED | 1 << TSR_UNSIGNED,
           FLOATS = 1 << TSR_FLOATING, COMPLEXES = 1 << TSR_COMPLEX,
           NUMBERS = INTEGERS | FLOATS | COMPLEXES };
    static const struct { const char *name; int kinds; tsr_dtype only; } classes[] = {
        { "any", BOOLS | NUMBERS, 0 },   { "numeric", NUMBERS, 0 },   { "real", INTEGERS | FLOATS, 0 },
        { "integer", INTEGERS, 0 },      { "floating", FLOATS, 0 },   { "complex", COMPLEXES, 0 },
        { "bool", BOOLS, 0 },            { "c64", COMPLEXES, TSR_C64 }, { "c128", COMPLEXES, TSR_C128 },
    };
    const char *at = strstr(signature, "dT:") + 3;
    while (*at != ' ' && *at != '|') {
        const size_t length = strcspn(at, "/ |");
        for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
            if (strlen(classes[i].name) == length && !strncmp(at, classes[i].name, length) &&
                (classes[i].kinds >> ref_kind(d) & 1) && (!classes[i].only || classes[i].only == d))
                return true;
        at += length + (at[length] == '/');
    }
    return false;
}

static rule rule_of(tsr_op_kind op)
{
    const char *signature = tsr_op_get_info(op)->signature, *result = strstr(signature, "-> z{ ") + 6;
    rule r = { .op = op };
    for (const char *p = signature; p < result - 6; p++) r.nin += *p == '{';
    for (int d = 1; d < TSR_DTYPE_COUNT; d++) r.takes[d] = class_has(signature, (tsr_dtype)d);
    r.result = !strncmp(result, "dT", 2) ? SAME : !strncmp(result, "real", 4) ? REAL : BOOL;
    return r;
}

static tsr_dtype result_dtype(const rule *r, tsr_dtype d)
{
    return r->result == BOOL ? TSR_BOOL : r->result == REAL ? ref_part(d) : d;
}

/* Every f8 -------------------------------------------------------------------------------- */

TEST(test_every_op_of_one_is_right_for_every_f8_value)
{
    static const tsr_dtype dtypes[] = { TSR_F8E4M3, TSR_F8E5M2 };
    const double params[2] = { 0.5, 2 };
    for (int op = 1; op < TSR_OP_COUNT; op++) {
        if (!is_elementwise(op)) continue;
        const rule r = rule_of((tsr_op_kind)op);
        if (r.nin != 1 || !r.takes[TSR_F16]) continue;
        for (int d = 0; d < 2; d++) {
            unsigned char bytes[256];
            tsr_tensor *x = NULL, *z = NULL;
            for (int i = 0; i < 256; i++) bytes[i] = (unsigned char)i;
            EXPECT_OK(tsr_from_data(&x, dtypes[d], TSR_SHAPE(256), bytes));
            EXPECT_OK(call(&z, r.op, (const tsr_tensor *const[3]){ x }, params));
            for (int i = 0; i < 256 && z; i++) {
                const unsigned char *in[3] = { &bytes[i], NULL, NULL };
                const ew_want w = ew_eval(r.op, dtypes[d], in, params);
                EXPECT_MSG(ew_is_right(z->dtype, (unsigned char *)z->data + i, &w), "%s(%02x) of %s is %02x",
                           tsr_op_get_info(r.op)->name, (unsigned)i, tsr_dtype_name(dtypes[d]),
                           (unsigned)((unsigned char *)z->data)[i]);
            }
            tsr_release_all(&x, &z);
        }
    }
}

/* And every two of them under the ops of two. */
TEST(test_every_op_of_two_is_right_for_every_two_f8_values)
{
    static unsigned char bytes[256];
    static const tsr_dtype dtypes[] = { TSR_F8E4M3, TSR_F8E5M2 };
    for (int i = 0; i < 256; i++) bytes[i] = (unsigned char)i;
    for (int op = 1; op < TSR_OP_COUNT; op++) {
        if (!is_elementwise(op) || rule_of((tsr_op_kind)op).nin != 2 ||
            !rule_of((tsr_op_kind)op).takes[TSR_F16])
            continue;
        for (int d = 0; d < 2; d++) {
            tsr_tensor *x = NULL, *y = NULL, *z = NULL;
            EXPECT_OK(tsr_from_data(&x, dtypes[d], TSR_SHAPE(256, 1), bytes));
            EXPECT_OK(tsr_from_data(&y, dtypes[d], TSR_SHAPE(256), bytes));
            EXPECT_OK(call(&z, (tsr_op_kind)op, (const tsr_tensor *const[]){ x, y }, NULL));
            for (int i = 0; i < 256 * 256 && z; i++) {
                const unsigned char *in[3] = { &bytes[i / 256], &bytes[i % 256], NULL };
                const ew_want w = ew_eval((tsr_op_kind)op, dtypes[d], in, NULL);
                EXPECT_MSG(ew_is_right(z->dtype, (unsigned char *)z->data + i, &w),
                           "%s(%02x, %02x) of %s is %02x", tsr_op_get_info((tsr_op_kind)op)->name,
                           (unsigned)i / 256, (unsigned)i % 256, tsr_dtype_name(dtypes[d]),
                           (unsigned)((unsigned char *)z->data)[i]);
            }
            tsr_release_all(&x, &y, &z);
        }
    }
}

/* Refusals ------------------------------------------------------------------------------------ */

enum { ROWS = 3, COLS = 4 };

static tsr_tensor *ones(tsr_dtype dtype)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_ones(&t, dtype, TSR_SHAPE(ROWS, COLS)));
    return t;
}

/* A dtype that the op takes. */
static tsr_dtype some_dtype(const rule *r)
{
    tsr_dtype d = TSR_F32;
    while (!r->takes[d]) d = (tsr_dtype)(d % (TSR_DTYPE_COUNT - 1) + 1);
    return d;
}

static const double no_params[2] = { 1, 2 };

static void each_op(void (*fn)(const rule *r))
{
    for (int op = 1; op < TSR_OP_COUNT; op++) {
        if (!is_elementwise(op)) continue;
        const rule r = rule_of((tsr_op_kind)op);
        fn(&r);
    }
}

static void refuses_dtypes(const rule *r)
{
    for (int d = 1; d < TSR_DTYPE_COUNT; d++) {
        if (r->takes[d]) continue;
        tsr_tensor *t = ones((tsr_dtype)d), *c = ones(TSR_BOOL), *out = NULL;
        const tsr_tensor *in[3] = { is_grouped(r, 0) ? t : c, t, t };
        EXPECT_FAILS(call(&out, r->op, in, no_params), TSR_EDTYPE, tsr_op_get_info(r->op)->name);
        EXPECT(strstr(tsr_last_error(), tsr_dtype_name((tsr_dtype)d)) && out == NULL);
        tsr_release_all(&t, &c);
    }
}

TEST(test_every_op_refuses_the_dtypes_it_does_not_take_and_names_them)
{
    each_op(refuses_dtypes);
}

static void refuses_shapes(const rule *r)
{
    tsr_tensor *good = ones(some_dtype(r)), *flag = ones(TSR_BOOL), *bad = NULL, *out = NULL;
    EXPECT_OK(tsr_ones(&bad, some_dtype(r), TSR_SHAPE(COLS + 1)));
    const tsr_tensor *in[3] = { is_grouped(r, 0) ? good : flag, good, good };
    in[r->nin - 1] = bad;
    if (r->nin > 1) EXPECT_FAILS(call(&out, r->op, in, no_params), TSR_ESHAPE, tsr_op_get_info(r->op)->name);
    EXPECT(out == NULL);
    tsr_release_all(&good, &flag, &bad);
}

TEST(test_every_op_of_several_refuses_shapes_that_do_not_broadcast) { each_op(refuses_shapes); }

TEST(test_hardtanh_refuses_bounds_in_the_wrong_order)
{
    tsr_tensor *x = ones(TSR_F32), *out = NULL;
    EXPECT_FAILS(tsr_hardtanh(&out, x, 2, 1), TSR_EINVAL, "hardtanh");
    EXPECT_FAILS(tsr_hardtanh(&out, x, NAN, 1), TSR_EINVAL, "hardtanh");
    EXPECT(out == NULL);
    tsr_release(&x);
}

/* Out of memory -------------------------------------------------------------------------------- */

static int countdown;

static bool fail_at_zero(void *context, size_t bytes)
{
    (void)context; (void)bytes;
    return countdown > 0 && countdown-- > 0;
}

/* There are n allocations and no more, for each n until the call succeeds: nothing has changed
 * and nothing is leaked. Returns how often it failed. */
static int failures_of(tsr_op_kind op, tsr_tensor **out, const tsr_tensor *const *in,
                       const tsr_tensor *watched)
{
    static unsigned char was[1 << 16];
    const tsr_tensor *had = *out;
    const size_t bytes = (size_t)tsr_byte_size(watched);
    memcpy(was, watched->data, bytes);
    for (int n = 0; n < 20; n++) {
        tsr_memory_stats start, now;
        tsr_memory_get_stats(&start);
        countdown = n;
        tsr_set_alloc_hook(fail_at_zero, NULL);
        const tsr_status s = call(out, op, in, no_params);
        tsr_set_alloc_hook(NULL, NULL);
        if (s == TSR_OK) return n;
        tsr_memory_get_stats(&now);
        EXPECT_MSG(s == TSR_ENOMEM, "%s: %s", tsr_op_get_info(op)->name, tsr_status_name(s));
        EXPECT(*out == had && !memcmp(was, watched->data, bytes));
        EXPECT(start.live_bytes == now.live_bytes && start.live_tensors == now.live_tensors &&
               start.live_storages == now.live_storages);
    }
    EXPECT(!"it succeeds once there is memory");
    return 0;
}

enum { MANY = 600 };  /* large enough not to lie in a header's slot */

/* A result that is made, beside an operand that is converted: as many allocations as for the result alone. */
static void makes_and_converts(const rule *r)
{
    tsr_tensor *x = NULL, *y = NULL, *flag = NULL, *out = NULL, *same = NULL;
    if (r->nin < 2 || !r->takes[TSR_I32]) return;
    EXPECT_OK(tsr_ones(&x, TSR_I32, TSR_SHAPE(MANY)));
    EXPECT_OK(tsr_ones(&y, TSR_I16, TSR_SHAPE(MANY)));
    EXPECT_OK(tsr_ones(&flag, TSR_BOOL, TSR_SHAPE(MANY)));
    const tsr_tensor *in[3] = { is_grouped(r, 0) ? x : flag, is_grouped(r, 0) ? y : x, y };
    const tsr_tensor *alike[3] = { in[0], x, x };
    const int failures = failures_of(r->op, &out, in, x);
    EXPECT(failures >= 1 && failures == failures_of(r->op, &same, alike, x));
    tsr_release_all(&x, &y, &flag, &out, &same);
}

/* A result across an operand, which is copied first. */
static void copies_overlapping(const rule *r)
{
    tsr_tensor *all = NULL, *low = NULL, *high = NULL, *flag = NULL;
    const tsr_dtype d = some_dtype(r);
    if (r->result != SAME) return;
    EXPECT_OK(tsr_ones(&all, d, TSR_SHAPE(MANY + 1)));
    EXPECT_OK(tsr_ones(&flag, TSR_BOOL, TSR_SHAPE(MANY)));
    EXPECT_OK(tsr_slice(&low, all, 0, 0, MANY, 1));
    EXPECT_OK(tsr_slice(&high, all, 0, 1, MANY + 1, 1));
    const tsr_tensor *in[3] = { is_grouped(r, 0) ? high : flag, high, high };
    EXPECT(failures_of(r->op, &low, in, all) >= 1);
    tsr_release_all(&all, &low, &high, &flag);
}

/* An operand of another dtype that the result lies across is converted as a whole. */
TEST(test_without_memory_for_a_converted_operand_an_op_fails_and_changes_nothing)
{
    tsr_tensor *all = NULL, *x = NULL, *y = NULL, *out = NULL;
    EXPECT_OK(tsr_ones(&all, TSR_F32, TSR_SHAPE(MANY)));
    EXPECT_OK(tsr_ones(&x, TSR_F32, TSR_SHAPE(MANY / 2)));
    EXPECT_OK(tsr_slice(&out, all, 0, 0, MANY / 2, 1));
    tsr_tensor *halves = NULL;
    EXPECT_OK(tsr_bit_view(&halves, all, TSR_F16));
    EXPECT_OK(tsr_slice(&y, halves, 0, MANY / 2, MANY, 1));
    EXPECT(failures_of(TSR_OP_ADD, &out, (const tsr_tensor *const[3]){ x, y }, all) >= 1);
    tsr_release_all(&all, &x, &halves, &y, &out);
}

TEST(test_every_op_without_memory_for_its_temporaries_fails_and_changes_nothing)
{
    each_op(makes_and_converts);
    each_op(copies_overlapping);
}

/* In place needs no memory at all. */
static bool refuse_all(void *context, size_t bytes)
{
    (void)context; (void)bytes;
    return false;
}

static void runs_in_place(const rule *r)
{
    tsr_tensor *x = NULL, *flag = NULL;
    if (r->result != SAME) return;
    EXPECT_OK(tsr_ones(&x, some_dtype(r), TSR_SHAPE(MANY)));
    EXPECT_OK(tsr_ones(&flag, TSR_BOOL, TSR_SHAPE(MANY)));
    const tsr_tensor *in[3] = { is_grouped(r, 0) ? x : flag, x, x };
    tsr_set_alloc_hook(refuse_all, NULL);
    EXPECT_OK(call(&x, r->op, in, no_params));
    tsr_set_alloc_hook(NULL, NULL);
    tsr_release_all(&x, &flag);
}

TEST(test_every_op_in_place_allocates_nothing) { each_op(runs_in_place); }

/* Nor do operands of another dtype, whose tiles are converted as they are read. */
static void converts_without_memory(const rule *r)
{
    static const int64_t sizes[] = { MANY, 3 * 40000 };  /* the second is shared between threads */
    for (int s = 0; s < 2 && r->nin >= 2 && r->takes[TSR_I32]; s++) {
        const int64_t n = sizes[s];
        tsr_tensor *x = NULL, *wide = NULL, *y = NULL, *row = NULL, *flag = NULL, *out = NULL;
        EXPECT_OK(tsr_full(&x, TSR_I32, TSR_SHAPE(3, n / 3), TSR_SCALAR(2)));
        EXPECT_OK(tsr_ones(&wide, TSR_I16, TSR_SHAPE(n / 3, 6)));
        EXPECT_OK(tsr_slice(&y, wide, 1, 0, 6, 2));
        EXPECT_OK(tsr_transpose(&y, y, 0, 1));
        EXPECT_OK(tsr_ones(&row, TSR_U8, TSR_SHAPE(n / 3)));
        EXPECT_OK(tsr_ones(&flag, TSR_BOOL, TSR_SHAPE(3, 1)));
        EXPECT_OK(tsr_empty(&out, result_dtype(r, TSR_I32), TSR_SHAPE(3, n / 3)));
        const tsr_tensor *in[3] = { is_grouped(r, 0) ? x : flag, is_grouped(r, 0) ? y : x, row };
        EXPECT_OK(call(&out, r->op, in, no_params));  /* threads have started */
        tsr_set_alloc_hook(refuse_all, NULL);
        EXPECT_OK(call(&out, r->op, in, no_params));
        tsr_set_alloc_hook(NULL, NULL);
        tsr_release_all(&x, &wide, &y, &row, &flag, &out);
    }
}

TEST(test_no_op_allocates_a_copy_of_an_operand_of_another_dtype) { each_op(converts_without_memory); }

/* Many elements ---------------------------------------------------------------------------------- */

/* A power that all elements have may be taken another way than one that each has of its own. */
static void check_power(tsr_dtype dtype, int power)
{
    double values[] = { 0.0,       -0.0, 1.5, -1.5, 3, -7.25, 1e-3, -2e4, INFINITY,
                        -INFINITY, NAN,  0.1, -0.1, 1, -1,    2,    -2.5, 9 };
    enum { N = sizeof values / sizeof *values };
    tsr_tensor *given = NULL, *x = NULL, *z = NULL, *want = NULL, *powers = NULL;
    EXPECT_OK(
        tsr_wrap(&given, values,
                 &(tsr_desc){ .dtype = TSR_F64, .ndim = 2, .shape = { 2, N / 2 }, .stride = { N / 2, 1 } }));
    EXPECT_OK(tsr_cast(&x, given, dtype));
    EXPECT_OK(tsr_full(&powers, dtype, TSR_SHAPE(2, N / 2), TSR_SCALAR(power)));
    EXPECT_OK(tsr_pow(&z, x, TSR_NUMBER(power)));
    if (power == 2)       EXPECT_OK(tsr_square(&want, x));
    else if (power == -1) EXPECT_OK(tsr_reciprocal(&want, x));
    else                  EXPECT_OK(tsr_pow(&want, x, powers));
    EXPECT(memcmp(z->data, want->data, (size_t)tsr_desc_bytes(&z->desc)) == 0);
    tsr_release_all(&given, &x, &z, &want, &powers);
}

TEST(test_powers_by_a_number_are_squares_and_reciprocals_too)
{
    static const tsr_dtype dtypes[] = { TSR_F16, TSR_BF16, TSR_F32, TSR_F64 };
    for (int d = 0; d < 4; d++)
        for (int power = -2; power <= 3; power++) check_power(dtypes[d], power);
}

/* Every operand and the result have to be packed on the way, and all are as wide as can be. */
TEST(test_long_rows_of_the_widest_dtype_with_gaps_are_as_packed_ones)
{
    tsr_tensor *wide = NULL, *x = NULL, *room = NULL, *got = NULL, *packed = NULL, *want = NULL;
    bool same = false;
    EXPECT_OK(tsr_uniform(&wide, TSR_C128, TSR_SHAPE(5000), -1, 1, 3));
    EXPECT_OK(tsr_zeros(&room, TSR_C128, TSR_SHAPE(5000)));
    EXPECT_OK(tsr_slice(&x, wide, 0, 0, TSR_NONE, 2));
    EXPECT_OK(tsr_slice(&got, room, 0, 0, TSR_NONE, 2));
    EXPECT_OK(tsr_fma(&got, x, x, x));
    EXPECT_OK(tsr_contiguous(&packed, x));
    EXPECT_OK(tsr_fma(&want, packed, packed, packed));
    EXPECT_OK(tsr_equal(&same, got, want));
    EXPECT(same);
    tsr_release_all(&wide, &x, &room, &got, &packed, &want);
}

TEST(test_axpy_takes_numbers_of_its_dtype_and_works_in_place)
{
    tsr_tensor *x = NULL, *y = NULL, *n = NULL, *out = NULL, none;
    EXPECT_OK(tsr_full(&x, TSR_F32, TSR_SHAPE(2, 3), TSR_SCALAR(4)));
    EXPECT_OK(tsr_ones(&y, TSR_F32, TSR_SHAPE(2, 3)));
    EXPECT_OK(tsr_full(&n, TSR_I32, TSR_SHAPE(3), TSR_SCALAR(5)));
    EXPECT_OK(tsr_axpy(&y, TSR_SCALAR(0.5), x, y));
    EXPECT(TSR_AT(float, y, 1, 2) == 3);
    EXPECT_OK(tsr_axpy(&out, TSR_SCALAR(-2), n, n));
    EXPECT(out->dtype == TSR_I32 && TSR_AT(int32_t, out, 2) == -5);
    tsr_release(&out);
    EXPECT_FAILS(tsr_axpy(&out, TSR_SCALAR(0.5), n, n), TSR_EDTYPE, "number does not fit i32");
    EXPECT_FAILS(tsr_axpy(&out, TSR_SCALAR(1), NULL, y), TSR_ENULL, "axpy: x");
    EXPECT_FAILS(tsr_axpy(&out, TSR_SCALAR(1), x, NULL), TSR_ENULL, "axpy: y");
    EXPECT_FAILS(tsr_axpy(&out, TSR_SCALAR(1), x, tsr_place_none(&none)), TSR_EDTYPE, "");
    EXPECT_FAILS(tsr_axpy(&out, (tsr_scalar){ .dtype = TSR_F32 }, x, y), TSR_EDTYPE, "");
    EXPECT(out == NULL);
    tsr_release_all(&x, &y, &n);
}

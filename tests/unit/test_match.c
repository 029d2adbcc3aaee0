/* test_match.c - the constraint notation: what parses, what matches, what the messages say. */
#include "test.h"

/* Descs and shorthands ------------------------------------------------------- */

static tsr_desc strided(tsr_dtype dtype, int ndim, const int64_t *shape, const int64_t *stride)
{
    tsr_desc d;
    memset(&d, 0, sizeof d);
    EXPECT_OK(tsr_desc_init(&d, dtype, ndim, shape, stride));
    return d;
}

static tsr_desc packed(tsr_dtype dtype, int ndim, const int64_t *shape)
{
    return strided(dtype, ndim, shape, NULL);
}

static tsr_signature parsed(const char *text)
{
    tsr_signature s;
    memset(&s, 0, sizeof s);
    EXPECT_MSG(tsr_signature_parse(&s, text) == TSR_OK, "%s: %s", text, tsr_last_error());
    return s;
}

static bool fits(const char *pattern, tsr_desc d) { return tsr_match_text(pattern, &d) == TSR_OK; }

/* Does a packed f32 of this shape fit? */
#define FITS(pattern, ...) fits((pattern), packed(TSR_F32, TSR_SHAPE(__VA_ARGS__)))

static bool fits_scalar(const char *pattern) { return fits(pattern, packed(TSR_F32, TSR_SCALAR_SHAPE)); }

static tsr_status parse(const char *text)
{
    tsr_signature s;
    return tsr_signature_parse(&s, text);
}

/* The whole message, not a part of it. */
#define EXPECT_SAYS(call, status, text)                                                             \
    do {                                                                                            \
        EXPECT_FAILS(call, status, text);                                                           \
        EXPECT_MSG(strcmp(tsr_last_error(), (text)) == 0, "message is \"%s\"", tsr_last_error());   \
    } while (0)

static tsr_status match2(const char *text, const char *op, tsr_desc a, tsr_desc b)
{
    const tsr_signature s = parsed(text);
    return tsr_match(&s, op, 2, (const tsr_desc *[]){ &a, &b }, NULL);
}

static tsr_status match1(const char *text, const char *op, tsr_desc a)
{
    const tsr_signature s = parsed(text);
    return tsr_match(&s, op, 1, (const tsr_desc *[]){ &a }, NULL);
}

/* The seed's three examples --------------------------------------------------- */

TEST(test_match_seed_example_one_wants_float32_two_dims_and_last_stride_one)
{
    const char *p = "{ float32 | (d1, d2) | (..., 1) }";
    EXPECT(FITS(p, 3, 4));
    EXPECT(fits(p, strided(TSR_F32, TSR_SHAPE(3, 4), (int64_t[]){ -9, 1 })));
    EXPECT(!fits(p, packed(TSR_F64, TSR_SHAPE(3, 4))));
    EXPECT(!FITS(p, 3));
    EXPECT(!FITS(p, 3, 4, 5));
    EXPECT(!fits(p, strided(TSR_F32, TSR_SHAPE(3, 4), (int64_t[]){ 1, 3 })));
}

TEST(test_match_seed_example_two_takes_three_or_four_dims_and_any_strides)
{
    const char *p = "{ dT | ((b,) h, w, c) | (...) }";
    EXPECT(!FITS(p, 3, 4));
    EXPECT(FITS(p, 3, 4, 5));
    EXPECT(fits(p, packed(TSR_I8, TSR_SHAPE(2, 3, 4, 5))));
    EXPECT(!FITS(p, 2, 2, 3, 4, 5));
    EXPECT(fits(p, strided(TSR_BF16, TSR_SHAPE(2, 3, 4), (int64_t[]){ 0, -1, 100 })));
}

TEST(test_match_seed_example_three_takes_two_dims_or_more_all_packed)
{
    const char *p = "{ dT | ((...,) m, n) | (~) }";
    EXPECT(!FITS(p, 5));
    EXPECT(FITS(p, 4, 5));
    EXPECT(fits(p, packed(TSR_C64, TSR_SHAPE(2, 3, 4, 5, 6))));
    EXPECT(!fits(p, strided(TSR_F32, TSR_SHAPE(4, 5), (int64_t[]){ 1, 4 })));
}

TEST(test_match_seed_examples_run_with_semicolons)
{
    EXPECT(FITS("{float32; (d1, d2); (..., 1)}", 3, 4));
    EXPECT(!FITS("{float32; (d1, d2); (..., 2)}", 3, 4));
    EXPECT(FITS("{float32 | (d1, d2) ; (~)}", 3, 4));
}

/* Dtypes --------------------------------------------------------------------- */

TEST(test_match_short_long_and_capital_dtype_names_are_one)
{
    for (int i = 1; i < TSR_DTYPE_COUNT; i++) {
        const tsr_dtype d = (tsr_dtype)i;
        const char *names[2] = { tsr_dtype_name(d), tsr_dtype_long_name(d) };
        for (int k = 0; k < 2; k++) {
            char p[64];
            snprintf(p, sizeof p, "{ %s | () }", names[k]);
            for (char *c = strchr(p, ' '); k && c && *c != '|'; c++)
                if (*c >= 'a' && *c <= 'z') *c = (char)(*c - 'a' + 'A');
            for (int other = 1; other < TSR_DTYPE_COUNT; other++)
                EXPECT_MSG(fits(p, packed((tsr_dtype)other, TSR_SCALAR_SHAPE)) == (other == i), "%s, %s", p,
                           tsr_dtype_name((tsr_dtype)other));
        }
    }
}

TEST(test_match_kinds_hold_the_dtypes_they_say)
{
    static const struct { const char *name; int kinds; } sets[] = {
        { "bool", 1 << TSR_BOOLEAN },
        { "signed", 1 << TSR_SIGNED },
        { "unsigned", 1 << TSR_UNSIGNED },
        { "integer", 1 << TSR_SIGNED | 1 << TSR_UNSIGNED },
        { "floating", 1 << TSR_FLOATING },
        { "complex", 1 << TSR_COMPLEX },
        { "real", 1 << TSR_SIGNED | 1 << TSR_UNSIGNED | 1 << TSR_FLOATING },
        { "numeric", 1 << TSR_SIGNED | 1 << TSR_UNSIGNED | 1 << TSR_FLOATING | 1 << TSR_COMPLEX },
        { "any", ~0 },
        { "floating/complex", 1 << TSR_FLOATING | 1 << TSR_COMPLEX },
        { "dT:bool/signed", 1 << TSR_BOOLEAN | 1 << TSR_SIGNED },
    };
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++)
        for (int i = 1; i < TSR_DTYPE_COUNT; i++) {
            char p[64];
            snprintf(p, sizeof p, "{ %s | (...) }", sets[k].name);
            const bool want = sets[k].kinds >> tsr_dtype_kind((tsr_dtype)i) & 1;
            EXPECT_MSG(fits(p, packed((tsr_dtype)i, TSR_SHAPE(2))) == want, "%s %s", p,
                       tsr_dtype_name((tsr_dtype)i));
        }
}

TEST(test_match_a_dtype_list_mixes_dtypes_and_kinds)
{
    const char *p = "{ f16 / unsigned/ i64 | (n) }";
    EXPECT(fits(p, packed(TSR_F16, TSR_SHAPE(2))));
    EXPECT(fits(p, packed(TSR_U16, TSR_SHAPE(2))));
    EXPECT(fits(p, packed(TSR_I64, TSR_SHAPE(2))));
    EXPECT(!fits(p, packed(TSR_I32, TSR_SHAPE(2))));
}

TEST(test_match_a_dtype_variable_is_one_dtype_in_all_operands)
{
    const char *p = "a{ dT | (...) } b{ dT | (...) }";
    EXPECT_OK(match2(p, "add", packed(TSR_F16, TSR_SHAPE(2)), packed(TSR_F16, TSR_SHAPE(3))));
    EXPECT_SAYS(match2(p, "add", packed(TSR_F32, TSR_SHAPE(2)), packed(TSR_I64, TSR_SHAPE(2))), TSR_EDTYPE,
                "add: b: dT is f32 from a, but b is i64");
}

TEST(test_match_two_dtype_variables_are_independent)
{
    EXPECT_OK(match2("a{ dT | (n) } b{ dU | (n) }", "cast", packed(TSR_F16, TSR_SHAPE(2)),
                     packed(TSR_I8, TSR_SHAPE(2))));
}

TEST(test_match_a_lower_case_variable_needs_a_colon_once)
{
    EXPECT_STATUS(match2("a{ t:floating | (n) } b{ t | (n) }", "op", packed(TSR_F16, TSR_SHAPE(2)),
                         packed(TSR_F32, TSR_SHAPE(2))), TSR_EDTYPE);
    EXPECT_FAILS(parse("a{ t | (n) }"), TSR_EFORMAT, "column 4: expected a dtype or a kind, found t");
}

TEST(test_match_a_misspelt_dtype_is_no_variable)
{
    EXPECT_FAILS(parse("{ f32 | (\x7f) }"), TSR_EFORMAT, "byte 127");
    EXPECT_FAILS(parse("{ f32 | (\xff) }"), TSR_EFORMAT, "byte 255");
    EXPECT_FAILS(parse("{ flaot32 | (n) }"), TSR_EFORMAT,
                 "column 3: expected a dtype or a kind, found flaot32");
    EXPECT_FAILS(parse("{ f32/dT | (n) }"), TSR_EFORMAT, "column 7: expected a dtype or a kind, found dT");
    EXPECT_FAILS(parse("{ F32:floating | (n) }"), TSR_EFORMAT,
                 "column 3: expected a variable before ':', found dtype F32");
}

TEST(test_match_a_wrong_dtype_says_which_are_accepted)
{
    EXPECT_SAYS(match1("x{ dT:floating/c64 | (n) }", "exp", packed(TSR_I32, TSR_SHAPE(2))), TSR_EDTYPE,
                "exp: x: dtype must be floating/c64, but x is i32");
    EXPECT_SAYS(match1("x{ f16/bf16 | (n) }", NULL, packed(TSR_BOOL, TSR_SHAPE(2))), TSR_EDTYPE,
                "x: dtype must be f16/bf16, but x is bool");
}

/* Shapes --------------------------------------------------------------------- */

TEST(test_match_numbers_are_literal_dims)
{
    EXPECT(FITS("{ f32 | (m, 3, k) }", 2, 3, 4));
    EXPECT(!FITS("{ f32 | (m, 3, k) }", 2, 4, 4));
    EXPECT(FITS("{ f32 | (0) }", 0));
    EXPECT(!FITS("{ f32 | (0) }", 1));
}

TEST(test_match_a_literal_dim_that_differs_is_named)
{
    EXPECT_SAYS(match1("x{ f32 | (m, 3, k) }", "op", packed(TSR_F32, TSR_SHAPE(2, 4, 5))), TSR_ESHAPE,
                "op: x: dim 1 must be 3, but x is f32(2, 4, 5 | 20, 5, 1)");
    EXPECT_SAYS(match1("x{ f32 | (..., 3) }", "rgb", packed(TSR_F32, TSR_SHAPE(2, 4))), TSR_ESHAPE,
                "rgb: x: dim -1 must be 3, but x is f32(2, 4 | 4, 1)");
}

TEST(test_match_underscore_is_any_one_dim)
{
    EXPECT(FITS("{ f32 | (_, _) }", 2, 3));
    EXPECT(!FITS("{ f32 | (_, _) }", 2));
    EXPECT(!FITS("{ f32 | (_, _) }", 2, 3, 4));
}

TEST(test_match_empty_brackets_are_a_scalar)
{
    EXPECT(fits_scalar("{ f32 | () }"));
    EXPECT(fits_scalar("{ f32 | () | () }"));
    EXPECT(fits_scalar("{ f32 | () | (~) }"));
    EXPECT(!FITS("{ f32 | () }", 1));
    EXPECT(fits_scalar("{ f32 | (...) }"));
    EXPECT(!fits_scalar("{ f32 | (n) }"));
}

TEST(test_match_a_trailing_comma_ends_a_list)
{
    EXPECT(FITS("{ f32 | (m,) | (1,) }", 3));
    EXPECT(!fits_scalar("{ f32 | (m,) }"));
    EXPECT(FITS("{ f32 | (...,) }", 3, 4));
}

TEST(test_match_a_name_met_twice_must_be_equal)
{
    EXPECT(FITS("{ f32 | (n, n) }", 3, 3));
    EXPECT_SAYS(match1("a{ f32 | (n, n) }", "det", packed(TSR_F32, TSR_SHAPE(3, 4))), TSR_ESHAPE,
                "det: a: n is 3 from a, but dim 1 of a is 4");
}

TEST(test_match_matmul_says_which_dim_of_which_operand)
{
    const char *p = "a{ dT | ((...,) m, k) } b{ dT | ((...,) k, n) } -> c{ dT | ((...,) m, n) | (~) }";
    EXPECT_OK(match2(p, "matmul", packed(TSR_F32, TSR_SHAPE(2, 3, 4)), packed(TSR_F32, TSR_SHAPE(4, 5))));
    EXPECT_SAYS(match2(p, "matmul", packed(TSR_F32, TSR_SHAPE(3, 4)), packed(TSR_F32, TSR_SHAPE(5, 6))),
                TSR_ESHAPE, "matmul: b: k is 4 from a, but dim -2 of b is 5");
}

TEST(test_match_dims_before_the_floating_ones_are_counted_from_the_front)
{
    const tsr_desc a = packed(TSR_F32, TSR_SHAPE(2, 3, 4));
    EXPECT_FAILS(match1("a{ f32 | (9, ..., k) }", "op", a), TSR_ESHAPE, "dim 0 must be 9");
    EXPECT_FAILS(match1("a{ f32 | (m, ..., 9) }", "op", a), TSR_ESHAPE, "dim -1 must be 9");
    EXPECT_FAILS(match1("a{ f32 | ((9,) m, k) }", "op", a), TSR_ESHAPE, "dim 0 must be 9");
    EXPECT_FAILS(match1("a{ f32 | ((b,) 9, k) }", "op", a), TSR_ESHAPE, "dim -2 must be 9");
    EXPECT_FAILS(match1("a{ f32 | (m, 9, (k,)) }", "op", a), TSR_ESHAPE, "dim 1 must be 9");
}

TEST(test_match_rank_failures_say_which_ranks_are_accepted)
{
    const tsr_desc d = packed(TSR_F32, TSR_SHAPE(7));
    EXPECT_SAYS(match1("x{ f32 | (m, n) }", "op", d), TSR_ESHAPE,
                "op: x: rank must be 2 for (m, n), but x is f32(7 | 1)");
    EXPECT_SAYS(match1("x{ f32 | ((b,) h, w, c) }", "op", d), TSR_ESHAPE,
                "op: x: rank must be 3 or 4 for ((b,) h, w, c), but x is f32(7 | 1)");
    EXPECT_SAYS(match1("x{ f32 | ((b,) (c,) h, w) }", "op", d), TSR_ESHAPE,
                "op: x: rank must be 2 to 4 for ((b,) (c,) h, w), but x is f32(7 | 1)");
    EXPECT_SAYS(match1("x{ f32 | ((...,) m, n) }", "op", d), TSR_ESHAPE,
                "op: x: rank must be 2 or more for (..., m, n), but x is f32(7 | 1)");
    EXPECT_SAYS(match1("{ f32 | () }", NULL, d), TSR_ESHAPE,
                "tensor: rank must be 0 for (), but tensor is f32(7 | 1)");
}

TEST(test_match_an_optional_dim_that_is_left_out_binds_nothing)
{
    const tsr_signature s = parsed("a{ f32 | ((b,) m) } c{ f32 | ((b,) m) }");
    const tsr_desc one = packed(TSR_F32, TSR_SHAPE(3)), two = packed(TSR_F32, TSR_SHAPE(5, 3));
    tsr_bindings b = { 0 };
    int64_t v = 0;
    EXPECT_OK(tsr_match(&s, "op", 1, (const tsr_desc *[]){ &one }, &b));
    EXPECT_FAILS(tsr_binding(&v, &s, &b, "b"), TSR_EINVAL, "binding: b is not bound");
    EXPECT_OK(tsr_match(&s, "op", 2, (const tsr_desc *[]){ NULL, &two }, &b));
    EXPECT_OK(tsr_binding(&v, &s, &b, "b"));
    EXPECT(v == 5);
}

TEST(test_match_several_optional_dims_fill_from_the_right)
{
    const tsr_signature s = parsed("x{ f32 | ((n,) (c,) h, w) }");
    const tsr_desc d = packed(TSR_F32, TSR_SHAPE(7, 5, 6));
    tsr_bindings b = { 0 };
    int64_t v = 0;
    EXPECT_OK(tsr_match(&s, "op", 1, (const tsr_desc *[]){ &d }, &b));
    EXPECT_STATUS(tsr_binding(&v, &s, &b, "n"), TSR_EINVAL);
    EXPECT_OK(tsr_binding(&v, &s, &b, "c"));
    EXPECT(v == 7);
}

TEST(test_match_optional_dims_fill_before_dots_take_any)
{
    const tsr_signature s = parsed("x{ f32 | ((a,) ..., (c,) h) }");
    const tsr_desc d = packed(TSR_F32, TSR_SHAPE(2, 3, 4, 5)), e = packed(TSR_F32, TSR_SHAPE(8, 9));
    tsr_bindings b = { 0 }, f = { 0 };
    int64_t v = 0;
    EXPECT_OK(tsr_match(&s, "op", 1, (const tsr_desc *[]){ &d }, &b));
    EXPECT_OK(tsr_binding(&v, &s, &b, "a"));
    EXPECT(v == 2);
    EXPECT_OK(tsr_binding(&v, &s, &b, "c"));
    EXPECT(v == 4);
    EXPECT_OK(tsr_match(&s, "op", 1, (const tsr_desc *[]){ &e }, &f));
    EXPECT_STATUS(tsr_binding(&v, &s, &f, "a"), TSR_EINVAL);
    EXPECT_OK(tsr_binding(&v, &s, &f, "c"));
    EXPECT(v == 8);
}

TEST(test_match_optional_dims_may_stand_last_or_alone_or_be_numbers)
{
    EXPECT(FITS("{ f32 | (h, w, (c,)) }", 2, 3) && FITS("{ f32 | (h, w (3,)) }", 2, 3, 3) == false);
    EXPECT(FITS("{ f32 | (h, w, (3,)) }", 2, 3, 3) && !FITS("{ f32 | (h, w, (3,)) }", 2, 3, 4));
    EXPECT(fits_scalar("{ f32 | ((b,)) }") && FITS("{ f32 | ((b,)) }", 4) && !FITS("{ f32 | ((b,)) }", 4, 4));
    EXPECT(FITS("{ f32 | ((_,), m) }", 2, 3) && FITS("{ f32 | ((_,), m) }", 2));
}

/* Strides -------------------------------------------------------------------- */

TEST(test_match_a_stride_that_differs_is_named)
{
    const tsr_desc t = strided(TSR_F32, TSR_SHAPE(3, 4), (int64_t[]){ 1, 3 });
    EXPECT_SAYS(match1("src{ any | (...) | (..., 1) } -> dst{ any | (...) }", "rearrange", t), TSR_ESTRIDE,
                "rearrange: src: stride -1 must be 1, but src is f32(3, 4 | 1, 3)");
    EXPECT_SAYS(match1("src{ any | (m, n) | (2, _) }", "op", t), TSR_ESTRIDE,
                "op: src: stride 0 must be 2, but src is f32(3, 4 | 1, 3)");
}

TEST(test_match_strides_may_be_negative_zero_or_named)
{
    EXPECT(fits("{ f32 | (n) | (-1) }", strided(TSR_F32, TSR_SHAPE(4), (int64_t[]){ -1 })));
    EXPECT(!fits("{ f32 | (n) | (-1) }", strided(TSR_F32, TSR_SHAPE(4), (int64_t[]){ 1 })));
    EXPECT(fits("{ f32 | (n) | (-0) }", strided(TSR_F32, TSR_SHAPE(4), (int64_t[]){ 0 })));
    EXPECT(fits("{ f32 | (m, n) | (s, s) }", strided(TSR_F32, TSR_SHAPE(4, 4), (int64_t[]){ 5, 5 })));
    EXPECT_SAYS(match2("a{ f32 | (n) | (s) } b{ f32 | (n) | (s) }", "op",
                       strided(TSR_F32, TSR_SHAPE(4), (int64_t[]){ 2 }),
                       strided(TSR_F32, TSR_SHAPE(4), (int64_t[]){ -3 })),
                TSR_ESTRIDE, "op: b: s is 2 from a, but stride 0 of b is -3");
}

TEST(test_match_strides_with_dots_line_up_at_both_ends)
{
    const tsr_desc d = strided(TSR_F32, TSR_SHAPE(2, 3, 4, 5), (int64_t[]){ 7, 100, 200, 1 });
    EXPECT(fits("{ f32 | (...) | (7, ..., 1) }", d));
    EXPECT(fits("{ f32 | (...) | (7, ..., 200, 1) }", d));
    EXPECT(fits("{ f32 | (...) | (7, 100, ...) }", d));
    EXPECT(!fits("{ f32 | (...) | (100, ..., 1) }", d));
    EXPECT(fits("{ f32 | (...) | (7, 100, ..., 200, 1) }", d));
    EXPECT(!fits("{ f32 | (...) | (7, 100, _, ..., 200, 1) }", d));
}

TEST(test_match_strides_may_have_optional_entries)
{
    const char *p = "{ f32 | ((b,) h, w) | ((s,) _, 1) }";
    EXPECT(FITS(p, 3, 4) && FITS(p, 2, 3, 4));
    EXPECT(fits("{ f32 | ((b,) n) | ((9,) 1) }", strided(TSR_F32, TSR_SHAPE(2, 4), (int64_t[]){ 9, 1 })));
    EXPECT(!fits("{ f32 | ((b,) n) | ((9,) 1) }", strided(TSR_F32, TSR_SHAPE(2, 4), (int64_t[]){ 8, 1 })));
}

TEST(test_match_strides_for_another_rank_are_a_stride_failure)
{
    EXPECT_SAYS(match1("x{ f32 | (...) | (s, 1) }", "op", packed(TSR_F32, TSR_SHAPE(7))), TSR_ESTRIDE,
                "op: x: rank must be 2 for strides (s, 1), but x is f32(7 | 1)");
}

TEST(test_match_a_stride_of_a_dim_of_size_one_matches_anything_and_binds_nothing)
{
    const tsr_signature s = parsed("a{ f32 | (m, n) | (s, 1) }");
    const tsr_desc junk = strided(TSR_F32, TSR_SHAPE(1, 1), (int64_t[]){ 77, -5 });
    tsr_bindings b = { 0 };
    int64_t v = 0;
    EXPECT_OK(tsr_match(&s, "op", 1, (const tsr_desc *[]){ &junk }, &b));
    EXPECT_STATUS(tsr_binding(&v, &s, &b, "s"), TSR_EINVAL);
    EXPECT_OK(tsr_binding(&v, &s, &b, "m"));
    EXPECT(v == 1);
}

TEST(test_match_strides_of_an_empty_desc_match_anything)
{
    const tsr_desc d = strided(TSR_F32, TSR_SHAPE(0, 4), (int64_t[]){ 3, 3 });
    EXPECT(fits("{ f32 | (m, n) | (..., 1) }", d));
    EXPECT(fits("{ f32 | (m, n) | (~) }", d));
    EXPECT_STATUS(tsr_match_text("{ f32 | (...) | (1) }", &d), TSR_ESTRIDE);
}

TEST(test_match_tilde_wants_row_major_and_packed)
{
    EXPECT(FITS("{ f32 | (...) | ( ~ ) }", 2, 3));
    EXPECT(fits("{ f32 | (...) | (~) }", strided(TSR_F32, TSR_SHAPE(2, 1, 3), (int64_t[]){ 3, 99, 1 })));
    const tsr_desc transposed = strided(TSR_F32, TSR_SHAPE(3, 4), (int64_t[]){ 1, 3 });
    EXPECT_SAYS(match1("x{ f32 | (...) | (~) }", "op", transposed), TSR_ESTRIDE,
                "op: x: must be row-major and packed, but x is f32(3, 4 | 1, 3)");
}

TEST(test_match_names_of_dims_strides_and_dtypes_are_separate)
{
    const tsr_signature s = parsed("a{ T | (T, s) | (T, s) }");
    const tsr_desc d = strided(TSR_F32, TSR_SHAPE(3, 4), (int64_t[]){ 10, 2 });
    tsr_bindings b = { 0 };
    int64_t v = 0;
    EXPECT_OK(tsr_match(&s, "op", 1, (const tsr_desc *[]){ &d }, &b));
    EXPECT_OK(tsr_binding(&v, &s, &b, "T"));
    EXPECT(v == 3);
}

/* Signatures ----------------------------------------------------------------- */

TEST(test_match_bindings_give_sizes_strides_and_dtypes)
{
    const tsr_signature s = parsed("a{ dT | (m, n) | (ld, 1) }");
    const tsr_desc d = strided(TSR_BF16, TSR_SHAPE(3, 4), (int64_t[]){ 10, 1 });
    tsr_bindings b = { 0 };
    int64_t m = 0, ld = 0, dt = 0;
    EXPECT_OK(tsr_match(&s, "op", 1, (const tsr_desc *[]){ &d }, &b));
    EXPECT_OK(tsr_binding(&m, &s, &b, "m"));
    EXPECT_OK(tsr_binding(&ld, &s, &b, "ld"));
    EXPECT_OK(tsr_binding(&dt, &s, &b, "dT"));
    EXPECT(m == 3 && ld == 10 && dt == TSR_BF16);
    EXPECT_FAILS(tsr_binding(&m, &s, &b, "q"), TSR_EINVAL, "binding: the signature has no name q");
}

TEST(test_match_bindings_carry_over_to_the_next_match)
{
    const tsr_signature s = parsed("a{ dT | (n) } b{ dT | (n) }");
    const tsr_desc x = packed(TSR_F32, TSR_SHAPE(3)), y = packed(TSR_F32, TSR_SHAPE(4));
    tsr_bindings b = { 0 };
    EXPECT_OK(tsr_match(&s, "op", 1, (const tsr_desc *[]){ &x }, &b));
    EXPECT_SAYS(tsr_match(&s, "op", 2, (const tsr_desc *[]){ NULL, &y }, &b), TSR_ESHAPE,
                "op: b: n is 3 from a, but dim 0 of b is 4");
}

TEST(test_match_bindings_are_left_alone_by_a_failure)
{
    const tsr_signature s = parsed("a{ dT | (n) } b{ dT | (m, n) }");
    const tsr_desc x = packed(TSR_F32, TSR_SHAPE(3)), y = packed(TSR_F32, TSR_SHAPE(5, 4));
    tsr_bindings b, before;
    memset(&b, 0, sizeof b);
    b.value[1] = 1234;
    memcpy(&before, &b, sizeof b);
    EXPECT_STATUS(tsr_match(&s, "op", 2, (const tsr_desc *[]){ &x, &y }, &b), TSR_ESHAPE);
    EXPECT(memcmp(&before, &b, sizeof b) == 0);
}

TEST(test_match_bindings_from_elsewhere_do_not_break_the_message)
{
    const tsr_signature s = parsed("a{ f32 | (n) }");
    const tsr_desc x = packed(TSR_F32, TSR_SHAPE(3));
    tsr_bindings b = { { 200 }, { 9 } };
    EXPECT_SAYS(tsr_match(&s, "op", 1, (const tsr_desc *[]){ &x }, &b), TSR_ESHAPE,
                "op: a: n is 9 from an earlier match, but dim 0 of a is 3");
}

TEST(test_match_results_are_matched_when_given)
{
    const tsr_signature s = parsed("a{ f32 | (n) } -> c{ f32 | (n) }");
    const tsr_desc x = packed(TSR_F32, TSR_SHAPE(3)), y = packed(TSR_F32, TSR_SHAPE(4));
    EXPECT(s.noperands == 2 && s.nresults == 1 && s.operand[1].is_result && !s.operand[0].is_result);
    EXPECT_OK(tsr_match(&s, "op", 2, (const tsr_desc *[]){ &x, NULL }, NULL));
    EXPECT_OK(tsr_match(&s, "op", 2, (const tsr_desc *[]){ &x, &x }, NULL));
    EXPECT_STATUS(tsr_match(&s, "op", 2, (const tsr_desc *[]){ &x, &y }, NULL), TSR_ESHAPE);
}

TEST(test_match_a_signature_may_have_no_inputs)
{
    const tsr_signature s = parsed("-> dst{ floating/complex | (...) }");
    const tsr_desc good = packed(TSR_C64, TSR_SHAPE(2)), bad = packed(TSR_I8, TSR_SHAPE(2));
    EXPECT(s.noperands == 1 && s.nresults == 1 && strcmp(s.operand[0].name, "dst") == 0);
    EXPECT_OK(tsr_match(&s, "randn", 1, (const tsr_desc *[]){ &good }, NULL));
    EXPECT_SAYS(tsr_match(&s, "randn", 1, (const tsr_desc *[]){ &bad }, NULL), TSR_EDTYPE,
                "randn: dst: dtype must be floating/complex, but dst is i8");
}

TEST(test_match_every_signature_of_op_def_parses)
{
    static const char *const signatures[] = {
#define X(ID, name, family, params, signature, flops, doc, call) signature,
#include "tessera/op.def"
    };
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++)
        EXPECT_MSG(parse(signatures[i]) == TSR_OK, "%s: %s", signatures[i], tsr_last_error());
}

TEST(test_match_success_leaves_the_last_error_alone)
{
    EXPECT_STATUS(parse("nonsense"), TSR_EFORMAT);
    char before[256];
    snprintf(before, sizeof before, "%s", tsr_last_error());
    EXPECT(FITS("{ dT:real | ((b,) m, 3) | (..., 1) }", 2, 3));
    EXPECT(strcmp(before, tsr_last_error()) == 0);
}

/* Every message begins with the operand where no op is named. */
TEST(test_match_messages_need_no_op)
{
    tsr_desc d = packed(TSR_F32, TSR_SHAPE(2, 3));
    EXPECT_SAYS(match1("x{ f32 | (m, 4) }", NULL, d), TSR_ESHAPE,
                "x: dim 1 must be 4, but x is f32(2, 3 | 3, 1)");
    EXPECT_SAYS(match1("x{ f32 | (m, m) }", NULL, d), TSR_ESHAPE, "x: m is 2 from x, but dim 1 of x is 3");
    EXPECT_SAYS(match2("x{ T | (...) } y{ T | (...) }", NULL, d, packed(TSR_I8, TSR_SHAPE(2))), TSR_EDTYPE,
                "y: T is f32 from x, but y is i8");
    EXPECT_SAYS(
        match1("x{ f32 | (...) | (~) }", NULL, strided(TSR_F32, TSR_SHAPE(2, 3), (int64_t[]){ 1, 2 })),
        TSR_ESTRIDE, "x: must be row-major and packed, but x is f32(2, 3 | 1, 2)");
    d.shape[1] = -1;
    EXPECT_FAILS(match1("x{ f32 | (...) }", NULL, d), TSR_ESHAPE, "x: dim 1 is negative in");
    d.ndim = -1;
    EXPECT_FAILS(match1("x{ f32 | (...) }", NULL, d), TSR_EINVAL, "x: rank -1, outside 0 .. ");
    d.dtype = TSR_DTYPE_COUNT;
    EXPECT_FAILS(match1("x{ f32 | (...) }", NULL, d), TSR_EDTYPE, "is no dtype");
    EXPECT(strncmp(tsr_last_error(), "x: ", 3) == 0);
    EXPECT_FAILS(parse("x{ f32 | (n) } - y{ f32 | (n) }"), TSR_EFORMAT, "column 16: ");
    EXPECT_FAILS(parse("x{ f32 | (.n.) }"), TSR_EFORMAT, "expected '...'");
}

/* The normal form ------------------------------------------------------------- */

static void expect_normal(const char *text, const char *want)
{
    char got[512], again[512];
    const tsr_signature s = parsed(text);
    EXPECT(tsr_signature_to_string(got, sizeof got, &s) == strlen(want));
    EXPECT_MSG(strcmp(got, want) == 0, "\"%s\" became \"%s\"", text, got);
    const tsr_signature t = parsed(got);
    tsr_signature_to_string(again, sizeof again, &t);
    EXPECT_MSG(strcmp(got, again) == 0, "\"%s\" became \"%s\"", got, again);
}

TEST(test_match_normal_form_is_one_spelling_for_all)
{
    expect_normal("{float32;(d1,d2);(...,1)}", "{ f32 | (d1, d2) | (..., 1) }");
    expect_normal("tensor { dT | ((b,), h, w, c,) | ((...,)) }", "{ dT | ((b,) h, w, c) }");
    expect_normal("{ dT:any | ((...,) m, n) | ( ~ ) }", "{ dT | (..., m, n) | (~) }");
    expect_normal("a{t:any|(_,(3,))}\n->\tb{t|()|()}", "a{ t:any | (_, (3,)) } -> b{ t:any | () | () }");
    expect_normal("->x{bool|(n)|(-0)}", "-> x{ bool | (n) | (0) }");
    expect_normal("x{ any | (9223372036854775807) | (-9223372036854775808) }",
                  "x{ any | (9223372036854775807) | (-9223372036854775808) }");
}

TEST(test_match_normal_form_names_the_largest_kinds)
{
    expect_normal("{ numeric/bool | () }", "{ any | () }");
    expect_normal("{ complex/integer/floating | () }", "{ numeric | () }");
    expect_normal("{ f32/signed/unsigned | () }", "{ integer/f32 | () }");
    expect_normal("{ f64/f32/floating | () }", "{ floating | () }");
    expect_normal("{ dU:c64/bool | () }", "{ dU:bool/c64 | () }");
}

TEST(test_match_normal_form_is_cut_to_fit_and_counted)
{
    const tsr_signature s = parsed("a{ f32 | (n) }");
    char out[8];
    EXPECT(tsr_signature_to_string(NULL, 0, &s) == 14);
    EXPECT(tsr_signature_to_string(out, sizeof out, &s) == 14 && strcmp(out, "a{ f32 ") == 0);
    EXPECT(tsr_signature_to_string(out, sizeof out, NULL) == 0 && out[0] == '\0');
    EXPECT(tsr_signature_to_string(NULL, 5, &s) == 14);
}

/* What does not parse ---------------------------------------------------------- */

TEST(test_match_parse_failures_say_where_and_what_was_expected)
{
    static const struct { const char *text; int column; const char *says; } cases[] = {
        { "", 1, "expected an operand, as in a{ f32 | (n) }, found the end" },
        { "  ", 3, "expected an operand, as in a{ f32 | (n) }, found the end" },
        { "a", 2, "expected '{', found the end" },
        { "9{ f32 | () }", 1, "expected an operand, as in a{ f32 | (n) }, found '9'" },
        { "{", 2, "expected a dtype, a kind or a dtype variable, found the end" },
        { "{ | (n) }", 3, "expected a dtype, a kind or a dtype variable, found '|'" },
        { "{ f32/ | (n) }", 8, "expected a dtype or a kind, found '|'" },
        { "{ dT: | (n) }", 7, "expected a dtype or a kind, found '|'" },
        { "{ f32 }", 7, "expected '|' and a shape, found '}'" },
        { "{ f32 | n }", 9, "expected '(' and a shape, found 'n'" },
        { "{ f32 | (m k) }", 12, "expected ',' or ')', found 'k'" },
        { "{ f32 | (m, ", 13, "expected a dim (a name, a number, '_' or '...'), found the end" },
        { "{ f32 | (,) }", 10, "expected a dim (a name, a number, '_' or '...'), found ','" },
        { "{ f32 | (~) }", 10, "expected a dim (a name, a number, '_' or '...'), found '~'" },
        { "{ f32 | (-1) }", 10, "expected a dim (a name, a number, '_' or '...'), found '-'" },
        { "{ f32 | (..) }", 12, "expected '...', found ')'" },
        { "{ f32 | (..., (...,)) }", 16, "a second '...' in one list" },
        { "{ f32 | ((b) m) }", 12, "expected ',' (an optional dim is written (b,)), found ')'" },
        { "{ f32 | ((b, c,) m) }", 14, "expected ')' (an optional dim is written (b,)), found 'c'" },
        { "{ f32 | (n) ", 13, "expected '|' or '}', found the end" },
        { "{ f32 | (n) | 1 }", 15, "expected '(' and strides, found '1'" },
        { "{ f32 | (n) | (+) }", 16, "expected a stride (a name, a number, '_' or '...'), found '+'" },
        { "{ f32 | (n) | (-x) }", 17, "expected a digit, found 'x'" },
        { "{ f32 | (n) | (~, 1) }", 17, "expected ')' after '~', found ','" },
        { "{ f32 | (n) | (1) | (1) }", 19, "expected '}', found '|'" },
        { "{ f32 | (n) | (1, 1) }", 15, "strides that fit no rank of the shape" },
        { "{ f32 | (m, n, ...) | (1) }", 23, "strides that fit no rank of the shape" },
        { "{ f32 | (9223372036854775808) }", 10, "a number beyond 63 bits" },
        { "{ f32 | (n) | (-9223372036854775809) }", 16, "a number beyond 63 bits" },
        { "a{ f32 | (n) } ->", 18, "expected an operand, as in a{ f32 | (n) }, found the end" },
        { "-> a{ f32 | (n) } -> b{ f32 | (n) }", 19, "expected an operand, as in a{ f32 | (n) }, found '-'" },
        { "a{ f32 | (n) } a{ f32 | (n) }", 16, "a second operand called a" },
        { "{ f32 | (n) } { f32 | (n) }", 15, "a second operand called tensor" },
        { "{ f32 | (a_very_long_name) }", 10, "a name of 16 characters; 15 is the most" },
        { "{ f32 | (n\x01) }", 11, "expected ',' or ')', found byte 1" },
        { "{ f32 | (\xe7) }", 10, "expected a dim (a name, a number, '_' or '...'), found byte 231" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char want[160];
        snprintf(want, sizeof want, "signature: column %d: %s", cases[i].column, cases[i].says);
        EXPECT_STATUS(parse(cases[i].text), TSR_EFORMAT);
        EXPECT_MSG(strcmp(tsr_last_error(), want) == 0, "\"%s\" says \"%s\", not \"%s\"", cases[i].text,
                   tsr_last_error(), want);
    }
}

TEST(test_match_a_failed_parse_leaves_the_signature_alone)
{
    tsr_signature s, before;
    memset(&s, 0x5a, sizeof s);
    memcpy(&before, &s, sizeof s);
    EXPECT_STATUS(tsr_signature_parse(&s, "a{ f32 | (n) } b{ f32 | (n, }"), TSR_EFORMAT);
    EXPECT(memcmp(&s, &before, sizeof s) == 0);
}

/* "x0{ f32 | (n) } x1{ ... " with `operands` operands of `dims` dims, each name new if `fresh`. */
static const char *long_signature(char *out, size_t size, int operands, int dims, bool fresh)
{
    size_t n = 0;
    out[0] = '\0';
    for (int o = 0; o < operands; o++) {
        n += (size_t)snprintf(out + n, size - n, "x%d{ f32 | (", o);
        for (int d = 0; d < dims; d++)
            n += (size_t)snprintf(out + n, size - n, "%sd%d", d ? ", " : "", fresh ? o * dims + d : d);
        n += (size_t)snprintf(out + n, size - n, ") } ");
    }
    return out;
}

TEST(test_match_limits_hold_exactly_and_are_said_in_words)
{
    char text[2048];
    EXPECT_OK(parse(long_signature(text, sizeof text, 8, 1, false)));
    EXPECT_FAILS(parse(long_signature(text, sizeof text, 9, 1, false)), TSR_EFORMAT, "more than 8 operands");
    EXPECT_OK(parse(long_signature(text, sizeof text, 8, 3, true)));
    EXPECT_FAILS(parse(long_signature(text, sizeof text, 5, 5, true)), TSR_EFORMAT,
                 "d24 would be name 25; 24 is the most");
    const size_t n = strlen(long_signature(text, sizeof text, 3, 8, true));
    (void)snprintf(text + n, sizeof text - n, "y{ T:floating | (d0) }");
    EXPECT_FAILS(parse(text), TSR_EFORMAT, "T would be name 25; 24 is the most");
    EXPECT_OK(parse(long_signature(text, sizeof text, 8, 8, false)));
    EXPECT_FAILS(parse(long_signature(text, sizeof text, 8, 9, false)), TSR_EFORMAT,
                 "dims and strides exceed 64 in all operands together");
    EXPECT_OK(parse(long_signature(text, sizeof text, 1, TSR_MAX_NDIM, false)));
    EXPECT_FAILS(parse(long_signature(text, sizeof text, 1, TSR_MAX_NDIM + 1, false)), TSR_EFORMAT,
                 "a rank beyond");
    EXPECT_OK(parse("a_name_of_15_ch{ f32 | (a_name_of_15_ch) }"));
}

TEST(test_match_the_highest_rank_matches)
{
    char text[512];
    int64_t shape[TSR_MAX_NDIM];
    for (int i = 0; i < TSR_MAX_NDIM; i++) shape[i] = i % 3 + 1;
    long_signature(text, sizeof text, 1, TSR_MAX_NDIM, false);
    EXPECT(fits(text, packed(TSR_F32, TSR_MAX_NDIM, shape)));
    EXPECT(!fits(text, packed(TSR_I8, TSR_MAX_NDIM, shape)));
    EXPECT(!fits(text, packed(TSR_F32, TSR_MAX_NDIM - 1, shape)));
    EXPECT(fits("{ f32 | (a, ..., b) | (..., 1) }", packed(TSR_F32, TSR_MAX_NDIM, shape)));
}

/* Arguments ------------------------------------------------------------------- */

TEST(test_match_null_arguments_are_named)
{
    const tsr_signature s = parsed("a{ f32 | (n) }");
    const tsr_desc d = packed(TSR_F32, TSR_SHAPE(3));
    tsr_signature out;
    tsr_bindings b = { 0 };
    int64_t v;
    EXPECT_SAYS(tsr_signature_parse(NULL, "x"), TSR_ENULL, "signature_parse: out is NULL");
    EXPECT_SAYS(tsr_signature_parse(&out, NULL), TSR_ENULL, "signature_parse: text is NULL");
    EXPECT_SAYS(tsr_match(NULL, "op", 0, NULL, NULL), TSR_ENULL, "match: s is NULL");
    EXPECT_SAYS(tsr_match(&s, "op", 1, NULL, NULL), TSR_ENULL, "match: descs is NULL");
    EXPECT_SAYS(tsr_match_text(NULL, &d), TSR_ENULL, "match_text: pattern is NULL");
    EXPECT_SAYS(tsr_match_text("{ f32 | (n) }", NULL), TSR_ENULL, "match_text: desc is NULL");
    EXPECT_SAYS(tsr_binding(NULL, &s, &b, "n"), TSR_ENULL, "binding: out is NULL");
    EXPECT_SAYS(tsr_binding(&v, NULL, &b, "n"), TSR_ENULL, "binding: s is NULL");
    EXPECT_SAYS(tsr_binding(&v, &s, NULL, "n"), TSR_ENULL, "binding: b is NULL");
    EXPECT_SAYS(tsr_binding(&v, &s, &b, NULL), TSR_ENULL, "binding: name is NULL");
    EXPECT_OK(tsr_match(&s, NULL, 0, NULL, NULL));
}

TEST(test_match_a_wrong_number_of_descs_is_refused)
{
    const tsr_signature s = parsed("a{ f32 | (n) }");
    const tsr_desc d = packed(TSR_F32, TSR_SHAPE(3));
    const tsr_desc *two[] = { &d, &d };
    EXPECT_SAYS(tsr_match(&s, "op", 2, two, NULL), TSR_EINVAL, "op: 2 descs for a signature of 1 operands");
    EXPECT_SAYS(tsr_match(&s, NULL, -1, two, NULL), TSR_EINVAL,
                "match: -1 descs for a signature of 1 operands");
    EXPECT_SAYS(tsr_match_text("a{ f32 | (n) } b{ f32 | (n) }", &d), TSR_EINVAL,
                "match_text: a pattern of 2 operands for one desc");
}

TEST(test_match_a_broken_desc_is_refused)
{
    const tsr_desc good = packed(TSR_F32, TSR_SHAPE(3));
    tsr_desc d = good;
    d.ndim = TSR_MAX_NDIM + 1;
    EXPECT_STATUS(match1("a{ any | (...) }", "op", d), TSR_EINVAL);
    d.ndim = -1;
    EXPECT_SAYS(match1("a{ any | (...) }", "op", d), TSR_EINVAL, "op: a: rank -1, outside 0 .. 16");
    d = good;
    d.dtype = TSR_DTYPE_INVALID;
    EXPECT_SAYS(match1("a{ any | (...) }", "op", d), TSR_EDTYPE, "op: a: 0 is no dtype");
    d.dtype = (tsr_dtype)TSR_DTYPE_COUNT;
    EXPECT_STATUS(match1("a{ any | (...) }", "op", d), TSR_EDTYPE);
    d = good;
    d.shape[0] = -2;
    EXPECT_SAYS(match1("a{ any | (...) }", "op", d), TSR_ESHAPE, "op: a: dim 0 is negative in f32(-2 | 1)");
}

TEST(test_match_text_begins_its_messages_with_its_name)
{
    const tsr_desc d = packed(TSR_F32, TSR_SHAPE(3));
    EXPECT_SAYS(tsr_match_text("{ i32 | (n) }", &d), TSR_EDTYPE,
                "match_text: tensor: dtype must be i32, but tensor is f32");
}

/* Against a naive matcher ------------------------------------------------------
 *
 * Patterns are generated as trees, written out as text in varying spelling, and
 * matched twice: by the library from the text, and here from the tree, by trying
 * every way the terms can stand for the dims. Names are small numbers. */

enum { G_TERMS = 5, G_NAMES = 3, G_OPERANDS = 3, G_RANK = 5 };

typedef struct g_term { char what; bool optional; int name; int64_t number; } g_term;   /* what: _ # n . */
typedef struct g_list { int n; g_term term[G_TERMS]; } g_list;
typedef struct g_operand { int dtype; int strides; g_list shape, stride; } g_operand;
enum { G_STRIDES_NONE, G_STRIDES_ANY, G_STRIDES_PACKED, G_STRIDES_LIST };

typedef struct g_bindings { bool bound[3][G_NAMES]; int64_t value[3][G_NAMES]; } g_bindings;

static const struct { const char *text; const char *variable; bool f32, i32; } g_dtypes[] = {
    { "f32", NULL, true, false },
    { "int32", NULL, false, true },
    { "floating/i8", NULL, true, false },
    { "any", NULL, true, true },
    { "numeric", NULL, true, true },
    { "T0", "T0", true, true },
    { "T0:real", "T0", true, true },
    { "T1 : f32/ f64", "T1", true, false },
};

static const char *const g_dim_names[G_NAMES] = { "m", "n", "_k" };
static const char *const g_stride_names[G_NAMES] = { "s", "n", "t2" };
static const char *const g_dtype_names[G_NAMES] = { "T0", "T1", "T2" };

static g_list g_make_list(uint64_t *r, bool strides)
{
    g_list l = { .n = (int)test_below(r, G_TERMS + 1) };
    bool many = false;
    for (int i = 0; i < l.n; i++) {
        g_term *t = &l.term[i];
        t->what = "_##nnnnn.."[test_below(r, 10)];
        if (t->what == '.' && many) t->what = 'n';
        if (t->what == '.') many = true;
        t->name = (int)test_below(r, G_NAMES);
        t->number = strides ? test_below(r, 6) - 1 : test_below(r, 4);
        t->optional = t->what != '.' && test_below(r, 4) == 0;
    }
    return l;
}

static size_t g_write_list(char *out, size_t size, const g_list *l, bool strides, uint64_t *r)
{
    size_t n = (size_t)snprintf(out, size, "(");
    for (int i = 0; i < l->n; i++) {
        const g_term *t = &l->term[i];
        const bool bracketed = t->optional || (t->what == '.' && test_below(r, 2));
        const bool last = i + 1 == l->n;
        const char *comma = last && test_below(r, 3) ? "" : bracketed && test_below(r, 2) ? " " : ",";
        const char *space = test_below(r, 2) ? " " : "";
        n += (size_t)snprintf(out + n, size - n, "%s", bracketed ? "(" : "");
        if (t->what == '_') n += (size_t)snprintf(out + n, size - n, "_");
        if (t->what == '.') n += (size_t)snprintf(out + n, size - n, "...");
        if (t->what == '#') n += (size_t)snprintf(out + n, size - n, "%lld", (long long)t->number);
        if (t->what == 'n')
            n += (size_t)snprintf(out + n, size - n, "%s", (strides ? g_stride_names : g_dim_names)[t->name]);
        n += (size_t)snprintf(out + n, size - n, "%s%s%s", bracketed ? ",)" : "", comma, space);
    }
    return n + (size_t)snprintf(out + n, size - n, ")");
}

static void g_write(char *out, size_t size, const g_operand *o, int count, uint64_t *r)
{
    size_t n = 0;
    const int arrow = (int)test_below(r, count + 1);
    for (int i = 0; i < count; i++) {
        const char *bar = test_below(r, 2) ? " | " : ";";
        n += (size_t)snprintf(out + n, size - n, "%sop%d{%s%s", i == arrow ? "->" : "", i,
                              g_dtypes[o[i].dtype].text, bar);
        n += g_write_list(out + n, size - n, &o[i].shape, false, r);
        if (o[i].strides != G_STRIDES_NONE) n += (size_t)snprintf(out + n, size - n, "%s", bar);
        if (o[i].strides == G_STRIDES_ANY) n += (size_t)snprintf(out + n, size - n, "(...)");
        if (o[i].strides == G_STRIDES_PACKED) n += (size_t)snprintf(out + n, size - n, "(~)");
        if (o[i].strides == G_STRIDES_LIST) n += g_write_list(out + n, size - n, &o[i].stride, true, r);
        n += (size_t)snprintf(out + n, size - n, "}");
    }
}

/* Which dim each of the first n terms stands for (-1: none), if they can stand
 * for exactly `dims` dims. From the right: an optional term would rather be
 * there, dots would rather be short. */
static bool g_place(const g_term *t, int n, int dims, int *where)
{
    if (n == 0) return dims == 0;
    where[n - 1] = -1;
    if (t[n - 1].what == '.') {
        for (int len = 0; len <= dims; len++)
            if (g_place(t, n - 1, dims - len, where)) return true;
        return false;
    }
    if (dims > 0) {
        where[n - 1] = dims - 1;
        if (g_place(t, n - 1, dims - 1, where)) return true;
    }
    where[n - 1] = -1;
    return t[n - 1].optional && g_place(t, n - 1, dims, where);
}

static bool g_bind(g_bindings *b, int kind, int name, int64_t value)
{
    if (b->bound[kind][name]) return b->value[kind][name] == value;
    b->bound[kind][name] = true;
    b->value[kind][name] = value;
    return true;
}

static bool g_has_no_elements(const tsr_desc *d)
{
    for (int i = 0; i < d->ndim; i++)
        if (d->shape[i] == 0) return true;
    return false;
}

static bool g_match_list(g_bindings *b, int kind, const g_list *l, const tsr_desc *d)
{
    int where[G_TERMS];
    if (!g_place(l->term, l->n, d->ndim, where)) return false;
    for (int i = 0; i < l->n; i++) {
        const int at = where[i];
        if (at < 0 || (kind == 1 && (d->shape[at] == 1 || g_has_no_elements(d)))) continue;
        const int64_t v = kind == 1 ? d->stride[at] : d->shape[at];
        if (l->term[i].what == '#' && l->term[i].number != v) return false;
        if (l->term[i].what == 'n' && !g_bind(b, kind, l->term[i].name, v)) return false;
    }
    return true;
}

static bool g_is_packed(const tsr_desc *d)
{
    int64_t step = 1;
    for (int i = d->ndim - 1; i >= 0; i--) {
        if (d->shape[i] != 1 && d->stride[i] != step) return g_has_no_elements(d);
        step *= d->shape[i];
    }
    return true;
}

static tsr_status g_match(g_bindings *b, const g_operand *o, int count, const tsr_desc *d)
{
    for (int i = 0; i < count; i++) {
        const char *variable = g_dtypes[o[i].dtype].variable;
        if (!(d[i].dtype == TSR_F32 ? g_dtypes[o[i].dtype].f32 : g_dtypes[o[i].dtype].i32)) return TSR_EDTYPE;
        if (variable && !g_bind(b, 2, variable[1] - '0', (int64_t)d[i].dtype)) return TSR_EDTYPE;
        if (!g_match_list(b, 0, &o[i].shape, &d[i])) return TSR_ESHAPE;
        if (o[i].strides == G_STRIDES_PACKED && !g_is_packed(&d[i])) return TSR_ESTRIDE;
        if (o[i].strides == G_STRIDES_LIST && !g_match_list(b, 1, &o[i].stride, &d[i])) return TSR_ESTRIDE;
    }
    return TSR_OK;
}

/* Is there a rank that both lists allow? */
static bool g_makes_sense(const g_operand *o)
{
    int where[G_TERMS];
    if (o->strides != G_STRIDES_LIST) return true;
    for (int rank = 0; rank <= TSR_MAX_NDIM; rank++)
        if (g_place(o->shape.term, o->shape.n, rank, where) &&
            g_place(o->stride.term, o->stride.n, rank, where))
            return true;
    return false;
}

/* A desc that has a fair chance: of a rank the shape allows, literal dims mostly obeyed. */
static tsr_desc g_make_desc(uint64_t *r, const g_operand *o)
{
    int where[G_TERMS];
    int64_t shape[G_RANK], stride[G_RANK];
    int rank = (int)test_below(r, G_RANK + 1);
    for (int tries = 0; tries < 8 && !g_place(o->shape.term, o->shape.n, rank, where); tries++)
        rank = (int)test_below(r, G_RANK + 1);
    for (int i = 0; i < rank; i++) {
        shape[i] = test_below(r, 12) == 0 ? test_below(r, 4) : 2 + (test_below(r, 8) == 0);
        stride[i] = test_below(r, 6) - 1;
    }
    if (g_place(o->shape.term, o->shape.n, rank, where) && test_below(r, 8))
        for (int i = 0; i < o->shape.n; i++)
            if (o->shape.term[i].what == '#' && where[i] >= 0) shape[where[i]] = o->shape.term[i].number;
    if (g_place(o->stride.term, o->stride.n, rank, where) && test_below(r, 4))
        for (int i = 0; i < o->stride.n; i++) {
            const g_term *t = &o->stride.term[i];
            if (where[i] >= 0) stride[where[i]] = t->what == '#' ? t->number : 3;
        }
    return strided(test_below(r, 5) ? TSR_F32 : TSR_I32, rank, shape, test_below(r, 3) ? stride : NULL);
}

/* Does the library know the same names, bound to the same values? */
static bool g_same_bindings(const tsr_signature *s, const tsr_bindings *b, const g_bindings *want)
{
    for (int kind = 0; kind < 3; kind++)
        for (int i = 0; i < G_NAMES; i++) {
            const char *const *names[] = { g_dim_names, g_stride_names, g_dtype_names };
            const char *name = names[kind][i];
            bool bound = false;
            int64_t value = 0;
            for (int k = 0; k < s->nnames; k++)
                if (s->name_kind[k] == kind && strcmp(s->names[k], name) == 0 && b->bound[k]) {
                    bound = true;
                    value = b->value[k];
                }
            if (bound != want->bound[kind][i] || (bound && value != want->value[kind][i])) return false;
        }
    return true;
}

static void g_compare(const char *text, const g_operand *o, int count, const tsr_desc *d, int seen[32])
{
    tsr_signature s, again;
    char normal[1024], normal2[1024];
    tsr_bindings b = { 0 }, b2 = { 0 };
    g_bindings want = { 0 };
    const tsr_desc *descs[G_OPERANDS];
    bool sense = true;
    for (int i = 0; i < count; i++) {
        sense = sense && g_makes_sense(&o[i]);
        descs[i] = &d[i];
    }
    const tsr_status parse_status = tsr_signature_parse(&s, text);
    EXPECT_MSG(parse_status == (sense ? TSR_OK : TSR_EFORMAT), "%s: %s", text, tsr_last_error());
    if (parse_status != TSR_OK) {
        seen[parse_status]++;
        return;
    }
    const tsr_status expected = g_match(&want, o, count, d), got = tsr_match(&s, "op", count, descs, &b);
    EXPECT_MSG(got == expected, "%s gave %s (%s), not %s", text, tsr_status_name(got), tsr_last_error(),
               tsr_status_name(expected));
    if (got == TSR_OK) EXPECT_MSG(g_same_bindings(&s, &b, &want), "%s", text);
    seen[expected]++;

    tsr_signature_to_string(normal, sizeof normal, &s);
    EXPECT_MSG(tsr_signature_parse(&again, normal) == TSR_OK, "%s: %s: %s", text, normal, tsr_last_error());
    tsr_signature_to_string(normal2, sizeof normal2, &again);
    EXPECT_MSG(strcmp(normal, normal2) == 0, "%s: %s", normal, normal2);
    EXPECT_MSG(tsr_match(&again, "op", count, descs, &b2) == got, "%s: %s", text, normal);
}

TEST(test_match_agrees_with_a_naive_matcher_on_random_patterns)
{
    uint64_t r = 20240917;
    int seen[32] = { 0 };
    for (int round = 0; round < 60000; round++) {
        g_operand o[G_OPERANDS];
        tsr_desc d[G_OPERANDS];
        char text[1024];
        const int count = 1 + (int)test_below(&r, G_OPERANDS);
        for (int i = 0; i < count; i++) {
            o[i].dtype = (int)test_below(&r, sizeof g_dtypes / sizeof *g_dtypes);
            o[i].strides = (int)test_below(&r, 4);
            o[i].shape = g_make_list(&r, false);
            o[i].stride = test_below(&r, 3) ? g_make_list(&r, true) : o[i].shape;
            d[i] = g_make_desc(&r, &o[i]);
        }
        g_write(text, sizeof text, o, count, &r);
        g_compare(text, o, count, d, seen);
    }
    /* A comparison that meets only one answer proves little. */
    EXPECT_MSG(seen[TSR_OK] > 5000 && seen[TSR_EDTYPE] > 5000 && seen[TSR_ESHAPE] > 5000 &&
                   seen[TSR_ESTRIDE] > 2000 && seen[TSR_EFORMAT] > 1000,
               "ok %d, dtype %d, shape %d, stride %d, format %d", seen[TSR_OK], seen[TSR_EDTYPE],
               seen[TSR_ESHAPE], seen[TSR_ESTRIDE], seen[TSR_EFORMAT]);
}

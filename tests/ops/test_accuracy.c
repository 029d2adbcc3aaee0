/* test_accuracy.c - no floating function is off by more than its row of op.def allows.
 *
 * Every value of f16, bf16 and both f8 is tried, every pair of f8, and samples of the others that
 * are spread over all exponents and gathered where functions are difficult (accuracy.h). The full
 * measurement, and its table, is bench-accuracy's. Where the C library has no _Float128, f64 and
 * c128 are judged by long double and given what that is off.
 */
#include "accuracy.h"
#include "test.h"

static int functions;

static const tsr_dtype shorts[] = { TSR_F8E4M3, TSR_F8E5M2, TSR_F16, TSR_BF16 };

/* What a reference for f64 may be off itself, in units. */
static double reference_error(tsr_dtype d)
{
    if (acc_part(d) != TSR_F64 || ACC_FLOAT128 || LDBL_MANT_DIG >= 113) return 0;
    return LDBL_MANT_DIG > DBL_MANT_DIG ? 0x1p-6 : (double)INFINITY;
}

static void expect_within(const acc_function *f, tsr_dtype d, int64_t n)
{
    acc_result r;
    const double bound = acc_bound(f, d), slack = reference_error(d);
    EXPECT_MSG(acc_measure(&r, f, d, n, acc_reference_for(d)), "%s in %s: %s", f->op->name, tsr_dtype_name(d),
               tsr_last_error());
    EXPECT_MSG(r.count > n / 8, "%s in %s: %lld results judged", f->op->name, tsr_dtype_name(d),
               (long long)r.count);
    EXPECT_MSG(r.most <= bound + slack, "%s in %s is %.4g units off at (%.17g, %.17g, %.17g, %.17g), not %g",
               f->op->name, tsr_dtype_name(d), r.most, r.at[0], r.at[1], r.at[2], r.at[3], bound);
    if (bound <= 0.5 && !f->is_complex && slack == 0)
        EXPECT_MSG(r.rounded == r.count, "%s in %s: %lld of %lld are not the nearest number", f->op->name,
                   tsr_dtype_name(d), (long long)(r.count - r.rounded), (long long)r.count);
}

TEST(test_functions_of_short_floats_are_within_their_bounds)
{
    for (int i = 0; i < functions; i++)
        for (int s = 0; s < 4 && !acc_functions[i].is_complex; s++) {
            const int bits = acc_format_of(shorts[s]).bits * acc_functions[i].op->nin;
            expect_within(&acc_functions[i], shorts[s], (int64_t)1 << (bits <= 16 ? bits : 14));
        }
}

/* The functions that kernels compute by their own polynomials are looked at more closely. */
static bool is_watched(const acc_function *f)
{
    static const char *const names[] = { "exp", "log", "sin", "cos", "tanh", "erf" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(f->op->name, names[i])) return true;
    return false;
}

TEST(test_functions_of_f32_are_within_their_bounds)
{
    for (int i = 0; i < functions; i++)
        if (!acc_functions[i].is_complex)
            expect_within(&acc_functions[i], TSR_F32, 1 << (is_watched(&acc_functions[i]) ? 18 : 14));
}

TEST(test_functions_of_f64_are_within_their_bounds)
{
    for (int i = 0; i < functions; i++)
        if (!acc_functions[i].is_complex) expect_within(&acc_functions[i], TSR_F64, 1 << 12);
}

TEST(test_functions_of_complex_numbers_are_within_their_bounds)
{
    for (int i = 0; i < functions; i++)
        if (acc_functions[i].is_complex) {
            expect_within(&acc_functions[i], TSR_C64, 1 << 12);
            expect_within(&acc_functions[i], TSR_C128, 1 << 12);
        }
}

/* Products that lie half way between two numbers, and a third operand that is too small to change them
 * but decides to which side they go. A sum rounded to f32 on the way forgets it. */
TEST(test_fma_of_short_floats_is_rounded_once)
{
    static const struct { tsr_dtype dtype; double x, y, w, down, up; } rows[] = {
        { TSR_F16, 1 + 0x1p-6, 1 + 0x1p-5, 0x1p-24, 1 + 0x1p-5 + 0x1p-6, 1 + 0x1p-5 + 0x1p-6 + 0x1p-10 },
        { TSR_BF16, 1 + 0x1p-4, 1 + 0x1p-4, 0x1p-40, 1 + 0x1p-3, 1 + 0x1p-3 + 0x1p-7 },
        { TSR_BF16, 1 + 0x1p-4, 1 + 0x1p-4, 0x1p-130, 1 + 0x1p-3, 1 + 0x1p-3 + 0x1p-7 },
        { TSR_F8E5M2, 1.5, 1.25, 0x1p-16, 1.75, 2 },
        { TSR_F8E4M3, 1.25, 1.25, 0x1p-9, 1.5, 1.625 },
        { TSR_F32, 1 + 0x1p-12, 1 + 0x1p-12, 0x1p-100, 1 + 0x1p-11, 1 + 0x1p-11 + 0x1p-23 },
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int sign = -1; sign <= 1; sign += 2) {
            tsr_tensor *x = NULL, *z = NULL;
            double got = 0;
            const double want = sign < 0 ? rows[r].down : rows[r].up;
            EXPECT_OK(tsr_full(&x, rows[r].dtype, TSR_SHAPE(1), TSR_SCALAR(rows[r].x)));
            EXPECT_OK(tsr_fma(&z, x, TSR_NUMBER(rows[r].y), TSR_NUMBER(sign * rows[r].w)));
            EXPECT_OK(tsr_item_f64(&got, z));
            EXPECT_MSG(got == want, "row %zu: %a, not %a", r, got, want);
            tsr_release_all(&x, &z);
        }
}

/* The means of judging, against cases worked out by hand. */
TEST(test_errors_are_counted_in_units_of_the_right_value)
{
    static const struct { tsr_dtype dtype; double got; acc_value want; double off; bool rounded; } rows[] = {
        { TSR_F32, 1, { 1, 0, 0 }, 0, true },
        { TSR_F32, 1, { 1 + 0x1p-24, 0, 0 }, 0.5, true },
        { TSR_F32, 1 + 0x1p-23, { 1 + 0x1p-24, 0, 0 }, 0.5, false },
        { TSR_F32, 1, { 1 + 0x1p-24, 0x1p-80, 0 }, 0.5, false },
        { TSR_F32, 1, { 1 + 0x1p-24, -0x1p-80, 0 }, 0.5, true },
        { TSR_F32, 1, { 1 - 0x1p-24, 0, 0 }, 1, false },
        { TSR_F32, 1 + 0x1p-23, { 1, 0, 0 }, 1, false },
        { TSR_F64, 1 + 0x1p-52, { 1, 0x1p-54, 0 }, 0.75, false },
        { TSR_F64, 0x1p-1074, { 1.25, 0, -1074 }, 0.25, true },
        { TSR_F64, INFINITY, { 1, 0, 1024 }, 0, true },
        { TSR_F64, 0x1.fffffffffffffp1023, { 1, 0, 1030 }, 1, false },
        { TSR_F16, 65504, { 65520, -1, 0 }, 0.46875, true },
        { TSR_F16, INFINITY, { 65520, 0, 0 }, 0.5, true },
        { TSR_F16, 0, { 0x1p-25, 0, 0 }, 0.5, true },
        { TSR_F8E4M3, NAN, { 464, 0, 0 }, 0.5, true },
        { TSR_F8E4M3, NAN, { 448, 0, 0 }, INFINITY, false },
        { TSR_BF16, NAN, { NAN, 0, 0 }, 0, true },
        { TSR_BF16, 1, { NAN, 0, 0 }, INFINITY, false },
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const acc_format f = acc_format_of(rows[r].dtype);
        bool rounded = false;
        const double off = acc_error(&f, rows[r].got, rows[r].want, &rounded);
        EXPECT_MSG(off == rows[r].off && rounded == rows[r].rounded, "row %zu: %g, %d", r, off, rounded);
    }
}

TEST_BEFORE
{
    functions = acc_list();
}

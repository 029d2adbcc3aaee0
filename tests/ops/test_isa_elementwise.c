/* test_isa_elementwise.c - elementwise kernels and casts of each instruction set against the portable ones.
 *
 * A set is tried on top of the portable table, on machines that have its instructions; what it
 * overwrites is tried because it is in the table. Results that are rounded once, and bools,
 * must have the portable bits (NaN as NaN); functions must be within a unit or a few of them.
 * The whole output buffer is compared, so that a byte beyond a row counts.
 */
#include <math.h>

#include "cpu/cpu_run.h"
#include "cpu/kernels.h"
#include "cpu/stage.h"
#include "isa_sets.h"
#include "opcheck/elementwise_ops.h"
#include "opcheck/reference.h"
#include "test.h"

static tsri_cpu_kernels portable, table;
static const char *set_name;
static bool set_is_whole;  /* a set that has most kernels */

static void make_portable(tsri_cpu_kernels *k)
{
    memset(k, 0, sizeof *k);
    tsri_cpu_portable(k);
    tsri_cpu_elementwise_portable(k);
}

/* Runs `what` for every set of this build that this machine can run. */
static void for_each_set(void (*what)(uint64_t *seed))
{
    make_portable(&portable);
    for (int level = TSRI_ISA_PORTABLE + 1; level < TSRI_ISA_COUNT; level++) {
        uint64_t seed = 20260100 + (uint64_t)level;
        make_portable(&table);
        if (!isa_sets_fill(&table, (tsri_isa)level)) continue;
        set_name = tsri_isa_name((tsri_isa)level);
        set_is_whole = level >= TSRI_ISA_AVX2;
        what(&seed);
    }
}

/* Ops ------------------------------------------------------------------------------------- */

static int operands_of(tsr_op_kind op)
{
    int n = -1;
    for (const char *s = tsr_op_get_info(op)->signature; *s; s++) n += *s == '{';
    return n;
}

static tsr_dtype result_dtype(tsr_op_kind op, tsr_dtype dtype)
{
    const char *signature = tsr_op_get_info(op)->signature;
    if (strstr(signature, "-> z{ bool")) return TSR_BOOL;
    return strstr(signature, "-> z{ real") ? tsr_dtype_real(dtype) : dtype;
}

/* How many patterns a function may be from the portable one: both are as near the true value as its row says.
 */
static int64_t allowance(tsr_op_kind op, tsr_dtype dtype)
{
    const double *errors = elementwise_find(op)->facts.errors;
    if (dtype == TSR_C64 || dtype == TSR_C128)
        return 2 * (int64_t)errors[dtype == TSR_C64 ? ERRORS_C64 : ERRORS_C128];
    if (dtype == TSR_F64) return errors[ERRORS_F64] > 0.5 ? (int64_t)(2 * errors[ERRORS_F64]) + 1 : 0;
    return errors[dtype == TSR_F32 ? ERRORS_F32 : ERRORS_SHORT] > 0.5;
}

static bool is_float(tsr_dtype d) { return d == TSR_F16 || d == TSR_BF16 || d == TSR_F32 || d == TSR_F64; }

/* The place of a pattern among all, in order of value; INT64_MAX for NaN. */
static int64_t place_of(tsr_dtype d, const char *p)
{
    const int bits = (int)tsr_dtype_size(d) * 8;
    uint64_t u = 0;
    memcpy(&u, p, tsr_dtype_size(d));
    const uint64_t sign = (uint64_t)1 << (bits - 1), magnitude = u & (sign - 1);
    const uint64_t infinity = d == TSR_F16 ? 0x7c00 : d == TSR_BF16 ? 0x7f80
                            : d == TSR_F32 ? 0x7f800000 : 0x7ff0000000000000;
    if (magnitude > infinity) return INT64_MAX;
    return u & sign ? -(int64_t)magnitude : (int64_t)magnitude;
}

static bool is_near(tsr_dtype d, const char *got, const char *want, int64_t most)
{
    if (!memcmp(got, want, tsr_dtype_size(d))) return true;
    if (tsr_dtype_kind(d) == TSR_COMPLEX) {
        const tsr_dtype part = tsr_dtype_real(d);
        const size_t size = tsr_dtype_size(part);
        return is_near(part, got, want, most) && is_near(part, got + size, want + size, most);
    }
    if (!is_float(d)) return false;
    const int64_t g = place_of(d, got), w = place_of(d, want);
    if (g == INT64_MAX || w == INT64_MAX) return g == w;
    if (g == 0 && w == 0) return false;  /* zeros of two signs */
    return (g > w ? g - w : w - g) <= most;
}

/* Values ---------------------------------------------------------------------------------- */

static double some_number(uint64_t *seed)
{
    static const double few[] = { 0.0, -0.0, 1,        -1,        0.5, -0.5,  2,   -3,
                                  100, -100, INFINITY, -INFINITY, NAN, 1e-30, 3e38 };
    if (test_below(seed, 3) == 0) return few[test_below(seed, 15)];
    const double size = ldexp(1, (int)test_below(seed, 24) - 12);
    return ((double)test_below(seed, 2000001) / 1e6 - 1) * size;
}

static void random_element(uint64_t *seed, tsr_dtype d, char *p)
{
    const uint64_t bits = test_next(seed);
    if (is_float(d) && test_below(seed, 4) != 0)
        EXPECT_OK(tsr_scalar_store(p, d, tsr_scalar_f64(some_number(seed))));
    else memcpy(p, &bits, tsr_dtype_size(d) < 8 ? tsr_dtype_size(d) : 8);
    if (d == TSR_BOOL && test_below(seed, 2)) *p = 0;
}

/* Tiles ----------------------------------------------------------------------------------- */

enum { BYTES = 1 << 16, LEAD = 256 };

static _Alignas(64) char memory[TSRI_MAX_OPERANDS][BYTES], wanted[BYTES];

typedef struct tile_case {
    tsr_op_kind op;
    tsr_dtype   dtype;                       /* of the operands */
    int         nin;
    tsr_dtype   operand[TSRI_MAX_OPERANDS];  /* the result's first */
    tsri_tile   tile;
} tile_case;

static tile_case make_case(tsr_op_kind op, tsr_dtype dtype, int64_t rows, int64_t cols)
{
    tile_case c = { .op = op, .dtype = dtype, .nin = operands_of(op) };
    c.operand[0] = result_dtype(op, dtype);
    for (int i = 1; i <= c.nin; i++) c.operand[i] = op == TSR_OP_WHERE && i == 1 ? TSR_BOOL : dtype;
    c.tile.rows = rows;
    c.tile.cols = cols;
    return c;
}

/* Rows with a gap; operand i of `repeats` (a bit each) is one element in each row. */
static void lay_out(tile_case *c, int64_t offset, unsigned repeats)
{
    for (int i = 0; i <= c->nin; i++) {
        const int64_t size = (int64_t)tsr_dtype_size(c->operand[i]);
        c->tile.ptr[i] = memory[i] + LEAD + offset * size;
        c->tile.col_step[i] = repeats >> i & 1 ? 0 : size;
        c->tile.row_step[i] = (c->tile.cols + 5) * size;
    }
}

/* What a tile that is laid out reads, and all before it. */
static void fill_operands(uint64_t *seed, const tile_case *c)
{
    const tsri_tile *t = &c->tile;
    for (int i = 1; i <= c->nin; i++) {
        const int64_t size = (int64_t)tsr_dtype_size(c->operand[i]);
        const int64_t last =
            t->row_step[i] * (t->rows - 1) + (t->col_step[i] > 0 ? t->col_step[i] * (t->cols - 1) : 0);
        for (char *p = memory[i] + LEAD; p <= t->ptr[i] + last; p += size)
            random_element(seed, c->operand[i], p);
    }
}

/* One call each; the table's result, byte by byte where there is nothing to be near to. */
static void expect_same(const tile_case *c, tsri_tile_fn got, const void *got_params, tsri_tile_fn want)
{
    static const tsr_pair_params params = { 0.75, 2 };
    const tsr_dtype d = c->operand[0];
    const int64_t size = (int64_t)tsr_dtype_size(d), first = c->tile.ptr[0] - memory[0];
    tsri_tile t = c->tile;
    memset(memory[0], 0x5a, BYTES);
    memset(wanted, 0x5a, BYTES);
    got(&t, got_params ? got_params : &params);
    t.ptr[0] = wanted + first;
    t.stream = false;
    want(&t, &params);
    for (int64_t r = 0; r < t.rows; r++)
        for (int64_t i = 0; i < t.cols; i++) {
            const int64_t at = first + r * t.row_step[0] + i * t.col_step[0];
            const bool near = is_near(d, memory[0] + at, wanted + at, allowance(c->op, c->dtype));
            EXPECT_MSG(near, "%s %s %s, %lld x %lld, row %lld, element %lld", set_name,
                       tsr_op_get_info(c->op)->name, tsr_dtype_name(c->dtype), (long long)t.rows,
                       (long long)t.cols, (long long)r, (long long)i);
            memcpy(wanted + at, memory[0] + at, (size_t)size);
        }
    EXPECT_MSG(!memcmp(memory[0], wanted, BYTES), "%s %s %s wrote beside its result", set_name,
               tsr_op_get_info(c->op)->name, tsr_dtype_name(c->dtype));
}

/* Every kernel that the set has overwritten; swiglu is with those of networks. */
static void for_each_kernel(uint64_t *seed, void (*what)(uint64_t *seed, tsr_op_kind op, tsr_dtype dtype))
{
    int found = 0;
    for (int op = 1; op < TSR_OP_COUNT; op++)
        for (int d = 1; d < TSR_DTYPE_COUNT; d++) {
            const tsri_tile_fn own = table.elementwise[op][d], plain = portable.elementwise[op][d];
            if (!plain || own == plain) continue;
            what(seed, (tsr_op_kind)op, (tsr_dtype)d);
            found++;
        }
    EXPECT_MSG(!set_is_whole || found > 300, "%s has only %d kernels", set_name, found);
}

static void tails_of(uint64_t *seed, tsr_op_kind op, tsr_dtype dtype)
{
    enum { MOST = 70, OFFSETS = 17 };
    tile_case c = make_case(op, dtype, 2, MOST);
    lay_out(&c, OFFSETS, 0);
    fill_operands(seed, &c);
    for (int64_t cols = 0; cols < MOST; cols++) {
        c.tile.cols = cols;
        lay_out(&c, test_below(seed, OFFSETS), cols % 3 ? 0 : (unsigned)test_below(seed, 8) << 1);
        expect_same(&c, table.elementwise[op][dtype], NULL, portable.elementwise[op][dtype]);
    }
}

static void tails(uint64_t *seed) { for_each_kernel(seed, tails_of); }

TEST(test_kernels_of_every_set_have_the_portable_results_for_every_tail_and_alignment)
{
    for_each_set(tails);
}

static void streams_of(uint64_t *seed, tsr_op_kind op, tsr_dtype dtype)
{
    enum { OFFSETS = 65 };
    tile_case c = make_case(op, dtype, 2, 1 + test_below(seed, 1500));
    lay_out(&c, OFFSETS, 0);
    fill_operands(seed, &c);
    for (int i = 0; i < 3; i++) {
        c.tile.stream = true;
        lay_out(&c, test_below(seed, OFFSETS), i ? 0 : (unsigned)test_below(seed, 8) << 1);
        expect_same(&c, table.elementwise[op][dtype], NULL, portable.elementwise[op][dtype]);
    }
}

static void streams(uint64_t *seed) { for_each_kernel(seed, streams_of); }

TEST(test_results_written_around_the_caches_are_the_same) { for_each_set(streams); }

/* Steps of any kind, with the result's elements apart from each other. */
static void lay_out_anyhow(uint64_t *seed, tile_case *c)
{
    for (int i = 0; i <= c->nin; i++) {
        const int64_t size = (int64_t)tsr_dtype_size(c->operand[i]);
        const int64_t gap = test_below(seed, 2) ? 1 : 1 + test_below(seed, 3);
        const bool transposed = test_below(seed, 2) != 0;
        c->tile.col_step[i] = size * gap * (transposed ? c->tile.rows : 1);
        c->tile.row_step[i] = size * gap * (transposed ? 1 : c->tile.cols);
        if (i > 0 && test_below(seed, 4) == 0) c->tile.col_step[i] = 0;
        if (i > 0 && test_below(seed, 6) == 0) c->tile.row_step[i] = 0;
        c->tile.ptr[i] = memory[i] + LEAD;
        if (test_below(seed, 4) == 0) {
            c->tile.ptr[i] += c->tile.col_step[i] * (c->tile.cols - 1);
            c->tile.col_step[i] = -c->tile.col_step[i];
        }
    }
}

static void stages_of(uint64_t *seed, tsr_op_kind op, tsr_dtype dtype)
{
    const int64_t limit = (BYTES - 2 * LEAD) / 3 / (int64_t)tsr_dtype_size(dtype);
    for (int i = 0; i < 6; i++) {
        const int64_t cols = 1 + test_below(seed, i % 2 ? 30 : 300), most = limit / cols;
        tile_case c = make_case(op, dtype, 1 + test_below(seed, most < 200 ? most : 200), cols);
        static const tsr_pair_params params = { 0.75, 2 };
        tsri_stage stage = { table.elementwise[op][dtype], &params, c.nin + 1, { 0 }, NULL };
        for (int o = 0; o <= c.nin; o++) stage.size[o] = (int64_t)tsr_dtype_size(c.operand[o]);
        lay_out_anyhow(seed, &c);
        fill_operands(seed, &c);
        c.tile.stream = test_below(seed, 2) != 0;
        expect_same(&c, tsri_stage_tile, &stage, portable.elementwise[op][dtype]);
    }
}

static void stages(uint64_t *seed) { for_each_kernel(seed, stages_of); }

TEST(test_tiles_of_any_steps_go_through_the_stage) { for_each_set(stages); }

/* Casts ----------------------------------------------------------------------------------- */

static void cast_by_wide(char *z, tsr_dtype to, const char *x, tsr_dtype from)
{
    tsr_c128 wide;
    portable.widen[from](&wide, x, 0, 1);
    portable.narrow[portable.wide[from]][to](z, 0, &wide, 1);
}

static void expect_cast(uint64_t *seed, tsr_dtype from, tsr_dtype to, int64_t cols, bool stream)
{
    const int64_t in = (int64_t)tsr_dtype_size(from), out = (int64_t)tsr_dtype_size(to);
    const int64_t step = cols % 5 == 4 ? 0 : in;
    char *x = memory[1] + test_below(seed, 9) * in, *z = memory[0] + LEAD + test_below(seed, 9) * out;
    for (int64_t i = 0; i < cols; i++) random_element(seed, from, x + i * in);
    memset(memory[0], 0x5a, BYTES);
    memset(wanted, 0x5a, BYTES);
    for (int64_t i = 0; i < cols; i++)
        cast_by_wide(wanted + (z - memory[0]) + i * out, to, x + i * step, from);
    table.cast[from][to](&(tsri_tile){ .stream = stream, .rows = 1, .cols = cols, .ptr = { z, x },
                                       .col_step = { out, step } }, NULL);
    EXPECT_MSG(!memcmp(memory[0], wanted, BYTES), "%s: %lld of %s to %s", set_name, (long long)cols,
               tsr_dtype_name(from), tsr_dtype_name(to));
}

static void casts(uint64_t *seed)
{
    int found = 0;
    for (int from = 1; from < TSR_DTYPE_COUNT; from++)
        for (int to = 1; to < TSR_DTYPE_COUNT; to++) {
            if (!table.cast[from][to]) continue;
            found++;
            for (int64_t cols = 0; cols < 70; cols++)
                expect_cast(seed, (tsr_dtype)from, (tsr_dtype)to, cols, false);
            for (int i = 0; i < 8; i++)
                expect_cast(seed, (tsr_dtype)from, (tsr_dtype)to, 1 + test_below(seed, 4000), i % 2 != 0);
        }
    EXPECT_MSG(!set_is_whole || found > 100, "%s has only %d casts", set_name, found);
}

TEST(test_direct_casts_have_the_bits_of_casts_through_a_wide_type) { for_each_set(casts); }

/* Functions ------------------------------------------------------------------------------- */

/* The distance of a float from the true value, in units of the true value's last place. */
static double units_off(float got, long double wide)
{
    const double want = (double)wide;
    const float near = (float)want;
    int e = 0;
    if (isnan(want)) return isnan(got) ? 0 : INFINITY;
    if (isinf(near) || isinf(got)) return near == got || fabs(want) > 3.4028235e38 ? 0 : INFINITY;
    if (want == 0) return got == 0 && !signbit(got) == !signbit(want) ? 0 : INFINITY;
    (void)frexp(want, &e);
    return (double)fabsl(got - wide) / ldexp(1, (e < -125 ? -125 : e) - 24);
}

static void expect_function(uint64_t *seed, const elementwise_op *op)
{
    enum { N = 1024 };
    static float x[N], z[N];
    const tsr_pair_params params = { op->facts.params[0], op->facts.params[1] };
    for (int block = 0; block < 60; block++) {
        const uint32_t start = (uint32_t)test_next(seed), step = 1 + (uint32_t)test_below(seed, 1 << 22);
        for (uint32_t i = 0; i < N; i++) {
            const uint32_t bits = start + i * step;
            memcpy(&x[i], &bits, sizeof bits);
        }
        table.elementwise[op->kind][TSR_F32](
            &(tsri_tile){ .rows = 1, .cols = N, .ptr = { (char *)z, (char *)x }, .col_step = { 4, 4 } },
            &params);
        for (int i = 0; i < N; i++) {
            const long double want =
                ew_real_function(op->kind, (const long double[]){ x[i] }, op->facts.params);
            EXPECT_MSG(units_off(z[i], want) <= op->facts.errors[ERRORS_F32], "%s: %s(%a) is %a, not %La",
                       set_name, op->name, (double)x[i], (double)z[i], want);
        }
    }
}

static void all_functions(uint64_t *seed)
{
    for (int i = 0; i < elementwise_count; i++)
        if (elementwise_ops[i].nin == 1 && elementwise_ops[i].facts.errors[ERRORS_F32] > 0.5)
            expect_function(seed, &elementwise_ops[i]);
}

TEST(test_functions_of_floats_are_within_their_bounds_for_any_pattern)
{
    for_each_set(all_functions);
}

/* What an op touches decides, not what it is. */
TEST(test_small_results_stay_in_the_caches)
{
    EXPECT(!tsri_cpu_streams(0) && !tsri_cpu_streams(1 << 20));
    EXPECT(tsri_cpu_streams((int64_t)1 << 32));
}

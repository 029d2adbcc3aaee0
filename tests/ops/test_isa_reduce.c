/* test_isa_reduce.c - kernels that accumulate and scan, of each instruction set, against the portable ones.
 *
 * A set is tried on top of the portable table, on machines that have its instructions; what it overwrites
 * is tried because it is in the table. Sums may differ by what rounding does to another order; everything
 * else, products too, must be the same number. States beyond those asked for must stay as they are.
 */
#include <math.h>

#include "core/half.h"
#include "isa_sets.h"
#include "test.h"

enum { MOST = 1 << 16, CASES = 250, SPARE = 3 };

static tsri_cpu_kernels portable, table;
static const char *set_name;
static _Alignas(64) char elements[MOST * 16], results[2][MOST * 16];

/* Runs `what` for every set of this build that this machine can run. */
static void for_each_set(void (*what)(uint64_t *seed))
{
    for (int level = TSRI_ISA_PORTABLE + 1; level < TSRI_ISA_COUNT; level++) {
        uint64_t seed = 20260200 + (uint64_t)level;
        tsri_cpu_reduce_portable(&portable);
        table = portable;
        if (!isa_sets_fill(&table, (tsri_isa)level)) continue;
        set_name = tsri_isa_name((tsri_isa)level);
        what(&seed);
    }
}

static int64_t below(uint64_t *seed, int64_t n) { return (int64_t)(test_next(seed) >> 33) % n; }

static double tame(uint64_t *seed, bool specials)
{
    static const double rare[] = { 0, -0.0, 1, -1, INFINITY, -INFINITY, NAN };
    if (below(seed, 12) == 0) return rare[below(seed, specials && below(seed, 20) == 0 ? 7 : 4)];
    return ldexp((double)(below(seed, 2000001) - 1000000), (int)below(seed, 12) - 22);
}

enum values { ANY, NEAR_ONE, BELOW_40, TAME };

static bool is_complex(tsr_dtype d) { return d == TSR_C64 || d == TSR_C128; }

/* n elements: floats that are tame, or any bits of integers, with many zeros and equal ones. */
static void fill(uint64_t *seed, tsr_dtype dtype, int64_t n, enum values values)
{
    if (is_complex(dtype)) n *= 2;
    if (is_complex(dtype)) dtype = dtype == TSR_C64 ? TSR_F32 : TSR_F64;
    const int64_t size = (int64_t)tsr_dtype_size(dtype);
    for (int64_t i = 0; i < n; i++) {
        const double v = values == ANY || values == TAME ? tame(seed, values == ANY)
                       : values == BELOW_40 ? 40 - (double)below(seed, 1 << 20) * 0x1p-13
                                            : 1 + (double)(below(seed, 200) - 100) * 0x1p-9;
        const float f = (float)v;
        const uint64_t bits = below(seed, 3) ? test_next(seed) >> below(seed, 64) : 0;
        const uint16_t half = tsri_f32_to_f16(f), brain = tsri_f32_to_bf16(f);
        memcpy(elements + i * size, dtype == TSR_F64 ? (const void *)&v : dtype == TSR_F32 ? (const void *)&f
               : dtype == TSR_F16 ? (const void *)&half : dtype == TSR_BF16 ? (const void *)&brain
               : (const void *)&bits, (size_t)size);
    }
}

/* Accumulating --------------------------------------------------------------------------------- */

static bool is_sum(tsri_acc_kind kind)
{
    return kind == TSRI_ACC_SUM || kind == TSRI_ACC_ABS_SUM || kind == TSRI_ACC_SQUARES ||
           kind == TSRI_ACC_DEVIATIONS || kind == TSRI_ACC_EXPS || kind == TSRI_ACC_PROD;
}

static bool is_float(tsr_dtype d)
{
    return d == TSR_F32 || d == TSR_F64 || d == TSR_F16 || d == TSR_BF16 || is_complex(d);
}

static bool same(double a, double b) { return a == b || (a != a && b != b); }

static bool is_near(double a, double b, double allowed)
{
    return same(a, b) || fabs(a - b) <= allowed;
}

static double states[3][4][TSRI_SIDE + SPARE];

static tsri_states states_at(int which)
{
    return (tsri_states){ .f = { states[which][0], states[which][1], states[which][2], states[which][3] } };
}

/* How states begin: nothing accumulated, or something already. */
static void begin(uint64_t *seed, tsri_acc_kind kind, bool whole)
{
    tsri_states g = states_at(0), k = states_at(2);
    const bool found = below(seed, 2), choose = kind == TSRI_ACC_LARGEST || kind == TSRI_ACC_FIND;
    for (int64_t j = 0; j < TSRI_SIDE + SPARE; j++) {
        const double v = found ? ldexp((double)(below(seed, 2001) - 1000), -6) : choose ? -INFINITY : 0;
        for (int slot = 0; slot < 4; slot++) g.f[slot][j] = 0;
        if (whole) g.i[0][j] = found ? below(seed, 100) : choose ? INT64_MIN : kind == TSRI_ACC_PROD;
        else       g.f[0][j] = kind == TSRI_ACC_PROD && !found ? 1 : v;
        if (kind == TSRI_ACC_NONZERO) g.i[0][j] = 5;
        if (kind == TSRI_ACC_FIND) g.i[1][j] = found ? 0 : -1;
        k.f[0][j] = kind == TSRI_ACC_EXPS ? 40 : kind == TSRI_ACC_SQUARES ? 0.5 : v;
        k.f[1][j] = kind == TSRI_ACC_DEVIATIONS ? 0x1p-60 : 0;
    }
    memcpy(states[1], states[0], sizeof states[0]);
}

static double finite_size(double x) { return isfinite(x) ? fabs(x) : 0; }

/* The size of the number at p; of a complex one, of its finite parts. */
static double size_at(tsr_dtype dtype, const char *p)
{
    const double *wide = (const double *)(const void *)p;
    const float *parts = (const float *)(const void *)p;
    switch (dtype) {
    case TSR_F64:  return fabs(wide[0]);
    case TSR_C128: return finite_size(wide[0]) + finite_size(wide[1]);
    case TSR_F32:  return fabs((double)parts[0]);
    case TSR_C64:  return finite_size((double)parts[0]) + finite_size((double)parts[1]);
    case TSR_F16:  return fabs((double)tsri_f16_to_f32(*(const uint16_t *)(const void *)p));
    default:       return fabs((double)tsri_bf16_to_f32(*(const uint16_t *)(const void *)p));
    }
}

/* The sum of the sizes of what is added up for output j. */
static double scale_of(const tsri_strip *s, tsri_acc_kind kind, tsr_dtype dtype, int64_t j)
{
    const int64_t size = (int64_t)tsr_dtype_size(dtype);
    double all = 1;
    for (int64_t i = 0; i < s->n; i++) {
        const char *p = s->by_runs ? s->x + j * s->across + i * size : s->x + i * s->step + j * size;
        const double v = size_at(dtype, p), d = v + fabs(states[2][0][j]);
        all += kind == TSRI_ACC_SUM || kind == TSRI_ACC_ABS_SUM ? v
             : kind == TSRI_ACC_EXPS ? exp(v - states[2][0][j]) : d * d;
    }
    return isfinite(all) ? all : 0;
}

static void expect_same_states(const tsri_strip *s, tsri_acc_kind kind, tsr_dtype dtype)
{
    const tsri_states a = states_at(0), b = states_at(1);
    const double unit = kind == TSRI_ACC_EXPS && dtype == TSR_F32 ? 0x1p-33 : 0x1p-47;
    for (int64_t j = 0; j < TSRI_SIDE + SPARE; j++) {
        bool right = true;
        if (!is_float(dtype) || kind == TSRI_ACC_NONZERO) right = a.i[0][j] == b.i[0][j];
        else if (kind == TSRI_ACC_LARGEST)
            right = same(a.f[1][j], b.f[1][j]) && (a.f[0][j] == b.f[0][j] || b.f[1][j] != 0);
        else if (!is_sum(kind)) right = same(a.f[0][j], b.f[0][j]);
        else if (j >= s->width) right = same(a.f[0][j], b.f[0][j]);
        else if (kind == TSRI_ACC_PROD)
            right = same(a.f[0][j], b.f[0][j]) &&
                    (a.f[0][j] - a.f[0][j] != 0 || a.f[0][j] == 0 || a.f[1][j] == b.f[1][j]);
        else right = is_near(tsri_with_error(a.f[0][j], a.f[1][j]), tsri_with_error(b.f[0][j], b.f[1][j]),
                             unit * scale_of(s, kind, dtype, j));
        if (kind == TSRI_ACC_SUM && is_complex(dtype) && j < s->width)
            right &= is_near(tsri_with_error(a.f[2][j], a.f[3][j]), tsri_with_error(b.f[2][j], b.f[3][j]),
                             unit * scale_of(s, kind, dtype, j));
        if (kind == TSRI_ACC_PROD && is_complex(dtype)) right &= same(a.f[2][j], b.f[2][j]);
        if (kind == TSRI_ACC_FIND) right &= a.i[1][j] == b.i[1][j];
        EXPECT_MSG(right, "%s, kind %d of %s, %s, n %lld, width %lld: output %lld is %.17g, not %.17g",
                   set_name, (int)kind, tsr_dtype_name(dtype), s->by_runs ? "runs" : "rows", (long long)s->n,
                   (long long)s->width, (long long)j, b.f[0][j], a.f[0][j]);
        if (!right) return;
    }
}

/* Short floats have no portable kernels: f32 is what they are compared with. */
static tsri_accumulate_fn wanted(tsri_acc_kind kind, tsr_dtype dtype, tsri_strip *s, int64_t extent)
{
    static float wide[MOST];
    if (portable.accumulate[kind][dtype]) return portable.accumulate[kind][dtype];
    for (int64_t i = 0; i < extent; i++) {
        const uint16_t bits = ((const uint16_t *)(const void *)elements)[i];
        wide[i] = dtype == TSR_F16 ? tsri_f16_to_f32(bits) : tsri_bf16_to_f32(bits);
    }
    s->x = (const char *)wide + (s->x - elements) * 2;
    s->step *= 2;
    s->across *= 2;
    return portable.accumulate[kind][TSR_F32];
}

static void one_accumulation(uint64_t *seed, tsri_acc_kind kind, tsr_dtype dtype)
{
    static const int64_t lengths[] = { 1, 3, 8, 16, 31, 64, 65, 257, 700, 8000 };
    const int64_t size = (int64_t)tsr_dtype_size(dtype), top = 8 * size - 1;
    const tsr_kind class = tsr_dtype_kind(dtype);
    tsri_strip s = { .by_runs = below(seed, 2), .at = below(seed, 1000), .least = below(seed, 2) };
    s.n = 1 + below(seed, lengths[below(seed, 10)]);
    s.width = s.by_runs ? 1 + below(seed, MOST / 8 / s.n < 40 ? MOST / 8 / s.n : 40)
                     : 1 + below(seed, MOST / 8 / s.n < TSRI_SIDE ? MOST / 8 / s.n : TSRI_SIDE);
    s.size = kind == TSRI_ACC_LARGEST && below(seed, 2);
    s.across = (s.n + below(seed, 3)) * size;
    s.step = (s.width + below(seed, 3)) * size;
    s.flip = class == TSR_UNSIGNED || class == TSR_BOOLEAN ? (uint64_t)1 << top : 0;
    if ((kind == TSRI_ACC_LARGEST || kind == TSRI_ACC_FIND) && s.least) s.flip = ~s.flip;
    s.x = elements + below(seed, 5) * size;
    const int64_t extent = 8 + (s.by_runs ? s.width * s.across : s.n * s.step) / size;
    fill(seed, dtype, extent,
         kind == TSRI_ACC_PROD && below(seed, 2) ? NEAR_ONE
         : kind == TSRI_ACC_EXPS                 ? BELOW_40
                                                 : ANY);
    begin(seed, kind, !is_float(dtype));
    tsri_strip same_strip = s;
    tsri_states a = states_at(0), b = states_at(1), k = states_at(2);
    wanted(kind, dtype, &same_strip, extent)(&a, &same_strip, &k);
    table.accumulate[kind][dtype](&b, &s, &k);
    expect_same_states(&s, kind, dtype);
}

static void accumulate_all(uint64_t *seed)
{
    int tried = 0;
    for (int kind = 0; kind < TSRI_ACC_FINALISE; kind++)
        for (int dtype = 1; dtype < TSR_DTYPE_COUNT; dtype++) {
            if (table.accumulate[kind][dtype] == portable.accumulate[kind][dtype]) continue;
            for (int i = 0; i < CASES; i++) one_accumulation(seed, (tsri_acc_kind)kind, (tsr_dtype)dtype);
            tried++;
        }
    EXPECT(tried >= 40);
}

TEST(test_every_sets_kernels_accumulate_what_the_portable_ones_do)
{
    for_each_set(accumulate_all);
}

/* What came together for column c in states that are `period` apart; *scale is the sum of sizes. */
static double united(int which, const tsri_strip *s, tsri_acc_kind kind, tsr_dtype dtype, int64_t c,
                     double *scale)
{
    const tsri_states g = states_at(which);
    double sum = 0, most = -INFINITY;
    bool nan = false;
    for (int64_t j = c; j < s->width; j += s->period) {
        sum += tsri_with_error(g.f[0][j], g.f[1][j]);
        most = g.f[0][j] > most ? g.f[0][j] : most;
        nan |= g.f[1][j] != 0;
        *scale += kind == TSRI_ACC_LARGEST ? 0 : 16 + scale_of(s, kind, dtype, j);
    }
    return kind != TSRI_ACC_LARGEST ? sum : nan ? (double)NAN : most;
}

/* Rows that run on, of columns that repeat: elements may be taken into any of a column's states. */
static void one_repeating(uint64_t *seed, tsri_acc_kind kind, tsr_dtype dtype)
{
    const int64_t size = (int64_t)tsr_dtype_size(dtype), period = (int64_t)1 << below(seed, 5);
    tsri_strip s = { .period = period, .at = below(seed, 1000), .least = below(seed, 2) };
    s.width = period * (1 + below(seed, 256 / period));
    s.n = 1 + below(seed, MOST / s.width);
    s.step = s.width * size;
    s.x = elements + below(seed, 5) * size;
    fill(seed, dtype, 8 + s.n * s.width, kind == TSRI_ACC_EXPS ? BELOW_40 : ANY);
    begin(seed, kind, false);
    for (int64_t j = period; j < s.width; j++) states[2][0][j] = states[2][0][j % period];
    tsri_states a = states_at(0), b = states_at(1), k = states_at(2);
    portable.accumulate[kind][dtype](&a, &s, &k);
    table.accumulate[kind][dtype](&b, &s, &k);
    for (int64_t c = 0; c < period; c++) {
        const double unit = kind == TSRI_ACC_EXPS && dtype == TSR_F32 ? 0x1p-33 : 0x1p-47;
        double scale = 0, unused = 0;
        const double want = united(0, &s, kind, dtype, c, &scale),
                     got = united(1, &s, kind, dtype, c, &unused);
        EXPECT_MSG(is_near(want, got, unit * scale),
                   "%s, kind %d of %s, n %lld, width %lld: column %lld of %lld is "
                   "%.17g, not %.17g",
                   set_name, (int)kind, tsr_dtype_name(dtype), (long long)s.n, (long long)s.width,
                   (long long)c, (long long)period, got, want);
    }
}

static void repeating_all(uint64_t *seed)
{
    static const tsri_acc_kind kinds[] = { TSRI_ACC_SUM, TSRI_ACC_ABS_SUM, TSRI_ACC_SQUARES,
                                          TSRI_ACC_DEVIATIONS, TSRI_ACC_EXPS, TSRI_ACC_LARGEST };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int j = 0; j < CASES / 5; j++) {
            one_repeating(seed, kinds[i], TSR_F32);
            one_repeating(seed, kinds[i], TSR_F64);
        }
}

TEST(test_every_set_accumulates_columns_that_repeat) { for_each_set(repeating_all); }

/* Long runs ---------------------------------------------------------------------------------- */

static void put_number(int64_t i, tsr_dtype dtype, double v)
{
    if (dtype == TSR_F64) ((double *)(void *)elements)[i] = v;
    else                  ((float *)(void *)elements)[i] = (float)v;
}

/* The largest and the least at a few places of n elements, often in the same lane of vectors, or at the
 * ends; now and then a NaN, or nothing else. */
static void plant(uint64_t *seed, tsr_dtype dtype, int64_t first, int64_t n)
{
    const int kind = (int)below(seed, 12);
    for (int64_t i = 0; i < n && kind < 2; i++) put_number(first + i, dtype, kind ? -(double)INFINITY : 3);
    const int64_t lane = below(seed, 64);
    for (int64_t i = below(seed, 6); kind < 10 && i > 0; i--) {
        const int64_t any = below(seed, 3) ? below(seed, n / 64) * 64 + lane : below(seed, 200);
        put_number(first + (below(seed, 4) ? any : n - 1 - below(seed, 200)), dtype,
                   below(seed, 3) ? 1000 : -1000);
    }
    if (kind == 11) put_number(first + below(seed, n), dtype, (double)NAN);
}

static void one_long(uint64_t *seed, tsri_acc_kind kind, tsr_dtype dtype)
{
    const int64_t size = (int64_t)tsr_dtype_size(dtype), bytes = (100 << 10) + below(seed, 200 << 10);
    const int64_t first = below(seed, 5);
    const bool chosen = kind == TSRI_ACC_LARGEST || kind == TSRI_ACC_FIND;
    tsri_strip s = {
        .by_runs = true, .at = below(seed, 1000), .n = bytes / size, .width = 1, .least = below(seed, 2)
    };
    if (s.n + 8 > MOST && dtype != TSR_I8) s.n = MOST - 8;
    s.x = elements + first * size;
    s.across = s.n * size;
    fill(seed, dtype, 8 + s.n, kind == TSRI_ACC_EXPS ? BELOW_40 : TAME);
    if (chosen && is_float(dtype)) plant(seed, dtype, first, s.n);
    begin(seed, kind, !is_float(dtype));
    tsri_strip same_strip = s;
    tsri_states a = states_at(0), b = states_at(1), k = states_at(2);
    wanted(kind, dtype, &same_strip, 8 + s.n)(&a, &same_strip, &k);
    table.accumulate[kind][dtype](&b, &s, &k);
    expect_same_states(&s, kind, dtype);
}

/* Which of column c's elements is the one that was found, in the order of rows. */
static int64_t found_in(int which, const tsri_strip *s, int64_t c)
{
    const tsri_states g = states_at(which);
    int64_t place = -1;
    double best = 0;
    for (int64_t j = c; j < s->width; j += s->period) {
        const double v = g.f[0][j];
        const int64_t at = (g.i[1][j] - s->at) * (s->width / s->period) + j / s->period;
        if (g.i[1][j] < 0) continue;
        const bool earlier = at < place && same(v, best);
        if (place >= 0 && !earlier && !(v > best) && !(v != v && best == best)) continue;
        best = v;
        place = at;
    }
    return place;
}

/* Elements of long columns that repeat may be found in any of a column's states. */
static void one_found(uint64_t *seed, tsr_dtype dtype)
{
    const int64_t size = (int64_t)tsr_dtype_size(dtype), period = (int64_t)1 << below(seed, 5),
                  first = below(seed, 5);
    tsri_strip s = { .period = period, .at = below(seed, 1000), .least = below(seed, 2) };
    s.width = period * (1 + below(seed, 256 / period));
    s.n = (MOST - 16) / s.width - below(seed, 20);
    s.step = s.width * size;
    s.x = elements + first * size;
    fill(seed, dtype, 8 + s.n * s.width, TAME);
    for (int64_t i = below(seed, 6); i >= 0; i--) plant(seed, dtype, first, s.n * s.width);
    tsri_states a = states_at(0), b = states_at(1);
    for (int64_t j = 0; j < TSRI_SIDE + SPARE; j++) {
        a.f[0][j] = b.f[0][j] = -(double)INFINITY;
        a.i[1][j] = b.i[1][j] = -1;
    }
    portable.accumulate[TSRI_ACC_FIND][dtype](&a, &s, NULL);
    table.accumulate[TSRI_ACC_FIND][dtype](&b, &s, NULL);
    for (int64_t c = 0; c < period; c++)
        EXPECT_MSG(found_in(0, &s, c) == found_in(1, &s, c),
                   "%s, %s, n %lld, width %lld: column %lld of %lld is at "
                   "%lld, not %lld",
                   set_name, tsr_dtype_name(dtype), (long long)s.n, (long long)s.width, (long long)c,
                   (long long)period, (long long)found_in(1, &s, c), (long long)found_in(0, &s, c));
}

static void long_all(uint64_t *seed)
{
    for (int kind = 0; kind < TSRI_ACC_FINALISE; kind++)
        for (int dtype = 1; dtype < TSR_DTYPE_COUNT; dtype++) {
            const bool tried = (is_float((tsr_dtype)dtype) || dtype == TSR_I8) && kind != TSRI_ACC_PROD &&
                               table.accumulate[kind][dtype] != portable.accumulate[kind][dtype];
            for (int i = 0; i < (kind == TSRI_ACC_FIND ? 50 : 5) && tried; i++)
                one_long(seed, (tsri_acc_kind)kind, (tsr_dtype)dtype);
        }
    for (int i = 0; i < 40; i++) one_found(seed, i % 2 ? TSR_F32 : TSR_F64);
}

TEST(test_every_set_reads_long_runs_at_several_places) { for_each_set(long_all); }

/* Runs that are read in twos come to the same bits as each alone. */
static void one_pair(uint64_t *seed, tsri_acc_kind kind, tsr_dtype dtype)
{
    const int64_t size = (int64_t)tsr_dtype_size(dtype);
    tsri_strip s = { .n = 300 + below(seed, 9000), .width = 3, .by_runs = true };
    s.across = (s.n + below(seed, 20)) * size;
    s.x = elements + below(seed, 5) * size;
    fill(seed, dtype, 8 + s.width * s.across / size, ANY);
    begin(seed, kind, false);
    tsri_states a = states_at(0), b = states_at(1);
    table.accumulate[kind][dtype](&b, &s, NULL);
    for (int64_t j = 0; j < s.width; j++) {
        const tsri_strip one = { .x = s.x + j * s.across, .n = s.n, .width = 1, .by_runs = true };
        tsri_states own = { .f = { a.f[0] + j, a.f[1] + j, a.f[2] + j, a.f[3] + j } };
        table.accumulate[kind][dtype](&own, &one, NULL);
        const bool right = kind == TSRI_ACC_FIND ? a.i[1][j] == b.i[1][j] : same(a.f[1][j], b.f[1][j]);
        EXPECT_MSG(right && same(a.f[0][j], b.f[0][j]), "%s, kind %d of %s, run %lld of %lld", set_name,
                   (int)kind, tsr_dtype_name(dtype), (long long)j, (long long)s.n);
    }
}

static void pairs_all(uint64_t *seed)
{
    static const tsr_dtype dtypes[] = { TSR_F32, TSR_F64, TSR_F16, TSR_BF16 };
    for (int d = 0; d < 4; d++)
        for (int i = 0; i < CASES / 5; i++) {
            one_pair(seed, TSRI_ACC_SUM, dtypes[d]);
            if (d < 2) one_pair(seed, TSRI_ACC_LARGEST, dtypes[d]);
            if (d < 2) one_pair(seed, TSRI_ACC_FIND, dtypes[d]);
        }
}

TEST(test_a_run_comes_to_the_same_beside_another) { for_each_set(pairs_all); }

static void finalise_all(uint64_t *seed)
{
    for (int i = 0; i < CASES; i++) {
        const tsri_strip s = { .width = 1 + below(seed, 40), .size = i % 2, .least = below(seed, 2) };
        tsri_states a = states_at(0), b = states_at(1);
        for (int64_t j = 0; j < TSRI_SIDE; j++) {
            states[0][0][j] = tame(seed, true);
            states[0][1][j] = below(seed, 3) ? 0 : tame(seed, true);
        }
        memcpy(states[1], states[0], sizeof states[0]);
        portable.accumulate[TSRI_ACC_FINALISE][TSR_F64](&a, &s, NULL);
        table.accumulate[TSRI_ACC_FINALISE][TSR_F64](&b, &s, NULL);
        for (int64_t j = 0; j < TSRI_SIDE; j++) EXPECT(same(states[0][0][j], states[1][0][j]));
    }
}

TEST(test_every_set_finalises_totals_and_extremes_alike) { for_each_set(finalise_all); }

/* Few elements --------------------------------------------------------------------------------- */

static double number_at(const char *p, tsr_dtype dtype)
{
    return dtype == TSR_F64 ? *(const double *)(const void *)p : (double)*(const float *)(const void *)p;
}

/* What output j comes to; *scale is the sum of sizes. */
static double short_result(const tsri_short_reduction *f, tsri_acc_kind kind, tsr_dtype dtype, int64_t j,
                         double *scale)
{
    double sum = 0, best = number_at(f->x + j * f->across, dtype);
    int64_t place = 0;
    *scale = 0;
    for (int64_t i = 0; i < f->n; i++) {
        const double v = number_at(f->x + j * f->across + i * f->step, dtype);
        sum += v;
        *scale += isfinite(v) ? fabs(v) : 0;
        if (v == best && (signbit(v) != 0) == f->least) best = v;  /* of zeros */
        if (!(f->least ? v < best : v > best) && !(v != v && best == best)) continue;
        best = v;
        place = i;
    }
    return kind == TSRI_ACC_SUM ? sum * f->times / f->over : kind == TSRI_ACC_FIND ? (double)place : best;
}

/* Columns or runs, which may lie apart or run backwards. */
static void one_short(uint64_t *seed, tsri_acc_kind kind, tsr_dtype dtype)
{
    const int64_t size = (int64_t)tsr_dtype_size(dtype), given = kind == TSRI_ACC_FIND ? 8 : size;
    const bool columns = below(seed, 2);
    tsri_short_reduction f = { .n = 1 + below(seed, columns ? TSRI_SHORT_COLUMN : TSRI_SHORT_RUN - 1),
                               .least = below(seed, 2),
                               .times = 1,
                               .over = 1 };
    if (!columns && below(seed, 4) == 0) f.n = (int64_t)2 << below(seed, 3);
    const int64_t most = MOST / f.n - 8;
    f.width = 1 + below(seed, below(seed, 3) ? 70 : most);
    f.step = columns ? (f.width + 2 + below(seed, 3)) * size : size;
    f.across = columns ? size : (f.n + below(seed, 3)) * size;
    const int64_t extent = 8 + f.n + f.width * (f.across / size) + (columns ? f.n * f.step / size : 0);
    if (below(seed, 2)) f.times = 0.5;
    else                f.over = 3;
    fill(seed, dtype, extent < MOST * 2 ? extent : MOST * 2, ANY);
    f.x = elements + below(seed, 5) * size;
    if (!columns && below(seed, 3) == 0) {
        f.x += (f.width - 1) * f.across;
        f.across = -f.across;
    }
    f.z = results[0] + below(seed, 3) * given;
    memset(results[0], 77, (size_t)((f.width + 8) * given));
    if (!table.reduce_short[kind][dtype](&f)) {
        EXPECT(results[0][0] == 77 && f.z[0] == 77);
        return;
    }
    for (int64_t j = 0; j < f.width; j++) {
        double scale;
        const double want = short_result(&f, kind, dtype, j, &scale);
        const double got = given == size && kind != TSRI_ACC_FIND ? number_at(f.z + j * size, dtype)
                                                                      : (double)((int64_t *)(void *)f.z)[j];
        const double allowed =
            kind == TSRI_ACC_SUM ? scale * 0x1p-48 + fabs(want) * (dtype == TSR_F32 ? 0x1p-24 : 0) : 0;
        EXPECT_MSG(is_near(want, got, allowed) && (kind != TSRI_ACC_LARGEST || got != got ||
                                                   (signbit(want) != 0) == (signbit(got) != 0)),
                   "%s, short reduction of kind %d of %s, %s, n %lld, width %lld: %lld is %.17g, not %.17g",
                   set_name, (int)kind, tsr_dtype_name(dtype), columns ? "columns" : "runs", (long long)f.n,
                   (long long)f.width, (long long)j, got, want);
    }
    EXPECT(f.z[-1] == 77 || f.z == results[0]);
    EXPECT(f.z[f.width * given] == 77);
}

static void short_all(uint64_t *seed)
{
    static const tsr_dtype dtypes[] = { TSR_F32, TSR_F64 };
    for (int kind = 0; kind <= TSRI_ACC_FIND; kind++)
        for (int d = 0; d < 2; d++)
            for (int i = 0; i < CASES && table.reduce_short[kind][dtypes[d]]; i++)
                one_short(seed, (tsri_acc_kind)kind, dtypes[d]);
}

TEST(test_every_sets_kernels_for_few_elements_give_what_plain_loops_do) { for_each_set(short_all); }

/* Integers, whose bits are compared as numbers of 64 bits. */
static int64_t whole_at(const char *p, int64_t size, bool is_signed)
{
    uint64_t bits = 0;
    memcpy(&bits, p, (size_t)size);
    const int unused = 64 - 8 * (int)size;
    return is_signed ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
}

static int64_t short_integer(const tsri_short_reduction *f, tsri_acc_kind kind, tsr_dtype dtype, int64_t j)
{
    const int64_t size = (int64_t)tsr_dtype_size(dtype);
    const bool is_signed = tsr_dtype_kind(dtype) == TSR_SIGNED;
    int64_t best = whole_at(f->x + j * f->across, size, is_signed), set = 0;
    for (int64_t i = 0; i < f->n; i++) {
        const int64_t v = whole_at(f->x + j * f->across + i * f->step, size, is_signed);
        const bool above = is_signed ? v > best : (uint64_t)v > (uint64_t)best;
        set += v != 0;
        if (v != best && above != f->least) best = v;
    }
    return kind == TSRI_ACC_LARGEST ? best : f->least ? set == f->n : set > 0;
}

/* Columns may be longer than those of numbers whose order counts, and so many that they are taken in blocks;
 * runs may lie apart or in reverse. The bytes around them would change the results. */
static void one_whole(uint64_t *seed, tsri_acc_kind kind, tsr_dtype dtype)
{
    const int64_t size = (int64_t)tsr_dtype_size(dtype), given = kind == TSRI_ACC_LARGEST ? size : 1;
    const bool columns = kind == TSRI_ACC_LARGEST || below(seed, 2), least = below(seed, 2);
    const int64_t longest = below(seed, 3) ? TSRI_SHORT_COLUMN : columns ? 100 : TSRI_SHORT_RUN - 2;
    tsri_short_reduction f = { .n = 2 + below(seed, longest - 1), .least = least, .times = 1, .over = 1 };
    f.width = 1 + below(seed, below(seed, 8) ? 99 : MOST * 8 / (f.n * size) - 3);
    f.step = columns ? (f.width + below(seed, 3)) * size + (f.width == 1) * size : size;
    f.across = columns ? size : (f.n + below(seed, 3)) * size;
    const int64_t bytes = columns ? f.n * f.step : f.width * f.across, rare = below(seed, 2) ? 8 : 200;
    memset(elements, least ? 0 : 1, (size_t)(bytes + 256));
    for (int64_t i = 0; i < bytes; i++)
        elements[64 + i] = (char)((below(seed, rare) ? 0 : below(seed, 256)) ^ least);
    f.x = elements + 64;
    if (!columns && below(seed, 3) == 0) {
        f.x += (f.width - 1) * f.across;
        f.across = -f.across;
    }
    f.z = results[0];
    memset(results[0], 77, (size_t)((f.width + 8) * given));
    EXPECT(table.reduce_short[kind][dtype](&f));
    for (int64_t j = 0; j < f.width; j++)
        EXPECT(whole_at(f.z + j * given, given, tsr_dtype_kind(dtype) == TSR_SIGNED && given == size) ==
               short_integer(&f, kind, dtype, j));
    EXPECT(f.z[f.width * given] == 77);
}

/* NaN if there is one; of zeros the largest is +0 and the least -0. */
static float half_result(const tsri_short_reduction *f, tsr_dtype dtype, int64_t j)
{
    float best = NAN;
    for (int64_t i = 0; i < f->n; i++) {
        const uint16_t bits = *(const uint16_t *)(const void *)(f->x + j * f->across + i * f->step);
        const float v = dtype == TSR_F16 ? tsri_f16_to_f32(bits) : tsri_bf16_to_f32(bits);
        const bool sets = v == best && (signbit(v) != 0) == f->least;
        if (v != v) return NAN;
        if (i == 0 || sets || (f->least ? v < best : v > best)) best = v;
    }
    return best;
}

static void one_half(uint64_t *seed, tsr_dtype dtype)
{
    tsri_short_reduction f = { .x = elements, .z = results[0], .n = 2 + below(seed, below(seed, 2) ? 10 : 60),
                               .across = 2, .width = 1 + below(seed, 300), .least = below(seed, 2) };
    uint16_t *x = (uint16_t *)(void *)elements;
    f.step = 2 * (f.width + 1 + below(seed, 3));
    fill(seed, dtype, f.n * f.step / 2, ANY);
    for (int64_t i = 0; i < f.n * f.step / 2; i += 1 + below(seed, 400)) x[i] |= 0x8000;
    memset(results[0], 77, (size_t)(2 * f.width + 1));
    EXPECT(table.reduce_short[TSRI_ACC_LARGEST][dtype](&f));
    for (int64_t j = 0; j < f.width; j++) {
        const float want = half_result(&f, dtype, j);
        EXPECT(((uint16_t *)(void *)f.z)[j] ==
               (dtype == TSR_F16 ? tsri_f32_to_f16(want) : tsri_f32_to_bf16(want)));
    }
    EXPECT(f.z[2 * f.width] == 77);
}

static void short_integers(uint64_t *seed)
{
    for (int n = 0; n < 40 && table.reduce_short[TSRI_ACC_LARGEST][TSR_F16]; n++)
        one_half(seed, n % 2 ? TSR_F16 : TSR_BF16);
    for (tsr_dtype d = TSR_BOOL; d <= TSR_U64; d++)
        for (int i = 0; i < 2; i++) {
            const tsri_acc_kind kind = i ? TSRI_ACC_NONZERO : TSRI_ACC_LARGEST;
            for (int n = 0; n < 20 && table.reduce_short[kind][d]; n++) one_whole(seed, kind, d);
        }
}

TEST(test_every_sets_kernels_for_few_integers_give_what_plain_loops_do)
{
    uint64_t seed = 20261119;
    tsri_cpu_reduce_portable(&table);
    set_name = tsri_isa_name(TSRI_ISA_PORTABLE);
    short_integers(&seed);
    for_each_set(short_integers);
}

/* Scans ---------------------------------------------------------------------------------------- */

/* Of complex numbers, one part. */
static void expect_same_parts(const tsri_lines *l, tsri_scan kind, tsr_dtype dtype)
{
    for (int64_t j = 0; j < l->width; j++) {
        double sizes = 0;
        for (int64_t i = 0; i < l->n; i++) {
            char *a = results[0] + (l->z - results[1]) + i * l->step[0] + j * l->across[0];
            char *b = results[1] + (a - results[0]);
            const double want = number_at(a, dtype), got = number_at(b, dtype);
            const double x = number_at(l->x + i * l->step[1] + j * l->across[1], dtype);
            sizes += isfinite(x) ? fabs(x) : 0;
            const double allowed = kind == TSRI_SCAN_MAX ? 0 : (kind == TSRI_SCAN_SUM ? sizes * 0x1p-48
                                 : fabs(want) * 0x1p-44) + fabs(want) * (dtype == TSR_F32 ? 0x1p-23 : 0);
            const bool right = is_near(want, got, allowed);
            EXPECT_MSG(right, "%s, scan %d of %s, n %lld, width %lld: (%lld, %lld) is %.17g, not %.17g",
                       set_name, (int)kind, tsr_dtype_name(dtype), (long long)l->n, (long long)l->width,
                       (long long)i, (long long)j, got, want);
            if (!right) return;
            memset(a, 0, (size_t)tsr_dtype_size(dtype));
            memset(b, 0, (size_t)tsr_dtype_size(dtype));
        }
    }
}

static void expect_same_lines(const tsri_lines *l, tsri_scan kind, tsr_dtype dtype, int64_t bytes)
{
    const tsr_dtype part = dtype == TSR_C64 ? TSR_F32 : dtype == TSR_C128 ? TSR_F64 : dtype;
    tsri_lines parts = *l;
    expect_same_parts(&parts, kind, part);
    parts.x += tsr_dtype_size(part);
    parts.z += tsr_dtype_size(part);
    if (part != dtype) expect_same_parts(&parts, kind, part);
    EXPECT(!memcmp(results[0], results[1], (size_t)bytes));  /* and nothing else was written */
}

static void one_scan(uint64_t *seed, tsri_scan kind, tsr_dtype dtype)
{
    const int64_t size = (int64_t)tsr_dtype_size(dtype), bytes = MOST / 2 * size;
    const bool rows = below(seed, 2);
    tsri_lines l = { .n = 1 + below(seed, rows ? 40 : 900), .width = 1, .rows = rows };
    if (rows) l.width += below(seed, l.n < 30 ? TSRI_LINES : TSRI_SIDE);
    const int64_t apart = rows ? l.width + below(seed, 3) : 1 + (below(seed, 4) == 0);
    if (below(seed, 3) == 0) l.width = 1 + below(seed, l.width);
    l.step[0] = l.step[1] = apart * size;
    l.across[0] = l.across[1] = size;
    if (below(seed, 8) == 0) l.step[1] = 0;
    l.stream = below(seed, 2);
    const int64_t extent = 8 + l.n * apart + l.width;
    fill(seed, dtype, extent, kind == TSRI_SCAN_PROD ? NEAR_ONE : ANY);
    for (int64_t i = 0; i < bytes; i++) results[0][i] = results[1][i] = (char)i;
    const int64_t at = below(seed, 4) ? 0 : size * below(seed, 5);
    l.x = elements + below(seed, 5) * size;
    l.z = results[0] + at;
    portable.scan[kind][dtype](&l);
    l.z = results[1] + at;
    table.scan[kind][dtype](&l);
    expect_same_lines(&l, kind, dtype, bytes);
}

static void scan_all(uint64_t *seed)
{
    static const tsr_dtype dtypes[] = { TSR_F32, TSR_F64, TSR_C64, TSR_C128 };
    for (int kind = 0; kind < TSRI_SCAN_COUNT; kind++)
        for (int d = 0; d < 4; d++)
            for (int i = 0; i < CASES && table.scan[kind][dtypes[d]]; i++)
                one_scan(seed, (tsri_scan)kind, dtypes[d]);
}

TEST(test_every_sets_kernels_scan_as_the_portable_ones_do) { for_each_set(scan_all); }

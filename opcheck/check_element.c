/* check_element.c - single elements: short floats converted one at a time, and access by index. */
#include <math.h>
#include <string.h>

#include "trial.h"

enum { FROM, TO, DRAWS = 40, RANK = TRIAL_RANK };

/* Short floats ------------------------------------------------------------------------------------ */

#define SHORT_FLOATS(X) X(F16, f16, uint16_t) X(BF16, bf16, uint16_t) X(F8E4M3, f8e4m3, uint8_t) \
    X(F8E5M2, f8e5m2, uint8_t)

#define CALLS(ID, name, S) \
    static uint64_t name##_of_float(float x) { return tsr_f32_to_##name(x); } \
    static uint64_t name##_of_double(double x) { return tsr_f64_to_##name(x); } \
    static uint64_t name##_saturated(float x) { return tsr_f32_to_##name##_sat(x); } \
    static float    float_of_##name(uint64_t bits) { return tsr_##name##_to_f32((S)bits); }
SHORT_FLOATS(CALLS)

typedef struct short_float {
    tsr_dtype dtype;
    uint64_t (*of_float)(float x);
    uint64_t (*of_double)(double x);
    uint64_t (*saturated)(float x);
    float (*to_float)(uint64_t bits);
} short_float;

static const short_float shorts[] = {
#define ROW(ID, name, S) { TSR_##ID, name##_of_float, name##_of_double, name##_saturated, float_of_##name },
    SHORT_FLOATS(ROW)
};

static value value_of_bits(tsr_dtype dtype, uint64_t bits)
{
    unsigned char element_of_dtype[8];
    const uint8_t a = (uint8_t)bits;
    const uint16_t b = (uint16_t)bits;
    memcpy(element_of_dtype, size_of(dtype) == 1 ? (const void *)&a : &b, size_of(dtype));
    return read_value(dtype, element_of_dtype);
}

static void check_pattern(trial *t, const char *what, double x, uint64_t got, double wanted)
{
    const double z = value_of_bits(t->check->dtype, got).re;
    MUST(t, isnan(wanted) ? isnan(z) : z == wanted && !signbit(z) == !signbit(wanted),
         "%s of %.17g is %.17g, not %.17g", what, x, z, wanted);
}

static double rounded(tsr_dtype dtype, double x)
{
    unsigned char element_of_dtype[16];
    write_value(dtype, element_of_dtype, real_value(x));
    return read_value(dtype, element_of_dtype).re;
}

/* Numbers of all sizes: any pattern, or one whose exponent the dtype nearly has. */
static double draw_number(trial *t)
{
    static const double special[] = { 0.0, -0.0, INFINITY, -INFINITY, NAN };
    if (once_in(t, 8)) return special[random_below(t, 5)];
    const double x = ldexp((double)random_between(t, -(1 << 30), 1 << 30), -30);
    return ldexp(x, (int)random_between(t, once_in(t, 4) ? -140 : -30, once_in(t, 4) ? 140 : 20));
}

static void check_short_float(trial *t)
{
    const tsr_dtype dtype = t->check->dtype;
    const short_float *f = t->check->about;
    for (int i = 0; i < DRAWS && !t->failed; i++) {
        const double x = draw_number(t), part = (double)(float)x, short_part = rounded(dtype, part);
        const double held =
            isnan(part) || isfinite(short_part) ? short_part : copysign(largest_of(dtype), part);
        const uint64_t bits = random_bits(t) >> (64 - bits_of(dtype));
        check_pattern(t, "the pattern of a float", part, f->of_float((float)part), short_part);
        check_pattern(t, "the pattern of a double", x, f->of_double(x), rounded(dtype, x));
        check_pattern(t, "the held pattern", part, f->saturated((float)part), held);
        GO_ON(t);
        const double back = (double)f->to_float(bits), wanted = value_of_bits(dtype, bits).re;
        MUST(t, isnan(wanted) ? isnan(back) : back == wanted, "pattern %llx is %.17g, not %.17g",
             (unsigned long long)bits, back, wanted);
    }
}

/* By index -------------------------------------------------------------------------------------------- */

/* Elements read as scalars and written to a tensor of another dtype are converted. */
static void check_access(trial *t)
{
    const tsr_dtype from = t->check->dtype, to = (tsr_dtype)random_between(t, 1, TSR_DTYPE_COUNT - 1);
    int64_t shape[RANK];
    const int ndim = random_shape(t, shape, 0, RANK, false);
    make_input(t, FROM, from, ndim, shape, FILL_SPECIAL);
    make_output(t, TO, to, ndim, shape);
    GO_ON(t);
    for (int i = 0; i < DRAWS; i++) {
        unsigned char wanted[16];
        int64_t at[RANK];
        tsr_scalar s;
        const int64_t k = random_below(t, count_of(ndim, shape));
        index_of(at, k, ndim, shape);
        NEED(t, tsr_get(&s, t->tensor[FROM], ndim, at));
        NEED(t, tsr_set(t->tensor[TO], ndim, at, s));
        convert(to, wanted, from, element(t->tensor[FROM], k));
        check_bits(t, TO, k, wanted);
        GO_ON(t);
    }
    check_gaps(t, TO);
}

void list_element(check_list *list)
{
    for (size_t i = 0; i < sizeof shorts / sizeof *shorts; i++)
        add_check(list,
                  (check){ .family = "element",
                           .run = check_short_float,
                           .every = 4,
                           .about = &shorts[i],
                           .dtype = shorts[i].dtype },
                  "short float");
    add_checks(list, (check){ .family = "element", .run = check_access, .every = 4 }, "get and set", NULL);
}

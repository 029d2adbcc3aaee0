/* check_random.c - random tensors can be repeated, and are where they should be. */
#include <math.h>
#include <string.h>

#include "trial.h"

enum { FIRST, SECOND, RESULT, OF_CPU };

static const char family[] = "random";

/* Known answers of Philox 4x32-10: counter, key, words. */
static void check_philox(trial *t)
{
    static const uint32_t known[3][10] = {
        { 0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 },
        { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d, 0x41c83b0e,
          0xa20bc7c6, 0x6d5451fd },
        { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb,
          0x5001e420, 0x24126ea1 },
    };
    for (int i = 0; i < 3; i++) {
        uint32_t words[4];
        tsr_philox(words, known[i], known[i] + 4);
        MUST(t, !memcmp(words, known[i] + 6, sizeof words), "Philox gives %08x for known answer %d, not %08x",
             (unsigned)words[0], i, (unsigned)known[i][6]);
    }
}

typedef tsr_status (*draw_fn)(tsr_tensor **, tsr_dtype, int, const int64_t *, uint64_t);

static tsr_status uniform(tsr_tensor **out, tsr_dtype dtype, int ndim, const int64_t *shape, uint64_t seed)
{
    return tsr_uniform(out, dtype, ndim, shape, -1, 3, seed);
}

static tsr_status exponential(tsr_tensor **out, tsr_dtype dtype, int ndim, const int64_t *shape,
                              uint64_t seed)
{
    return tsr_exponential(out, dtype, ndim, shape, 2, seed);
}

static tsr_status integers(tsr_tensor **out, tsr_dtype dtype, int ndim, const int64_t *shape, uint64_t seed)
{
    return tsr_integers(out, dtype, ndim, shape, 3, 100, seed);
}

typedef struct rule {
    draw_fn draw;
    double  low, high; /* all numbers lie in low .. high */
    bool    rounds;    /* logarithms and roots are on the way */
} rule;

static const rule uniform_rule = { uniform, -1, 3, false };
static const rule randn_rule = { tsr_randn, -12, 12, true };
static const rule exponential_rule = { exponential, 0, 40, true };
static const rule integers_rule = { integers, 3, 99, false };

static bool is_inside(double x, const rule *r) { return x >= r->low && x <= r->high; }

/* A device draws the numbers of the CPU: bit for bit, unless it rounds on the way. */
static void check_as_on_cpu(trial *t, int ndim, const int64_t *shape, uint64_t seed)
{
    const rule *r = t->check->about;
    GO_ON(t);
    if (t->device == TSR_CPU) return;
    NEED(t, tsr_device_set_default(TSR_CPU));
    NEED(t, r->draw(&t->tensor[OF_CPU], t->check->dtype, ndim, shape, seed));
    NEED(t, tsr_device_set_default(t->device));
    if (!r->rounds) check_same(t, FIRST, OF_CPU, false);
    const int64_t n = tsr_numel(t->tensor[FIRST]);
    for (int64_t k = first_sample(t, n, 1); k >= 0; k = next_sample(t, k, n, 1))
        check_near(t, FIRST, k, value_at(t->tensor[OF_CPU], k), 64 * epsilon_of(t->check->dtype));
}

/* One seed gives the same numbers again, in any strides, and as the beginning of more. */
static void check_draw(trial *t)
{
    const rule *r = t->check->about;
    const uint64_t seed = random_bits(t);
    int64_t shape[TRIAL_RANK], longer[TRIAL_RANK];
    const int ndim = random_shape(t, shape, 1, 3, true);
    memcpy(longer, shape, sizeof longer);
    longer[0] += 2;
    make_output(t, RESULT, t->check->dtype, ndim, shape);
    GO_ON(t);
    NEED(t, r->draw(&t->tensor[FIRST], t->check->dtype, ndim, shape, seed));
    NEED(t, r->draw(&t->tensor[RESULT], t->check->dtype, ndim, shape, seed));
    NEED(t, r->draw(&t->tensor[SECOND], t->check->dtype, ndim, longer, seed));
    check_gaps(t, RESULT);
    check_same(t, RESULT, FIRST, false);
    check_as_on_cpu(t, ndim, shape, seed);
    GO_ON(t);
    for (int64_t k = 0; k < tsr_numel(t->tensor[FIRST]); k++) {
        const value v = value_at(t->tensor[FIRST], k);
        MUST(t, is_inside(v.re, r) && (!is_complex(t->check->dtype) || is_inside(v.im, r)),
             "element %lld is %g%+gi, outside %g .. %g", (long long)k, v.re, v.im, r->low, r->high);
        MUST(t, same_bits(t->check->dtype, element(t->tensor[FIRST], k), element(t->tensor[SECOND], k)),
             "element %lld differs in a longer tensor of the same seed", (long long)k);
    }
}

/* Mean and deviation of many are those of the distribution, to some eight deviations. */
static void check_moments(trial *t)
{
    const rule *r = t->check->about;
    const bool normal = r == &randn_rule;
    const int64_t n = 20000;
    const double mean = normal ? 0 : 1, deviation = normal ? 1 : 4 / sqrt(12);
    double sum = 0, squares = 0;
    NEED(t, r->draw(&t->tensor[FIRST], t->check->dtype, 1, &n, random_bits(t)));
    for (int64_t k = 0; k < n; k++) {
        const double x = value_at(t->tensor[FIRST], k).re - mean;
        sum += x;
        squares += x * x;
    }
    MUST(t, fabs(sum / (double)n) < 0.06 * deviation, "the mean of %lld numbers is off by %g", (long long)n,
         sum / (double)n);
    MUST(t, fabs(sqrt(squares / (double)n) / deviation - 1) < 0.05,
         "the deviation of %lld numbers is off: %g", (long long)n, sqrt(squares / (double)n));
}

static void add_draw(check_list *list, tsr_op_kind op, tsr_dtype dtype, const rule *r)
{
    add_check(list, (check){ .family = family, .op = op, .run = check_draw, .about = r, .dtype = dtype },
              tsr_op_get_info(op)->name);
}

static void add_moments(check_list *list, tsr_op_kind op, tsr_dtype dtype, const rule *r, const char *title)
{
    add_check(
        list,
        (check){ .family = family, .op = op, .run = check_moments, .about = r, .dtype = dtype, .every = 10 },
        title);
}

void list_random(check_list *list)
{
    add_check(list, (check){ .family = family, .run = check_philox, .cpu_only = true }, "philox");
    for (int d = TSR_I8; d < TSR_DTYPE_COUNT; d++) {
        const tsr_dtype dtype = (tsr_dtype)d;
        if (is_integer(dtype)) {
            add_draw(list, TSR_OP_INTEGERS, dtype, &integers_rule);
            continue;
        }
        add_draw(list, TSR_OP_UNIFORM, dtype, &uniform_rule);
        add_draw(list, TSR_OP_RANDN, dtype, &randn_rule);
        if (is_float(dtype)) add_draw(list, TSR_OP_EXPONENTIAL, dtype, &exponential_rule);
    }
    for (int d = TSR_F32; d <= TSR_F64; d++) {
        add_moments(list, TSR_OP_UNIFORM, (tsr_dtype)d, &uniform_rule, "uniform moments");
        add_moments(list, TSR_OP_RANDN, (tsr_dtype)d, &randn_rule, "randn moments");
    }
}

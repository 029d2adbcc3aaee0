/* check_create.c - tensors made from numbers: constants, identities, ranges, frequencies. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trial.h"

enum { LIKE, RESULT, RANK = TRIAL_RANK };

static void check_number(trial *t, int64_t k, int64_t number)
{
    unsigned char wanted[16];
    convert(t->check->dtype, wanted, TSR_I64, &number);
    check_bits(t, RESULT, k, wanted);
}

/* Zeros, ones and a number, in a shape, made or given, or in that of another tensor. */
static void check_full(trial *t)
{
    int64_t shape[RANK];
    const int ndim = random_shape(t, shape, 0, RANK, true), which = (int)random_below(t, 6);
    const int64_t number = which % 3 == 2 ? (int64_t)random_bits(t) : which % 3;
    const bool given = which < 3 && once_in(t, 2);
    const tsr_dtype dtype = t->check->dtype;
    tsr_tensor **out = &t->tensor[RESULT];
    make_input(t, LIKE, dtype, ndim, shape, FILL_SMALL);
    if (given) make_output(t, RESULT, dtype, ndim, shape);
    GO_ON(t);
    switch (which) {
    case 0: NEED(t, tsr_zeros(out, dtype, ndim, shape)); break;
    case 1: NEED(t, tsr_ones(out, dtype, ndim, shape)); break;
    case 2: NEED(t, tsr_full(out, dtype, ndim, shape, TSR_SCALAR(number))); break;
    case 3: NEED(t, tsr_zeros_like(out, t->tensor[LIKE])); break;
    case 4: NEED(t, tsr_ones_like(out, t->tensor[LIKE])); break;
    default: NEED(t, tsr_full_like(out, t->tensor[LIKE], TSR_SCALAR(number)));
    }
    if (given) check_gaps(t, RESULT);
    check_shape(t, RESULT, dtype, ndim, shape);
    const int64_t count = count_of(ndim, shape);
    for (int64_t k = first_sample(t, count, 2); k >= 0; k = next_sample(t, k, count, 2))
        check_number(t, k, number);
}

static void check_eye(trial *t)
{
    const int64_t rows = random_size(t, 0, 9, most_elements(t)),
                  cols = random_size(t, 0, 9, most_elements(t) / (rows + 1)),
                  outside = once_in(t, 2) ? INT64_MIN : INT64_MAX,
                  k = once_in(t, 20) ? outside : random_between(t, -rows - 1, cols + 1),
                  shape[] = { rows, cols };
    const bool given = once_in(t, 2);
    if (given) make_output(t, RESULT, t->check->dtype, 2, shape);
    GO_ON(t);
    NEED(t, tsr_eye(&t->tensor[RESULT], t->check->dtype, rows, cols, k));
    if (given) check_gaps(t, RESULT);
    check_shape(t, RESULT, t->check->dtype, 2, shape);
    for (int64_t i = first_sample(t, rows * cols, 2); i >= 0; i = next_sample(t, i, rows * cols, 2))
        check_number(t, i, i % cols - i / cols == k);
}

/* Of small integers, or of eighths: all sums are exact. */
static void check_arange(trial *t)
{
    const tsr_dtype dtype = t->check->dtype;
    const bool fractions = is_float(dtype);
    const int64_t low = is_integer(dtype) && !is_signed(dtype) ? 0 : -40, start = random_between(t, low, 40),
                  stop = random_between(t, low, 40), step = random_between(t, 1, 5) * (start > stop ? -1 : 1);
    const double unit = fractions ? 0.125 : 1;
    const int64_t n =
        start == stop ? 0 : ((start > stop ? start - stop : stop - start) + llabs(step) - 1) / llabs(step);
    const bool given = once_in(t, 2);
    if (given) make_output(t, RESULT, dtype, 1, &n);
    GO_ON(t);
    if (fractions)
        NEED(t, tsr_arange(&t->tensor[RESULT], dtype, TSR_SCALAR((double)start * unit),
                           TSR_SCALAR((double)stop * unit), TSR_SCALAR((double)step * unit)));
    else
        NEED(t, tsr_arange(&t->tensor[RESULT], dtype, TSR_SCALAR(start), TSR_SCALAR(stop), TSR_SCALAR(step)));
    if (given) check_gaps(t, RESULT);
    check_shape(t, RESULT, dtype, 1, &n);
    for (int64_t i = 0; i < n && !t->failed; i++) {
        unsigned char wanted[16];
        const int64_t x = start + i * step;
        write_value(dtype, wanted, (value){ .bits = (uint64_t)x, .re = (double)x * unit });
        check_bits(t, RESULT, i, wanted);
    }
}

static void check_linspace(trial *t)
{
    const tsr_dtype dtype = t->check->dtype;
    const double a = (double)random_between(t, -64, 64) / 8, b = (double)random_between(t, -64, 64) / 8;
    const int64_t n = random_size(t, 0, 20, most_elements(t));
    const bool end = once_in(t, 2), given = once_in(t, 2);
    if (given) make_output(t, RESULT, dtype, 1, &n);
    GO_ON(t);
    NEED(t, tsr_linspace(&t->tensor[RESULT], dtype, TSR_SCALAR(a), TSR_SCALAR(b), n, end));
    if (given) check_gaps(t, RESULT);
    check_shape(t, RESULT, dtype, 1, &n);
    for (int64_t i = first_sample(t, n, 2); i >= 0; i = next_sample(t, i, n, 2)) {
        const double steps = (double)(end && n > 1 ? n - 1 : n);
        const double wanted = n == 1 ? a : a + (b - a) * (double)i / steps;
        check_near(t, RESULT, i, real_value(wanted), end && i == n - 1 ? 0 : 4 * ldexp(1, -52) * 16);
    }
}

static void check_frequencies(trial *t)
{
    const bool half = t->check->about != NULL;
    const int64_t n = random_size(t, 1, 20, most_elements(t)), count = half ? n / 2 + 1 : n;
    const double d = (double)random_between(t, 1, 16) / 8;
    NEED(t, half ? tsr_rfftfreq(&t->tensor[RESULT], n, d, t->check->dtype)
                 : tsr_fftfreq(&t->tensor[RESULT], n, d, t->check->dtype));
    check_shape(t, RESULT, t->check->dtype, 1, &count);
    for (int64_t i = first_sample(t, count, 2); i >= 0; i = next_sample(t, i, count, 2)) {
        const int64_t k = half || i < (n + 1) / 2 ? i : i - n;
        const double wanted = (double)k / ((double)n * d);
        check_near(t, RESULT, i, real_value(wanted), 4 * ldexp(1, -52) * fabs(wanted));
    }
}

static bool is_ranged(tsr_dtype dtype) { return is_integer(dtype) || is_float(dtype); }
static bool is_inexact(tsr_dtype dtype) { return is_float(part_of(dtype)); }

void list_create(check_list *list)
{
    static const char half[] = "half";
    const check_rule rules[] = {
        { "full", check_full, NULL, NULL },
        { "eye", check_eye, NULL, NULL },
        { "arange", check_arange, NULL, is_ranged },
        { "linspace", check_linspace, NULL, is_inexact },
        { "fftfreq", check_frequencies, NULL, is_float },
        { "rfftfreq", check_frequencies, half, is_float },
    };
    add_rules(list, (check){ .family = "create", .every = 4 }, rules, sizeof rules / sizeof *rules);
}

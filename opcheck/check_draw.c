/* check_draw.c - random results that are made of others: of tsr_uniform, tsr_randn and the order of keys. */
#include <math.h>
#include <string.h>

#include "trial.h"

enum { X, RESULT, NUMBERS, ORDER, ROW, ROW_RESULT, RANK = TRIAL_RANK };

/* mean + deviation * x of tsr_randn, which short floats take from f32. */
static void check_normal(trial *t)
{
    int64_t shape[RANK];
    const int ndim = random_shape(t, shape, 0, RANK, true);
    const uint64_t seed = random_bits(t);
    const double mean = (double)random_between(t, -3, 3), deviation = (double)random_between(t, 0, 8) / 4;
    make_output(t, RESULT, t->check->dtype, ndim, shape);
    GO_ON(t);
    NEED(t, tsr_normal(&t->tensor[RESULT], t->check->dtype, ndim, shape, mean, deviation, seed));
    NEED(t,
         tsr_randn(&t->tensor[NUMBERS], t->check->dtype == TSR_F64 ? TSR_F64 : TSR_F32, ndim, shape, seed));
    check_gaps(t, RESULT);
    const int64_t count = count_of(ndim, shape);
    for (int64_t k = first_sample(t, count, 4); k >= 0; k = next_sample(t, k, count, 4)) {
        const double x = value_at(t->tensor[NUMBERS], k).re;
        check_near(t, RESULT, k, real_value(mean + deviation * x), epsilon_of(t->check->dtype) * 20);
    }
}

/* True where the number of tsr_uniform in f64 is below p: one for all, or one for each element. */
static void check_bernoulli(trial *t)
{
    int64_t shape[RANK];
    const int ndim = random_shape(t, shape, 0, RANK, true);
    const uint64_t seed = random_bits(t);
    const double p = (double)random_between(t, 0, 8) / 8;
    const bool each = t->check->dtype != 0;
    if (each) make_input(t, X, t->check->dtype, ndim, shape, FILL_SPECIAL);
    make_output(t, RESULT, TSR_BOOL, ndim, shape);
    GO_ON(t);
    if (each)
        NEED(t, tsr_bernoulli_each(&t->tensor[RESULT], t->tensor[X], seed));
    else
        NEED(t, tsr_bernoulli(&t->tensor[RESULT], ndim, shape, p, seed));
    NEED(t, tsr_uniform(&t->tensor[NUMBERS], TSR_F64, ndim, shape, 0, 1, seed));
    check_gaps(t, RESULT);
    const int64_t count = count_of(ndim, shape);
    for (int64_t k = first_sample(t, count, 4); k >= 0; k = next_sample(t, k, count, 4)) {
        const double limit = each ? value_at(t->tensor[X], k).re : p;
        check_near(t, RESULT, k, integer_value(TSR_BOOL, value_at(t->tensor[NUMBERS], k).re < limit), 0);
    }
}

/* Each of 0 .. n - 1 once; and the same order along an axis of x. */
static void check_shuffle(trial *t)
{
    int64_t shape[RANK];
    const int ndim = random_shape(t, shape, 1, RANK, true), axis = (int)random_below(t, ndim);
    const uint64_t seed = random_bits(t);
    const int64_t n = shape[axis];
    make_input(t, X, t->check->dtype, ndim, shape, FILL_SPECIAL);
    make_output(t, RESULT, t->check->dtype, ndim, shape);
    GO_ON(t);
    NEED(t, tsr_permutation(&t->tensor[ORDER], n, seed));
    NEED(t, tsr_shuffle(&t->tensor[RESULT], t->tensor[X], axis, seed));
    check_gaps(t, RESULT);
    check_shape(t, ORDER, TSR_I64, 1, &n);
    bool *seen = trial_room(t, sizeof *seen * (size_t)n);
    GO_ON(t);
    memset(seen, 0, sizeof *seen * (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        const uint64_t own = value_at(t->tensor[ORDER], i).bits;
        MUST(t, own < (uint64_t)n && !seen[own], "index %lld comes twice, or is none", (long long)own);
        seen[own] = true;
    }
    const int64_t count = count_of(ndim, shape);
    for (int64_t k = first_sample(t, count, 4); k >= 0; k = next_sample(t, k, count, 4)) {
        int64_t at[RANK];
        index_of(at, k, ndim, shape);
        at[axis] = (int64_t)value_at(t->tensor[ORDER], at[axis]).bits;
        check_bits(t, RESULT, k, element(t->tensor[X], place_of(at, ndim, shape)));
    }
}

/* Rows of weights, some of them 0, and one above 0 at least for each sample. */
static void make_weights(trial *t, int64_t rows, int64_t n, int64_t samples)
{
    make_output(t, X, t->check->dtype, 2, (const int64_t[]){ rows, n });
    GO_ON(t);
    for (int64_t k = 0; k < rows * n; k++) {
        const double w = k % n < samples || !once_in(t, 3) ? (double)random_between(t, 1, 8) : 0;
        write_value(t->check->dtype, element(t->tensor[X], k), real_value(w));
    }
}

static void check_multinomial(trial *t)
{
    const bool replacement = once_in(t, 2);
    const int64_t rows = random_between(t, 1, 3), n = random_size(t, 1, 12, most_elements(t) / 4),
                  samples =
                      replacement ? random_size(t, 0, 12, most_elements(t) / 4) : random_between(t, 0, n);
    make_weights(t, rows, n, replacement || samples == 0 ? 1 : samples);
    make_output(t, RESULT, TSR_I64, 2, (const int64_t[]){ rows, samples });
    GO_ON(t);
    NEED(t, tsr_multinomial(&t->tensor[RESULT], t->tensor[X], samples, replacement, random_bits(t)));
    check_gaps(t, RESULT);
    bool *seen = trial_room(t, sizeof *seen * (size_t)(rows * n));
    GO_ON(t);
    memset(seen, 0, sizeof *seen * (size_t)(rows * n));
    for (int64_t k = 0; k < rows * samples; k++) {
        const int64_t i = (int64_t)value_at(t->tensor[RESULT], k).bits, at = k / samples * n + i;
        MUST(t, i >= 0 && i < n && value_at(t->tensor[X], at).re > 0,
             "sample %lld is %lld, which has no weight", (long long)k, (long long)i);
        MUST(t, replacement || !seen[at], "index %lld was drawn twice", (long long)i);
        seen[at] = true;
    }
}

/* Of many samples each index has the share of its weight, to some eight deviations. */
static void check_shares(trial *t)
{
    enum { N = 6, SAMPLES = 6000 };
    double sum = 0, drawn[N] = { 0 };
    make_weights(t, 1, N, 1);
    GO_ON(t);
    NEED(t, tsr_multinomial(&t->tensor[RESULT], t->tensor[X], SAMPLES, true, random_bits(t)));
    for (int64_t i = 0; i < N; i++) sum += value_at(t->tensor[X], i).re;
    for (int64_t k = 0; k < SAMPLES; k++) drawn[value_at(t->tensor[RESULT], k).bits % N]++;
    for (int64_t i = 0; i < N; i++) {
        const double share = value_at(t->tensor[X], i).re / sum, off = drawn[i] - share * SAMPLES;
        MUST(t, fabs(off) <= 8 * sqrt(share * (1 - share) * SAMPLES),
             "index %lld was drawn %g times of %d, not %g", (long long)i, drawn[i], SAMPLES, share * SAMPLES);
    }
}

/* tsr_sample_with of each row and its number of tsr_uniform in f64. */
static void check_sample(trial *t)
{
    const int64_t rows = random_between(t, 1, 4), n = random_size(t, 1, 12, most_elements(t) / 4),
                  k = random_below(t, n + 1);
    const double heat = (double)random_between(t, 0, 8) / 4, top_p = (double)random_between(t, 1, 64) / 64;
    const uint64_t seed = random_bits(t);
    make_input(t, X, t->check->dtype, 2, (const int64_t[]){ rows, n }, FILL_SMALL);
    make_output(t, RESULT, TSR_I64, 1, &rows);
    GO_ON(t);
    NEED(t, tsr_sample(&t->tensor[RESULT], t->tensor[X], heat, k, top_p, seed));
    NEED(t, tsr_uniform(&t->tensor[NUMBERS], TSR_F64, 1, &rows, 0, 1, seed));
    check_gaps(t, RESULT);
    for (int64_t i = 0; i < rows && !t->failed; i++) {
        const double r = value_at(t->tensor[NUMBERS], i).re;
        NEED(t, tsr_select(&t->tensor[ROW], t->tensor[X], 0, i));
        NEED(t, tsr_sample_with(&t->tensor[ROW_RESULT], t->tensor[ROW], heat, k, top_p, r));
        check_bits(t, RESULT, i, element(t->tensor[ROW_RESULT], 0));
    }
}

void list_draw(check_list *list)
{
    const struct {
        const char *name;
        void (*run)(trial *t);
        bool (*takes)(tsr_dtype);
        int every;
    } rules[] = {
        { "normal", check_normal, is_float, 2 },
        { "bernoulli_each", check_bernoulli, is_float, 2 },
        { "shuffle", check_shuffle, NULL, 3 },
        { "multinomial", check_multinomial, is_float, 2 },
        { "multinomial shares", check_shares, is_float, 10 },
        { "sample of rows", check_sample, is_float, 3 },
    };
    add_check(list, (check){ .family = "random", .run = check_bernoulli }, "bernoulli");
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        add_checks(list, (check){ .family = "random", .run = rules[i].run, .every = rules[i].every },
                   rules[i].name, rules[i].takes);
}

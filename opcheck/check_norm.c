/* check_norm.c - norms by channels, rows that see what came before them, rotary positions, dropout. */
#include <math.h>
#include <string.h>

#include "trial.h"

enum { X, Y, WEIGHT, BIAS, MEAN, VAR, RESULT, SUM };

#define EPS 0.1 /* that norms add: large, so that no lane is divided by next to nothing */

static double at(const trial *t, int slot, int64_t k) { return value_at(t->tensor[slot], k).re; }

static double slack_of(const trial *t, double wanted) { return 256 * epsilon_of(t->check->dtype) * (1 + fabs(wanted)); }

static void check_number(trial *t, int slot, int64_t k, double wanted)
{
    check_near(t, slot, k, real_value(wanted), slack_of(t, wanted));
}

/* Causal softmax ------------------------------------------------------------------------------ */

static void check_causal_softmax(trial *t)
{
    const int64_t most = most_elements(t) / 3, q = random_size(t, 1, 6, most), k = random_size(t, 1, 6, most / q),
                  shape[] = { random_between(t, 1, 3), q, k };
    make_input(t, X, t->check->dtype, 3, shape, FILL_SMALL);
    make_output(t, RESULT, t->check->dtype, 3, shape);
    GO_ON(t);
    NEED(t, tsr_causal_softmax(&t->tensor[RESULT], t->tensor[X]));
    check_gaps(t, RESULT);
    const int64_t count = count_of(3, shape), cost = k;
    for (int64_t i = first_sample(t, count, cost); i >= 0; i = next_sample(t, i, count, cost)) {
        const int64_t row = i / k % q, col = i % k, first = i - col;
        double sum = 0;
        for (int64_t c = 0; c < k && c <= row + k - q; c++) sum += exp(at(t, X, first + c));
        check_number(t, RESULT, i, col <= row + k - q ? exp(at(t, X, i)) / sum : 0);
    }
}

/* Norms ----------------------------------------------------------------------------------------- */

static void check_add_rms_norm(trial *t)
{
    const int64_t most = most_elements(t), n = random_size(t, 1, 8, most), rows = random_size(t, 1, 5, most / n),
                  shape[] = { rows, n };
    const tsr_dtype dtype = t->check->dtype;
    make_input(t, X, dtype, 2, shape, FILL_SMALL);
    make_input(t, Y, dtype, 2, shape, FILL_SMALL);
    make_input(t, WEIGHT, dtype, 1, &n, FILL_SMALL);
    make_output(t, RESULT, dtype, 2, shape);
    make_output(t, SUM, dtype, 2, shape);
    GO_ON(t);
    NEED(t, tsr_add_rms_norm(&t->tensor[RESULT], &t->tensor[SUM], t->tensor[X], t->tensor[Y], t->tensor[WEIGHT], EPS));
    check_gaps(t, RESULT);
    check_gaps(t, SUM);
    const int64_t count = count_of(2, shape), cost = n;
    for (int64_t i = first_sample(t, count, cost); i >= 0; i = next_sample(t, i, count, cost)) {
        double squares = 0;
        check_near(t, SUM, i, real_value(at(t, X, i) + at(t, Y, i)), 0);
        for (int64_t c = 0; c < n; c++) squares += at(t, SUM, i / n * n + c) * at(t, SUM, i / n * n + c);
        check_number(t, RESULT, i, at(t, SUM, i) / sqrt(squares / (double)n + EPS) * at(t, WEIGHT, i % n));
    }
}

/* x (n, c, h, w) with a weight and a bias for each channel. */
static void make_channels(trial *t, int64_t shape[4], int64_t channels)
{
    shape[0] = random_between(t, 1, 2);
    shape[1] = channels;
    shape[2] = random_size(t, 1, 4, most_elements(t) / (8 * channels));
    shape[3] = random_size(t, 1, 4, most_elements(t) / (2 * channels * shape[2]));
    make_input(t, X, t->check->dtype, 4, shape, FILL_SMALL);
    make_input(t, WEIGHT, t->check->dtype, 1, &channels, FILL_SMALL);
    make_input(t, BIAS, t->check->dtype, 1, &channels, FILL_SMALL);
    make_output(t, RESULT, t->check->dtype, 4, shape);
}

static void check_batch_norm(trial *t)
{
    const int64_t channels = random_size(t, 1, 4, most_elements(t) / 16);
    int64_t shape[4];
    make_channels(t, shape, channels);
    make_input(t, MEAN, t->check->dtype, 1, &channels, FILL_SMALL);
    make_input(t, Y, t->check->dtype, 1, &channels, FILL_SMALL);
    GO_ON(t);
    NEED(t, tsr_abs(&t->tensor[VAR], t->tensor[Y]));
    NEED(t, tsr_batch_norm(&t->tensor[RESULT], t->tensor[X], t->tensor[MEAN], t->tensor[VAR], t->tensor[WEIGHT],
                           t->tensor[BIAS], EPS));
    check_gaps(t, RESULT);
    const int64_t count = count_of(4, shape), cost = 4;
    for (int64_t i = first_sample(t, count, cost); i >= 0; i = next_sample(t, i, count, cost)) {
        const int64_t c = i / (shape[2] * shape[3]) % channels;
        const double scaled = (at(t, X, i) - at(t, MEAN, c)) / sqrt(at(t, VAR, c) + EPS) * at(t, WEIGHT, c);
        check_near(t, RESULT, i, real_value(scaled + at(t, BIAS, c)),
                   256 * epsilon_of(t->check->dtype) * (8 + fabs(scaled) + fabs(at(t, MEAN, c) * at(t, WEIGHT, c))));
    }
}

static void check_group_norm(trial *t)
{
    const int64_t groups = random_between(t, 1, 3), channels = groups * random_between(t, 1, 2);
    int64_t shape[4];
    make_channels(t, shape, channels);
    GO_ON(t);
    NEED(t, tsr_group_norm(&t->tensor[RESULT], t->tensor[X], groups, t->tensor[WEIGHT], t->tensor[BIAS], EPS));
    check_gaps(t, RESULT);
    const int64_t plane = shape[2] * shape[3], n = channels / groups * plane;
    const int64_t count = count_of(4, shape), cost = 2 * n;
    for (int64_t i = first_sample(t, count, cost); i >= 0; i = next_sample(t, i, count, cost)) {
        const int64_t c = i / plane % channels, first = i / n * n;
        double mean = 0, var = 0;
        for (int64_t k = 0; k < n; k++) mean += at(t, X, first + k) / (double)n;
        for (int64_t k = 0; k < n; k++) var += (at(t, X, first + k) - mean) * (at(t, X, first + k) - mean) / (double)n;
        const double scaled = (at(t, X, i) - mean) / sqrt(var + EPS) * at(t, WEIGHT, c);
        check_near(t, RESULT, i, real_value(scaled + at(t, BIAS, c)),
                   256 * epsilon_of(t->check->dtype) * (8 + fabs(scaled) + fabs(mean * at(t, WEIGHT, c))));
    }
}

/* Rotary positions ---------------------------------------------------------------------------------- */

enum { POSITIONS = Y, SINES = MEAN, COSINES = VAR, ROWS = 9 };

/* What rotates with element i of d, and whether i is the first of the two. */
static int64_t partner(int64_t i, int64_t d, tsr_rope_mode mode, bool *first, int64_t *pair)
{
    const int64_t half = d / 2;
    *first = mode == TSR_ROPE_HALVES ? i < half : i % 2 == 0;
    *pair = mode == TSR_ROPE_HALVES ? i % half : i / 2;
    if (mode == TSR_ROPE_HALVES) return *first ? i + half : i - half;
    return *first ? i + 1 : i - 1;
}

/* By tables if there are some, else by angles. */
static void check_rope(trial *t)
{
    const bool tables = t->check->op == TSR_OP_ROPE_WITH;
    const tsr_rope_mode mode = once_in(t, 2) ? TSR_ROPE_HALVES : TSR_ROPE_PAIRS;
    const int64_t heads = random_between(t, 1, 3), half = random_size(t, 1, 4, most_elements(t) / 36), d = 2 * half,
                  rows = random_size(t, 1, 5, most_elements(t) / (heads * d)), shape[] = { rows, heads, d };
    const tsr_dtype dtype = t->check->dtype;
    make_input(t, X, dtype, 3, shape, FILL_SMALL);
    make_indices(t, POSITIONS, TSR_U8, 1, shape, ROWS);
    make_input(t, SINES, dtype, 2, (const int64_t[]){ ROWS, half }, FILL_SMALL);
    make_input(t, COSINES, dtype, 2, (const int64_t[]){ ROWS, half }, FILL_SMALL);
    make_output(t, RESULT, dtype, 3, shape);
    GO_ON(t);
    if (tables) NEED(t, tsr_rope_with(&t->tensor[RESULT], t->tensor[X], t->tensor[POSITIONS], t->tensor[SINES],
                                      t->tensor[COSINES], mode));
    else        NEED(t, tsr_rope(&t->tensor[RESULT], t->tensor[X], t->tensor[POSITIONS], 100, mode));
    check_gaps(t, RESULT);
    const int64_t count = count_of(3, shape), cost = 4;
    for (int64_t i = first_sample(t, count, cost); i >= 0; i = next_sample(t, i, count, cost)) {
        bool first;
        int64_t pair;
        const int64_t other = i - i % d + partner(i % d, d, mode, &first, &pair);
        const double place = at(t, POSITIONS, i / d / heads), angle = place / pow(100, 2 * (double)pair / (double)d);
        const double s = tables ? at(t, SINES, (int64_t)place * half + pair) : sin(angle);
        const double c = tables ? at(t, COSINES, (int64_t)place * half + pair) : cos(angle);
        const double own = at(t, X, i) * c, others = at(t, X, other) * s;
        check_near(t, RESULT, i, real_value(first ? own - others : own + others),
                   16 * epsilon_of(dtype) * (fabs(own) + fabs(others)));
    }
}

/* Dropout -------------------------------------------------------------------------------------------- */

/* Every element is 0, or divided by the share that is kept; of many, about that share is. */
static void check_dropout(trial *t)
{
    const double p = (double)random_between(t, 1, 3) / 4;
    const int64_t n = 1000, shape[] = { 10, n / 10 };
    const uint64_t seed = random_bits(t);
    int64_t kept = 0;
    make_input(t, X, t->check->dtype, 2, shape, FILL_SMALL);
    make_output(t, RESULT, t->check->dtype, 2, shape);
    GO_ON(t);
    NEED(t, tsr_uniform(&t->tensor[Y], TSR_F32, 2, shape, 0, 1, seed));
    NEED(t, tsr_dropout(&t->tensor[RESULT], t->tensor[X], p, seed));
    check_gaps(t, RESULT);
    for (int64_t i = 0; i < n && !t->failed; i++) {
        const bool keeps = at(t, Y, i) >= p;
        check_number(t, RESULT, i, keeps ? at(t, X, i) / (1 - p) : 0);
        kept += keeps;
    }
    MUST(t, fabs((double)kept - (1 - p) * (double)n) <= 6 * sqrt((double)n), "%lld of %lld elements are kept, and p is %g",
         (long long)kept, (long long)n, p);
}

void list_norm(check_list *list)
{
    static const struct { const char *name; void (*run)(trial *t); } rules[] = {
        { "causal_softmax", check_causal_softmax }, { "add_rms_norm", check_add_rms_norm },
        { "batch_norm", check_batch_norm },         { "group_norm", check_group_norm },
        { "rope", check_rope },                     { "rope_with", check_rope },
        { "dropout", check_dropout },
    };
    for (int d = TSR_F8E4M3; d <= TSR_F64; d++)
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
            add_check(list,
                      (check){ .family = "nn", .op = tsr_op_find(rules[i].name), .run = rules[i].run,
                               .dtype = (tsr_dtype)d, .more = d >= TSR_F32 ? 4 : 1 },
                      rules[i].name);
}

/* check_norm.c - norms by rows and channels, rows that see what came before them, rotary positions, dropout.
 */
#include <math.h>
#include <string.h>

#include "trial.h"

enum { X, Y, WEIGHT, BIAS, MEAN, VAR, RESULT, SUM };

static double at(const trial *t, int slot, int64_t k) { return value_at(t->tensor[slot], k).re; }

/* Twice the unit of the type that is computed in; reference and result both round where that is f64. */
static double unit_of(const trial *t)
{
    return t->check->dtype == TSR_F64 ? 2 * epsilon_of(TSR_F64) : epsilon_of(TSR_F32);
}

static tsr_dtype random_float(trial *t) { return (tsr_dtype)random_between(t, TSR_F8E4M3, TSR_F64); }

/* Causal softmax ------------------------------------------------------------------------------ */

static void check_causal_element(trial *t, int64_t i, int64_t q, int64_t k)
{
    const int64_t row = i / k % q, col = i % k, first = i - col, seen = row + k - q + 1;
    long double sum = 0;
    double most = -INFINITY;
    for (int64_t c = 0; c < k && c < seen; c++) most = fmax(most, at(t, X, first + c));
    for (int64_t c = 0; c < k && c < seen; c++) sum += expl((long double)at(t, X, first + c) - most);
    const double x = at(t, X, i), wanted = col < seen ? (double)(expl((long double)x - most) / sum) : 0;
    const double below = isfinite(x) && isfinite(most) ? most - x : 0;
    check_near(t, RESULT, i, real_value(wanted), wanted * unit_of(t) * (below + 8) + ldexp(1, -148));
}

static void check_causal_softmax(trial *t)
{
    int64_t shape[TRIAL_RANK];
    const int ndim = random_shape(t, shape, 2, TRIAL_RANK, true);
    make_input(t, X, t->check->dtype, ndim, shape, once_in(t, 3) ? FILL_SPECIAL : FILL_SMALL);
    make_output(t, RESULT, t->check->dtype, ndim, shape);
    GO_ON(t);
    const tsr_tensor *x = operand_or_result(t, X, RESULT);
    NEED(t, tsr_causal_softmax(&t->tensor[RESULT], x));
    check_gaps(t, RESULT);
    const int64_t count = count_of(ndim, shape), cost = shape[ndim - 1];
    for (int64_t i = first_sample(t, count, cost); i >= 0; i = next_sample(t, i, count, cost))
        check_causal_element(t, i, shape[ndim - 2], shape[ndim - 1]);
}

/* Norms ----------------------------------------------------------------------------------------- */

/* How elements are normed: n that follow each other in row-major order together. Weights and biases are
 * `weights` in number, each for `each` elements. */
typedef struct norming {
    int64_t n, each, weights;
    bool centred;
    double eps;
} norming;

static double random_eps(trial *t)
{
    static const double some[] = { 1e-5, 1e-6, 1e-3, 0.25 };
    return some[random_below(t, 4)];
}

/* Either is there or not, of a dtype of its own. */
static void make_affine(trial *t, int ndim, const int64_t *shape, bool biased)
{
    const tsr_dtype dtype = once_in(t, 2) ? t->check->dtype : random_float(t);
    if (!once_in(t, 3)) make_input(t, WEIGHT, dtype, ndim, shape, FILL_SMALL);
    if (biased && !once_in(t, 3)) make_input(t, BIAS, dtype, ndim, shape, FILL_SMALL);
}

/* (x - mean) / rms * weight + bias. An error of x or of the mean by some units of the largest |x|, of the
 * others by some of their own. */
static void check_normed_element(trial *t, int64_t i, double x, double mean, double rms, double size,
                                 int64_t k)
{
    const double w = t->tensor[WEIGHT] ? at(t, WEIGHT, k) : 1, b = t->tensor[BIAS] ? at(t, BIAS, k) : 0;
    const double error = unit_of(t) * (8 * fabs(b) + 16 * fabs(w) * (size + fabs(x - mean)) / rms);
    check_near(t, RESULT, i, real_value((x - mean) / rms * w + b),
               (isfinite(error) ? error : 0) + (1 + fabs(w)) * ldexp(1, -148));
}

static void check_normed(trial *t, int slot, int64_t count, const norming *how)
{
    const int64_t n = how->n, cost = 2 * n;
    for (int64_t i = first_sample(t, count, cost); i >= 0; i = next_sample(t, i, count, cost)) {
        const int64_t first = i / n * n;
        long double sum = 0, squares = 0;
        double size = 0;
        for (int64_t k = first; k < first + n && how->centred; k++) sum += at(t, slot, k);
        const double mean = (double)(sum / n);
        for (int64_t k = first; k < first + n; k++) {
            const long double off = at(t, slot, k) - sum / n;
            squares += off * off;
            size = fmax(size, fabs(at(t, slot, k)));
        }
        check_normed_element(t, i, at(t, slot, i), mean, sqrt((double)(squares / n) + how->eps), size,
                             i / how->each % how->weights);
    }
}

static void check_row_norm(trial *t)
{
    const bool layer = t->check->op == TSR_OP_LAYER_NORM;
    int64_t shape[TRIAL_RANK];
    const int ndim = random_shape(t, shape, 1, TRIAL_RANK, true),
              dims = layer ? (int)random_between(t, 1, ndim) : 1;
    const int64_t n = count_of(dims, shape + ndim - dims);
    const norming how = { n, 1, n, layer, random_eps(t) };
    make_input(t, X, t->check->dtype, ndim, shape, once_in(t, 8) ? FILL_SPECIAL : FILL_SMALL);
    make_affine(t, dims, shape + ndim - dims, layer);
    make_output(t, RESULT, t->check->dtype, ndim, shape);
    GO_ON(t);
    const tsr_tensor *x = operand_or_result(t, X, RESULT);
    if (layer)
        NEED(t, tsr_layer_norm(&t->tensor[RESULT], x, dims, t->tensor[WEIGHT], t->tensor[BIAS], how.eps));
    else
        NEED(t, tsr_rms_norm(&t->tensor[RESULT], x, t->tensor[WEIGHT], how.eps));
    check_gaps(t, RESULT);
    check_normed(t, X, count_of(ndim, shape), &how);
}

/* The sum may be written over x. It is rounded in the type that is computed in, then to the dtype. */
static void check_add_rms_norm(trial *t)
{
    const tsr_dtype dtype = t->check->dtype;
    int64_t shape[TRIAL_RANK];
    const int ndim = random_shape(t, shape, 1, TRIAL_RANK, true);
    const int64_t n = shape[ndim - 1], count = count_of(ndim, shape);
    const norming how = { n, 1, n, false, random_eps(t) };
    make_input(t, X, dtype, ndim, shape, FILL_SMALL);
    make_input(t, Y, dtype, ndim, shape, FILL_SMALL);
    make_affine(t, 1, shape + ndim - 1, false);
    make_output(t, RESULT, dtype, ndim, shape);
    make_output(t, SUM, dtype, ndim, shape);
    GO_ON(t);
    const tsr_tensor *x = operand_or_result(t, X, SUM);
    NEED(t,
         tsr_add_rms_norm(&t->tensor[RESULT], &t->tensor[SUM], x, t->tensor[Y], t->tensor[WEIGHT], how.eps));
    check_gaps(t, RESULT);
    check_gaps(t, SUM);
    for (int64_t i = first_sample(t, count, 4); i >= 0; i = next_sample(t, i, count, 4)) {
        unsigned char wanted[16];
        const double sum = at(t, X, i) + at(t, Y, i);
        write_value(dtype, wanted, real_value(dtype == TSR_F64 ? sum : (double)(float)sum));
        check_bits(t, SUM, i, wanted);
    }
    check_normed(t, SUM, count, &how);
}

/* x (n, c, ...) in X, and a result for it. */
static int make_channels(trial *t, int64_t shape[TRIAL_RANK])
{
    int ndim = random_shape(t, shape, 2, TRIAL_RANK, true);
    if (once_in(t, 6)) { /* nothing behind the channels, of which there are whole vectors */
        ndim = 2;
        shape[0] = random_between(t, 1, 3);
        shape[1] = 8 * random_between(t, 1, 8);
        t->packed = true;
    }
    make_input(t, X, t->check->dtype, ndim, shape, once_in(t, 8) ? FILL_SPECIAL : FILL_SMALL);
    make_affine(t, 1, shape + 1, true);
    make_output(t, RESULT, t->check->dtype, ndim, shape);
    return ndim;
}

static void check_batch_norm(trial *t)
{
    const double eps = random_eps(t);
    int64_t shape[TRIAL_RANK];
    const int ndim = make_channels(t, shape);
    make_input(t, MEAN, random_float(t), 1, shape + 1, FILL_SMALL);
    make_input(t, Y, random_float(t), 1, shape + 1, FILL_SMALL);
    GO_ON(t);
    NEED(t, tsr_abs(&t->tensor[VAR], t->tensor[Y]));
    const tsr_tensor *x = operand_or_result(t, X, RESULT);
    NEED(t, tsr_batch_norm(&t->tensor[RESULT], x, t->tensor[MEAN], t->tensor[VAR], t->tensor[WEIGHT],
                           t->tensor[BIAS], eps));
    check_gaps(t, RESULT);
    const int64_t count = count_of(ndim, shape), plane = count_of(ndim - 2, shape + 2);
    for (int64_t i = first_sample(t, count, 4); i >= 0; i = next_sample(t, i, count, 4)) {
        const int64_t c = i / plane % shape[1];
        const double x_i = at(t, X, i), mean = at(t, MEAN, c);
        check_normed_element(t, i, x_i, mean, sqrt(at(t, VAR, c) + eps), fmax(fabs(x_i), fabs(mean)), c);
    }
}

static void check_group_norm(trial *t)
{
    int64_t shape[TRIAL_RANK];
    const int ndim = make_channels(t, shape);
    int64_t groups = random_between(t, 1, shape[1] ? shape[1] : 4);
    while (shape[1] % groups) groups--;
    const int64_t plane = count_of(ndim - 2, shape + 2);
    const norming how = { shape[1] / groups * plane, plane, shape[1], true, random_eps(t) };
    GO_ON(t);
    const tsr_tensor *x = operand_or_result(t, X, RESULT);
    NEED(t, groups == shape[1]
                ? tsr_instance_norm(&t->tensor[RESULT], x, t->tensor[WEIGHT], t->tensor[BIAS], how.eps)
                : tsr_group_norm(&t->tensor[RESULT], x, groups, t->tensor[WEIGHT], t->tensor[BIAS], how.eps));
    check_gaps(t, RESULT);
    check_normed(t, X, count_of(ndim, shape), &how);
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

/* x (..., seq, heads, d), with positions that tables have, or any. Returns the rank. */
static int make_rope(trial *t, int64_t shape[TRIAL_RANK], bool tables)
{
    static const tsr_dtype integers[] = { TSR_U8, TSR_I16, TSR_I32, TSR_I64, TSR_U64 };
    const tsr_dtype dtype = tables ? (once_in(t, 2) ? TSR_U8 : TSR_U32) : integers[random_below(t, 5)];
    const int ndim = random_shape(t, shape, 3, TRIAL_RANK, true);
    const int64_t limit = tables ? ROWS : once_in(t, 2) ? 20 : size_of(dtype) < 4 ? 200 : 100000;
    shape[ndim - 1] += shape[ndim - 1] % 2;
    make_input(t, X, t->check->dtype, ndim, shape, once_in(t, 4) ? FILL_SPECIAL : FILL_SMALL);
    make_indices(t, POSITIONS, dtype, 1, shape + ndim - 3, limit);
    make_output(t, RESULT, t->check->dtype, ndim, shape);
    return ndim;
}

/* By tables if there are some, else by angles, which are computed in f64. */
static void check_rope(trial *t)
{
    const bool tables = t->check->op == TSR_OP_ROPE_WITH;
    const tsr_rope_mode mode = once_in(t, 2) ? TSR_ROPE_HALVES : TSR_ROPE_PAIRS;
    const double theta = once_in(t, 2) ? 10000 : 500;
    int64_t shape[TRIAL_RANK];
    const int ndim = make_rope(t, shape, tables);
    const int64_t d = shape[ndim - 1], half = d / 2, heads = shape[ndim - 2], seq = shape[ndim - 3];
    const tsr_dtype of_tables = random_float(t);
    make_input(t, SINES, of_tables, 2, (const int64_t[]){ ROWS, half }, FILL_SMALL);
    make_input(t, COSINES, of_tables, 2, (const int64_t[]){ ROWS, half }, FILL_SMALL);
    GO_ON(t);
    const tsr_tensor *x = operand_or_result(t, X, RESULT), *positions = t->tensor[POSITIONS];
    NEED(t, tables
                ? tsr_rope_with(&t->tensor[RESULT], x, positions, t->tensor[SINES], t->tensor[COSINES], mode)
                : tsr_rope(&t->tensor[RESULT], x, positions, theta, mode));
    check_gaps(t, RESULT);
    const int64_t count = count_of(ndim, shape);
    for (int64_t i = first_sample(t, count, 4); i >= 0; i = next_sample(t, i, count, 4)) {
        bool first;
        int64_t pair;
        const int64_t other = i - i % d + partner(i % d, d, mode, &first, &pair);
        const double place = at(t, POSITIONS, i / d / heads % seq),
                     angle = place / pow(theta, 2 * (double)pair / (double)d);
        const double s = tables ? at(t, SINES, (int64_t)place * half + pair) : sin(angle);
        const double c = tables ? at(t, COSINES, (int64_t)place * half + pair) : cos(angle);
        const double own = at(t, X, i) * c, others = at(t, X, other) * s,
                     wanted = first ? own - others : own + others;
        const double slack =
            tables ? 2 * unit_of(t) * (fabs(own) + fabs(others))
                   : (fabs(at(t, X, i)) + fabs(at(t, X, other))) * (ldexp(1 + fabs(angle), -50) + unit_of(t));
        check_near(t, RESULT, i, real_value(wanted), isfinite(wanted) ? slack : 0);
    }
}

/* Dropout -------------------------------------------------------------------------------------------- */

/* Every element is 0, or divided by the share that is kept, as its number of tsr_uniform's says. */
static void check_dropout(trial *t)
{
    static const double chances[] = { 0, 1, 0.5, 0.1, 0.9, 1.0 / 3 };
    const double p = chances[random_below(t, 6)];
    const uint64_t seed = random_bits(t);
    int64_t shape[TRIAL_RANK];
    const int ndim = random_shape(t, shape, 0, TRIAL_RANK, true);
    make_input(t, X, t->check->dtype, ndim, shape, once_in(t, 3) ? FILL_SPECIAL : FILL_SMALL);
    make_output(t, RESULT, t->check->dtype, ndim, shape);
    GO_ON(t);
    const tsr_tensor *x = operand_or_result(t, X, RESULT);
    NEED(t, tsr_uniform(&t->tensor[Y], TSR_F32, ndim, shape, 0, 1, seed));
    NEED(t, tsr_dropout(&t->tensor[RESULT], x, p, seed));
    check_gaps(t, RESULT);
    const int64_t count = count_of(ndim, shape);
    for (int64_t i = first_sample(t, count, 2); i >= 0; i = next_sample(t, i, count, 2)) {
        const double kept = at(t, X, i) / (1 - p);
        if (at(t, Y, i) < p)
            check_near(t, RESULT, i, real_value(0), 0);
        else
            check_near(t, RESULT, i, real_value(kept),
                       p == 0 || !isfinite(kept) ? 0 : 1.5 * unit_of(t) * fabs(kept));
    }
}

void list_norm(check_list *list)
{
    static const struct {
        const char *name;
        void (*run)(trial *t);
    } rules[] = {
        { "causal_softmax", check_causal_softmax },
        { "add_rms_norm", check_add_rms_norm },
        { "batch_norm", check_batch_norm },
        { "group_norm", check_group_norm },
        { "layer_norm", check_row_norm },
        { "rms_norm", check_row_norm },
        { "rope", check_rope },
        { "rope_with", check_rope },
        { "dropout", check_dropout },
    };
    for (int d = 1; d < TSR_DTYPE_COUNT; d++)
        for (size_t i = 0; is_float((tsr_dtype)d) && i < sizeof rules / sizeof *rules; i++)
            add_check(list,
                      (check){ .family = "nn",
                               .op = tsr_op_find(rules[i].name),
                               .run = rules[i].run,
                               .dtype = (tsr_dtype)d,
                               .more = d == TSR_F32 || d == TSR_F64 ? 4 : 1 },
                      rules[i].name);
}

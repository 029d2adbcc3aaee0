/* check_layers.c - layers made of other ops: attention between matrices, norms of channels, gates. */
#include <math.h>
#include <string.h>

#include "trial.h"

enum { X, WQ, WK, WV, WO, BQ, BK, BV, BO, RESULT, MASK, FULL_MASK };

static double at(const trial *t, int slot, int64_t k) { return value_at(t->tensor[slot], k).re; }

/* Attention ------------------------------------------------------------------------------------- */

enum { SEQ = 5, WIDTH = 12 };

/* A layer of h heads, g of keys and values; rows of d for queries and keys, of e for values. */
typedef struct layer {
    int64_t batches, seq, embed, h, g, d, e, features;
    bool causal;
} layer;

/* What the layer computes for one batch, in double. */
typedef struct projected {
    double q[SEQ][WIDTH], k[SEQ][WIDTH], v[SEQ][WIDTH], mixed[SEQ][WIDTH];
} projected;

/* Row i of x @ w^T + bias, rounded to the dtype as a tensor is. */
static void project(const trial *t, double *out, const double *x, int64_t in, int64_t n, int w, int bias)
{
    for (int64_t j = 0; j < n; j++) {
        unsigned char element_of_dtype[16];
        double sum = t->tensor[bias] ? at(t, bias, j) : 0;
        for (int64_t k = 0; k < in; k++) sum += x[k] * at(t, w, j * in + k);
        write_value(t->check->dtype, element_of_dtype, real_value(sum));
        out[j] = read_value(t->check->dtype, element_of_dtype).re;
    }
}

/* Does row i of a head see row c? */
static bool is_seen(const trial *t, const layer *l, int64_t batch, int64_t head, int64_t i, int64_t c)
{
    const tsr_tensor *mask = t->tensor[FULL_MASK];
    if (l->causal && c > i) return false;
    return !mask || value_at(mask, ((batch * l->h + head) * l->seq + i) * l->seq + c).bits != 0;
}

static void mix(const trial *t, projected *p, const layer *l, int64_t batch, int64_t head, int64_t i)
{
    const int64_t own = head / (l->h / l->g);
    double weight[SEQ], sum = 0;
    for (int64_t c = 0; c < l->seq; c++) {
        double score = 0;
        for (int64_t j = 0; j < l->d; j++) score += p->q[i][head * l->d + j] * p->k[c][own * l->d + j];
        weight[c] = is_seen(t, l, batch, head, i, c) ? exp(score / sqrt((double)l->d)) : 0;
        sum += weight[c];
    }
    for (int64_t j = 0; j < l->e; j++) {
        double top = 0;
        for (int64_t c = 0; c < l->seq; c++) top += weight[c] * p->v[c][own * l->e + j];
        p->mixed[i][head * l->e + j] = sum > 0 ? top / sum : 0;
    }
}

static void run_layer(const trial *t, projected *p, const layer *l, int64_t batch)
{
    for (int64_t i = 0; i < l->seq; i++) {
        double x[WIDTH];
        for (int64_t k = 0; k < l->embed; k++) x[k] = at(t, X, (batch * l->seq + i) * l->embed + k);
        project(t, p->q[i], x, l->embed, l->h * l->d, WQ, BQ);
        project(t, p->k[i], x, l->embed, l->g * l->d, WK, BK);
        project(t, p->v[i], x, l->embed, l->g * l->e, WV, BV);
    }
    for (int64_t i = 0; i < l->seq * l->h; i++) mix(t, p, l, batch, i % l->h, i / l->h);
}

/* Elements to 1 / 2, so that scores stay small and roundings are not multiplied. */
static void make_weights(trial *t, int slot, int64_t rows, int64_t cols)
{
    make_output(t, slot, t->check->dtype, cols ? 2 : 1, (const int64_t[]){ rows, cols });
    GO_ON(t);
    for (int64_t k = 0; k < rows * (cols ? cols : 1); k++)
        write_value(t->check->dtype, element(t->tensor[slot], k),
                    real_value((double)random_between(t, -32, 32) / 64));
}

static layer make_layer(trial *t)
{
    layer l = { .batches = random_between(t, 1, 2),
                .seq = random_between(t, 1, SEQ),
                .embed = random_between(t, 1, 8),
                .g = random_between(t, 1, 2),
                .d = random_between(t, 1, 3),
                .e = random_between(t, 1, 3),
                .features = random_between(t, 1, 8),
                .causal = once_in(t, 2) };
    l.h = l.g * random_between(t, 1, 2);
    const int64_t rows[] = { l.h * l.d, l.g * l.d, l.g * l.e, l.features };
    for (int i = 0; i < 4; i++) {
        make_weights(t, WQ + i, rows[i], i < 3 ? l.embed : l.h * l.e);
        if (once_in(t, 2)) make_weights(t, BQ + i, rows[i], 0);
    }
    make_weights(t, X, l.batches * l.seq * l.embed, 0);
    if (!t->failed &&
        tsr_reshape(&t->tensor[X], t->tensor[X], TSR_SHAPE(l.batches, l.seq, l.embed)) != TSR_OK)
        fail_trial(t, "no reshape: %s", tsr_last_error());
    make_output(t, RESULT, t->check->dtype, 3, (const int64_t[]){ l.batches, l.seq, l.features });
    const int64_t full[] = { l.batches, l.h, l.seq, l.seq };
    const int drop = (int)random_below(t, 4);
    if (once_in(t, 2)) {
        make_input(t, MASK, TSR_BOOL, 4 - drop, full + drop, FILL_SMALL);
        make_packed(t, FULL_MASK, MASK, 4, full);
    }
    return l;
}

static void check_layer(trial *t)
{
    const layer l = make_layer(t);
    const tsr_attention_options how = { .causal = l.causal };
    tsr_tensor **s = t->tensor;
    GO_ON(t);
    const tsr_attention_weights w = { s[WQ], s[WK], s[WV], s[WO], s[BQ], s[BK], s[BV], s[BO] };
    NEED(t, tsr_multi_head_attention(&s[RESULT], s[X], &w, l.h, s[MASK], &how));
    check_gaps(t, RESULT);
    for (int64_t b = 0; b < l.batches && !t->failed; b++) {
        projected p;
        run_layer(t, &p, &l, b);
        for (int64_t i = 0; i < l.seq * l.features; i++) {
            const int64_t row = i / l.features, j = i % l.features;
            double sum = s[BO] ? at(t, BO, j) : 0;
            for (int64_t k = 0; k < l.h * l.e; k++) sum += p.mixed[row][k] * at(t, WO, j * l.h * l.e + k);
            check_near(t, RESULT, b * l.seq * l.features + i, real_value(sum),
                       32 * rounding_near_1(t->check->dtype));
        }
    }
}

/* Norms and gates ----------------------------------------------------------------------------------- */

#define EPS 0.1

/* Each channel of (n, c, ...) by itself, of ranks 2 to 8. */
static void check_instance_norm(trial *t)
{
    int64_t shape[TRIAL_RANK];
    const int ndim = random_shape(t, shape, 2, TRIAL_RANK, false);
    const bool weighted = once_in(t, 2);
    make_input(t, X, t->check->dtype, ndim, shape, FILL_SMALL);
    if (weighted) make_input(t, WQ, t->check->dtype, 1, shape + 1, FILL_SMALL);
    if (weighted) make_input(t, BQ, t->check->dtype, 1, shape + 1, FILL_SMALL);
    make_output(t, RESULT, t->check->dtype, ndim, shape);
    GO_ON(t);
    NEED(t, tsr_instance_norm(&t->tensor[RESULT], t->tensor[X], t->tensor[WQ], t->tensor[BQ], EPS));
    check_gaps(t, RESULT);
    const int64_t count = count_of(ndim, shape), n = count_of(ndim - 2, shape + 2);
    for (int64_t i = first_sample(t, count, 32 * n); i >= 0; i = next_sample(t, i, count, 32 * n)) {
        const int64_t first = i / n * n, c = i / n % shape[1];
        const double w = weighted ? at(t, WQ, c) : 1, b = weighted ? at(t, BQ, c) : 0;
        double mean = 0, var = 0;
        for (int64_t k = 0; k < n; k++) mean += at(t, X, first + k) / (double)n;
        for (int64_t k = 0; k < n; k++)
            var += (at(t, X, first + k) - mean) * (at(t, X, first + k) - mean) / (double)n;
        const double scaled = (at(t, X, i) - mean) / sqrt(var + EPS) * w;
        check_near(t, RESULT, i, real_value(scaled + b),
                   256 * epsilon_of(t->check->dtype) * (8 + fabs(scaled) + fabs(mean * w)));
    }
}

/* The first half of the last axis is the gate of the second. */
static void check_silu_and_mul(trial *t)
{
    int64_t shape[TRIAL_RANK];
    const int ndim = random_shape(t, shape, 1, TRIAL_RANK, true);
    const int64_t n = shape[ndim - 1];
    make_output(t, RESULT, t->check->dtype, ndim, shape);
    shape[ndim - 1] = 2 * n;
    make_input(t, X, t->check->dtype, ndim, shape, FILL_SMALL);
    GO_ON(t);
    NEED(t, tsr_silu_and_mul(&t->tensor[RESULT], t->tensor[X]));
    check_gaps(t, RESULT);
    const int64_t count = count_of(ndim, shape) / 2;
    for (int64_t k = first_sample(t, count, 8); k >= 0; k = next_sample(t, k, count, 8)) {
        const int64_t gate = k / n * 2 * n + k % n;
        const double g = at(t, X, gate), up = at(t, X, gate + n);
        check_near(t, RESULT, k, real_value(up * g / (1 + exp(-g))),
                   16 * epsilon_of(t->check->dtype) * (1 + fabs(g * up)));
    }
}

/* alpha * x + y, also in place; the order of operands is that of BLAS. */
static void check_axpy(trial *t)
{
    int64_t shape[TRIAL_RANK];
    const int ndim = random_shape(t, shape, 0, TRIAL_RANK, true);
    const double alpha = once_in(t, 4) ? -2 : 1.5;
    make_input(t, X, t->check->dtype, ndim, shape, FILL_SMALL);
    make_input(t, WQ, t->check->dtype, ndim, shape, FILL_SMALL);
    make_output(t, RESULT, t->check->dtype, ndim, shape);
    GO_ON(t);
    NEED(t, tsr_axpy(&t->tensor[RESULT], TSR_SCALAR(alpha), t->tensor[X], t->tensor[WQ]));
    check_gaps(t, RESULT);
    const int64_t count = count_of(ndim, shape);
    for (int64_t i = first_sample(t, count, 8); i >= 0; i = next_sample(t, i, count, 8)) {
        const double x = alpha * at(t, X, i), y = at(t, WQ, i);
        check_near(t, RESULT, i, real_value(x + y), epsilon_of(t->check->dtype) * (fabs(x) + fabs(y)));
    }
}

static double activate(tsr_activation kind, double v)
{
    switch (kind) {
    case TSR_ACTIVATION_RELU: return v > 0 ? v : 0;
    case TSR_ACTIVATION_GELU: return 0.5 * v * erfc(-v / sqrt(2));
    case TSR_ACTIVATION_GELU_TANH:
        return 0.5 * v * (1 + tanh(sqrt(2 / acos(-1)) * (v + 0.044715 * v * v * v)));
    case TSR_ACTIVATION_SILU: return v / (1 + exp(-v));
    default: return v;
    }
}

/* A product, a bias, a residual that may be the result, and a function of their sum, which may be rounded to
 * the dtype in between. No such function is steeper than 1.2. */
static void check_linear_activation(trial *t)
{
    enum { MORE = WQ + 1 };
    const tsr_dtype dtype = t->check->dtype;
    const tsr_activation kind = (tsr_activation)random_below(t, 5);
    int64_t shape[TRIAL_RANK];
    const int ndim = random_shape(t, shape, 1, 4, true);
    const int64_t k = shape[ndim - 1], n = random_size(t, 1, 20, 100), w[] = { n, k };
    make_input(t, X, dtype, ndim, shape, FILL_SMALL);
    make_input(t, WQ, dtype, 2, w, FILL_SMALL);
    const bool biased = once_in(t, 2), residual = once_in(t, 2);
    if (biased) make_input(t, MORE, dtype, 1, &n, FILL_SMALL);
    shape[ndim - 1] = n;
    if (residual) make_input(t, MORE + 1, dtype, ndim, shape, FILL_SMALL);
    make_output(t, RESULT, dtype, ndim, shape);
    GO_ON(t);
    const tsr_tensor *with = residual ? operand_or_result(t, MORE + 1, RESULT) : NULL;
    GO_ON(t);
    NEED(t, tsr_linear_activation(&t->tensor[RESULT], t->tensor[X], t->tensor[WQ],
                                  biased ? t->tensor[MORE] : NULL, with, kind));
    check_gaps(t, RESULT);
    const int64_t count = count_of(ndim, shape);
    for (int64_t i = first_sample(t, count, 4 * k); i >= 0; i = next_sample(t, i, count, 4 * k)) {
        double sum = (biased ? at(t, MORE, i % n) : 0) + (residual ? at(t, MORE + 1, i) : 0),
               size = fabs(sum);
        if (biased) size += fabs(at(t, MORE, i % n));
        for (int64_t j = 0; j < k; j++) {
            const double x = at(t, X, i / n * k + j), y = at(t, WQ, i % n * k + j);
            sum += x * y;
            size += fabs(x * y);
        }
        const double rounding = 3 * rounding_near_1(dtype) + (8 + sqrt((double)k)) * epsilon_of(dtype);
        check_near(t, RESULT, i, real_value(activate(kind, sum)), 1.2 * rounding * (size + fabs(sum)));
    }
}

/* A float of one byte rounds so coarsely between the steps that every result would pass. */
static bool is_fine(tsr_dtype dtype) { return is_float(dtype) && tsr_dtype_size(dtype) > 1; }

void list_layers(check_list *list)
{
    add_checks(list, (check){ .family = "attention", .run = check_layer, .every = 2 }, "multi_head_attention",
               is_fine);
    add_checks(list, (check){ .family = "nn", .run = check_instance_norm, .every = 2 }, "instance_norm",
               is_float);
    add_checks(list, (check){ .family = "matmul", .op = TSR_OP_LINEAR_ACTIVATION,
                              .run = check_linear_activation }, "linear_activation", is_fine);
    add_checks(list, (check){ .family = "elementwise", .run = check_axpy, .every = 2 }, "axpy", is_float);
    add_checks(list, (check){ .family = "nn", .run = check_silu_and_mul, .every = 2 }, "silu_and_mul",
               is_float);
}

/* check_nn.c - networks: softmax, norms, gates, losses and attention, straight from their formulas. */
#include <math.h>
#include <string.h>

#include "number.h"
#include "trial.h"

enum { X, Y, Z, RESULT, MASK, FULL_MASK };

/* Along an axis --------------------------------------------------------------------------- */

/* The lane of element k along an axis; returns the element's place in it. */
static int64_t read_lane(double *lane, const tsr_tensor *x, int64_t k, int axis)
{
    int64_t index[TSR_MAX_NDIM];
    index_of(index, k, x->ndim, x->shape);
    const int64_t own = index[axis];
    for (index[axis] = 0; index[axis] < x->shape[axis]; index[axis]++)
        lane[index[axis]] = value_at(x, place_of(index, x->ndim, x->shape)).re;
    return own;
}

/* Element i of n. The rounding of an exponent becomes a relative error of the exponential. */
static void check_soft(trial *t, int64_t k, const double *lane, int64_t n, int64_t i, bool log_of)
{
    const double eps = 2 * epsilon_of(t->check->dtype);
    double most = -INFINITY;
    long double sum = 0;
    for (int64_t c = 0; c < n; c++) most = fmax(most, lane[c]);
    for (int64_t c = 0; c < n; c++) sum += expl((long double)lane[c] - most);
    const double below = isfinite(lane[i]) && isfinite(most) ? most - lane[i] : 0;
    const double soft = (double)(expl((long double)lane[i] - most) / sum),
                 logarithm = (double)((long double)lane[i] - most - logl(sum));
    if (log_of)
        check_near(t, RESULT, k, real_value(logarithm),
                   isfinite(logarithm) ? eps * (8 + 2 * fabs(logarithm)) : 0);
    else
        check_near(t, RESULT, k, real_value(soft),
                   isfinite(soft) ? soft * eps * (below + 8) + ldexp(1, -148) : 0);
}

static void check_softmax(trial *t)
{
    const bool log_of = t->check->op == TSR_OP_LOG_SOFTMAX;
    int64_t shape[TRIAL_RANK];
    const int ndim = random_shape(t, shape, 1, TRIAL_RANK, true), axis = (int)random_below(t, ndim);
    make_input(t, X, t->check->dtype, ndim, shape, once_in(t, 3) ? FILL_SPECIAL : FILL_SMALL);
    make_output(t, RESULT, t->check->dtype, ndim, shape);
    GO_ON(t);
    const tsr_tensor *x = operand_or_result(t, X, RESULT);
    NEED(t,
         (log_of ? tsr_log_softmax : tsr_softmax)(&t->tensor[RESULT], x, once_in(t, 2) ? axis : axis - ndim));
    check_gaps(t, RESULT);
    double *lane = trial_room(t, (size_t)shape[axis] * sizeof *lane);
    const int64_t count = count_of(ndim, shape), cost = 4 * shape[axis];
    for (int64_t k = first_sample(t, count, cost); k >= 0; k = next_sample(t, k, count, cost)) {
        const int64_t i = read_lane(lane, t->tensor[X], k, axis);
        check_soft(t, k, lane, shape[axis], i, log_of);
    }
}

/* A row that is long enough to be computed in parts, of which the first hold -infinity alone. */
static void check_masked_softmax(trial *t)
{
    const bool log_of = t->check->op == TSR_OP_LOG_SOFTMAX;
    const int64_t n = 140000 + random_below(t, 2), hidden = n / 2;
    long double sum = 0;
    double most = -INFINITY;
    t->packed = true;
    make_input(t, X, t->check->dtype, 1, &n, FILL_SMALL);
    GO_ON(t);
    NEED(t, tsr_clone(&t->tensor[Y], t->tensor[X]));
    NEED(t, tsr_slice(&t->tensor[Z], t->tensor[Y], 0, 0, hidden, 1));
    NEED(t, tsr_fill(t->tensor[Z], TSR_SCALAR(-INFINITY)));
    NEED(t, (log_of ? tsr_log_softmax : tsr_softmax)(&t->tensor[RESULT], t->tensor[Y], 0));
    for (int64_t k = hidden; k < n; k++) most = fmax(most, value_at(t->tensor[X], k).re);
    for (int64_t k = hidden; k < n; k++) sum += expl((long double)value_at(t->tensor[X], k).re - most);
    const double eps = 2 * epsilon_of(t->check->dtype), total = log((double)sum);
    for (int64_t k = first_sample(t, n, 1); k >= 0; k = next_sample(t, k, n, 1)) {
        const double below = k < hidden ? -INFINITY : value_at(t->tensor[X], k).re - most;
        if (log_of)
            check_near(t, RESULT, k, real_value(below - total),
                       k < hidden ? 0 : eps * (8 + 2 * fabs(below - total)));
        else
            check_near(t, RESULT, k, real_value(exp(below - total)),
                       k < hidden ? 0 : exp(below - total) * eps * (16 - below) + ldexp(1, -148));
    }
}

/* Of pairs ----------------------------------------------------------------------------------- */

/* a: the delta or beta of losses that have one. */
typedef double (*pair_right_fn)(double x, double y, double a);
typedef tsr_status (*pair_fn)(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y, tsr_reduction how,
                              double a);

typedef struct pair_rule {
    const char *name;
    pair_fn call;
    pair_right_fn right;
} pair_rule;

static double right_mse(double x, double y, double a) { return (void)a, (x - y) * (x - y); }
static double right_l1(double x, double y, double a) { return (void)a, fabs(x - y); }
static double right_huber(double x, double y, double a)
{
    const double d = fabs(x - y);
    return d <= a ? d * d / 2 : a * (d - a / 2);
}
static double right_smooth_l1(double x, double y, double a)
{
    const double d = fabs(x - y);
    return d < a ? d * d / (2 * a) : d - a / 2;
}

static tsr_status mse(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y, tsr_reduction how, double a)
{
    (void)a;
    return tsr_mse_loss(out, x, y, how);
}

static tsr_status l1(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y, tsr_reduction how, double a)
{
    (void)a;
    return tsr_l1_loss(out, x, y, how);
}

static const pair_rule pair_rules[] = {
    { "mse_loss", mse, right_mse },
    { "l1_loss", l1, right_l1 },
    { "huber_loss", tsr_huber_loss, right_huber },
    { "smooth_l1_loss", tsr_smooth_l1_loss, right_smooth_l1 },
};

/* The loss of pair k, with a bound on its error. */
static double pair_loss(trial *t, const pair_rule *r, int64_t k, double a, double *error)
{
    const double x = value_at(t->tensor[X], k).re, y = value_at(t->tensor[Y], k).re, loss = r->right(x, y, a);
    *error = 4 * epsilon_of(t->check->dtype) * (fabs(loss) + (fabs(x) + fabs(y)) * (1 + fabs(x - y)));
    return loss;
}

/* The sum of all, or their mean: NaN of none. */
static void check_total(trial *t, const pair_rule *r, double a, bool mean)
{
    const int64_t n = tsr_numel(t->tensor[X]);
    double errors = 0;
    long double total = 0;
    if (t->how && t->how->unchecked) return;
    for (int64_t k = 0; k < n; k++) {
        double error;
        total += pair_loss(t, r, k, a, &error);
        errors += error;
    }
    const double by = mean ? (double)n : 1, sum = (double)total;
    check_near(t, RESULT, 0, real_value(sum / by),
               errors / by + 4 * epsilon_of(t->check->dtype) * fabs(sum / by));
}

static void check_pairs(trial *t)
{
    const pair_rule *r = t->check->about;
    static const double parameters[] = { 1, 2, 2.5, 0.125 };
    const double a = parameters[random_below(t, 4)] * (r->right == right_smooth_l1 && once_in(t, 4) ? 0 : 1);
    const tsr_reduction how = (tsr_reduction)random_below(t, 3);
    int64_t shape[TRIAL_RANK];
    const int ndim = random_shape(t, shape, 0, TRIAL_RANK, true);
    make_input(t, X, t->check->dtype, ndim, shape, FILL_SMALL);
    make_input(t, Y, t->check->dtype, ndim, shape, FILL_SMALL);
    make_output(t, RESULT, t->check->dtype, how == TSR_REDUCTION_NONE ? ndim : 0, shape);
    GO_ON(t);
    const tsr_tensor *x = how == TSR_REDUCTION_NONE ? operand_or_result(t, X, RESULT) : t->tensor[X];
    NEED(t, r->call(&t->tensor[RESULT], x, t->tensor[Y], how, a));
    check_gaps(t, RESULT);
    if (how != TSR_REDUCTION_NONE) check_total(t, r, a, how == TSR_REDUCTION_MEAN);
    const int64_t count = how == TSR_REDUCTION_NONE ? count_of(ndim, shape) : 0;
    for (int64_t k = first_sample(t, count, 4); k >= 0; k = next_sample(t, k, count, 4)) {
        double error;
        const double wanted = pair_loss(t, r, k, a, &error);
        check_near(t, RESULT, k, real_value(wanted), error);
    }
}

static void check_swiglu(trial *t)
{
    int64_t shape[TRIAL_RANK];
    const int ndim = random_shape(t, shape, 0, TRIAL_RANK, true);
    make_input(t, X, t->check->dtype, ndim, shape, once_in(t, 3) ? FILL_SPECIAL : FILL_SMALL);
    make_input(t, Y, t->check->dtype, ndim, shape, FILL_SMALL);
    make_output(t, RESULT, t->check->dtype, ndim, shape);
    GO_ON(t);
    const tsr_tensor *x = operand_or_result(t, X, RESULT);
    NEED(t, tsr_swiglu(&t->tensor[RESULT], x, t->tensor[Y]));
    check_gaps(t, RESULT);
    const int64_t count = count_of(ndim, shape);
    for (int64_t k = first_sample(t, count, 4); k >= 0; k = next_sample(t, k, count, 4)) {
        const double gate = value_at(t->tensor[X], k).re, up = value_at(t->tensor[Y], k).re;
        const double wanted = (gate == -INFINITY ? 0 : gate / (1 + exp(-gate))) * up;
        const double slack = 4 * epsilon_of(t->check->dtype) * fabs(wanted) + ldexp(fabs(up), -148);
        check_near(t, RESULT, k, real_value(wanted), isfinite(wanted) ? slack : 0);
    }
}

/* Attention ------------------------------------------------------------------------------------- */

/* How a trial attends: in each of b batches g heads of keys for h of queries; scores are multiplied with
 * scale / sqrt(d). */
typedef struct attending {
    int64_t b, h, g, m, n, d, e;
    double scale;
    bool causal;
} attending;

/* What a key of a row came to: its score, -INFINITY if it is not seen, and how large its terms are. */
typedef struct scored { double score, size; } scored;

static scored score_of(const trial *t, int64_t q, int64_t k, int64_t d, double scale)
{
    scored s = { 0, 0 };
    for (int64_t p = 0; p < d; p++) {
        const double x = value_at(t->tensor[X], q + p).re * value_at(t->tensor[Y], k + p).re;
        s.score += x;
        s.size += fabs(x);
    }
    return (scored){ s.score * scale, s.size * fabs(scale) };
}

/* Adds what the mask adds. */
static void mask_score(const trial *t, const attending *a, int64_t head, int64_t i, int64_t c, scored *s)
{
    const tsr_tensor *mask = t->tensor[FULL_MASK];
    if (a->causal && c > i + a->n - a->m) s->score = -INFINITY;
    if (!mask) return;
    const value v = value_at(mask, (head * a->m + i) * a->n + c);
    const double add = mask->dtype != TSR_BOOL ? v.re : v.bits != 0 ? 0 : -INFINITY;
    s->score += add;
    s->size += isfinite(add) ? fabs(add) : 0;
}

/* The largest score of n keys; 0 if none is seen. */
static double largest_score(const scored *key, int64_t n)
{
    double most = -INFINITY;
    for (int64_t c = 0; c < n; c++) most = fmax(most, key[c].score);
    return most == -INFINITY ? 0 : most;
}

/* Rounding errors of sums over n keys, in epsilons; of unequal terms they cancel like random steps. */
static double roundings(const trial *t, int64_t n)
{
    bool repeats = false;
    for (int slot = Y; slot <= Z; slot++)
        for (int d = 0; d < t->tensor[slot]->ndim; d++) repeats = repeats || t->tensor[slot]->stride[d] == 0;
    return 4 + (repeats ? (double)n : sqrt((double)n)) / 2;
}

/* How far the mean z of values may be off, by rounding: a weight by that of its score, which changes the mean
 * by as much as its value differs. Devices round the weights to the dtype of values too, as their tensor
 * cores take both in one. */
static double mean_slack(const trial *t, const scored *key, int64_t n, int64_t first, int64_t step, double z)
{
    const tsr_dtype dtype = t->check->dtype;
    const double most = largest_score(key, n), few = roundings(t, n);
    double sum = 0, off = 0;
    if (t->device != TSR_CPU) return 16 * (256 * epsilon_of(dtype) + rounding_near_1(dtype));
    for (int64_t c = 0; c < n; c++) {
        const double weight = exp(key[c].score - most), v = value_at(t->tensor[Z], first + c * step).re;
        if (key[c].score == -INFINITY) continue;
        sum += weight;
        off += weight * (fabs(v - z) * (2 * key[c].size + (most - key[c].score) / 2 + 4) + fabs(v) * few);
    }
    return sum > 0 ? epsilon_of(dtype) * off / sum + ldexp((double)n, -120) : 0;
}

/* The mean of values by the exponentials of scores, against element `at`; the value of key c is element
 * first + c * step. */
static void check_mean(trial *t, int64_t at, const scored *key, int64_t n, int64_t first, int64_t step)
{
    const double most = largest_score(key, n);
    double top = 0, bottom = 0;
    for (int64_t c = 0; c < n; c++) {
        const double weight = exp(key[c].score - most);
        top += weight * value_at(t->tensor[Z], first + c * step).re;
        bottom += weight;
    }
    const double z = bottom > 0 ? top / bottom : 0;
    check_near(t, RESULT, at, real_value(z), mean_slack(t, key, n, first, step, z));
}

/* softmax(scale q k^T + mask) v; element j of row i of a head, which is one of b * h. */
static void check_attended(trial *t, const attending *a, scored *key, int64_t head, int64_t i, int64_t j)
{
    const int64_t own = head / a->h * a->g + head % a->h / (a->h / a->g), row = head * a->m + i;
    for (int64_t c = 0; c < a->n; c++) {
        key[c] = score_of(t, row * a->d, (own * a->n + c) * a->d, a->d, a->scale / sqrt((double)a->d));
        mask_score(t, a, head, i, c, &key[c]);
    }
    check_mean(t, row * a->e + j, key, a->n, own * a->n * a->e + j, a->e);
}

/* Of bools, or of numbers to add; for all batches or heads, or for all rows too. */
static void make_mask(trial *t, const attending *a, int rank)
{
    const int64_t full[] = { a->b, a->h, a->m, a->n };
    int64_t shape[] = { a->b, a->h, a->m, a->n };
    const int first = 4 - rank, drop = (int)random_between(t, first, 3);
    const tsr_dtype dtype = once_in(t, 2) ? TSR_BOOL : once_in(t, 2) ? TSR_F32 : t->check->dtype;
    for (int d = 0; d < 3; d++)
        if (once_in(t, 4)) shape[d] = 1;
    make_output(t, MASK, dtype, 4 - drop, shape + drop);
    GO_ON(t);
    for (int64_t k = 0; k < tsr_numel(t->tensor[MASK]); k++) {
        const bool hidden = once_in(t, 4);
        const bool hides = hidden && ref_format_of(dtype).infinities;
        const double add = hides ? -INFINITY : (double)random_between(t, -4, 4);
        write_value(dtype, element(t->tensor[MASK], k), (value){ .bits = !hidden, .re = add });
    }
    make_packed(t, FULL_MASK, MASK, rank, full + first);
}

static attending random_attending(trial *t)
{
    static const double scales[] = { 1, 0.125, 0.5, -1 };
    const int64_t most = most_elements(t);
    attending a = { .b = once_in(t, 3) ? random_between(t, 0, 3) : 1,
                    .g = random_between(t, 1, 2),
                    .causal = once_in(t, 2),
                    .scale = scales[random_below(t, 4)] };
    a.h = a.g * random_between(t, 1, 3);
    a.m = random_size(t, 1, 4, most / 16);
    a.n = a.m + random_size(t, 0, 2, most / 16);
    a.d = random_size(t, 1, 4, most / (2 * a.n));
    a.e = random_size(t, 1, 4, most / (2 * a.n));
    if (once_in(t, 8)) a.n = random_between(t, 0, a.m); /* then the first rows see nothing, if it is causal */
    return a;
}

static void check_attention(trial *t)
{
    const attending a = random_attending(t);
    const tsr_attention_options how = { .causal = a.causal,
                                        .scale = a.scale == 1 ? 0 : a.scale / sqrt((double)a.d) };
    const int rank = a.b == 1 && once_in(t, 2) ? 3 : 4, first = 4 - rank;
    const int64_t q[] = { a.b, a.h, a.m, a.d }, k[] = { a.b, a.g, a.n, a.d }, v[] = { a.b, a.g, a.n, a.e },
                  z[] = { a.b, a.h, a.m, a.e };
    make_input(t, X, t->check->dtype, rank, q + first, FILL_SMALL);
    make_input(t, Y, t->check->dtype, rank, k + first, FILL_SMALL);
    make_input(t, Z, t->check->dtype, rank, v + first, FILL_SMALL);
    make_output(t, RESULT, t->check->dtype, rank, z + first);
    if (once_in(t, 3) && a.b * a.h * a.m * a.n <= 4 * most_elements(t)) make_mask(t, &a, rank);
    GO_ON(t);
    NEED(t,
         tsr_attention(&t->tensor[RESULT], t->tensor[X], t->tensor[Y], t->tensor[Z], t->tensor[MASK], &how));
    check_gaps(t, RESULT);
    const int64_t count = a.b * a.h * a.m * a.e, cost = a.n * (a.d + 4);
    scored *key = trial_room(t, (size_t)a.n * sizeof *key);
    for (int64_t at = first_sample(t, count, cost); at >= 0 && key; at = next_sample(t, at, count, cost))
        check_attended(t, &a, key, at / (a.m * a.e), at / a.e % a.m, at % a.e);
}

/* Row i of the last m sees rows 0 .. i + n - m; heads lie side by side, and share keys. */
static void check_self_attended(trial *t, scored *key, double scale, int64_t i, int64_t head, int64_t j)
{
    const tsr_tensor *q = t->tensor[X], *k = t->tensor[Y], *v = t->tensor[Z];
    const int64_t h = q->shape[1], g = k->shape[1], d = q->shape[2], e = v->shape[2], own = head / (h / g),
                  n = i + k->shape[0] - q->shape[0] + 1;
    for (int64_t c = 0; c < n; c++)
        key[c] = score_of(t, (i * h + head) * d, (c * g + own) * d, d, scale);
    check_mean(t, (i * h + head) * e + j, key, n, own * e + j, g * e);
}

static void check_self_attention(trial *t)
{
    const int64_t most = most_elements(t), g = random_between(t, 1, 2), h = g * random_between(t, 1, 2),
                  m = random_size(t, 1, 4, most / 16), n = m + random_size(t, 0, 3, most / 16),
                  d = random_size(t, 1, 4, most / (2 * n)), e = random_size(t, 1, 4, most / (2 * n));
    const bool usual = once_in(t, 2);
    const double scale = usual ? 1 / sqrt((double)d) : 0.5 / sqrt((double)d);
    const int64_t q[] = { m, h, d }, k[] = { n, g, d }, v[] = { n, g, e }, z[] = { m, h, e };
    make_input(t, X, t->check->dtype, 3, q, FILL_SMALL);
    make_input(t, Y, t->check->dtype, 3, k, FILL_SMALL);
    make_input(t, Z, t->check->dtype, 3, v, FILL_SMALL);
    make_output(t, RESULT, t->check->dtype, 3, z);
    GO_ON(t);
    NEED(t, tsr_self_attention(&t->tensor[RESULT], t->tensor[X], t->tensor[Y], t->tensor[Z],
                               usual ? 0 : scale));
    check_gaps(t, RESULT);
    const int64_t count = m * h * e, cost = n * (d + 4);
    scored *key = trial_room(t, (size_t)n * sizeof *key);
    for (int64_t at = first_sample(t, count, cost); at >= 0 && key; at = next_sample(t, at, count, cost))
        check_self_attended(t, key, scale, at / e / h, at / e % h, at % e);
}

void list_nn(check_list *list)
{
    for (int d = 1; d < TSR_DTYPE_COUNT; d++) {
        if (!is_float((tsr_dtype)d)) continue;
        check c = { .family = "nn", .run = check_softmax, .op = TSR_OP_SOFTMAX, .dtype = (tsr_dtype)d };
        add_check(list, c, "softmax");
        c.op = TSR_OP_LOG_SOFTMAX;
        add_check(list, c, "log_softmax");
        c.run = check_masked_softmax;
        c.every = 16;
        if (d >= TSR_F16) add_check(list, c, "log_softmax of a masked row");
        c.op = TSR_OP_SOFTMAX;
        if (d >= TSR_F16) add_check(list, c, "softmax of a masked row");
        c.every = 0;
        c.op = TSR_OP_SWIGLU;
        c.run = check_swiglu;
        add_check(list, c, "swiglu");
        c.run = check_pairs;
        for (size_t i = 0; i < sizeof pair_rules / sizeof *pair_rules; i++) {
            c.op = tsr_op_find(pair_rules[i].name);
            c.about = &pair_rules[i];
            add_check(list, c, pair_rules[i].name);
        }
        c = (check){ .family = "attention",
                     .op = TSR_OP_ATTENTION,
                     .run = check_attention,
                     .dtype = (tsr_dtype)d,
                     .more = 8 };
        add_check(list, c, "attention");
        c.op = TSR_OP_SELF_ATTENTION;
        c.run = check_self_attention;
        add_check(list, c, "self_attention");
    }
}

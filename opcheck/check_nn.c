/* check_nn.c - networks: softmax, norms, gates, losses and attention, straight from their formulas. */
#include <math.h>
#include <string.h>

#include "trial.h"

enum { X, Y, Z, RESULT };

#define EPS 0.1 /* that norms add: large, so that no lane is divided by next to nothing */

/* Along an axis --------------------------------------------------------------------------- */

typedef tsr_status (*lane_fn)(tsr_tensor **out, const tsr_tensor *x, int axis);

/* Element i of the result, from the n elements of its lane. */
typedef double (*lane_right_fn)(const double *lane, int64_t n, int64_t i);

typedef struct lane_rule {
    const char   *name;
    lane_fn       call;
    lane_right_fn right;
    bool          last; /* along the last axis only */
} lane_rule;

static double sum_of_exp(const double *lane, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += exp(lane[i]); /* no element is large */
    return sum;
}

static double right_softmax(const double *lane, int64_t n, int64_t i)
{
    return exp(lane[i]) / sum_of_exp(lane, n);
}
static double right_log_softmax(const double *lane, int64_t n, int64_t i)
{
    return lane[i] - log(sum_of_exp(lane, n));
}

static double mean_square(const double *lane, int64_t n, double around)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (lane[i] - around) * (lane[i] - around);
    return sum / (double)n;
}

static double right_rms_norm(const double *lane, int64_t n, int64_t i)
{
    return lane[i] / sqrt(mean_square(lane, n, 0) + EPS);
}

static double right_layer_norm(const double *lane, int64_t n, int64_t i)
{
    double mean = 0;
    for (int64_t k = 0; k < n; k++) mean += lane[k];
    mean /= (double)n;
    return (lane[i] - mean) / sqrt(mean_square(lane, n, mean) + EPS);
}

static tsr_status rms_norm(tsr_tensor **out, const tsr_tensor *x, int axis)
{
    (void)axis;
    return tsr_rms_norm(out, x, NULL, EPS);
}

static tsr_status layer_norm(tsr_tensor **out, const tsr_tensor *x, int axis)
{
    (void)axis;
    return tsr_layer_norm(out, x, 1, NULL, NULL, EPS);
}

static const lane_rule lane_rules[] = {
    { "softmax", tsr_softmax, right_softmax, false },
    { "log_softmax", tsr_log_softmax, right_log_softmax, false },
    { "rms_norm", rms_norm, right_rms_norm, true },
    { "layer_norm", layer_norm, right_layer_norm, true },
};

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

static void check_lanes(trial *t)
{
    const lane_rule *r = t->check->about;
    int64_t shape[TRIAL_RANK];
    const int ndim = random_shape(t, shape, 1, 3, true);
    const int axis = r->last ? ndim - 1 : (int)random_below(t, ndim);
    make_input(t, X, t->check->dtype, ndim, shape, FILL_SMALL);
    make_output(t, RESULT, t->check->dtype, ndim, shape);
    GO_ON(t);
    NEED(t, r->call(&t->tensor[RESULT], t->tensor[X], axis));
    check_gaps(t, RESULT);
    double *lane = trial_room(t, (size_t)shape[axis] * sizeof *lane);
    const int64_t count = count_of(ndim, shape), cost = 4 * shape[axis];
    for (int64_t k = first_sample(t, count, cost); k >= 0; k = next_sample(t, k, count, cost)) {
        const int64_t i = read_lane(lane, t->tensor[X], k, axis);
        const double wanted = r->right(lane, shape[axis], i);
        check_near(t, RESULT, k, real_value(wanted), 256 * epsilon_of(t->check->dtype) * (1 + fabs(wanted)));
    }
}

/* Of pairs ----------------------------------------------------------------------------------- */

typedef tsr_status (*pair_fn)(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
typedef double (*pair_right_fn)(double x, double y);

typedef struct pair_rule {
    const char   *name;
    pair_fn       call;
    pair_right_fn right;
} pair_rule;

static double right_swiglu(double x, double y) { return y * x / (1 + exp(-x)); }
static double right_mse(double x, double y) { return (x - y) * (x - y); }
static double right_l1(double x, double y) { return fabs(x - y); }
static double right_huber(double x, double y)
{
    const double d = fabs(x - y);
    return d <= 2 ? d * d / 2 : 2 * (d - 1);
}
static double right_smooth_l1(double x, double y)
{
    const double d = fabs(x - y);
    return d < 2 ? d * d / 4 : d - 1;
}

static tsr_status mse(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y)
{
    return tsr_mse_loss(out, x, y, TSR_REDUCTION_NONE);
}

static tsr_status l1(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y)
{
    return tsr_l1_loss(out, x, y, TSR_REDUCTION_NONE);
}

static tsr_status huber(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y)
{
    return tsr_huber_loss(out, x, y, TSR_REDUCTION_NONE, 2);
}

static tsr_status smooth_l1(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y)
{
    return tsr_smooth_l1_loss(out, x, y, TSR_REDUCTION_NONE, 2);
}

static const pair_rule pair_rules[] = {
    { "swiglu", tsr_swiglu, right_swiglu },
    { "mse_loss", mse, right_mse },
    { "l1_loss", l1, right_l1 },
    { "huber_loss", huber, right_huber },
    { "smooth_l1_loss", smooth_l1, right_smooth_l1 },
};

static void check_pairs(trial *t)
{
    const pair_rule *r = t->check->about;
    int64_t shape[TRIAL_RANK];
    const int ndim = random_shape(t, shape, 0, 3, true);
    make_input(t, X, t->check->dtype, ndim, shape, FILL_SMALL);
    make_input(t, Y, t->check->dtype, ndim, shape, FILL_SMALL);
    make_output(t, RESULT, t->check->dtype, ndim, shape);
    GO_ON(t);
    NEED(t, r->call(&t->tensor[RESULT], t->tensor[X], t->tensor[Y]));
    check_gaps(t, RESULT);
    const int64_t count = count_of(ndim, shape);
    for (int64_t k = first_sample(t, count, 4); k >= 0; k = next_sample(t, k, count, 4)) {
        const double x = value_at(t->tensor[X], k).re, y = value_at(t->tensor[Y], k).re;
        const double size = (1 + fabs(x) + fabs(y)) * (1 + fabs(x) + fabs(y));
        check_near(t, RESULT, k, real_value(r->right(x, y)), 16 * epsilon_of(t->check->dtype) * size);
    }
}

/* Attention ------------------------------------------------------------------------------------- */

/* softmax(q k^T / sqrt(d)) v, where row i sees keys 0 .. seen - 1; element j of it. */
static double right_attention(const trial *t, int64_t head, int64_t i, int64_t j, int64_t seen)
{
    const tsr_tensor *q = t->tensor[X], *k = t->tensor[Y], *v = t->tensor[Z];
    const int64_t m = q->shape[1], n = k->shape[1], d = q->shape[2], e = v->shape[2];
    double top = 0, bottom = 0;
    for (int64_t c = 0; c < seen; c++) {
        double score = 0;
        for (int64_t a = 0; a < d; a++)
            score += value_at(q, (head * m + i) * d + a).re * value_at(k, (head * n + c) * d + a).re;
        const double weight = exp(score / sqrt((double)d) - 100); /* scores reach some hundreds */
        top += weight * value_at(v, (head * n + c) * e + j).re;
        bottom += weight;
    }
    return top / bottom;
}

static void check_attention(trial *t)
{
    const int64_t most = most_elements(t), heads = random_between(t, 1, 2), m = random_size(t, 1, 4, most / 16),
                  n = m + random_size(t, 0, 2, most / 16), d = random_size(t, 1, 4, most / (2 * n)),
                  e = random_size(t, 1, 4, most / (2 * n));
    const tsr_attention_options how = { .causal = once_in(t, 2) };
    const int64_t q[] = { heads, m, d }, k[] = { heads, n, d }, v[] = { heads, n, e }, z[] = { heads, m, e };
    make_input(t, X, t->check->dtype, 3, q, FILL_SMALL);
    make_input(t, Y, t->check->dtype, 3, k, FILL_SMALL);
    make_input(t, Z, t->check->dtype, 3, v, FILL_SMALL);
    make_output(t, RESULT, t->check->dtype, 3, z);
    GO_ON(t);
    NEED(t, tsr_attention(&t->tensor[RESULT], t->tensor[X], t->tensor[Y], t->tensor[Z], NULL, &how));
    check_gaps(t, RESULT);
    const int64_t count = heads * m * e, cost = n * (d + 4);
    for (int64_t at = first_sample(t, count, cost); at >= 0; at = next_sample(t, at, count, cost)) {
        const int64_t i = at / e % m;
        const double wanted = right_attention(t, at / (m * e), i, at % e, how.causal ? i + n - m + 1 : n);
        /* A rounding of a score of 256 is multiplied by the sizes of the values. */
        check_near(t, RESULT, at, real_value(wanted), 256 * 16 * epsilon_of(t->check->dtype));
    }
}

/* Row i of the last m sees rows 0 .. i + n - m; heads lie side by side, and share keys. */
static double right_self_attention(const trial *t, int64_t i, int64_t head, int64_t j)
{
    const tsr_tensor *q = t->tensor[X], *k = t->tensor[Y], *v = t->tensor[Z];
    const int64_t h = q->shape[1], g = k->shape[1], d = q->shape[2], e = v->shape[2], own = head / (h / g);
    double top = 0, bottom = 0;
    for (int64_t c = 0; c <= i + k->shape[0] - q->shape[0]; c++) {
        double score = 0;
        for (int64_t a = 0; a < d; a++)
            score += value_at(q, (i * h + head) * d + a).re * value_at(k, (c * g + own) * d + a).re;
        const double weight = exp(score / sqrt((double)d) - 100);
        top += weight * value_at(v, (c * g + own) * e + j).re;
        bottom += weight;
    }
    return top / bottom;
}

static void check_self_attention(trial *t)
{
    const int64_t g = random_between(t, 1, 2), h = g * random_between(t, 1, 2), m = random_between(t, 1, 4),
                  n = m + random_below(t, 3), d = random_between(t, 1, 4), e = random_between(t, 1, 4);
    const int64_t q[] = { m, h, d }, k[] = { n, g, d }, v[] = { n, g, e }, z[] = { m, h, e };
    make_input(t, X, t->check->dtype, 3, q, FILL_SMALL);
    make_input(t, Y, t->check->dtype, 3, k, FILL_SMALL);
    make_input(t, Z, t->check->dtype, 3, v, FILL_SMALL);
    make_output(t, RESULT, t->check->dtype, 3, z);
    GO_ON(t);
    NEED(t, tsr_self_attention(&t->tensor[RESULT], t->tensor[X], t->tensor[Y], t->tensor[Z], 0));
    check_gaps(t, RESULT);
    for (int64_t at = 0; at < m * h * e && !t->failed; at++)
        check_near(t, RESULT, at, real_value(right_self_attention(t, at / e / h, at / e % h, at % e)),
                   256 * 16 * epsilon_of(t->check->dtype));
}

void list_nn(check_list *list)
{
    for (int d = TSR_F8E4M3; d <= TSR_F64; d++) {
        check c = { .family = "nn", .run = check_lanes, .dtype = (tsr_dtype)d };
        for (size_t i = 0; i < sizeof lane_rules / sizeof *lane_rules; i++) {
            c.op = tsr_op_find(lane_rules[i].name);
            c.about = &lane_rules[i];
            add_check(list, c, lane_rules[i].name);
        }
        c.run = check_pairs;
        for (size_t i = 0; i < sizeof pair_rules / sizeof *pair_rules; i++) {
            c.op = tsr_op_find(pair_rules[i].name);
            c.about = &pair_rules[i];
            add_check(list, c, pair_rules[i].name);
        }
        c = (check){
            .family = "attention", .op = TSR_OP_ATTENTION, .run = check_attention, .dtype = (tsr_dtype)d
        };
        add_check(list, c, "attention");
        c.op = TSR_OP_SELF_ATTENTION;
        c.run = check_self_attention;
        add_check(list, c, "self_attention");
    }
}

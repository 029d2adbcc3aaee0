/* check_training.c - steps of training on lists of tensors, each element computed by hand. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "trial.h"

enum { MOST_TENSORS = 3, MOST_LISTS = 4, PARAMS = 0, GRADS = 1, FIRSTS = 2, SECONDS = 3 };

/* The numbers of a call, and of one element: what its operands are, and what they become within what. */
typedef struct numbers {
    double rate, momentum, decay, beta2, eps;
    int64_t step;
    bool nesterov, decoupled;
} numbers;

typedef struct one {
    double x[MOST_LISTS], slack[MOST_LISTS];
} one;

typedef struct step_rule {
    const char *name;
    tsr_op_kind kind;
    int lists;
    tsr_status (*call)(const numbers *s, int n, tsr_tensor *const (*x)[MOST_TENSORS],
                       const tsr_tensor *const *grads);
    void (*compute)(const numbers *s, one *e, double epsilon);
} step_rule;

/* References ----------------------------------------------------------------------------------- */

static void scale_one(const numbers *s, one *e, double epsilon)
{
    e->x[PARAMS] *= s->rate;
    e->slack[PARAMS] = 2 * epsilon * fabs(e->x[PARAMS]);
}

static void axpy_one(const numbers *s, one *e, double epsilon)
{
    const double more = s->rate * e->x[GRADS];
    e->slack[PARAMS] = 4 * epsilon * (fabs(more) + fabs(e->x[PARAMS]));
    e->x[PARAMS] += more;
}

/* The gradient with the weights' share, and its error. */
static double gradient(const numbers *s, const one *e, double epsilon, double *error)
{
    const double share = s->decoupled ? 0 : s->decay * e->x[PARAMS];
    *error = 4 * epsilon * (fabs(e->x[GRADS]) + fabs(share));
    return e->x[GRADS] + share;
}

static void move_param(const numbers *s, one *e, double epsilon, double step, double error)
{
    const double kept = e->x[PARAMS] * (s->decoupled ? 1 - s->rate * s->decay : 1);
    e->slack[PARAMS] = 8 * epsilon * (fabs(e->x[PARAMS]) + fabs(step)) + error;
    e->x[PARAMS] = kept - step;
}

static void sgd_one(const numbers *s, one *e, double epsilon)
{
    double error;
    const double g = gradient(s, e, epsilon, &error), had = s->momentum * e->x[FIRSTS], v = had + g;
    const double step = s->rate * (s->nesterov ? g + s->momentum * v : v);
    error += 4 * epsilon * (fabs(had) + fabs(g));
    e->x[FIRSTS] = v;
    e->slack[FIRSTS] = error;
    move_param(s, e, epsilon, step, 2 * s->rate * (error + 4 * epsilon * (fabs(had) + fabs(g))));
}

static void adam_one(const numbers *s, one *e, double epsilon)
{
    double error;
    const double g = gradient(s, e, epsilon, &error), a = s->momentum, b = s->beta2;
    const double m = a * e->x[FIRSTS] + (1 - a) * g, v = b * e->x[SECONDS] + (1 - b) * g * g;
    const double begun_a = 1 - pow(a, (double)s->step), begun_b = 1 - pow(b, (double)s->step);
    const double of_power = (double)s->step * DBL_EPSILON;  /* beta^step, multiplied out */
    const double root = sqrt(v / begun_b), below = root + s->eps;
    const double of_m = 4 * epsilon * (fabs(a * e->x[FIRSTS]) + fabs((1 - a) * g)) + (1 - a) * error;
    const double of_v = 8 * epsilon * v + 2 * (1 - b) * fabs(g) * error;
    const double of_below = 4 * epsilon * below + (v > 0 ? root * of_v / v : 0) + root * of_power / begun_b;
    const double rate = s->rate / begun_a;
    e->x[FIRSTS] = m;
    e->slack[FIRSTS] = of_m;
    e->x[SECONDS] = v;
    e->slack[SECONDS] = of_v;
    move_param(s, e, epsilon, rate * m / below,
               rate * (of_m + fabs(m) * (of_below / below + of_power / begun_a)) / below);
}

/* Calls ---------------------------------------------------------------------------------------- */

static tsr_status call_scale(const numbers *s, int n, tsr_tensor *const (*x)[MOST_TENSORS],
                             const tsr_tensor *const *grads)
{
    (void)grads;
    return tsr_scale_each(n, x[PARAMS], s->rate);
}

static tsr_status call_axpy(const numbers *s, int n, tsr_tensor *const (*x)[MOST_TENSORS],
                            const tsr_tensor *const *grads)
{
    return tsr_axpy_each(n, x[PARAMS], grads, s->rate);
}

static tsr_status call_sgd(const numbers *s, int n, tsr_tensor *const (*x)[MOST_TENSORS],
                           const tsr_tensor *const *grads)
{
    return tsr_sgd_step(n, x[PARAMS], x[FIRSTS], grads, s->rate, s->momentum, s->decay, s->nesterov,
                        s->decoupled);
}

static tsr_status call_adam(const numbers *s, int n, tsr_tensor *const (*x)[MOST_TENSORS],
                            const tsr_tensor *const *grads)
{
    return tsr_adam_step(n, x[PARAMS], x[FIRSTS], x[SECONDS], grads, s->step, s->rate, s->momentum, s->beta2,
                         s->eps, s->decay, s->decoupled);
}

static const step_rule rules[] = {
    { "scale_each", TSR_OP_SCALE_EACH, 1, call_scale, scale_one },
    { "axpy_each", TSR_OP_AXPY_EACH, 2, call_axpy, axpy_one },
    { "sgd_step", TSR_OP_SGD_STEP, 3, call_sgd, sgd_one },
    { "adam_step", TSR_OP_ADAM_STEP, 4, call_adam, adam_one },
};

/* Trials ------------------------------------------------------------------------------------------ */

static bool takes(tsr_dtype d) { return d == TSR_F16 || d == TSR_BF16 || d == TSR_F32 || d == TSR_F64; }

static tsr_dtype any_dtype(trial *t)
{
    static const tsr_dtype dtypes[] = { TSR_F16, TSR_BF16, TSR_F32, TSR_F64 };
    return once_in(t, 3) ? dtypes[random_below(t, 4)] : t->check->dtype;
}

static numbers random_numbers(trial *t)
{
    return (numbers){ .rate = ldexp((double)random_between(t, 1, 100), -6),
                      .momentum = once_in(t, 6) ? 0 : 0.9, .decay = once_in(t, 2) ? 0 : 0.125,
                      .beta2 = once_in(t, 2) ? 0.999 : 0.99, .eps = 1e-3, .step = random_between(t, 1, 40),
                      .nesterov = once_in(t, 2), .decoupled = once_in(t, 2) };
}

/* A tensor of list k, which is changed unless it is a gradient. */
static void make_one(trial *t, int slot, int k, int ndim, const int64_t *shape)
{
    const tsr_dtype dtype = any_dtype(t);
    if (k == GRADS) {
        make_input(t, slot, dtype, ndim, shape, FILL_SMALL);
        return;
    }
    make_output(t, slot, dtype, ndim, shape);
    GO_ON(t);
    for (int64_t i = 0; i < tsr_numel(t->tensor[slot]); i++) {
        const double v = ldexp((double)random_between(t, k == SECONDS ? 0 : -200, 200), -6);
        write_value(dtype, element(t->tensor[slot], i), real_value(v));
    }
}

/* What every element was, tensor after tensor and list after list. */
static one *keep_elements(trial *t, int n, int lists)
{
    int64_t count = 0, at = 0;
    for (int i = 0; i < n; i++) count += tsr_numel(t->tensor[MOST_LISTS * i]);
    one *had = trial_room(t, sizeof *had * (size_t)(count + 1));
    for (int i = 0; i < n && had; i++)
        for (int64_t e = 0; e < tsr_numel(t->tensor[MOST_LISTS * i]); e++, at++)
            for (int k = 0; k < lists; k++) had[at].x[k] = value_at(t->tensor[MOST_LISTS * i + k], e).re;
    return had;
}

static void check_tensors(trial *t, int i, const step_rule *r, const numbers *s, one *had)
{
    double epsilon = ldexp(1, -52);
    bool wide = false;
    for (int k = 0; k < r->lists; k++) wide |= t->tensor[MOST_LISTS * i + k]->dtype == TSR_F64;
    if (!wide) epsilon = ldexp(1, -23);
    for (int64_t e = 0; e < tsr_numel(t->tensor[MOST_LISTS * i]) && !t->failed; e++) {
        r->compute(s, &had[e], epsilon);
        for (int k = 0; k < r->lists; k++)
            if (k != GRADS) check_near(t, MOST_LISTS * i + k, e, real_value(had[e].x[k]), had[e].slack[k]);
    }
}

static void check_step(trial *t)
{
    const step_rule *r = t->check->about;
    const int n = once_in(t, 20) ? 0 : (int)random_between(t, 1, MOST_TENSORS);
    const numbers s = random_numbers(t);
    tsr_tensor *x[MOST_LISTS][MOST_TENSORS];
    const tsr_tensor *grads[MOST_TENSORS];
    for (int i = 0; i < n; i++) {
        int64_t shape[TRIAL_RANK];
        const int ndim = random_shape(t, shape, 0, 4, true);
        for (int k = 0; k < r->lists && !t->failed; k++) make_one(t, MOST_LISTS * i + k, k, ndim, shape);
        GO_ON(t);
        for (int k = 0; k < r->lists; k++) x[k][i] = t->tensor[MOST_LISTS * i + k];
        grads[i] = r->lists > GRADS ? x[GRADS][i] : NULL;
    }
    one *had = keep_elements(t, n, r->lists);
    GO_ON(t);
    NEED(t, r->call(&s, n, (tsr_tensor *const (*)[MOST_TENSORS])x, grads));
    for (int i = 0; i < n && !t->failed; i++) {
        for (int k = 0; k < r->lists; k++)
            if (k != GRADS) check_gaps(t, MOST_LISTS * i + k);
        if (!(t->how && t->how->unchecked)) check_tensors(t, i, r, &s, had);
        had += tsr_numel(x[PARAMS][i]);
    }
}

/* Norms ------------------------------------------------------------------------------------------ */

/* A sum, and what its roundings lost. */
typedef struct total {
    double sum, lost;
} total;

static void add(total *to, double v)
{
    const double sum = to->sum + v;
    to->lost += fabs(to->sum) > fabs(v) ? (to->sum - sum) + v : (v - sum) + to->sum;
    to->sum = sum;
}

static void check_joint_norm(trial *t)
{
    enum { MOST = 8, RESULT = MOST };
    const tsr_tensor *xs[100];
    const int made = (int)random_between(t, 1, MOST), n = once_in(t, 6) ? 100 : made;
    total squares = { 0 };
    tsr_dtype wide = TSR_F32;
    for (int i = 0; i < made; i++) {
        int64_t shape[TRIAL_RANK];
        const int ndim = random_shape(t, shape, 0, 4, true);
        const tsr_dtype dtype = once_in(t, 3) ? any_dtype(t) : t->check->dtype;
        make_input(t, i, dtype, ndim, shape, FILL_SMALL);
        GO_ON(t);
    }
    for (int i = 0; i < n; i++) {
        const tsr_tensor *x = xs[i] = t->tensor[i % made];
        if (x->dtype == TSR_F64) wide = TSR_F64;
        for (int64_t k = 0; k < tsr_numel(x) && i < made; k++) {
            const double v = value_at(x, k).re;
            add(&squares, v * v * (double)(n / made + (i < n % made)));
        }
    }
    if (once_in(t, 2)) make_output(t, RESULT, wide, 0, NULL);
    GO_ON(t);
    NEED(t, tsr_joint_norm(&t->tensor[RESULT], n, xs));
    check_shape(t, RESULT, wide, 0, NULL);
    GO_ON(t);
    const double norm = sqrt(squares.sum + squares.lost);
    check_near(t, RESULT, 0, real_value(norm), 64 * rounding_of(t, wide, epsilon_of(wide)) * norm);
}

static bool takes_norm(tsr_dtype d) { return is_float(d); }

void list_training(check_list *list)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        add_checks(list, (check){ .family = "training", .op = rules[i].kind, .run = check_step,
                                  .about = &rules[i] }, rules[i].name, takes);
    add_checks(list, (check){ .family = "training", .op = TSR_OP_JOINT_NORM, .run = check_joint_norm },
               "joint_norm", takes_norm);
}

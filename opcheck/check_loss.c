/* check_loss.c - losses over classes, and indices drawn by softmax. */
#include <math.h>
#include <string.h>

#include "trial.h"

enum { LOGITS, TARGET, WEIGHT, RESULT, Y, MOST_CLASSES = 6, IGNORED = -7 };

/* logits (n, c, s), with what belongs to each place. */
typedef struct places {
    int64_t n, c, s;
} places;

static double logit(const trial *t, const places *p, int64_t place, int64_t class)
{
    return value_at(t->tensor[LOGITS], (place / p->s * p->c + class) * p->s + place % p->s).re;
}

static double weight_of(const trial *t, int64_t class)
{
    return t->tensor[WEIGHT] ? value_at(t->tensor[WEIGHT], class).re : 1;
}

/* -log softmax at a place is this less the logit. */
static double log_sum(const trial *t, const places *p, int64_t place)
{
    double sum = 0;
    for (int64_t i = 0; i < p->c; i++) sum += exp(logit(t, p, place, i)); /* no element is large */
    return log(sum);
}

static places make_places(trial *t)
{
    const places p = { random_between(t, 1, 4), random_size(t, 1, MOST_CLASSES, most_elements(t) / 16),
                       random_between(t, 1, 4) };
    make_input(t, LOGITS, t->check->dtype, 3, (const int64_t[]){ p.n, p.c, p.s }, FILL_SMALL);
    if (!once_in(t, 3)) make_input(t, Y, once_in(t, 2) ? t->check->dtype : TSR_F32, 1, &p.c, FILL_SMALL);
    const tsr_status s = t->tensor[Y] && !t->failed ? tsr_abs(&t->tensor[WEIGHT], t->tensor[Y]) : TSR_OK;
    if (s != TSR_OK) fail_call(t, "tsr_abs", s);
    return p;
}

/* Classes, some of which are ignored. */
static void make_targets(trial *t, const places *p)
{
    const tsr_dtype dtype = once_in(t, 2) ? TSR_I64 : TSR_I16;
    make_output(t, TARGET, dtype, 2, (const int64_t[]){ p->n, p->s });
    GO_ON(t);
    for (int64_t k = 0; k < p->n * p->s; k++) {
        const int64_t class = once_in(t, 5) ? IGNORED : random_below(t, p->c);
        write_value(dtype, element(t->tensor[TARGET], k), integer_value(dtype, (uint64_t) class));
    }
}

static double class_loss(const trial *t, const places *p, int64_t place, double smoothing)
{
    const int64_t class = (int64_t)value_at(t->tensor[TARGET], place).bits;
    double spread = 0;
    if (class == IGNORED) return 0;
    if (t->check->op == TSR_OP_NLL_LOSS) return -weight_of(t, class) * logit(t, p, place, class);
    const double top = log_sum(t, p, place);
    for (int64_t i = 0; i < p->c; i++)
        spread += weight_of(t, i) * (top - logit(t, p, place, i)) / (double)p->c;
    return (1 - smoothing) * weight_of(t, class) * (top - logit(t, p, place, class)) + smoothing * spread;
}

/* What the roundings of a place are multiplied with. */
static double size_of_place(const trial *t, const places *p, int64_t place)
{
    double size = 0;
    const double top = log_sum(t, p, place);
    const bool soft = t->check->op == TSR_OP_CROSS_ENTROPY_SOFT;
    for (int64_t i = 0; i < p->c; i++) {
        const double target =
            soft ? fabs(value_at(t->tensor[TARGET], (place / p->s * p->c + i) * p->s + place % p->s).re) : 1;
        size += (1 + target) * weight_of(t, i) * (1 + fabs(top) + fabs(logit(t, p, place, i)));
    }
    return size;
}

/* The mean is over the weights of the places that count: `weights` in all. */
static void check_losses(trial *t, const places *p, const double *loss, double weights,
                         tsr_reduction reduction)
{
    const double slack = 16 * epsilon_of(t->check->dtype);
    double sum = 0, sizes = 0, by = reduction == TSR_REDUCTION_MEAN ? weights : 1;
    check_gaps(t, RESULT);
    for (int64_t k = 0; k < p->n * p->s && !t->failed; k++) {
        sum += loss[k];
        sizes += size_of_place(t, p, k);
        if (reduction == TSR_REDUCTION_NONE)
            check_near(t, RESULT, k, real_value(loss[k]), slack * size_of_place(t, p, k));
    }
    if (reduction != TSR_REDUCTION_NONE)
        check_near(t, RESULT, 0, real_value(sum / by), slack * (sizes + fabs(sum)) / (by == 0 ? 1 : by));
}

static tsr_reduction make_result(trial *t, const places *p)
{
    const tsr_reduction reduction = (tsr_reduction)random_below(t, 3);
    make_output(t, RESULT, t->check->dtype, reduction == TSR_REDUCTION_NONE ? 2 : 0,
                (const int64_t[]){ p->n, p->s });
    return reduction;
}

static void check_class_loss(trial *t)
{
    const places p = make_places(t);
    const double smoothing = t->check->op == TSR_OP_NLL_LOSS || once_in(t, 2) ? 0 : 0.25;
    double loss[16];
    make_targets(t, &p);
    const tsr_reduction reduction = make_result(t, &p);
    GO_ON(t);
    if (t->check->op == TSR_OP_NLL_LOSS)
        NEED(t, tsr_nll_loss(&t->tensor[RESULT], t->tensor[LOGITS], t->tensor[TARGET], t->tensor[WEIGHT],
                             reduction, IGNORED));
    else
        NEED(t, tsr_cross_entropy(&t->tensor[RESULT], t->tensor[LOGITS], t->tensor[TARGET], t->tensor[WEIGHT],
                                  reduction, IGNORED, smoothing));
    double weights = 0;
    for (int64_t k = 0; k < p.n * p.s; k++) {
        const int64_t class = (int64_t)value_at(t->tensor[TARGET], k).bits;
        loss[k] = class_loss(t, &p, k, smoothing);
        weights += class == IGNORED ? 0 : weight_of(t, class);
    }
    check_losses(t, &p, loss, weights, reduction);
}

/* Targets that are probabilities; they need not sum to 1. */
static void check_soft_loss(trial *t)
{
    const places p = make_places(t);
    const double smoothing = once_in(t, 2) ? 0 : 0.25;
    double loss[16] = { 0 };
    make_input(t, TARGET, t->check->dtype, 3, (const int64_t[]){ p.n, p.c, p.s }, FILL_SMALL);
    const tsr_reduction reduction = make_result(t, &p);
    GO_ON(t);
    NEED(t, tsr_cross_entropy(&t->tensor[RESULT], t->tensor[LOGITS], t->tensor[TARGET], t->tensor[WEIGHT],
                              reduction, 0, smoothing));
    for (int64_t k = 0; k < p.n * p.s; k++) {
        const double top = log_sum(t, &p, k);
        for (int64_t i = 0; i < p.c; i++)
            loss[k] +=
                ((1 - smoothing) * value_at(t->tensor[TARGET], (k / p.s * p.c + i) * p.s + k % p.s).re +
                 smoothing / (double)p.c) *
                weight_of(t, i) * (top - logit(t, &p, k, i));
    }
    check_losses(t, &p, loss, (double)(p.n * p.s), reduction);
}

/* Sampling ------------------------------------------------------------------------------------------ */

typedef struct option_of {
    int64_t index;
    double p;
} option_of;

/* Descending, equal ones by index. */
static void sort_options(option_of *o, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        for (int64_t k = i; k > 0 && o[k].p > o[k - 1].p; k--) {
            const option_of other = o[k];
            o[k] = o[k - 1];
            o[k - 1] = other;
        }
}

static double sum_options(const option_of *o, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += o[i].p;
    return sum;
}

/* How many are kept by top_p; where a sum is as good as equal to the limit, *close is set. */
static int64_t kept_by(const option_of *o, int64_t n, double share, bool *close)
{
    const double limit = share * sum_options(o, n);
    double sum = 0;
    int64_t i = 0;
    while (i < n) {
        sum += o[i++].p;
        *close = *close || fabs(sum - limit) <= 1e-9 * limit;
        if (sum >= limit) break;
    }
    return i;
}

static void check_sample(trial *t)
{
    const int64_t rows = random_between(t, 1, 4), n = random_between(t, 1, 12), k = random_below(t, n + 1);
    const double heat = (double)random_between(t, 1, 8) / 4, top_p = (double)random_between(t, 1, 64) / 64,
                 r = (double)random_below(t, 64) / 64;
    make_input(t, LOGITS, t->check->dtype, 2, (const int64_t[]){ rows, n }, FILL_SMALL);
    GO_ON(t);
    NEED(t, tsr_sample_with(&t->tensor[RESULT], t->tensor[LOGITS], heat, k, top_p, r));
    check_shape(t, RESULT, TSR_I64, 1, &rows);
    for (int64_t row = 0; row < rows && !t->failed; row++) {
        option_of o[12];
        bool close = false;
        for (int64_t i = 0; i < n; i++)
            o[i] = (option_of){ i, exp(value_at(t->tensor[LOGITS], row * n + i).re / heat) };
        sort_options(o, n);
        const int64_t kept = kept_by(o, k ? k : n, top_p, &close), drawn = kept_by(o, kept, r, &close);
        if (close) continue; /* rounding decides */
        MUST(t, value_at(t->tensor[RESULT], row).bits == (uint64_t)o[drawn - 1].index,
             "row %lld gives index %lld, not %lld", (long long)row,
             (long long)value_at(t->tensor[RESULT], row).bits, (long long)o[drawn - 1].index);
    }
}

void list_loss(check_list *list)
{
    static const struct {
        const char *name;
        void (*run)(trial *t);
    } rules[] = {
        { "cross_entropy", check_class_loss },
        { "nll_loss", check_class_loss },
        { "cross_entropy_soft", check_soft_loss },
    };
    for (int d = 1; d < TSR_DTYPE_COUNT; d++) {
        if (!is_float((tsr_dtype)d)) continue;
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
            add_check(list,
                      (check){ .family = "nn",
                               .op = tsr_op_find(rules[i].name),
                               .run = rules[i].run,
                               .dtype = (tsr_dtype)d },
                      rules[i].name);
        add_check(
            list,
            (check){ .family = "random", .op = TSR_OP_SAMPLE, .run = check_sample, .dtype = (tsr_dtype)d },
            "sample");
    }
}

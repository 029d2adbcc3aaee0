/* ops_nn.c - networks: softmax, norms, rotary positions, losses, attention.
 *
 * Results are of the size of 1; errors are relative to that at least, and to the numbers that go
 * in, which are at most 4. */
#include <string.h>

#include "operands.h"

enum { X, Y, V, WEIGHT, BIAS };

#define EPS 0.01

static const tolerance lanes = { .ulps = 24, .least = 0 }, logs = { .ulps = 24, .least = 8 };
static const tolerance norms = { .ulps = 64, .least = 4 }, turns = { .ulps = 16, .least = 4 };
/* Angles reach 50, and are as far off as their last places are. */
static const tolerance angles = { .ulps = 16, .least = 32 };
static const tolerance losses = { .ulps = 16, .least = 16, .grows = GROWS_ROOT }, exact = { .ulps = 2 };
static const tolerance mixtures = { .ulps = 64, .least = 4 };

static const values inputs = { -4, 4, 0, false }, positive = { 0.25, 2, 0, false };

/* Lanes --------------------------------------------------------------------------------------- */

static tsr_status softmax(trial *t, side s)
{
    return tsr_softmax(RESULT(t, s, 0), IN(t, s, X), t->with.axis);
}
static tsr_status log_softmax(trial *t, side s)
{
    return tsr_log_softmax(RESULT(t, s, 0), IN(t, s, X), t->with.axis);
}
static tsr_status causal_softmax(trial *t, side s)
{
    return tsr_causal_softmax(RESULT(t, s, 0), IN(t, s, X));
}
static tsr_status layer_norm(trial *t, side s)
{
    return tsr_layer_norm(RESULT(t, s, 0), IN(t, s, X), t->with.naxes, IN(t, s, WEIGHT), IN(t, s, BIAS), EPS);
}
static tsr_status rms_norm(trial *t, side s)
{
    return tsr_rms_norm(RESULT(t, s, 0), IN(t, s, X), IN(t, s, WEIGHT), EPS);
}
static tsr_status add_rms_norm(trial *t, side s)
{
    return tsr_add_rms_norm(RESULT(t, s, 0), RESULT(t, s, 1), IN(t, s, X), IN(t, s, Y), IN(t, s, WEIGHT),
                            EPS);
}
static tsr_status batch_norm(trial *t, side s)
{
    return tsr_batch_norm(RESULT(t, s, 0), IN(t, s, X), IN(t, s, Y), IN(t, s, V), IN(t, s, WEIGHT),
                          IN(t, s, BIAS), EPS);
}
static tsr_status group_norm(trial *t, side s)
{
    return tsr_group_norm(RESULT(t, s, 0), IN(t, s, X), t->with.n[0], IN(t, s, WEIGHT), IN(t, s, BIAS), EPS);
}
static tsr_status swiglu(trial *t, side s) { return tsr_swiglu(RESULT(t, s, 0), IN(t, s, X), IN(t, s, Y)); }
static tsr_status dropout(trial *t, side s)
{
    return tsr_dropout(RESULT(t, s, 0), IN(t, s, X), t->with.a, t->with.seed);
}

/* Weights may have another dtype. */
static tsr_dtype weight_dtype(trial *t)
{
    const tsr_dtype other = once_in(t, 2) ? TSR_F32 : TSR_BF16;
    return once_in(t, 3) ? other : t->check->dtype;
}

static void make_weights(trial *t, int ndim, const int64_t *shape, bool bias_too)
{
    const tsr_dtype dtype = weight_dtype(t);
    if (!once_in(t, 3)) make_input(t, WEIGHT, dtype, ndim, shape, &positive);
    if (bias_too && !once_in(t, 3)) make_input(t, BIAS, dtype, ndim, shape, &inputs);
}

/* -infinity counts as nothing, and NaN spoils its lane. */
static values softmax_values(const trial *t)
{
    values v = inputs;
    if (t->number % 4 == 1) v.special = 30;
    return v;
}

static void check_softmax(trial *t)
{
    const values v = softmax_values(t);
    int64_t shape[RANK];
    const bool causal = t->check->op == TSR_OP_CAUSAL_SOFTMAX, is_log = t->check->op == TSR_OP_LOG_SOFTMAX;
    const int ndim = random_shape(t, shape, causal ? 2 : 1, 5, 60000);
    t->with.axis = (int)random_between(t, -ndim, ndim - 1);
    make_input(t, X, t->check->dtype, ndim, shape, &v);
    run_op(t, causal ? causal_softmax : is_log ? log_softmax : softmax, 1, 1, is_log ? &logs : &lanes);
}

static void check_norm(trial *t)
{
    const tsr_op_kind op = t->check->op;
    const bool by_channel = op == TSR_OP_BATCH_NORM || op == TSR_OP_GROUP_NORM;
    int64_t shape[RANK];
    const int ndim = random_shape(t, shape, by_channel ? 2 : 1, 5, 20000);
    if (op == TSR_OP_GROUP_NORM) {
        t->with.n[0] = random_between(t, 1, 3);
        shape[1] = t->with.n[0] * random_between(t, 1, 3);
    }
    t->with.naxes = op == TSR_OP_LAYER_NORM ? (int)random_between(t, 1, ndim) : 1;
    make_input(t, X, t->check->dtype, ndim, shape, &inputs);
    if (op == TSR_OP_ADD_RMS_NORM) make_input(t, Y, t->check->dtype, ndim, shape, &inputs);
    if (by_channel) {
        make_weights(t, 1, shape + 1, true);
        const tsr_tensor *like = IN(t, HERE, WEIGHT) ? IN(t, HERE, WEIGHT) : IN(t, HERE, BIAS);
        const tsr_dtype dtype = like ? like->dtype : weight_dtype(t);
        if (op == TSR_OP_BATCH_NORM) make_input(t, Y, dtype, 1, shape + 1, &inputs);
        if (op == TSR_OP_BATCH_NORM) make_input(t, V, dtype, 1, shape + 1, &positive);
    } else {
        make_weights(t, t->with.naxes, shape + ndim - t->with.naxes, op == TSR_OP_LAYER_NORM);
    }
    const call_fn call = op == TSR_OP_LAYER_NORM     ? layer_norm
                         : op == TSR_OP_RMS_NORM     ? rms_norm
                         : op == TSR_OP_ADD_RMS_NORM ? add_rms_norm
                         : op == TSR_OP_BATCH_NORM   ? batch_norm
                                                     : group_norm;
    run_op(t, call, op == TSR_OP_ADD_RMS_NORM ? 2 : 1, op == TSR_OP_ADD_RMS_NORM ? 0 : 1, &norms);
}

static void check_gate(trial *t)
{
    int64_t shape[RANK];
    const int ndim = random_shape(t, shape, 0, 5, 60000);
    make_input(t, X, t->check->dtype, ndim, shape, &inputs);
    t->with.a = random_real(t, 0, 1);
    t->with.seed = random_bits(t);
    if (t->check->op == TSR_OP_SWIGLU) make_input(t, Y, t->check->dtype, ndim, shape, &inputs);
    if (t->check->op == TSR_OP_SWIGLU)
        run_op(t, swiglu, 1, 3, &lanes);
    else
        run_op(t, dropout, 1, 1, &exact);
}

/* Rotary positions -------------------------------------------------------------------------------- */

static tsr_status rope(trial *t, side s)
{
    return tsr_rope(RESULT(t, s, 0), IN(t, s, X), IN(t, s, Y), 10000, (tsr_rope_mode)t->with.mode);
}
static tsr_status rope_with(trial *t, side s)
{
    return tsr_rope_with(RESULT(t, s, 0), IN(t, s, X), IN(t, s, Y), IN(t, s, WEIGHT), IN(t, s, BIAS),
                         (tsr_rope_mode)t->with.mode);
}

static void check_rope(trial *t)
{
    static const values units = { -1, 1, 0, false };
    const bool by_tables = t->check->op == TSR_OP_ROPE_WITH, large = t->number % 4 == 3;
    const int64_t shape[] = { random_between(t, t->number % 4 == 2 ? 0 : 1, 2),
                              random_between(t, 1, large ? 40 : 6), random_between(t, 1, 4),
                              2 * random_between(t, 1, large ? 32 : 4) };
    const int from = once_in(t, 2) ? 0 : 1;
    const int64_t table[] = { 50, shape[3] / 2 };
    const tsr_dtype dtype = weight_dtype(t);
    t->with.mode = (int)random_below(t, 2);
    make_input(t, X, t->check->dtype, 4 - from, shape + from, &inputs);
    make_integers(t, Y, once_in(t, 2) ? TSR_I64 : TSR_I32, 1, &shape[1], 0, 50);
    if (by_tables) make_input(t, WEIGHT, dtype, 2, table, &units);
    if (by_tables) make_input(t, BIAS, dtype, 2, table, &units);
    run_op(t, by_tables ? rope_with : rope, 1, 1, by_tables ? &turns : &angles);
}

/* Losses -------------------------------------------------------------------------------------------- */

static tsr_reduction reduction_of(const trial *t) { return (tsr_reduction)t->with.mode; }
static tsr_status cross_entropy(trial *t, side s)
{
    return tsr_cross_entropy(RESULT(t, s, 0), IN(t, s, X), IN(t, s, Y), IN(t, s, WEIGHT), reduction_of(t), 1,
                             t->with.a);
}
static tsr_status nll_loss(trial *t, side s)
{
    return tsr_nll_loss(RESULT(t, s, 0), IN(t, s, X), IN(t, s, Y), IN(t, s, WEIGHT), reduction_of(t), 1);
}
static tsr_status mse_loss(trial *t, side s)
{
    return tsr_mse_loss(RESULT(t, s, 0), IN(t, s, X), IN(t, s, Y), reduction_of(t));
}
static tsr_status l1_loss(trial *t, side s)
{
    return tsr_l1_loss(RESULT(t, s, 0), IN(t, s, X), IN(t, s, Y), reduction_of(t));
}
static tsr_status huber_loss(trial *t, side s)
{
    return tsr_huber_loss(RESULT(t, s, 0), IN(t, s, X), IN(t, s, Y), reduction_of(t), 1.5);
}
static tsr_status smooth_l1_loss(trial *t, side s)
{
    return tsr_smooth_l1_loss(RESULT(t, s, 0), IN(t, s, X), IN(t, s, Y), reduction_of(t), 1.5);
}

static void check_class_loss(trial *t)
{
    const bool soft = t->check->op == TSR_OP_CROSS_ENTROPY_SOFT;
    int64_t shape[RANK], target[RANK];
    const int ndim = random_shape(t, shape, 2, 4, 6000);
    shape[1] += 2;
    t->with.mode = (int)random_below(t, 3);
    t->with.a = once_in(t, 2) ? 0 : 0.1;
    t->terms = (double)count_of(ndim, shape);
    make_input(t, X, t->check->dtype, ndim, shape, &inputs);
    memcpy(target, shape, sizeof target);
    for (int d = 1; d + 1 < ndim; d++) target[d] = shape[d + 1];
    if (soft)
        make_input(t, Y, t->check->dtype, ndim, shape, &(values){ 0, 1, 0, false });
    else
        make_integers(t, Y, TSR_I64, ndim - 1, target, 0, shape[1]);
    if (once_in(t, 2)) make_input(t, WEIGHT, weight_dtype(t), 1, &shape[1], &positive);
    run_op(t, t->check->op == TSR_OP_NLL_LOSS ? nll_loss : cross_entropy, 1, 0, &losses);
}

static void check_pair_loss(trial *t)
{
    const tsr_op_kind op = t->check->op;
    int64_t shape[RANK];
    const int ndim = random_shape(t, shape, 0, 4, 6000);
    t->with.mode = (int)random_below(t, 3);
    t->terms = (double)count_of(ndim, shape);
    make_input(t, X, t->check->dtype, ndim, shape, &inputs);
    make_input(t, Y, t->check->dtype, ndim, shape, &inputs);
    run_op(t,
           op == TSR_OP_MSE_LOSS     ? mse_loss
           : op == TSR_OP_L1_LOSS    ? l1_loss
           : op == TSR_OP_HUBER_LOSS ? huber_loss
                                     : smooth_l1_loss,
           1, 0, &losses);
}

/* Attention ------------------------------------------------------------------------------------------ */

static tsr_status attention(trial *t, side s)
{
    const tsr_attention_options how = { .causal = t->with.flag, .scale = t->with.a };
    return tsr_attention(RESULT(t, s, 0), IN(t, s, X), IN(t, s, Y), IN(t, s, V), IN(t, s, WEIGHT), &how);
}
static tsr_status self_attention(trial *t, side s)
{
    return tsr_self_attention(RESULT(t, s, 0), IN(t, s, X), IN(t, s, Y), IN(t, s, V), t->with.a);
}

static int64_t random_length(trial *t, int64_t small, int64_t large)
{
    return t->number % 4 == 3 ? random_between(t, small, large) : random_between(t, 1, small);
}

static void check_attention(trial *t)
{
    const values v = { -2, 2, 0, false };
    const bool self = t->check->op == TSR_OP_SELF_ATTENTION;
    const int64_t g = random_between(t, 1, 2), h = g * random_between(t, 1, 3), d = random_length(t, 8, 64);
    const int64_t m = random_length(t, 6, 70), n = m + random_below(t, 9),
                  e = once_in(t, 3) ? random_length(t, 8, 64) : d;
    const int64_t batch = t->number % 4 == 2 ? 0 : random_between(t, 1, 2);
    const int from = once_in(t, 3) ? 1 : 0;
    const tsr_dtype dtype = t->check->dtype;
    t->with.flag = once_in(t, 2);
    t->with.a = once_in(t, 2) ? 0 : 0.3;
    if (self) {
        make_input(t, X, dtype, 3, (const int64_t[]){ m, h, d }, &v);
        make_input(t, Y, dtype, 3, (const int64_t[]){ n, g, d }, &v);
        make_input(t, V, dtype, 3, (const int64_t[]){ n, g, e }, &v);
    } else {
        make_input(t, X, dtype, 4 - from, (const int64_t[]){ batch, h, m, d } + from, &v);
        make_input(t, Y, dtype, 4 - from, (const int64_t[]){ batch, g, n, d } + from, &v);
        make_input(t, V, dtype, 4 - from, (const int64_t[]){ batch, g, n, e } + from, &v);
        if (once_in(t, 2))
            make_input(t, WEIGHT, once_in(t, 2) ? TSR_BOOL : dtype, 2, (const int64_t[]){ m, n }, &v);
    }
    run_op(t, self ? self_attention : attention, 1, 0, &mixtures);
}

void list_nn(check_list *list)
{
    static const struct {
        tsr_op_kind op;
        void (*run)(trial *t);
    } rows[] = {
        { TSR_OP_SOFTMAX, check_softmax },
        { TSR_OP_LOG_SOFTMAX, check_softmax },
        { TSR_OP_CAUSAL_SOFTMAX, check_softmax },
        { TSR_OP_LAYER_NORM, check_norm },
        { TSR_OP_RMS_NORM, check_norm },
        { TSR_OP_ADD_RMS_NORM, check_norm },
        { TSR_OP_BATCH_NORM, check_norm },
        { TSR_OP_GROUP_NORM, check_norm },
        { TSR_OP_ROPE, check_rope },
        { TSR_OP_ROPE_WITH, check_rope },
        { TSR_OP_SWIGLU, check_gate },
        { TSR_OP_DROPOUT, check_gate },
        { TSR_OP_CROSS_ENTROPY, check_class_loss },
        { TSR_OP_CROSS_ENTROPY_SOFT, check_class_loss },
        { TSR_OP_NLL_LOSS, check_class_loss },
        { TSR_OP_MSE_LOSS, check_pair_loss },
        { TSR_OP_L1_LOSS, check_pair_loss },
        { TSR_OP_HUBER_LOSS, check_pair_loss },
        { TSR_OP_SMOOTH_L1_LOSS, check_pair_loss },
        { TSR_OP_ATTENTION, check_attention },
        { TSR_OP_SELF_ATTENTION, check_attention },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const tsr_op_info *info = tsr_op_get_info(rows[i].op);
        add_for_dtypes(list, (check){ .family = info->family, .op = rows[i].op, .run = rows[i].run },
                       info->name, dtypes_of(rows[i].op, 0));
    }
}

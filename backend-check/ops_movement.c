/* ops_movement.c - elements that go somewhere else, and tensors made from nothing. */
#include <string.h>

#include "operands.h"

enum { X, Y, W, MOST = 60000 };

static const tolerance bits = { .ulps = BITS }, equal = { .ulps = 0 };

/* One operand, any dtype -------------------------------------------------------------------------- */

static tsr_status rearrange(trial *t, side s) { return tsr_rearrange(RESULT(t, s, 0), IN(t, s, X)); }
static tsr_status clone(trial *t, side s) { return tsr_clone(RESULT(t, s, 0), IN(t, s, X)); }
static tsr_status flip(trial *t, side s)
{
    tsr_tensor *turned = NULL;
    TSR_TRY(tsr_flip(&turned, IN(t, s, X), 0, NULL));
    const tsr_status status = tsr_rearrange(RESULT(t, s, 0), turned);
    tsr_release(&turned);
    return status;
}
static tsr_status tile(trial *t, side s) { return tsr_tile(RESULT(t, s, 0), IN(t, s, X), 2, t->with.n); }
static tsr_status repeat(trial *t, side s)
{
    return tsr_repeat(RESULT(t, s, 0), IN(t, s, X), t->with.n[0], t->with.axis);
}
static tsr_status roll(trial *t, side s)
{
    return tsr_roll(RESULT(t, s, 0), IN(t, s, X), 1, &t->with.n[2], &t->with.axis);
}
static tsr_status pad(trial *t, side s)
{
    const tsr_tensor *x = IN(t, s, X);
    return tsr_pad(RESULT(t, s, 0), x, x->ndim, t->with.n, t->with.n + RANK, (tsr_pad_mode)t->with.mode,
                   TSR_SCALAR(1));
}
static tsr_status tril(trial *t, side s) { return tsr_tril(RESULT(t, s, 0), IN(t, s, X), t->with.n[2] - 2); }
static tsr_status triu(trial *t, side s) { return tsr_triu(RESULT(t, s, 0), IN(t, s, X), t->with.n[2] - 2); }
static tsr_status concat(trial *t, side s)
{
    const tsr_tensor *all[] = { IN(t, s, X), IN(t, s, Y), IN(t, s, X) };
    return tsr_concat(RESULT(t, s, 0), 3, all, t->with.axis);
}
static tsr_status stack(trial *t, side s)
{
    const tsr_tensor *all[] = { IN(t, s, X), IN(t, s, X) };
    return tsr_stack(RESULT(t, s, 0), 2, all, t->with.axis);
}
static tsr_status contiguous(trial *t, side s) { return tsr_contiguous(RESULT(t, s, 0), IN(t, s, X)); }
static tsr_status diag(trial *t, side s)
{
    tsr_tensor *flat = NULL;
    TSR_TRY(tsr_reshape(&flat, IN(t, s, X), 1, (int64_t[]){ -1 }));
    const tsr_status status = tsr_diag(RESULT(t, s, 0), flat, t->with.n[2] - 2);
    tsr_release(&flat);
    return status;
}

typedef struct mover {
    const char *name;
    call_fn call;
    int least;    /* rank */
    int64_t most; /* elements */
    unsigned in_place;
    bool two; /* a second operand that differs along the axis */
} mover;

static const mover movers[] = {
    { "rearrange", rearrange, 0, MOST, 1, false },
    { "clone", clone, 0, MOST, MADE, false },
    { "contiguous", contiguous, 0, MOST, MADE, false },
    { "flip and copy", flip, 0, MOST, 1, false },
    { "tile", tile, 0, 5000, 0, false },
    { "repeat", repeat, 1, 9000, 0, false },
    { "roll", roll, 1, MOST, 1, false },
    { "pad", pad, 0, 2000, 0, false },
    { "tril", tril, 2, MOST, 1, false },
    { "triu", triu, 2, MOST, 1, false },
    { "concat", concat, 1, MOST, 0, true },
    { "stack", stack, 0, MOST, 0, false },
    { "diag", diag, 0, 60, 0, false },
};

static void check_mover(trial *t)
{
    const mover *m = t->check->about;
    int64_t shape[RANK];
    const int ndim = random_shape(t, shape, m->least, 5, m->most);
    for (int i = 0; i < 2 * RANK; i++) t->with.n[i] = random_below(t, 4);
    t->with.axis = ndim > 0 ? (int)random_between(t, -ndim, ndim - 1) : 0;
    t->with.mode = (int)random_below(t, 4);
    make_input(t, X, t->check->dtype, ndim, shape, &any_values);
    if (m->two) {
        shape[t->with.axis < 0 ? t->with.axis + ndim : t->with.axis] = random_below(t, 5);
        make_input(t, Y, t->check->dtype, ndim, shape, &any_values);
    }
    run_op(t, m->call, 1, m->in_place, &bits);
}

/* Conversions ------------------------------------------------------------------------------------- */

static tsr_status cast(trial *t, side s) { return tsr_cast(RESULT(t, s, 0), IN(t, s, X), t->check->other); }

static void check_cast(trial *t)
{
    int64_t shape[RANK];
    values v = any_values;
    const int ndim = random_shape(t, shape, 0, RANK, MOST);
    v.high = 300;
    v.low = -300;
    v.special = 4;
    make_input(t, X, t->check->dtype, ndim, shape, &v);
    run_op(t, cast, 1, 1, &equal);
}

/* Copies into a view of what is copied from: as if the source had been copied first. */
static tsr_status shift(trial *t, side s)
{
    tsr_tensor *own = NULL, *from = NULL, *to = NULL;
    const int64_t n = IN(t, s, X)->shape[0];
    tsr_status status = tsr_clone(&own, IN(t, s, X));
    if (status == TSR_OK && t->with.flag) status = tsr_flip(&own, own, 0, NULL);
    if (status == TSR_OK) status = tsr_slice(&from, own, 0, 0, n - 1, 1);
    if (status == TSR_OK) status = tsr_slice(&to, own, 0, 1, TSR_NONE, 1);
    if (status == TSR_OK) status = tsr_copy(to, from);
    if (status == TSR_OK) status = tsr_rearrange(RESULT(t, s, 0), own);
    tsr_release(&own);
    tsr_release(&from);
    tsr_release(&to);
    return status;
}

static void check_shift(trial *t)
{
    int64_t shape[RANK];
    const int ndim = random_shape(t, shape, 1, 4, MOST);
    shape[0] += 2;
    t->with.flag = once_in(t, 2);
    make_output(t, X, t->check->dtype, ndim, shape);
    run_op(t, shift, 1, 0, &bits);
}

/* From nothing -------------------------------------------------------------------------------------- */

static tsr_status zeros(trial *t, side s)
{
    return tsr_zeros(RESULT(t, s, 0), t->check->dtype, t->with.naxes, t->with.n);
}
static tsr_status ones(trial *t, side s)
{
    return tsr_ones(RESULT(t, s, 0), t->check->dtype, t->with.naxes, t->with.n);
}
static tsr_status full(trial *t, side s)
{
    return tsr_full(RESULT(t, s, 0), t->check->dtype, t->with.naxes, t->with.n, tsr_scalar_f64(t->with.a));
}
static tsr_status eye(trial *t, side s)
{
    return tsr_eye(RESULT(t, s, 0), t->check->dtype, t->with.n[0], t->with.n[1], t->with.n[2] % 5 - 2);
}
static tsr_status arange(trial *t, side s)
{
    return tsr_arange(RESULT(t, s, 0), t->check->dtype, TSR_SCALAR(2), TSR_SCALAR(90), TSR_SCALAR(3));
}
static tsr_status linspace(trial *t, side s)
{
    return tsr_linspace(RESULT(t, s, 0), t->check->dtype, TSR_SCALAR(-2.5), TSR_SCALAR(90), 37, t->with.flag);
}
static tsr_status full_like(trial *t, side s)
{
    return tsr_full_like(RESULT(t, s, 0), IN(t, s, X), tsr_scalar_f64(t->with.a));
}

typedef struct maker {
    const char *name;
    tsr_op_kind op;
    call_fn call;
    bool like;
    enum { ALL, NUMBERS, FLOATS } takes;
} maker;

static const maker makers[] = {
    { "zeros", TSR_OP_FILL, zeros, false, ALL },
    { "ones", TSR_OP_FILL, ones, false, ALL },
    { "full", TSR_OP_FILL, full, false, ALL },
    { "full_like", TSR_OP_FILL, full_like, true, ALL },
    { "eye", TSR_OP_FILL, eye, false, ALL },
    { "arange", TSR_OP_NONE, arange, false, NUMBERS },
    { "linspace", TSR_OP_NONE, linspace, false, FLOATS },
};

static void check_maker(trial *t)
{
    const maker *m = t->check->about;
    static const double numbers[] = { 0, 1, -1, 2.5, 100, -3.75, 1e4, 0.1 };
    int64_t shape[RANK];
    t->with.naxes = random_shape(t, shape, 0, RANK, MOST);
    for (int i = 0; i < RANK; i++) t->with.n[i] = i < t->with.naxes ? shape[i] : random_below(t, 5);
    t->with.a = numbers[random_below(t, 8)];
    t->with.flag = once_in(t, 2);
    if (m->like) make_input(t, X, t->check->dtype, t->with.naxes, shape, &small_values);
    run_op(t, m->call, 1, 0, &equal);
}

void list_movement(check_list *list)
{
    const uint32_t all = dtypes_of(TSR_OP_COPY, 0);
    const uint32_t floats = dtypes_of_kind(TSR_FLOATING),
                   reals = floats | dtypes_of_kind(TSR_SIGNED) | dtypes_of_kind(TSR_UNSIGNED);
    for (size_t i = 0; i < sizeof movers / sizeof *movers; i++) {
        const check c = { .family = "movement", .op = TSR_OP_COPY, .run = check_mover, .about = &movers[i] };
        add_for_dtypes(list, c, movers[i].name, all);
    }
    for (int d = 1; d < TSR_DTYPE_COUNT; d++)
        add_for_dtypes(
            list,
            (check){ .family = "movement", .op = TSR_OP_COPY, .run = check_cast, .other = (tsr_dtype)d },
            "copy", all);
    add_for_dtypes(list, (check){ .family = "movement", .op = TSR_OP_COPY, .run = check_shift },
                   "copy to an overlap", all);
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        const check c = { .family = "creation", .op = makers[i].op, .run = check_maker, .about = &makers[i] };
        add_for_dtypes(list, c, makers[i].name,
                       makers[i].takes == ALL       ? all
                       : makers[i].takes == NUMBERS ? reals
                                                    : floats);
    }
}

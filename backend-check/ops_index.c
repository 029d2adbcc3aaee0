/* ops_index.c - elements by number: bit for bit, also where they are added, since that has an order. */
#include <string.h>

#include "operands.h"

enum { X, INDEX, SOURCE, MOST = 40000 };

static const tolerance bits = { .ulps = BITS }, equal = { .ulps = 0 };

static tsr_status take(trial *t, side s)
{
    return tsr_take(RESULT(t, s, 0), IN(t, s, X), IN(t, s, INDEX), t->with.axis);
}
static tsr_status take_along(trial *t, side s)
{
    return tsr_take_along_axis(RESULT(t, s, 0), IN(t, s, X), IN(t, s, INDEX), t->with.axis);
}
static tsr_status gather(trial *t, side s)
{
    return tsr_gather(RESULT(t, s, 0), IN(t, s, X), IN(t, s, INDEX), t->with.axis);
}
static tsr_status embedding(trial *t, side s)
{
    return tsr_embedding(RESULT(t, s, 0), IN(t, s, X), IN(t, s, INDEX));
}
static tsr_status scatter(trial *t, side s)
{
    return tsr_scatter(RESULT(t, s, 0), IN(t, s, X), IN(t, s, INDEX), IN(t, s, SOURCE), t->with.axis,
                       (tsr_scatter_mode)t->with.mode);
}
static tsr_status index_add(trial *t, side s)
{
    return tsr_index_add(RESULT(t, s, 0), IN(t, s, X), IN(t, s, INDEX), IN(t, s, SOURCE), t->with.axis);
}
static tsr_status one_hot(trial *t, side s)
{
    return tsr_one_hot(RESULT(t, s, 0), IN(t, s, INDEX), t->with.n[0], t->check->dtype);
}
static tsr_status masked_select(trial *t, side s)
{
    return tsr_masked_select(RESULT(t, s, 0), IN(t, s, X), IN(t, s, INDEX));
}
static tsr_status masked_fill(trial *t, side s)
{
    return tsr_masked_fill(RESULT(t, s, 0), IN(t, s, X), IN(t, s, INDEX), TSR_SCALAR(1));
}
static tsr_status nonzero(trial *t, side s) { return tsr_nonzero(RESULT(t, s, 0), IN(t, s, X)); }

static const tsr_dtype index_dtypes[] = { TSR_I64, TSR_I64, TSR_I32, TSR_U8, TSR_I16 };

/* Indices of a dim of this size, counted from its end too. */
static void make_indices(trial *t, int ndim, const int64_t *shape, int64_t size)
{
    const tsr_dtype dtype = size > 100 ? TSR_I64 : index_dtypes[random_below(t, 5)];
    const bool negative = tsr_dtype_kind(dtype) == TSR_SIGNED && once_in(t, 2);
    make_integers(t, INDEX, dtype, ndim, shape, negative ? -size : 0, size);
}

/* x, an axis of it that is not empty, and as many picks as there shall be. Returns the rank. */
static int make_x(trial *t, int64_t shape[RANK], int64_t picks[RANK], const values *v)
{
    const int ndim = random_shape(t, shape, 1, 4, MOST), axis = (int)random_below(t, ndim);
    if (shape[axis] == 0) shape[axis] = 1;
    t->with.axis = once_in(t, 2) ? axis : axis - ndim;
    memcpy(picks, shape, RANK * sizeof *picks);
    picks[axis] = random_below(t, 12);
    make_input(t, X, t->check->dtype, ndim, shape, v);
    return ndim;
}

static int axis_of(const trial *t, int ndim) { return t->with.axis < 0 ? t->with.axis + ndim : t->with.axis; }

static void check_along(trial *t)
{
    int64_t shape[RANK], picks[RANK];
    const int ndim = make_x(t, shape, picks, &any_values);
    make_indices(t, ndim, picks, shape[axis_of(t, ndim)]);
    run_op(t, take_along, 1, 0, &bits);
}

static void check_gather(trial *t)
{
    int64_t shape[RANK], picks[RANK];
    const int ndim = make_x(t, shape, picks, &any_values);
    for (int d = 0; d < ndim; d++)
        if (d != axis_of(t, ndim) && picks[d] > 1 && once_in(t, 3)) picks[d]--;
    make_indices(t, ndim, picks, shape[axis_of(t, ndim)]);
    run_op(t, gather, 1, 0, &bits);
}

static void check_take(trial *t)
{
    int64_t shape[RANK], picks[RANK], index[2] = { random_below(t, 9), random_between(t, 1, 4) };
    const int ndim = make_x(t, shape, picks, &any_values);
    make_indices(t, (int)random_below(t, 3), index, shape[axis_of(t, ndim)]);
    run_op(t, take, 1, 0, &bits);
}

static void check_embedding(trial *t)
{
    const int64_t shape[] = { random_between(t, 1, 50), random_below(t, 40) };
    int64_t index[RANK];
    const int ndim = random_shape(t, index, 0, 3, 300);
    make_input(t, X, t->check->dtype, 2, shape, &any_values);
    make_indices(t, ndim, index, shape[0]);
    run_op(t, embedding, 1, 0, &bits);
}

static const int modes[] = { TSR_SCATTER_SET, TSR_SCATTER_ADD, TSR_SCATTER_MAX };

static void check_scatter(trial *t)
{
    const int mode = *(const int *)t->check->about;
    const values *v = mode == TSR_SCATTER_ADD ? &plain_values : &any_values;
    int64_t shape[RANK], picks[RANK];
    const int ndim = make_x(t, shape, picks, v);
    t->with.mode = mode;
    make_indices(t, ndim, picks, shape[axis_of(t, ndim)]);
    if (once_in(t, 6))
        make_number(t, SOURCE, t->check->dtype == TSR_BOOL ? tsr_scalar_bool(true) : tsr_scalar_i64(3));
    else
        make_input(t, SOURCE, t->check->dtype, ndim, picks, v);
    run_op(t, scatter, 1, 1, mode == TSR_SCATTER_SET ? &bits : &equal);
}

static void check_index_add(trial *t)
{
    int64_t shape[RANK], picks[RANK];
    const int ndim = make_x(t, shape, picks, &plain_values);
    make_indices(t, 1, &picks[axis_of(t, ndim)], shape[axis_of(t, ndim)]);
    make_input(t, SOURCE, t->check->dtype, ndim, picks, &plain_values);
    run_op(t, index_add, 1, 1, &equal);
}

static void check_one_hot(trial *t)
{
    int64_t index[RANK];
    const int ndim = random_shape(t, index, 0, 3, 900);
    t->with.n[0] = random_between(t, 1, 9);
    make_indices(t, ndim, index, t->with.n[0]);
    run_op(t, one_hot, 1, 0, &bits);
}

static void check_mask(trial *t)
{
    const call_fn *call = t->check->about;
    int64_t shape[RANK];
    const int ndim = random_shape(t, shape, 0, 4, MOST);
    make_input(t, X, t->check->dtype, ndim, shape, &any_values);
    for (int d = 0; d < ndim; d++)
        if (shape[d] > 1 && once_in(t, 6)) shape[d] = 1;
    make_input(t, INDEX, TSR_BOOL, ndim, shape, &small_values);
    run_op(t, *call, 1, *call == masked_fill, &bits);
}

static void check_nonzero(trial *t)
{
    int64_t shape[RANK];
    const int ndim = random_shape(t, shape, 0, 4, MOST);
    make_input(t, X, t->check->dtype, ndim, shape, &(values){ -1, 1, 6, false });
    run_op(t, nonzero, 1, 0, &bits);
}

void list_index(check_list *list)
{
    static const call_fn select_call = masked_select, fill_call = masked_fill;
    static const char *const titles[] = { "scatter", "scatter by adding", "scatter by maximum" };
    const uint32_t all = dtypes_of(TSR_OP_GATHER, 0), sums = dtypes_of(TSR_OP_ADD, 0) & ~DTYPE_BIT(TSR_C32);
    const uint32_t ordered = dtypes_of(TSR_OP_MAXIMUM, 0);
    const uint32_t takes[] = { all, sums, ordered };
    const struct {
        const char *name;
        tsr_op_kind op;
        void (*run)(trial *t);
        uint32_t dtypes;
        const void *about;
    } rows[] = {
        { "take", TSR_OP_GATHER, check_take, all, NULL },
        { "take_along_axis", TSR_OP_GATHER, check_along, all, NULL },
        { "gather", TSR_OP_GATHER, check_gather, all, NULL },
        { "embedding", TSR_OP_GATHER, check_embedding, all, NULL },
        { "index_add", TSR_OP_SCATTER, check_index_add, sums, NULL },
        { "one_hot", TSR_OP_NONE, check_one_hot, all, NULL },
        { "masked_select", TSR_OP_NONE, check_mask, all, &select_call },
        { "masked_fill", TSR_OP_NONE, check_mask, all, &fill_call },
        { "nonzero", TSR_OP_NONE, check_nonzero, all, NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        add_for_dtypes(
            list, (check){ .family = "index", .op = rows[i].op, .run = rows[i].run, .about = rows[i].about },
            rows[i].name, rows[i].dtypes);
    for (int m = 0; m < 3; m++)
        add_for_dtypes(
            list,
            (check){ .family = "index", .op = TSR_OP_SCATTER, .run = check_scatter, .about = &modes[m] },
            titles[m], takes[m]);
}

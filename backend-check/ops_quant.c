/* ops_quant.c - bytes that stand for numbers. */
#include <string.h>

#include "operands.h"

enum { X, SCALE, ZERO, Y, Y_SCALE, Y_ZERO };

static const tolerance nearly = { .ulps = 4 };

static tsr_status quantise(trial *t, side s)
{
    return tsr_quantise(RESULT(t, s, 0), IN(t, s, X), IN(t, s, SCALE), IN(t, s, ZERO), t->with.axis,
                        t->with.dtype);
}
static tsr_status dequantise(trial *t, side s)
{
    return tsr_dequantise(RESULT(t, s, 0), IN(t, s, X), IN(t, s, SCALE), IN(t, s, ZERO), t->with.axis,
                          t->with.dtype);
}
static tsr_status range(trial *t, side s)
{
    return tsr_quantisation_range(RESULT(t, s, 0), RESULT(t, s, 1), IN(t, s, X), t->with.axis, t->with.dtype,
                                  t->with.flag);
}
static tsr_status dynamic(trial *t, side s)
{
    return tsr_quantise_dynamic(RESULT(t, s, 0), RESULT(t, s, 1), RESULT(t, s, 2), IN(t, s, X), t->with.axis,
                                t->with.dtype, t->with.flag);
}
static tsr_status product(trial *t, side s)
{
    return tsr_matmul_quantised(RESULT(t, s, 0), IN(t, s, X), IN(t, s, SCALE), IN(t, s, ZERO), IN(t, s, Y),
                                IN(t, s, Y_SCALE), IN(t, s, Y_ZERO), NULL, t->check->dtype);
}

/* One scale for all, or one for each index of an axis. */
static void make_scales(trial *t, int ndim, const int64_t *shape)
{
    static const values scales = { 0.02, 0.2, 0, false };
    static const int64_t one = 1;
    const bool each = ndim > 0 && once_in(t, 2);
    t->with.axis = each ? (int)random_below(t, ndim) : TSR_ALL_AXES;
    const int64_t *n = each ? &shape[t->with.axis] : &one;
    make_input(t, SCALE, once_in(t, 3) ? TSR_F64 : TSR_F32, 1, n, &scales);
    if (excuse_for(t->session, TSR_F64)) return;
    if (!once_in(t, 3)) make_integers(t, ZERO, t->with.dtype == TSR_U8 ? TSR_U8 : TSR_I8, 1, n, 0, 20);
}

static void check_quantise(trial *t)
{
    values v = { -9, 9, t->number % 2 ? 9 : 0, false };
    int64_t shape[RANK];
    const int ndim = random_shape(t, shape, 0, 4, 20000);
    t->with.dtype = once_in(t, 2) ? TSR_I8 : TSR_U8;
    make_input(t, X, t->check->dtype, ndim, shape, &v);
    make_scales(t, ndim, shape);
    run_op(t, quantise, 1, 0, &nearly);
}

static void check_dequantise(trial *t)
{
    static const tsr_dtype to[] = { TSR_F32, TSR_F16, TSR_BF16, TSR_F64 };
    int64_t shape[RANK];
    const int ndim = random_shape(t, shape, 0, 4, 20000);
    make_input(t, X, t->check->dtype, ndim, shape, &any_values);
    make_scales(t, ndim, shape);
    t->with.dtype = to[random_below(t, 4)];
    if (excuse_for(t->session, t->with.dtype)) t->with.dtype = TSR_F32;
    run_op(t, dequantise, 1, 0, &nearly);
}

static void check_range(trial *t)
{
    values v = { -9, 9, t->number % 2 ? 9 : 0, false };
    int64_t shape[RANK];
    const int ndim = random_shape(t, shape, 0, 4, 20000);
    t->with.dtype = once_in(t, 2) ? TSR_I8 : TSR_U8;
    t->with.axis = ndim > 0 && once_in(t, 2) ? (int)random_below(t, ndim) : TSR_ALL_AXES;
    t->with.flag = once_in(t, 2);
    make_input(t, X, t->check->dtype, ndim, shape, &v);
    if (t->check->op == TSR_OP_QUANTISE_DYNAMIC)
        run_op(t, dynamic, 3, 0, &nearly);
    else
        run_op(t, range, 2, 0, &nearly);
}

static void check_product(trial *t)
{
    static const values scales = { 0.02, 0.2, 0, false };
    const int64_t m = random_between(t, 1, 9), k = random_below(t, 40), n = random_between(t, 1, 9), one = 1;
    const tsr_dtype a = once_in(t, 2) ? TSR_I8 : TSR_U8, b = once_in(t, 2) ? TSR_I8 : TSR_U8;
    make_input(t, X, a, 2, (const int64_t[]){ m, k }, &any_values);
    make_input(t, Y, b, 2, (const int64_t[]){ k, n }, &any_values);
    make_input(t, SCALE, TSR_F32, 1, once_in(t, 2) ? &m : &one, &scales);
    make_input(t, Y_SCALE, TSR_F32, 1, once_in(t, 2) ? &n : &one, &scales);
    if (once_in(t, 2)) make_integers(t, ZERO, TSR_I32, 1, &one, -5, 9);
    if (once_in(t, 2)) make_integers(t, Y_ZERO, TSR_I8, 1, &one, -5, 9);
    run_op(t, product, 1, 0, &nearly);
}

void list_quant(check_list *list)
{
    static const struct {
        tsr_op_kind op;
        void (*run)(trial *t);
    } rows[] = {
        { TSR_OP_QUANTISE, check_quantise },
        { TSR_OP_DEQUANTISE, check_dequantise },
        { TSR_OP_QUANTISATION_RANGE, check_range },
        { TSR_OP_QUANTISE_DYNAMIC, check_range },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        add_for_dtypes(list, (check){ .family = "quant", .op = rows[i].op, .run = rows[i].run },
                       tsr_op_get_info(rows[i].op)->name, dtypes_of(rows[i].op, 0));
    add_for_dtypes(list, (check){ .family = "quant", .op = TSR_OP_MATMUL_I8, .run = check_product },
                   "matmul_quantised",
                   DTYPE_BIT(TSR_F32) | DTYPE_BIT(TSR_F16) | DTYPE_BIT(TSR_BF16) | DTYPE_BIT(TSR_F64));
}

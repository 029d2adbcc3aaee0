/* ops_elementwise.c - ops element by element, with the errors that op.def allows other backends.
 *
 * Those are what OpenCL's full profile promises of its own functions, which is the loosest of what
 * backends stand on, and two more for the CPU's. What IEEE 754 rounds correctly is exact, but for
 * division and roots, which devices may do through reciprocals. */
#include <math.h>
#include <string.h>

#include "elementwise_ops.h"
#include "operands.h"

enum { X, Y, W };

/* Complex functions are compositions: errors are relative to the whole number, or to this. */
enum { COMPLEX_ULPS = 64 };
#define COMPLEX_LEAST 0.25

/* Trials ---------------------------------------------------------------------------------------- */

static tolerance tolerance_of(const trial *t, const elementwise_op *op)
{
    static const tsr_op_kind of_parts[] = { TSR_OP_ADD,  TSR_OP_SUB,  TSR_OP_NEG,   TSR_OP_CONJ,
                                            TSR_OP_REAL, TSR_OP_IMAG, TSR_OP_WHERE, TSR_OP_ROUND };
    tolerance e = { .ulps = op->facts.device_error, .least = op->facts.device_least, .any_zero = true };
    bool exact = tsr_dtype_kind(t->check->dtype) != TSR_COMPLEX;
    for (size_t i = 0; i < sizeof of_parts / sizeof *of_parts; i++) exact = exact || op->kind == of_parts[i];
    if (exact) return e;
    e.ulps = COMPLEX_ULPS + 8 * op->facts.device_error;
    if (op->facts.device_least < COMPLEX_LEAST) e.least = op->facts.device_error > 0 ? COMPLEX_LEAST : 0;
    return e;
}

/* Functions of complex numbers are not asked about infinities and the like: there is no agreement
 * on many of them. Nor are those whose errors are relative to a size that overflows. */
static values values_of(const trial *t, const elementwise_op *op)
{
    const bool is_complex = tsr_dtype_kind(t->check->dtype) == TSR_COMPLEX;
    values v = any_values;
    if (op->facts.range[0] != op->facts.range[1]) {
        v.low = op->facts.range[0];
        v.high = op->facts.range[1];
    }
    if (op->facts.device_least > 2) v.extremes = false;
    if (is_complex) v.extremes = false;
    if (is_complex && op->facts.device_error > 0) v.special = 0;
    if (t->number % 2) v.special = 0;
    return v;
}

static tsr_status call(trial *t, side s)
{
    return elementwise_call(t->check->about, RESULT(t, s, 0),
                            (const tsr_tensor *const[]){ IN(t, s, X), IN(t, s, Y), IN(t, s, W) }, NULL);
}

enum { MOST = 100000 };

static void check_one(trial *t)
{
    const elementwise_op *op = t->check->about;
    const tolerance e = tolerance_of(t, op);
    const values v = values_of(t, op);
    int64_t shape[RANK];
    const int ndim = random_shape(t, shape, 0, RANK, MOST);
    make_input(t, X, t->check->dtype, ndim, shape, &v);
    run_op(t, call, 1, 1, &e);
}

/* A shape that broadcasts to another: dims of size 1, and fewer of them. Returns where it begins. */
static int shrink(trial *t, int64_t out[RANK], int ndim, const int64_t *shape)
{
    memcpy(out, shape, RANK * sizeof *out);
    if (!once_in(t, 3)) return 0;
    for (int d = 0; d < ndim; d++)
        if (once_in(t, 2)) out[d] = 1;
    return ndim > 0 && once_in(t, 2) ? (int)random_between(t, 0, ndim) : 0;
}

/* Another dtype that comes to the check's together with it, once in a while. */
static tsr_dtype partner(trial *t, const elementwise_op *op)
{
    const tsr_dtype own = t->check->dtype;
    const tsr_dtype other = (tsr_dtype)random_between(t, 1, TSR_DTYPE_COUNT - 1);
    tsr_dtype both;
    if (!once_in(t, 4) || !(dtypes_of(op->kind, op->kind == TSR_OP_WHERE ? 1 : 0) & DTYPE_BIT(other)))
        return own;
    if (other == TSR_C32 || excuse_for(t->session, other)) return own;
    return tsr_dtype_promote(&both, own, other) == TSR_OK ? other : own;
}

static void make_shrunk(trial *t, int slot, tsr_dtype dtype, int ndim, const int64_t *shape, const values *v)
{
    int64_t own[RANK];
    const int from = shrink(t, own, ndim, shape);
    make_input(t, slot, dtype, ndim - from, own + from, v);
}

static void check_two(trial *t)
{
    const elementwise_op *op = t->check->about;
    const tolerance e = tolerance_of(t, op);
    values v = values_of(t, op);
    int64_t shape[RANK];
    const int ndim = random_shape(t, shape, 0, RANK, MOST);
    make_shrunk(t, X, t->check->dtype, ndim, shape, op->kind == TSR_OP_SHIFT_LEFT ? &any_values : &v);
    if (op->kind == TSR_OP_POW) v.low = -4;
    if (once_in(t, 10))
        make_number(t, Y, t->check->dtype == TSR_BOOL ? tsr_scalar_bool(true) : tsr_scalar_i64(3));
    else
        make_shrunk(t, Y, partner(t, op), ndim, shape, &v);
    run_op(t, call, 1, 3, &e);
}

static void check_three(trial *t)
{
    const elementwise_op *op = t->check->about;
    const tolerance e = tolerance_of(t, op);
    const values v = values_of(t, op), share = { 0, 1, 0, false };
    const bool is_where = op->kind == TSR_OP_WHERE;
    int64_t shape[RANK];
    const int ndim = random_shape(t, shape, 0, RANK, MOST);
    make_shrunk(t, X, is_where ? TSR_BOOL : t->check->dtype, ndim, shape, &v);
    make_shrunk(t, Y, partner(t, op), ndim, shape, &v);
    make_shrunk(t, W, t->check->dtype, ndim, shape, op->kind == TSR_OP_LERP ? &share : &v);
    run_op(t, call, 1, 7, &e);
}

void list_elementwise(check_list *list)
{
    static void (*const run[])(trial *t) = { NULL, check_one, check_two, check_three };
    for (int i = 0; i < elementwise_count; i++) {
        const elementwise_op *op = &elementwise_ops[i];
        const check c = { .family = "elementwise", .op = op->kind, .run = run[op->nin], .about = op };
        add_for_dtypes(list, c, op->name, dtypes_of(op->kind, op->kind == TSR_OP_WHERE ? 1 : 0));
    }
}

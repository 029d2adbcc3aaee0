/* ops_elementwise.c - ops element by element, with the errors that each may have.
 *
 * Units in the last place: what OpenCL's full profile promises of its own functions, which is the
 * loosest of what backends stand on, and two more for the CPU's. What IEEE 754 rounds correctly
 * is exact, but for division and roots, which devices may do through reciprocals. */
#include <math.h>
#include <string.h>

#include "operands.h"

enum { X, Y, W };

typedef tsr_status (*unary_fn)(tsr_tensor **out, const tsr_tensor *x);
typedef tsr_status (*binary_fn)(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
typedef tsr_status (*ternary_fn)(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y,
                                 const tsr_tensor *w);

typedef struct row {
    tsr_op_kind kind;
    union {
        unary_fn one;
        binary_fn two;
        ternary_fn three;
    } call;
    double low, high; /* of the numbers it is asked about; both 0: any */
    double ulps;
    double least;
} row;

/* Complex functions are compositions: errors are relative to the whole number, or to this. */
enum { COMPLEX_ULPS = 64 };
#define COMPLEX_LEAST 0.25

static tsr_status elu(tsr_tensor **out, const tsr_tensor *x) { return tsr_elu(out, x, 0.75); }
static tsr_status leaky_relu(tsr_tensor **out, const tsr_tensor *x) { return tsr_leaky_relu(out, x, 0.01); }
static tsr_status hardtanh(tsr_tensor **out, const tsr_tensor *x) { return tsr_hardtanh(out, x, -1.25, 2.5); }

#define ONE(ID, fn, ...)   { .kind = TSR_OP_##ID, .call = { .one = fn }, __VA_ARGS__ }
#define TWO(ID, fn, ...)   { .kind = TSR_OP_##ID, .call = { .two = fn }, __VA_ARGS__ }
#define THREE(ID, fn, ...) { .kind = TSR_OP_##ID, .call = { .three = fn }, __VA_ARGS__ }

static const row unary[] = {
    ONE(ABS, tsr_abs, .ulps = 0),
    ONE(NEG, tsr_neg, .ulps = 0),
    ONE(SIGN, tsr_sign, .ulps = 0),
    ONE(SQUARE, tsr_square, .ulps = 0),
    ONE(SQRT, tsr_sqrt, 0, 9, 4),
    ONE(RSQRT, tsr_rsqrt, 0.01, 9, 4),
    ONE(RECIPROCAL, tsr_reciprocal, .ulps = 4),
    ONE(EXP, tsr_exp, -20, 20, 5),
    ONE(EXP2, tsr_exp2, -20, 20, 5),
    ONE(EXPM1, tsr_expm1, -5, 5, 5),
    ONE(LOG, tsr_log, 0, 9, 5),
    ONE(LOG2, tsr_log2, 0, 9, 5),
    ONE(LOG10, tsr_log10, 0, 9, 5),
    ONE(LOG1P, tsr_log1p, -0.99, 9, 5),
    ONE(SIN, tsr_sin, -20, 20, 6),
    ONE(COS, tsr_cos, -20, 20, 6),
    ONE(TAN, tsr_tan, -20, 20, 7),
    ONE(ASIN, tsr_asin, -1, 1, 6),
    ONE(ACOS, tsr_acos, -1, 1, 6),
    ONE(ATAN, tsr_atan, -9, 9, 7),
    ONE(SINH, tsr_sinh, -9, 9, 6),
    ONE(COSH, tsr_cosh, -9, 9, 6),
    ONE(TANH, tsr_tanh, -3, 3, 7),
    ONE(ASINH, tsr_asinh, -9, 9, 6),
    ONE(ACOSH, tsr_acosh, 1, 9, 6),
    ONE(ATANH, tsr_atanh, -1, 1, 7),
    ONE(ERF, tsr_erf, -4, 4, 18),
    ONE(ERFC, tsr_erfc, -4, 6, 18),
    ONE(CEIL, tsr_ceil, .ulps = 0),
    ONE(FLOOR, tsr_floor, .ulps = 0),
    ONE(ROUND, tsr_round, .ulps = 0),
    ONE(TRUNC, tsr_trunc, .ulps = 0),
    ONE(ISFINITE, tsr_isfinite, .ulps = 0),
    ONE(ISINF, tsr_isinf, .ulps = 0),
    ONE(ISNAN, tsr_isnan, .ulps = 0),
    ONE(SIGNBIT, tsr_signbit, .ulps = 0),
    ONE(LOGICAL_NOT, tsr_logical_not, .ulps = 0),
    ONE(BITWISE_NOT, tsr_bitwise_not, .ulps = 0),
    ONE(CONJ, tsr_conj, .ulps = 0),
    ONE(REAL, tsr_real, .ulps = 0),
    ONE(IMAG, tsr_imag, .ulps = 0),
    ONE(ANGLE, tsr_angle, -8, 8, 8),
    ONE(RELU, tsr_relu, .ulps = 0),
    ONE(GELU, tsr_gelu, -6, 6, 20, 1),
    ONE(GELU_TANH, tsr_gelu_tanh, -6, 6, 20, 1),
    ONE(SILU, tsr_silu, -20, 20, 10),
    ONE(SIGMOID, tsr_sigmoid, -20, 20, 8),
    ONE(SOFTPLUS, tsr_softplus, -20, 20, 10),
    ONE(ELU, elu, -8, 8, 6),
    ONE(LEAKY_RELU, leaky_relu, .ulps = 1),
    ONE(HARDSWISH, tsr_hardswish, -5, 5, 4),
    ONE(HARDTANH, hardtanh, .ulps = 0),
};

static const row binary[] = {
    TWO(ADD, tsr_add, .ulps = 0),
    TWO(SUB, tsr_sub, .ulps = 0),
    TWO(MUL, tsr_mul, .ulps = 0),
    TWO(DIV, tsr_div, .ulps = 4),
    TWO(FLOOR_DIV, tsr_floor_div, .ulps = 0),
    TWO(REMAINDER, tsr_remainder, .ulps = 0),
    TWO(POW, tsr_pow, 0, 4, 18),
    TWO(ATAN2, tsr_atan2, -8, 8, 8),
    TWO(HYPOT, tsr_hypot, -8, 8, 6),
    TWO(COPYSIGN, tsr_copysign, .ulps = 0),
    TWO(NEXTAFTER, tsr_nextafter, .ulps = 0),
    TWO(MAXIMUM, tsr_maximum, .ulps = 0),
    TWO(MINIMUM, tsr_minimum, .ulps = 0),
    TWO(FMAX, tsr_fmax, .ulps = 0),
    TWO(FMIN, tsr_fmin, .ulps = 0),
    TWO(LOGADDEXP, tsr_logaddexp, -8, 8, 10, 1),
    TWO(EQ, tsr_eq, .ulps = 0),
    TWO(NE, tsr_ne, .ulps = 0),
    TWO(LT, tsr_lt, .ulps = 0),
    TWO(LE, tsr_le, .ulps = 0),
    TWO(GT, tsr_gt, .ulps = 0),
    TWO(GE, tsr_ge, .ulps = 0),
    TWO(LOGICAL_AND, tsr_logical_and, .ulps = 0),
    TWO(LOGICAL_OR, tsr_logical_or, .ulps = 0),
    TWO(LOGICAL_XOR, tsr_logical_xor, .ulps = 0),
    TWO(BITWISE_AND, tsr_bitwise_and, .ulps = 0),
    TWO(BITWISE_OR, tsr_bitwise_or, .ulps = 0),
    TWO(BITWISE_XOR, tsr_bitwise_xor, .ulps = 0),
    TWO(SHIFT_LEFT, tsr_shift_left, -2, 70, 0),
    TWO(SHIFT_RIGHT, tsr_shift_right, -2, 70, 0),
};

static tsr_status addcmul(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y, const tsr_tensor *w)
{
    return tsr_addcmul(out, x, y, w, 3);
}

static const row ternary[] = {
    THREE(WHERE, tsr_where, .ulps = 0),     THREE(CLIP, tsr_clip, .ulps = 0),
    THREE(LERP, tsr_lerp, -8, 8, 4, 64),    THREE(FMA, tsr_fma, .ulps = 0),
    THREE(ADDCMUL, addcmul, -8, 8, 4, 256),
};

/* Trials ---------------------------------------------------------------------------------------- */

static tolerance tolerance_of(const trial *t, const row *r)
{
    static const tsr_op_kind of_parts[] = { TSR_OP_ADD,  TSR_OP_SUB,  TSR_OP_NEG,   TSR_OP_CONJ,
                                            TSR_OP_REAL, TSR_OP_IMAG, TSR_OP_WHERE, TSR_OP_ROUND };
    tolerance e = { .ulps = r->ulps, .least = r->least, .any_zero = true };
    bool exact = tsr_dtype_kind(t->check->dtype) != TSR_COMPLEX;
    for (size_t i = 0; i < sizeof of_parts / sizeof *of_parts; i++) exact = exact || r->kind == of_parts[i];
    if (exact) return e;
    e.ulps = COMPLEX_ULPS + 8 * r->ulps;
    if (r->least < COMPLEX_LEAST) e.least = r->ulps > 0 ? COMPLEX_LEAST : 0;
    return e;
}

/* Functions of complex numbers are not asked about infinities and the like: there is no agreement
 * on many of them. Nor are those whose errors are relative to a size that overflows. */
static values values_of(const trial *t, const row *r)
{
    const bool is_complex = tsr_dtype_kind(t->check->dtype) == TSR_COMPLEX;
    values v = any_values;
    if (r->low != r->high) {
        v.low = r->low;
        v.high = r->high;
    }
    if (r->least > 2) v.extremes = false;
    if (is_complex) v.extremes = false;
    if (is_complex && r->ulps > 0) v.special = 0;
    if (t->number % 2) v.special = 0;
    return v;
}

static tsr_status call_one(trial *t, side s)
{
    const row *r = t->check->about;
    return r->call.one(RESULT(t, s, 0), IN(t, s, X));
}

static tsr_status call_two(trial *t, side s)
{
    const row *r = t->check->about;
    return r->call.two(RESULT(t, s, 0), IN(t, s, X), IN(t, s, Y));
}

static tsr_status call_three(trial *t, side s)
{
    const row *r = t->check->about;
    return r->call.three(RESULT(t, s, 0), IN(t, s, X), IN(t, s, Y), IN(t, s, W));
}

enum { MOST = 100000 };

static void check_one(trial *t)
{
    const row *r = t->check->about;
    const tolerance e = tolerance_of(t, r);
    const values v = values_of(t, r);
    int64_t shape[RANK];
    const int ndim = random_shape(t, shape, 0, RANK, MOST);
    make_input(t, X, t->check->dtype, ndim, shape, &v);
    run_op(t, call_one, 1, 1, &e);
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
static tsr_dtype partner(trial *t, const row *r)
{
    const tsr_dtype own = t->check->dtype;
    const tsr_dtype other = (tsr_dtype)random_between(t, 1, TSR_DTYPE_COUNT - 1);
    tsr_dtype both;
    if (!once_in(t, 4) || !(dtypes_of(r->kind, r->kind == TSR_OP_WHERE ? 1 : 0) & DTYPE_BIT(other)))
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
    const row *r = t->check->about;
    const tolerance e = tolerance_of(t, r);
    values v = values_of(t, r);
    int64_t shape[RANK];
    const int ndim = random_shape(t, shape, 0, RANK, MOST);
    make_shrunk(t, X, t->check->dtype, ndim, shape, r->kind == TSR_OP_SHIFT_LEFT ? &any_values : &v);
    if (r->kind == TSR_OP_POW) v.low = -4;
    if (once_in(t, 10))
        make_number(t, Y, t->check->dtype == TSR_BOOL ? tsr_scalar_bool(true) : tsr_scalar_i64(3));
    else
        make_shrunk(t, Y, partner(t, r), ndim, shape, &v);
    run_op(t, call_two, 1, 3, &e);
}

static void check_three(trial *t)
{
    const row *r = t->check->about;
    const tolerance e = tolerance_of(t, r);
    const values v = values_of(t, r), share = { 0, 1, 0, false };
    const bool is_where = r->kind == TSR_OP_WHERE;
    int64_t shape[RANK];
    const int ndim = random_shape(t, shape, 0, RANK, MOST);
    make_shrunk(t, X, is_where ? TSR_BOOL : t->check->dtype, ndim, shape, &v);
    make_shrunk(t, Y, partner(t, r), ndim, shape, &v);
    make_shrunk(t, W, t->check->dtype, ndim, shape, r->kind == TSR_OP_LERP ? &share : &v);
    run_op(t, call_three, 1, 7, &e);
}

static void list_rows(check_list *list, const row *rows, size_t n, void (*run)(trial *t))
{
    for (size_t i = 0; i < n; i++) {
        const check c = { .family = "elementwise", .op = rows[i].kind, .run = run, .about = &rows[i] };
        add_for_dtypes(list, c, tsr_op_get_info(rows[i].kind)->name,
                       dtypes_of(rows[i].kind, rows[i].kind == TSR_OP_WHERE ? 1 : 0));
    }
}

void list_elementwise(check_list *list)
{
    list_rows(list, unary, sizeof unary / sizeof *unary, check_one);
    list_rows(list, binary, sizeof binary / sizeof *binary, check_two);
    list_rows(list, ternary, sizeof ternary / sizeof *ternary, check_three);
}

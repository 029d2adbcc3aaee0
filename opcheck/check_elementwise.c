/* check_elementwise.c - every elementwise op, for every dtype its signature names.
 *
 * Two questions are asked of each: does it give for strided, transposed and repeated operands what it gives
 * for packed copies of them, and is that what the reference gives? On devices other than the CPU, which may
 * have kernels that round in other ways, both are compared with the reference. The result is given, over an
 * operand or across it, or it is allocated; an operand may be a number.
 */
#include <stdlib.h>
#include <string.h>

#include "elementwise_ops.h"
#include "op_facts.h"
#include "reference.h"
#include "trial.h"

enum { INPUT, RESULT = 3, PACKED, PACKED_RESULT = 7, MIXED, ROOM, MOST_IN = 3 };

/* An op with its parameters. */
typedef struct call {
    const elementwise_op *op;
    double                params[2];
} call;

static tsr_status run(const call *c, tsr_tensor **out, tsr_tensor *const *in)
{
    return elementwise_call(c->op, out, (const tsr_tensor *const *)in, c->params);
}

/* Those of the op's row, or others: whole numbers for integers, the second not below the first. */
static void draw_params(trial *t, call *c)
{
    static const double some[] = { 1, -2, 3, 0, 0.5, -0.25 };
    memcpy(c->params, c->op->facts.params, sizeof c->params);
    if (c->op->nparams == 0 || once_in(t, 2)) return;
    c->params[0] = some[random_below(t, is_float(part_of(t->check->dtype)) ? 6 : 4)];
    c->params[1] = c->params[0] + (double)random_below(t, 3);
}

/* The dtype of operand i, where its signature has one of its own (where's condition). */
static tsr_dtype operand_dtype(const trial *t, const op_facts *f, int i)
{
    const uint32_t dtypes = f->dtypes[i];
    if (dtypes >> t->check->dtype & 1) return t->check->dtype;
    for (int d = 1; d < TSR_DTYPE_COUNT; d++)
        if (dtypes >> d & 1) return (tsr_dtype)d;
    return t->check->dtype;
}

/* Devices agree on extremes where errors are not relative to a size that overflows, and on infinities among
 * complex numbers only where arithmetic decides. */
static filling filling_of(const trial *t)
{
    const elementwise_op *op = t->check->about;
    if (t->device == TSR_CPU) return FILL_SPECIAL;
    if (is_complex(t->check->dtype)) return op->facts.device_error > 0 ? FILL_SMALL : FILL_SPECIAL;
    return op->facts.device_least > 2 ? FILL_SPECIAL : FILL_EXTREME;
}

/* Another dtype that comes to the check's together with it, once in a while. */
static tsr_dtype partner_of(trial *t, tsr_dtype dtype)
{
    const tsr_dtype other = (tsr_dtype)random_between(t, 1, TSR_DTYPE_COUNT - 1);
    tsr_dtype both;
    if (!once_in(t, 2) || dtype != t->check->dtype || other == TSR_C32) return dtype;
    return tsr_dtype_promote(&both, dtype, other) == TSR_OK && both == dtype ? other : dtype;
}

/* A packed copy of operand i in the shape and the dtype that the op computes in. */
static void make_plain(trial *t, int i, tsr_dtype dtype, int ndim, const int64_t *shape)
{
    tsr_tensor **plain = &t->tensor[PACKED + i];
    make_packed(t, PACKED + i, INPUT + i, ndim, shape);
    GO_ON(t);
    if ((*plain)->dtype == dtype) return;
    tsr_tensor *mixed = *plain;
    *plain = NULL;
    t->tensor[MIXED] = mixed;
    NEED(t, tsr_empty(plain, dtype, ndim, shape));
    const int64_t n = tsr_numel(mixed);
    for (int64_t k = 0; k < n; k++) convert(dtype, element(*plain, k), mixed->dtype, element(mixed, k));
    mirrors_end();
    tsr_release(&t->tensor[MIXED]);
}

/* Operands of a shape, or of one that is repeated to it. The first has the whole shape,
 * all but one have dtypes of the signature. */
static void make_operands(trial *t, const op_facts *f, int n, int ndim, const int64_t *shape)
{
    const int partner = n > 1 ? (int)random_below(t, n) : -1;
    for (int i = 0; i < n; i++) {
        int64_t own[TRIAL_RANK];
        int dropped = 0;
        memcpy(own, shape, sizeof own);
        if (i > 0 && once_in(t, 3)) {
            dropped = (int)random_below(t, ndim + 1);
            for (int d = 0; d < ndim; d++)
                if (once_in(t, 3) && shape[d] > 0) own[d] = 1;
        }
        const tsr_dtype dtype = operand_dtype(t, f, i), given = i == partner ? partner_of(t, dtype) : dtype;
        make_input(t, INPUT + i, given, ndim - dropped, own + dropped, filling_of(t));
        make_plain(t, i, dtype, ndim, shape);
    }
}

/* Says what came out instead of what. */
static void fail_element(trial *t, int n, int result, int64_t k, const ew_want *w)
{
    char text[MOST_IN][64] = { "" }, got[64], want[64];
    const tsr_tensor *z = t->tensor[result];
    for (int i = 0; i < n; i++)
        value_text(text[i], t->tensor[PACKED + i]->dtype, element(t->tensor[PACKED + i], k));
    value_text(got, z->dtype, element(z, k));
    if (w->how == EW_BITS)
        fail_trial(t, "element %lld, of %s %s %s, is %s; rounded once it is %s", (long long)k, text[0],
                   text[1], text[2], got, value_text(want, z->dtype, w->bits));
    else
        fail_trial(t, "element %lld, of %s %s %s, is %s; the reference gives %.17Lg, %.17Lg, to %Lg units "
                   "and %Lg", (long long)k, text[0], text[1], text[2], got, w->re, w->im, w->units, w->slack);
}

/* The result against the reference. */
static void check_values(trial *t, const call *c, int result)
{
    const elementwise_op *op = c->op;
    const tsr_tensor *z = t->tensor[result];
    const int64_t count = tsr_numel(z);
    for (int64_t k = first_sample(t, count, 8); k >= 0; k = next_sample(t, k, count, 8)) {
        const unsigned char *in[MOST_IN] = { NULL, NULL, NULL };
        for (int i = 0; i < op->nin; i++) in[i] = element(t->tensor[PACKED + i], k);
        ew_want w = ew_eval(op->kind, t->check->dtype, in, c->params);
        if (t->device != TSR_CPU) w = ew_on_device(w, op, z->dtype);
        if (ew_is_right(z->dtype, element(z, k), &w)) continue;
        fail_element(t, op->nin, result, k, &w);
        return;
    }
}

/* The same bits as of packed operands. One exponent of 2 or -1 for all makes a power a square or a quotient,
 * which is nearer: check_values sees to those. */
static void check_same_bits(trial *t, const call *c, int result)
{
    const tsr_tensor *exponent = c->op->kind == TSR_OP_POW ? t->tensor[INPUT + 1] : NULL;
    bool is_one = exponent != NULL;
    for (int d = 0; is_one && d < exponent->ndim; d++)
        is_one = exponent->shape[d] == 1 || exponent->stride[d] == 0;
    if (!is_one) check_same(t, result, PACKED_RESULT, true);
}

/* The result written over the first operand, where it has the same dtype. */
static void check_in_place(trial *t, const call *c)
{
    tsr_tensor *in[MOST_IN];
    GO_ON(t);
    if (t->tensor[PACKED]->dtype != t->tensor[PACKED_RESULT]->dtype) return;
    for (int i = 0; i < c->op->nin; i++) in[i] = t->tensor[(i > 0 ? INPUT : PACKED) + i];
    NEED(t, run(c, &t->tensor[PACKED], in));
    if (t->device == TSR_CPU) {
        check_same_bits(t, c, PACKED);
        return;
    }
    const tsr_tensor *z = t->tensor[PACKED_RESULT];
    tsr_release(&t->tensor[RESULT]);
    t->tensor[RESULT] = t->tensor[PACKED];
    t->tensor[PACKED] = NULL;
    make_plain(t, 0, z->dtype, z->ndim, z->shape);
    check_values(t, c, RESULT);
}

/* Elements `from` .. of a row, in the shape of a tensor. */
static void view_of_row(trial *t, tsr_tensor **out, const tsr_tensor *row, int64_t from, const tsr_tensor *as)
{
    NEED(t, tsr_slice(out, row, 0, from, from + tsr_numel(as), 1));
    NEED(t, tsr_view(out, *out, as->ndim, as->shape));
}

/* The result written across an operand of its dtype, some elements before or after it. */
static void check_across(trial *t, const call *c)
{
    const int which = (int)random_below(t, c->op->nin);
    const tsr_tensor *x = t->tensor[PACKED + which], *z = t->tensor[PACKED_RESULT];
    const int64_t x_at = random_below(t, 70), z_at = random_below(t, 70);
    tsr_tensor *in[MOST_IN];
    GO_ON(t);
    if (x->dtype != z->dtype || t->device != TSR_CPU) return;
    tsr_release(&t->tensor[RESULT]);
    NEED(t, tsr_zeros(&t->tensor[ROOM], x->dtype, TSR_SHAPE(tsr_numel(x) + 70)));
    view_of_row(t, &t->tensor[MIXED], t->tensor[ROOM], x_at, x);
    view_of_row(t, &t->tensor[RESULT], t->tensor[ROOM], z_at, z);
    GO_ON(t);
    NEED(t, tsr_copy(t->tensor[MIXED], x));
    for (int i = 0; i < c->op->nin; i++) in[i] = t->tensor[i == which ? MIXED : PACKED + i];
    NEED(t, run(c, &t->tensor[RESULT], in));
    check_same(t, RESULT, PACKED_RESULT, true);
}

/* Where the strides of x differ, those of z differ the same way. */
static bool has_order_of(const tsr_tensor *z, const tsr_tensor *x)
{
    for (int a = 0; a < z->ndim; a++)
        for (int b = 0; b < z->ndim; b++) {
            if (z->shape[a] <= 1 || z->shape[b] <= 1 || !x->stride[a] || !x->stride[b]) continue;
            if (llabs(x->stride[a]) > llabs(x->stride[b]) && z->stride[a] < z->stride[b]) return false;
        }
    return true;
}

/* A result that is allocated: dense, in the order of the first operand of its shape, or as was declared. */
static void check_allocated(trial *t, const call *c)
{
    const tsr_tensor *like = t->tensor[PACKED_RESULT];
    const bool declared = once_in(t, 3);
    GO_ON(t);
    tsr_release(&t->tensor[RESULT]);
    if (declared) NEED(t, tsr_declare(&t->tensor[RESULT], tsr_desc_of(like), t->device, TSR_MEMORY_HOST));
    NEED(t, run(c, &t->tensor[RESULT], t->tensor + INPUT));
    const tsr_tensor *z = t->tensor[RESULT];
    MUST(t, tsr_is_allocated(z) && tsr_desc_is_dense(&z->desc), "the result is not dense");
    for (int i = 0; i < c->op->nin && !declared && tsr_numel(z) > 0; i++) {
        const tsr_tensor *x = t->tensor[INPUT + i];
        if (!tsr_desc_same_shape(&x->desc, &z->desc)) continue;
        MUST(t, has_order_of(z, x), "the result has not the order of dims of operand %d", i);
        break;
    }
    check_values(t, c, RESULT);
}

/* A number as an operand, which has no dtype of its own. */
static void check_number(trial *t, const call *c)
{
    const tsr_dtype dtype = t->check->dtype;
    const int which = (int)random_below(t, c->op->nin);
    const int64_t three = dtype == TSR_BOOL ? 1 : 3;
    tsr_tensor *in[MOST_IN];
    tsr_number number;
    GO_ON(t);
    if (t->tensor[PACKED + which]->dtype != dtype) return;
    for (int i = 0; i < c->op->nin; i++) in[i] = t->tensor[PACKED + i];
    in[which] = (tsr_tensor *)tsr_number_init(
        &number, dtype == TSR_BOOL ? tsr_scalar_bool(true) : tsr_scalar_i64(three));
    tsr_release(&t->tensor[RESULT]);
    NEED(t, run(c, &t->tensor[RESULT], in));
    const tsr_tensor *repeated = t->tensor[PACKED + which];
    for (int64_t k = 0; k < tsr_numel(repeated); k++) convert(dtype, element(repeated, k), TSR_I64, &three);
    check_values(t, c, RESULT);
}

static void check_op(trial *t)
{
    call c = { .op = t->check->about };
    int64_t shape[TRIAL_RANK];
    op_facts f;
    MUST(t, op_facts_get(&f, t->check->op), "the signature cannot be read: %s", tsr_last_error());
    draw_params(t, &c);
    const tsr_pair_params params = { c.params[0], c.params[1] };
    const int ndim = random_shape(t, shape, 0, TRIAL_RANK, true);
    make_operands(t, &f, c.op->nin, ndim, shape);
    GO_ON(t);
    NEED(t, run(&c, &t->tensor[PACKED_RESULT], t->tensor + PACKED));
    check_inferred(t, c.op->nin, INPUT, c.op->nparams ? &params : NULL, PACKED_RESULT);
    make_output(t, RESULT, t->tensor[PACKED_RESULT]->dtype, ndim, shape);
    GO_ON(t);
    NEED(t, run(&c, &t->tensor[RESULT], t->tensor + INPUT));
    check_gaps(t, RESULT);
    if (t->device == TSR_CPU) check_same_bits(t, &c, RESULT);
    else                      check_values(t, &c, PACKED_RESULT);
    GO_ON(t);
    check_values(t, &c, RESULT);
    if (once_in(t, 3)) check_allocated(t, &c);
    if (once_in(t, 4)) check_across(t, &c);
    if (once_in(t, 4)) check_in_place(t, &c);
    else if (c.op->nin > 1 && once_in(t, 3)) check_number(t, &c);
}

/* The operand that says what the op computes in: the first whose dtype is not fixed. */
static int main_operand(const op_facts *f)
{
    for (int i = 0; i < f->signature.noperands; i++)
        if (f->dtypes[i] & (f->dtypes[i] - 1)) return i;
    return 0;
}

void list_elementwise(check_list *list)
{
    for (int i = 0; i < elementwise_count; i++) {
        const elementwise_op *op = &elementwise_ops[i];
        op_facts f;
        if (!op_facts_get(&f, op->kind)) continue;
        const uint32_t dtypes = f.dtypes[main_operand(&f)];
        for (int d = 1; d < TSR_DTYPE_COUNT; d++)
            if (dtypes >> d & 1)
                add_check(list,
                          (check){ .family = "elementwise",
                                   .op = op->kind,
                                   .run = check_op,
                                   .about = op,
                                   .dtype = (tsr_dtype)d },
                          op->name);
    }
}

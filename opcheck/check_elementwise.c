/* check_elementwise.c - every elementwise op, for every dtype its signature names.
 *
 * Two questions are asked of each: does it give for strided, transposed and repeated operands what it gives
 * for packed copies of them, and is that what the reference gives? On devices other than the CPU, which may
 * have kernels that round in other ways, both are compared with the reference.
 */
#include <string.h>

#include "elementwise_ops.h"
#include "op_facts.h"
#include "reference.h"
#include "trial.h"

enum { INPUT, RESULT = 3, PACKED, PACKED_RESULT = 7, MIXED, MOST_IN = 3 };

static tsr_status call(const elementwise_op *op, tsr_tensor **out, tsr_tensor *const *in)
{
    return elementwise_call(op, out, (const tsr_tensor *const *)in, NULL);
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
    if (!once_in(t, 4) || dtype != t->check->dtype || other == TSR_C32) return dtype;
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
 * all but the last have dtypes of the signature. */
static void make_operands(trial *t, const op_facts *f, int n, int ndim, const int64_t *shape)
{
    for (int i = 0; i < n; i++) {
        int64_t own[TRIAL_RANK];
        int dropped = 0;
        memcpy(own, shape, sizeof own);
        if (i > 0 && once_in(t, 3)) {
            dropped = (int)random_below(t, ndim + 1);
            for (int d = 0; d < ndim; d++)
                if (once_in(t, 3) && shape[d] > 0) own[d] = 1;
        }
        const bool is_last = i > 0 && i == n - 1;
        const tsr_dtype dtype = operand_dtype(t, f, i), given = is_last ? partner_of(t, dtype) : dtype;
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
static void check_values(trial *t, const elementwise_op *op, int result)
{
    const tsr_tensor *z = t->tensor[result];
    const int64_t count = tsr_numel(z);
    for (int64_t k = first_sample(t, count, 8); k >= 0; k = next_sample(t, k, count, 8)) {
        const unsigned char *in[MOST_IN] = { NULL, NULL, NULL };
        for (int i = 0; i < op->nin; i++) in[i] = element(t->tensor[PACKED + i], k);
        ew_want w = ew_eval(op->kind, t->check->dtype, in, op->facts.params);
        if (t->device != TSR_CPU) w = ew_on_device(w, op, z->dtype);
        if (ew_is_right(z->dtype, element(z, k), &w)) continue;
        fail_element(t, op->nin, result, k, &w);
        return;
    }
}

/* The result written over the first operand, where it has the same dtype. */
static void check_in_place(trial *t, const elementwise_op *op)
{
    tsr_tensor *in[MOST_IN];
    GO_ON(t);
    if (t->tensor[PACKED]->dtype != t->tensor[PACKED_RESULT]->dtype) return;
    for (int i = 0; i < op->nin; i++) in[i] = t->tensor[PACKED + i];
    NEED(t, call(op, &t->tensor[PACKED], in));
    if (t->device == TSR_CPU) {
        check_same(t, PACKED, PACKED_RESULT, true);
        return;
    }
    const tsr_tensor *z = t->tensor[PACKED_RESULT];
    tsr_release(&t->tensor[RESULT]);
    t->tensor[RESULT] = t->tensor[PACKED];
    t->tensor[PACKED] = NULL;
    make_packed(t, PACKED, INPUT, z->ndim, z->shape);
    check_values(t, op, RESULT);
}

/* A number as the second operand, which has no dtype of its own. */
static void check_number(trial *t, const elementwise_op *op)
{
    const tsr_dtype dtype = t->check->dtype;
    const int64_t three = dtype == TSR_BOOL ? 1 : 3;
    tsr_number number;
    GO_ON(t);
    const tsr_tensor *y =
        tsr_number_init(&number, dtype == TSR_BOOL ? tsr_scalar_bool(true) : tsr_scalar_i64(three));
    tsr_release(&t->tensor[RESULT]);
    NEED(t, op->call.two(&t->tensor[RESULT], t->tensor[PACKED], y));
    const tsr_tensor *repeated = t->tensor[PACKED + 1];
    for (int64_t k = 0; k < tsr_numel(repeated); k++) convert(dtype, element(repeated, k), TSR_I64, &three);
    check_values(t, op, RESULT);
}

static void check_op(trial *t)
{
    const elementwise_op *op = t->check->about;
    const tsr_pair_params params = { op->facts.params[0], op->facts.params[1] };
    int64_t shape[TRIAL_RANK];
    op_facts f;
    MUST(t, op_facts_get(&f, t->check->op), "the signature cannot be read: %s", tsr_last_error());
    const int ndim = random_shape(t, shape, 0, TRIAL_RANK, true);
    make_operands(t, &f, op->nin, ndim, shape);
    GO_ON(t);
    NEED(t, call(op, &t->tensor[PACKED_RESULT], t->tensor + PACKED));
    check_inferred(t, op->nin, INPUT, op->nparams ? &params : NULL, PACKED_RESULT);
    make_output(t, RESULT, t->tensor[PACKED_RESULT]->dtype, ndim, shape);
    GO_ON(t);
    NEED(t, call(op, &t->tensor[RESULT], t->tensor + INPUT));
    check_gaps(t, RESULT);
    if (t->device == TSR_CPU) check_same(t, RESULT, PACKED_RESULT, true);
    else                      check_values(t, op, PACKED_RESULT);
    GO_ON(t);
    check_values(t, op, RESULT);
    if (once_in(t, 4)) check_in_place(t, op);
    else if (op->nin == 2 && once_in(t, 4)) check_number(t, op);
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

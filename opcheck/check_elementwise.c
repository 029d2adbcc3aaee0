/* check_elementwise.c - every elementwise op, for every dtype its signature names.
 *
 * Two questions are asked of each: does it give for strided, transposed and repeated operands what it gives
 * for packed copies of them, and is that what the reference gives?
 */
#include <string.h>

#include "elementwise_ops.h"
#include "op_facts.h"
#include "reference.h"
#include "trial.h"

enum { INPUT, RESULT = 3, PACKED, PACKED_RESULT = 7, MOST_IN = 3 };

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

/* Operands of a shape, or of one that is repeated to it. The first has the whole shape. */
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
        make_input(t, INPUT + i, operand_dtype(t, f, i), ndim - dropped, own + dropped, FILL_SPECIAL);
        make_packed(t, PACKED + i, INPUT + i, ndim, shape);
    }
}

/* Says what came out instead of what. */
static void fail_element(trial *t, int n, int result, int64_t k, const ew_want *w)
{
    char text[MOST_IN][64] = { "" }, got[64];
    const tsr_tensor *z = t->tensor[result];
    for (int i = 0; i < n; i++)
        value_text(text[i], t->tensor[PACKED + i]->dtype, element(t->tensor[PACKED + i], k));
    fail_trial(t, "element %lld, of %s %s %s, is %s; the reference gives %.17Lg, %.17Lg (rounded once: %s)",
               (long long)k, text[0], text[1], text[2], value_text(got, z->dtype, element(z, k)), w->re, w->im,
               w->how == EW_BITS ? value_text(text[0], z->dtype, w->bits) : "no");
}

/* The result against the reference. */
static void check_values(trial *t, const elementwise_op *op, int result)
{
    const tsr_tensor *z = t->tensor[result];
    const int64_t count = tsr_numel(z);
    for (int64_t k = first_sample(t, count, 8); k >= 0; k = next_sample(t, k, count, 8)) {
        const unsigned char *in[MOST_IN] = { NULL, NULL, NULL };
        for (int i = 0; i < op->nin; i++) in[i] = element(t->tensor[PACKED + i], k);
        const ew_want w = ew_eval(op->kind, t->check->dtype, in, op->facts.params);
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
    check_same(t, PACKED, PACKED_RESULT, true);
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
    check_same(t, RESULT, PACKED_RESULT, true);
    GO_ON(t);
    check_values(t, op, RESULT);
    if (once_in(t, 4)) check_in_place(t, op);
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

/* check_index.c - picking and placing elements by number. */
#include <string.h>

#include "trial.h"

enum { INPUT, INDEX, RESULT, SOURCE, WANTED };

static const char family[] = "index";

static const tsr_dtype index_dtypes[] = { TSR_I64, TSR_I32, TSR_U8, TSR_I8, TSR_U16 };

/* The k-th index, counted from the front of a dim of size n. */
static int64_t index_at(const tsr_tensor *index, int64_t k, int64_t n)
{
    const int64_t i = (int64_t)value_at(index, k).bits;
    return i < 0 ? i + n : i;
}

/* An input, and an index tensor of its shape but for the axis. Returns the rank. */
static int make_operands(trial *t, int64_t shape[TRIAL_RANK], int64_t picks[TRIAL_RANK], int *axis)
{
    const int ndim = random_shape(t, shape, 1, 3, false);
    *axis = (int)random_below(t, ndim);
    memcpy(picks, shape, sizeof(int64_t) * TRIAL_RANK);
    picks[*axis] = random_size(t, 0, 7, most_elements(t) / (count_of(ndim, shape) / shape[*axis]));
    make_input(t, INPUT, t->check->dtype, ndim, shape, FILL_SPECIAL);
    make_indices(t, INDEX, index_dtypes[random_below(t, 5)], ndim, picks, shape[*axis]);
    return ndim;
}

static void check_gather(trial *t)
{
    int64_t shape[TRIAL_RANK], picks[TRIAL_RANK];
    int axis;
    const int ndim = make_operands(t, shape, picks, &axis);
    make_output(t, RESULT, t->check->dtype, ndim, picks);
    GO_ON(t);
    NEED(t, tsr_gather(&t->tensor[RESULT], t->tensor[INPUT], t->tensor[INDEX], axis));
    check_gaps(t, RESULT);
    GO_ON(t);
    for (int64_t k = 0; k < tsr_numel(t->tensor[RESULT]); k++) {
        int64_t at[TSR_MAX_NDIM];
        index_of(at, k, ndim, picks);
        at[axis] = index_at(t->tensor[INDEX], k, shape[axis]);
        MUST(t, same_bits(t->check->dtype, element(t->tensor[RESULT], k),
                          element(t->tensor[INPUT], place_of(at, ndim, shape))),
             "element %lld is not the one its index names", (long long)k);
    }
}

/* Indices of one dim stand where the axis stood. */
static void check_take(trial *t)
{
    int64_t shape[TRIAL_RANK], result[TRIAL_RANK];
    const int ndim = random_shape(t, shape, 1, 3, false), axis = (int)random_below(t, ndim);
    const int64_t picks = random_size(t, 0, 7, most_elements(t) / (count_of(ndim, shape) / shape[axis]));
    make_input(t, INPUT, t->check->dtype, ndim, shape, FILL_SPECIAL);
    make_indices(t, INDEX, index_dtypes[random_below(t, 5)], 1, &picks, shape[axis]);
    GO_ON(t);
    NEED(t, tsr_take(&t->tensor[RESULT], t->tensor[INPUT], t->tensor[INDEX], axis));
    memcpy(result, shape, sizeof result);
    result[axis] = picks;
    check_shape(t, RESULT, t->check->dtype, ndim, result);
    GO_ON(t);
    for (int64_t k = 0; k < tsr_numel(t->tensor[RESULT]); k++) {
        int64_t at[TSR_MAX_NDIM];
        index_of(at, k, ndim, result);
        at[axis] = index_at(t->tensor[INDEX], at[axis], shape[axis]);
        MUST(t, same_bits(t->check->dtype, element(t->tensor[RESULT], k),
                          element(t->tensor[INPUT], place_of(at, ndim, shape))),
             "element %lld is not the one its index names", (long long)k);
    }
}

/* What an element of the result becomes when a source element reaches it. */
static void combine(tsr_dtype dtype, void *to, const void *from, tsr_scatter_mode mode)
{
    const value a = read_value(dtype, to), b = read_value(dtype, from);
    if (mode == TSR_SCATTER_SET)
        memcpy(to, from, size_of(dtype));
    else if (mode == TSR_SCATTER_ADD)
        write_value(dtype, to, (value){ .bits = a.bits + b.bits, .re = a.re + b.re, .im = a.im + b.im });
    else if (is_float(dtype)    ? b.re > a.re
             : is_signed(dtype) ? (int64_t)b.bits > (int64_t)a.bits
                                : b.bits > a.bits)
        memcpy(to, from, size_of(dtype));
}

static const tsr_scatter_mode modes[] = { TSR_SCATTER_SET, TSR_SCATTER_ADD, TSR_SCATTER_MAX };

/* Numbers are small, so that each step of a sum in double is rounded to the dtype as one in
 * the dtype is. */
static void check_scatter(trial *t)
{
    const tsr_scatter_mode mode = *(const tsr_scatter_mode *)t->check->about;
    const tsr_dtype dtype = t->check->dtype;
    int64_t shape[TRIAL_RANK], picks[TRIAL_RANK];
    int axis;
    const int ndim = make_operands(t, shape, picks, &axis);
    make_input(t, INPUT, dtype, ndim, shape, FILL_SMALL);
    make_input(t, SOURCE, dtype, ndim, picks, FILL_SMALL);
    make_packed(t, WANTED, INPUT, ndim, shape);
    const int from = make_output_like(t, RESULT, INPUT);
    GO_ON(t);
    for (int64_t k = 0; k < tsr_numel(t->tensor[SOURCE]); k++) {
        int64_t at[TSR_MAX_NDIM];
        index_of(at, k, ndim, picks);
        at[axis] = index_at(t->tensor[INDEX], k, shape[axis]);
        combine(dtype, element(t->tensor[WANTED], place_of(at, ndim, shape)), element(t->tensor[SOURCE], k),
                mode);
    }
    NEED(t,
         tsr_scatter(&t->tensor[RESULT], t->tensor[from], t->tensor[INDEX], t->tensor[SOURCE], axis, mode));
    check_gaps(t, RESULT);
    check_same(t, RESULT, WANTED, true);
}

static void check_masked_select(trial *t)
{
    int64_t shape[TRIAL_RANK], n = 0;
    const int ndim = random_shape(t, shape, 0, 3, true);
    make_input(t, INPUT, t->check->dtype, ndim, shape, FILL_SPECIAL);
    make_input(t, INDEX, TSR_BOOL, ndim, shape, FILL_SMALL);
    GO_ON(t);
    NEED(t, tsr_masked_select(&t->tensor[RESULT], t->tensor[INPUT], t->tensor[INDEX]));
    for (int64_t k = 0; k < tsr_numel(t->tensor[INPUT]); k++)
        n += (int64_t)value_at(t->tensor[INDEX], k).bits;
    check_shape(t, RESULT, t->check->dtype, 1, &n);
    GO_ON(t);
    n = 0;
    for (int64_t k = 0; k < tsr_numel(t->tensor[INPUT]); k++) {
        if (!value_at(t->tensor[INDEX], k).bits) continue;
        MUST(t, same_bits(t->check->dtype, element(t->tensor[RESULT], n), element(t->tensor[INPUT], k)),
             "element %lld, where the mask is true, is not in its place", (long long)k);
        n++;
    }
}

static void check_nonzero(trial *t)
{
    int64_t shape[TRIAL_RANK], rows = 0;
    const int ndim = random_shape(t, shape, 1, 3, true);
    make_input(t, INPUT, t->check->dtype, ndim, shape, FILL_SPECIAL);
    GO_ON(t);
    NEED(t, tsr_nonzero(&t->tensor[RESULT], t->tensor[INPUT]));
    const tsr_tensor *found = t->tensor[RESULT];
    for (int64_t k = 0; k < tsr_numel(t->tensor[INPUT]); k++) {
        const value v = value_at(t->tensor[INPUT], k);
        int64_t at[TSR_MAX_NDIM];
        if (is_float(part_of(t->check->dtype)) ? v.re == 0 && v.im == 0 : v.bits == 0) continue;
        MUST(t, found->ndim == 2 && found->shape[1] == ndim && rows < found->shape[0],
             "too few rows were found");
        index_of(at, k, ndim, shape);
        for (int d = 0; d < ndim; d++)
            MUST(t, value_at(found, rows * ndim + d).bits == (uint64_t)at[d],
                 "row %lld is not the index of element %lld", (long long)rows, (long long)k);
        rows++;
    }
    MUST(t, rows == found->shape[0], "%lld rows were found, not %lld", (long long)found->shape[0],
         (long long)rows);
}

void list_index(check_list *list)
{
    static const char *const titles[] = { "scatter", "scatter by adding", "scatter by maximum" };
    for (int d = 1; d < TSR_DTYPE_COUNT; d++) {
        const check any = { .family = family, .op = TSR_OP_GATHER, .dtype = (tsr_dtype)d };
        check c = any;
        c.run = check_gather;
        add_check(list, c, "gather");
        c.run = check_take;
        add_check(list, c, "take");
        c.op = TSR_OP_NONE;
        c.run = check_masked_select;
        add_check(list, c, "masked_select");
        c.run = check_nonzero;
        add_check(list, c, "nonzero");
        c.op = TSR_OP_SCATTER;
        c.run = check_scatter;
        for (int m = 0; m < 3; m++) {
            if (m == 1 && (d == TSR_BOOL || d == TSR_C32)) continue;
            if (m == 2 && is_complex((tsr_dtype)d)) continue;
            c.about = &modes[m];
            add_check(list, c, titles[m]);
        }
    }
}

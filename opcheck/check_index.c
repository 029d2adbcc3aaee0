/* check_index.c - elements taken and placed by number. */
#include <stdio.h>
#include <string.h>

#include "trial.h"

enum { INPUT, INDEX, RESULT, SOURCE, WANTED, FULL_INPUT, FULL_MASK };

static const char family[] = "index";

static const tsr_dtype index_dtypes[] = { TSR_I64, TSR_I32, TSR_U8, TSR_I8, TSR_U16 };

/* The k-th index, counted from the front of a dim of size n. */
static int64_t index_at(const tsr_tensor *index, int64_t k, int64_t n)
{
    const int64_t i = (int64_t)value_at(index, k).bits;
    return i < 0 ? i + n : i;
}

/* An input, and an index of its shape but for the axis; other dims may be shorter. Returns the rank. */
static int make_operands(trial *t, int64_t shape[TRIAL_RANK], int64_t taken[TRIAL_RANK], int *axis)
{
    const int ndim = random_shape(t, shape, 1, 3, false);
    *axis = (int)random_below(t, ndim);
    for (int d = 0; d < ndim; d++) taken[d] = once_in(t, 6) ? random_between(t, 0, shape[d]) : shape[d];
    taken[*axis] = random_size(t, 0, 7, most_elements(t) / (count_of(ndim, shape) / shape[*axis]));
    make_input(t, INPUT, t->check->dtype, ndim, shape, FILL_SPECIAL);
    make_indices(t, INDEX, index_dtypes[random_below(t, 5)], ndim, taken, shape[*axis]);
    return ndim;
}

static void check_gather(trial *t)
{
    int64_t shape[TRIAL_RANK], taken[TRIAL_RANK];
    int axis;
    const int ndim = make_operands(t, shape, taken, &axis);
    make_output(t, RESULT, t->check->dtype, ndim, taken);
    GO_ON(t);
    NEED(t, tsr_gather(&t->tensor[RESULT], t->tensor[INPUT], t->tensor[INDEX], axis));
    check_gaps(t, RESULT);
    GO_ON(t);
    for (int64_t k = 0; k < tsr_numel(t->tensor[RESULT]); k++) {
        int64_t at[TSR_MAX_NDIM];
        index_of(at, k, ndim, taken);
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
    const int64_t taken = random_size(t, 0, 7, most_elements(t) / (count_of(ndim, shape) / shape[axis]));
    make_input(t, INPUT, t->check->dtype, ndim, shape, FILL_SPECIAL);
    make_indices(t, INDEX, index_dtypes[random_below(t, 5)], 1, &taken, shape[axis]);
    GO_ON(t);
    NEED(t, tsr_take(&t->tensor[RESULT], t->tensor[INPUT], t->tensor[INDEX], axis));
    memcpy(result, shape, sizeof result);
    result[axis] = taken;
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
    int64_t shape[TRIAL_RANK], taken[TRIAL_RANK];
    int axis;
    const int ndim = make_operands(t, shape, taken, &axis);
    make_input(t, INPUT, dtype, ndim, shape, FILL_SMALL);
    make_input(t, SOURCE, dtype, ndim, taken, FILL_SMALL);
    make_packed(t, WANTED, INPUT, ndim, shape);
    const int from = make_output_like(t, RESULT, INPUT);
    GO_ON(t);
    for (int64_t k = 0; k < tsr_numel(t->tensor[SOURCE]); k++) {
        int64_t at[TSR_MAX_NDIM];
        index_of(at, k, ndim, taken);
        at[axis] = index_at(t->tensor[INDEX], k, shape[axis]);
        combine(dtype, element(t->tensor[WANTED], place_of(at, ndim, shape)), element(t->tensor[SOURCE], k),
                mode);
    }
    NEED(t,
         tsr_scatter(&t->tensor[RESULT], t->tensor[from], t->tensor[INDEX], t->tensor[SOURCE], axis, mode));
    check_gaps(t, RESULT);
    check_same(t, RESULT, WANTED, true);
}

/* One index lies outside its dim: the call fails, says which, and makes nothing. */
static void check_outside(trial *t)
{
    int64_t shape[TRIAL_RANK], taken[TRIAL_RANK], at[TRIAL_RANK];
    char where[120] = "";
    const int ndim = random_shape(t, shape, 1, 3, false), axis = (int)random_below(t, ndim),
              dims = random_shape(t, taken, 0, 3, false);
    const int64_t n = shape[axis] < 127 ? shape[axis] : 127, k = random_below(t, count_of(dims, taken));
    const tsr_dtype dtype = index_dtypes[random_below(t, 5)];
    const bool before = is_signed(dtype) && once_in(t, 2);
    shape[axis] = n;
    make_input(t, INPUT, t->check->dtype, ndim, shape, FILL_SMALL);
    make_output(t, INDEX, dtype, dims, taken);
    GO_ON(t);
    for (int64_t i = 0; i < count_of(dims, taken); i++) {
        const int64_t index = i != k ? random_below(t, n) : before ? -n - 1 : n;
        write_value(dtype, element(t->tensor[INDEX], i), integer_value(dtype, (uint64_t)index));
    }
    index_of(at, k, dims, taken);
    for (int d = 0; d < dims; d++)
        snprintf(where + strlen(where), sizeof where - strlen(where), d ? ", %lld" : "%lld",
                 (long long)at[d]);
    char said[200];
    snprintf(said, sizeof said, "take: index %lld at (%s) is outside dim %d of ",
             (long long)(before ? -n - 1 : n), where, axis);
    mirrors_end();
    const tsr_status s = tsr_take(&t->tensor[RESULT], t->tensor[INPUT], t->tensor[INDEX], axis);
    MUST(t, s == TSR_EINDEX && !t->tensor[RESULT] && strstr(tsr_last_error(), said),
         "%s: \"%s\" should say \"%s\"", tsr_status_name(s), tsr_last_error(), said);
    MUST(t, tsr_one_hot(&t->tensor[RESULT], t->tensor[INDEX], n, TSR_F32) == TSR_EINDEX && !t->tensor[RESULT],
         "one_hot took an index that lies outside");
}

/* Operands and masks broadcast to each other. */
static void check_masked_select(trial *t)
{
    int64_t shape[TRIAL_RANK], own[2][TRIAL_RANK], n = 0;
    const int ndim = random_shape(t, shape, 0, 3, true), shorter = (int)random_below(t, 2),
              drop = once_in(t, 3) ? (int)random_between(t, 0, ndim) : 0;
    memcpy(own[0], shape, sizeof shape);
    memcpy(own[1], shape, sizeof shape);
    for (int d = 0; d < ndim; d++)
        if (once_in(t, 4)) own[d < drop ? shorter : random_below(t, 2)][d] = 1;
    for (int i = 0; i < 2; i++) {
        const int less = i == shorter ? drop : 0;
        make_input(t, i ? INDEX : INPUT, i ? TSR_BOOL : t->check->dtype, ndim - less, own[i] + less,
                   i ? FILL_SMALL : FILL_SPECIAL);
        make_packed(t, i ? FULL_MASK : FULL_INPUT, i ? INDEX : INPUT, ndim, shape);
    }
    GO_ON(t);
    NEED(t, tsr_masked_select(&t->tensor[RESULT], t->tensor[INPUT], t->tensor[INDEX]));
    const int64_t count = count_of(ndim, shape);
    for (int64_t k = 0; k < count; k++) n += (int64_t)value_at(t->tensor[FULL_MASK], k).bits;
    check_shape(t, RESULT, t->check->dtype, 1, &n);
    GO_ON(t);
    n = 0;
    for (int64_t k = 0; k < count; k++) {
        if (!value_at(t->tensor[FULL_MASK], k).bits) continue;
        MUST(t, same_bits(t->check->dtype, element(t->tensor[RESULT], n), element(t->tensor[FULL_INPUT], k)),
             "element %lld, where the mask is true, is not in its place", (long long)k);
        n++;
    }
}

static void check_nonzero(trial *t)
{
    int64_t shape[TRIAL_RANK], rows = 0;
    const int ndim = random_shape(t, shape, 0, 3, true);
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
        check outside = any;
        outside.run = check_outside;
        outside.cpu_only = true; /* a device says so later, or not at all */
        outside.every = 3;
        add_check(list, outside, "index outside");
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

/* check_lookup.c - elements found and placed by indices: what is built from gather and scatter. */
#include <string.h>

#include "trial.h"

enum { X, INDEX, RESULT, SOURCE, WANTED, FULL, RANK = TRIAL_RANK };

static const tsr_dtype index_dtypes[] = {
    TSR_I64, TSR_I32, TSR_I16, TSR_I8, TSR_U8, TSR_U16, TSR_U32, TSR_U64
};

static tsr_dtype draw_dtype(trial *t) { return index_dtypes[random_below(t, 8)]; }

/* Indices of a dim of size n, which i8 and u8 may not reach the end of. */
static void make_index(trial *t, int ndim, const int64_t *shape, int64_t n)
{
    make_indices(t, INDEX, draw_dtype(t), ndim, shape, n < 128 ? n : 128);
}

/* The k-th index, counted from the front of a dim of size n. */
static int64_t index_at(const trial *t, int64_t k, int64_t n)
{
    const int64_t i = (int64_t)value_at(t->tensor[INDEX], k).bits;
    return i >= 0 ? i : i + n;
}

/* Taking ---------------------------------------------------------------------------------------- */

/* The dims of the index, however many, stand where the axis stood; rows of a matrix are an embedding. */
static void check_take(trial *t)
{
    int64_t shape[RANK], taken[3], z[RANK + 3];
    const bool rows = t->check->about != NULL;
    const int ndim = random_shape(t, shape, rows ? 2 : 1, rows ? 2 : RANK - 3, false);
    const int axis = rows ? 0 : (int)random_below(t, ndim), dims = (int)random_between(t, 0, 3);
    int64_t left = most_elements(t) * shape[axis] / count_of(ndim, shape);
    for (int d = 0; d < dims; d++) {
        taken[d] = random_size(t, 0, 4, left);
        left /= taken[d] ? taken[d] : 1;
    }
    memcpy(z, shape, sizeof *z * (size_t)axis);
    memcpy(z + axis, taken, sizeof *z * (size_t)dims);
    memcpy(z + axis + dims, shape + axis + 1, sizeof *z * (size_t)(ndim - axis - 1));
    const int rank = ndim - 1 + dims;
    make_input(t, X, t->check->dtype, ndim, shape, FILL_SPECIAL);
    make_index(t, dims, taken, shape[axis]);
    make_output(t, RESULT, t->check->dtype, rank, z);
    GO_ON(t);
    if (rows)
        NEED(t, tsr_embedding(&t->tensor[RESULT], t->tensor[X], t->tensor[INDEX]));
    else
        NEED(t, tsr_take(&t->tensor[RESULT], t->tensor[X], t->tensor[INDEX], axis - ndim));
    check_gaps(t, RESULT);
    const int64_t count = count_of(rank, z);
    for (int64_t k = first_sample(t, count, 4); k >= 0; k = next_sample(t, k, count, 4)) {
        int64_t at[RANK + 3], from[RANK];
        index_of(at, k, rank, z);
        memcpy(from, at, sizeof *at * (size_t)axis);
        from[axis] = index_at(t, place_of(at + axis, dims, taken), shape[axis]);
        memcpy(from + axis + 1, at + axis + dims, sizeof *at * (size_t)(ndim - axis - 1));
        check_bits(t, RESULT, k, element(t->tensor[X], place_of(from, ndim, shape)));
    }
}

/* x and index broadcast against each other, but for the axis. */
static void check_take_along_axis(trial *t)
{
    int64_t shape[RANK], taken[RANK], z[RANK];
    const int ndim = random_shape(t, z, 1, RANK, false), axis = (int)random_below(t, ndim);
    for (int d = 0; d < ndim; d++) {
        const int64_t one = random_below(t, 6);
        shape[d] = one == 0 && d != axis ? 1 : z[d];
        taken[d] = one == 1 && d != axis ? 1 : z[d];
    }
    z[axis] = taken[axis] = random_size(t, 0, 7, most_elements(t) * z[axis] / count_of(ndim, z));
    make_input(t, X, t->check->dtype, ndim, shape, FILL_SPECIAL);
    make_index(t, ndim, taken, shape[axis]);
    make_output(t, RESULT, t->check->dtype, ndim, z);
    GO_ON(t);
    NEED(t, tsr_take_along_axis(&t->tensor[RESULT], t->tensor[X], t->tensor[INDEX], axis));
    check_gaps(t, RESULT);
    const int64_t count = count_of(ndim, z);
    for (int64_t k = first_sample(t, count, 4); k >= 0; k = next_sample(t, k, count, 4)) {
        int64_t at[RANK], own[RANK], from[RANK];
        index_of(at, k, ndim, z);
        for (int d = 0; d < ndim; d++) own[d] = taken[d] == 1 ? 0 : at[d];
        for (int d = 0; d < ndim; d++) from[d] = shape[d] == 1 ? 0 : at[d];
        from[axis] = index_at(t, place_of(own, ndim, taken), shape[axis]);
        check_bits(t, RESULT, k, element(t->tensor[X], place_of(from, ndim, shape)));
    }
}

/* Placing --------------------------------------------------------------------------------------- */

/* Added one by one in the order of the index, and rounded to the dtype each time. */
static void add_rows(trial *t, int ndim, const int64_t *shape, const int64_t *source, int axis)
{
    const tsr_tensor *from = t->tensor[SOURCE], *to = t->tensor[WANTED];
    GO_ON(t);
    for (int64_t k = 0; k < tsr_numel(from); k++) {
        int64_t at[RANK];
        index_of(at, k, ndim, source);
        at[axis] = index_at(t, at[axis], shape[axis]);
        void *place = element(to, place_of(at, ndim, shape));
        const value a = read_value(to->dtype, place), b = value_at(from, k);
        write_value(to->dtype, place, (value){ a.bits + b.bits, a.re + b.re, a.im + b.im });
    }
}

static void check_index_add(trial *t)
{
    int64_t shape[RANK], source[RANK];
    const int ndim = random_shape(t, shape, 1, RANK, false), axis = (int)random_below(t, ndim);
    memcpy(source, shape, sizeof source);
    source[axis] = random_size(t, 0, 7, most_elements(t) * shape[axis] / count_of(ndim, shape));
    make_input(t, X, t->check->dtype, ndim, shape, FILL_SMALL);
    make_input(t, SOURCE, t->check->dtype, ndim, source, FILL_SMALL);
    make_index(t, source[axis] == 1 ? (int)random_below(t, 2) : 1, &source[axis], shape[axis]);
    make_packed(t, WANTED, X, ndim, shape);
    const int from = make_output_like(t, RESULT, X);
    GO_ON(t);
    add_rows(t, ndim, shape, source, axis);
    NEED(t, tsr_index_add(&t->tensor[RESULT], t->tensor[from], t->tensor[INDEX], t->tensor[SOURCE], axis));
    check_gaps(t, RESULT);
    check_same(t, RESULT, WANTED, true);
}

static void check_one_hot(trial *t)
{
    int64_t shape[RANK];
    const int ndim = random_shape(t, shape, 0, RANK - 1, true);
    const int64_t count = count_of(ndim, shape), most = most_elements(t) / (count ? count : 1);
    const int64_t depth = random_size(t, 1, 6, most);
    make_index(t, ndim, shape, depth);
    shape[ndim] = depth;
    make_output(t, RESULT, t->check->dtype, ndim + 1, shape);
    GO_ON(t);
    NEED(t, tsr_one_hot(&t->tensor[RESULT], t->tensor[INDEX], depth, t->check->dtype));
    check_gaps(t, RESULT);
    for (int64_t k = first_sample(t, count * depth, 4); k >= 0; k = next_sample(t, k, count * depth, 4)) {
        unsigned char wanted[16];
        const int64_t is = index_at(t, k / depth, depth) == k % depth;
        convert(t->check->dtype, wanted, TSR_I64, &is);
        check_bits(t, RESULT, k, wanted);
    }
}

static void check_masked_fill(trial *t)
{
    int64_t shape[RANK], own[RANK];
    const int ndim = random_shape(t, shape, 0, RANK, true), drop = (int)random_between(t, 0, ndim);
    const int64_t number = random_between(t, 0, 9);
    unsigned char filled[16];
    for (int d = 0; d < ndim; d++) own[d] = once_in(t, 3) ? 1 : shape[d];
    make_input(t, X, t->check->dtype, ndim, shape, FILL_SPECIAL);
    make_input(t, INDEX, TSR_BOOL, ndim - drop, own + drop, FILL_SMALL);
    make_packed(t, FULL, INDEX, ndim, shape);
    const int from = make_output_like(t, RESULT, X);
    GO_ON(t);
    NEED(t, tsr_masked_fill(&t->tensor[RESULT], t->tensor[from], t->tensor[INDEX], TSR_SCALAR(number)));
    check_gaps(t, RESULT);
    convert(t->check->dtype, filled, TSR_I64, &number);
    const int64_t count = count_of(ndim, shape);
    for (int64_t k = first_sample(t, count, 4); k >= 0; k = next_sample(t, k, count, 4))
        check_bits(t, RESULT, k, value_at(t->tensor[FULL], k).bits ? filled : element(t->tensor[X], k));
}

static bool is_added(tsr_dtype dtype) { return dtype != TSR_BOOL && dtype != TSR_C32; }

void list_lookup(check_list *list)
{
    static const char rows[] = "rows";
    const check_rule rules[] = {
        { "take by tensors", check_take, NULL, NULL },
        { "embedding", check_take, rows, NULL },
        { "take_along_axis", check_take_along_axis, NULL, NULL },
        { "one_hot", check_one_hot, NULL, NULL },
        { "masked_fill", check_masked_fill, NULL, NULL },
    };
    add_rules(list, (check){ .family = "index", .every = 3 }, rules, sizeof rules / sizeof *rules);
    add_checks(list, (check){ .family = "index", .run = check_index_add, .every = 3, .more = 24 },
               "index_add", is_added);
}

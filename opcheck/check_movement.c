/* check_movement.c - copies, conversions and fills between any strides. */
#include "trial.h"

#include <string.h>

enum { SOURCE, RESULT, OTHER };

static const char family[] = "movement";

/* Any dtype to any dtype, any strides to any strides. */
static void check_copy(trial *t)
{
    int64_t shape[TRIAL_RANK];
    const int ndim = random_shape(t, shape, 0, TRIAL_RANK, true);
    make_input(t, SOURCE, t->check->dtype, ndim, shape, FILL_SPECIAL);
    GO_ON(t);
    if (once_in(t, 3)) {
        tsr_desc like;
        NEED(t, tsr_cast(&t->tensor[RESULT], t->tensor[SOURCE], t->check->other));
        NEED(t, tsr_desc_packed_like(&like, &t->tensor[SOURCE]->desc, t->check->other));
        MUST(t, tsr_desc_same(&t->tensor[RESULT]->desc, &like), "the result is not packed in the order of x");
    } else {
        make_output(t, RESULT, t->check->other, ndim, shape);
        GO_ON(t);
        NEED(t, tsr_copy(t->tensor[RESULT], t->tensor[SOURCE]));
        check_gaps(t, RESULT);
    }
    check_shape(t, RESULT, t->check->other, ndim, shape);
    check_converted(t, RESULT, SOURCE);
}

static void check_fill(trial *t)
{
    int64_t shape[TRIAL_RANK];
    const int ndim = random_shape(t, shape, 0, TRIAL_RANK, true);
    static const tsr_dtype scalars[] = { TSR_BOOL, TSR_I64, TSR_U64, TSR_F64, TSR_C128 };
    const tsr_dtype from = scalars[random_below(t, 5)];
    unsigned char wanted[16] = { 0 };
    char text[64];
    tsr_scalar x;
    make_input(t, OTHER, from, 0, NULL, FILL_SPECIAL);
    make_output(t, RESULT, t->check->dtype, ndim, shape);
    GO_ON(t);
    const bool zero = once_in(t, 6);
    NEED(t, tsr_item(&x, t->tensor[OTHER]));
    if (zero) NEED(t, tsr_zero(t->tensor[RESULT]));
    else      NEED(t, tsr_fill(t->tensor[RESULT], x));
    check_gaps(t, RESULT);
    GO_ON(t);
    if (!zero) convert(t->check->dtype, wanted, from, element(t->tensor[OTHER], 0));
    for (int64_t k = 0; k < tsr_numel(t->tensor[RESULT]); k++)
        MUST(t, same_bits(t->check->dtype, element(t->tensor[RESULT], k), wanted), "element %lld is not %s",
             (long long)k, value_text(text, t->check->dtype, wanted));
}

/* A tensor whose halves overlap is copied onto itself as if through a copy. */
static void check_overlap(trial *t)
{
    const int64_t n = 1 + random_size(t, 1, 39, most_elements(t)), shift = random_between(t, 1, n - 1);
    make_input(t, OTHER, t->check->dtype, 1, &n, FILL_SPECIAL);
    make_packed(t, SOURCE, OTHER, 1, &n);
    make_packed(t, RESULT, OTHER, 1, &n);
    GO_ON(t);
    tsr_tensor **low = &t->tensor[3], **high = &t->tensor[4];
    NEED(t, tsr_slice(low, t->tensor[RESULT], 0, 0, n - shift, 1));
    NEED(t, tsr_slice(high, t->tensor[RESULT], 0, shift, n, 1));
    NEED(t, tsr_copy(*high, *low));
    for (int64_t k = 0; k < n; k++)
        MUST(t,
             same_bits(t->check->dtype, element(t->tensor[RESULT], k),
                       element(t->tensor[SOURCE], k < shift ? k : k - shift)),
             "element %lld of %lld, copied onto itself with a shift of %lld, is wrong", (long long)k,
             (long long)n, (long long)shift);
}

/* To a packed buffer and back. */
static void check_load_and_store(trial *t)
{
    int64_t shape[TRIAL_RANK];
    const int ndim = random_shape(t, shape, 0, TRIAL_RANK, true);
    make_input(t, SOURCE, t->check->dtype, ndim, shape, FILL_SPECIAL);
    make_output(t, RESULT, t->check->dtype, ndim, shape);
    GO_ON(t);
    const size_t size = size_of(t->check->dtype), bytes = (size_t)tsr_byte_size(t->tensor[SOURCE]);
    unsigned char *buffer = trial_room(t, bytes);
    GO_ON(t);
    NEED(t, tsr_store(buffer, bytes, t->tensor[SOURCE]));
    for (int64_t k = 0; k < tsr_numel(t->tensor[SOURCE]); k++)
        MUST(t, !memcmp(buffer + (size_t)k * size, element(t->tensor[SOURCE], k), size),
             "element %lld was stored wrong", (long long)k);
    NEED(t, tsr_load(t->tensor[RESULT], buffer, bytes));
    check_gaps(t, RESULT);
    check_same(t, RESULT, SOURCE, false);
}

void list_movement(check_list *list)
{
    for (int a = 1; a < TSR_DTYPE_COUNT; a++) {
        const tsr_dtype dtype = (tsr_dtype)a;
        for (int b = 1; b < TSR_DTYPE_COUNT; b++)
            add_check(list, (check){ .family = family, .op = TSR_OP_COPY, .run = check_copy, .dtype = dtype,
                                     .other = (tsr_dtype)b, .more = a == b ? 8 : 1 }, "copy");
        add_check(list, (check){ .family = family, .op = TSR_OP_FILL, .run = check_fill, .dtype = dtype },
                  "fill");
        add_check(list, (check){ .family = family, .op = TSR_OP_COPY, .run = check_overlap, .dtype = dtype },
                  "copy onto itself");
        add_check(list,
                  (check){ .family = family, .op = TSR_OP_COPY, .run = check_load_and_store, .dtype = dtype },
                  "load and store");
    }
}

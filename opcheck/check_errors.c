/* check_errors.c - bad arguments are refused: with a status, a sentence, no result, no leak. */
#include <string.h>

#include "trial.h"

enum { MATRIX, INTEGERS, OUT };

typedef struct rule {
    const char *name;
    tsr_status (*call)(tsr_tensor **out, const tsr_tensor *matrix, const tsr_tensor *integers);
    tsr_status  wanted;
    const char *says;   /* in the sentence */
} rule;

/* matrix is f32(3, 4), integers i32(3, 4); *out is NULL. */
#define CALL(name, expression)                                                                          \
    static tsr_status name(tsr_tensor **out, const tsr_tensor *matrix, const tsr_tensor *integers)      \
    {                                                                                                   \
        (void)out; (void)matrix; (void)integers;                                                        \
        return expression;                                                                              \
    }

CALL(add_to_nothing, tsr_add(NULL, matrix, matrix))
CALL(add_nothing, tsr_add(out, matrix, NULL))
CALL(mix_kinds, tsr_add(out, matrix, integers))
CALL(exp_of_integers, tsr_exp(out, integers))
CALL(dims_that_differ, tsr_matmul(out, matrix, matrix))
CALL(no_such_axis, tsr_sum(out, matrix, 1, (int[]){ 2 }, false))
CALL(axis_twice, tsr_sum(out, matrix, 2, (int[]){ 1, -1 }, false))
CALL(sort_beyond, tsr_sort(out, matrix, -3, false))
CALL(index_beyond, tsr_select(out, matrix, 0, 3))
CALL(step_of_zero, tsr_slice(out, matrix, 0, 0, 3, 0))
CALL(view_of_another_count, tsr_view(out, matrix, TSR_SHAPE(5, 2)))
CALL(escape, tsr_as_strided(out, matrix, TSR_SHAPE(3, 4), (int64_t[]){ 5, 1 }, 0))
CALL(negative_size, tsr_zeros(out, TSR_F32, TSR_SHAPE(-1)))
CALL(endless_size, tsr_zeros(out, TSR_F32, TSR_SHAPE(INT64_MAX / 2, INT64_MAX / 2)))
CALL(no_such_dtype, tsr_zeros(out, (tsr_dtype)99, TSR_SHAPE(2)))
CALL(too_many_dims, tsr_zeros(out, TSR_F32, TSR_MAX_NDIM + 1, (int64_t[TSR_MAX_NDIM + 1]){ 1 }))
CALL(random_integers, tsr_uniform(out, TSR_I32, TSR_SHAPE(2), 0, 1, 7))
CALL(range_backwards, tsr_uniform(out, TSR_F32, TSR_SHAPE(2), 1, 0, 7))
CALL(no_such_threads, tsr_set_threads(-1))

static tsr_status write_const(tsr_tensor **out, const tsr_tensor *matrix, const tsr_tensor *integers)
{
    static const float numbers[12];
    tsr_tensor *fixed = NULL;
    (void)out; (void)integers;
    TSR_TRY(tsr_wrap_const(&fixed, numbers, tsr_desc_of(matrix)));
    const tsr_status s = tsr_fill(fixed, TSR_SCALAR(1));
    tsr_release(&fixed);
    return s;
}

static tsr_status write_repeated(tsr_tensor **out, const tsr_tensor *matrix, const tsr_tensor *integers)
{
    tsr_tensor *repeated = NULL;
    (void)out; (void)integers;
    TSR_TRY(tsr_unsqueeze(&repeated, matrix, 0));
    tsr_status s = tsr_expand(&repeated, repeated, TSR_SHAPE(2, 3, 4));
    if (s == TSR_OK) s = tsr_fill(repeated, TSR_SCALAR(1));
    tsr_release(&repeated);
    return s;
}

static tsr_status result_of_another_shape(tsr_tensor **out, const tsr_tensor *matrix,
                                          const tsr_tensor *integers)
{
    tsr_tensor *small = NULL;
    (void)out; (void)integers;
    TSR_TRY(tsr_zeros(&small, TSR_F32, TSR_SHAPE(3)));
    const tsr_status s = tsr_add(&small, matrix, matrix);
    tsr_release(&small);
    return s;
}

static tsr_status gather_beyond(tsr_tensor **out, const tsr_tensor *matrix, const tsr_tensor *integers)
{
    tsr_tensor *index = NULL;
    (void)integers;
    TSR_TRY(tsr_full(&index, TSR_I64, TSR_SHAPE(3, 4), TSR_SCALAR(4)));
    const tsr_status s = tsr_gather(out, matrix, index, 1);
    tsr_release(&index);
    return s;
}

static tsr_status read_without_memory(tsr_tensor **out, const tsr_tensor *matrix, const tsr_tensor *integers)
{
    tsr_tensor *described = NULL;
    (void)integers;
    TSR_TRY(tsr_declare(&described, tsr_desc_of(matrix), TSR_CPU, TSR_MEMORY_HOST));
    const tsr_status s = tsr_neg(out, described);
    tsr_release(&described);
    return s;
}

static const rule rules[] = {
    { "add: out NULL", add_to_nothing, TSR_ENULL, "add" },
    { "add: y NULL", add_nothing, TSR_ENULL, "add" },
    { "add: kinds mixed", mix_kinds, TSR_EDTYPE, "add" },
    { "exp: integers", exp_of_integers, TSR_EDTYPE, "exp" },
    { "matmul: sizes differ", dims_that_differ, TSR_ESHAPE, "matmul" },
    { "sum: no such axis", no_such_axis, TSR_EINDEX, "sum" },
    { "sum: axis twice", axis_twice, TSR_EINVAL, "sum" },
    { "sort: no such axis", sort_beyond, TSR_EINDEX, "sort" },
    { "select: index beyond", index_beyond, TSR_EINDEX, "select" },
    { "slice: step 0", step_of_zero, TSR_EINVAL, "slice" },
    { "view: another count", view_of_another_count, TSR_ESHAPE, "view" },
    { "as_strided: leaves storage", escape, TSR_EBOUNDS, "as_strided" },
    { "zeros: negative size", negative_size, TSR_ESHAPE, "zeros" },
    { "zeros: endless", endless_size, TSR_EOVERFLOW, "zeros" },
    { "zeros: no such dtype", no_such_dtype, TSR_EDTYPE, "zeros" },
    { "zeros: too many dims", too_many_dims, TSR_EINVAL, "zeros" },
    { "uniform: integers", random_integers, TSR_EDTYPE, "uniform" },
    { "uniform: range backwards", range_backwards, TSR_EINVAL, "uniform" },
    { "threads: -1", no_such_threads, TSR_EINVAL, "threads" },
    { "fill: read-only", write_const, TSR_EREADONLY, "fill" },
    { "fill: repeated", write_repeated, TSR_EOVERLAP, "fill" },
    { "add: result does not fit", result_of_another_shape, TSR_ESHAPE, "add" },
    { "gather: index beyond", gather_beyond, TSR_EINDEX, "gather" },
    { "neg: no memory", read_without_memory, TSR_ESTATE, "neg" },
};

static void check_refused(trial *t)
{
    const rule *r = t->check->about;
    NEED(t, tsr_ones(&t->tensor[MATRIX], TSR_F32, TSR_SHAPE(3, 4)));
    NEED(t, tsr_ones(&t->tensor[INTEGERS], TSR_I32, TSR_SHAPE(3, 4)));
    const tsr_status s = r->call(&t->tensor[OUT], t->tensor[MATRIX], t->tensor[INTEGERS]);
    MUST(t, s == r->wanted, "%s, not %s: \"%s\"", tsr_status_name(s), tsr_status_name(r->wanted),
         tsr_last_error());
    MUST(t, strstr(tsr_last_error(), r->says), "the sentence \"%s\" does not name %s", tsr_last_error(),
         r->says);
    MUST(t, !t->tensor[OUT], "a result was left behind");
}

/* The n-th allocation fails, for each n until none does: ENOMEM every time, and nothing kept. */
typedef struct ration {
    int64_t left;
} ration;

static bool spend(void *context, size_t bytes)
{
    ration *r = context;
    (void)bytes;
    return r->left-- > 0;
}

static void check_out_of_memory(trial *t)
{
    const int64_t shape[] = { 3, 200 };
    tsr_status s = TSR_ENOMEM;
    make_input(t, MATRIX, t->check->dtype, 2, shape, FILL_SMALL);
    GO_ON(t);
    for (int64_t n = 0; n < 100 && s != TSR_OK; n++) {
        ration r = { n };
        tsr_set_alloc_hook(spend, &r);
        s = tsr_sort(&t->tensor[OUT], t->tensor[MATRIX], 1, false);
        if (s == TSR_OK) s = tsr_add(&t->tensor[OUT], t->tensor[OUT], t->tensor[MATRIX]);
        tsr_set_alloc_hook(NULL, NULL);
        MUST(t, s == TSR_OK || s == TSR_ENOMEM, "allocation %lld failed, and %s came of it", (long long)n,
             tsr_status_name(s));
        tsr_release(&t->tensor[OUT]);
    }
    MUST(t, s == TSR_OK, "it never had enough memory");
}

void list_errors(check_list *list)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        add_check(list, (check){ .family = "errors", .run = check_refused, .about = &rules[i] },
                  rules[i].name);
    add_check(list, (check){ .family = "errors", .run = check_out_of_memory, .dtype = TSR_F32 },
              "out of memory");
}

/* check_threads.c - the number of threads changes no bit of a result.
 *
 * Tensors are large enough to be cut into parts.
 */
#include <string.h>

#include "trial.h"

enum { X, Y, ALONE, TOGETHER, ROWS = 384, COLS = 512 };

typedef tsr_status (*work_fn)(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);

typedef struct rule {
    const char *name;
    work_fn     work;
} rule;

static tsr_status sum_all(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y)
{
    (void)y;
    return tsr_sum(out, x, 0, NULL, false);
}

static tsr_status sum_rows(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y)
{
    (void)y;
    return tsr_sum(out, x, 1, (int[]){ 0 }, false);
}

static tsr_status logsumexp(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y)
{
    (void)y;
    return tsr_logsumexp(out, x, 1, (int[]){ 1 }, false);
}

static tsr_status var(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y)
{
    (void)y;
    return tsr_var(out, x, 0, NULL, false, 1);
}

static tsr_status grow(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y)
{
    (void)y;
    return tsr_expm1(out, x);
}

static tsr_status cumsum(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y)
{
    (void)y;
    return tsr_cumsum(out, x, 1);
}

static tsr_status sort(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y)
{
    (void)y;
    return tsr_sort(out, x, 1, false);
}

static tsr_status product(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y)
{
    tsr_tensor *transposed = NULL;
    TSR_TRY(tsr_transpose(&transposed, y, 0, 1));
    const tsr_status s = tsr_matmul(out, x, transposed);
    tsr_release(&transposed);
    return s;
}

static tsr_status rearrange(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y)
{
    tsr_tensor *transposed = NULL;
    (void)y;
    TSR_TRY(tsr_transpose(&transposed, x, 0, 1));
    const tsr_status s = tsr_rearrange(out, transposed);
    tsr_release(&transposed);
    return s;
}

static tsr_status draw(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y)
{
    (void)y;
    return tsr_randn(out, x->dtype, x->ndim, x->shape, 99);
}

static const rule rules[] = {
    { "add", tsr_add },         { "pow", tsr_pow },     { "expm1", grow },   { "sum of all", sum_all },
    { "sum of rows", sum_rows }, { "var", var },        { "logsumexp", logsumexp }, { "cumsum", cumsum },
    { "sort", sort },           { "matmul", product },  { "rearrange", rearrange }, { "randn", draw },
};

/* Leaves the number of threads as it was. */
static void compare(trial *t, const rule *r, int threads)
{
    NEED(t, tsr_set_threads(1));
    NEED(t, r->work(&t->tensor[ALONE], t->tensor[X], t->tensor[Y]));
    NEED(t, tsr_set_threads(threads));
    NEED(t, r->work(&t->tensor[TOGETHER], t->tensor[X], t->tensor[Y]));
    const tsr_tensor *a = t->tensor[ALONE], *b = t->tensor[TOGETHER];
    MUST(t, tsr_same_desc(a, b), "another desc with %d threads", threads);
    MUST(t, !memcmp(a->data, b->data, (size_t)tsr_byte_size(a)), "other bits with %d threads than with 1",
         threads);
}

static void check_threads(trial *t)
{
    const int before = tsr_threads(), threads = (int)random_between(t, 2, 8);
    NEED(t, tsr_uniform(&t->tensor[X], t->check->dtype, TSR_SHAPE(ROWS, COLS), 0.125, 4, random_bits(t)));
    NEED(t, tsr_uniform(&t->tensor[Y], t->check->dtype, TSR_SHAPE(ROWS, COLS), 0.125, 4, random_bits(t)));
    compare(t, t->check->about, threads);
    NEED(t, tsr_set_threads(before));
}

void list_threads(check_list *list)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        add_check(list,
                  (check){ .family = "threads",
                           .run = check_threads,
                           .about = &rules[i],
                           .dtype = TSR_F32,
                           .every = 10,
                           .cpu_only = true },
                  rules[i].name);
}

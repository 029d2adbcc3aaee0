/* check_join.c - tensors joined along an axis, and one cut into several. */
#include <string.h>

#include "trial.h"

/* Parts lie from FIRST on; a stack has those again and again. */
enum { RESULT, FIRST, MOST = 5, MOST_STACKED = 70 };

/* Parts of a whole: sizes along an axis, which a stack adds. */
typedef struct parts {
    int n, axis, ndim; /* ndim of the whole */
    int64_t whole[TRIAL_RANK + 1];
    int64_t begin[MOST_STACKED + 1]; /* where each part begins along the axis, and the end */
} parts;

/* The shape of part i; a part of a stack lacks the axis. Returns the rank. */
static int shape_of_part(int64_t *shape, const parts *p, int i, bool stacked)
{
    int n = 0;
    for (int d = 0; d < p->ndim; d++)
        if (d != p->axis)
            shape[n++] = p->whole[d];
        else if (!stacked)
            shape[n++] = p->begin[i + 1] - p->begin[i];
    return n;
}

/* A shape whose axis is cut into n parts, some of them empty; of one index each for a stack, which may have
 * more of them and whose elements are often neighbours. */
static parts random_parts(trial *t, bool stacked, int64_t most)
{
    parts p = { .n = (int)random_between(t, 1, MOST) };
    p.ndim = random_shape(t, p.whole, 1, TRIAL_RANK, true);
    p.axis = stacked && once_in(t, 2) ? p.ndim - 1 : (int)random_below(t, p.ndim);
    if (stacked && most > MOST && once_in(t, 4)) { /* large and packed: vectors of parts are interleaved */
        t->packed = true;
        p.n = (int)random_size(t, 2, MOST_STACKED, MOST_STACKED);
        p.ndim = 2;
        p.axis = 1;
        p.whole[0] = most_elements(t) / p.n;
        p.whole[1] = p.n;
    } else if (stacked) {
        p.whole[p.axis] = 1;
        const int64_t room = most_elements(t) / (count_of(p.ndim, p.whole) + 1);
        if (most > MOST && room > MOST) p.n = (int)random_size(t, 1, MOST, room < most ? room : most);
        p.whole[p.axis] = p.n;
    }
    const int64_t length = p.whole[p.axis];
    for (int i = 1; i < p.n; i++)
        p.begin[i] = stacked ? i : once_in(t, 3) ? p.begin[i - 1] : random_between(t, p.begin[i - 1], length);
    p.begin[p.n] = length;
    return p;
}

/* Element k of the whole is the one of its part. */
static void check_parts(trial *t, const parts *p, bool stacked)
{
    const int64_t count = count_of(p->ndim, p->whole);
    for (int64_t k = first_sample(t, count, 4); k >= 0; k = next_sample(t, k, count, 4)) {
        int64_t at[TRIAL_RANK], own[TRIAL_RANK], shape[TRIAL_RANK];
        int i = 0, n = 0;
        index_of(at, k, p->ndim, p->whole);
        while (at[p->axis] >= p->begin[i + 1]) i++;
        for (int d = 0; d < p->ndim; d++)
            if (d != p->axis || !stacked) own[n++] = at[d] - (d == p->axis ? p->begin[i] : 0);
        shape_of_part(shape, p, i, stacked);
        check_bits(t, RESULT, k, element(t->tensor[FIRST + i % MOST], place_of(own, n, shape)));
    }
}

typedef struct join_rule {
    const char *name;
    bool stacked;
    tsr_status (*call)(tsr_tensor **out, int n, const tsr_tensor *const *in, int axis);
} join_rule;

/* Along axis 0 tsr_batch_join does the same. */
static tsr_status concat(tsr_tensor **out, int n, const tsr_tensor *const *in, int axis)
{
    return axis == 0 && n % 2 ? tsr_batch_join(out, n, in, true) : tsr_concat(out, n, in, axis);
}

static tsr_status stack(tsr_tensor **out, int n, const tsr_tensor *const *in, int axis)
{
    return axis == 0 && n % 2 ? tsr_batch_join(out, n, in, false) : tsr_stack(out, n, in, axis);
}

static const join_rule concat_rule = { "concat", false, concat }, stack_rule = { "stack", true, stack };

static void check_join(trial *t)
{
    const join_rule *r = t->check->about;
    const parts p = random_parts(t, r->stacked, r->stacked ? MOST_STACKED : MOST);
    const tsr_tensor *in[MOST_STACKED];
    for (int i = 0; i < p.n; i++) {
        int64_t shape[TRIAL_RANK];
        const int ndim = shape_of_part(shape, &p, i, r->stacked);
        if (i < MOST) make_input(t, FIRST + i, t->check->dtype, ndim, shape, FILL_SPECIAL);
        in[i] = t->tensor[FIRST + i % MOST];
    }
    const bool given = !once_in(t, 4);
    if (given) make_output(t, RESULT, t->check->dtype, p.ndim, p.whole);
    GO_ON(t);
    NEED(t, r->call(&t->tensor[RESULT], p.n, in, p.axis));
    if (given) check_gaps(t, RESULT);
    check_shape(t, RESULT, t->check->dtype, p.ndim, p.whole);
    check_parts(t, &p, r->stacked);
}

/* The whole is the operand here, and the parts are views. */
static void check_cut(trial *t)
{
    const bool stacked = !strcmp(t->check->name, "unstack");
    const parts p = random_parts(t, stacked, MOST);
    const tsr_dtype dtype = (tsr_dtype)random_between(t, 1, TSR_DTYPE_COUNT - 1);
    int64_t sizes[MOST];
    for (int i = 0; i < p.n; i++) sizes[i] = p.begin[i + 1] - p.begin[i];
    make_input(t, RESULT, dtype, p.ndim, p.whole, FILL_SPECIAL);
    GO_ON(t);
    if (stacked)
        NEED(t, tsr_unstack(&t->tensor[FIRST], t->tensor[RESULT], p.axis, p.n));
    else
        NEED(t, tsr_split(&t->tensor[FIRST], t->tensor[RESULT], p.axis, p.n, sizes));
    for (int i = 0; i < p.n; i++) {
        int64_t shape[TRIAL_RANK];
        const int ndim = shape_of_part(shape, &p, i, stacked);
        check_shape(t, FIRST + i, dtype, ndim, shape);
    }
    check_parts(t, &p, stacked);
}

/* Vector i runs along its own dim; in the order x, y the first two are exchanged. */
static void check_meshgrid(trial *t)
{
    const int n = (int)random_between(t, 1, MOST);
    const bool exchanged = once_in(t, 2);
    const tsr_dtype dtype = (tsr_dtype)random_between(t, 1, TSR_DTYPE_COUNT - 1);
    const tsr_tensor *in[MOST];
    int64_t shape[MOST], left = most_elements(t);
    for (int i = 0; i < n; i++) {
        const int d = exchanged && n > 1 && i < 2 ? 1 - i : i;
        shape[d] = random_size(t, 0, 5, left);
        left /= shape[d] ? shape[d] : 1;
        make_input(t, i, dtype, 1, &shape[d], FILL_SPECIAL);
        in[i] = t->tensor[i];
    }
    GO_ON(t);
    NEED(t, tsr_meshgrid(&t->tensor[MOST], n, in, exchanged ? TSR_MESH_XY : TSR_MESH_IJ));
    const int64_t count = count_of(n, shape);
    for (int i = 0; i < n && !t->failed; i++) {
        const int d = exchanged && n > 1 && i < 2 ? 1 - i : i;
        check_shape(t, MOST + i, dtype, n, shape);
        for (int64_t k = first_sample(t, count, 4); k >= 0; k = next_sample(t, k, count, 4)) {
            int64_t at[MOST];
            index_of(at, k, n, shape);
            check_bits(t, MOST + i, k, element(t->tensor[i], at[d]));
        }
    }
}

void list_join(check_list *list)
{
    add_checks(list, (check){ .family = "join", .run = check_join, .about = &concat_rule }, "concat", NULL);
    add_checks(list, (check){ .family = "join", .run = check_join, .about = &stack_rule, .more = 2 }, "stack",
               NULL);
    add_check(list, (check){ .family = "view", .run = check_cut }, "split");
    add_check(list, (check){ .family = "view", .run = check_cut }, "unstack");
    add_check(list, (check){ .family = "view", .run = check_meshgrid }, "meshgrid");
}

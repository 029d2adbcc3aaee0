/* layout.c - one trial of an op that puts elements of x in other places. */
#include "layout.h"

#include <string.h>

enum { X, RESULT, ITSELF };

int64_t room_to_grow(const trial *t, const layout *l)
{
    const int64_t n = count_of(l->ndim, l->in), most = most_elements(t);
    return n < 1 ? most : n > most ? 1 : most / n;
}

void keep_shape(layout *l)
{
    l->out_ndim = l->ndim;
    memcpy(l->out, l->in, sizeof l->out);
}

void draw_axis(trial *t, layout *l) { l->axis = (int)random_below(t, l->ndim); }

void draw_axes(trial *t, layout *l, int least)
{
    int order[TSR_MAX_NDIM];
    for (int i = 0; i < l->ndim; i++) {
        const int k = (int)random_below(t, i + 1);
        order[i] = order[k];
        order[k] = i;
    }
    l->n = (int)random_between(t, least, l->ndim);
    for (int i = 0; i < l->n; i++) l->axes[i] = once_in(t, 3) ? order[i] - l->ndim : order[i];
}

static void check_elements(trial *t, int slot, const layout *l)
{
    const layout_rule *r = t->check->about;
    const tsr_tensor *x = t->tensor[X];
    unsigned char none[16];
    GO_ON(t);
    check_shape(t, slot, x->dtype, l->out_ndim, l->out);
    convert(x->dtype, none, TSR_I64, &l->number);
    const int64_t n = count_of(l->out_ndim, l->out);
    for (int64_t k = first_sample(t, n, 4); k >= 0; k = next_sample(t, k, n, 4)) {
        int64_t at[TSR_MAX_NDIM], from[TSR_MAX_NDIM];
        index_of(at, k, l->out_ndim, l->out);
        const bool seen = r->source(l, from, at);
        check_bits(t, slot, k, seen ? element(x, place_of(from, l->ndim, l->in)) : none);
    }
}

/* The result written over x, where it has x's shape. */
static void check_over_itself(trial *t, const layout *l)
{
    const layout_rule *r = t->check->about;
    if (r->is_view || l->out_ndim != l->ndim || memcmp(l->in, l->out, sizeof *l->in * (size_t)l->ndim))
        return;
    make_packed(t, ITSELF, X, l->ndim, l->in);
    GO_ON(t);
    NEED(t, r->call(&t->tensor[ITSELF], t->tensor[ITSELF], l));
    check_elements(t, ITSELF, l);
}

void check_rule_of_layout(trial *t)
{
    const layout_rule *r = t->check->about;
    const tsr_dtype dtype =
        t->check->dtype ? t->check->dtype : (tsr_dtype)random_between(t, 1, TSR_DTYPE_COUNT - 1);
    layout l = { .number = 0 };
    l.ndim = random_shape(t, l.in, r->least, r->most, true);
    r->draw(t, &l);
    make_input(t, X, dtype, l.ndim, l.in, FILL_SPECIAL);
    const bool given = !r->is_view && !once_in(t, 4);
    if (given) make_output(t, RESULT, dtype, l.out_ndim, l.out);
    GO_ON(t);
    NEED(t, r->call(&t->tensor[RESULT], t->tensor[X], &l));
    if (given) check_gaps(t, RESULT);
    check_elements(t, RESULT, &l);
    if (once_in(t, 4)) check_over_itself(t, &l);
}

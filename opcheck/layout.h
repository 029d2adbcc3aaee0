/* layout.h - checks of ops that put elements of x in other places.
 *
 * A rule maps each index of the result to the index of x whose element it has. That is the whole reference:
 * elements keep their bits, whatever the dtype.
 */
#ifndef TSR_OPCHECK_LAYOUT_H
#define TSR_OPCHECK_LAYOUT_H

#include "trial.h"

/* One call: what was drawn for it, and the shapes. */
typedef struct layout {
    int ndim, out_ndim;
    int64_t in[TSR_MAX_NDIM], out[TSR_MAX_NDIM];
    int n, axis, other, mode;
    int axes[TSR_MAX_NDIM];
    int64_t first[TSR_MAX_NDIM], second[TSR_MAX_NDIM]; /* a number or two for each dim or axis */
    int64_t k, number;                                 /* number: where nothing of x is seen */
} layout;

typedef struct layout_rule {
    const char *name;
    int least, most;                   /* rank of x */
    bool is_view;                      /* the result is rebound, so none is given */
    void (*draw)(trial *t, layout *l); /* the numbers, and the result's shape */
    tsr_status (*call)(tsr_tensor **out, const tsr_tensor *x, const layout *l);
    bool (*source)(const layout *l, int64_t *from, const int64_t *at); /* false: none, the number is there */
} layout_rule;

/* Runs check->about, a layout_rule. Without a dtype of the check's own, any is drawn. */
void check_rule_of_layout(trial *t);

/* How many times more elements than x has a result may have, and x at least one. */
int64_t room_to_grow(const trial *t, const layout *l);

/* All axes of the result as x has them. */
void keep_shape(layout *l);

/* An axis of x; and a list of n different ones, negative now and then. */
void draw_axis(trial *t, layout *l);
void draw_axes(trial *t, layout *l, int least);

#endif

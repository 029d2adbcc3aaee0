/* grid.c - the places of a grid seen with other ops.
 *
 * Along each dim a place has one, two or four taps: where they are, as f64, and their weights. Each
 * combination of taps is one index into the places of x, taken from all channels at once. */
#include "image.h"
#include "composed.h"
#include "conv.h"
#include "tessera/move.h"
#include "tessera/ops/elementwise.h"
#include "tessera/ops/image.h"
#include "tessera/ops/index.h"
#include "tessera/view.h"

enum { MOST_TAPS = 4, OUTSIDE = 8 /* elements from the edge: no tap of such a place lies in x */ };

typedef struct taps {
    int         n;
    tsr_tensor *at[MOST_TAPS], *weight[MOST_TAPS];  /* of the shape (n, places...) */
} taps;

static const double limit = 0x1p50;  /* beyond which floor and the like leave nothing to round */

static void release_taps(taps *t)
{
    for (int i = 0; i < MOST_TAPS; i++) {
        tsr_release(&t->at[i]);
        tsr_release(&t->weight[i]);
    }
}

static tsr_status hold(tsr_tensor *t, double low, double high)
{
    return tsr_clip(&t, t, TSR_NUMBER(low), TSR_NUMBER(high));
}

/* t = t * scale + shift */
static tsr_status move(tsr_tensor *t, double scale, double shift)
{
    TSRI_TRY(tsr_mul(&t, t, TSR_NUMBER(scale)));
    return tsr_add(&t, t, TSR_NUMBER(shift));
}

/* Reflected at low and low + span as often as needed. */
static tsr_status reflect(tsr_tensor *t, double low, double span)
{
    tsr_tensor *flips = NULL, *back = NULL, *odd = NULL;
    if (span == 0) return tsr_zero(t);
    tsr_status s = move(t, 1, -low);
    if (s == TSR_OK) s = tsr_abs(&t, t);
    if (s == TSR_OK) s = tsr_floor_div(&flips, t, TSR_NUMBER(span));
    if (s == TSR_OK) s = tsr_addcmul(&t, t, flips, TSR_NUMBER(-span), 1);
    if (s == TSR_OK) s = tsr_sub(&back, TSR_NUMBER(span), t);
    if (s == TSR_OK) s = tsr_remainder(&flips, flips, TSR_NUMBER(2.0));
    if (s == TSR_OK) s = tsr_ne(&odd, flips, TSR_NUMBER(0.0));
    if (s == TSR_OK) s = tsr_where(&t, odd, back, t);
    if (s == TSR_OK) s = move(t, 1, low);
    tsr_release(&odd);
    tsr_release(&back);
    tsr_release(&flips);
    return s;
}

/* Moves places outside x inside, as the padding says; with zeros as padding they stay outside. */
static tsr_status pad(tsr_tensor *t, int64_t size, const tsr_grid_params *p)
{
    const double last = (double)(size - 1);
    TSRI_TRY(hold(t, -limit, limit));
    if (p->padding == TSR_GRID_ZEROS) return hold(t, -OUTSIDE, last + OUTSIDE);
    if (p->padding == TSR_GRID_REFLECTION)
        TSRI_TRY(p->align_corners ? reflect(t, 0, last) : reflect(t, -0.5, (double)size));
    return hold(t, 0, last);
}

/* Keys' cubic of the distance from `place`, a = -0.75; for a distance below 1, or from 1 on. */
static tsr_status weigh_cubic(tsr_tensor **out, const tsr_tensor *over, double place)
{
    const double a = -0.75;
    const bool near = place == 0 || place == 1;
    const double c[] = { near ? 1 : -4 * a, near ? 0 : 8 * a, near ? -(a + 3) : -5 * a, near ? a + 2 : a };
    tsr_tensor *x = NULL;
    tsr_status s = tsr_sub(&x, over, TSR_NUMBER(place));
    if (s == TSR_OK) s = tsr_abs(&x, x);
    if (s == TSR_OK) s = tsr_mul(out, x, TSR_NUMBER(c[3]));
    for (int i = 2; i >= 0 && s == TSR_OK; i--) {
        s = tsr_add(out, *out, TSR_NUMBER(c[i]));
        if (s == TSR_OK && i > 0) s = tsr_mul(out, *out, x);
    }
    tsr_release(&x);
    return s;
}

static tsr_status take_cubic(taps *t, const tsr_tensor *at, int64_t size, const tsr_grid_params *p)
{
    tsr_tensor *low = NULL, *over = NULL;
    tsr_status s = tsr_clip(&over, at, TSR_NUMBER(-limit), TSR_NUMBER(limit));
    if (s == TSR_OK) s = tsr_floor(&low, over);
    if (s == TSR_OK) s = tsr_sub(&over, over, low);
    t->n = 4;
    for (int i = 0; i < 4 && s == TSR_OK; i++) {
        s = tsr_add(&t->at[i], low, TSR_NUMBER((double)(i - 1)));
        if (s == TSR_OK) s = pad(t->at[i], size, p);
        if (s == TSR_OK) s = tsr_round(&t->at[i], t->at[i]);
        if (s == TSR_OK) s = weigh_cubic(&t->weight[i], over, i - 1);
    }
    tsr_release(&over);
    tsr_release(&low);
    return s;
}

static tsr_status take_nearest(taps *t, const tsr_tensor *at)
{
    t->n = 1;
    TSRI_TRY(tsr_round(&t->at[0], at));
    TSRI_TRY(tsr_clone(&t->weight[0], at));
    return tsr_fill(t->weight[0], tsr_scalar_f64(1));
}

static tsr_status take_linear(taps *t, const tsr_tensor *at)
{
    t->n = 2;
    TSRI_TRY(tsr_floor(&t->at[0], at));
    TSRI_TRY(tsr_add(&t->at[1], t->at[0], TSR_NUMBER(1.0)));
    TSRI_TRY(tsr_sub(&t->weight[1], at, t->at[0]));
    return tsr_sub(&t->weight[0], TSR_NUMBER(1.0), t->weight[1]);
}

/* Coordinates of -1 .. 1, which become places of a dim. NaN counts as -1; infinity times 0, where the dim has
 * one element, too. */
static tsr_status find_places(tsr_tensor *c, int64_t size, bool align_corners)
{
    tsr_tensor *none = NULL;
    tsr_status s = move(c, 1, 1);
    if (s == TSR_OK)
        s = align_corners ? move(c, 0.5 * (double)(size - 1), 0) : move(c, 0.5 * (double)size, -0.5);
    if (s == TSR_OK) s = tsr_isnan(&none, c);
    if (s == TSR_OK) s = tsr_where(&c, none, TSR_NUMBER(align_corners ? 0.0 : -0.5), c);
    tsr_release(&none);
    return s;
}

/* The taps of all places along spatial dim d of x. */
static tsr_status take_dim(taps *t, const tsr_op *op, int d)
{
    const tsr_tensor *x = op->in[0];
    const tsr_grid_params *p = op->params;
    const int64_t size = x->shape[2 + d], which = x->ndim - 3 - d;  /* columns come first */
    tsr_tensor seen = *op->in[1], *c = NULL;
    tsri_see_slice(&seen, &seen, seen.ndim - 1, which, which + 1, 1);
    seen.desc.ndim--;
    tsr_status s = tsri_make_temporary(&c, "grid_sample", x, TSR_F64, seen.ndim, seen.shape);
    if (s == TSR_OK) s = tsr_copy(c, &seen);
    if (s == TSR_OK) s = find_places(c, size, p->align_corners);
    if (s == TSR_OK && p->mode != TSR_INTERPOLATE_CUBIC) s = pad(c, size, p);
    if (s == TSR_OK)
        s = p->mode == TSR_INTERPOLATE_CUBIC    ? take_cubic(t, c, size, p)
            : p->mode == TSR_INTERPOLATE_LINEAR ? take_linear(t, c)
                                                : take_nearest(t, c);
    tsr_release(&c);
    return s;
}

/* One combination: where it is among the places of x, its weight, and whether it counts. */
typedef struct corner {
    tsr_tensor *at, *weight, *counts;
} corner;

/* Adds tap i of a dim of this size. */
static tsr_status add_dim(corner *c, const taps *t, int i, int64_t size)
{
    tsr_tensor *inside = NULL;
    tsr_status s = tsr_ge(&inside, t->at[i], TSR_NUMBER(0.0));
    if (s == TSR_OK) s = tsr_logical_and(&c->counts, c->counts, inside);
    if (s == TSR_OK) s = tsr_lt(&inside, t->at[i], TSR_NUMBER((double)size));
    if (s == TSR_OK) s = tsr_logical_and(&c->counts, c->counts, inside);
    if (s == TSR_OK) s = tsr_ne(&inside, t->weight[i], TSR_NUMBER(0.0));
    if (s == TSR_OK) s = tsr_logical_and(&c->counts, c->counts, inside);
    if (s == TSR_OK) s = move(c->at, (double)size, 0);
    if (s == TSR_OK) s = tsr_add(&c->at, c->at, t->at[i]);
    if (s == TSR_OK) s = tsr_mul(&c->weight, c->weight, t->weight[i]);
    tsr_release(&inside);
    return s;
}

static tsr_status begin_corner(corner *c, const tsr_tensor *like)
{
    TSRI_TRY(tsr_zeros_like(&c->at, like));
    TSRI_TRY(tsr_ones_like(&c->weight, like));
    return tsr_eq(&c->counts, c->at, TSR_NUMBER(0.0));
}

/* *sum += x (n, c, places of x) at the corner, times its weight. */
static tsr_status add_corner(tsr_tensor **sum, corner *c, const tsr_tensor *x)
{
    const int64_t line[] = { x->shape[0], 1, c->at->ndim ? tsr_numel(c->at) / x->shape[0] : 1 };
    tsr_tensor *index = NULL, *weight = NULL, *seen = NULL;
    tsr_status s = tsr_where(&c->at, c->counts, c->at, TSR_NUMBER(0.0));
    if (s == TSR_OK) s = tsr_cast(&index, c->at, TSR_I64);
    if (s == TSR_OK) s = tsr_cast(&weight, c->weight, x->dtype);
    if (s == TSR_OK) s = tsr_view(&index, index, 3, line);
    if (s == TSR_OK) s = tsr_view(&weight, weight, 3, line);
    if (s == TSR_OK) s = tsr_view(&c->counts, c->counts, 3, line);
    if (s == TSR_OK) s = tsr_take_along_axis(&seen, x, index, 2);
    if (s == TSR_OK) s = tsr_where(&seen, c->counts, seen, TSR_NUMBER(0.0));
    if (s == TSR_OK) s = tsr_fma(sum, seen, weight, *sum);
    tsr_release(&seen);
    tsr_release(&weight);
    tsr_release(&index);
    return s;
}

/* Adds every combination of taps. */
static tsr_status add_corners(tsr_tensor **sum, const tsr_op *op, const taps *t, const tsr_tensor *x)
{
    const int spatial = op->in[0]->ndim - 2;
    int count = 1;
    tsr_status s = TSR_OK;
    for (int d = 0; d < spatial; d++) count *= t[d].n;
    for (int k = 0; k < count && s == TSR_OK; k++) {
        corner c = { NULL, NULL, NULL };
        int rest = k;
        s = begin_corner(&c, t[0].weight[0]);
        for (int d = 0; d < spatial && s == TSR_OK; d++) {
            s = add_dim(&c, &t[d], rest % t[d].n, op->in[0]->shape[2 + d]);
            rest /= t[d].n;
        }
        if (s == TSR_OK) s = add_corner(sum, &c, x);
        tsr_release(&c.counts);
        tsr_release(&c.weight);
        tsr_release(&c.at);
    }
    return s;
}

/* x packed, as (n, c, places), in the dtype that is summed in; and zeros for all places of the grid. */
static tsr_status begin_sum(tsr_tensor **flat, tsr_tensor **sum, const tsr_op *op)
{
    const tsr_tensor *x = op->in[0], *z = op->out[0];
    const tsr_dtype dtype = x->dtype == TSR_F64 ? TSR_F64 : TSR_F32;
    const int64_t lead[] = { x->shape[0], x->shape[1] };
    TSRI_TRY(tsri_make_temporary(flat, "grid_sample", x, dtype, x->ndim, x->shape));
    TSRI_TRY(tsr_copy(*flat, x));
    TSRI_TRY(tsr_view(flat, *flat, 3, (const int64_t[]){ lead[0], lead[1], -1 }));
    TSRI_TRY(tsri_make_temporary(sum, "grid_sample", x, dtype, 3,
                                 (const int64_t[]){ lead[0], lead[1], tsr_numel(z) / lead[0] / lead[1] }));
    return tsr_zero(*sum);
}

tsr_status tsri_grid_sample_parts(const tsr_op *op)
{
    tsr_tensor *flat = NULL, *sum = NULL, *z = op->out[0];
    taps t[TSRI_SPATIAL] = { { .n = 0 } };
    if (tsr_numel(z) == 0) return TSR_OK;
    tsr_status s = begin_sum(&flat, &sum, op);
    for (int d = 0; d < z->ndim - 2 && s == TSR_OK; d++) s = take_dim(&t[d], op, d);
    if (s == TSR_OK) s = add_corners(&sum, op, t, flat);
    if (s == TSR_OK) s = tsr_view(&sum, sum, z->ndim, z->shape);
    if (s == TSR_OK) s = tsr_copy(z, sum);
    for (int d = 0; d < TSRI_SPATIAL; d++) release_taps(&t[d]);
    tsr_release(&sum);
    tsr_release(&flat);
    return s;
}

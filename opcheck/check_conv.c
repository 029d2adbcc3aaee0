/* check_conv.c - windows over one to three spatial dims. */
#include <math.h>
#include <string.h>

#include "trial.h"

enum { X, W, BIAS, RESULT, INDICES };

/* Windows ------------------------------------------------------------------------------------- */

enum { MOST_DIMS = 3, MOST_CHANNELS = 40 };

/* Windows over one to three spatial dims. */
typedef struct window {
    int     dims;
    int64_t n, c, o, groups;  /* c channels, o outputs */
    int64_t in[MOST_DIMS], kernel[MOST_DIMS], out[MOST_DIMS];
    int64_t stride[MOST_DIMS], low[MOST_DIMS], high[MOST_DIMS], dilation[MOST_DIMS];
    bool    single;           /* x has no dim of batches */
} window;

static int64_t reach_of(const window *v, int d) { return v->dilation[d] * (v->kernel[d] - 1) + 1; }

static const char channels_last[] = "channels last";

/* Now and then a channel or two of its own for each output. With channels last, also as many outputs as fill
 * vectors, which tiles need. */
static void random_channels(trial *t, window *v)
{
    if (t->check->about == channels_last && most_elements(t) > 4000 && !once_in(t, 3)) {
        v->groups = 1;
        v->c = random_between(t, 2, 20);
        v->o = 8 * random_between(t, 1, 6) - (once_in(t, 3) ? 1 : 0);
        return;
    }
    v->groups = once_in(t, 4) ? random_size(t, 1, 3, MOST_CHANNELS) : 1;
    if (v->groups == 1 && most_elements(t) > 4000 && once_in(t, 8)) { /* blocks of either */
        v->c = random_between(t, 1, once_in(t, 2) ? 4 : 430);
        v->o = random_between(t, 1, v->c < 5 ? 540 : 8);
        return;
    }
    const int64_t most = MOST_CHANNELS / v->groups;
    v->c = v->groups * (v->groups > 1 && once_in(t, 2) ? 1 : random_size(t, 1, 2, most));
    v->o = v->groups * (v->groups > 1 && once_in(t, 2) ? 1 : random_size(t, 1, 3, most));
}

/* The last dim may be long; the others, too, if there is room left. Few taps and places where there are many
 * outputs: gradients that are made of other ops copy all windows. */
static window random_window(trial *t)
{
    window v = { .n = random_between(t, 1, 2), .dims = once_in(t, 2) ? 2 : (int)random_between(t, 1, 3) };
    const bool plain = once_in(t, 2); /* the same steps along all dims, and no dilation */
    const int64_t stride = random_between(t, 1, 3);
    random_channels(t, &v);
    v.single = v.n == 1 && once_in(t, 3);
    int64_t left = most_elements(t) / 8 / v.c / (v.o / MOST_CHANNELS + 1);
    int64_t taps = 16 * most_elements(t) / (v.c / v.groups * v.o);
    for (int d = v.dims - 1; d >= 0; d--) {
        v.kernel[d] = d < v.dims - 1 ? random_between(t, 1, once_in(t, 8) ? 12 : 3)
                                     : random_size(t, 1, 3, once_in(t, 12) ? 300 : 12);
        v.stride[d] = plain ? stride : random_between(t, 1, 3);
        v.dilation[d] = plain || once_in(t, 2) ? 1 : random_between(t, 1, 3);
        while (v.kernel[d] > 3 && (reach_of(&v, d) > left || v.kernel[d] > taps)) v.kernel[d] /= 2;
        taps /= v.kernel[d];
        v.in[d] = reach_of(&v, d) + random_size(t, 0, 3, left);
        left /= v.in[d];
    }
    return v;
}

/* The shape (batches, channels, spatial...), without batches where x has none. Returns the rank. */
static int shape_of(int64_t shape[2 + MOST_DIMS], const window *v, int64_t channels, const int64_t *spatial)
{
    int n = 0;
    if (!v->single) shape[n++] = v->n;
    shape[n++] = channels;
    for (int d = 0; d < v->dims; d++) shape[n++] = spatial[d];
    return n;
}

/* Which batch, output and place of it element k of a result is. */
static void place_in_result(int64_t at[2 + MOST_DIMS], const window *v, int64_t k, int64_t channels)
{
    int64_t shape[2 + MOST_DIMS] = { v->n, channels };
    memcpy(shape + 2, v->out, sizeof v->out);
    index_of(at, k, 2 + v->dims, shape);
}

/* The element of x's channel that tap k of the window at a place of the result sees; -1: none. */
static int64_t seen_at(const window *v, const int64_t *at, int64_t k)
{
    int64_t tap[MOST_DIMS], place = 0;
    index_of(tap, k, v->dims, v->kernel);
    for (int d = 0; d < v->dims; d++) {
        const int64_t i = at[d] * v->stride[d] - v->low[d] + tap[d] * v->dilation[d];
        if (i < 0 || i >= v->in[d]) return -1;
        place = place * v->in[d] + i;
    }
    return place;
}

/* The element of x's channel that tap k of a transposed convolution adds to a place of the result; -1: none.
 */
static int64_t added_from(const window *v, const int64_t *at, int64_t k)
{
    int64_t tap[MOST_DIMS], place = 0;
    index_of(tap, k, v->dims, v->kernel);
    for (int d = 0; d < v->dims; d++) {
        const int64_t i = at[d] + v->low[d] - tap[d] * v->dilation[d];
        if (i < 0 || i % v->stride[d] != 0 || i / v->stride[d] >= v->in[d]) return -1;
        place = place * v->in[d] + i / v->stride[d];
    }
    return place;
}

/* Layouts -------------------------------------------------------------------------------------- */

/* An operand, or an output, whose channels are one axis: that is innermost in memory if the check says so. */
static void make_image(trial *t, int slot, tsr_dtype dtype, int rank, const int64_t *shape, int axis,
                       bool is_output, filling with)
{
    const bool last = t->check->about == channels_last;
    int64_t own[2 + MOST_DIMS];
    for (int d = 0; d < rank; d++) own[d] = !last || d < axis ? shape[d] : shape[d + 1 < rank ? d + 1 : axis];
    if (last) t->packed = !once_in(t, 4);
    if (is_output) make_output(t, slot, dtype, rank, own);
    else           make_input(t, slot, dtype, rank, own, with);
    t->packed = false;
    GO_ON(t);
    if (last) NEED(t, tsr_move_axis(&t->tensor[slot], t->tensor[slot], rank - 1, axis));
}

/* Convolution --------------------------------------------------------------------------------- */

typedef tsr_status (*conv_fn)(tsr_tensor **, const tsr_tensor *, const tsr_tensor *, const tsr_tensor *,
                              const tsr_conv *);

static const conv_fn convs[2][MOST_DIMS] = {
    { tsr_conv1d, tsr_conv2d, tsr_conv3d },
    { tsr_conv_transpose1d, tsr_conv_transpose2d, tsr_conv_transpose3d },
};

/* The element at a batch, an output and a place of it, and the size of what was summed. */
static value right_conv(const trial *t, const window *v, const int64_t *at, bool transposed, double *size)
{
    const int64_t taps = count_of(v->dims, v->kernel), image = count_of(v->dims, v->in);
    const int64_t mine = v->c / v->groups, outputs = v->o / v->groups, first = at[1] / outputs * mine;
    value sum = t->tensor[BIAS] ? value_at(t->tensor[BIAS], at[1]) : (value){ 0 };
    *size = hypot(sum.re, sum.im);
    for (int64_t k = 0; k < taps; k++) {
        const int64_t i = transposed ? added_from(v, at + 2, k) : seen_at(v, at + 2, k);
        for (int64_t c = first; c < first + mine && i >= 0; c++) {
            const int64_t row = transposed ? c * outputs + at[1] % outputs : at[1] * mine + c - first;
            const value x = value_at(t->tensor[X], (at[0] * v->c + c) * image + i);
            const value w = value_at(t->tensor[W], row * taps + k);
            sum.bits += x.bits * w.bits;
            sum.re += x.re * w.re - x.im * w.im;
            sum.im += x.re * w.im + x.im * w.re;
            *size += hypot(x.re, x.im) * hypot(w.re, w.im);
        }
    }
    return sum;
}

static tsr_conv options_of(const window *v)
{
    tsr_conv how = { .groups = v->groups };
    for (int d = 0; d < v->dims; d++) {
        how.stride[d] = v->stride[d];
        how.dilation[d] = v->dilation[d];
        how.padding[d] = v->low[d] < v->high[d] ? v->low[d] : v->high[d];
        how.pad_low[d] = v->low[d] - how.padding[d];
        how.pad_high[d] = v->high[d] - how.padding[d];
    }
    return how;
}

/* Zeros on either side, or those that keep the length. */
static tsr_conv random_padding(trial *t, window *v)
{
    const bool same = once_in(t, 5), even = once_in(t, 2);
    for (int d = 0; d < v->dims; d++) {
        const int64_t kept = ((v->in[d] - 1) / v->stride[d]) * v->stride[d] + reach_of(v, d) - v->in[d];
        v->low[d] = same ? (kept > 0 ? kept / 2 : 0) : random_below(t, 3);
        v->high[d] = same ? (kept > 0 ? kept - kept / 2 : 0) : even ? v->low[d] : random_below(t, 3);
        v->out[d] = (v->in[d] + v->low[d] + v->high[d] - reach_of(v, d)) / v->stride[d] + 1;
    }
    tsr_conv how = options_of(v);
    if (!same) return how;
    for (int d = 0; d < v->dims; d++) how.padding[d] = how.pad_low[d] = how.pad_high[d] = 0;
    how.fit = TSR_CONV_SAME;
    return how;
}

/* What is cut off on either side; something stays. */
static tsr_conv random_cut(trial *t, window *v)
{
    int64_t more[MOST_DIMS];
    for (int d = 0; d < v->dims; d++) {
        const int64_t reach = reach_of(v, d);
        v->low[d] = random_below(t, reach < 3 ? reach : 3);
        v->high[d] = random_below(t, reach - v->low[d] < 3 ? reach - v->low[d] : 3);
        more[d] = random_below(t, v->stride[d]);
        v->out[d] = (v->in[d] - 1) * v->stride[d] - v->low[d] - v->high[d] + reach + more[d];
    }
    tsr_conv how = options_of(v);
    memcpy(how.output_padding, more, sizeof(int64_t) * (size_t)v->dims);
    return how;
}

static void make_conv_operands(trial *t, const window *v, bool transposed)
{
    const tsr_dtype dtype = t->check->dtype;
    int64_t x[2 + MOST_DIMS], z[2 + MOST_DIMS],
        w[2 + MOST_DIMS] = { v->o, v->c / v->groups, v->kernel[0], v->kernel[1], v->kernel[2] };
    if (transposed) w[0] = v->c, w[1] = v->o / v->groups;
    const int rank = shape_of(x, v, v->c, v->in), axis = v->single ? 0 : 1;
    shape_of(z, v, v->o, v->out);
    make_image(t, X, dtype, rank, x, axis, false, FILL_SMALL);
    make_image(t, W, dtype, 2 + v->dims, w, 1, false, FILL_SMALL);
    if (!once_in(t, 4)) make_input(t, BIAS, dtype, 1, &v->o, FILL_SMALL);
    make_image(t, RESULT, dtype, rank, z, axis, true, FILL_SMALL);
}

static void check_conv(trial *t)
{
    const bool transposed = t->check->op == TSR_OP_CONV_TRANSPOSE;
    window v = random_window(t);
    const tsr_conv how = transposed ? random_cut(t, &v) : random_padding(t, &v);
    make_conv_operands(t, &v, transposed);
    GO_ON(t);
    NEED(t, convs[transposed][v.dims - 1](&t->tensor[RESULT], t->tensor[X], t->tensor[W], t->tensor[BIAS],
                                          &how));
    check_gaps(t, RESULT);
    const int64_t count = v.n * v.o * count_of(v.dims, v.out),
                  cost = v.c / v.groups * count_of(v.dims, v.kernel);
    for (int64_t k = first_sample(t, count, 4 * cost); k >= 0; k = next_sample(t, k, count, 4 * cost)) {
        int64_t at[2 + MOST_DIMS];
        double size = 0;
        place_in_result(at, &v, k, v.o);
        const value wanted = right_conv(t, &v, at, transposed, &size);
        check_near(t, RESULT, k, wanted, (8 + sqrt((double)cost)) * epsilon_of(t->check->dtype) * size);
    }
}

/* Gradients ------------------------------------------------------------------------------------ */

/* The gradient by data is a transposed convolution back from z to x. */
static window transposed_window(const window *v)
{
    window back = *v;
    back.c = v->o;
    back.o = v->c;
    memcpy(back.in, v->out, sizeof back.in);
    memcpy(back.out, v->in, sizeof back.out);
    return back;
}

static void check_grad_data(trial *t)
{
    const tsr_dtype dtype = t->check->dtype;
    window v = random_window(t);
    const tsr_conv how = random_padding(t, &v);
    const window back = transposed_window(&v);
    int64_t x[2 + MOST_DIMS], z[2 + MOST_DIMS],
        w[2 + MOST_DIMS] = { v.o, v.c / v.groups, v.kernel[0], v.kernel[1], v.kernel[2] };
    const int rank = shape_of(z, &v, v.o, v.out);
    shape_of(x, &v, v.c, v.in);
    make_input(t, X, dtype, rank, z, FILL_SMALL);
    make_input(t, W, dtype, 2 + v.dims, w, FILL_SMALL);
    if (once_in(t, 2)) make_output(t, RESULT, dtype, rank, x);
    GO_ON(t);
    NEED(t, tsr_conv_grad_data(&t->tensor[RESULT], t->tensor[X], t->tensor[W], v.dims, v.in, &how));
    check_shape(t, RESULT, dtype, rank, x);
    GO_ON(t);
    const int64_t count = count_of(rank, x), cost = v.o / v.groups * count_of(v.dims, v.kernel);
    for (int64_t k = first_sample(t, count, 4 * cost); k >= 0; k = next_sample(t, k, count, 4 * cost)) {
        int64_t at[2 + MOST_DIMS];
        double size = 0;
        place_in_result(at, &back, k, back.o);
        const value wanted = right_conv(t, &back, at, true, &size);
        check_near(t, RESULT, k, wanted, (8 + sqrt((double)cost)) * epsilon_of(dtype) * size);
    }
}

/* The weight at (output, channel of its group, tap): slot X has x, W the result's gradient. */
static value right_weight(const trial *t, const window *v, int64_t o, int64_t c, int64_t tap, double *size)
{
    const int64_t places = count_of(v->dims, v->out), image = count_of(v->dims, v->in);
    const int64_t channel = o / (v->o / v->groups) * (v->c / v->groups) + c;
    value sum = { 0 };
    *size = 0;
    for (int64_t k = 0; k < v->n * places; k++) {
        int64_t at[MOST_DIMS];
        index_of(at, k % places, v->dims, v->out);
        const int64_t i = seen_at(v, at, tap);
        if (i < 0) continue;
        const value x = value_at(t->tensor[X], (k / places * v->c + channel) * image + i);
        const value g = value_at(t->tensor[W], (k / places * v->o + o) * places + k % places);
        sum.re += x.re * g.re - x.im * g.im;
        sum.im += x.re * g.im + x.im * g.re;
        *size += hypot(x.re, x.im) * hypot(g.re, g.im);
    }
    return sum;
}

static void check_grad_weights(trial *t)
{
    const tsr_dtype dtype = t->check->dtype;
    window v = random_window(t);
    const tsr_conv how = random_padding(t, &v);
    int64_t x[2 + MOST_DIMS], z[2 + MOST_DIMS],
        w[2 + MOST_DIMS] = { v.o, v.c / v.groups, v.kernel[0], v.kernel[1], v.kernel[2] };
    const int rank = shape_of(z, &v, v.o, v.out);
    shape_of(x, &v, v.c, v.in);
    make_input(t, X, dtype, rank, x, FILL_SMALL);
    make_input(t, W, dtype, rank, z, FILL_SMALL);
    if (once_in(t, 2)) make_output(t, RESULT, dtype, 2 + v.dims, w);
    GO_ON(t);
    NEED(t, tsr_conv_grad_weights(&t->tensor[RESULT], t->tensor[W], t->tensor[X], v.dims, v.kernel, &how));
    check_shape(t, RESULT, dtype, 2 + v.dims, w);
    GO_ON(t);
    const int64_t count = count_of(2 + v.dims, w), cost = v.n * count_of(v.dims, v.out);
    for (int64_t k = first_sample(t, count, 8 * cost); k >= 0; k = next_sample(t, k, count, 8 * cost)) {
        int64_t at[2 + MOST_DIMS];
        double size = 0;
        index_of(at, k, 2 + v.dims, w);
        const value wanted = right_weight(t, &v, at[0], at[1], place_of(at + 2, v.dims, v.kernel), &size);
        check_near(t, RESULT, k, wanted, (8 + sqrt((double)cost)) * epsilon_of(dtype) * size);
    }
}

/* Pools ------------------------------------------------------------------------------------------ */

typedef tsr_status (*max_fn)(tsr_tensor **, tsr_tensor **, const tsr_tensor *, const tsr_pool *);
typedef tsr_status (*avg_fn)(tsr_tensor **, const tsr_tensor *, const tsr_pool *);

static const max_fn maxima[MOST_DIMS] = { tsr_max_pool1d, tsr_max_pool2d, tsr_max_pool3d };
static const avg_fn means[MOST_DIMS] = { tsr_avg_pool1d, tsr_avg_pool2d, tsr_avg_pool3d };

/* A NaN is the largest. */
static bool is_larger(tsr_dtype dtype, value a, value b)
{
    if (is_float(dtype)) return !isnan(b.re) && (isnan(a.re) || a.re > b.re);
    return is_signed(dtype) ? (int64_t)a.bits > (int64_t)b.bits : a.bits > b.bits;
}

/* The first largest of the window at a place of a channel. One that sees nothing of x has no value to
 * compare. */
static void check_largest(trial *t, const window *v, int64_t k, const int64_t *at, int64_t first)
{
    int64_t best = -1;
    value most = { 0 };
    for (int64_t p = 0; p < count_of(v->dims, v->kernel); p++) {
        const int64_t i = seen_at(v, at, p);
        if (i < 0) continue;
        const value own = value_at(t->tensor[X], first + i);
        if (best >= 0 && !is_larger(t->check->dtype, own, most)) continue;
        most = own;
        best = i;
    }
    if (best >= 0) check_near(t, RESULT, k, most, 0);
    GO_ON(t);
    if (t->tensor[INDICES])
        MUST(t, value_at(t->tensor[INDICES], k).bits == (uint64_t)best, "index %lld is %lld, not %lld",
             (long long)k, (long long)value_at(t->tensor[INDICES], k).bits, (long long)best);
}

/* Places of the window that lie in x or in the padding around it. */
static int64_t places_of(const window *v, const int64_t *at)
{
    int64_t places = 1;
    for (int d = 0; d < v->dims; d++) {
        const int64_t begin = at[d] * v->stride[d], end = v->in[d] + 2 * v->low[d];
        places *= begin + v->kernel[d] < end ? v->kernel[d] : end - begin;
    }
    return places;
}

static void check_mean(trial *t, const window *v, const tsr_pool *how, int64_t k, const int64_t *at,
                       int64_t first)
{
    double sum = 0, size = 0;
    int64_t seen = 0;
    for (int64_t p = 0; p < count_of(v->dims, v->kernel); p++) {
        const int64_t i = seen_at(v, at, p);
        if (i < 0) continue;
        const double own = value_at(t->tensor[X], first + i).re;
        sum += own;
        size += fabs(own);
        seen++;
    }
    const int64_t over = how->divisor ? how->divisor : how->exclude_pad ? seen : places_of(v, at);
    check_near(t, RESULT, k, real_value(sum / (double)over),
               rounding_of(t, t->check->dtype, 1e-14) * size);
}

typedef tsr_status (*lp_fn)(tsr_tensor **, const tsr_tensor *, double, const tsr_pool *);

static const lp_fn norms[MOST_DIMS] = { tsr_lp_pool1d, tsr_lp_pool2d, tsr_lp_pool3d };

/* In long double, which has room for the powers of doubles. An error of the sum is one of its root; a sum
 * that cancels may be of either sign, and so may an element that is nothing beside the largest. */
static void check_root(trial *t, const window *v, double p, int64_t k, const int64_t *at, int64_t first)
{
    long double sum = 0, size = 0, largest = 0, least = 1;
    const int64_t taps = count_of(v->dims, v->kernel);
    for (int64_t i = 0; i < taps; i++) {
        const int64_t seen = seen_at(v, at, i);
        if (seen < 0) continue;
        const long double own = value_at(t->tensor[X], first + seen).re;
        sum += powl(own, p);
        size += fabsl(powl(own, p));
        if (isnan(own) || fabsl(own) > largest) largest = fabsl(own);
        if (own != 0 && fabsl(own) < least) least = fabsl(own);
    }
    sum *= (long double)taps / (long double)places_of(v, at);
    const long double root = isinf(p) ? largest : powl(sum, 1 / (long double)p);
    if (!isinf(p) && isfinite(size) && fabsl(sum) < 1e-3L * size) return;
    if (least < 1e-290L * fminl(largest, 1e10L) || (isinf(largest) && p != rint(p))) return;
    const double slack = rounding_of(t, t->check->dtype, 1e-13) * (double)fabsl(root);
    check_near(t, RESULT, k, real_value((double)root), 64 * (isfinite(slack) ? slack : 0));
}

static tsr_pool random_pool(trial *t, window *v, bool largest)
{
    tsr_pool how = { .ceil_mode = once_in(t, 3) };
    if (!largest) how.exclude_pad = once_in(t, 3);
    if (!largest && once_in(t, 5)) how.divisor = random_between(t, 1, 5);
    for (int d = 0; d < v->dims; d++) {
        if (!largest) v->dilation[d] = 1;
        v->low[d] = random_below(t, v->kernel[d] / 2 + 1);
        const int64_t left = v->in[d] + 2 * v->low[d] - reach_of(v, d);
        v->out[d] = (left + (how.ceil_mode ? v->stride[d] - 1 : 0)) / v->stride[d] + 1;
        if ((v->out[d] - 1) * v->stride[d] >= v->in[d] + v->low[d]) v->out[d]--;
        how.kernel[d] = v->kernel[d];
        how.stride[d] = v->stride[d];
        how.padding[d] = v->low[d];
        how.dilation[d] = largest ? v->dilation[d] : 0;
    }
    return how;
}

static void check_pool(trial *t)
{
    const bool largest = t->check->op == TSR_OP_MAX_POOL;
    window v = random_window(t);
    const tsr_pool how = random_pool(t, &v, largest);
    int64_t x[2 + MOST_DIMS], z[2 + MOST_DIMS];
    const int rank = shape_of(z, &v, v.c, v.out), axis = v.single ? 0 : 1;
    shape_of(x, &v, v.c, v.in);
    make_image(t, X, t->check->dtype, rank, x, axis, false, largest ? FILL_SPECIAL : FILL_SMALL);
    make_image(t, RESULT, t->check->dtype, rank, z, axis, true, FILL_SMALL);
    const bool indices = once_in(t, 2);
    if (indices && once_in(t, 2)) make_image(t, INDICES, TSR_I64, rank, z, axis, true, FILL_SMALL);
    GO_ON(t);
    if (largest)
        NEED(t, maxima[v.dims - 1](&t->tensor[RESULT], indices ? &t->tensor[INDICES] : NULL, t->tensor[X],
                                   &how));
    else NEED(t, means[v.dims - 1](&t->tensor[RESULT], t->tensor[X], &how));
    check_gaps(t, RESULT);
    const int64_t count = count_of(rank, z), cost = 4 * count_of(v.dims, v.kernel);
    for (int64_t k = first_sample(t, count, cost); k >= 0; k = next_sample(t, k, count, cost)) {
        int64_t at[2 + MOST_DIMS];
        place_in_result(at, &v, k, v.c);
        const int64_t first = (at[0] * v.c + at[1]) * count_of(v.dims, v.in);
        if (largest) check_largest(t, &v, k, at + 2, first);
        else         check_mean(t, &v, &how, k, at + 2, first);
    }
}

static void check_lp_pool(trial *t)
{
    const double p = (double[]){ 2, 1, 3, 1.5, 5, 0.5, 9, INFINITY }[random_below(t, 8)];
    window v = random_window(t);
    tsr_pool how = random_pool(t, &v, false);
    how.exclude_pad = false;
    how.divisor = 0;
    int64_t x[2 + MOST_DIMS], z[2 + MOST_DIMS];
    const int rank = shape_of(z, &v, v.c, v.out), axis = v.single ? 0 : 1;
    shape_of(x, &v, v.c, v.in);
    make_image(t, X, t->check->dtype, rank, x, axis, false, once_in(t, 2) ? FILL_EXTREME : FILL_SMALL);
    make_image(t, RESULT, t->check->dtype, rank, z, axis, true, FILL_SMALL);
    GO_ON(t);
    NEED(t, norms[v.dims - 1](&t->tensor[RESULT], t->tensor[X], p, &how));
    check_gaps(t, RESULT);
    const int64_t count = count_of(rank, z), cost = 40 * count_of(v.dims, v.kernel);
    for (int64_t k = first_sample(t, count, cost); k >= 0; k = next_sample(t, k, count, cost)) {
        int64_t at[2 + MOST_DIMS];
        place_in_result(at, &v, k, v.c);
        check_root(t, &v, p, k, at + 2, (at[0] * v.c + at[1]) * count_of(v.dims, v.in));
    }
}

static bool is_real(tsr_dtype dtype) { return is_integer(dtype) || is_float(dtype); }

static void list_channels_last(check_list *list, tsr_dtype dtype)
{
    static const struct {
        const char *name;
        void      (*run)(trial *t);
        tsr_op_kind op;
        bool      (*takes)(tsr_dtype dtype);
    } rules[] = {
        { "conv channels last", check_conv, TSR_OP_CONV, NULL },
        { "conv_transpose channels last", check_conv, TSR_OP_CONV_TRANSPOSE, NULL },
        { "max_pool channels last", check_pool, TSR_OP_MAX_POOL, is_real },
        { "avg_pool channels last", check_pool, TSR_OP_AVG_POOL, is_float },
    };
    for (int i = 0; i < 4; i++)
        if (!rules[i].takes || rules[i].takes(dtype))
            add_check(list,
                      (check){ .family = i < 2 ? "conv" : "pool",
                               .op = rules[i].op,
                               .run = rules[i].run,
                               .about = channels_last,
                               .dtype = dtype,
                               .every = 2,
                               .more = i < 1 ? 6 : 2 },
                      rules[i].name);
}

void list_conv(check_list *list)
{
    for (int d = TSR_I8; d < TSR_DTYPE_COUNT; d++) {
        const tsr_dtype dtype = (tsr_dtype)d;
        if (dtype == TSR_C32) continue;
        list_channels_last(list, dtype);
        add_check(list, (check){ .family = "conv", .op = TSR_OP_CONV, .run = check_conv, .dtype = dtype,
                                 .more = 16 },
                  "conv");
        add_check(list,
                  (check){ .family = "conv", .op = TSR_OP_CONV_TRANSPOSE, .run = check_conv, .dtype = dtype,
                           .more = 6 },
                  "conv_transpose");
        if (!is_integer(dtype)) {
            add_check(list, (check){ .family = "conv", .run = check_grad_data, .dtype = dtype, .more = 4 },
                      "conv_grad_data");
            add_check(list, (check){ .family = "conv", .op = TSR_OP_CONV_GRAD_WEIGHTS,
                                     .run = check_grad_weights, .dtype = dtype, .more = 4 },
                      "conv_grad_weights");
        }
        if (is_complex(dtype)) continue;
        add_check(list, (check){ .family = "pool", .op = TSR_OP_MAX_POOL, .run = check_pool, .dtype = dtype,
                                 .more = 6 },
                  "max_pool");
        if (!is_float(dtype)) continue;
        add_check(list, (check){ .family = "pool", .op = TSR_OP_AVG_POOL, .run = check_pool, .dtype = dtype,
                                 .more = 8 },
                  "avg_pool");
        add_check(list, (check){ .family = "pool", .op = TSR_OP_LP_POOL, .run = check_lp_pool, .dtype = dtype,
                                 .more = 2 },
                  "lp_pool");
    }
}

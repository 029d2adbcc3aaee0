/* check_image.c - pictures of other sizes, and at the places of a grid.
 *
 * The reference gives every element of x a weight along each dim, by a function of its distance, and sums all
 * whose weight is not 0. */
#include <math.h>
#include <string.h>

#include "trial.h"

enum { X, GRID, RESULT, MOST_DIMS = 3, RANK = 2 + MOST_DIMS };

/* Keys' cubic. */
static double keys(double x, double a)
{
    x = fabs(x);
    if (x <= 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
    return x < 2 ? a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a : 0;
}

static double hat(double x) { return fmax(1 - fabs(x), 0); }

/* Resize ------------------------------------------------------------------------------------------ */

typedef struct resizing {
    int lead, dims;
    int64_t in[RANK], out[RANK], asked[MOST_DIMS];
    tsr_resize_options how;
} resizing;

static bool is_smooth(const resizing *r)
{
    return r->how.mode == TSR_INTERPOLATE_LINEAR || r->how.mode == TSR_INTERPOLATE_CUBIC;
}

/* A size that is asked for, or -1 and perhaps a scale. */
static void draw_size(trial *t, resizing *r, int d, int64_t most)
{
    const int64_t in = r->in[r->lead + d];
    int64_t *out = &r->out[r->lead + d];
    *out = r->asked[d] = once_in(t, 12) ? 0 : random_size(t, 1, once_in(t, 3) ? 2 : 12, most);
    if (!once_in(t, 3)) return;
    r->asked[d] = -1;
    *out = in;
    if (once_in(t, 3)) return;
    r->how.scale[d] = (double)random_between(t, 1, 24) / 8;
    *out = (int64_t)floor((double)in * r->how.scale[d]);
}

static void draw_resizing(trial *t, resizing *r)
{
    int64_t left = most_elements(t) / 2, room = most_elements(t);
    r->how.mode = (tsr_interpolation)random_below(t, TSR_INTERPOLATE_AREA + 1);
    r->how.align_corners = is_smooth(r) && once_in(t, 3);
    r->how.antialias = is_smooth(r) && once_in(t, 3);
    r->dims = (int)random_between(t, 1, MOST_DIMS);
    r->lead = (int)random_between(t, 1, 2);
    for (int d = r->lead + r->dims - 1; d >= 0; d--) {
        const bool none = d < r->lead && once_in(t, 20);
        r->in[d] = r->out[d] = none ? 0 : random_size(t, 1, 7, left < 99 ? left : 99);
        if (d >= r->lead) draw_size(t, r, d - r->lead, room < 99 ? room : 99);
        left /= r->in[d] ? r->in[d] : 1;
        room /= r->out[d] ? r->out[d] : 1;
    }
}

/* Where output o lies, in elements of x, as PyTorch has it. */
static double step_of(const resizing *r, int d)
{
    const double in = (double)r->in[r->lead + d], out = (double)r->out[r->lead + d];
    if (r->how.align_corners) return out > 1 ? (in - 1) / (out - 1) : 0;
    return r->how.scale[d] > 0 ? 1 / r->how.scale[d] : in / out;
}

static int64_t nearest_to(const resizing *r, int d, int64_t o)
{
    const float shift = r->how.mode == TSR_INTERPOLATE_NEAREST ? 0.0f : 0.5f;
    const int64_t i = (int64_t)floorf(((float)o + shift) * (float)step_of(r, d)),
                  last = r->in[r->lead + d] - 1;
    return i < last ? i : last;
}

static double filter(const resizing *r, double x)
{
    return r->how.mode == TSR_INTERPOLATE_CUBIC ? keys(x, -0.5) : hat(x);
}

static void weigh_antialiased(double *w, const resizing *r, int d, int64_t o)
{
    const int64_t in = r->in[r->lead + d];
    const double step = step_of(r, d), centre = ((double)o + 0.5) * step;
    double sum = 0;
    for (int64_t i = 0; i < in; i++) sum += w[i] = filter(r, ((double)i + 0.5 - centre) / fmax(step, 1));
    for (int64_t i = 0; i < in && sum != 0; i++) w[i] /= sum;
}

/* The weight of every element along a dim. */
static void weigh(double *w, const resizing *r, int d, int64_t o)
{
    const int64_t in = r->in[r->lead + d], out = r->out[r->lead + d];
    const double at = r->how.align_corners ? (double)o * step_of(r, d)
                                           : ((double)o + 0.5) * step_of(r, d) - 0.5,
                 last = (double)(in - 1);
    const tsr_interpolation mode = r->how.mode;
    memset(w, 0, (size_t)in * sizeof *w);
    if (in == out && (mode == TSR_INTERPOLATE_LINEAR || r->how.antialias)) {
        w[o] = 1;
    } else if (mode == TSR_INTERPOLATE_NEAREST || mode == TSR_INTERPOLATE_NEAREST_EXACT) {
        w[nearest_to(r, d, o)] = 1;
    } else if (mode == TSR_INTERPOLATE_AREA) {
        const int64_t first = o * in / out, end = ((o + 1) * in + out - 1) / out;
        for (int64_t i = first; i < end; i++) w[i] = 1 / (double)(end - first);
    } else if (r->how.antialias) {
        weigh_antialiased(w, r, d, o);
    } else if (mode == TSR_INTERPOLATE_LINEAR) {
        for (int64_t i = 0; i < in; i++) w[i] = hat(fmin(fmax(at, 0), last) - (double)i);
    } else {
        for (int k = -1; k < 3; k++)
            w[(int64_t)fmin(fmax(floor(at) + k, 0), last)] += keys(at - floor(at) - k, -0.75);
    }
}

/* What elements come to; the size of the products, and of the elements alone. */
typedef struct sum {
    double value, size, elements;
} sum;

/* Products are rounded; and so are coordinates, of up to a hundred elements. */
static double slack_of(const trial *t, sum s)
{
    return 64 * epsilon_of(t->check->dtype) * s.size + 1e-13 * s.elements;
}

/* The sum over all elements of a channel, the first of which is element `first`. */
static sum add_up(const trial *t, int dims, const int64_t *in, double *const *w, int64_t first)
{
    const int64_t count = count_of(dims, in);
    sum s = { 0 };
    for (int64_t k = 0; k < count; k++) {
        int64_t i[MOST_DIMS];
        double weight = 1;
        index_of(i, k, dims, in);
        for (int d = 0; d < dims; d++) weight *= w[d][i[d]];
        if (weight == 0) continue;
        const double x = value_at(t->tensor[X], first + k).re;
        s.value += weight * x;
        s.size += fabs(weight * x);
        s.elements += fabs(x);
    }
    return s;
}

/* Bytes are rounded to the nearest, after weights to 2^-14 and what lies between two dims to 2^-6. */
static void check_byte(trial *t, int64_t k, sum wanted)
{
    const double held = fmin(fmax(wanted.value, 0), 255), got = (double)value_at(t->tensor[RESULT], k).bits;
    const double slack = 0x1p-6 + 0x1p-14 * fmin(wanted.elements, 255 * 16);
    MUST(t, fabs(got - held) <= 0.5 + slack, "element %lld is %g, not %g", (long long)k, got, held);
}

static void check_elements(trial *t, const resizing *r)
{
    const tsr_dtype dtype = t->check->dtype;
    const int rank = r->lead + r->dims;
    const int64_t count = count_of(rank, r->out), channel = count_of(r->dims, r->in + r->lead),
                  cost = 4 * channel;
    double *room = trial_room(t, MOST_DIMS * 128 * sizeof *room), *w[MOST_DIMS];
    GO_ON(t);
    for (int d = 0; d < MOST_DIMS; d++) w[d] = room + 128 * d;
    for (int64_t k = first_sample(t, count, cost); k >= 0; k = next_sample(t, k, count, cost)) {
        int64_t at[RANK], first;
        index_of(at, k, rank, r->out);
        for (int d = 0; d < r->dims; d++) weigh(w[d], r, d, at[r->lead + d]);
        first = place_of(at, r->lead, r->in) * channel;
        if (r->how.mode <= TSR_INTERPOLATE_NEAREST_EXACT) {
            int64_t from[MOST_DIMS];
            for (int d = 0; d < r->dims; d++) from[d] = nearest_to(r, d, at[r->lead + d]);
            check_bits(t, RESULT, k, element(t->tensor[X], first + place_of(from, r->dims, r->in + r->lead)));
            continue;
        }
        const sum s = add_up(t, r->dims, r->in + r->lead, w, first);
        if (dtype == TSR_U8) check_byte(t, k, s);
        else check_near(t, RESULT, k, real_value(s.value), slack_of(t, s));
    }
}

/* Channels innermost in memory. */
static const char channels_last[] = "channels last";

static void make_picture(trial *t, int slot, const resizing *r, const int64_t *shape, filling with)
{
    const bool last = t->check->about == channels_last;
    const int rank = r->lead + r->dims, axis = r->lead - 1;
    int64_t own[RANK];
    for (int d = 0; d < rank; d++) own[d] = !last || d < axis ? shape[d] : shape[d + 1 < rank ? d + 1 : axis];
    if (last) t->packed = !once_in(t, 4);
    if (slot == RESULT) make_output(t, slot, t->check->dtype, rank, own);
    else make_input(t, slot, t->check->dtype, rank, own, with);
    t->packed = false;
    GO_ON(t);
    if (last) NEED(t, tsr_move_axis(&t->tensor[slot], t->tensor[slot], rank - 1, axis));
}

static void check_resize(trial *t)
{
    resizing r = { .lead = 1 };
    draw_resizing(t, &r);
    const bool given = !once_in(t, 3), plain = r.how.mode == TSR_INTERPOLATE_NEAREST && once_in(t, 2);
    if (plain) memset(r.how.scale, 0, sizeof r.how.scale);
    for (int d = 0; d < r.dims && plain; d++)
        if (r.asked[d] == -1) r.out[r.lead + d] = r.in[r.lead + d];
    const bool any = r.how.mode <= TSR_INTERPOLATE_NEAREST_EXACT || t->check->dtype == TSR_U8;
    make_picture(t, X, &r, r.in, any ? FILL_SPECIAL : FILL_SMALL);
    if (given) make_picture(t, RESULT, &r, r.out, FILL_SMALL);
    GO_ON(t);
    NEED(t, tsr_resize(&t->tensor[RESULT], t->tensor[X], r.dims, r.asked, plain ? NULL : &r.how));
    if (given) check_gaps(t, RESULT);
    check_shape(t, RESULT, t->check->dtype, r.lead + r.dims, r.out);
    GO_ON(t);
    check_elements(t, &r);
}

/* Grids ------------------------------------------------------------------------------------------- */

typedef struct sampling {
    int dims;
    int64_t x[RANK], grid[RANK], z[RANK];
    tsr_interpolation mode;
    tsr_grid_padding padding;
    bool align_corners;
    tsr_dtype dtype; /* of grid */
} sampling;

/* A place of a dim, reflected once after another. */
static double reflect(const sampling *s, double at, double last)
{
    const double low = s->align_corners ? 0 : -0.5, high = s->align_corners ? last : last + 0.5;
    if (low == high) return 0;
    while (at < low || at > high) at = at < low ? 2 * low - at : 2 * high - at;
    return at;
}

static double pad_place(const sampling *s, double at, double last)
{
    if (s->padding == TSR_GRID_REFLECTION) at = reflect(s, at, last);
    return s->padding == TSR_GRID_ZEROS ? at : fmin(fmax(at, 0), last);
}

/* The weights of elements along a dim for one coordinate. */
static void weigh_place(double *w, const sampling *s, double at, int64_t size)
{
    const double last = (double)(size - 1);
    memset(w, 0, (size_t)size * sizeof *w);
    if (isnan(at)) at = -1;
    at = s->align_corners ? (at + 1) / 2 * last : ((at + 1) * (double)size - 1) / 2;
    if (s->mode == TSR_INTERPOLATE_CUBIC) {
        for (int k = -1; k < 3; k++) {
            const double seen = pad_place(s, floor(at) + k, last);
            if (seen >= 0 && seen <= last) w[(int64_t)rint(seen)] += keys(at - floor(at) - k, -0.75);
        }
        return;
    }
    at = pad_place(s, at, last);
    for (int64_t i = 0; i < size; i++)
        w[i] = s->mode == TSR_INTERPOLATE_LINEAR ? hat(at - (double)i) : rint(at) == (double)i;
}

static void draw_sampling(trial *t, sampling *s)
{
    int64_t left = most_elements(t) / 4, room = most_elements(t) / 4;
    s->dims = once_in(t, 3) ? 3 : 2;
    s->mode = (tsr_interpolation[]){ TSR_INTERPOLATE_NEAREST, TSR_INTERPOLATE_LINEAR,
                                     TSR_INTERPOLATE_CUBIC }[random_below(t, s->dims == 2 ? 3 : 2)];
    s->padding = (tsr_grid_padding)random_below(t, 3);
    s->align_corners = once_in(t, 2);
    s->dtype = once_in(t, 2) ? TSR_F64 : once_in(t, 3) ? TSR_BF16 : TSR_F32;
    s->x[0] = s->z[0] = s->grid[0] = once_in(t, 20) ? 0 : random_between(t, 1, 2);
    s->x[1] = s->z[1] = once_in(t, 20) ? 0 : random_between(t, 1, 4);
    for (int d = 0; d < s->dims; d++) {
        s->x[2 + d] = random_size(t, 1, 7, left < 40 ? left : 40);
        s->z[2 + d] = s->grid[1 + d] = once_in(t, 20) ? 0 : random_size(t, 1, 7, room < 90 ? room : 90);
        left /= s->x[2 + d];
        room /= s->z[2 + d] ? s->z[2 + d] : 1;
    }
    s->grid[1 + s->dims] = s->dims;
}

/* Most places lie in x, some on an element or the edge, some far outside, and some are NaN. */
static void fill_grid(trial *t, const sampling *s)
{
    const int64_t count = count_of(2 + s->dims, s->grid);
    for (int64_t k = 0; k < count; k++) {
        const double far = once_in(t, 30) ? 8 : 1.3,
                     any = ((double)random_below(t, 1 << 24) / (1 << 23) - 1) * far,
                     at = once_in(t, 4) ? (double)random_between(t, -4, 4) / 4 : any;
        write_value(s->dtype, element(t->tensor[GRID], k), real_value(once_in(t, 60) ? (double)NAN : at));
    }
}

/* Element k of the result. */
static sum right_sample(const trial *t, const sampling *s, double *const *w, int64_t k)
{
    int64_t at[RANK], place[RANK];
    index_of(at, k, 2 + s->dims, s->z);
    place[0] = at[0];
    memcpy(place + 1, at + 2, (size_t)s->dims * sizeof *at);
    for (int d = 0; d < s->dims; d++) {
        place[1 + s->dims] = s->dims - 1 - d; /* columns come first */
        const int64_t i = place_of(place, 2 + s->dims, s->grid);
        weigh_place(w[d], s, value_at(t->tensor[GRID], i).re, s->x[2 + d]);
    }
    return add_up(t, s->dims, s->x + 2, w, (at[0] * s->x[1] + at[1]) * count_of(s->dims, s->x + 2));
}

static void check_grid_sample(trial *t)
{
    sampling s = { .dims = 2 };
    draw_sampling(t, &s);
    const bool given = !once_in(t, 4);
    make_input(t, X, t->check->dtype, 2 + s.dims, s.x, FILL_SMALL);
    make_output(t, GRID, s.dtype, 2 + s.dims, s.grid);
    if (given) make_output(t, RESULT, t->check->dtype, 2 + s.dims, s.z);
    GO_ON(t);
    fill_grid(t, &s);
    NEED(t, tsr_grid_sample(&t->tensor[RESULT], t->tensor[X], t->tensor[GRID], s.mode, s.padding,
                            s.align_corners));
    if (given) check_gaps(t, RESULT);
    check_shape(t, RESULT, t->check->dtype, 2 + s.dims, s.z);
    double *room = trial_room(t, MOST_DIMS * 64 * sizeof *room), *w[MOST_DIMS];
    GO_ON(t);
    for (int d = 0; d < MOST_DIMS; d++) w[d] = room + 64 * d;
    const int64_t count = count_of(2 + s.dims, s.z), cost = 4 * count_of(s.dims, s.x + 2);
    for (int64_t k = first_sample(t, count, cost); k >= 0; k = next_sample(t, k, count, cost)) {
        const sum right = right_sample(t, &s, w, k);
        check_near(t, RESULT, k, real_value(right.value), slack_of(t, right));
    }
}

static bool is_pictured(tsr_dtype dtype) { return dtype == TSR_U8 || is_float(dtype); }

void list_image(check_list *list)
{
    const check c = { .family = "image", .op = TSR_OP_RESIZE, .run = check_resize, .more = 6 };
    check last = c;
    last.about = channels_last;
    add_checks(list, c, "resize", is_pictured);
    add_checks(list, last, "resize channels last", is_pictured);
    add_checks(list,
               (check){ .family = "image", .op = TSR_OP_GRID_SAMPLE, .run = check_grid_sample, .more = 4 },
               "grid_sample", is_float);
}

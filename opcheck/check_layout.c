/* check_layout.c - tiles, repetitions, rolls, paddings, triangles and diagonals. */
#include <string.h>

#include "layout.h"

/* Copies ------------------------------------------------------------------------------------ */

static void draw_copy(trial *t, layout *l)
{
    (void)t;
    keep_shape(l);
}

static bool source_of_copy(const layout *l, int64_t *from, const int64_t *at)
{
    memcpy(from, at, sizeof *at * (size_t)l->ndim);
    return true;
}

static tsr_status rearrange(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    (void)l;
    return tsr_rearrange(out, x);
}

/* Tiles and repetitions ------------------------------------------------------------------------ */

/* Numbers are aligned with x's dims at the right; there may be more or fewer of them than dims. */
static void draw_tile(trial *t, layout *l)
{
    int64_t left = room_to_grow(t, l);
    l->n = (int)random_between(t, 0, TRIAL_RANK);
    l->out_ndim = l->n > l->ndim ? l->n : l->ndim;
    for (int d = 0; d < l->out_ndim; d++) {
        const int own = d - (l->out_ndim - l->ndim), rep = d - (l->out_ndim - l->n);
        const int64_t size = own >= 0 ? l->in[own] : 1;
        const int64_t times = once_in(t, 30) ? 0 : random_between(t, 1, left < 3 ? left : 3);
        if (rep >= 0) l->first[rep] = times;
        if (rep >= 0 && times > 1) left /= times;
        l->out[d] = size * (rep >= 0 ? times : 1);
    }
}

static bool source_of_tile(const layout *l, int64_t *from, const int64_t *at)
{
    for (int d = 0; d < l->ndim; d++) from[d] = at[d + l->out_ndim - l->ndim] % l->in[d];
    return true;
}

static tsr_status tile(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    return tsr_tile(out, x, l->n, l->first);
}

static void draw_repeat(trial *t, layout *l)
{
    const int64_t room = room_to_grow(t, l);
    draw_axis(t, l);
    keep_shape(l);
    l->k = random_size(t, 0, room < 4 ? room : 4, room);
    l->out[l->axis] *= l->k;
}

static bool source_of_repeat(const layout *l, int64_t *from, const int64_t *at)
{
    source_of_copy(l, from, at);
    from[l->axis] /= l->k;
    return true;
}

static tsr_status repeat(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    return tsr_repeat(out, x, l->k, l->axis);
}

/* Rolls ------------------------------------------------------------------------------------------ */

static int64_t modulo(int64_t a, int64_t n) { return (a % n + n) % n; }

static int axis_of(const layout *l, int i) { return l->axes[i] < 0 ? l->axes[i] + l->ndim : l->axes[i]; }

/* By less than a dim or by more, and now and then twice along one axis. */
static void draw_roll(trial *t, layout *l)
{
    keep_shape(l);
    draw_axes(t, l, 0);
    if (l->n > 1 && once_in(t, 4)) l->axes[1] = l->axes[0];
    for (int i = 0; i < l->n; i++) {
        const int64_t n = l->in[axis_of(l, i)];
        l->first[i] = once_in(t, 4) ? random_between(t, -3 * n - 1, 3 * n + 1) : random_between(t, -n, n);
    }
}

static bool source_of_roll(const layout *l, int64_t *from, const int64_t *at)
{
    source_of_copy(l, from, at);
    for (int i = 0; i < l->n; i++) from[axis_of(l, i)] -= l->first[i];
    for (int d = 0; d < l->ndim; d++) from[d] = modulo(from[d], l->in[d]);
    return true;
}

static tsr_status roll(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    return tsr_roll(out, x, l->n, l->first, l->axes);
}

/* Element 0 goes to the middle, or comes from it: no axes at all means all. */
static void draw_shift(trial *t, layout *l)
{
    keep_shape(l);
    draw_axes(t, l, 0);
}

static bool source_of_shift(const layout *l, int64_t *from, const int64_t *at, bool back)
{
    source_of_copy(l, from, at);
    for (int i = 0; i < (l->n ? l->n : l->ndim); i++) {
        const int d = l->n ? axis_of(l, i) : i;
        from[d] = modulo(at[d] + (back ? l->in[d] / 2 : -(l->in[d] / 2)), l->in[d]);
    }
    return true;
}

static bool source_of_fftshift(const layout *l, int64_t *from, const int64_t *at)
{
    return source_of_shift(l, from, at, false);
}

static bool source_of_ifftshift(const layout *l, int64_t *from, const int64_t *at)
{
    return source_of_shift(l, from, at, true);
}

static tsr_status fftshift(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    return tsr_fftshift(out, x, l->n, l->axes);
}

static tsr_status ifftshift(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    return tsr_ifftshift(out, x, l->n, l->axes);
}

/* Paddings ------------------------------------------------------------------------------------------ */

/* How much longer a dim becomes on one side: mostly a little, up to several times the dim. */
static int64_t draw_length(trial *t, int64_t size, int64_t left)
{
    const int64_t most = size * (left - 1) / 2;
    if (once_in(t, 3) || most < 1) return 0;
    return random_size(t, 0, most < 3 ? most : 3, once_in(t, 3) ? most : most < size ? most : size);
}

static void draw_pad(trial *t, layout *l)
{
    int64_t left = room_to_grow(t, l);
    keep_shape(l);
    l->mode = count_of(l->ndim, l->in) ? (int)random_below(t, 4) : TSR_PAD_CONSTANT;
    l->number = random_between(t, 0, 9);
    for (int d = 0; d < l->ndim; d++) {
        const int64_t size = l->in[d] ? l->in[d] : 1;
        l->first[d] = draw_length(t, size, left);
        l->second[d] = draw_length(t, size, left);
        l->out[d] += l->first[d] + l->second[d];
        if (l->out[d] > size) left /= (l->out[d] + size - 1) / size;
    }
}

/* Index i of n, which may lie outside; -1: nothing is there. */
static int64_t inside(int64_t i, int64_t n, int mode)
{
    if (i >= 0 && i < n) return i;
    if (mode == TSR_PAD_CONSTANT) return -1;
    if (mode == TSR_PAD_EDGE) return i < 0 ? 0 : n - 1;
    if (mode == TSR_PAD_WRAP) return modulo(i, n);
    while (n > 1 && (i < 0 || i >= n)) i = i < 0 ? -i : 2 * (n - 1) - i;
    return n > 1 ? i : 0;
}

static bool source_of_pad(const layout *l, int64_t *from, const int64_t *at)
{
    for (int d = 0; d < l->ndim; d++) {
        from[d] = inside(at[d] - l->first[d], l->in[d], l->mode);
        if (from[d] < 0) return false;
    }
    return true;
}

static tsr_status pad(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    return tsr_pad(out, x, l->ndim, l->first, l->second, (tsr_pad_mode)l->mode, TSR_SCALAR(l->number));
}

/* Triangles and diagonals -------------------------------------------------------------------------- */

static void draw_triangle(trial *t, layout *l)
{
    keep_shape(l);
    l->k = random_between(t, -l->in[l->ndim - 2] - 1, l->in[l->ndim - 1] + 1);
}

static int64_t diagonal_of(const layout *l, const int64_t *at) { return at[l->ndim - 1] - at[l->ndim - 2]; }

static bool source_of_tril(const layout *l, int64_t *from, const int64_t *at)
{
    return source_of_copy(l, from, at) && diagonal_of(l, at) <= l->k;
}

static bool source_of_triu(const layout *l, int64_t *from, const int64_t *at)
{
    return source_of_copy(l, from, at) && diagonal_of(l, at) >= l->k;
}

static tsr_status tril(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    return tsr_tril(out, x, l->k);
}
static tsr_status triu(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    return tsr_triu(out, x, l->k);
}

/* A vector becomes a diagonal, and short, as the matrix is a square; a matrix gives its own. */
static void draw_diag(trial *t, layout *l)
{
    l->k = random_between(t, -4, 4);
    const int64_t size = l->k < 0 ? -l->k : l->k;
    if (l->ndim == 1) {
        while (l->in[0] * l->in[0] > most_elements(t)) l->in[0] /= 2;
        l->out_ndim = 2;
        l->out[0] = l->out[1] = l->in[0] + size;
        return;
    }
    const int64_t rows = l->in[0] - (l->k < 0 ? size : 0), cols = l->in[1] - (l->k > 0 ? size : 0);
    l->out_ndim = 1;
    l->out[0] = rows < cols ? rows : cols;
    if (l->out[0] < 0) l->out[0] = 0;
}

static bool source_of_diag(const layout *l, int64_t *from, const int64_t *at)
{
    const int64_t down = l->k < 0 ? -l->k : 0, along = l->k > 0 ? l->k : 0;
    if (l->ndim == 1)
        from[0] = at[0] - down;
    else
        from[0] = at[0] + down, from[1] = at[0] + along;
    return l->ndim == 2 || at[1] - at[0] == l->k;
}

static tsr_status diag(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    return tsr_diag(out, x, l->k);
}

static const layout_rule rules[] = {
    { "rearrange", 0, TRIAL_RANK, false, draw_copy, rearrange, source_of_copy },
    { "tile", 0, TRIAL_RANK, false, draw_tile, tile, source_of_tile },
    { "repeat", 1, TRIAL_RANK, false, draw_repeat, repeat, source_of_repeat },
    { "roll", 0, TRIAL_RANK, false, draw_roll, roll, source_of_roll },
    { "fftshift", 0, TRIAL_RANK, false, draw_shift, fftshift, source_of_fftshift },
    { "ifftshift", 0, TRIAL_RANK, false, draw_shift, ifftshift, source_of_ifftshift },
    { "pad", 0, TRIAL_RANK, false, draw_pad, pad, source_of_pad },
    { "tril", 2, TRIAL_RANK, false, draw_triangle, tril, source_of_tril },
    { "triu", 2, TRIAL_RANK, false, draw_triangle, triu, source_of_triu },
    { "diag", 1, 2, false, draw_diag, diag, source_of_diag },
};

void list_layout(check_list *list)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        add_checks(list,
                   (check){ .family = "shape", .run = check_rule_of_layout, .every = 2, .about = &rules[i] },
                   rules[i].name, NULL);
}

/* check_view.c - views, and what falls back on a copy: which element each index reaches. */
#include <string.h>

#include "layout.h"

static void same_index(const layout *l, int64_t *from, const int64_t *at)
{
    memcpy(from, at, sizeof *at * (size_t)l->ndim);
}

/* The same elements in row-major order under another shape. */
static bool source_in_order(const layout *l, int64_t *from, const int64_t *at)
{
    index_of(from, place_of(at, l->out_ndim, l->out), l->ndim, l->in);
    return true;
}

/* The same shape ---------------------------------------------------------------------------- */

static void draw_same(trial *t, layout *l)
{
    (void)t;
    keep_shape(l);
}

static tsr_status clone(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    (void)l;
    return tsr_clone(out, x);
}
static tsr_status contiguous(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    (void)l;
    return tsr_contiguous(out, x);
}
static tsr_status to_host(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    (void)l;
    return tsr_to_host(out, x);
}

/* Cuts ---------------------------------------------------------------------------------------- */

/* Elements first, first + k, ... of an axis, `other` of them: backwards too. */
static void draw_slice(trial *t, layout *l)
{
    draw_axis(t, l);
    keep_shape(l);
    const int64_t n = l->in[l->axis], low = random_between(t, 0, n), high = random_between(t, low, n);
    const int64_t step = random_between(t, 1, 3);
    const bool back = high > low && once_in(t, 2);
    l->k = back ? -step : step;
    l->first[0] = back ? high - 1 : low;
    l->second[0] = back ? (low > 0 ? low - 1 : TSR_NONE) : high;
    l->out[l->axis] = (high - low + step - 1) / step;
}

static bool source_of_slice(const layout *l, int64_t *from, const int64_t *at)
{
    same_index(l, from, at);
    from[l->axis] = l->first[0] + at[l->axis] * l->k;
    return true;
}

static tsr_status slice(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    return tsr_slice(out, x, l->axis, l->first[0], l->second[0], l->k);
}

/* The first n axes of x at one index each, if x has elements. */
static void draw_prefix(trial *t, layout *l)
{
    l->n = count_of(l->ndim, l->in) ? (int)random_between(t, 0, l->ndim) : 0;
    l->out_ndim = l->ndim - l->n;
    memcpy(l->out, l->in + l->n, sizeof *l->in * (size_t)l->out_ndim);
    for (int i = 0; i < l->n; i++) l->first[i] = random_below(t, l->in[i]);
}

static bool source_of_prefix(const layout *l, int64_t *from, const int64_t *at)
{
    memcpy(from, l->first, sizeof *from * (size_t)l->n);
    memcpy(from + l->n, at, sizeof *from * (size_t)l->out_ndim);
    return true;
}

static tsr_status at_prefix(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    return tsr_at_prefix(out, x, l->n, l->first);
}

/* Order of dims -------------------------------------------------------------------------------- */

/* Dim i of the result is dim axes[i]. */
static void ordered_shape(layout *l)
{
    l->out_ndim = l->ndim;
    for (int i = 0; i < l->ndim; i++) l->out[i] = l->in[l->axes[i] < 0 ? l->axes[i] + l->ndim : l->axes[i]];
}

static void draw_permute(trial *t, layout *l)
{
    draw_axes(t, l, l->ndim);
    ordered_shape(l);
}

static bool source_of_permute(const layout *l, int64_t *from, const int64_t *at)
{
    for (int i = 0; i < l->ndim; i++) from[l->axes[i] < 0 ? l->axes[i] + l->ndim : l->axes[i]] = at[i];
    return true;
}

static tsr_status permute(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    return tsr_permute(out, x, l->ndim, l->axes);
}

static void swap_axes(layout *l, int a, int b)
{
    for (int i = 0; i < l->ndim; i++) l->axes[i] = i == a ? b : i == b ? a : i;
    ordered_shape(l);
}

static void draw_transpose(trial *t, layout *l)
{
    draw_axis(t, l);
    l->other = (int)random_below(t, l->ndim);
    swap_axes(l, l->axis, l->other);
}

static tsr_status transpose(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    return tsr_transpose(out, x, l->axis, l->other - l->ndim);
}

static void draw_matrix_transpose(trial *t, layout *l)
{
    (void)t;
    swap_axes(l, l->ndim - 2, l->ndim - 1);
}

static tsr_status matrix_transpose(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    (void)l;
    return tsr_matrix_transpose(out, x);
}

/* The others keep their order. */
static void draw_move_axis(trial *t, layout *l)
{
    draw_axis(t, l);
    l->other = (int)random_below(t, l->ndim);
    for (int i = 0, next = 0; i < l->ndim; i++) {
        if (next == l->axis) next++;
        l->axes[i] = i == l->other ? l->axis : next++;
    }
    ordered_shape(l);
}

static tsr_status move_axis(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    return tsr_move_axis(out, x, l->axis, l->other);
}

static void draw_flip(trial *t, layout *l)
{
    keep_shape(l);
    draw_axes(t, l, 0);
}

static bool source_of_flip(const layout *l, int64_t *from, const int64_t *at)
{
    same_index(l, from, at);
    for (int i = 0; i < (l->n ? l->n : l->ndim); i++) {
        const int d = l->n ? (l->axes[i] + l->ndim) % l->ndim : i;
        from[d] = l->in[d] - 1 - at[d];
    }
    return true;
}

static tsr_status flip(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    return tsr_flip(out, x, l->n, l->axes);
}

/* Dims of size 1 --------------------------------------------------------------------------------- */

static void draw_unsqueeze(trial *t, layout *l)
{
    l->axis = (int)random_between(t, 0, l->ndim);
    l->out_ndim = 0;
    for (int d = 0; d <= l->ndim; d++) {
        if (d == l->axis) l->out[l->out_ndim++] = 1;
        if (d < l->ndim) l->out[l->out_ndim++] = l->in[d];
    }
}

static tsr_status unsqueeze(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    return tsr_unsqueeze(out, x, l->axis);
}

static void draw_squeeze(trial *t, layout *l)
{
    draw_axis(t, l);
    l->in[l->axis] = 1;
    for (int d = 0; d < l->ndim; d++)
        if (d != l->axis) l->out[l->out_ndim++] = l->in[d];
}

static tsr_status squeeze(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    return tsr_squeeze(out, x, l->axis);
}

static void draw_squeeze_all(trial *t, layout *l)
{
    (void)t;
    for (int d = 0; d < l->ndim; d++)
        if (l->in[d] != 1) l->out[l->out_ndim++] = l->in[d];
}

static tsr_status squeeze_all(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    (void)l;
    return tsr_squeeze_all(out, x);
}

/* Dims of size 1 repeated, and new ones in front; l->first is what is asked for. */
static void draw_expand(trial *t, layout *l)
{
    int64_t left = room_to_grow(t, l);
    const int more = (int)random_between(t, 0, TRIAL_RANK - l->ndim);
    l->out_ndim = l->ndim + more;
    for (int d = 0; d < l->out_ndim; d++) {
        const int64_t size = d < more ? 1 : l->in[d - more],
                      times = random_between(t, 1, left < 4 ? left : 4);
        l->out[d] = size == 1 ? times : size;
        if (size == 1) left /= times;
        l->first[d] = d >= more && l->out[d] == size && once_in(t, 2) ? -1 : l->out[d];
    }
}

static bool source_of_expand(const layout *l, int64_t *from, const int64_t *at)
{
    for (int d = 0; d < l->ndim; d++) from[d] = l->in[d] == 1 ? 0 : at[d + l->out_ndim - l->ndim];
    return true;
}

static tsr_status expand(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    return tsr_expand(out, x, l->out_ndim, l->first);
}

/* Other shapes ------------------------------------------------------------------------------------- */

/* Sizes of all dims, cut into factors anew. */
static void draw_reshape(trial *t, layout *l)
{
    int64_t left = count_of(l->ndim, l->in);
    const int dims = (int)random_between(t, left == 1 ? 0 : 1, TRIAL_RANK);
    l->out_ndim = dims;
    for (int d = 0; d < dims; d++) {
        int64_t size = d + 1 < dims ? random_between(t, 1, 8) : left;
        while (size > 1 && left % size) size--;
        l->out[d] = size;
        left = size ? left / size : 1;
    }
    memcpy(l->first, l->out, sizeof l->first);
    if (dims > 0 && count_of(dims, l->out) && once_in(t, 2)) l->first[random_below(t, dims)] = -1;
}

static tsr_status reshape(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    return tsr_reshape(out, x, l->out_ndim, l->first);
}

/* One dim as two, whose sizes multiply to it. */
static void draw_split_dim(trial *t, layout *l)
{
    draw_axis(t, l);
    const int64_t n = l->in[l->axis];
    int64_t size = random_between(t, 1, 6);
    while (n % size) size--;
    for (int d = 0; d < l->ndim; d++) {
        if (d == l->axis) l->out[l->out_ndim++] = size;
        l->out[l->out_ndim++] = d == l->axis ? n / size : l->in[d];
    }
    l->first[0] = size;
    l->first[1] = n / size;
}

static tsr_status split_dim(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    return tsr_split_dim(out, x, l->axis, 2, l->first);
}

/* And as one again: of a split dim that is always possible. */
static tsr_status merge_again(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    tsr_tensor *two = NULL;
    TSR_TRY(tsr_split_dim(&two, x, l->axis, 2, l->second));
    const tsr_status s = tsr_merge_dims(out, two, l->axis, 2);
    tsr_release(&two);
    return s;
}

static void draw_merge(trial *t, layout *l)
{
    layout split = *l;
    draw_split_dim(t, &split);
    l->axis = split.axis;
    memcpy(l->second, split.first, sizeof l->second);
    keep_shape(l);
}

/* Diagonals and windows -------------------------------------------------------------------------------- */

static void draw_diagonal(trial *t, layout *l)
{
    draw_axes(t, l, 2);
    l->axis = (l->axes[0] + l->ndim) % l->ndim;
    l->other = (l->axes[1] + l->ndim) % l->ndim;
    const int64_t rows = l->in[l->axis], cols = l->in[l->other];
    l->k = random_between(t, -rows, cols);
    const int64_t down = l->k < 0 ? rows + l->k : rows, along = l->k > 0 ? cols - l->k : cols;
    for (int d = 0; d < l->ndim; d++)
        if (d != l->axis && d != l->other) l->out[l->out_ndim++] = l->in[d];
    l->out[l->out_ndim++] = down < along ? down : along;
}

static bool source_of_diagonal(const layout *l, int64_t *from, const int64_t *at)
{
    const int64_t i = at[l->out_ndim - 1];
    for (int d = 0, next = 0; d < l->ndim; d++)
        from[d] = d == l->axis    ? i + (l->k < 0 ? -l->k : 0)
                  : d == l->other ? i + (l->k > 0 ? l->k : 0)
                                  : at[next++];
    return true;
}

static tsr_status diagonal(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    return tsr_diagonal(out, x, l->k, l->axes[0], l->axes[1]);
}

static void draw_unfold(trial *t, layout *l)
{
    draw_axis(t, l);
    keep_shape(l);
    if (l->in[l->axis] == 0) l->in[l->axis] = l->out[l->axis] = 1;
    const int64_t n = l->in[l->axis], room = room_to_grow(t, l), most = n < room ? n : room;
    const int64_t size = random_between(t, 1, most < 9 ? most : 9), step = random_between(t, 1, 3);
    l->first[0] = size;
    l->k = step;
    l->out[l->axis] = (n - size) / step + 1;
    l->out[l->out_ndim++] = size;
}

static bool source_of_unfold(const layout *l, int64_t *from, const int64_t *at)
{
    same_index(l, from, at);
    from[l->axis] = at[l->axis] * l->k + at[l->ndim];
    return true;
}

static tsr_status unfold(tsr_tensor **out, const tsr_tensor *x, const layout *l)
{
    return tsr_unfold(out, x, l->axis, l->first[0], l->k);
}

static const layout_rule rules[] = {
    { "clone", 0, TRIAL_RANK, true, draw_same, clone, source_in_order },
    { "contiguous", 0, TRIAL_RANK, true, draw_same, contiguous, source_in_order },
    { "to_host", 0, TRIAL_RANK, true, draw_same, to_host, source_in_order },
    { "slice", 1, TRIAL_RANK, true, draw_slice, slice, source_of_slice },
    { "at_prefix", 0, TRIAL_RANK, true, draw_prefix, at_prefix, source_of_prefix },
    { "permute", 0, TRIAL_RANK, true, draw_permute, permute, source_of_permute },
    { "transpose", 1, TRIAL_RANK, true, draw_transpose, transpose, source_of_permute },
    { "matrix_transpose", 2, TRIAL_RANK, true, draw_matrix_transpose, matrix_transpose, source_of_permute },
    { "move_axis", 1, TRIAL_RANK, true, draw_move_axis, move_axis, source_of_permute },
    { "flip", 0, TRIAL_RANK, true, draw_flip, flip, source_of_flip },
    { "unsqueeze", 0, TRIAL_RANK - 1, true, draw_unsqueeze, unsqueeze, source_in_order },
    { "squeeze", 1, TRIAL_RANK, true, draw_squeeze, squeeze, source_in_order },
    { "squeeze_all", 0, TRIAL_RANK, true, draw_squeeze_all, squeeze_all, source_in_order },
    { "expand", 0, TRIAL_RANK, true, draw_expand, expand, source_of_expand },
    { "reshape", 0, TRIAL_RANK, true, draw_reshape, reshape, source_in_order },
    { "split_dim", 1, TRIAL_RANK - 1, true, draw_split_dim, split_dim, source_in_order },
    { "merge_dims", 1, TRIAL_RANK - 1, true, draw_merge, merge_again, source_in_order },
    { "diagonal", 2, TRIAL_RANK, true, draw_diagonal, diagonal, source_of_diagonal },
    { "unfold", 1, TRIAL_RANK - 1, true, draw_unfold, unfold, source_of_unfold },
};

void list_view(check_list *list)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        add_check(list, (check){ .family = "view", .run = check_rule_of_layout, .about = &rules[i] },
                  rules[i].name);
}

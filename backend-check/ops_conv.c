/* ops_conv.c - windows over one to three spatial dims. */
#include <string.h>

#include "operands.h"

enum { X, W, BIAS };

static const tolerance sums = { .ulps = 2, .sized = true, .grows = GROWS_ROOT },
                       choice = { .ulps = 0, .any_zero = true };

typedef tsr_status (*conv_fn)(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *w,
                              const tsr_tensor *bias, const tsr_conv *how);
typedef tsr_status (*max_fn)(tsr_tensor **out, tsr_tensor **indices, const tsr_tensor *x,
                             const tsr_pool *how);
typedef tsr_status (*avg_fn)(tsr_tensor **out, const tsr_tensor *x, const tsr_pool *how);

static const conv_fn convs[] = { tsr_conv1d, tsr_conv2d, tsr_conv3d };
static const conv_fn transposed[] = { tsr_conv_transpose1d, tsr_conv_transpose2d, tsr_conv_transpose3d };
static const max_fn max_pools[] = { tsr_max_pool1d, tsr_max_pool2d, tsr_max_pool3d };
static const avg_fn avg_pools[] = { tsr_avg_pool1d, tsr_avg_pool2d, tsr_avg_pool3d };

static tsr_status conv(trial *t, side s)
{
    return convs[t->with.axis](RESULT(t, s, 0), IN(t, s, X), IN(t, s, W), IN(t, s, BIAS), t->how);
}
static tsr_status conv_transpose(trial *t, side s)
{
    return transposed[t->with.axis](RESULT(t, s, 0), IN(t, s, X), IN(t, s, W), IN(t, s, BIAS), t->how);
}
static tsr_status max_pool(trial *t, side s)
{
    return max_pools[t->with.axis](RESULT(t, s, 0), t->with.flag ? RESULT(t, s, 1) : NULL, IN(t, s, X),
                                   t->how);
}
static tsr_status avg_pool(trial *t, side s)
{
    return avg_pools[t->with.axis](RESULT(t, s, 0), IN(t, s, X), t->how);
}
static tsr_status adaptive_max(trial *t, side s)
{
    return tsr_adaptive_max_pool(RESULT(t, s, 0), t->with.flag ? RESULT(t, s, 1) : NULL, IN(t, s, X),
                                 t->with.axis + 1, t->with.n);
}
static tsr_status adaptive_avg(trial *t, side s)
{
    return tsr_adaptive_avg_pool(RESULT(t, s, 0), IN(t, s, X), t->with.axis + 1, t->with.n);
}

/* Integers wrap, and so may be any; floats are moderate. */
static values values_for(trial *t)
{
    const values v = { -2, 2, t->number % 4 == 1 ? 60 : 0, false };
    return tsr_dtype_kind(t->check->dtype) < TSR_FLOATING ? any_values : v;
}

/* The batch (or none), channels and spatial sizes of x. Returns the rank. */
static int make_x(trial *t, int64_t channels, int64_t least)
{
    const values v = values_for(t);
    const int spatial = t->with.axis + 1;
    const int64_t most = t->number % 4 == 3 ? (spatial == 1 ? 200 : spatial == 2 ? 24 : 9) : 7;
    int64_t shape[RANK];
    int ndim = 0;
    if (!once_in(t, 4)) shape[ndim++] = t->number % 4 == 2 ? 0 : random_between(t, 1, 3);
    shape[ndim++] = channels;
    for (int i = 0; i < spatial; i++) shape[ndim++] = random_between(t, least, most < least ? least : most);
    make_input(t, X, t->check->dtype, ndim, shape, &v);
    return ndim;
}

static void make_weights(trial *t, int64_t first, int64_t second, int64_t outputs, const int64_t *window)
{
    values v = values_for(t);
    v.special = 0;  /* what zeros beside x make of an infinite weight, backends see differently */
    int64_t shape[RANK] = { first, second };
    memcpy(shape + 2, window, 3 * sizeof *window);
    make_input(t, W, t->check->dtype, 3 + t->with.axis, shape, &v);
    if (!once_in(t, 3)) make_input(t, BIAS, t->check->dtype, 1, &outputs, &v);
}

static void check_conv(trial *t)
{
    const bool back = t->check->op == TSR_OP_CONV_TRANSPOSE;
    tsr_conv how = { .groups = once_in(t, 3) ? 2 : 1 };
    const int64_t in = how.groups * random_between(t, 1, 3), out = how.groups * random_between(t, 1, 3);
    int64_t window[3];
    t->with.axis = (int)random_below(t, 3);
    for (int i = 0; i <= t->with.axis; i++) {
        window[i] = random_between(t, 1, 3);
        how.stride[i] = random_between(t, 1, 2);
        how.dilation[i] = random_between(t, 1, 2);
        how.padding[i] = random_below(t, 2);
        t->terms *= (double)window[i];
        if (back) how.output_padding[i] = how.stride[i] > 1 ? random_below(t, 2) : 0;
    }
    t->terms *= (double)in;
    t->how = &how;
    (void)make_x(t, in, 5);
    make_weights(t, back ? in : out, (back ? out : in) / how.groups, out, window);
    run_op(t, back ? conv_transpose : conv, 1, 0, &sums);
}

static void check_pool(trial *t)
{
    const bool largest = t->check->op == TSR_OP_MAX_POOL, adaptive = once_in(t, 4);
    tsr_pool how = { .ceil_mode = once_in(t, 2), .exclude_pad = once_in(t, 2) };
    if (largest) how.exclude_pad = false;
    t->with.axis = (int)random_below(t, 3);
    t->with.flag = once_in(t, 2);
    for (int i = 0; i <= t->with.axis; i++) {
        how.kernel[i] = random_between(t, 1, 3);
        how.stride[i] = random_below(t, 3);
        how.padding[i] = random_below(t, how.kernel[i] / 2 + 1);
        how.dilation[i] = largest ? random_between(t, 1, 2) : 0;
        t->with.n[i] = random_between(t, 1, 4);
        t->terms *= (double)how.kernel[i];
    }
    t->how = &how;
    (void)make_x(t, random_between(t, 1, 3), 5);
    if (largest)
        run_op(t, adaptive ? adaptive_max : max_pool, 2, 0, &choice);
    else
        run_op(t, adaptive ? adaptive_avg : avg_pool, 1, 0, &sums);
}

void list_conv(check_list *list)
{
    static const tsr_op_kind kinds[] = { TSR_OP_CONV, TSR_OP_CONV_TRANSPOSE, TSR_OP_MAX_POOL,
                                         TSR_OP_AVG_POOL };
    for (int i = 0; i < 4; i++) {
        const tsr_op_info *info = tsr_op_get_info(kinds[i]);
        add_for_dtypes(
            list, (check){ .family = info->family, .op = kinds[i], .run = i < 2 ? check_conv : check_pool },
            info->name, dtypes_of(kinds[i], 0));
    }
}

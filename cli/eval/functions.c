/* functions.c - functions that take more than tensors: those that a line of functions.def does not tell. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"

static bool run_transpose(call *c)
{
    value *axes = &c->v[1];
    const int ndim = c->v[0].t->ndim;
    for (int i = 0; axes->n == 0 && i < ndim; i++) axes->axes[i] = ndim - 1 - i;
    return call_done(c, tsr_permute(&c->z, c->v[0].t, axes->n ? axes->n : ndim, axes->axes));
}

/* Making --------------------------------------------------------------------------------- */

static bool run_full(call *c)
{
    const operand *o = &c->a[1];
    if (o->kind != OPERAND_NUMBER) return fail(c->m, slot_place(c, 1), "a number is expected here");
    const tsr_dtype dtype = slot_given(c, 2) ? c->v[2].dtype : o->number.dtype;
    return call_done(c, tsr_full(&c->z, dtype, c->v[0].n, c->v[0].ints, o->number));
}

/* arange(stop), arange(start, stop, step) */
static bool run_arange(call *c)
{
    tsr_scalar s[3] = { tsr_scalar_i64(0), tsr_scalar_i64(0), tsr_scalar_i64(1) };
    tsr_dtype dtype = TSR_I64;
    for (int i = 0; i < 3; i++) {
        int64_t n = 0;
        if (!slot_given(c, i)) continue;
        if (c->a[i].kind == OPERAND_NUMBER) s[i] = c->a[i].number;
        else if (!read_int(c->m, &n, &c->a[i], slot_place(c, i))) return false;
        else s[i] = tsr_scalar_i64(n);
        if (s[i].dtype == TSR_F64) dtype = TSR_F64;
    }
    if (!slot_given(c, 1)) s[1] = s[0], s[0] = tsr_scalar_i64(0);
    if (slot_given(c, 3)) dtype = c->v[3].dtype;
    return call_done(c, tsr_arange(&c->z, dtype, s[0], s[1], s[2]));
}

static bool run_asarray(call *c)
{
    tsr_tensor **x = &c->v[0].t;
    return as_tensor(c->m, x, &c->a[0], slot_place(c, 0)) &&
           cast_to(c->m, &c->z, *x, slot_given(c, 1) ? c->v[1].dtype : (*x)->dtype, c->at);
}

static bool run_astype(call *c) { return run_asarray(c); }

/* Products ------------------------------------------------------------------------------- */

static bool run_einsum(call *c)
{
    if (c->a[0].kind != OPERAND_TEXT)
        return fail(c->m, slot_place(c, 0), "a text as 'ij,jk->ik' is expected here");
    return call_done(c, tsr_einsum(&c->z, c->a[0].text, c->v[1].n, TENSORS(c->v[1])));
}

static bool run_tensordot(call *c)
{
    const tsr_tensor *x = c->v[0].t, *y = c->v[1].t;
    const operand *axes = &c->a[2];
    int64_t count = 2;
    int n = 0, m = 0, xs[TSR_MAX_NDIM], ys[TSR_MAX_NDIM];
    if (axes->kind == OPERAND_LIST && axes->count == 2) {
        if (!read_axes(c->m, &n, xs, &axes->items[0], slot_place(c, 2)) ||
            !read_axes(c->m, &m, ys, &axes->items[1], slot_place(c, 2)))
            return false;
        if (m != n) return fail(c->m, slot_place(c, 2), "both lists of axes are equally long");
    } else {
        if (slot_given(c, 2) && !read_int(c->m, &count, axes, slot_place(c, 2))) return false;
        if (count < 0 || count > x->ndim || count > y->ndim)
            return fail(c->m, slot_place(c, 2), "there are not so many axes");
        for (; n < count; n++) xs[n] = x->ndim - (int)count + n, ys[n] = n;
    }
    return call_done(c, tsr_tensordot(&c->z, x, y, n, xs, ys));
}

/* Elements ------------------------------------------------------------------------------- */

static bool run_clip(call *c)
{
    operand z = { .kind = OPERAND_UNSET };
    bool ok = true;
    if (slot_given(c, 1) && slot_given(c, 2)) {
        ok = call_elementwise(c->m, &z, "clip", 3, c->a, c->at);
    } else if (slot_given(c, 1) || slot_given(c, 2)) {
        const operand both[2] = { c->a[0], slot_given(c, 1) ? c->a[1] : c->a[2] };
        ok = call_elementwise(c->m, &z, slot_given(c, 1) ? "maximum" : "minimum", 2, both, c->at);
    } else {
        ok = fail(c->m, c->at, "clip takes a lower or an upper bound");
    }
    if (ok) ok = as_tensor(c->m, &c->z, &z, c->at);
    operand_free(&z);
    return ok;
}

/* round(x), round(x, 2) */
static bool run_round(call *c)
{
    operand z = { .kind = OPERAND_UNSET }, scaled = { .kind = OPERAND_UNSET },
            rounded = { .kind = OPERAND_UNSET };
    const int64_t digits = c->v[1].i;
    bool ok = true;
    if (digits == 0) {
        ok = call_elementwise(c->m, &z, "round", 1, c->a, c->at);
    } else {
        const operand by = number_operand(tsr_scalar_f64(pow(10, (double)digits)));
        const operand first[2] = { c->a[0], by };
        ok = call_elementwise(c->m, &scaled, "mul", 2, first, c->at) &&
             call_elementwise(c->m, &rounded, "round", 1, &scaled, c->at);
        const operand second[2] = { rounded, by };
        ok = ok && call_elementwise(c->m, &z, "div", 2, second, c->at);
    }
    ok = ok && as_tensor(c->m, &c->z, &z, c->at);
    operand_free(&z);
    operand_free(&scaled);
    operand_free(&rounded);
    return ok;
}

/* Is everything close, or equal? */
static bool give_truth(call *c, tsr_status s, const bool *truth)
{
    return call_done(c, s) &&
           call_done(c, tsr_full(&c->z, TSR_BOOL, TSR_SCALAR_SHAPE, tsr_scalar_bool(*truth)));
}

static bool run_array_equal(call *c)
{
    bool same = false;
    return give_truth(c, tsr_equal(&same, c->v[0].t, c->v[1].t), &same);
}

static bool run_allclose(call *c)
{
    bool close = false;
    const double rtol = c->v[2].r, atol = c->v[3].r;
    const tsr_close_opts how = { rtol == 0 ? -1 : rtol, atol == 0 ? -1 : atol, c->v[4].b };
    return give_truth(c, tsr_allclose(&close, c->v[0].t, c->v[1].t, &how, NULL), &close);
}

/* Statistics ------------------------------------------------------------------------------ */

static bool slot_method(call *c, tsr_quantile_method *out, int i)
{
    static const char *const names[] = { "linear", "lower", "higher", "nearest", "midpoint" };
    *out = TSR_QUANTILE_LINEAR;
    if (!slot_given(c, i)) return true;
    for (int m = 0; m < 5; m++)
        if (c->a[i].kind == OPERAND_TEXT && !strcmp(c->a[i].text, names[m])) {
            *out = (tsr_quantile_method)m;
            return true;
        }
    return fail(c->m, slot_place(c, i), "a method is 'linear', 'lower', 'higher', 'nearest' or 'midpoint'");
}

typedef tsr_status (*quantile_fn)(tsr_tensor **, const tsr_tensor *, const tsr_tensor *, int, const int *,
                                  bool, tsr_quantile_method);

static bool take_quantiles(call *c, quantile_fn of)
{
    const value *v = c->v;
    tsr_quantile_method method;
    return slot_method(c, &method, 4) &&
           call_done(c, of(&c->z, v[0].t, v[1].t, v[2].n, v[2].axes, v[3].b, method));
}

static bool run_quantile(call *c) { return take_quantiles(c, tsr_quantile); }
static bool run_nanquantile(call *c) { return take_quantiles(c, tsr_nanquantile); }

/* Of 100, not of 1. */
static bool run_percentile(call *c)
{
    tsr_tensor *hundred = NULL;
    const bool ok = call_done(c, tsr_full(&hundred, TSR_F64, TSR_SCALAR_SHAPE, tsr_scalar_f64(100))) &&
                    call_done(c, tsr_div(&c->v[1].t, c->v[1].t, hundred));
    tsr_release(&hundred);
    return ok && run_quantile(c);
}

/* The counts; the edges are linspace(low, high, bins + 1). */
static bool run_histogram(call *c)
{
    const value *v = c->v;
    tsr_tensor *edges = NULL;
    const bool ok =
        call_done(c, tsr_histogram(&c->z, &edges, v[0].t, v[1].i, v[2].r, v[3].r, NULL, v[4].b));
    tsr_release(&edges);
    return ok;
}

/* Pictures ------------------------------------------------------------------------------- */

static bool slot_mode(call *c, tsr_interpolation *out, int i)
{
    static const char *const names[] = { "nearest", "nearest-exact", "linear", "cubic", "area" };
    *out = TSR_INTERPOLATE_LINEAR;
    if (!slot_given(c, i)) return true;
    for (int m = 0; m < 5; m++)
        if (c->a[i].kind == OPERAND_TEXT && !strcmp(c->a[i].text, names[m])) {
            *out = (tsr_interpolation)m;
            return true;
        }
    return fail(c->m, slot_place(c, i), "a mode is 'nearest', 'nearest-exact', 'linear', 'cubic' or 'area'");
}

/* The last dims of x, or those before the last, become as long as `size` says. */
static bool run_resize(call *c)
{
    tsr_tensor *x = tsr_retain(c->v[0].t);
    tsr_resize_options how = { .align_corners = c->v[3].b, .antialias = c->v[4].b };
    const int n = c->v[1].n, ndim = c->v[0].t->ndim;
    const bool last = c->v[5].b && ndim > n, alone = ndim == n;
    tsr_status s = TSR_OK;
    const bool known = slot_mode(c, &how.mode, 2);
    if (last)                 s = tsr_move_axis(&x, x, -1, ndim - n - 1);
    if (s == TSR_OK && alone) s = tsr_unsqueeze(&x, x, 0);
    if (s == TSR_OK) s = tsr_resize(&c->z, x, n, c->v[1].ints, &how);
    if (s == TSR_OK && last)  s = tsr_move_axis(&c->z, c->z, ndim - n - 1, -1);
    if (s == TSR_OK && alone) s = tsr_squeeze(&c->z, c->z, 0);
    tsr_release(&x);
    return known && call_done(c, s);
}

/* The list ------------------------------------------------------------------------------- */

#define FUNCTION(name, arguments, kinds, dtypes, calls)    \
    static bool run_##name(call *c)                        \
    {                                                      \
        value *v = c->v;                                   \
        tsr_tensor **z = &c->z;                            \
        (void)v;                                           \
        return call_done(c, calls);                        \
    }
#define SPECIAL(name, arguments, kinds, dtypes)
#include "functions.def"

const function functions[] = {
#define FUNCTION(name, arguments, kinds, dtypes, calls) { #name, arguments, kinds, dtypes, run_##name },
#define SPECIAL(name, arguments, kinds, dtypes)         { #name, arguments, kinds, dtypes, run_##name },
#include "functions.def"
};

const int function_count = (int)(sizeof functions / sizeof *functions);

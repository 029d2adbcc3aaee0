/* functions.c - functions that take more than tensors, under NumPy's names.
 *
 * A row names a function, its arguments as Python writes them ("x, axis=None"; "*x" takes all
 * that are left), how it is run, and the function of the library that does the work.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../room.h"
#include "call.h"

/* Kinds of functions ------------------------------------------------------------------- */

static bool run_one(call *c)
{
    tsr_tensor *x = NULL;
    const bool ok = slot_tensor(c, &x, 0) && call_done(c, c->fn->by.one(&c->z, x));
    tsr_release(&x);
    return ok;
}

/* Two tensors of one dtype. */
static bool promote_both(call *c, tsr_tensor **x, tsr_tensor **y)
{
    tsr_dtype dtype;
    if (!promote(&dtype, (*x)->dtype, (*y)->dtype))
        return fail(c->m, c->at, "%s and %s have no common dtype", tsr_dtype_name((*x)->dtype),
                    tsr_dtype_name((*y)->dtype));
    return cast_to(c->m, x, *x, dtype, c->at) && cast_to(c->m, y, *y, dtype, c->at);
}

static bool run_two(call *c)
{
    tsr_tensor *x = NULL, *y = NULL;
    const bool ok = slot_tensor(c, &x, 0) && slot_tensor(c, &y, 1) && promote_both(c, &x, &y) &&
                    call_done(c, c->fn->by.two(&c->z, x, y));
    tsr_release(&x);
    tsr_release(&y);
    return ok;
}

static bool run_axes(call *c)
{
    tsr_tensor *x = NULL;
    int n = 0, axes[TSR_MAX_NDIM] = { 0 };
    bool keep = false;
    const bool ok = slot_tensor(c, &x, 0) && read_axes(c->m, &n, axes, &c->a[1], slot_place(c, 1)) &&
                    slot_truth(c, &keep, 2) && call_done(c, c->fn->by.axes(&c->z, x, n, axes, keep));
    tsr_release(&x);
    return ok;
}

/* var(x, axis, keepdims, ddof), norm(x, ord, axis, keepdims) */
static bool run_axes_more(call *c)
{
    tsr_tensor *x = NULL;
    int n = 0, axes[TSR_MAX_NDIM] = { 0 };
    bool keep = false;
    const bool norm = !strcmp(c->fn->name, "norm");
    const int axis = norm ? 2 : 1;
    double more = norm ? 2 : 0;
    const bool ok = slot_tensor(c, &x, 0) && read_axes(c->m, &n, axes, &c->a[axis], slot_place(c, axis)) &&
                    slot_truth(c, &keep, axis + 1) && slot_real(c, &more, norm ? 1 : 3) &&
                    call_done(c, c->fn->by.axes_more(&c->z, x, n, axes, keep, more));
    tsr_release(&x);
    return ok;
}

static bool run_arg(call *c)
{
    tsr_tensor *x = NULL;
    int axis = TSR_ALL_AXES;
    bool keep = false;
    const bool ok = slot_tensor(c, &x, 0) && slot_axis(c, &axis, 1) && slot_truth(c, &keep, 2) &&
                    call_done(c, c->fn->by.place(&c->z, x, axis, keep));
    tsr_release(&x);
    return ok;
}

/* Without an axis the elements are one long row. */
static bool run_scan(call *c)
{
    tsr_tensor *x = NULL;
    int axis = 0;
    bool ok = slot_tensor(c, &x, 0) && slot_axis(c, &axis, 1);
    if (ok && !slot_given(c, 1)) ok = call_done(c, tsr_reshape(&x, x, 1, (const int64_t[]){ -1 }));
    ok = ok && call_done(c, c->fn->by.axis(&c->z, x, axis));
    tsr_release(&x);
    return ok;
}

static bool run_last_axis(call *c)
{
    tsr_tensor *x = NULL;
    int axis = -1;
    const bool ok =
        slot_tensor(c, &x, 0) && slot_axis(c, &axis, 1) && call_done(c, c->fn->by.axis(&c->z, x, axis));
    tsr_release(&x);
    return ok;
}

static bool run_integer(call *c)
{
    tsr_tensor *x = NULL;
    int64_t k = 0;
    const bool ok =
        slot_tensor(c, &x, 0) && slot_int(c, &k, 1) && call_done(c, c->fn->by.integer(&c->z, x, k));
    tsr_release(&x);
    return ok;
}

static bool run_real(call *c)
{
    tsr_tensor *x = NULL;
    double r = !strcmp(c->fn->name, "elu") ? 1 : !strcmp(c->fn->name, "leaky_relu") ? 0.01 : -1;
    const bool ok = slot_tensor(c, &x, 0) && slot_real(c, &r, 1) && call_done(c, c->fn->by.real(&c->z, x, r));
    tsr_release(&x);
    return ok;
}

static bool run_fft(call *c)
{
    tsr_tensor *x = NULL;
    int64_t n = 0;
    int axis = -1;
    const bool ok = slot_tensor(c, &x, 0) && slot_int(c, &n, 1) && slot_axis(c, &axis, 2) &&
                    call_done(c, c->fn->by.fft(&c->z, x, n, axis, TSR_FFT_BACKWARD));
    tsr_release(&x);
    return ok;
}

static bool run_sort(call *c)
{
    tsr_tensor *x = NULL;
    int axis = -1;
    bool descending = false;
    const bool ok = slot_tensor(c, &x, 0) && slot_axis(c, &axis, 1) && slot_truth(c, &descending, 2) &&
                    call_done(c, c->fn->by.place(&c->z, x, axis, descending));
    tsr_release(&x);
    return ok;
}

/* Shapes --------------------------------------------------------------------------------- */

static bool run_reshape(call *c)
{
    tsr_tensor *x = NULL;
    int n = 0;
    int64_t shape[TSR_MAX_NDIM];
    const bool ok = slot_tensor(c, &x, 0) && read_ints(c->m, &n, shape, slot_list(c, 1), slot_place(c, 1)) &&
                    call_done(c, tsr_reshape(&c->z, x, n, shape));
    tsr_release(&x);
    return ok;
}

static bool run_ravel(call *c)
{
    tsr_tensor *x = NULL;
    const bool ok = slot_tensor(c, &x, 0) && call_done(c, tsr_reshape(&c->z, x, 1, (const int64_t[]){ -1 }));
    tsr_release(&x);
    return ok;
}

static bool run_transpose(call *c)
{
    tsr_tensor *x = NULL;
    int n = 0, axes[TSR_MAX_NDIM];
    const operand *list = slot_list(c, 1);
    bool ok = slot_tensor(c, &x, 0);
    if (ok && list->kind == OPERAND_LIST && list->count > 0) {
        ok = read_axes(c->m, &n, axes, list, slot_place(c, 1));
    } else if (ok) {
        for (n = 0; n < x->ndim; n++) axes[n] = x->ndim - 1 - n;
    }
    ok = ok && call_done(c, tsr_permute(&c->z, x, n, axes));
    tsr_release(&x);
    return ok;
}

static bool run_swap(call *c)
{
    tsr_tensor *x = NULL;
    int a = 0, b = 1;
    const bool ok = slot_tensor(c, &x, 0) && slot_axis(c, &a, 1) && slot_axis(c, &b, 2) &&
                    call_done(c, !strcmp(c->fn->name, "moveaxis") ? tsr_move_axis(&c->z, x, a, b)
                                                             : tsr_transpose(&c->z, x, a, b));
    tsr_release(&x);
    return ok;
}

static bool run_squeeze(call *c)
{
    tsr_tensor *x = NULL;
    int axis = 0;
    const bool ok = slot_tensor(c, &x, 0) && slot_axis(c, &axis, 1) &&
                    call_done(c, slot_given(c, 1) ? tsr_squeeze(&c->z, x, axis) : tsr_squeeze_all(&c->z, x));
    tsr_release(&x);
    return ok;
}

static bool run_unsqueeze(call *c)
{
    tsr_tensor *x = NULL;
    int axis = 0;
    const bool ok =
        slot_tensor(c, &x, 0) && slot_axis(c, &axis, 1) && call_done(c, tsr_unsqueeze(&c->z, x, axis));
    tsr_release(&x);
    return ok;
}

static bool run_broadcast(call *c)
{
    tsr_tensor *x = NULL;
    int n = 0;
    int64_t shape[TSR_MAX_NDIM];
    const bool ok = slot_tensor(c, &x, 0) && read_ints(c->m, &n, shape, &c->a[1], slot_place(c, 1)) &&
                    call_done(c, tsr_expand(&c->z, x, n, shape));
    tsr_release(&x);
    return ok;
}

static bool run_flip(call *c)
{
    tsr_tensor *x = NULL;
    int n = 0, axes[TSR_MAX_NDIM];
    const bool ok = slot_tensor(c, &x, 0) && read_axes(c->m, &n, axes, &c->a[1], slot_place(c, 1)) &&
                    call_done(c, tsr_flip(&c->z, x, n, axes));
    tsr_release(&x);
    return ok;
}

static bool run_roll(call *c)
{
    tsr_tensor *x = NULL;
    int axis = 0;
    int64_t shift = 0;
    const bool ok = slot_tensor(c, &x, 0) && slot_int(c, &shift, 1) && slot_axis(c, &axis, 2) &&
                    call_done(c, tsr_roll(&c->z, x, 1, &shift, &axis));
    tsr_release(&x);
    return ok;
}

static bool run_tile(call *c)
{
    tsr_tensor *x = NULL;
    int n = 0;
    int64_t reps[TSR_MAX_NDIM];
    const bool ok = slot_tensor(c, &x, 0) && read_ints(c->m, &n, reps, &c->a[1], slot_place(c, 1)) &&
                    call_done(c, tsr_tile(&c->z, x, n, reps));
    tsr_release(&x);
    return ok;
}

static bool run_repeat(call *c)
{
    tsr_tensor *x = NULL;
    int64_t count = 1;
    int axis = 0;
    bool ok = slot_tensor(c, &x, 0) && slot_int(c, &count, 1) && slot_axis(c, &axis, 2);
    if (ok && !slot_given(c, 2)) ok = call_done(c, tsr_reshape(&x, x, 1, (const int64_t[]){ -1 }));
    ok = ok && call_done(c, tsr_repeat(&c->z, x, count, axis));
    tsr_release(&x);
    return ok;
}

static bool run_diagonal(call *c)
{
    tsr_tensor *x = NULL;
    int64_t k = 0;
    int a = 0, b = 1;
    const bool ok = slot_tensor(c, &x, 0) && slot_int(c, &k, 1) && slot_axis(c, &a, 2) &&
                    slot_axis(c, &b, 3) && call_done(c, tsr_diagonal(&c->z, x, k, a, b));
    tsr_release(&x);
    return ok;
}

/* concatenate([a, b], axis=0), stack([a, b], axis=0) */
static bool run_join(call *c)
{
    const operand *list = &c->a[0];
    int axis = 0;
    tsr_dtype dtype = TSR_DTYPE_INVALID;
    if (list->kind != OPERAND_LIST || list->count == 0)
        return fail(c->m, slot_place(c, 0), "a list of tensors is expected here");
    tsr_tensor **items = room_for((size_t)list->count, sizeof *items);
    bool ok = slot_axis(c, &axis, 1);
    for (int i = 0; i < list->count && ok; i++) {
        ok = as_tensor(c->m, &items[i], &list->items[i], slot_place(c, 0));
        if (ok && i == 0) dtype = items[0]->dtype;
        else if (ok && !promote(&dtype, dtype, items[i]->dtype))
            ok = fail(c->m, c->at, "the tensors have no common dtype");
    }
    for (int i = 0; i < list->count && ok; i++) ok = cast_to(c->m, &items[i], items[i], dtype, c->at);
    ok = ok && call_done(c, c->fn->by.join(&c->z, list->count, (const tsr_tensor *const *)items, axis));
    for (int i = 0; i < list->count; i++) tsr_release(&items[i]);
    free(items);
    return ok;
}

/* Making --------------------------------------------------------------------------------- */

static bool run_make(call *c)
{
    int n = 0;
    int64_t shape[TSR_MAX_NDIM];
    tsr_dtype dtype = TSR_F64;
    return read_ints(c->m, &n, shape, &c->a[0], slot_place(c, 0)) && slot_dtype(c, &dtype, 1) &&
           call_done(c, c->fn->by.shape(&c->z, dtype, n, shape));
}

static bool run_full(call *c)
{
    int n = 0;
    int64_t shape[TSR_MAX_NDIM];
    const operand *o = &c->a[1];
    tsr_dtype dtype = o->number.dtype;
    if (o->kind != OPERAND_NUMBER) return fail(c->m, slot_place(c, 1), "a number is expected here");
    return read_ints(c->m, &n, shape, &c->a[0], slot_place(c, 0)) && slot_dtype(c, &dtype, 2) &&
           call_done(c, tsr_full(&c->z, dtype, n, shape, o->number));
}

static bool run_like(call *c)
{
    tsr_tensor *x = NULL;
    const bool ok = slot_tensor(c, &x, 0) && call_done(c, c->fn->by.one(&c->z, x));
    tsr_release(&x);
    return ok;
}

static bool run_eye(call *c)
{
    int64_t rows = 0, columns = 0, k = 0;
    tsr_dtype dtype = TSR_F64;
    bool ok = slot_int(c, &rows, 0);
    columns = rows;
    ok = ok && slot_int(c, &columns, 1) && slot_int(c, &k, 2) && slot_dtype(c, &dtype, 3);
    return ok && call_done(c, tsr_eye(&c->z, dtype, rows, columns, k));
}

/* arange(stop), arange(start, stop, step) */
static bool run_arange(call *c)
{
    tsr_scalar s[3] = { tsr_scalar_i64(0), tsr_scalar_i64(0), tsr_scalar_i64(1) };
    tsr_dtype dtype = TSR_I64;
    for (int i = 0; i < 3; i++) {
        if (!slot_given(c, i)) continue;
        if (c->a[i].kind != OPERAND_NUMBER) {
            int64_t n = 0;
            if (!read_int(c->m, &n, &c->a[i], slot_place(c, i))) return false;
            s[i] = tsr_scalar_i64(n);
        } else {
            s[i] = c->a[i].number;
        }
        if (s[i].dtype == TSR_F64) dtype = TSR_F64;
    }
    if (!slot_given(c, 1)) s[1] = s[0], s[0] = tsr_scalar_i64(0);
    return slot_dtype(c, &dtype, 3) && call_done(c, tsr_arange(&c->z, dtype, s[0], s[1], s[2]));
}

static bool run_linspace(call *c)
{
    double start = 0, stop = 0;
    int64_t n = 50;
    tsr_dtype dtype = TSR_F64;
    return slot_real(c, &start, 0) && slot_real(c, &stop, 1) && slot_int(c, &n, 2) &&
           slot_dtype(c, &dtype, 3) &&
           call_done(c, tsr_linspace(&c->z, dtype, tsr_scalar_f64(start), tsr_scalar_f64(stop), n, true));
}

/* uniform(shape, low, high, seed), normal(shape, mean, std, seed) */
static bool run_random(call *c)
{
    const bool normal = !strcmp(c->fn->name, "normal");
    int n = 0;
    int64_t shape[TSR_MAX_NDIM], seed = 0;
    double a = 0, b = 1;
    if (!read_ints(c->m, &n, shape, &c->a[0], slot_place(c, 0)) || !slot_real(c, &a, 1) ||
        !slot_real(c, &b, 2) || !slot_int(c, &seed, 3))
        return false;
    return call_done(c, normal ? tsr_normal(&c->z, TSR_F64, n, shape, a, b, (uint64_t)seed)
                          : tsr_uniform(&c->z, TSR_F64, n, shape, a, b, (uint64_t)seed));
}

static bool run_asarray(call *c)
{
    tsr_tensor *x = NULL;
    bool ok = as_tensor(c->m, &x, &c->a[0], slot_place(c, 0));
    tsr_dtype dtype = ok ? x->dtype : TSR_F64;
    ok = ok && slot_dtype(c, &dtype, 1) && cast_to(c->m, &c->z, x, dtype, c->at);
    tsr_release(&x);
    return ok;
}

/* The rest ------------------------------------------------------------------------------- */

static bool run_einsum(call *c)
{
    const operand *list = &c->a[1];
    tsr_tensor *t[TSR_EINSUM_OPERANDS] = { NULL };
    tsr_dtype dtype = TSR_DTYPE_INVALID;
    if (c->a[0].kind != OPERAND_TEXT)
        return fail(c->m, slot_place(c, 0), "a text as 'ij,jk->ik' is expected here");
    if (list->count < 1 || list->count > TSR_EINSUM_OPERANDS)
        return fail(c->m, c->at, "einsum takes 1 to %d tensors", TSR_EINSUM_OPERANDS);
    bool ok = true;
    for (int i = 0; i < list->count && ok; i++) {
        ok = as_tensor(c->m, &t[i], &list->items[i], c->at);
        if (ok && i == 0) dtype = t[0]->dtype;
        else if (ok && !promote(&dtype, dtype, t[i]->dtype))
            ok = fail(c->m, c->at, "the tensors have no common dtype");
    }
    for (int i = 0; i < list->count && ok; i++) ok = cast_to(c->m, &t[i], t[i], dtype, c->at);
    ok = ok && call_done(c, tsr_einsum(&c->z, c->a[0].text, list->count, (const tsr_tensor *const *)t));
    for (int i = 0; i < list->count; i++) tsr_release(&t[i]);
    return ok;
}

static bool run_tensordot(call *c)
{
    tsr_tensor *x = NULL, *y = NULL;
    int64_t count = 2;
    int n = 0, xs[TSR_MAX_NDIM], ys[TSR_MAX_NDIM];
    bool ok = slot_tensor(c, &x, 0) && slot_tensor(c, &y, 1) && promote_both(c, &x, &y);
    const operand *axes = &c->a[2];
    if (ok && axes->kind == OPERAND_LIST && axes->count == 2) {
        int m = 0;
        ok = read_axes(c->m, &n, xs, &axes->items[0], slot_place(c, 2)) &&
             read_axes(c->m, &m, ys, &axes->items[1], slot_place(c, 2));
        if (ok && m != n) ok = fail(c->m, slot_place(c, 2), "both lists of axes are equally long");
    } else if (ok) {
        ok = slot_int(c, &count, 2);
        if (ok && (count < 0 || count > x->ndim || count > y->ndim))
            ok = fail(c->m, slot_place(c, 2), "there are not so many axes");
        for (n = 0; ok && n < count; n++) xs[n] = x->ndim - (int)count + n, ys[n] = n;
    }
    ok = ok && call_done(c, tsr_tensordot(&c->z, x, y, n, xs, ys));
    tsr_release(&x);
    tsr_release(&y);
    return ok;
}

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
    int64_t digits = 0;
    bool ok = slot_int(c, &digits, 1);
    if (ok && digits == 0) {
        ok = call_elementwise(c->m, &z, "round", 1, c->a, c->at);
    } else if (ok) {
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

static bool run_hardtanh(call *c)
{
    tsr_tensor *x = NULL;
    double low = -1, high = 1;
    const bool ok = slot_tensor(c, &x, 0) && slot_real(c, &low, 1) && slot_real(c, &high, 2) &&
                    call_done(c, tsr_hardtanh(&c->z, x, low, high));
    tsr_release(&x);
    return ok;
}

static bool run_diff(call *c)
{
    tsr_tensor *x = NULL;
    int64_t n = 1;
    int axis = -1;
    const bool ok = slot_tensor(c, &x, 0) && slot_int(c, &n, 1) && slot_axis(c, &axis, 2) &&
                    call_done(c, tsr_diff(&c->z, x, axis, n));
    tsr_release(&x);
    return ok;
}

static bool run_take(call *c)
{
    tsr_tensor *x = NULL, *index = NULL;
    int axis = 0;
    bool ok = slot_tensor(c, &x, 0) && slot_tensor(c, &index, 1) &&
              cast_to(c->m, &index, index, TSR_I64, slot_place(c, 1)) && slot_axis(c, &axis, 2);
    if (ok && !slot_given(c, 2)) ok = call_done(c, tsr_reshape(&x, x, 1, (const int64_t[]){ -1 }));
    ok = ok && call_done(c, tsr_take(&c->z, x, index, axis));
    tsr_release(&x);
    tsr_release(&index);
    return ok;
}

static bool run_vecdot(call *c)
{
    tsr_tensor *x = NULL, *y = NULL;
    int axis = -1;
    const bool ok = slot_tensor(c, &x, 0) && slot_tensor(c, &y, 1) && promote_both(c, &x, &y) &&
                    slot_axis(c, &axis, 2) && call_done(c, tsr_vecdot(&c->z, x, y, axis));
    tsr_release(&x);
    tsr_release(&y);
    return ok;
}

static bool run_unique(call *c)
{
    tsr_tensor *x = NULL;
    const bool ok = slot_tensor(c, &x, 0) && call_done(c, tsr_unique(&c->z, x, NULL));
    tsr_release(&x);
    return ok;
}

/* q as a tensor of f64. */
static bool slot_shares(call *c, tsr_tensor **out, int i)
{
    return slot_tensor(c, out, i) && call_done(c, tsr_cast(out, *out, TSR_F64));
}

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

static bool run_quantile(call *c)
{
    tsr_tensor *x = NULL, *q = NULL;
    int n = 0, axes[TSR_MAX_NDIM] = { 0 };
    bool keep = false;
    tsr_quantile_method method;
    const bool plain = c->fn->name[0] == 'q';
    const bool ok = slot_tensor(c, &x, 0) && slot_shares(c, &q, 1) &&
                    read_axes(c->m, &n, axes, &c->a[2], slot_place(c, 2)) && slot_truth(c, &keep, 3) &&
                    slot_method(c, &method, 4) &&
                    call_done(c, plain ? tsr_quantile(&c->z, x, q, n, axes, keep, method)
                                       : tsr_nanquantile(&c->z, x, q, n, axes, keep, method));
    tsr_release(&x);
    tsr_release(&q);
    return ok;
}

static bool run_bincount(call *c)
{
    tsr_tensor *x = NULL, *weights = NULL;
    int64_t least = 0;
    const bool ok = slot_tensor(c, &x, 0) && (!slot_given(c, 1) || slot_tensor(c, &weights, 1)) &&
                    slot_int(c, &least, 2) && call_done(c, tsr_bincount(&c->z, x, weights, least));
    tsr_release(&x);
    tsr_release(&weights);
    return ok;
}

/* The counts; the edges are linspace(low, high, bins + 1). */
static bool run_histogram(call *c)
{
    tsr_tensor *x = NULL, *edges = NULL;
    int64_t bins = 10;
    double low = 0, high = 0;
    bool density = false;
    const bool ok = slot_tensor(c, &x, 0) && slot_int(c, &bins, 1) && slot_real(c, &low, 2) &&
                    slot_real(c, &high, 3) && slot_truth(c, &density, 4) &&
                    call_done(c, tsr_histogram(&c->z, &edges, x, bins, low, high, NULL, density));
    tsr_release(&x);
    tsr_release(&edges);
    return ok;
}

static bool run_cov(call *c)
{
    tsr_tensor *x = NULL;
    double ddof = 1;
    const bool ok = slot_tensor(c, &x, 0) && slot_real(c, &ddof, 1) &&
                    call_done(c, tsr_cov(&c->z, x, ddof, NULL, NULL));
    tsr_release(&x);
    return ok;
}

static bool run_cholesky(call *c)
{
    tsr_tensor *x = NULL;
    bool upper = false;
    const bool ok =
        slot_tensor(c, &x, 0) && slot_truth(c, &upper, 1) && call_done(c, tsr_cholesky(&c->z, x, upper));
    tsr_release(&x);
    return ok;
}

static bool run_searchsorted(call *c)
{
    tsr_tensor *x = NULL, *y = NULL;
    bool right = c->a[2].kind == OPERAND_TEXT && !strcmp(c->a[2].text, "right");
    const bool ok = slot_tensor(c, &x, 0) && slot_tensor(c, &y, 1) && promote_both(c, &x, &y) &&
                    call_done(c, tsr_searchsorted(&c->z, x, y, right));
    tsr_release(&x);
    tsr_release(&y);
    return ok;
}

/* layer_norm(x, weight, bias, eps), rms_norm(x, weight, eps) over the last axis */
static bool run_norm(call *c)
{
    tsr_tensor *x = NULL, *weight = NULL, *bias = NULL;
    const bool layer = c->fn->name[0] == 'l';
    double eps = 1e-5;
    bool ok = slot_tensor(c, &x, 0) && slot_real(c, &eps, layer ? 3 : 2);
    if (ok && slot_given(c, 1)) ok = slot_tensor(c, &weight, 1);
    if (ok && layer && slot_given(c, 2)) ok = slot_tensor(c, &bias, 2);
    ok = ok && call_done(c, layer ? tsr_layer_norm(&c->z, x, 1, weight, bias, eps)
                             : tsr_rms_norm(&c->z, x, weight, eps));
    tsr_release(&x);
    tsr_release(&weight);
    tsr_release(&bias);
    return ok;
}

static bool run_close(call *c)
{
    tsr_tensor *x = NULL, *y = NULL;
    double rtol = 1e-5, atol = 1e-8;
    bool equal_nan = false, same = false;
    bool ok = slot_tensor(c, &x, 0) && slot_tensor(c, &y, 1) && promote_both(c, &x, &y) &&
              slot_real(c, &rtol, 2) && slot_real(c, &atol, 3) && slot_truth(c, &equal_nan, 4);
    if (ok && !strcmp(c->fn->name, "array_equal")) {
        ok = call_done(c, tsr_equal(&same, x, y));
    } else if (ok) {
        const tsr_close_opts how = { rtol == 0 ? -1 : rtol, atol == 0 ? -1 : atol, equal_nan };
        ok = call_done(c, tsr_allclose(&same, x, y, &how, NULL));
    }
    ok = ok && call_done(c, tsr_full(&c->z, TSR_BOOL, TSR_SCALAR_SHAPE, tsr_scalar_bool(same)));
    tsr_release(&x);
    tsr_release(&y);
    return ok;
}

static bool run_copy(call *c)
{
    tsr_tensor *x = NULL;
    const bool ok = slot_tensor(c, &x, 0) && call_done(c, tsr_rearrange(&c->z, x));
    tsr_release(&x);
    return ok;
}

/* The list ------------------------------------------------------------------------------- */

static const char over_axes[] = "x, axis=None, keepdims=False";

const function functions[] = {
    { "sum",           over_axes, run_axes, COUNTS, { .axes = tsr_sum } },
    { "prod",          over_axes, run_axes, COUNTS, { .axes = tsr_prod } },
    { "mean",          over_axes, run_axes, FLOATS, { .axes = tsr_mean } },
    { "max",           over_axes, run_axes, 0,      { .axes = tsr_max } },
    { "min",           over_axes, run_axes, 0,      { .axes = tsr_min } },
    { "any",           over_axes, run_axes, 0,      { .axes = tsr_any } },
    { "all",           over_axes, run_axes, 0,      { .axes = tsr_all } },
    { "count_nonzero", over_axes, run_axes, 0,      { .axes = tsr_count_nonzero } },
    { "logsumexp",     over_axes, run_axes, FLOATS, { .axes = tsr_logsumexp } },
    { "var",  "x, axis=None, keepdims=False, ddof=0", run_axes_more, FLOATS, { .axes_more = tsr_var } },
    { "std",  "x, axis=None, keepdims=False, ddof=0", run_axes_more, FLOATS, { .axes_more = tsr_std } },
    { "norm", "x, ord=2, axis=None, keepdims=False",  run_axes_more, FLOATS, { .axes_more = tsr_norm } },
    { "median",    over_axes, run_axes, 0, { .axes = tsr_median } },
    { "nanmedian", over_axes, run_axes, 0, { .axes = tsr_nanmedian } },
    { "quantile", "x, q, axis=None, keepdims=False, method='linear'", run_quantile, 0, { .one = NULL } },
    { "nanquantile", "x, q, axis=None, keepdims=False, method='linear'", run_quantile, 0, { .one = NULL } },
    { "bincount", "x, weights=None, minlength=0", run_bincount, 0, { .one = NULL } },
    { "histogram", "x, bins=10, low=0, high=0, density=False", run_histogram, 0, { .one = NULL } },
    { "cov",      "x, ddof=1", run_cov, COUNTS, { .one = NULL } },
    { "corrcoef", "x",         run_one, COUNTS, { .one = tsr_corrcoef } },
    { "argmax", over_axes, run_arg, 0, { .place = tsr_argmax } },
    { "argmin", over_axes, run_arg, 0, { .place = tsr_argmin } },
    { "cumsum",  "x, axis=None", run_scan, COUNTS, { .axis = tsr_cumsum } },
    { "cumprod", "x, axis=None", run_scan, COUNTS, { .axis = tsr_cumprod } },
    { "cummax",  "x, axis=None", run_scan, 0,      { .axis = tsr_cummax } },
    { "diff",    "x, n=1, axis=-1", run_diff, 0, { .one = NULL } },

    { "softmax",        "x, axis=-1", run_last_axis, FLOATS, { .axis = tsr_softmax } },
    { "log_softmax",    "x, axis=-1", run_last_axis, FLOATS, { .axis = tsr_log_softmax } },
    { "causal_softmax", "x",          run_one,       FLOATS, { .one = tsr_causal_softmax } },
    { "elu",            "x, alpha=1",    run_real, FLOATS, { .real = tsr_elu } },
    { "leaky_relu",     "x, slope=0.01", run_real, FLOATS, { .real = tsr_leaky_relu } },
    { "hardtanh",       "x, low=-1, high=1", run_hardtanh, FLOATS, { .one = NULL } },
    { "swiglu",         "gate, up",   run_two,  FLOATS, { .two = tsr_swiglu } },
    { "layer_norm",     "x, weight=None, bias=None, eps=1e-5", run_norm, FLOATS, { .one = NULL } },
    { "rms_norm",       "x, weight=None, eps=1e-5",            run_norm, FLOATS, { .one = NULL } },

    { "matmul",    "a, b",          run_two,       COUNTS, { .two = tsr_matmul } },
    { "dot",       "a, b",          run_two,       COUNTS, { .two = tsr_dot } },
    { "outer",     "a, b",          run_two,       COUNTS, { .two = tsr_outer } },
    { "kron",      "a, b",          run_two,       COUNTS, { .two = tsr_kron } },
    { "vecdot",    "a, b, axis=-1", run_vecdot,    COUNTS, { .one = NULL } },
    { "tensordot", "a, b, axes=2",  run_tensordot, COUNTS, { .one = NULL } },
    { "einsum",    "subscripts, *operands", run_einsum, 0, { .one = NULL } },

    { "inv",          "a",                run_one,      FLOATS, { .one = tsr_inv } },
    { "det",          "a",                run_one,      FLOATS, { .one = tsr_det } },
    { "solve",        "a, b",             run_two,      FLOATS, { .two = tsr_solve } },
    { "pinv",         "a, rtol=None",     run_real,     FLOATS, { .real = tsr_pinv } },
    { "matrix_rank",  "a, rtol=None",     run_real,     FLOATS, { .real = tsr_matrix_rank } },
    { "cholesky",     "a, upper=False",   run_cholesky, FLOATS, { .one = NULL } },
    { "svdvals",      "a",                run_one,      FLOATS, { .one = tsr_svdvals } },
    { "eigvalsh",     "a",                run_one,      FLOATS, { .one = tsr_eigvalsh } },
    { "eigvals",      "a",                run_one,      FLOATS, { .one = tsr_eigvals } },
    { "matrix_power", "a, n",             run_integer,  COUNTS, { .integer = tsr_matrix_power } },
    { "trace",        "a, offset=0",      run_integer,  COUNTS, { .integer = tsr_trace } },

    { "fft",   "x, n=None, axis=-1", run_fft, FLOATS, { .fft = tsr_fft } },
    { "ifft",  "x, n=None, axis=-1", run_fft, FLOATS, { .fft = tsr_ifft } },
    { "rfft",  "x, n=None, axis=-1", run_fft, FLOATS, { .fft = tsr_rfft } },
    { "irfft", "x, n=None, axis=-1", run_fft, FLOATS, { .fft = tsr_irfft } },

    { "reshape",      "x, *shape",    run_reshape,   0, { .one = NULL } },
    { "ravel",        "x",            run_ravel,     0, { .one = NULL } },
    { "transpose",    "x, *axes",     run_transpose, 0, { .one = NULL } },
    { "swapaxes",     "x, axis1, axis2",       run_swap, 0, { .one = NULL } },
    { "moveaxis",     "x, source, destination", run_swap, 0, { .one = NULL } },
    { "squeeze",      "x, axis=None", run_squeeze,   0, { .one = NULL } },
    { "expand_dims",  "x, axis",      run_unsqueeze, 0, { .one = NULL } },
    { "broadcast_to", "x, shape",     run_broadcast, 0, { .one = NULL } },
    { "flip",         "x, axis=None", run_flip,      0, { .one = NULL } },
    { "roll",         "x, shift, axis=0", run_roll,  0, { .one = NULL } },
    { "tile",         "x, reps",      run_tile,      0, { .one = NULL } },
    { "repeat",       "x, repeats, axis=None", run_repeat, 0, { .one = NULL } },
    { "tril",         "x, k=0",       run_integer,   0, { .integer = tsr_tril } },
    { "triu",         "x, k=0",       run_integer,   0, { .integer = tsr_triu } },
    { "diag",         "x, k=0",       run_integer,   0, { .integer = tsr_diag } },
    { "diagonal",     "x, offset=0, axis1=0, axis2=1", run_diagonal, 0, { .one = NULL } },
    { "concatenate",  "tensors, axis=0", run_join,   0, { .join = tsr_concat } },
    { "stack",        "tensors, axis=0", run_join,   0, { .join = tsr_stack } },

    { "zeros",      "shape, dtype=float64", run_make, 0, { .shape = tsr_zeros } },
    { "ones",       "shape, dtype=float64", run_make, 0, { .shape = tsr_ones } },
    { "full",       "shape, fill_value, dtype=None", run_full, 0, { .one = NULL } },
    { "zeros_like", "x", run_like, 0, { .one = tsr_zeros_like } },
    { "ones_like",  "x", run_like, 0, { .one = tsr_ones_like } },
    { "eye",        "n, m=None, k=0, dtype=float64", run_eye, 0, { .one = NULL } },
    { "arange",     "start, stop=None, step=1, dtype=None", run_arange, 0, { .one = NULL } },
    { "linspace",   "start, stop, num=50, dtype=float64", run_linspace, 0, { .one = NULL } },
    { "uniform",    "shape, low=0, high=1, seed=0", run_random, 0, { .one = NULL } },
    { "normal",     "shape, loc=0, scale=1, seed=0", run_random, 0, { .one = NULL } },
    { "astype",     "x, dtype",      run_asarray, 0, { .one = NULL } },
    { "asarray",    "x, dtype=None", run_asarray, 0, { .one = NULL } },
    { "copy",       "x",             run_copy,    0, { .one = NULL } },

    { "clip",         "x, min=None, max=None", run_clip, 0, { .one = NULL } },
    { "round",        "x, decimals=0", run_round, 0, { .one = NULL } },
    { "sort",         "x, axis=-1, descending=False", run_sort, 0, { .place = tsr_sort } },
    { "argsort",      "x, axis=-1, descending=False", run_sort, 0, { .place = tsr_argsort } },
    { "unique",       "x",                    run_unique, 0, { .one = NULL } },
    { "take",         "x, indices, axis=None", run_take,  0, { .one = NULL } },
    { "isin",         "x, test",              run_two,    0, { .two = tsr_isin } },
    { "searchsorted", "sorted, x, side='left'", run_searchsorted, 0, { .one = NULL } },
    { "argwhere",     "x",                    run_one,    0, { .one = tsr_nonzero } },
    { "allclose",     "a, b, rtol=1e-5, atol=1e-8, equal_nan=False", run_close, 0, { .one = NULL } },
    { "array_equal",  "a, b",                 run_close,  0, { .one = NULL } },
};

const int function_count = (int)(sizeof functions / sizeof *functions);

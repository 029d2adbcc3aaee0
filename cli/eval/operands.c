/* operands.c - values of expressions, and NumPy's promotion. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../room.h"
#include "machine.h"

void operand_free(operand *o)
{
    tsr_release(&o->tensor);
    free(o->text);
    for (int i = 0; i < o->count; i++) operand_free(&o->items[i]);
    free(o->items);
    *o = (operand){ .kind = OPERAND_UNSET };
}

operand number_operand(tsr_scalar s) { return (operand){ .kind = OPERAND_NUMBER, .number = s }; }
operand tensor_operand(tsr_tensor *t) { return (operand){ .kind = OPERAND_TENSOR, .tensor = t }; }

bool fail_by_library(machine *m, const node *at)
{
    return fault_set(m->f, EXIT_NO, at->at, at->length, "%s", tsr_last_error());
}

bool fail(machine *m, const node *at, const char *format, ...)
{
    char text[500];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return fault_set(m->f, EXIT_USAGE, at->at, at->length, "%s", text);
}

/* Promotion ---------------------------------------------------------------------------- */

tsr_dtype floating_of(tsr_dtype dtype)
{
    return tsr_dtype_floating(dtype);
}

bool promote(tsr_dtype *out, tsr_dtype a, tsr_dtype b)
{
    const tsr_promotion before = tsr_get_promotion();
    TSR_IGNORE(tsr_set_promotion(TSR_PROMOTE_MIXED));
    const bool ok = tsr_dtype_promote(out, a, b) == TSR_OK;
    TSR_IGNORE(tsr_set_promotion(before));
    return ok;
}

bool cast_to(machine *m, tsr_tensor **out, tsr_tensor *t, tsr_dtype dtype, const node *at)
{
    tsr_tensor *cast = NULL;
    if (t->dtype == dtype) {
        cast = tsr_retain(t);
    } else if (tsr_cast(&cast, t, dtype) != TSR_OK) {
        return fail_by_library(m, at);
    }
    tsr_release(out);
    *out = cast;
    return true;
}

/* Operands as tensors -------------------------------------------------------------------- */

static const char *kind_name(const operand *o)
{
    static const char *const names[] = { "nothing", "None",   "a number", "a tensor",
                                         "a text",  "a list", "'...'" };
    return names[o->kind];
}

static bool stack_items(machine *m, tsr_tensor **out, const operand *o, const node *at)
{
    tsr_tensor **items = room_for((size_t)o->count, sizeof *items);
    tsr_dtype dtype = TSR_DTYPE_INVALID;
    bool ok = o->count > 0 || fail(m, at, "an empty list has no dtype: use zeros(0)");
    for (int i = 0; i < o->count && ok; i++) {
        ok = as_tensor(m, &items[i], &o->items[i], at);
        if (!ok) break;
        if (dtype == TSR_DTYPE_INVALID) dtype = items[i]->dtype;
        else if (!promote(&dtype, dtype, items[i]->dtype))
            ok = fail(m, at, "the members of the list have no common dtype");
    }
    for (int i = 0; i < o->count && ok; i++) ok = cast_to(m, &items[i], items[i], dtype, at);
    if (ok && tsr_stack(out, o->count, (const tsr_tensor *const *)items, 0) != TSR_OK)
        ok = fail_by_library(m, at);
    for (int i = 0; i < o->count; i++) tsr_release(&items[i]);
    free(items);
    return ok;
}

bool as_tensor(machine *m, tsr_tensor **out, const operand *o, const node *at)
{
    if (o->kind == OPERAND_TENSOR) {
        tsr_release(out);
        *out = tsr_retain(o->tensor);
        return true;
    }
    if (o->kind == OPERAND_NUMBER) {
        tsr_release(out);
        return tsr_full(out, o->number.dtype, TSR_SCALAR_SHAPE, o->number) == TSR_OK ||
               fail_by_library(m, at);
    }
    if (o->kind == OPERAND_LIST) return stack_items(m, out, o, at);
    return fail(m, at, "a tensor is expected here, not %s", kind_name(o));
}

/* Operands as plain values ------------------------------------------------------------- */

/* A number, or the only element of a tensor of rank 0. */
static bool read_scalar(machine *m, tsr_scalar *out, const operand *o, const char *what, const node *at)
{
    if (o->kind == OPERAND_NUMBER) {
        *out = o->number;
        return true;
    }
    if (o->kind == OPERAND_TENSOR && o->tensor->ndim == 0 && tsr_item(out, o->tensor) == TSR_OK) return true;
    return fail(m, at, "%s is expected here, not %s", what, kind_name(o));
}

bool read_int(machine *m, int64_t *out, const operand *o, const node *at)
{
    tsr_scalar s;
    if (!read_scalar(m, &s, o, "an integer", at)) return false;
    if (s.dtype == TSR_F64 && floor(s.as.c.re) == s.as.c.re && fabs(s.as.c.re) < 9e15)
        return fail(m, at, "an integer is expected here: write %.0f without the point", s.as.c.re);
    if (s.dtype == TSR_F64 || s.dtype == TSR_C128)
        return fail(m, at, "an integer is expected here, not a fraction");
    if (s.dtype == TSR_U64 && s.as.u > INT64_MAX) return fail(m, at, "this integer is too large");
    *out = tsr_scalar_to_i64(s);
    return true;
}

bool read_real(machine *m, double *out, const operand *o, const node *at)
{
    tsr_scalar s;
    if (!read_scalar(m, &s, o, "a number", at)) return false;
    if (s.dtype == TSR_C128) return fail(m, at, "a real number is expected here");
    *out = tsr_scalar_to_f64(s);
    return true;
}

bool read_truth(machine *m, bool *out, const operand *o, const node *at)
{
    tsr_scalar s;
    if (!read_scalar(m, &s, o, "True or False", at)) return false;
    *out = tsr_scalar_to_bool(s);
    return true;
}

bool read_dtype(machine *m, tsr_dtype *out, const operand *o, const node *at)
{
    static const struct { const char *name; tsr_dtype dtype; } pythons[] = {
        { "float", TSR_F64 }, { "int", TSR_I64 }, { "complex", TSR_C128 }, { "bool", TSR_BOOL } };
    if (o->kind != OPERAND_TEXT)
        return fail(m, at, "a dtype is expected here, as f32 or 'float32', not %s", kind_name(o));
    for (size_t i = 0; i < sizeof pythons / sizeof *pythons; i++)
        if (!strcmp(o->text, pythons[i].name)) {
            *out = pythons[i].dtype;
            return true;
        }
    if (tsr_dtype_parse(out, o->text) == TSR_OK || tsr_dtype_from_typestr(out, o->text) == TSR_OK)
        return true;
    char little[16];
    snprintf(little, sizeof little, "<%.10s", o->text); /* f4 is <f4 */
    return tsr_dtype_from_typestr(out, little) == TSR_OK || fail(m, at, "no dtype is called '%s'", o->text);
}

bool read_ints(machine *m, int *n, int64_t out[TSR_MAX_NDIM], const operand *o, const node *at)
{
    *n = 1;
    if (o->kind != OPERAND_LIST) return read_int(m, out, o, at);
    if (o->count > TSR_MAX_NDIM) return fail(m, at, "a tensor has %d dims at most", TSR_MAX_NDIM);
    for (int i = 0; i < o->count; i++)
        if (!read_int(m, &out[i], &o->items[i], at)) return false;
    *n = o->count;
    return true;
}

bool read_axes(machine *m, int *n, int out[TSR_MAX_NDIM], const operand *o, const node *at)
{
    int64_t axes[TSR_MAX_NDIM];
    *n = 0;
    if (o->kind == OPERAND_UNSET || o->kind == OPERAND_NONE) return true;
    if (!read_ints(m, n, axes, o, at)) return false;
    for (int i = 0; i < *n; i++) {
        if (axes[i] < -TSR_MAX_NDIM || axes[i] >= TSR_MAX_NDIM)
            return fail(m, at, "there is no axis %lld", (long long)axes[i]);
        out[i] = (int)axes[i];
    }
    return true;
}

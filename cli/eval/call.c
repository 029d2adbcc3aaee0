/* call.c - finding functions by name, binding arguments, reading them. */
#include "call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../names.h"
#include "../room.h"

/* Arguments ---------------------------------------------------------------------------- */

bool slot_given(const call *c, int i)
{
    return c->a[i].kind != OPERAND_UNSET && c->a[i].kind != OPERAND_NONE;
}

const node *slot_place(const call *c, int i) { return c->place[i] ? c->place[i] : c->at; }

bool call_done(call *c, tsr_status s) { return s == TSR_OK || fail_by_library(c->m, c->at); }

/* Names -------------------------------------------------------------------------------- */

/* NumPy's and our names of one thing. */
static const char *const aliases[][2] = {
    { "absolute", "abs" },
    { "negative", "neg" },
    { "subtract", "sub" },
    { "multiply", "mul" },
    { "divide", "div" },
    { "true_divide", "div" },
    { "floor_divide", "floor_div" },
    { "mod", "remainder" },
    { "power", "pow" },
    { "arcsin", "asin" },
    { "arccos", "acos" },
    { "arctan", "atan" },
    { "arcsinh", "asinh" },
    { "arccosh", "acosh" },
    { "arctanh", "atanh" },
    { "arctan2", "atan2" },
    { "equal", "eq" },
    { "not_equal", "ne" },
    { "less", "lt" },
    { "less_equal", "le" },
    { "greater", "gt" },
    { "greater_equal", "ge" },
    { "invert", "bitwise_not" },
    { "bitwise_invert", "bitwise_not" },
    { "left_shift", "shift_left" },
    { "right_shift", "shift_right" },
    { "bitwise_left_shift", "shift_left" },
    { "bitwise_right_shift", "shift_right" },
    { "conjugate", "conj" },
    { "rint", "round" },
    { "fabs", "abs" },
    { "amax", "max" },
    { "amin", "min" },
    { "concat", "concatenate" },
    { "permute_dims", "transpose" },
    { "flatten", "ravel" },
    { "array", "asarray" },
    { "swish", "silu" },
    { "expit", "sigmoid" },
    { "cumulative_sum", "cumsum" },
    { "cumulative_prod", "cumprod" },
    { "around", "round" },
};

enum { ALIASES = (int)(sizeof aliases / sizeof *aliases) };

const char *op_of_name(const char *name)
{
    for (int i = 0; i < ALIASES; i++)
        if (!strcmp(aliases[i][0], name)) return aliases[i][1];
    return name;
}

const function *find_function(const char *name)
{
    const char *ours = op_of_name(name);
    for (int i = 0; i < function_count; i++)
        if (!strcmp(functions[i].name, ours)) return &functions[i];
    return NULL;
}

const char *function_arguments(const char *name)
{
    const function *fn = find_function(name);
    return fn ? fn->arguments : NULL;
}

void list_functions(void (*see)(void *context, const char *name), void *context)
{
    int operands = 0;
    for (int i = 0; i < function_count; i++) see(context, functions[i].name);
    for (int kind = 1; tsr_op_get_info((tsr_op_kind)kind); kind++) {
        const char *name = tsr_op_get_info((tsr_op_kind)kind)->name;
        if (is_elementwise(name, &operands) && !find_function(name)) see(context, name);
    }
    for (int i = 0; i < ALIASES; i++) see(context, aliases[i][0]);
}

/* Binding ------------------------------------------------------------------------------ */

typedef struct parameter {
    char name[24], usual[16];  /* usual: what it is if it is not given */
    bool optional, starred;
} parameter;

static int read_parameters(parameter out[SLOTS], const char *text)
{
    int n = 0;
    while (*text && n < SLOTS) {
        const size_t whole = strcspn(text, ","), length = strcspn(text, "=,");
        out[n] = (parameter){ .optional = length < whole, .starred = *text == '*' };
        snprintf(out[n].name, sizeof out[n].name, "%.*s", (int)length - out[n].starred,
                 text + out[n].starred);
        if (out[n].optional)
            snprintf(out[n].usual, sizeof out[n].usual, "%.*s", (int)(whole - length - 1), text + length + 1);
        n++;
        text += whole;
        text += strspn(text, ", ");
    }
    return n;
}

static int find_parameter(const parameter *p, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(p[i].name, name)) return i;
    return -1;
}

static operand share(const operand *o)
{
    operand copy = *o;
    if (o->tensor) copy.tensor = tsr_retain(o->tensor);
    if (o->text) copy.text = copy_of_text(o->text);
    if (o->kind == OPERAND_LIST) copy.items = room_for((size_t)o->count, sizeof *copy.items);
    for (int i = 0; i < o->count; i++) copy.items[i] = share(&o->items[i]);
    return copy;
}

static void append(operand *list, const operand *o)
{
    list->kind = OPERAND_LIST;
    list->items = room_for_more(list->items, (size_t)list->count, sizeof *list->items);
    list->items[list->count++] = share(o);
}

static bool bind_keyword(call *c, const parameter *p, int n, const operand *o, const char *keyword,
                         const node *at)
{
    char near[200];
    nearest best = { .word = keyword };
    const int slot = find_parameter(p, n, keyword);
    if (slot >= 0 && c->a[slot].kind != OPERAND_UNSET)
        return fail(c->m, at, "%s has its '%s' already", c->fn->name, keyword);
    if (slot >= 0) {
        c->a[slot] = share(o);
        c->place[slot] = at;
        return true;
    }
    for (int i = 0; i < n; i++) nearest_add(&best, p[i].name);
    nearest_text(near, sizeof near, &best);
    return fault_set(c->m->f, EXIT_USAGE, at->keyword_at, strlen(keyword), "%s takes no '%s'%s %s(%s)",
                     c->fn->name, keyword, near[0] ? near : ":", c->fn->name, c->fn->arguments);
}

static bool bind(call *c, int nargs, const operand *args, char *const *keywords, const node *const *places)
{
    parameter p[SLOTS];
    const int n = read_parameters(p, c->fn->arguments);
    int next = 0;
    for (int i = 0; i < nargs; i++) {
        if (keywords[i]) {
            if (!bind_keyword(c, p, n, &args[i], keywords[i], places[i])) return false;
        } else if (next < n && p[next].starred) {
            append(&c->a[next], &args[i]);
            if (!c->place[next]) c->place[next] = places[i];
        } else if (next < n) {
            c->a[next] = share(&args[i]);
            c->place[next++] = places[i];
        } else {
            return fail(c->m, places[i], "%s takes %d argument%s: %s(%s)", c->fn->name, n, n == 1 ? "" : "s",
                        c->fn->name, c->fn->arguments);
        }
    }
    for (int i = 0; i < n; i++)
        if (c->a[i].kind == OPERAND_UNSET && !p[i].optional && !p[i].starred)
            return fail(c->m, c->at, "%s needs its '%s': %s(%s)", c->fn->name, p[i].name, c->fn->name,
                        c->fn->arguments);
    return true;
}

/* Reading ------------------------------------------------------------------------------ */

static bool read_tensor(call *c, int i)
{
    tsr_tensor **t = &c->v[i].t;
    if (!as_tensor(c->m, t, &c->a[i], slot_place(c, i))) return false;
    const tsr_kind kind = tsr_dtype_kind((*t)->dtype);
    tsr_dtype dtype = (*t)->dtype;
    if (dtype == TSR_C32) dtype = TSR_C64;
    if ((c->fn->flags & COUNTS) && kind == TSR_BOOLEAN) dtype = TSR_I64;
    if (c->fn->flags & FLOATS) dtype = floating_of(kind == TSR_BOOLEAN ? TSR_I64 : dtype);
    if ((c->fn->flags & FLOATS) && (kind == TSR_SIGNED || kind == TSR_UNSIGNED)) dtype = TSR_F64;
    return cast_to(c->m, t, *t, dtype, slot_place(c, i));
}

static bool read_tensor_as(call *c, int i, tsr_dtype dtype)
{
    return read_tensor(c, i) && cast_to(c->m, &c->v[i].t, c->v[i].t, dtype, slot_place(c, i));
}

static bool read_axis(call *c, int i)
{
    value *v = &c->v[i];
    if (!read_axes(c->m, &v->n, v->axes, &c->a[i], slot_place(c, i))) return false;
    if (v->n != 1) return fail(c->m, slot_place(c, i), "one axis is expected here");
    v->axis = v->axes[0];
    return true;
}

/* The dtype that two come to. */
static bool promote_with(call *c, tsr_dtype *dtype, const tsr_tensor *t)
{
    const tsr_dtype before = *dtype;
    return promote(dtype, before, t->dtype) || fail(c->m, c->at, "%s and %s have no common dtype",
                                                    tsr_dtype_name(before), tsr_dtype_name(t->dtype));
}

static bool read_list(call *c, int i)
{
    const operand *o = &c->a[i];
    value *v = &c->v[i];
    if (o->kind != OPERAND_LIST || o->count == 0)
        return fail(c->m, slot_place(c, i), "a list of tensors is expected here");
    v->list = room_for((size_t)o->count, sizeof *v->list);
    v->n = o->count;
    tsr_dtype dtype = TSR_DTYPE_INVALID;
    for (int k = 0; k < v->n; k++) {
        if (!as_tensor(c->m, &v->list[k], &o->items[k], slot_place(c, i))) return false;
        if (k == 0) dtype = v->list[0]->dtype;
        else if (!promote_with(c, &dtype, v->list[k])) return false;
    }
    for (int k = 0; k < v->n; k++)
        if (!cast_to(c->m, &v->list[k], v->list[k], dtype, c->at)) return false;
    return true;
}

/* f(x, 2, 3) and f(x, (2, 3)) are the same. */
static const operand *list_of(const call *c, int i, bool starred)
{
    const operand *o = &c->a[i];
    return starred && o->count == 1 && o->items[0].kind == OPERAND_LIST ? &o->items[0] : o;
}

static bool read_given(call *c, int i, char kind, bool starred)
{
    const operand *o = &c->a[i];
    const node *at = slot_place(c, i);
    value *v = &c->v[i];
    switch (kind) {
    case 't':
    case 'o':
    case 'p': return read_tensor(c, i);
    case 'k': return read_tensor_as(c, i, TSR_I64);
    case 'q': return read_tensor_as(c, i, TSR_F64);
    case 's': return read_list(c, i);
    case 'i': return read_int(c->m, &v->i, o, at);
    case 'r': return read_real(c->m, &v->r, o, at);
    case 'b': return read_truth(c->m, &v->b, o, at);
    case 'd': return read_dtype(c->m, &v->dtype, o, at);
    case 'n': return read_ints(c->m, &v->n, v->ints, list_of(c, i, starred), at);
    case 'x': return read_axes(c->m, &v->n, v->axes, list_of(c, i, starred), at);
    case 'a':
    case 'f': return read_axis(c, i);
    default:  return true;
    }
}

/* What stands behind the "=". */
static bool read_default(call *c, int i, char kind, char *text)
{
    const operand word = { .kind = OPERAND_TEXT, .text = text };
    const bool none = !strcmp(text, "None");
    value *v = &c->v[i];
    v->r = none ? -1 : strtod(text, NULL);
    v->i = none ? 0 : (int64_t)v->r;
    v->axis = none ? TSR_ALL_AXES : (int)v->r;
    if (kind == 'd' && !none) return read_dtype(c->m, &v->dtype, &word, c->at);
    if (kind != 'f') return true;
    v->axis = 0;
    return call_done(c, tsr_reshape(&c->v[0].t, c->v[0].t, 1, (const int64_t[]){ -1 }));
}

static bool read_values(call *c)
{
    parameter p[SLOTS];
    const int n = read_parameters(p, c->fn->arguments);
    tsr_dtype dtype;
    value *v = c->v;
    for (int i = 0; i < n; i++) {
        const char kind = c->fn->kinds[i];
        const bool must = strchr("tpkqsn", kind);
        const bool ok = must || slot_given(c, i) ? read_given(c, i, kind, p[i].starred)
                                                 : read_default(c, i, kind, p[i].usual);
        if (!ok) return false;
    }
    if (c->fn->kinds[0] != 'p') return true;
    dtype = v[0].t->dtype;
    return promote_with(c, &dtype, v[1].t) && cast_to(c->m, &v[0].t, v[0].t, dtype, c->at) &&
           cast_to(c->m, &v[1].t, v[1].t, dtype, c->at);
}

static void free_slot(operand *a, value *v)
{
    operand_free(a);
    tsr_release(&v->t);
    for (int k = 0; v->list && k < v->n; k++) tsr_release(&v->list[k]);
    free(v->list);
}

bool call_function(machine *m, operand *out, const function *fn, int nargs, const operand *args,
                   char *const *keywords, const node *const *places, const node *at)
{
    call c = { .m = m, .fn = fn, .at = at };
    const bool ok = bind(&c, nargs, args, keywords, places) && read_values(&c) && fn->run(&c);
    if (ok) *out = tensor_operand(c.z);
    else    tsr_release(&c.z);
    for (int i = 0; i < SLOTS; i++) free_slot(&c.a[i], &c.v[i]);
    return ok;
}

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

bool slot_tensor(call *c, tsr_tensor **out, int i)
{
    if (!as_tensor(c->m, out, &c->a[i], slot_place(c, i))) return false;
    const tsr_kind kind = tsr_dtype_kind((*out)->dtype);
    tsr_dtype dtype = (*out)->dtype;
    if (dtype == TSR_C32) dtype = TSR_C64;
    if ((c->fn->flags & COUNTS) && kind == TSR_BOOLEAN) dtype = TSR_I64;
    if (c->fn->flags & FLOATS) dtype = floating_of(kind == TSR_BOOLEAN ? TSR_I64 : dtype);
    if ((c->fn->flags & FLOATS) && (kind == TSR_SIGNED || kind == TSR_UNSIGNED)) dtype = TSR_F64;
    return cast_to(c->m, out, *out, dtype, slot_place(c, i));
}

bool slot_int(call *c, int64_t *out, int i)
{
    return !slot_given(c, i) || read_int(c->m, out, &c->a[i], slot_place(c, i));
}

bool slot_real(call *c, double *out, int i)
{
    return !slot_given(c, i) || read_real(c->m, out, &c->a[i], slot_place(c, i));
}

bool slot_truth(call *c, bool *out, int i)
{
    return !slot_given(c, i) || read_truth(c->m, out, &c->a[i], slot_place(c, i));
}

bool slot_dtype(call *c, tsr_dtype *out, int i)
{
    return !slot_given(c, i) || read_dtype(c->m, out, &c->a[i], slot_place(c, i));
}

bool slot_axis(call *c, int *out, int i)
{
    int n = 0, axes[TSR_MAX_NDIM];
    if (!slot_given(c, i)) return true;
    if (!read_axes(c->m, &n, axes, &c->a[i], slot_place(c, i))) return false;
    if (n != 1) return fail(c->m, slot_place(c, i), "one axis is expected here");
    *out = axes[0];
    return true;
}

const operand *slot_list(const call *c, int i)
{
    const operand *o = &c->a[i];
    return o->kind == OPERAND_LIST && o->count == 1 && o->items[0].kind == OPERAND_LIST ? &o->items[0] : o;
}

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
    char name[24];
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

bool call_function(machine *m, operand *out, const function *fn, int nargs, const operand *args,
                   char *const *keywords, const node *const *places, const node *at)
{
    call c = { .m = m, .fn = fn, .at = at };
    const bool ok = bind(&c, nargs, args, keywords, places) && fn->run(&c);
    if (ok) *out = tensor_operand(c.z);
    else    tsr_release(&c.z);
    for (int i = 0; i < SLOTS; i++) operand_free(&c.a[i]);
    return ok;
}

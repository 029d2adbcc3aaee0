/* evaluate.c - walking the tree. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../names.h"
#include "../room.h"
#include "../subscript.h"
#include "machine.h"

enum { DEEPEST = 1000 };

/* Names -------------------------------------------------------------------------------- */

static const struct { const char *name; double value; } constants[] = {
    { "pi", 3.14159265358979323846 }, { "e", 2.71828182845904523536 }, { "inf", INFINITY }, { "nan", NAN },
};

static bool is_module(const char *name)
{
    static const char *const modules[] = { "np", "numpy", "xp", "linalg", "fft", "special" };
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (!strcmp(name, modules[i])) return true;
    return false;
}

static bool is_variable(const machine *m, const char *name)
{
    for (int i = 0; m->names[i]; i++)
        if (!strcmp(m->names[i], name)) return true;
    return false;
}

/* np, np.linalg: names that only say where a function is from. */
static bool is_module_node(const machine *m, const node *n)
{
    if (n->kind == NODE_NAME) return is_module(n->name) && !is_variable(m, n->name);
    return n->kind == NODE_DOT && is_module(n->name) && is_module_node(m, n->child[0]);
}

/* True, False, None, pi, float32: names that are there without being defined. */
static bool is_constant(operand *out, const char *name)
{
    tsr_dtype dtype;
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (!strcmp(name, constants[i].name)) {
            *out = number_operand(tsr_scalar_f64(constants[i].value));
            return true;
        }
    if (!strcmp(name, "True") || !strcmp(name, "False")) {
        *out = number_operand(tsr_scalar_bool(name[0] == 'T'));
        return true;
    }
    if (!strcmp(name, "None") || !strcmp(name, "newaxis")) {
        out->kind = OPERAND_NONE;
        return true;
    }
    if (strcmp(name, "complex") && tsr_dtype_parse(&dtype, name) != TSR_OK) return false;
    *out = (operand){ .kind = OPERAND_TEXT, .text = copy_of_text(name) };
    return true;
}

static void see_name(void *context, const char *name) { nearest_add(context, name); }

static bool is_callable(const char *name)
{
    int operands = 0;
    return find_function(name) || is_elementwise(op_of_name(name), &operands);
}

static bool fail_by_name(machine *m, const node *at, const char *name, bool calls)
{
    char near[200];
    nearest best = { .word = name };
    if (!calls && is_callable(name)) return fail(m, at, "'%s' is a function: call it", name);
    for (int i = 0; m->names[i] && !calls; i++) nearest_add(&best, m->names[i]);
    list_functions(see_name, &best);
    nearest_text(near, sizeof near, &best);
    if (!calls && strlen(name) < 3) near[0] = '\0'; /* every short name is near to another */
    if (calls) return fail(m, at, "there is no function '%s'%s", name, near);
    if (!near[0]) return fail(m, at, "'%s' is not defined: name a file for it, as in %s=FILE", name, name);
    return fail(m, at, "'%s' is not defined%s", name, near);
}

static bool evaluate_name(machine *m, operand *out, const node *n)
{
    tsr_tensor *t = NULL;
    if (m->lookup(m->context, &t, n->name, m->f, n)) {
        *out = tensor_operand(t);
        return true;
    }
    if (m->f->found) return false;
    return is_constant(out, n->name) || fail_by_name(m, n, n->name, false);
}

/* Attributes ----------------------------------------------------------------------------- */

static bool shape_of(operand *out, const tsr_tensor *t)
{
    *out = (operand){ .kind = OPERAND_LIST,
                      .count = t->ndim,
                      .items = room_for((size_t)t->ndim, sizeof *out->items) };
    for (int i = 0; i < t->ndim; i++) out->items[i] = number_operand(tsr_scalar_i64(t->shape[i]));
    return true;
}

static bool transpose_axes(machine *m, operand *out, const tsr_tensor *t, bool last_two, const node *at)
{
    tsr_tensor *v = NULL;
    int axes[TSR_MAX_NDIM];
    for (int i = 0; i < t->ndim; i++) axes[i] = last_two ? i : t->ndim - 1 - i;
    if (last_two && t->ndim < 2) return fail(m, at, "mT takes matrices");
    if (last_two) axes[t->ndim - 2] = t->ndim - 1, axes[t->ndim - 1] = t->ndim - 2;
    if (tsr_permute(&v, t, t->ndim, axes) != TSR_OK) return fail_by_library(m, at);
    *out = tensor_operand(v);
    return true;
}

static bool attribute(machine *m, operand *out, const operand *of, const node *n)
{
    tsr_tensor *t = NULL;
    bool ok = as_tensor(m, &t, of, n);
    if (ok) {
        if (!strcmp(n->name, "T"))          ok = transpose_axes(m, out, t, false, n);
        else if (!strcmp(n->name, "mT"))    ok = transpose_axes(m, out, t, true, n);
        else if (!strcmp(n->name, "shape")) ok = shape_of(out, t);
        else if (!strcmp(n->name, "ndim"))  *out = number_operand(tsr_scalar_i64(t->ndim));
        else if (!strcmp(n->name, "size"))  *out = number_operand(tsr_scalar_i64(tsr_numel(t)));
        else if (!strcmp(n->name, "nbytes")) *out = number_operand(tsr_scalar_i64(tsr_byte_size(t)));
        else if (!strcmp(n->name, "dtype"))
            *out = (operand){ .kind = OPERAND_TEXT, .text = copy_of_text(tsr_dtype_name(t->dtype)) };
        else if (!strcmp(n->name, "real") || !strcmp(n->name, "imag"))
            ok = call_elementwise(m, out, n->name, 1, of, n);
        else if (is_callable(n->name))
            ok = fail(m, n, "'%s' is a function: call it", n->name);
        else
            ok = fail(m, n, "there is no attribute '%s'; T, mT, shape, ndim, size, dtype, real and imag are",
                      n->name);
    }
    tsr_release(&t);
    return ok;
}

static bool evaluate_dot(machine *m, operand *out, const node *n)
{
    operand of = { .kind = OPERAND_UNSET };
    if (is_module_node(m, n->child[0]))
        return is_constant(out, n->name) || fail_by_name(m, n, n->name, false);
    const bool ok = evaluate(m, &of, n->child[0]) && attribute(m, out, &of, n);
    operand_free(&of);
    return ok;
}

/* Subscripts ----------------------------------------------------------------------------- */

/* The one index that is an array, and the axis of the result it stands for. */
typedef struct array_index {
    const operand *index;
    const node    *at;
    int            axis;
} array_index;

static bool read_bound(machine *m, int64_t *out, const operand *o, const node *at)
{
    if (o->kind == OPERAND_NONE || o->kind == OPERAND_UNSET) return true;
    return read_int(m, out, o, at);
}

static bool read_range(machine *m, subscript_part *part, const node *n)
{
    int64_t bounds[3] = { TSR_NONE, TSR_NONE, 1 };
    for (int i = 0; i < 3; i++) {
        operand o = { .kind = OPERAND_UNSET };
        const bool ok =
            !n->child[i] || (evaluate(m, &o, n->child[i]) && read_bound(m, &bounds[i], &o, n->child[i]));
        operand_free(&o);
        if (!ok) return false;
    }
    *part = (subscript_part){ PART_RANGE, bounds[0], bounds[1], bounds[2] };
    return bounds[2] != 0 || fail(m, n, "the step of a range is 0");
}

static bool is_array(const operand *o)
{
    return o->kind == OPERAND_LIST ||
           (o->kind == OPERAND_TENSOR && (o->tensor->ndim > 0 || o->tensor->dtype == TSR_BOOL));
}

static bool read_part(machine *m, subscript_part *part, operand *o, const node *n)
{
    if (n->kind == NODE_RANGE) return read_range(m, part, n);
    if (!evaluate(m, o, n)) return false;
    *part =
        (subscript_part){ PART_RANGE, TSR_NONE, TSR_NONE, 1 }; /* an array takes the axis as it is, first */
    if (is_array(o)) return true;
    part->kind = o->kind == OPERAND_NONE ? PART_NEW : o->kind == OPERAND_REST ? PART_REST : PART_INDEX;
    return part->kind != PART_INDEX || read_int(m, &part->start, o, n);
}

/* Indices below 0 count from the end. */
static bool wrap_indices(machine *m, tsr_tensor **index, int64_t size, const node *at)
{
    tsr_tensor *below = NULL, *moved = NULL;
    bool ok = cast_to(m, index, *index, TSR_I64, at);
    ok = ok && (tsr_lt(&below, *index, TSR_NUMBER(0)) == TSR_OK &&
                tsr_add(&moved, *index, TSR_NUMBER(size)) == TSR_OK &&
                tsr_where(&moved, below, moved, *index) == TSR_OK);
    if (ok) {
        tsr_release(index);
        *index = tsr_retain(moved);
    }
    tsr_release(&below);
    tsr_release(&moved);
    return ok || m->f->found || fail_by_library(m, at);
}

/* A list of truths along one axis: where they are true. */
static bool truths_to_indices(machine *m, tsr_tensor **index, int64_t size, const node *at)
{
    tsr_tensor *where = NULL;
    if ((*index)->ndim != 1 || (*index)->shape[0] != size)
        return fail(m, at, "a mask has the shape of the tensor, or is as long as the axis");
    if (tsr_nonzero(&where, *index) != TSR_OK || tsr_select(&where, where, 1, 0) != TSR_OK) {
        tsr_release(&where);
        return fail_by_library(m, at);
    }
    tsr_release(index);
    *index = where;
    return true;
}

static bool take_along(machine *m, tsr_tensor **t, const array_index *a)
{
    tsr_tensor *index = NULL, *taken = NULL;
    const int64_t size = (*t)->shape[a->axis];
    bool ok = as_tensor(m, &index, a->index, a->at);
    if (ok && index->dtype == TSR_BOOL) ok = truths_to_indices(m, &index, size, a->at);
    const tsr_kind kind = ok ? tsr_dtype_kind(index->dtype) : TSR_KIND_INVALID;
    if (ok && kind != TSR_SIGNED && kind != TSR_UNSIGNED)
        ok = fail(m, a->at, "indices are integers, not %s", tsr_dtype_name(index->dtype));
    ok = ok && wrap_indices(m, &index, size, a->at);
    if (ok && tsr_take(&taken, *t, index, a->axis) != TSR_OK) ok = fail_by_library(m, a->at);
    if (ok) {
        tsr_release(t);
        *t = taken;
    }
    tsr_release(&index);
    return ok;
}

/* x[mask] with a mask of x's shape. */
static bool is_full_mask(const tsr_tensor *t, const operand *index)
{
    return index->kind == OPERAND_TENSOR && index->tensor->dtype == TSR_BOOL &&
           tsr_same_shape(t, index->tensor) && t->ndim != 1;
}

static int axis_of_part(const subscript *s, int which, int ndim)
{
    int axes = 0, axis = 0;
    for (int i = 0; i < s->count; i++) axes += s->part[i].kind == PART_INDEX || s->part[i].kind == PART_RANGE;
    for (int i = 0; i < which; i++) {
        if (s->part[i].kind == PART_REST) axis += ndim - axes;
        else axis += s->part[i].kind != PART_INDEX;
    }
    return axis;
}

static bool index_tensor(machine *m, operand *out, const tsr_tensor *t, const node *n)
{
    subscript s = { .count = 0 };
    operand parts[PARTS_MOST] = { { .kind = OPERAND_UNSET } };
    array_index array = { NULL, NULL, 0 };
    tsr_tensor *v = NULL;
    char why[200];
    cut c;
    bool ok = n->count - 1 <= PARTS_MOST || fail(m, n, "the subscript has too many parts");
    int which = -1;
    for (int i = 1; i < n->count && ok; i++) {
        ok = read_part(m, &s.part[s.count], &parts[s.count], n->child[i]);
        if (ok && is_array(&parts[s.count])) {
            if (which >= 0) ok = fail(m, n->child[i], "one index of a subscript can be an array");
            which = s.count;
            array = (array_index){ &parts[which], n->child[i], 0 };
        }
        s.count++;
    }
    if (ok && which >= 0 && s.count == 1 && is_full_mask(t, array.index)) {
        ok = tsr_masked_select(&v, t, array.index->tensor) == TSR_OK || fail_by_library(m, n);
    } else if (ok) {
        const char *wrong = subscript_cut(&c, &s, &t->desc, why);
        if (wrong)                                 ok = fail(m, n, "%s", wrong);
        else if (cut_view(&v, t, &c) != TSR_OK)    ok = fail_by_library(m, n);
        else if (which >= 0) {
            array.axis = axis_of_part(&s, which, t->ndim);
            ok = take_along(m, &v, &array);
        }
    }
    if (ok) *out = tensor_operand(v);
    else    tsr_release(&v);
    for (int i = 0; i < s.count; i++) operand_free(&parts[i]);
    return ok;
}

/* shape[0], and ranges of it. */
static bool index_list(machine *m, operand *out, operand *of, const node *n)
{
    operand o = { .kind = OPERAND_UNSET };
    int64_t i = 0;
    bool ok = n->count == 2 && n->child[1]->kind != NODE_RANGE;
    if (!ok) {
        tsr_tensor *t = NULL;
        ok = as_tensor(m, &t, of, n) && index_tensor(m, out, t, n);
        tsr_release(&t);
        return ok;
    }
    ok = evaluate(m, &o, n->child[1]) && read_int(m, &i, &o, n->child[1]);
    operand_free(&o);
    if (!ok) return false;
    if (i < 0) i += of->count;
    if (i < 0 || i >= of->count) return fail(m, n->child[1], "the list has %d members", of->count);
    *out = of->items[i];
    of->items[i] = (operand){ .kind = OPERAND_UNSET };
    return true;
}

static bool evaluate_index(machine *m, operand *out, const node *n)
{
    operand of = { .kind = OPERAND_UNSET };
    bool ok = evaluate(m, &of, n->child[0]);
    if (ok && of.kind == OPERAND_LIST)        ok = index_list(m, out, &of, n);
    else if (ok && of.kind == OPERAND_TENSOR) ok = index_tensor(m, out, of.tensor, n);
    else if (ok)                              ok = fail(m, n, "only tensors and lists have subscripts");
    operand_free(&of);
    return ok;
}

/* Calls ---------------------------------------------------------------------------------- */

static bool call_name(machine *m, operand *out, const char *name, int n, const operand *args,
                      char *const *keywords, const node *const *places, const node *at)
{
    int operands = 0;
    const function *fn = find_function(name);
    if (fn) return call_function(m, out, fn, n, args, keywords, places, at);
    if (!is_elementwise(op_of_name(name), &operands)) return fail_by_name(m, at, name, true);
    for (int i = 0; i < n; i++)
        if (keywords[i])
            return fault_set(m->f, EXIT_USAGE, places[i]->keyword_at, strlen(keywords[i]),
                             "%s takes no keyword '%s'", name, keywords[i]);
    return call_elementwise(m, out, op_of_name(name), n, args, at);
}

/* f(a, b), x.f(b), np.f(a, b) */
static bool evaluate_call(machine *m, operand *out, const node *n)
{
    const node *f = n->child[0];
    const bool method = f->kind == NODE_DOT && !is_module_node(m, f->child[0]);
    if (f->kind != NODE_NAME && f->kind != NODE_DOT) return fail(m, f, "only functions can be called");
    const int count = n->count - 1 + method;
    operand *args = room_for((size_t)count, sizeof *args);
    char **keywords = room_for((size_t)count, sizeof *keywords);
    const node **places = room_for((size_t)count, sizeof *places);
    bool ok = true;
    for (int i = 0; i < count && ok; i++) {
        const int child = i + 1 - method;
        places[i] = method && i == 0 ? f->child[0] : n->child[child];
        keywords[i] = method && i == 0 ? NULL : n->keyword[child];
        ok = evaluate(m, &args[i], places[i]);
    }
    ok = ok && call_name(m, out, f->name, count, args, keywords, places, f);
    for (int i = 0; i < count; i++) operand_free(&args[i]);
    free(places);
    free(keywords);
    free(args);
    return ok;
}

/* The rest ------------------------------------------------------------------------------- */

static bool evaluate_operator(machine *m, operand *out, const node *n)
{
    operand args[2] = { { .kind = OPERAND_UNSET }, { .kind = OPERAND_UNSET } };
    char *const keywords[2] = { NULL, NULL };
    const node *const places[2] = { n->child[0], n->child[n->count - 1] };
    bool ok = true;
    for (int i = 0; i < n->count && ok; i++) ok = evaluate(m, &args[i], n->child[i]);
    if (ok && !strcmp(n->name, "matmul"))
        ok = call_function(m, out, find_function("matmul"), 2, args, keywords, places, n);
    else if (ok && !strcmp(n->name, "positive")) {
        *out = args[0];
        args[0] = (operand){ .kind = OPERAND_UNSET };
    } else if (ok) {
        ok = call_elementwise(m, out, n->name, n->count, args, n);
    }
    for (int i = 0; i < 2; i++) operand_free(&args[i]);
    return ok;
}

static bool evaluate_list(machine *m, operand *out, const node *n)
{
    *out = (operand){ .kind = OPERAND_LIST,
                      .count = n->count,
                      .items = room_for((size_t)n->count, sizeof *out->items) };
    for (int i = 0; i < n->count; i++)
        if (!evaluate(m, &out->items[i], n->child[i])) {
            operand_free(out);
            return false;
        }
    return true;
}

bool evaluate(machine *m, operand *out, const node *n)
{
    bool ok = false;
    *out = (operand){ .kind = OPERAND_UNSET };
    if (++m->depth > DEEPEST) return fail(m, n, "the expression is nested too deeply");
    switch (n->kind) {
    case NODE_NUMBER: *out = number_operand(n->number); ok = true; break;
    case NODE_TEXT:
        *out = (operand){ .kind = OPERAND_TEXT, .text = copy_of_text(n->name) };
        ok = true;
        break;
    case NODE_REST:   out->kind = OPERAND_REST; ok = true; break;
    case NODE_NAME:   ok = evaluate_name(m, out, n); break;
    case NODE_LIST:   ok = evaluate_list(m, out, n); break;
    case NODE_UNARY:
    case NODE_BINARY: ok = evaluate_operator(m, out, n); break;
    case NODE_CALL:   ok = evaluate_call(m, out, n); break;
    case NODE_DOT:    ok = evaluate_dot(m, out, n); break;
    case NODE_INDEX:  ok = evaluate_index(m, out, n); break;
    case NODE_RANGE:  ok = fail(m, n, "a range stands in a subscript"); break;
    }
    m->depth--;
    if (m->step) m->step();
    return ok;
}

/* call.c - tessera.ops: every op, called by its row.
 *
 * Arguments are matched with the row's names, parsed by their kinds, and handed to the function that
 * generate.py made. Results are arrays; out= gives those that are there already. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

/* One call. Tensors and lists that C is told of by pointer live here. */
typedef struct call {
    const row  *row;
    PyObject   *objects[MOST_ARGUMENTS];  /* borrowed; NULL: not given */
    PyObject   *out;                      /* borrowed */
    PyObject   *tuples[MOST_ARGUMENTS];   /* owned: items of lists */
    value       values[MOST_ARGUMENTS];
    tsr_number  numbers[4];
    int         number_count;
    int64_t     ints[4][MOST_ITEMS];
    int         axes[4][MOST_ITEMS];
    int         list_count;
    tsr_tensor **tensors[4];              /* lists of them */
    int         tensor_lists;
    int         list_length;              /* of the tensors */
    tsr_tensor *results[MOST_RESULTS], **list;
    int64_t     work;
} call;

static int wrong(const call *c, int i, const char *what)
{
    PyErr_Format(PyExc_TypeError, "%s(): %s is %R, and not %s", c->row->name, c->row->arguments[i].name,
                 c->objects[i], what);
    return -1;
}

/* Numbers ---------------------------------------------------------------------------------------- */

static int parse_int64(int64_t *out, const call *c, int i, PyObject *o)
{
    if (PyFloat_Check(o) || !PyIndex_Check(o)) return wrong(c, i, "an integer");
    PyObject *index = PyNumber_Index(o);
    if (!index) return -1;
    *out = PyLong_AsLongLong(index);
    Py_DECREF(index);
    return *out == -1 && PyErr_Occurred() ? -1 : 0;
}

static int parse_int(call *c, int i)
{
    int64_t v;
    if (parse_int64(&v, c, i, c->objects[i])) return -1;
    c->values[i].i = v;
    if (v == (int)v) return 0;
    PyErr_Format(PyExc_OverflowError, "%s(): %s is too large", c->row->name, c->row->arguments[i].name);
    return -1;
}

static int parse_axis(call *c, int i)
{
    if (c->objects[i] != Py_None) return parse_int(c, i);
    c->values[i].i = TSR_ALL_AXES;
    return 0;
}

static int parse_seed(call *c, int i)
{
    PyObject *index = PyNumber_Index(c->objects[i]);
    if (!index) return -1;
    c->values[i].u = PyLong_AsUnsignedLongLongMask(index);
    Py_DECREF(index);
    return PyErr_Occurred() ? -1 : 0;
}

static int parse_double(call *c, int i)
{
    c->values[i].d = PyFloat_AsDouble(c->objects[i]);
    return c->values[i].d == -1 && PyErr_Occurred() ? -1 : 0;
}

static int parse_bool(call *c, int i)
{
    const int truth = PyObject_IsTrue(c->objects[i]);
    c->values[i].b = truth > 0;
    return truth < 0 ? -1 : 0;
}

static int parse_scalar(call *c, int i)
{
    PyObject *o = c->objects[i];
    tsr_scalar s;
    if (is_array(o)) {
        const tsr_status status = tsr_item(&s, tensor_of(o));
        if (status != TSR_OK) return fail_int(status);
    } else {
        const int result = number_from(&s, o);
        if (result) return result < 0 ? -1 : wrong(c, i, "a number");
    }
    c->values[i].s = s;
    return 0;
}

static int parse_text(call *c, int i)
{
    if (!PyUnicode_Check(c->objects[i])) return wrong(c, i, "a text");
    c->values[i].text = PyUnicode_AsUTF8AndSize(c->objects[i], NULL);
    return c->values[i].text ? 0 : -1;
}

static int parse_enum(call *c, int i)
{
    const char *const *choices = c->row->arguments[i].choices;
    if (!PyUnicode_Check(c->objects[i])) return parse_int(c, i);
    for (int k = 0; choices[k]; k++)
        if (PyUnicode_CompareWithASCIIString(c->objects[i], choices[k]) == 0) {
            c->values[i].i = k;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "%s(): %s is %R, which there is not; %s is one", c->row->name,
                 c->row->arguments[i].name, c->objects[i], choices[0]);
    return -1;
}

static int parse_dtype(call *c, int i) { return dtype_from(&c->values[i].dtype, c->objects[i]); }

/* Tensors ------------------------------------------------------------------------------------------ */

static void count_work(call *c, const tsr_tensor *t)
{
    const int64_t n = tsr_numel(t);
    if (n > c->work) c->work = n < LONG_WORK ? n : LONG_WORK;
}

/* The dtype that a number among the arguments takes on: that of the first array. */
static tsr_dtype dtype_beside(const call *c)
{
    for (int i = 0; i < c->row->count; i++)
        if (c->objects[i] && is_array(c->objects[i])) return tensor_of(c->objects[i])->dtype;
    return TSR_DTYPE_INVALID;
}

static int parse_number(call *c, int i)
{
    tsr_scalar s;
    tsr_dtype dtype = dtype_beside(c);
    const int result = c->number_count < 4 ? number_from(&s, c->objects[i]) : NOT_A_NUMBER;
    if (result) return result < 0 ? -1 : wrong(c, i, "an array");
    if (dtype != TSR_DTYPE_INVALID && number_fit(&s, &dtype)) return -1;
    c->values[i].t = tsr_number_init(&c->numbers[c->number_count++], s);
    return 0;
}

static int parse_tensor(call *c, int i)
{
    PyObject *o = c->objects[i];
    if (!is_array(o)) {
        if (o != Py_None || !c->row->arguments[i].default_text) return parse_number(c, i);
        c->values[i].t = NULL;
        return 0;
    }
    c->values[i].t = tensor_of(o);
    count_work(c, tensor_of(o));
    return 0;
}

static int parse_given(call *c, int i)
{
    if (!is_array(c->objects[i])) return wrong(c, i, "an array");
    c->values[i].given = tensor_of(c->objects[i]);
    count_work(c, tensor_of(c->objects[i]));
    return 0;
}

/* Lists ---------------------------------------------------------------------------------------------- */

static int list_items(PyObject **items, Py_ssize_t *n, call *c, int i, Py_ssize_t most)
{
    if (is_array(c->objects[i]) || PyUnicode_Check(c->objects[i])) return wrong(c, i, "a sequence");
    *items = c->tuples[i] = PySequence_Tuple(c->objects[i]);
    if (!*items) return -1;
    *n = PyTuple_Size(*items);
    if (*n <= most) return 0;
    PyErr_Format(PyExc_ValueError, "%s(): %s has %zd items, and at most %zd are taken", c->row->name,
                 c->row->arguments[i].name, *n, most);
    return -1;
}

/* Lists that share a length: one that is left out has the other's. */
static int share_length(call *c, int i, bool given)
{
    value *before = &c->values[i - 1];
    if (!given) return 0;
    if (c->objects[i - 1] == Py_None || !c->objects[i - 1]) before->n = c->values[i].n;
    if (before->n == c->values[i].n) return 0;
    PyErr_Format(PyExc_ValueError, "%s(): %s has %d items and %s %d", c->row->name,
                 c->row->arguments[i - 1].name, before->n, c->row->arguments[i].name, c->values[i].n);
    return -1;
}

static int parse_tensors(call *c, int i)
{
    PyObject *items;
    Py_ssize_t n;
    if (list_items(&items, &n, c, i, INT32_MAX)) return -1;
    tsr_tensor **list = PyMem_Malloc(sizeof *list * (size_t)(n + 1));
    if (!list) {
        PyErr_NoMemory();
        return -1;
    }
    c->tensors[c->tensor_lists++] = list;
    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *o = PyTuple_GetItem(items, k);
        if (!is_array(o)) return wrong(c, i, "a sequence of arrays");
        list[k] = tensor_of(o);
        count_work(c, list[k]);
    }
    c->values[i].givens = list; /* or tensors, which are not changed */
    c->values[i].n = c->list_length = (int)n;
    return c->row->arguments[i].shares ? share_length(c, i, true) : 0;
}

/* One number stands for a list of it. */
static int parse_numbers(int64_t *out, int *n, call *c, int i)
{
    PyObject *items;
    Py_ssize_t count;
    *n = 1;
    if (!is_array(c->objects[i]) && PyIndex_Check(c->objects[i]))
        return parse_int64(out, c, i, c->objects[i]);
    if (list_items(&items, &count, c, i, MOST_ITEMS)) return -1;
    *n = (int)count;
    for (Py_ssize_t k = 0; k < count; k++)
        if (parse_int64(&out[k], c, i, PyTuple_GetItem(items, k))) return -1;
    return 0;
}

static int parse_list(call *c, int i)
{
    const argument_kind kind = c->row->arguments[i].kind;
    int64_t *ints = c->ints[c->list_count];
    int *axes = c->axes[c->list_count++];
    value *v = &c->values[i];
    const bool given = c->objects[i] != Py_None;
    v->n = 0;
    v->ints = NULL;
    if (given) {
        int n;
        if (parse_numbers(ints, &n, c, i)) return -1;
        for (int k = 0; k < n; k++) axes[k] = (int)ints[k];
        if (kind == KIND_AXES) v->axes = axes;
        else v->ints = ints;
        v->n = n;
    }
    return c->row->arguments[i].shares ? share_length(c, i, given) : 0;
}

static int parse_three(call *c, int i)
{
    int64_t ints[MOST_ITEMS];
    int n;
    const bool single = PyIndex_Check(c->objects[i]);
    if (parse_numbers(ints, &n, c, i)) return -1;
    if (n > 3) return wrong(c, i, "a number for each of at most three spatial dims");
    for (int k = 0; k < 3; k++) c->values[i].three[k] = single ? ints[0] : k < n ? ints[k] : 0;
    return 0;
}

/* One number for all spatial dims, or a sequence of them. */
static int parse_three_doubles(call *c, int i)
{
    PyObject *o = c->objects[i];
    const bool single = PyNumber_Check(o) && !PySequence_Check(o);
    const Py_ssize_t n = single ? 3 : PySequence_Size(o);
    if (n < 0 || n > 3) {
        PyErr_Clear();
        return wrong(c, i, "a number for each of at most three spatial dims");
    }
    for (int k = 0; k < 3; k++) {
        PyObject *item = single ? Py_NewRef(o) : k < n ? PySequence_GetItem(o, k) : PyLong_FromLong(0);
        c->values[i].doubles[k] = item ? PyFloat_AsDouble(item) : -1;
        Py_XDECREF(item);
        if (PyErr_Occurred()) {
            PyErr_Clear();
            return wrong(c, i, "a number, or a sequence of numbers");
        }
    }
    return 0;
}

/* Binding --------------------------------------------------------------------------------------------- */

static int parse_default(call *c, int i)
{
    const argument *a = &c->row->arguments[i];
    value *v = &c->values[i];
    const char *text = a->default_text;
    const bool all = !strcmp(text, "all") || !strcmp(text, "none");
    memset(v, 0, sizeof *v);
    switch (a->kind) {
    case KIND_AXIS: v->i = all ? TSR_ALL_AXES : atoll(text); break;
    case KIND_INT:
    case KIND_INT64: v->i = atoll(text); break;
    case KIND_DOUBLE: v->d = PyOS_string_to_double(text, NULL, NULL); break;
    case KIND_BOOL:
    case KIND_WANT: v->b = !strcmp(text, "true"); break;
    case KIND_SCALAR: v->s = tsr_scalar_i64(atoll(text)); break;
    case KIND_ENUM:
        while (strcmp(a->choices[v->i], text)) v->i++;
        break;
    default: break;  /* NULL and length 0 */
    }
    return 0;
}

static int parse(call *c, int i)
{
    const argument *a = &c->row->arguments[i];
    if (!c->objects[i]) {
        if (a->default_text) return parse_default(c, i);
        PyErr_Format(PyExc_TypeError, "%s() needs the argument %s", c->row->name, a->name);
        return -1;
    }
    switch (a->kind) {
    case KIND_TENSOR: return parse_tensor(c, i);
    case KIND_GIVENS:
    case KIND_TENSORS: return parse_tensors(c, i);
    case KIND_GIVEN: return parse_given(c, i);
    case KIND_AXIS: return parse_axis(c, i);
    case KIND_INT: return parse_int(c, i);
    case KIND_INT64: return parse_int64(&c->values[i].i, c, i, c->objects[i]);
    case KIND_AXES:
    case KIND_INTS:
    case KIND_SHAPE: return parse_list(c, i);
    case KIND_INT3: return parse_three(c, i);
    case KIND_DOUBLE3: return parse_three_doubles(c, i);
    case KIND_DOUBLE: return parse_double(c, i);
    case KIND_BOOL:
    case KIND_WANT: return parse_bool(c, i);
    case KIND_SCALAR: return parse_scalar(c, i);
    case KIND_DTYPE: return parse_dtype(c, i);
    case KIND_SEED: return parse_seed(c, i);
    case KIND_TEXT: return parse_text(c, i);
    case KIND_ENUM: return parse_enum(c, i);
    }
    return -1;
}

static int name_argument(call *c, PyObject *name, PyObject *o)
{
    for (int i = 0; i < c->row->count; i++) {
        if (PyUnicode_CompareWithASCIIString(name, c->row->arguments[i].name) != 0) continue;
        if (c->objects[i]) {
            PyErr_Format(PyExc_TypeError, "%s(): %U is given twice", c->row->name, name);
            return -1;
        }
        c->objects[i] = o;
        return 0;
    }
    const bool has_out = c->row->returns == RETURNS_TENSORS || c->row->returns == RETURNS_LIST;
    if (has_out && PyUnicode_CompareWithASCIIString(name, "out") == 0) {
        c->out = o == Py_None ? NULL : o;
        return 0;
    }
    PyErr_Format(PyExc_TypeError, "%s() has no argument %R", c->row->name, name);
    return -1;
}

static int bind(call *c, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    if (count > c->row->by_place) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %d arguments by place, and %zd are given",
                     c->row->name, c->row->by_place, count);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) c->objects[i] = args[i];
    const Py_ssize_t named = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t i = 0; i < named; i++)
        if (name_argument(c, PyTuple_GetItem(names, i), args[count + i])) return -1;
    for (int i = 0; i < c->row->count; i++)
        if (parse(c, i)) return -1;
    return 0;
}

/* Results ------------------------------------------------------------------------------------------------ */

static int given_result(call *c, int k, PyObject *o)
{
    if (o == Py_None) return 0;
    if (!is_array(o)) {
        PyErr_Format(PyExc_TypeError, "%s(): out is no array", c->row->name);
        return -1;
    }
    c->results[k] = tsr_retain(tensor_of(o));
    return 0;
}

static int bind_results(call *c)
{
    if (c->row->returns == RETURNS_LIST) {
        c->list = PyMem_Calloc((size_t)c->list_length + 1, sizeof *c->list);
        if (!c->list) PyErr_NoMemory();
        return c->list ? 0 : -1;
    }
    if (!c->out) return 0;
    if (c->row->results == 1) return given_result(c, 0, c->out);
    if (!PyTuple_Check(c->out) || PyTuple_Size(c->out) > c->row->results) {
        PyErr_Format(PyExc_TypeError, "%s(): out is no tuple of %d arrays", c->row->name, c->row->results);
        return -1;
    }
    for (int k = 0; k < (int)PyTuple_Size(c->out); k++)
        if (given_result(c, k, PyTuple_GetItem(c->out, k))) return -1;
    return 0;
}

/* The array that was given, or a new one, which takes the tensor over. */
static PyObject *result_object(call *c, tsr_tensor **t, PyObject *given)
{
    (void)c;
    if (given && given != Py_None && tensor_of(given) == *t) {
        tsr_release(t);
        return Py_NewRef(given);
    }
    tsr_tensor *taken = *t;
    *t = NULL;
    return array_wrap(taken, NULL);
}

static PyObject *result_list(call *c)
{
    PyObject *out = PyList_New(c->list_length);
    for (int k = 0; out && k < c->list_length; k++) {
        PyObject *o = result_object(c, &c->list[k], NULL);
        if (!o || PyList_SetItem(out, k, o)) Py_CLEAR(out);
    }
    return out;
}

static PyObject *result_tuple(call *c)
{
    int n = 0;
    while (n < c->row->results && c->results[n]) n++;
    if (n == 1) return result_object(c, &c->results[0], c->out && is_array(c->out) ? c->out : NULL);
    PyObject *out = PyTuple_New(n);
    for (int k = 0; out && k < n; k++) {
        PyObject *given = c->out && k < PyTuple_Size(c->out) ? PyTuple_GetItem(c->out, k) : NULL;
        PyObject *o = result_object(c, &c->results[k], given);
        if (!o || PyTuple_SetItem(out, k, o)) Py_CLEAR(out);
    }
    return out;
}

static PyObject *run(call *c)
{
    bool answer = false;
    tsr_status s;
    if (bind_results(c)) return NULL;
    RUN(s, c->work * 16 + 1, c->row->call(c->list ? c->list : c->results, &answer, c->values));
    if (s != TSR_OK) return fail(s);
    switch (c->row->returns) {
    case RETURNS_BOOL: return PyBool_FromLong(answer);
    case RETURNS_GIVEN: Py_RETURN_NONE;
    case RETURNS_LIST: return result_list(c);
    default: return result_tuple(c);
    }
}

static void let_go(call *c)
{
    for (int i = 0; i < c->row->count; i++) Py_XDECREF(c->tuples[i]);
    for (int k = 0; k < MOST_RESULTS; k++) tsr_release(&c->results[k]);
    for (int k = 0; c->list && k < c->list_length; k++) tsr_release(&c->list[k]);
    PyMem_Free(c->list);
    for (int k = 0; k < c->tensor_lists; k++) PyMem_Free(c->tensors[k]);
}

PyObject *call_row(const row *r, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    call c;
    c.row = r;
    c.out = NULL;
    c.number_count = c.list_count = c.list_length = c.tensor_lists = 0;
    c.list = NULL;
    c.work = 0;
    memset(c.objects, 0, sizeof c.objects);
    memset(c.tuples, 0, sizeof c.tuples);
    memset(c.results, 0, sizeof c.results);
    PyObject *result = bind(&c, args, count, names) ? NULL : run(&c);
    let_go(&c);
    return result;
}

/* The module tessera.ops ------------------------------------------------------------------------------- */

static PyObject *call_by_capsule(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    const row *r = PyCapsule_GetPointer(self, NULL);
    return r ? call_row(r, args, count, names) : NULL;
}

static int add_row(PyObject *ops, const row *r, PyMethodDef *def, PyObject *module_name)
{
    *def = (PyMethodDef){ r->name, (PyCFunction)(void (*)(void))call_by_capsule,
                          METH_FASTCALL | METH_KEYWORDS, r->doc };
    PyObject *capsule = PyCapsule_New((void *)(uintptr_t)r, NULL, NULL);
    PyObject *f = capsule ? PyCFunction_NewEx(def, capsule, module_name) : NULL;
    const int result = f ? PyDict_SetItemString(ops, r->name, f) : -1;
    Py_XDECREF(capsule);
    Py_XDECREF(f);
    return result;
}

int call_init(PyObject *module)
{
    int n = 0;
    while (rows_of_ops[n].name) n++;
    PyMethodDef *defs = PyMem_Calloc((size_t)n, sizeof *defs);  /* live as long as the process */
    PyObject *ops = PyDict_New(), *name = PyUnicode_FromString("tessera.ops");
    if (!defs || !ops || !name) return -1;
    for (int i = 0; i < n; i++)
        if (add_row(ops, &rows_of_ops[i], &defs[i], name)) return -1;
    Py_DECREF(name);
    return PyModule_AddObject(module, "ops", ops);
}

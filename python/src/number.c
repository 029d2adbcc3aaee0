/* number.c - Python's numbers as scalars, and nested lists of them as arrays. */
#include "binding.h"

#include <float.h>
#include <math.h>
#include <string.h>

static int from_integer(tsr_scalar *out, PyObject *o)
{
    int overflow = 0;
    const long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (v == -1 && PyErr_Occurred()) return -1;
    if (!overflow) {
        *out = tsr_scalar_i64(v);
        return 0;
    }
    const unsigned long long u = overflow > 0 ? PyLong_AsUnsignedLongLong(o) : 0;
    if (overflow < 0) PyErr_SetString(PyExc_OverflowError, "an integer below -2**63 fits no dtype");
    if (PyErr_Occurred()) return -1;
    *out = tsr_scalar_u64(u);
    return 0;
}

static int from_complex(tsr_scalar *out, PyObject *o)
{
    *out = tsr_scalar_c128(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o));
    return PyErr_Occurred() ? -1 : 0;
}

/* NumPy's scalars are numbers by what they do. */
static int from_other(tsr_scalar *out, PyObject *o)
{
    if (is_array(o) || PySequence_Check(o)) return NOT_A_NUMBER;
    if (PyIndex_Check(o)) {
        PyObject *i = PyNumber_Index(o);
        const int result = i ? from_integer(out, i) : -1;
        Py_XDECREF(i);
        return result;
    }
    if (!PyObject_HasAttrString(o, "__float__") || !PyObject_HasAttrString(o, "dtype")) return NOT_A_NUMBER;
    PyObject *item = PyObject_CallMethod(o, "item", NULL);
    if (!item) return -1;
    const int result = is_array(item) || Py_TYPE(item) == Py_TYPE(o) ? NOT_A_NUMBER : number_from(out, item);
    Py_DECREF(item);
    return result;
}

int number_from(tsr_scalar *out, PyObject *o)
{
    if (PyFloat_Check(o)) {
        *out = tsr_scalar_f64(PyFloat_AsDouble(o));
        return 0;
    }
    if (PyBool_Check(o)) {
        *out = tsr_scalar_bool(o == Py_True);
        return 0;
    }
    if (PyLong_Check(o)) return from_integer(out, o);
    if (PyComplex_Check(o)) return from_complex(out, o);
    return from_other(out, o);
}

PyObject *number_object(tsr_scalar s)
{
    switch (s.dtype) {
    case TSR_BOOL: return PyBool_FromLong(s.as.u != 0);
    case TSR_I64: return PyLong_FromLongLong(s.as.i);
    case TSR_U64: return PyLong_FromUnsignedLongLong(s.as.u);
    case TSR_F64: return PyFloat_FromDouble(s.as.c.re);
    default: return PyComplex_FromDoubles(s.as.c.re, s.as.c.im);
    }
}

/* Fitting a dtype ----------------------------------------------------------------------------- */

static bool integer_fits(tsr_scalar s, tsr_dtype dtype)
{
    const int bits = (int)tsr_dtype_size(dtype) * 8;
    const bool negative = s.dtype == TSR_I64 && s.as.i < 0;
    if (tsr_dtype_kind(dtype) == TSR_UNSIGNED) return !negative && (bits == 64 || s.as.u >> bits == 0);
    const uint64_t largest = (UINT64_C(1) << (bits - 1)) - 1;
    return negative ? s.as.i >= -(int64_t)largest - 1 : s.as.u <= largest;
}

static int refuse(const char *what, tsr_dtype dtype)
{
    PyErr_Format(PyExc_TypeError, "%s does not go with %s", what, tsr_dtype_long_name(dtype));
    return -1;
}

static int fit_integer(const tsr_scalar *s, tsr_dtype dtype)
{
    const tsr_kind kind = tsr_dtype_kind(dtype);
    if (kind == TSR_BOOLEAN) return refuse("an integer", dtype);
    if (kind == TSR_FLOATING || kind == TSR_COMPLEX || integer_fits(*s, dtype)) return 0;
    PyErr_Format(PyExc_OverflowError, "the integer is out of the range of %s", tsr_dtype_long_name(dtype));
    return -1;
}

static tsr_dtype complex_of(tsr_dtype dtype)
{
    return dtype == TSR_F64 ? TSR_C128 : TSR_C64;
}

int number_fit(tsr_scalar *s, tsr_dtype *dtype)
{
    const tsr_kind kind = tsr_dtype_kind(*dtype);
    switch (s->dtype) {
    case TSR_BOOL:
        if (kind != TSR_BOOLEAN) *s = tsr_scalar_i64((int64_t)s->as.u);
        return 0;
    case TSR_I64:
    case TSR_U64: return fit_integer(s, *dtype);
    case TSR_F64: return kind == TSR_FLOATING || kind == TSR_COMPLEX ? 0 : refuse("a float", *dtype);
    default:
        if (kind == TSR_FLOATING) *dtype = complex_of(*dtype);
        return kind == TSR_FLOATING || kind == TSR_COMPLEX ? 0 : refuse("a complex number", *dtype);
    }
}

/* Nested sequences ------------------------------------------------------------------------------ */

/* Sequences are walked twice: for shape and kind, then for the elements. Both walks use tuples, which
 * cannot change when conversions run code of the objects. */
typedef struct nest {
    int       ndim;
    int64_t   shape[TSR_MAX_NDIM];
    tsr_dtype widest;  /* BOOL, I64, U64, F64 or C128; DTYPE_INVALID before the first number */
    bool      arrays;  /* there are arrays among the elements: the package stacks them */
} nest;

static bool is_nested(PyObject *o) { return PyList_Check(o) || PyTuple_Check(o); }

static int rank_of(tsr_dtype kind)
{
    return kind == TSR_BOOL  ? 1
           : kind == TSR_I64 ? 2
           : kind == TSR_U64 ? 3
           : kind == TSR_F64 ? 4
           : kind            ? 5
                             : 0;
}

static int measure_number(nest *n, PyObject *o, int depth)
{
    tsr_scalar s;
    if (n->ndim < 0) n->ndim = depth;
    if (n->ndim != depth) {
        PyErr_SetString(PyExc_ValueError, "the nested sequences have different depths");
        return -1;
    }
    const int result = number_from(&s, o);
    if (result == NOT_A_NUMBER) {
        n->arrays = true;
        return 0;
    }
    if (result == 0 && rank_of(s.dtype) > rank_of(n->widest)) n->widest = s.dtype;
    return result;
}

static int measure(nest *n, PyObject *o, int depth);

static int measure_items(nest *n, PyObject *items, int depth)
{
    const Py_ssize_t length = PyTuple_Size(items);
    if (n->shape[depth] < 0) n->shape[depth] = length;
    if (n->shape[depth] != length) {
        PyErr_Format(PyExc_ValueError, "nested sequences at depth %d have %lld and %zd items", depth,
                     (long long)n->shape[depth], length);
        return -1;
    }
    for (Py_ssize_t i = 0; i < length && !n->arrays; i++)
        if (measure(n, PyTuple_GetItem(items, i), depth + 1)) return -1;
    return 0;
}

static int measure(nest *n, PyObject *o, int depth)
{
    if (!is_nested(o)) return measure_number(n, o, depth);
    if (depth == TSR_MAX_NDIM || (n->ndim >= 0 && depth >= n->ndim)) {
        PyErr_SetString(PyExc_ValueError, depth == TSR_MAX_NDIM
                                              ? "sequences are nested too deep"
                                              : "the nested sequences have different depths");
        return -1;
    }
    PyObject *items = PySequence_Tuple(o);
    if (!items) return -1;
    const int result = measure_items(n, items, depth);
    Py_DECREF(items);
    return result;
}

typedef struct fill_state {
    char     *to;
    char     *end;
    tsr_dtype dtype;
    size_t    size;
} fill_state;

static int changed(void)
{
    PyErr_SetString(PyExc_ValueError, "a sequence changed while it was read");
    return -1;
}

static int fill_number(fill_state *f, PyObject *o)
{
    tsr_scalar s;
    tsr_dtype dtype = f->dtype;
    const int result = number_from(&s, o);
    if (result < 0) return -1;
    if (result || f->to == f->end) return changed();
    if (s.dtype == TSR_I64 || s.dtype == TSR_U64)
        if (tsr_dtype_kind(dtype) != TSR_BOOLEAN && fit_integer(&s, dtype)) return -1;
    const tsr_status status = tsr_scalar_store(f->to, dtype, s);
    f->to += f->size;
    return status == TSR_OK ? 0 : fail_int(status);
}

/* depth: of the dims that are left. */
static int fill_from(fill_state *f, PyObject *o, int depth)
{
    if (!is_nested(o)) return fill_number(f, o);
    if (depth == 0) return changed();
    PyObject *items = PySequence_Tuple(o);
    if (!items) return -1;
    int result = 0;
    const Py_ssize_t length = PyTuple_Size(items);
    for (Py_ssize_t i = 0; i < length && !result; i++)
        result = fill_from(f, PyTuple_GetItem(items, i), depth - 1);
    Py_DECREF(items);
    return result;
}

static tsr_dtype dtype_for(const nest *n)
{
    return n->widest == TSR_DTYPE_INVALID ? TSR_F64 : n->widest;
}

/* A kind that the dtype cannot hold is an error: what would be lost was written by hand. */
static int check_kind(const nest *n, tsr_dtype dtype)
{
    const tsr_kind kind = tsr_dtype_kind(dtype);
    if (n->widest == TSR_C128 && kind != TSR_COMPLEX && kind != TSR_BOOLEAN)
        return refuse("a complex number", dtype);
    if (n->widest == TSR_F64 && (kind == TSR_SIGNED || kind == TSR_UNSIGNED)) return refuse("a float", dtype);
    return 0;
}

static PyObject *filled(const nest *n, tsr_dtype dtype, PyObject *o)
{
    tsr_tensor *t = NULL;
    tsr_desc desc;
    tsr_status s = tsr_desc_init(&desc, dtype, n->ndim, n->shape, NULL);
    if (s == TSR_OK) s = tsr_declare(&t, &desc, TSR_CPU, TSR_MEMORY_HOST);
    if (s == TSR_OK) s = tsr_alloc(t);
    if (s != TSR_OK) {
        tsr_release(&t);
        return fail(s);
    }
    fill_state f = { t->data, (char *)t->data + tsr_byte_size(t), dtype, tsr_dtype_size(dtype) };
    if (fill_from(&f, o, n->ndim) || (f.to != f.end && changed())) {
        tsr_release(&t);
        return NULL;
    }
    return array_wrap(t, NULL);
}

/* from_numbers(obj, dtype): an array of a number or nested lists and tuples of them; None if other objects
 * are among them. */
PyObject *number_sequence(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *o, *wanted;
    nest n = { .ndim = -1 };
    if (!PyArg_ParseTuple(args, "OO:from_numbers", &o, &wanted)) return NULL;
    for (int i = 0; i < TSR_MAX_NDIM; i++) n.shape[i] = -1;
    if (measure(&n, o, 0)) return NULL;
    if (n.arrays) Py_RETURN_NONE;
    if (n.ndim < 0) /* no numbers at all: the dims that are known */
        for (n.ndim = 0; n.ndim < TSR_MAX_NDIM && n.shape[n.ndim] >= 0;) n.ndim++;
    tsr_dtype dtype = dtype_for(&n);
    if (wanted != Py_None && dtype_from(&dtype, wanted)) return NULL;
    return check_kind(&n, dtype) ? NULL : filled(&n, dtype, o);
}

/* index.c - x[key] where the key is made of integers, slices, ... and None: a view, made in one step. What
 * holds arrays or lists is for the package. */
#include "binding.h"

typedef struct selection {
    const tsr_tensor *t;
    int     axis;    /* the next of t's */
    int     ndim;    /* of the view */
    int64_t offset;  /* in elements */
    int64_t shape[TSR_MAX_NDIM], stride[TSR_MAX_NDIM];
} selection;

enum { NOT_PLAIN = 1 };  /* the key holds something else */

static int add_dim(selection *s, int64_t size, int64_t stride)
{
    if (s->ndim == TSR_MAX_NDIM) {
        PyErr_Format(PyExc_IndexError, "a view has at most %d dims", TSR_MAX_NDIM);
        return -1;
    }
    s->shape[s->ndim] = size;
    s->stride[s->ndim++] = stride;
    return 0;
}

static int check_axis(const selection *s)
{
    if (s->axis < s->t->ndim) return 0;
    PyErr_Format(PyExc_IndexError, "too many indices for an array with %d dims", s->t->ndim);
    return -1;
}

static int add_integer(selection *s, long long i)
{
    if (check_axis(s)) return -1;
    const int64_t size = s->t->shape[s->axis];
    const int64_t at = i < 0 ? i + size : i;
    if (at < 0 || at >= size) {
        PyErr_Format(PyExc_IndexError, "index %lld is out of range for axis %d with size %lld", i, s->axis,
                     (long long)size);
        return -1;
    }
    s->offset += at * s->t->stride[s->axis++];
    return 0;
}

static int add_slice(selection *s, PyObject *slice)
{
    Py_ssize_t start, stop, step;
    if (check_axis(s) || PySlice_Unpack(slice, &start, &stop, &step)) return -1;
    const Py_ssize_t count = PySlice_AdjustIndices((Py_ssize_t)s->t->shape[s->axis], &start, &stop, step);
    const int64_t stride = s->t->stride[s->axis++];
    if (count == 0) return add_dim(s, 0, stride);
    s->offset += start * stride;
    return add_dim(s, count, count == 1 ? stride : stride * step);
}

/* What the rest of the key does not name. */
static int add_all(selection *s, int until)
{
    for (; s->axis < until; s->axis++)
        if (add_dim(s, s->t->shape[s->axis], s->t->stride[s->axis])) return -1;
    return 0;
}

static int add_long(selection *s, PyObject *o)
{
    const long long v = PyLong_AsLongLong(o);
    if (v == -1 && PyErr_Occurred()) {
        PyErr_SetString(PyExc_IndexError, "an index is beyond 64 bits");
        return -1;
    }
    return add_integer(s, v);
}

static int add_index_object(selection *s, PyObject *o)
{
    if (PyBool_Check(o)) return NOT_PLAIN;
    if (PyLong_Check(o)) return add_long(s, o);
    if (!PyIndex_Check(o)) return NOT_PLAIN;
    if (is_array(o) && (tensor_of(o)->ndim || tensor_of(o)->dtype == TSR_BOOL)) return NOT_PLAIN;
    PyObject *i = PyNumber_Index(o);
    if (!i) return -1;
    const int result = add_long(s, i);
    Py_DECREF(i);
    return result;
}

/* named: axes that the whole key names, for the ellipsis. */
static int add_part(selection *s, PyObject *o, int named)
{
    if (PySlice_Check(o)) return add_slice(s, o);
    if (o == Py_Ellipsis) return add_all(s, s->axis + s->t->ndim - named);
    if (o == Py_None) return add_dim(s, 1, 0);
    return add_index_object(s, o);
}

static int named_axes(PyObject *key, Py_ssize_t n, int *ellipses)
{
    int named = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o = PyTuple_GetItem(key, i);
        if (o == Py_Ellipsis) ++*ellipses;
        else named += o != Py_None;
    }
    return named;
}

static int select_tuple(selection *s, PyObject *key)
{
    int ellipses = 0;
    const Py_ssize_t n = PyTuple_Size(key);
    const int named = named_axes(key, n, &ellipses);
    if (ellipses > 1) {
        PyErr_SetString(PyExc_IndexError, "an index holds at most one ellipsis");
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        const int result = add_part(s, PyTuple_GetItem(key, i), named < s->t->ndim ? named : s->t->ndim);
        if (result) return result;
    }
    return 0;
}

/* One element: an integer within its dim for each axis. False: something else, which starts again. */
static bool select_element(selection *s, PyObject *key)
{
    const tsr_tensor *t = s->t;
    if (PyTuple_Size(key) != t->ndim) return false;
    for (int i = 0; i < t->ndim; i++) {
        PyObject *o = PyTuple_GetItem(key, i);
        if (!PyLong_CheckExact(o)) return false;
        int overflow;
        const int64_t at = PyLong_AsLongLongAndOverflow(o, &overflow),
                      wrapped = at < 0 ? at + t->shape[i] : at;
        if (overflow || wrapped < 0 || wrapped >= t->shape[i]) return false;
        s->offset += wrapped * t->stride[i];
    }
    return true;
}

static int select_key(selection *s, const tsr_tensor *t, PyObject *key)
{
    s->t = t;
    s->axis = s->ndim = 0;
    s->offset = 0;
    if (PyTuple_Check(key) && select_element(s, key)) return 0;
    s->offset = 0;
    const int result =
        PyTuple_Check(key) ? select_tuple(s, key) : add_part(s, key, key != Py_Ellipsis && key != Py_None);
    return result ? result : add_all(s, t->ndim);
}

/* A view without elements begins where the array does: there is nothing at its own offset. */
static tsr_status make_view(tsr_tensor **view, const selection *s)
{
    bool empty = false;
    for (int i = 0; i < s->ndim; i++) empty = empty || s->shape[i] == 0;
    return tsr_as_strided(view, s->t, s->ndim, s->shape, s->stride, empty ? 0 : s->offset);
}

static PyObject *view_of(PyObject *self, const selection *s)
{
    tsr_tensor *view = NULL;
    PyObject *base = ((Array *)self)->base;
    const tsr_status status = make_view(&view, s);
    return status == TSR_OK ? array_wrap(view, base && is_array(base) ? base : self) : fail(status);
}

PyObject *index_get(PyObject *self, PyObject *key)
{
    selection s;
    const int result = select_key(&s, tensor_of(self), key);
    if (result < 0) return NULL;
    if (result == 0) return view_of(self, &s);
    PyObject *function = array_namespace("_get_item");
    PyObject *out = function ? PyObject_CallFunctionObjArgs(function, self, key, NULL) : NULL;
    Py_XDECREF(function);
    return out;
}

PyObject *index_item(PyObject *self, Py_ssize_t i)
{
    selection s = { .t = tensor_of(self) };
    if (s.t->ndim == 0) {
        PyErr_SetString(PyExc_TypeError, "an array without dims cannot be walked");
        return NULL;
    }
    return add_integer(&s, i) || add_all(&s, s.t->ndim) ? NULL : view_of(self, &s);
}

/* Writing -------------------------------------------------------------------------------------- */

static int rank_of(tsr_kind kind)
{
    return kind == TSR_BOOLEAN                          ? 0
           : kind == TSR_SIGNED || kind == TSR_UNSIGNED ? 1
           : kind == TSR_FLOATING                       ? 2
                                                        : 3;
}

static int copy_into(tsr_tensor *to, const tsr_tensor *from)
{
    if (rank_of(tsr_dtype_kind(from->dtype)) > rank_of(tsr_dtype_kind(to->dtype))) {
        PyErr_Format(PyExc_TypeError, "%s is not stored in %s without astype",
                     tsr_dtype_long_name(from->dtype), tsr_dtype_long_name(to->dtype));
        return -1;
    }
    tsr_tensor *wide = NULL;
    tsr_status s = TSR_OK;
    if (!tsr_same_shape(to, from)) s = tsr_expand(&wide, from, to->ndim, to->shape);
    if (s == TSR_OK) RUN(s, tsr_numel(to), tsr_copy(to, wide ? wide : from));
    tsr_release(&wide);
    return s == TSR_OK ? 0 : fail_int(s);
}

static int fit_into(tsr_scalar *item, tsr_dtype dtype)
{
    tsr_dtype wanted = dtype;
    if (number_fit(item, &wanted)) return -1;
    if (wanted == dtype) return 0;
    PyErr_Format(PyExc_TypeError, "a complex number is not stored in %s", tsr_dtype_long_name(dtype));
    return -1;
}

/* One element that the host reaches: no view is needed. */
static int store(const selection *s, tsr_scalar item)
{
    const tsr_tensor *t = s->t;
    if (fit_into(&item, t->dtype)) return -1;
    char *at = (char *)t->data + s->offset * (int64_t)tsr_dtype_size(t->dtype);
    const tsr_status status = tsr_scalar_store(at, t->dtype, item);
    return status == TSR_OK ? 0 : fail_int(status);
}

static int fill_with(tsr_tensor *to, tsr_scalar item)
{
    tsr_status s;
    if (fit_into(&item, to->dtype)) return -1;
    RUN(s, tsr_numel(to), tsr_fill(to, item));
    return s == TSR_OK ? 0 : fail_int(s);
}

static int by_package(const char *name, PyObject *self, PyObject *key, PyObject *item)
{
    PyObject *function = array_namespace(name);
    PyObject *out = function ? PyObject_CallFunctionObjArgs(function, self, key, item, NULL) : NULL;
    Py_XDECREF(function);
    Py_XDECREF(out);
    return out ? 0 : -1;
}

int index_set(PyObject *self, PyObject *key, PyObject *item)
{
    selection s;
    tsr_scalar number;
    if (!item) {
        PyErr_SetString(PyExc_TypeError, "elements of an array cannot be deleted");
        return -1;
    }
    const int plain = select_key(&s, tensor_of(self), key);
    if (plain < 0) return -1;
    const int result = is_array(item) ? 0 : number_from(&number, item);
    if (result < 0) return -1;
    if (plain || result) return by_package("_set_item", self, key, item);
    const bool single = s.ndim == 0 && !is_array(item) && s.t->device == TSR_CPU;
    if (single && !tsr_is_readonly(s.t)) return store(&s, number);
    tsr_tensor *view = NULL;
    const tsr_status status = make_view(&view, &s);
    if (status != TSR_OK) return fail_int(status);
    const int done = is_array(item) ? copy_into(view, tensor_of(item)) : fill_with(view, number);
    tsr_release(&view);
    return done;
}

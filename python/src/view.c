/* view.c - views of an array's memory, and arrays without contents. These functions have no
 * rows: nothing is computed. Names and arguments are the standard's where it has them. */
#include "binding.h"

/* Lists of integers of Python. ------------------------------------------------------------------ */

static int integer_of(int64_t *out, PyObject *o, const char *what)
{
    PyObject *index = PyFloat_Check(o) ? NULL : PyNumber_Index(o);
    if (!index) {
        if (!PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "%s: %R is no integer", what, o);
        return -1;
    }
    *out = PyLong_AsLongLong(index);
    Py_DECREF(index);
    return *out == -1 && PyErr_Occurred() ? -1 : 0;
}

/* One integer, or a sequence of at most as many as there can be dims. */
static int integers_of(int64_t out[TSR_MAX_NDIM], int *n, PyObject *o, const char *what)
{
    *n = 1;
    if (PyLong_Check(o) || (!PySequence_Check(o) && PyIndex_Check(o))) return integer_of(out, o, what);
    PyObject *items = PySequence_Tuple(o);
    if (!items) return -1;
    const Py_ssize_t count = PyTuple_Size(items);
    int result = 0;
    if (count > TSR_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "%s: %zd items, and an array has at most %d dims", what, count,
                     TSR_MAX_NDIM);
        result = -1;
    }
    for (Py_ssize_t i = 0; i < count && !result; i++)
        result = integer_of(&out[i], PyTuple_GetItem(items, i), what);
    *n = (int)count;
    Py_DECREF(items);
    return result;
}

static int axes_of(int out[TSR_MAX_NDIM], int *n, PyObject *o, const char *what)
{
    int64_t wide[TSR_MAX_NDIM];
    if (integers_of(wide, n, o, what)) return -1;
    for (int i = 0; i < *n; i++) {
        if (wide[i] < INT16_MIN || wide[i] > INT16_MAX) {
            PyErr_Format(PyExc_IndexError, "%s: there is no axis %lld", what, (long long)wide[i]);
            return -1;
        }
        out[i] = (int)wide[i];
    }
    return 0;
}

static bool need_array(PyObject *o, const char *what)
{
    if (is_array(o)) return true;
    PyErr_Format(PyExc_TypeError, "%s: %R is no array", what, (PyObject *)Py_TYPE(o));
    return false;
}

/* The array that views of o are views of. */
static PyObject *viewed(PyObject *o, tsr_tensor *view, tsr_status s)
{
    if (s != TSR_OK) return fail(s);
    PyObject *base = ((Array *)o)->base;
    const bool shared = view->storage == tensor_of(o)->storage;
    return array_wrap(view, !shared ? NULL : base && is_array(base) ? base : o);
}

#define FUNCTION(f) (PyCFunction)(void (*)(void))(f)
#define SIGNATURE(name) static PyObject *name(PyObject *self, PyObject *args, PyObject *names)
#define PARSE(format, ...) PyArg_ParseTupleAndKeywords(args, names, format, keywords, __VA_ARGS__)

/* Dims ----------------------------------------------------------------------------------------------- */

/* A view of x by a function that takes a list of axes. */
typedef tsr_status (*axes_fn)(tsr_tensor **out, const tsr_tensor *t, int n, const int *axes);

static PyObject *by_axes(PyObject *x, PyObject *list, const char *what, axes_fn fn)
{
    int axes[TSR_MAX_NDIM], n = 0;
    tsr_tensor *view = NULL;
    if (!need_array(x, what) || (list && axes_of(axes, &n, list, what))) return NULL;
    const tsr_status s = fn(&view, tensor_of(x), n, axes);
    return viewed(x, view, s);
}

SIGNATURE(permute_dims)
{
    (void)self;
    static char *keywords[] = { "", "axes", NULL };
    PyObject *x, *axes;
    return PARSE("OO:permute_dims", &x, &axes) ? by_axes(x, axes, "permute_dims", tsr_permute) : NULL;
}

/* No axes are flipped, where C flips all. */
static tsr_status flip(tsr_tensor **out, const tsr_tensor *t, int n, const int *axes)
{
    return n ? tsr_flip(out, t, n, axes) : tsr_as_strided(out, t, t->ndim, t->shape, t->stride, 0);
}

SIGNATURE(flip_axes)
{
    (void)self;
    static char *keywords[] = { "", "axis", NULL };
    PyObject *x, *axes = Py_None;
    if (!PARSE("O|$O:flip", &x, &axes)) return NULL;
    return axes == Py_None ? by_axes(x, NULL, "flip", tsr_flip) : by_axes(x, axes, "flip", flip);
}

/* order[i] is the axis of x at place i. -1 where the lists make no order. */
static int moved_order(int *order, int ndim, int n, int *from, int *to)
{
    bool used[TSR_MAX_NDIM] = { false };
    for (int i = 0; i < ndim; i++) order[i] = -1;
    for (int i = 0; i < n; i++) {
        from[i] += from[i] < 0 ? ndim : 0;
        to[i] += to[i] < 0 ? ndim : 0;
        if (from[i] < 0 || from[i] >= ndim || to[i] < 0 || to[i] >= ndim) return -1;
        if (used[from[i]] || order[to[i]] >= 0) return -1;
        used[from[i]] = true;
        order[to[i]] = from[i];
    }
    for (int i = 0, next = 0; i < ndim; i++) {
        if (order[i] >= 0) continue;
        while (used[next]) next++;
        order[i] = next++;
    }
    return 0;
}

SIGNATURE(moveaxis)
{
    (void)self;
    static char *keywords[] = { "", "", "", NULL };
    PyObject *x, *source, *destination;
    int from[TSR_MAX_NDIM], to[TSR_MAX_NDIM], order[TSR_MAX_NDIM], n, m;
    tsr_tensor *view = NULL;
    if (!PARSE("OOO:moveaxis", &x, &source, &destination) || !need_array(x, "moveaxis")) return NULL;
    if (axes_of(from, &n, source, "moveaxis") || axes_of(to, &m, destination, "moveaxis")) return NULL;
    const int ndim = tensor_of(x)->ndim;
    if (n != m || moved_order(order, ndim, n, from, to)) {
        PyErr_Format(PyExc_ValueError,
                     "moveaxis: source and destination are no equally long lists of different axes "
                     "of %d dims",
                     ndim);
        return NULL;
    }
    const tsr_status s = tsr_permute(&view, tensor_of(x), ndim, order);
    return viewed(x, view, s);
}

SIGNATURE(expand_dims)
{
    (void)self;
    static char *keywords[] = { "", "axis", NULL };
    PyObject *x, *list = NULL;
    int axes[TSR_MAX_NDIM], n, k = 0;
    int64_t shape[TSR_MAX_NDIM], stride[TSR_MAX_NDIM];
    tsr_tensor *view = NULL;
    if (!PARSE("O|O:expand_dims", &x, &list) || !need_array(x, "expand_dims")) return NULL;
    axes[0] = 0;
    n = 1;
    if (list && axes_of(axes, &n, list, "expand_dims")) return NULL;
    const tsr_tensor *t = tensor_of(x);
    const int ndim = t->ndim + n;
    if (ndim > TSR_MAX_NDIM)
        return PyErr_Format(PyExc_ValueError, "expand_dims: more than %d dims", TSR_MAX_NDIM);
    bool added[TSR_MAX_NDIM] = { false };
    for (int i = 0; i < n; i++) {
        const int at = axes[i] < 0 ? axes[i] + ndim : axes[i];
        if (at < 0 || at >= ndim)
            return PyErr_Format(PyExc_IndexError, "expand_dims: axis %d is out of range for %d dims", axes[i],
                                ndim);
        if (added[at]) return PyErr_Format(PyExc_ValueError, "expand_dims: axis %d is named twice", axes[i]);
        added[at] = true;
    }
    for (int i = 0; i < ndim; i++) {
        shape[i] = added[i] ? 1 : t->shape[k];
        stride[i] = added[i] ? 0 : t->stride[k++];
    }
    const tsr_status s = tsr_as_strided(&view, t, ndim, shape, stride, 0);
    return viewed(x, view, s);
}

SIGNATURE(squeeze)
{
    (void)self;
    static char *keywords[] = { "", "axis", NULL };
    PyObject *x, *list;
    int axes[TSR_MAX_NDIM], n, k = 0;
    int64_t shape[TSR_MAX_NDIM], stride[TSR_MAX_NDIM];
    tsr_tensor *view = NULL;
    if (!PARSE("OO:squeeze", &x, &list) || !need_array(x, "squeeze")) return NULL;
    if (axes_of(axes, &n, list, "squeeze")) return NULL;
    const tsr_tensor *t = tensor_of(x);
    bool gone[TSR_MAX_NDIM] = { false };
    for (int i = 0; i < n; i++) {
        const int at = axes[i] < 0 ? axes[i] + t->ndim : axes[i];
        if (at < 0 || at >= t->ndim)
            return PyErr_Format(PyExc_IndexError, "squeeze: axis %d is out of range for %d dims", axes[i],
                                t->ndim);
        if (t->shape[at] != 1)
            return PyErr_Format(PyExc_ValueError, "squeeze: axis %d has size %lld, and not 1", axes[i],
                                (long long)t->shape[at]);
        if (gone[at]) return PyErr_Format(PyExc_ValueError, "squeeze: axis %d is named twice", axes[i]);
        gone[at] = true;
    }
    for (int i = 0; i < t->ndim; i++) {
        if (gone[i]) continue;
        shape[k] = t->shape[i];
        stride[k++] = t->stride[i];
    }
    const tsr_status s = tsr_as_strided(&view, t, k, shape, stride, 0);
    return viewed(x, view, s);
}

SIGNATURE(reshape)
{
    (void)self;
    static char *keywords[] = { "", "shape", "copy", NULL };
    PyObject *x, *list, *copy = Py_None;
    int64_t shape[TSR_MAX_NDIM];
    int n;
    tsr_tensor *view = NULL, *own = NULL;
    tsr_status s = TSR_OK;
    if (!PARSE("OO|$O:reshape", &x, &list, &copy) || !need_array(x, "reshape")) return NULL;
    if (integers_of(shape, &n, list, "reshape")) return NULL;
    if (copy == Py_False) return s = tsr_view(&view, tensor_of(x), n, shape), viewed(x, view, s);
    const bool must = copy == Py_True;
    RUN(s, tsr_numel(tensor_of(x)), must ? tsr_rearrange(&own, tensor_of(x)) : TSR_OK);
    if (s == TSR_OK) s = tsr_reshape(&view, own ? own : tensor_of(x), n, shape);
    tsr_release(&own);
    return viewed(x, view, s);
}

SIGNATURE(broadcast_to)
{
    (void)self;
    static char *keywords[] = { "", "shape", NULL };
    PyObject *x, *list;
    int64_t shape[TSR_MAX_NDIM];
    int n;
    tsr_tensor *view = NULL;
    if (!PARSE("OO:broadcast_to", &x, &list) || !need_array(x, "broadcast_to")) return NULL;
    if (integers_of(shape, &n, list, "broadcast_to")) return NULL;
    const tsr_status s = tsr_expand(&view, tensor_of(x), n, shape);
    return viewed(x, view, s);
}

SIGNATURE(diagonal)
{
    (void)self;
    static char *keywords[] = { "", "offset", "axis1", "axis2", NULL };
    PyObject *x;
    long long k = 0;
    int a = -2, b = -1;
    tsr_tensor *view = NULL;
    if (!PARSE("O|Lii:diagonal", &x, &k, &a, &b) || !need_array(x, "diagonal")) return NULL;
    const tsr_status s = tsr_diagonal(&view, tensor_of(x), k, a, b);
    return viewed(x, view, s);
}

SIGNATURE(unfold)
{
    (void)self;
    static char *keywords[] = { "", "axis", "size", "step", NULL };
    PyObject *x;
    int axis;
    long long size, step = 1;
    tsr_tensor *view = NULL;
    if (!PARSE("OiL|L:unfold", &x, &axis, &size, &step) || !need_array(x, "unfold")) return NULL;
    const tsr_status s = tsr_unfold(&view, tensor_of(x), axis, size, step);
    return viewed(x, view, s);
}

/* Strides in elements, as in C. */
SIGNATURE(as_strided)
{
    (void)self;
    static char *keywords[] = { "", "shape", "strides", "offset", NULL };
    PyObject *x, *shapes, *strides;
    int64_t shape[TSR_MAX_NDIM], stride[TSR_MAX_NDIM];
    int n, m;
    long long offset = 0;
    tsr_tensor *view = NULL;
    if (!PARSE("OOO|L:as_strided", &x, &shapes, &strides, &offset) || !need_array(x, "as_strided"))
        return NULL;
    if (integers_of(shape, &n, shapes, "as_strided") || integers_of(stride, &m, strides, "as_strided"))
        return NULL;
    if (n != m) return PyErr_Format(PyExc_ValueError, "as_strided: %d sizes and %d strides", n, m);
    const tsr_status s = tsr_as_strided(&view, tensor_of(x), n, shape, stride, offset);
    return viewed(x, view, s);
}

SIGNATURE(bit_view)
{
    (void)self;
    static char *keywords[] = { "", "dtype", NULL };
    PyObject *x, *dtype;
    tsr_dtype number;
    tsr_tensor *view = NULL;
    if (!PARSE("OO:bit_view", &x, &dtype) || !need_array(x, "bit_view") || dtype_from(&number, dtype))
        return NULL;
    const tsr_status s = tsr_bit_view(&view, tensor_of(x), number);
    return viewed(x, view, s);
}

static PyObject *contiguous(PyObject *self, PyObject *x)
{
    (void)self;
    tsr_tensor *view = NULL;
    tsr_status s;
    if (!need_array(x, "contiguous")) return NULL;
    RUN(s, tsr_numel(tensor_of(x)), tsr_contiguous(&view, tensor_of(x)));
    return viewed(x, view, s);
}

/* Making and moving ------------------------------------------------------------------------------------- */

static int device_from(tsr_device *out, PyObject *o)
{
    if (!PyUnicode_Check(o)) {
        PyErr_Format(PyExc_TypeError, "%R is no name of a device", o);
        return -1;
    }
    const char *name = PyUnicode_AsUTF8AndSize(o, NULL);
    if (!name) return -1;
    const tsr_status s = tsr_device_parse(out, name);
    return s == TSR_OK ? 0 : fail_int(s);
}

typedef enum contents { UNSET, ZEROS, ONES } contents;

/* On the default device. */
static tsr_status make(tsr_tensor **t, tsr_dtype dtype, int n, const int64_t *shape, contents what)
{
    return what == UNSET ? tsr_empty(t, dtype, n, shape)
           : what == ZEROS ? tsr_zeros(t, dtype, n, shape)
                           : tsr_ones(t, dtype, n, shape);
}

static tsr_status make_on(tsr_tensor **t, tsr_dtype dtype, int n, const int64_t *shape, contents what,
                          tsr_device device)
{
    tsr_desc desc;
    TSR_TRY(tsr_desc_init(&desc, dtype, n, shape, NULL));
    TSR_TRY(tsr_declare(t, &desc, device, TSR_MEMORY_HOST));
    TSR_TRY(tsr_alloc(*t));
    return what == UNSET ? TSR_OK : tsr_fill(*t, tsr_scalar_i64(what == ONES));
}

/* Is it long work? Whether the shape can be at all is for the library. */
static int64_t work_of(int n, const int64_t *shape)
{
    int64_t work = 1;
    for (int i = 0; i < n && work > 0 && work < LONG_WORK; i++)
        work = shape[i] > LONG_WORK ? LONG_WORK : shape[i] < 0 ? 0 : work * shape[i];
    return work;
}

/* None is the default device. */
static PyObject *made(PyObject *list, PyObject *dtype, PyObject *name, contents what)
{
    int64_t shape[TSR_MAX_NDIM];
    int n;
    tsr_dtype number = TSR_F64;
    tsr_device device = TSR_CPU;
    tsr_tensor *t = NULL;
    tsr_status s;
    if (integers_of(shape, &n, list, "shape")) return NULL;
    if (dtype != Py_None && dtype_from(&number, dtype)) return NULL;
    if (name != Py_None && device_from(&device, name)) return NULL;
    RUN(s, work_of(n, shape),
        name == Py_None ? make(&t, number, n, shape, what) : make_on(&t, number, n, shape, what, device));
    if (s == TSR_OK) return array_wrap(t, NULL);
    tsr_release(&t);
    return fail(s);
}

/* (shape, *, dtype=None, device=None), without a tuple of the arguments. */
static PyObject *creation(const char *name, PyObject *const *args, Py_ssize_t count, PyObject *names,
                          contents what)
{
    static const char *const keywords[] = { "shape", "dtype", "device" };
    PyObject *given[] = { count ? args[0] : NULL, Py_None, Py_None };
    const Py_ssize_t named = names ? PyTuple_Size(names) : 0;
    if (count > 1) return PyErr_Format(PyExc_TypeError, "%s() takes one argument by place: shape", name);
    for (Py_ssize_t i = 0; i < named; i++) {
        PyObject *keyword = PyTuple_GetItem(names, i);
        int k = count ? 1 : 0;
        while (k < 3 && PyUnicode_CompareWithASCIIString(keyword, keywords[k])) k++;
        if (k == 3) return PyErr_Format(PyExc_TypeError, "%s() has no argument %R", name, keyword);
        given[k] = args[count + i];
    }
    if (!given[0]) return PyErr_Format(PyExc_TypeError, "%s() needs the argument shape", name);
    return made(given[0], given[1], given[2], what);
}

#define CREATION(name, what)                                                                              \
    static PyObject *name(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)        \
    {                                                                                                     \
        (void)self;                                                                                       \
        return creation(#name, args, count, names, what);                                                 \
    }
CREATION(empty, UNSET)
CREATION(zeros, ZEROS)
CREATION(ones, ONES)

/* The same by place: (shape, dtype, device=None). */
static PyObject *empty_by_place(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *shape, *dtype, *device = Py_None;
    if (!PyArg_ParseTuple(args, "OO|O:empty", &shape, &dtype, &device)) return NULL;
    return made(shape, dtype, device, UNSET);
}

static PyObject *to_device(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *x, *name;
    tsr_device device;
    tsr_tensor *t = NULL;
    tsr_status s;
    if (!PyArg_ParseTuple(args, "OO:to_device", &x, &name) || !need_array(x, "to_device")) return NULL;
    if (device_from(&device, name)) return NULL;
    RUN(s, tsr_numel(tensor_of(x)), tsr_to(&t, tensor_of(x), device));
    return viewed(x, t, s);
}

static PyObject *may_overlap(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *a, *b;
    if (!PyArg_ParseTuple(args, "OO:shares_memory", &a, &b) || !need_array(a, "shares_memory")) return NULL;
    return need_array(b, "shares_memory") ? PyBool_FromLong(tsr_may_overlap(tensor_of(a), tensor_of(b)))
                                          : NULL;
}

#define NAMED METH_VARARGS | METH_KEYWORDS
#define QUICK METH_FASTCALL | METH_KEYWORDS

static PyMethodDef view_methods[] = {
    { "permute_dims", FUNCTION(permute_dims), NAMED,
      "permute_dims(x, /, axes)\n--\n\nDim i of the result is dim axes[i] of x: a view." },
    { "flip", FUNCTION(flip_axes), NAMED, "flip(x, /, *, axis=None)\n--\n\nAxes walked backwards: a view." },
    { "moveaxis", FUNCTION(moveaxis), NAMED,
      "moveaxis(x, source, destination, /)\n--\n\nAxes moved to other places, the others in their order: a "
      "view." },
    { "expand_dims", FUNCTION(expand_dims), NAMED,
      "expand_dims(x, /, axis=0)\n--\n\nNew dims of size 1 at these places of the result: a view." },
    { "squeeze", FUNCTION(squeeze), NAMED,
      "squeeze(x, /, axis)\n--\n\nWithout these dims of size 1: a view." },
    { "reshape", FUNCTION(reshape), NAMED,
      "reshape(x, /, shape, *, copy=None)\n--\n\nThe same elements in row-major order under another shape: a "
      "view where "
      "strides allow it and copy is not True; copy=False fails otherwise." },
    { "broadcast_to", FUNCTION(broadcast_to), NAMED,
      "broadcast_to(x, /, shape)\n--\n\nDims of size 1 repeated: a view." },
    { "diagonal", FUNCTION(diagonal), NAMED,
      "diagonal(x, /, offset=0, axis1=-2, axis2=-1)\n--\n\nA diagonal of two axes as a new last dim: a "
      "view." },
    { "unfold", FUNCTION(unfold), NAMED,
      "unfold(x, /, axis, size, step=1)\n--\n\nSliding windows of an axis as a new last dim: a view." },
    { "as_strided", FUNCTION(as_strided), NAMED,
      "as_strided(x, /, shape, strides, offset=0)\n--\n\nAny shape and strides (in elements) within x's "
      "memory: a view." },
    { "bit_view", FUNCTION(bit_view), NAMED,
      "bit_view(x, /, dtype)\n--\n\nThe same bits as another dtype: a view." },
    { "contiguous", contiguous, METH_O,
      "contiguous(x, /)\n--\n\nx itself seen again if it is row-major and packed, else a "
      "copy that is." },
    { "shares_memory", may_overlap, METH_VARARGS,
      "shares_memory(a, b, /)\n--\n\nCould a write to one be seen through the other?" },
    { "empty", FUNCTION(empty), QUICK,
      "empty(shape, *, dtype=None, device=None)\n--\n\nAn array whose elements are not set." },
    { "zeros", FUNCTION(zeros), QUICK, "zeros(shape, *, dtype=None, device=None)\n--\n\nEvery element 0." },
    { "ones", FUNCTION(ones), QUICK, "ones(shape, *, dtype=None, device=None)\n--\n\nEvery element 1." },
    { "_empty", empty_by_place, METH_VARARGS, NULL },
    { "_to", to_device, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL }
};

int view_init(PyObject *module)
{
    return add_functions(module, view_methods);
}

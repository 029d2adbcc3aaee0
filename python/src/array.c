/* array.c - tessera.Array: life, attributes, conversion to Python's numbers, text. */
#include "binding.h"

#include <stddef.h>
#include <structmember.h>

PyTypeObject *array_type;

/* Life ---------------------------------------------------------------------------------------- */

PyObject *array_wrap(tsr_tensor *t, PyObject *base)
{
    Array *a = PyObject_Malloc(sizeof *a);
    if (!a) {
        tsr_release(&t);
        return PyErr_NoMemory();
    }
    PyObject_Init((PyObject *)a, array_type);
    a->t = t;
    a->weakrefs = NULL;
    a->base = base;
    Py_XINCREF(base);
    return (PyObject *)a;
}

static void array_dealloc(PyObject *self)
{
    Array *a = (Array *)self;
    if (a->weakrefs) PyObject_ClearWeakRefs(self);
    tsr_release(&a->t);
    Py_XDECREF(a->base);
    PyTypeObject *type = Py_TYPE(self);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* An attribute of the package, where what is not in C is done. */
PyObject *array_namespace(const char *name)
{
    PyObject *package = PyImport_ImportModule("tessera");
    PyObject *o = package ? PyObject_GetAttrString(package, name) : NULL;
    Py_XDECREF(package);
    return o;
}

static PyObject *call_package(const char *name, PyObject *self, PyObject *args, PyObject *names)
{
    PyObject *function = array_namespace(name), *all = NULL, *result = NULL;
    PyObject *first = function ? PyTuple_Pack(1, self) : NULL;
    if (first) all = args ? PySequence_Concat(first, args) : Py_NewRef(first);
    if (all) result = PyObject_Call(function, all, names);
    Py_XDECREF(all);
    Py_XDECREF(first);
    Py_XDECREF(function);
    return result;
}

/* Attributes ------------------------------------------------------------------------------------ */

static PyObject *tuple_of(int n, const int64_t *values, int64_t factor)
{
    PyObject *out = PyTuple_New(n);
    for (int i = 0; out && i < n; i++) {
        PyObject *v = PyLong_FromLongLong(values[i] * factor);
        if (!v || PyTuple_SetItem(out, i, v)) Py_CLEAR(out);
    }
    return out;
}

static PyObject *get_shape(PyObject *self, void *unused)
{
    (void)unused;
    return tuple_of(tensor_of(self)->ndim, tensor_of(self)->shape, 1);
}

/* In bytes, as NumPy has them. */
static PyObject *get_strides(PyObject *self, void *unused)
{
    (void)unused;
    const tsr_tensor *t = tensor_of(self);
    return tuple_of(t->ndim, t->stride, (int64_t)tsr_dtype_size(t->dtype));
}

static PyObject *get_ndim(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(tensor_of(self)->ndim);
}

static PyObject *get_size(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLongLong(tsr_numel(tensor_of(self)));
}

static PyObject *get_itemsize(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(tsr_dtype_size(tensor_of(self)->dtype));
}

static PyObject *get_nbytes(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLongLong(tsr_byte_size(tensor_of(self)));
}

static PyObject *get_dtype(PyObject *self, void *unused)
{
    (void)unused;
    return dtype_object(tensor_of(self)->dtype);
}

static PyObject *get_device(PyObject *self, void *unused)
{
    (void)unused;
    char name[64];
    const tsr_device device = tensor_of(self)->device;
    if (device == TSR_CPU) return PyUnicode_FromString("cpu");
    tsr_device_name(name, sizeof name, device);
    return PyUnicode_FromString(name);
}

static PyObject *get_base(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *base = ((Array *)self)->base;
    return Py_NewRef(base ? base : Py_None);
}

static PyObject *get_contiguous(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(tsr_is_contiguous(tensor_of(self)));
}

static PyObject *get_readonly(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(tsr_is_readonly(tensor_of(self)));
}

static PyObject *get_address(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(tensor_of(self)->data);
}

static PyObject *base_for(PyObject *self)
{
    PyObject *base = ((Array *)self)->base;
    return base && is_array(base) ? base : self;
}

static PyObject *swapped(PyObject *self, const char *what, bool exact)
{
    tsr_tensor *view = NULL;
    const int ndim = tensor_of(self)->ndim;
    if (exact ? ndim != 2 : ndim < 2) {
        PyErr_Format(PyExc_ValueError, "%s: the array has %d dims, and not %s2", what, ndim,
                     exact ? "" : "at least ");
        return NULL;
    }
    const tsr_status s = tsr_transpose(&view, tensor_of(self), -2, -1);
    return s == TSR_OK ? array_wrap(view, base_for(self)) : fail(s);
}

static PyObject *get_T(PyObject *self, void *unused)
{
    (void)unused;
    return swapped(self, "T", true);
}

static PyObject *get_mT(PyObject *self, void *unused)
{
    (void)unused;
    return swapped(self, "mT", false);
}

static PyObject *part(PyObject *self, tsr_status (*view_of)(tsr_tensor **, const tsr_tensor *))
{
    tsr_tensor *view = NULL;
    const tsr_status s = view_of(&view, tensor_of(self));
    return s == TSR_OK ? array_wrap(view, base_for(self)) : fail(s);
}

static PyObject *get_real(PyObject *self, void *unused)
{
    (void)unused;
    return part(self, tsr_view_real);
}

static PyObject *get_imag(PyObject *self, void *unused)
{
    (void)unused;
    return part(self, tsr_view_imag);
}

static PyObject *get_interface(PyObject *self, void *unused)
{
    (void)unused;
    return call_package("_array_interface", self, NULL, NULL);
}

static PyGetSetDef attributes[] = {
    { "shape", get_shape, NULL, "sizes of the dims", NULL },
    { "strides", get_strides, NULL, "bytes from one index of a dim to the next", NULL },
    { "ndim", get_ndim, NULL, "how many dims there are", NULL },
    { "size", get_size, NULL, "how many elements there are", NULL },
    { "itemsize", get_itemsize, NULL, "bytes of an element", NULL },
    { "nbytes", get_nbytes, NULL, "bytes of all elements", NULL },
    { "dtype", get_dtype, NULL, "what an element is", NULL },
    { "device", get_device, NULL, "where the elements are", NULL },
    { "base", get_base, NULL,
      "the array that this is a view of, or the owner of its memory; None if it has its own", NULL },
    { "is_contiguous", get_contiguous, NULL, "row-major without gaps?", NULL },
    { "readonly", get_readonly, NULL, "is writing refused?", NULL },
    { "address", get_address, NULL, "where element (0, ..., 0) lies", NULL },
    { "T", get_T, NULL, "the transpose of a matrix: a view", NULL },
    { "mT", get_mT, NULL, "the last two dims swapped: a view", NULL },
    { "real", get_real, NULL, "the real parts: a view", NULL },
    { "imag", get_imag, NULL, "the imaginary parts of a complex array: a view", NULL },
    { "__array_interface__", get_interface, NULL, "NumPy's protocol", NULL },
    { NULL, NULL, NULL, NULL, NULL }
};

/* Python's numbers --------------------------------------------------------------------------------- */

static int item_of(tsr_scalar *out, PyObject *self)
{
    const tsr_tensor *t = tensor_of(self);
    if (t->ndim == 0 && tsr_is_host(t)) {
        const tsr_status s = tsr_scalar_load(out, t->dtype, t->data);
        return s == TSR_OK ? 0 : fail_int(s);
    }
    if (tsr_numel(t) != 1) {
        PyErr_Format(PyExc_TypeError, "an array of %lld elements is no single number",
                     (long long)tsr_numel(t));
        return -1;
    }
    const tsr_status s = tsr_item(out, t);
    return s == TSR_OK ? 0 : fail_int(s);
}

static PyObject *array_item(PyObject *self, PyObject *unused)
{
    (void)unused;
    tsr_scalar s;
    return item_of(&s, self) ? NULL : number_object(s);
}

static int array_bool(PyObject *self)
{
    tsr_scalar s;
    if (tsr_numel(tensor_of(self)) != 1) {
        PyErr_SetString(PyExc_ValueError,
                        "the truth of an array with several elements, or none, is ambiguous: "
                        "ask any() or all()");
        return -1;
    }
    return item_of(&s, self) ? -1 : tsr_scalar_to_bool(s);
}

/* The usual dtypes are read without a scalar between. */
static PyObject *array_float(PyObject *self)
{
    tsr_scalar s;
    const tsr_tensor *t = tensor_of(self);
    if (t->ndim == 0 && t->device == TSR_CPU) {
        if (t->dtype == TSR_F64) return PyFloat_FromDouble(*(const double *)t->data);
        if (t->dtype == TSR_F32) return PyFloat_FromDouble(*(const float *)t->data);
    }
    if (item_of(&s, self)) return NULL;
    if (s.dtype == TSR_C128) {
        PyErr_SetString(PyExc_TypeError, "a complex number is no float");
        return NULL;
    }
    return PyFloat_FromDouble(tsr_scalar_to_f64(s));
}

static PyObject *array_int(PyObject *self)
{
    tsr_scalar s;
    if (item_of(&s, self)) return NULL;
    if (s.dtype == TSR_C128) {
        PyErr_SetString(PyExc_TypeError, "a complex number is no integer");
        return NULL;
    }
    PyObject *number = number_object(s);
    PyObject *result = number ? PyNumber_Long(number) : NULL;
    Py_XDECREF(number);
    return result;
}

static PyObject *array_index(PyObject *self)
{
    tsr_scalar s;
    const tsr_tensor *t = tensor_of(self);
    const tsr_kind kind = tsr_dtype_kind(t->dtype);
    if (t->ndim != 0 || (kind != TSR_SIGNED && kind != TSR_UNSIGNED)) {
        PyErr_SetString(PyExc_TypeError, "only an integer array without dims is an index");
        return NULL;
    }
    return item_of(&s, self) ? NULL : number_object(s);
}

static PyObject *array_complex(PyObject *self, PyObject *unused)
{
    (void)unused;
    tsr_scalar s;
    if (item_of(&s, self)) return NULL;
    const tsr_c128 c = tsr_scalar_to_c128(s);
    return PyComplex_FromDoubles(c.re, c.im);
}

static Py_ssize_t array_len(PyObject *self)
{
    const tsr_tensor *t = tensor_of(self);
    if (t->ndim > 0) return (Py_ssize_t)t->shape[0];
    PyErr_SetString(PyExc_TypeError, "an array without dims has no length");
    return -1;
}

static PyObject *array_iter(PyObject *self)
{
    return array_len(self) < 0 ? NULL : PySeqIter_New(self);
}

/* Text and copies --------------------------------------------------------------------------------- */

static PyObject *array_text(PyObject *self, PyObject *args)
{
    size_t length = 0;
    tsr_print_opts o = { .threshold = 1000, .no_header = true };
    long long threshold = o.threshold;
    if (!PyArg_ParseTuple(args, "|iiLp:_text", &o.precision, &o.line_width, &threshold, &o.suppress_exponent))
        return NULL;
    o.threshold = threshold;
    tsr_status s = tsr_to_string(NULL, 0, &length, tensor_of(self), &o);
    char *text = s == TSR_OK ? PyMem_Malloc(length + 1) : NULL;
    if (s == TSR_OK && !text) return PyErr_NoMemory();
    if (text) s = tsr_to_string(text, length + 1, NULL, tensor_of(self), &o);
    PyObject *out = s == TSR_OK ? PyUnicode_FromStringAndSize(text, (Py_ssize_t)length) : fail(s);
    PyMem_Free(text);
    return out;
}

static PyObject *array_repr(PyObject *self) { return call_package("_repr", self, NULL, NULL); }
static PyObject *array_str(PyObject *self) { return call_package("_str", self, NULL, NULL); }

static PyObject *array_copy(PyObject *self, PyObject *unused)
{
    (void)unused;
    tsr_tensor *t = NULL;
    tsr_status s;
    RUN(s, tsr_numel(tensor_of(self)), tsr_clone(&t, tensor_of(self)));
    return s == TSR_OK ? array_wrap(t, NULL) : fail(s);
}

/* Methods that the package has as functions. */
#define BY_PACKAGE(name, function)                                                 \
    static PyObject *name(PyObject *self, PyObject *args, PyObject *names)         \
    {                                                                              \
        return call_package(function, self, args, names);                          \
    }
BY_PACKAGE(array_reduce_ex, "_reduce_ex")
BY_PACKAGE(array_to_device, "_to_device")
BY_PACKAGE(array_namespace_of, "_namespace_of")
BY_PACKAGE(array_array, "_to_numpy")
BY_PACKAGE(array_tolist, "_tolist")
BY_PACKAGE(array_html, "_html")
BY_PACKAGE(array_format, "_format")
BY_PACKAGE(array_dir, "_dir")

static PyObject *array_deepcopy(PyObject *self, PyObject *memo)
{
    (void)memo;
    return array_copy(self, NULL);
}

static PyMemberDef members[] = {
    { "__weaklistoffset__", T_PYSSIZET, offsetof(Array, weakrefs), READONLY, NULL },
    { NULL, 0, 0, 0, NULL }
};

#define WITH_NAMES METH_VARARGS | METH_KEYWORDS
#define FUNCTION(f) (PyCFunction)(void (*)(void))(f)

static PyMethodDef methods[] = {
    { "item", array_item, METH_NOARGS, "item($self, /)\n--\n\nThe only element, as a number of Python." },
    { "tolist", FUNCTION(array_tolist), WITH_NAMES,
      "tolist($self, /)\n--\n\nNested lists of Python's numbers." },
    { "copy", array_copy, METH_NOARGS, "copy($self, /)\n--\n\nA copy with memory of its own." },
    { "to_device", FUNCTION(array_to_device), WITH_NAMES,
      "to_device($self, device, /, *, stream=None)\n--\n\nThe array on another device; itself if it is "
      "there." },
    { "__array_namespace__", FUNCTION(array_namespace_of), WITH_NAMES,
      "__array_namespace__($self, /, *, api_version=None)\n--\n\nThe module tessera, or what an earlier "
      "revision of the standard has in its place." },
    { "__array__", FUNCTION(array_array), WITH_NAMES,
      "__array__($self, /, dtype=None, *, copy=None)\n--\n\nA NumPy array, of the same memory if it can "
      "be." },
    { "__complex__", array_complex, METH_NOARGS, "__complex__($self, /)\n--\n\nThe only element." },
    { "__dlpack__", FUNCTION(array_dlpack), WITH_NAMES,
      "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
      "A capsule with a managed tensor, for from_dlpack of another library." },
    { "__dlpack_device__", array_dlpack_device, METH_NOARGS,
      "__dlpack_device__($self, /)\n--\n\nType and number of the device, as DLPack counts them." },
    { "__copy__", array_copy, METH_NOARGS, NULL },
    { "__deepcopy__", array_deepcopy, METH_O, NULL },
    { "__reduce_ex__", FUNCTION(array_reduce_ex), WITH_NAMES, NULL },
    { "__format__", FUNCTION(array_format), WITH_NAMES, NULL },
    { "__dir__", FUNCTION(array_dir), WITH_NAMES, NULL },
    { "__arrow_c_array__", FUNCTION(array_arrow), WITH_NAMES,
      "__arrow_c_array__($self, /, requested_schema=None)\n--\n\nA vector as a column of Arrow, for pyarrow, "
      "pandas and others; of the same memory if it is contiguous." },
    { "_repr_html_", FUNCTION(array_html), WITH_NAMES, NULL },
    { "_text", array_text, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL }
};

static const char doc[] =
    "An N-dimensional array with elements of one dtype: a view of memory, by strides.\n\n"
    "Made by tessera.asarray, zeros, from_dlpack, load and the like.";

static PyType_Slot own_slots[] = {
    { Py_tp_doc, (void *)(size_t)doc },
    { Py_tp_dealloc, array_dealloc },
    { Py_tp_repr, array_repr },
    { Py_tp_str, array_str },
    { Py_tp_iter, array_iter },
    { Py_tp_hash, PyObject_HashNotImplemented },
    { Py_tp_getset, attributes },
    { Py_tp_methods, methods },
    { Py_tp_members, members },
    { Py_nb_bool, array_bool },
    { Py_nb_float, array_float },
    { Py_nb_int, array_int },
    { Py_nb_index, array_index },
    { Py_mp_length, array_len },
    { Py_sq_length, array_len },
    { Py_sq_item, index_item },
    { Py_mp_subscript, index_get },
    { Py_mp_ass_subscript, index_set },
    { 1 /* Py_bf_getbuffer */, array_get_buffer },
    { 2 /* Py_bf_releasebuffer */, array_release_buffer },
    { 0, NULL }
};

#ifndef Py_TPFLAGS_DISALLOW_INSTANTIATION
#define Py_TPFLAGS_DISALLOW_INSTANTIATION (1UL << 7)
#endif

int array_init(PyObject *module)
{
    static PyType_Slot slots[80];
    int n = 0;
    for (const PyType_Slot *s = own_slots; s->slot; s++) slots[n++] = *s;
    for (const PyType_Slot *s = operator_slots; s->slot; s++) slots[n++] = *s;
    PyType_Spec spec = { "tessera.Array", sizeof(Array), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots };
    array_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return array_type ? PyModule_AddObjectRef(module, "Array", (PyObject *)array_type) : -1;
}

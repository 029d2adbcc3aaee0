/* dtype.c - tessera.dtype: one object for each dtype of the library. */
#include "binding.h"

PyTypeObject *dtype_type;
static PyObject *dtypes[TSR_DTYPE_COUNT];

static tsr_dtype number_of(PyObject *o) { return ((Dtype *)o)->number; }

PyObject *dtype_object(tsr_dtype number)
{
    PyObject *o = tsr_dtype_is_valid(number) ? dtypes[number] : Py_None;
    Py_INCREF(o);
    return o;
}

/* The name of a class of Python that stands for a dtype, as in NumPy. */
static bool dtype_of_class(tsr_dtype *out, PyObject *o)
{
    if (o == (PyObject *)&PyBool_Type) *out = TSR_BOOL;
    else if (o == (PyObject *)&PyLong_Type) *out = TSR_I64;
    else if (o == (PyObject *)&PyFloat_Type) *out = TSR_F64;
    else if (o == (PyObject *)&PyComplex_Type) *out = TSR_C128;
    else return false;
    return true;
}

/* A dtype of NumPy, ml_dtypes or PyTorch, by its name. */
static int dtype_by_name(tsr_dtype *out, PyObject *o)
{
    PyObject *name = PyUnicode_Check(o) ? Py_NewRef(o) : PyObject_GetAttrString(o, "name");
    if (!name || !PyUnicode_Check(name)) {
        Py_XDECREF(name);
        PyErr_Format(PyExc_TypeError, "%R is no dtype", o);
        return -1;
    }
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    const tsr_status s = text ? tsr_dtype_parse(out, text) : TSR_OK;
    Py_DECREF(name);
    if (!text) return -1;
    return s == TSR_OK ? 0 : fail_int(s);
}

int dtype_from(tsr_dtype *out, PyObject *o)
{
    if (Py_TYPE(o) == dtype_type) {
        *out = number_of(o);
        return 0;
    }
    return dtype_of_class(out, o) ? 0 : dtype_by_name(out, o);
}

static PyObject *dtype_repr(PyObject *self)
{
    return PyUnicode_FromFormat("tessera.%s", tsr_dtype_long_name(number_of(self)));
}

static PyObject *dtype_str(PyObject *self)
{
    return PyUnicode_FromString(tsr_dtype_long_name(number_of(self)));
}

static PyObject *dtype_short(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(tsr_dtype_name(number_of(self)));
}

static PyObject *dtype_name(PyObject *self, void *unused)
{
    (void)unused;
    return dtype_str(self);
}

static PyObject *dtype_itemsize(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(tsr_dtype_size(number_of(self)));
}

static PyObject *dtype_kind(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(tsr_kind_name(tsr_dtype_kind(number_of(self))));
}

static PyObject *dtype_real(PyObject *self, void *unused)
{
    (void)unused;
    return dtype_object(tsr_dtype_real(number_of(self)));
}

/* Pickled and copied as the attribute of the module: dtypes are single objects. */
static PyObject *dtype_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    return dtype_str(self);
}

static PyObject *dtype_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    (void)type;
    PyObject *o;
    tsr_dtype number;
    static char *keywords[] = { "name", NULL };
    if (!PyArg_ParseTupleAndKeywords(args, names, "O:dtype", keywords, &o) || dtype_from(&number, o))
        return NULL;
    return dtype_object(number);
}

static PyGetSetDef dtype_attributes[] = {
    { "name", dtype_name, NULL, "\"float32\"", NULL },
    { "short_name", dtype_short, NULL, "\"f32\"", NULL },
    { "itemsize", dtype_itemsize, NULL, "bytes of an element", NULL },
    { "kind", dtype_kind, NULL, "\"boolean\", \"signed\", \"unsigned\", \"floating\" or \"complex\"", NULL },
    { "real", dtype_real, NULL, "the dtype of a complex dtype's parts; else the dtype itself", NULL },
    { NULL, NULL, NULL, NULL, NULL }
};

static PyMethodDef dtype_methods[] = { { "__reduce__", dtype_reduce, METH_NOARGS, NULL },
                                       { NULL, NULL, 0, NULL } };

static PyType_Slot dtype_slots[] = {
    { Py_tp_doc,
      "dtype(name)\n--\n\nWhat an element is: of a name (\"float32\", \"f32\"), a class of Python's "
      "numbers, or another library's dtype." },
    { Py_tp_new, dtype_new },
    { Py_tp_repr, dtype_repr },
    { Py_tp_str, dtype_str },
    { Py_tp_getset, dtype_attributes },
    { Py_tp_methods, dtype_methods },
    { 0, NULL }
};

static PyType_Spec dtype_spec = { "tessera.dtype", sizeof(Dtype), 0, Py_TPFLAGS_DEFAULT, dtype_slots };

int dtype_init(PyObject *module)
{
    dtype_type = (PyTypeObject *)PyType_FromSpec(&dtype_spec);
    if (!dtype_type || PyModule_AddObjectRef(module, "dtype", (PyObject *)dtype_type)) return -1;
    PyObject *list = PyList_New(0);
    if (!list) return -1;
    for (tsr_dtype d = 1; d < TSR_DTYPE_COUNT; d++) {
        Dtype *o = PyObject_New(Dtype, dtype_type);
        if (!o) return -1;
        o->number = d;
        dtypes[d] = (PyObject *)o;
        if (PyModule_AddObjectRef(module, tsr_dtype_long_name(d), dtypes[d]) ||
            PyList_Append(list, dtypes[d]))
            return -1;
    }
    return PyModule_AddObject(module, "dtypes", list);
}

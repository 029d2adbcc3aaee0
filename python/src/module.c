/* module.c - the extension tessera._tessera: what the package is made of. */
#include "binding.h"

#include <string.h>

static PyObject *devices(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    const int n = tsr_device_count();
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < n; i++) {
        char name[64];
        const tsr_device device = tsr_device_at(i);
        tsr_device_name(name, sizeof name, device);
        PyObject *o = PyUnicode_FromString(device == TSR_CPU ? "cpu" : name);
        if (!o || PyList_Append(list, o)) Py_CLEAR(list);
        Py_XDECREF(o);
    }
    return list;
}

static PyObject *default_device(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    char name[64];
    const tsr_device device = tsr_device_default();
    tsr_device_name(name, sizeof name, device);
    return PyUnicode_FromString(device == TSR_CPU ? "cpu" : name);
}

static PyObject *set_threads(PyObject *self, PyObject *args)
{
    (void)self;
    int n;
    if (!PyArg_ParseTuple(args, "i:set_threads", &n)) return NULL;
    tsr_status s;
    RUN(s, LONG_WORK, tsr_set_threads(n));
    if (s != TSR_OK) return fail(s);
    Py_RETURN_NONE;
}

static PyObject *threads(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return PyLong_FromLong(tsr_threads());
}

static PyObject *promote(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *a, *b;
    tsr_dtype x, y, z;
    if (!PyArg_ParseTuple(args, "OO:promote", &a, &b) || dtype_from(&x, a) || dtype_from(&y, b)) return NULL;
    const tsr_status s = tsr_dtype_promote(&z, x, y);
    return s == TSR_OK ? dtype_object(z) : fail(s);
}

static PyObject *synchronize(PyObject *self, PyObject *args)
{
    (void)self;
    const char *name;
    tsr_device device;
    if (!PyArg_ParseTuple(args, "s:synchronize", &name)) return NULL;
    tsr_status s = tsr_device_parse(&device, name);
    if (s == TSR_OK) RUN(s, LONG_WORK, tsr_device_sync(device));
    if (s != TSR_OK) return fail(s);
    Py_RETURN_NONE;
}

/* The interpreter that made the module; its types and exceptions are of no use to another one. */
static int64_t owner = -1;

static PyObject *check_interpreter(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) == owner) Py_RETURN_NONE;
    PyErr_SetString(PyExc_ImportError,
                    "tessera is loaded by another interpreter of this process, and can be by one only");
    return NULL;
}

static const char *example_of(const char *name)
{
    const example *e = examples;
    while (e->name && strcmp(e->name, name)) e++;
    return e->text;
}

/* The texts live as long as the process, as a static function's do. */
int add_functions(PyObject *module, PyMethodDef *list)
{
    for (PyMethodDef *m = list; m->ml_name; m++) {
        const char *text = m->ml_doc ? example_of(m->ml_name) : NULL;
        if (!text) continue;
        const size_t room = strlen(m->ml_doc) + strlen(text) + 3;
        char *doc = PyMem_Malloc(room);
        if (!doc) return -1;
        PyOS_snprintf(doc, room, "%s\n\n%s", m->ml_doc, text);
        m->ml_doc = doc;
    }
    return PyModule_AddFunctions(module, list);
}

/* examples: name to text. */
static int add_examples(PyObject *module)
{
    PyObject *dict = PyDict_New();
    if (!dict) return -1;
    for (const example *e = examples; e->name; e++) {
        PyObject *text = PyUnicode_FromString(e->text);
        const int result = text ? PyDict_SetItemString(dict, e->name, text) : -1;
        Py_XDECREF(text);
        if (result) return -1;
    }
    return PyModule_AddObject(module, "examples", dict);
}

static PyMethodDef methods[] = {
    { "check_interpreter", check_interpreter, METH_NOARGS, NULL },
    { "elementwise", elementwise, METH_VARARGS, NULL },
    { "from_numbers", number_sequence, METH_VARARGS, NULL },
    { "promote", promote, METH_VARARGS, NULL },
    { "devices", devices, METH_NOARGS, NULL },
    { "default_device", default_device, METH_NOARGS, NULL },
    { "set_threads", set_threads, METH_VARARGS,
      "set_threads(n, /)\n--\n\nHow many threads compute; 0 restores the default." },
    { "threads", threads, METH_NOARGS, "threads()\n--\n\nHow many threads compute." },
    { "synchronize", synchronize, METH_VARARGS,
      "synchronize(device, /)\n--\n\nWaits for all work of a device." },
    { NULL, NULL, 0, NULL }
};

static struct PyModuleDef definition = { PyModuleDef_HEAD_INIT, "tessera._tessera", NULL, -1, NULL,
                                         NULL, NULL, NULL, NULL };

PyMODINIT_FUNC PyInit__tessera(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (!module) return NULL;
    if (add_functions(module, methods) || errors_init(module) || dtype_init(module) ||
        array_init(module) || call_init(module) ||
        view_init(module) || exchange_init(module) || arrow_init(module) ||
        add_examples(module) || file_init(module) ||
        PyModule_AddIntConstant(module, "max_dims", TSR_MAX_NDIM) ||
        PyModule_AddStringConstant(module, "version", tsr_version()))
        Py_CLEAR(module);
#ifdef Py_GIL_DISABLED
    if (module) PyUnstable_Module_SetGIL(module, Py_MOD_GIL_NOT_USED);
#endif
    owner = PyInterpreterState_GetID(PyInterpreterState_Get());
    return module;
}

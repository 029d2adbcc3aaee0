/* errors.c - a status as an exception.
 *
 * Every failure is a tessera.Error with the library's words. It is also the exception that Python has for
 * such a failure, so that `except IndexError` works as usual. */
#include "binding.h"

static PyObject *base_error, *value_error, *type_error, *index_error, *memory_error, *os_error,
    *missing_error;

static PyObject *error_of(tsr_status status)
{
    switch (status) {
    case TSR_EDTYPE: return type_error;
    case TSR_EINDEX:
    case TSR_EBOUNDS: return index_error;
    case TSR_ENOMEM: return memory_error;
    case TSR_EIO: return os_error;
    case TSR_EUNSUPPORTED: return missing_error;
    case TSR_EBUSY: return base_error;
    default: return value_error;
    }
}

int fail_int(tsr_status status)
{
    PyErr_SetString(error_of(status), tsr_last_error());
    return -1;
}

PyObject *fail(tsr_status status)
{
    fail_int(status);
    return NULL;
}

static int add_error(PyObject *module, PyObject **out, const char *name, PyObject *also, const char *doc)
{
    PyObject *bases = also ? PyTuple_Pack(2, base_error, also) : PyTuple_Pack(1, PyExc_Exception);
    if (!bases) return -1;
    char full[64];
    PyOS_snprintf(full, sizeof full, "tessera.%s", name);
    *out = PyErr_NewExceptionWithDoc(full, doc, bases, NULL);
    Py_DECREF(bases);
    return *out ? PyModule_AddObjectRef(module, name, *out) : -1;
}

int errors_init(PyObject *module)
{
    if (add_error(module, &base_error, "Error", NULL, "A call of the library failed; its words say why."))
        return -1;
    if (add_error(module, &value_error, "ArgumentError", PyExc_ValueError,
                  "A shape, size or option does not fit."))
        return -1;
    if (add_error(module, &type_error, "DtypeError", PyExc_TypeError, "A dtype is not accepted here."))
        return -1;
    if (add_error(module, &index_error, "BoundsError", PyExc_IndexError, "An index or axis is out of range."))
        return -1;
    if (add_error(module, &memory_error, "NoMemoryError", PyExc_MemoryError, "There is no memory left."))
        return -1;
    if (add_error(module, &os_error, "FileError", PyExc_OSError, "The system refused to read or write."))
        return -1;
    return add_error(module, &missing_error, "UnsupportedError", PyExc_NotImplementedError,
                     "This build, device or format does not have it.");
}

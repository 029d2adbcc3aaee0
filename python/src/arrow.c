/* arrow.c - columns shared with pandas, pyarrow, polars and others: Arrow's C data interface in the capsules
 * that its PyCapsule interface names. */
#include "binding.h"

static const char SCHEMA[] = "arrow_schema", ARRAY[] = "arrow_array", STREAM[] = "arrow_array_stream";

/* Arrow's stream of arrays of one schema. */
typedef struct arrow_stream {
    int         (*get_schema)(struct arrow_stream *self, tsr_arrow_schema *out);
    int         (*get_next)(struct arrow_stream *self, tsr_arrow_array *out);
    const char *(*get_last_error)(struct arrow_stream *self);
    void        (*release)(struct arrow_stream *self);
    void         *private_data;
} arrow_stream;

/* To others -------------------------------------------------------------------------------------- */

static void release_schema(tsr_arrow_schema *s)
{
    if (s && s->release) s->release(s);
}

static void release_array(tsr_arrow_array *a)
{
    if (a && a->release) a->release(a);
}

/* What nobody took is released with its capsule. */
static void drop_schema(PyObject *capsule)
{
    tsr_arrow_schema *s = PyCapsule_GetPointer(capsule, SCHEMA);
    release_schema(s);
    PyMem_Free(s);
}

static void drop_array(PyObject *capsule)
{
    tsr_arrow_array *a = PyCapsule_GetPointer(capsule, ARRAY);
    release_array(a);
    PyMem_Free(a);
}

static PyObject *schema_capsule(tsr_arrow_schema *s)
{
    PyObject *capsule = PyCapsule_New(s, SCHEMA, drop_schema);
    if (capsule) return capsule;
    release_schema(s);
    PyMem_Free(s);
    return NULL;
}

static PyObject *array_capsule(tsr_arrow_array *a)
{
    PyObject *capsule = PyCapsule_New(a, ARRAY, drop_array);
    if (capsule) return capsule;
    release_array(a);
    PyMem_Free(a);
    return NULL;
}

/* (schema, array). What the consumer would rather have is a wish: elements stay as they are. */
PyObject *array_arrow(PyObject *self, PyObject *args, PyObject *names)
{
    static char *keywords[] = { "requested_schema", NULL };
    PyObject *wish = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, names, "|O:__arrow_c_array__", keywords, &wish)) return NULL;
    tsr_arrow_schema *s = PyMem_Calloc(1, sizeof *s);
    tsr_arrow_array *a = PyMem_Calloc(1, sizeof *a);
    const tsr_status status = s && a ? tsr_to_arrow(a, s, tensor_of(self)) : TSR_OK;
    if (!s || !a || status != TSR_OK) {
        PyMem_Free(s);
        PyMem_Free(a);
        return status == TSR_OK ? PyErr_NoMemory() : fail(status);
    }
    PyObject *schema = schema_capsule(s), *array = array_capsule(a);
    PyObject *pair = schema && array ? PyTuple_Pack(2, schema, array) : NULL;
    Py_XDECREF(schema);
    Py_XDECREF(array);
    return pair;
}

/* From others ------------------------------------------------------------------------------------ */

/* import_arrow(schema, array): the column in two capsules, which are taken over. */
static PyObject *import_arrow(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *schema, *array;
    if (!PyArg_ParseTuple(args, "OO:import_arrow", &schema, &array)) return NULL;
    tsr_arrow_schema *s = PyCapsule_GetPointer(schema, SCHEMA);
    tsr_arrow_array *a = s ? PyCapsule_GetPointer(array, ARRAY) : NULL;
    if (!a) return NULL;
    tsr_tensor *t = NULL;
    const tsr_status status = tsr_from_arrow(&t, a, s);
    return status == TSR_OK ? array_wrap(t, NULL) : fail(status);
}

static PyObject *stream_error(arrow_stream *stream, int error)
{
    const char *words = stream->get_last_error(stream);
    return PyErr_Format(PyExc_ValueError, "the stream of Arrow failed with %d: %s", error,
                        words ? words : "it does not say why");
}

/* The next array of the stream; None at its end. Each array takes a schema over. */
static PyObject *next_array(arrow_stream *stream)
{
    tsr_arrow_schema schema = { 0 };
    tsr_arrow_array array = { 0 };
    tsr_tensor *t = NULL;
    int error = stream->get_next(stream, &array);
    if (!error && !array.release) Py_RETURN_NONE;
    if (!error) error = stream->get_schema(stream, &schema);
    const tsr_status status = error ? TSR_OK : tsr_from_arrow(&t, &array, &schema);
    release_array(&array);
    release_schema(&schema);
    if (error) return stream_error(stream, error);
    return status == TSR_OK ? array_wrap(t, NULL) : fail(status);
}

/* import_arrow_stream(capsule): a list of the arrays in it. */
static PyObject *import_arrow_stream(PyObject *self, PyObject *capsule)
{
    (void)self;
    arrow_stream *stream = PyCapsule_GetPointer(capsule, STREAM);
    if (!stream) return NULL;
    if (!stream->release) {
        PyErr_SetString(PyExc_ValueError, "the stream of Arrow was read already");
        return NULL;
    }
    PyObject *list = PyList_New(0);
    while (list) {
        PyObject *array = next_array(stream);
        if (array == Py_None) {
            Py_DECREF(array);
            break;
        }
        if (!array || PyList_Append(list, array)) Py_CLEAR(list);
        Py_XDECREF(array);
    }
    return list;
}

static PyMethodDef arrow_methods[] = {
    { "import_arrow", import_arrow, METH_VARARGS, NULL },
    { "import_arrow_stream", import_arrow_stream, METH_O, NULL },
    { NULL, NULL, 0, NULL }
};

int arrow_init(PyObject *module) { return PyModule_AddFunctions(module, arrow_methods); }

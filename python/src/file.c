/* file.c - files and their writers as capsules; the package has the classes around them. */
#include "binding.h"

#include <string.h>

static const char FILE_NAME[] = "tessera.file", WRITER_NAME[] = "tessera.writer";

static void close_file(PyObject *capsule)
{
    tsr_file *f = PyCapsule_GetPointer(capsule, FILE_NAME);
    tsr_file_close(&f);
}

static tsr_file *file_of(PyObject *o) { return PyCapsule_GetPointer(o, FILE_NAME); }

/* How many sizes there are; -1. */
static int sizes_of(int64_t *shape, PyObject *list)
{
    const Py_ssize_t n = PyTuple_Check(list) ? PyTuple_Size(list) : -1;
    if (n < 0 || n > TSR_MAX_NDIM) {
        PyErr_SetString(PyExc_ValueError, "shape is no tuple of so many sizes");
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        shape[i] = PyLong_AsLongLong(PyTuple_GetItem(list, i));
        if (PyErr_Occurred()) return -1;
    }
    return (int)n;
}

static int shape_from(tsr_file_opts *opts, int64_t *shape, PyObject *list)
{
    if (list == Py_None) return 0;
    opts->ndim = sizes_of(shape, list);
    opts->shape = shape;
    return opts->ndim < 0 ? -1 : 0;
}

/* open(path, format, copy, dtype, shape, offset) */
static PyObject *open_file(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *path, *dtype, *shape;
    tsr_file_opts opts = { 0 };
    int64_t sizes[TSR_MAX_NDIM];
    int copy;
    unsigned long long offset;
    tsr_file *f = NULL;
    tsr_status s;
    if (!PyArg_ParseTuple(args, "O&zpOOK:open", PyUnicode_FSConverter, &path, &opts.format, &copy, &dtype,
                          &shape, &offset))
        return NULL;
    opts.copy = copy;
    opts.offset = offset;
    if ((dtype == Py_None || !dtype_from(&opts.dtype, dtype)) && !shape_from(&opts, sizes, shape)) {
        RUN(s, LONG_WORK, tsr_file_open(&f, PyBytes_AsString(path), &opts));
        if (s != TSR_OK) fail(s);
    }
    Py_DECREF(path);
    PyObject *capsule = f ? PyCapsule_New(f, FILE_NAME, close_file) : NULL;
    if (f && !capsule) tsr_file_close(&f);
    return capsule;
}

static PyObject *entry_object(const tsr_file_entry *e)
{
    PyObject *shape = PyTuple_New(e->desc.ndim);
    for (int i = 0; shape && i < e->desc.ndim; i++)
        if (PyTuple_SetItem(shape, i, PyLong_FromLongLong(e->desc.shape[i]))) Py_CLEAR(shape);
    return shape ? Py_BuildValue("(ssNNKKO)", e->name, e->encoding, dtype_object(e->desc.dtype), shape,
                                 (unsigned long long)e->offset, (unsigned long long)e->bytes,
                                 e->mapped ? Py_True : Py_False)
                 : NULL;
}

/* list(file): (format, bytes, [(name, encoding, dtype, shape, offset, bytes, mapped)]) */
static PyObject *list_file(PyObject *self, PyObject *o)
{
    (void)self;
    const tsr_file *f = file_of(o);
    PyObject *list = f ? PyList_New(0) : NULL;
    for (int64_t i = 0; list && i < tsr_file_count(f); i++) {
        tsr_file_entry e;
        const tsr_status s = tsr_file_list(&e, f, i);
        PyObject *entry = s == TSR_OK ? entry_object(&e) : fail(s);
        if (!entry || PyList_Append(list, entry)) Py_CLEAR(list);
        Py_XDECREF(entry);
    }
    return list ? Py_BuildValue("(sKN)", tsr_file_format(f), (unsigned long long)tsr_file_size(f), list)
                : NULL;
}

/* Metadata ------------------------------------------------------------------------------------------ */

static PyObject *meta_object(const tsr_meta *m);

static PyObject *meta_numbers(const tsr_meta *m)
{
    tsr_tensor *t = NULL;
    const tsr_status s = tsr_from_data(&t, m->dtype, 1, &m->count, m->data);
    return s == TSR_OK ? array_wrap(t, NULL) : fail(s);
}

static PyObject *meta_list(const tsr_meta *m)
{
    PyObject *list = PyList_New((Py_ssize_t)m->count);
    for (int64_t i = 0; list && i < m->count; i++) {
        PyObject *o = m->type == TSR_META_TEXTS
                          ? PyUnicode_DecodeUTF8(m->texts[i], (Py_ssize_t)strlen(m->texts[i]), "replace")
                          : meta_object(&m->items[i]);
        if (!o || PyList_SetItem(list, (Py_ssize_t)i, o)) Py_CLEAR(list);
    }
    return list;
}

static PyObject *meta_object(const tsr_meta *m)
{
    switch (m->type) {
    case TSR_META_TEXT: return PyUnicode_DecodeUTF8(m->text, (Py_ssize_t)m->length, "replace");
    case TSR_META_NUMBER: return number_object(m->number);
    case TSR_META_NUMBERS: return meta_numbers(m);
    default: return meta_list(m);
    }
}

static PyObject *file_meta(PyObject *self, PyObject *o)
{
    (void)self;
    const tsr_file *f = file_of(o);
    PyObject *dict = f ? PyDict_New() : NULL;
    for (int64_t i = 0; dict && i < tsr_file_meta_count(f); i++) {
        tsr_meta m;
        const tsr_status s = tsr_file_meta(&m, f, i);
        PyObject *v = s == TSR_OK ? meta_object(&m) : fail(s);
        if (!v || PyDict_SetItemString(dict, m.key, v)) Py_CLEAR(dict);
        Py_XDECREF(v);
    }
    return dict;
}

/* Reading --------------------------------------------------------------------------------------------- */

static PyObject *read_file(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *o;
    const char *name;
    int raw;
    tsr_tensor *t = NULL;
    tsr_status s;
    if (!PyArg_ParseTuple(args, "Ozp:read", &o, &name, &raw)) return NULL;
    const tsr_file *f = file_of(o);
    if (!f) return NULL;
    RUN(s, LONG_WORK, raw ? tsr_file_read_raw(&t, f, name) : tsr_file_read(&t, f, name));
    return s == TSR_OK ? array_wrap(t, NULL) : fail(s);
}

static int bound(int64_t *out, PyObject *o)
{
    *out = o == Py_None ? TSR_NONE : PyLong_AsLongLong(o);
    return PyErr_Occurred() ? -1 : 0;
}

/* read_part(file, name, [(start, stop, step)]) with None for a bound that is left out; step 0 is one index.
 */
static PyObject *read_part(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *o, *list;
    const char *name;
    tsr_file_range ranges[TSR_MAX_NDIM];
    tsr_tensor *t = NULL;
    tsr_status s;
    if (!PyArg_ParseTuple(args, "OzO!:read_part", &o, &name, &PyTuple_Type, &list)) return NULL;
    const tsr_file *f = file_of(o);
    const Py_ssize_t n = PyTuple_Size(list);
    if (!f) return NULL;
    if (n > TSR_MAX_NDIM)
        return PyErr_Format(PyExc_IndexError, "%zd ranges for at most %d dims", n, TSR_MAX_NDIM);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *start, *stop;
        long long step;
        if (!PyArg_ParseTuple(PyTuple_GetItem(list, i), "OOL", &start, &stop, &step)) return NULL;
        if (bound(&ranges[i].start, start) || bound(&ranges[i].stop, stop)) return NULL;
        ranges[i].step = step;
    }
    RUN(s, LONG_WORK, tsr_file_read_slice(&t, f, name, (int)n, ranges));
    return s == TSR_OK ? array_wrap(t, NULL) : fail(s);
}

/* Writing ----------------------------------------------------------------------------------------------- */

/* w is NULL while a call uses it, and when the file is finished. Only the package uses writers, each on the
 * thread that made it. */
typedef struct writer { tsr_writer *w; } writer;

static void cancel(PyObject *capsule)
{
    writer *w = PyCapsule_GetPointer(capsule, WRITER_NAME);
    tsr_writer_cancel(&w->w);
    PyMem_Free(w);
}

static writer *writer_of(PyObject *o)
{
    writer *w = PyCapsule_GetPointer(o, WRITER_NAME);
    if (w && !w->w) {
        PyErr_SetString(PyExc_ValueError, "the file is finished, or another thread writes it");
        return NULL;
    }
    return w;
}

static PyObject *create(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *path;
    tsr_writer_opts opts = { 0 };
    int compress, no_sync;
    if (!PyArg_ParseTuple(args, "O&zpp:create", PyUnicode_FSConverter, &path, &opts.format, &compress,
                          &no_sync))
        return NULL;
    opts.compress = compress;
    opts.no_sync = no_sync;
    writer *w = PyMem_Calloc(1, sizeof *w);
    const tsr_status s = w ? tsr_writer_create(&w->w, PyBytes_AsString(path), &opts) : TSR_OK;
    Py_DECREF(path);
    if (!w) return PyErr_NoMemory();
    PyObject *capsule = s == TSR_OK ? PyCapsule_New(w, WRITER_NAME, cancel) : fail(s);
    if (!capsule) {
        tsr_writer_cancel(&w->w);
        PyMem_Free(w);
    }
    return capsule;
}

static PyObject *write_text(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *o;
    const char *key, *text;
    if (!PyArg_ParseTuple(args, "Oss:text", &o, &key, &text)) return NULL;
    writer *w = writer_of(o);
    if (!w) return NULL;
    const tsr_status s = tsr_writer_text(w->w, key, text);
    if (s != TSR_OK) return fail(s);
    Py_RETURN_NONE;
}

static PyObject *declare(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *o, *list, *dtype;
    const char *name, *encoding;
    int64_t shape[TSR_MAX_NDIM];
    tsr_dtype number;
    tsr_desc desc;
    if (!PyArg_ParseTuple(args, "OzOOz:declare", &o, &name, &list, &dtype, &encoding)) return NULL;
    writer *w = writer_of(o);
    const int n = w && !dtype_from(&number, dtype) ? sizes_of(shape, list) : -1;
    if (n < 0) return NULL;
    tsr_status s = tsr_desc_init(&desc, number, n, shape, NULL);
    if (s == TSR_OK) s = tsr_writer_declare(w->w, name, &desc, encoding);
    if (s != TSR_OK) return fail(s);
    Py_RETURN_NONE;
}

static PyObject *add(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *o, *x;
    const char *name, *encoding;
    if (!PyArg_ParseTuple(args, "OzO!z:add", &o, &name, array_type, &x, &encoding)) return NULL;
    writer *w = writer_of(o);
    if (!w) return NULL;
    tsr_writer *used = w->w;
    tsr_status s;
    w->w = NULL;
    RUN(s, tsr_numel(tensor_of(x)), tsr_writer_add(used, name, tensor_of(x), encoding));
    w->w = used;
    if (s != TSR_OK) return fail(s);
    Py_RETURN_NONE;
}

static PyObject *finish(PyObject *self, PyObject *o)
{
    (void)self;
    writer *w = writer_of(o);
    if (!w) return NULL;
    tsr_writer *ending = w->w;
    tsr_status s;
    w->w = NULL;
    RUN(s, LONG_WORK, tsr_writer_finish(&ending));
    if (s != TSR_OK) return fail(s);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    { "file_open", open_file, METH_VARARGS, NULL },    { "file_list", list_file, METH_O, NULL },
    { "file_meta", file_meta, METH_O, NULL },          { "file_read", read_file, METH_VARARGS, NULL },
    { "file_read_part", read_part, METH_VARARGS, NULL }, { "writer_create", create, METH_VARARGS, NULL },
    { "writer_text", write_text, METH_VARARGS, NULL }, { "writer_declare", declare, METH_VARARGS, NULL },
    { "writer_add", add, METH_VARARGS, NULL },         { "writer_finish", finish, METH_O, NULL },
    { NULL, NULL, 0, NULL }
};

int file_init(PyObject *module) { return PyModule_AddFunctions(module, methods); }

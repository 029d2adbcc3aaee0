/* exchange.c - memory shared with other libraries: the buffer protocol and DLPack. */
#include "binding.h"

#include <string.h>

/* The limited API has the buffer protocol from 3.11 on, with the struct as it has been since 3.3, and 3.10
 * takes the slots too. */
#if defined Py_LIMITED_API && Py_LIMITED_API < 0x030B0000
typedef struct {
    void       *buf;
    PyObject   *obj;
    Py_ssize_t  len, itemsize;
    int         readonly, ndim;
    char       *format;
    Py_ssize_t *shape, *strides, *suboffsets;
    void       *internal;
} Py_buffer;
PyAPI_FUNC(int) PyObject_GetBuffer(PyObject *o, Py_buffer *view, int flags);
PyAPI_FUNC(void) PyBuffer_Release(Py_buffer *view);
#define PyBUF_WRITABLE 0x0001
#define PyBUF_FORMAT 0x0004
#define PyBUF_ND 0x0008
#define PyBUF_STRIDES (0x0010 | PyBUF_ND)
#define PyBUF_C_CONTIGUOUS (0x0020 | PyBUF_STRIDES)
#define PyBUF_F_CONTIGUOUS (0x0040 | PyBUF_STRIDES)
#define PyBUF_FULL_RO (0x0100 | PyBUF_STRIDES | PyBUF_FORMAT)
#endif

/* Formats ---------------------------------------------------------------------------------------- */

static const struct { const char *text; tsr_dtype dtype;
} formats[] = {
    { "?", TSR_BOOL }, { "b", TSR_I8 },  { "h", TSR_I16 },  { "i", TSR_I32 },   { "q", TSR_I64 },
    { "B", TSR_U8 },   { "H", TSR_U16 }, { "I", TSR_U32 },  { "Q", TSR_U64 },   { "e", TSR_F16 },
    { "f", TSR_F32 },  { "d", TSR_F64 }, { "Zf", TSR_C64 }, { "Zd", TSR_C128 }, { "l", TSR_I64 },
    { "L", TSR_U64 },  { "n", TSR_I64 }, { "N", TSR_U64 },  { "c", TSR_U8 },
};
enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

static const char *format_of(tsr_dtype dtype)
{
    for (int i = 0; i < FORMAT_COUNT; i++)
        if (formats[i].dtype == dtype) return formats[i].text;
    return NULL;
}

/* By the size too: l has that of the machine, or 4 behind a sign of byte order. */
static tsr_dtype dtype_of_format(const char *format, Py_ssize_t itemsize)
{
    if (!format) return TSR_U8;
    if (*format == '@' || *format == '=' || *format == '<' || (*format == '>' && itemsize == 1)) format++;
    for (int i = 0; i < FORMAT_COUNT; i++) {
        if (strcmp(formats[i].text, format)) continue;
        if ((Py_ssize_t)tsr_dtype_size(formats[i].dtype) == itemsize) return formats[i].dtype;
        if (itemsize == 4 && (*format == 'l' || *format == 'L')) return *format == 'l' ? TSR_I32 : TSR_U32;
    }
    return TSR_DTYPE_INVALID;
}

/* To others -------------------------------------------------------------------------------------- */

static int refuse_buffer(Py_buffer *view, const char *why)
{
    view->obj = NULL;
    PyErr_SetString(PyExc_BufferError, why);
    return -1;
}

static const char *buffer_problem(const tsr_tensor *t, int flags)
{
    if (!format_of(t->dtype))
        return "the buffer protocol has no such dtype: numpy.asarray, or bit_view, gives one";
    if (!tsr_is_host(t)) return "the elements are on a device: to_device(\"cpu\") copies them";
    if ((flags & PyBUF_WRITABLE) && tsr_is_readonly(t)) return "the array is read-only";
    if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && !tsr_desc_is_column_major(&t->desc))
        return "the array is not column-major";
    const bool needs_order = (flags & PyBUF_STRIDES) != PyBUF_STRIDES ||
                             (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS;
    if (needs_order && !tsr_is_contiguous(t)) return "the array is not contiguous";
    return NULL;
}

int array_get_buffer(PyObject *self, void *to, int flags)
{
    Py_buffer *view = to;
    const tsr_tensor *t = tensor_of(self);
    const char *problem = buffer_problem(t, flags);
    if (problem) return refuse_buffer(view, problem);
    Py_ssize_t *dims = PyMem_Malloc(sizeof *dims * 2 * (size_t)(t->ndim + 1));
    if (!dims) return refuse_buffer(view, "out of memory");
    const Py_ssize_t size = (Py_ssize_t)tsr_dtype_size(t->dtype);
    for (int i = 0; i < t->ndim; i++) {
        dims[i] = (Py_ssize_t)t->shape[i];
        dims[t->ndim + i] = (Py_ssize_t)t->stride[i] * size;
    }
    *view = (Py_buffer){ .buf = t->data,
                         .obj = Py_NewRef(self),
                         .len = (Py_ssize_t)tsr_byte_size(t),
                         .itemsize = size,
                         .readonly = tsr_is_readonly(t),
                         .ndim = t->ndim,
                         .internal = dims };
    if (flags & PyBUF_FORMAT) view->format = (char *)(uintptr_t)format_of(t->dtype);
    if (flags & PyBUF_ND) view->shape = dims;
    if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES) view->strides = dims + t->ndim;
    return 0;
}

void array_release_buffer(PyObject *self, void *from)
{
    (void)self;
    PyMem_Free(((Py_buffer *)from)->internal);
}

/* From others ---------------------------------------------------------------------------------------- */

/* The last view of foreign memory is gone: perhaps on a thread that is not Python's. */
static void release_foreign(void *context, void *data, size_t bytes)
{
    (void)data, (void)bytes;
    if (!Py_IsInitialized()) return; /* the interpreter, and with it the owner, is gone */
    const PyGILState_STATE state = PyGILState_Ensure();
    PyBuffer_Release(context);
    PyMem_Free(context);
    PyGILState_Release(state);
}

static tsr_status describe(tsr_desc *out, const Py_buffer *b, tsr_dtype dtype, bool *fits)
{
    int64_t shape[TSR_MAX_NDIM], stride[TSR_MAX_NDIM];
    *fits = b->ndim <= TSR_MAX_NDIM && !b->suboffsets;
    for (int i = 0; *fits && i < b->ndim; i++) {
        shape[i] = b->shape ? b->shape[i] : b->len / b->itemsize;
        if (b->strides) *fits = b->strides[i] % b->itemsize == 0 || shape[i] < 2;
        if (b->strides) stride[i] = b->strides[i] / b->itemsize;
    }
    if (!*fits) return TSR_OK;
    return tsr_desc_init(out, dtype, b->ndim, shape, b->strides ? stride : NULL);
}

static tsr_status adopt(tsr_tensor **out, Py_buffer *b, const tsr_desc *desc)
{
    int64_t low, high;
    tsr_desc_span(desc, &low, &high);
    const tsr_buffer buffer = { .data = (char *)b->buf + low, .bytes = (size_t)(high - low),
                                .readonly = b->readonly, .deleter = release_foreign, .context = b };
    return tsr_from_buffer(out, &buffer, (size_t)-low, desc);
}

/* from_buffer(obj): an array of the memory that obj has, or None if it is none of numbers, or not as strides
 * of elements say it. */
static PyObject *from_buffer(PyObject *self, PyObject *o)
{
    (void)self;
    Py_buffer *b = PyMem_Calloc(1, sizeof *b);
    if (!b) return PyErr_NoMemory();
    if (PyObject_GetBuffer(o, b, PyBUF_FULL_RO)) {
        PyMem_Free(b);
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    const tsr_dtype dtype = dtype_of_format(b->format, b->itemsize);
    tsr_desc desc;
    tsr_tensor *t = NULL;
    bool fits = dtype != TSR_DTYPE_INVALID;
    tsr_status s = fits ? describe(&desc, b, dtype, &fits) : TSR_OK;
    const bool aligned =
        (uintptr_t)b->buf % (size_t)(b->itemsize > 0 ? b->itemsize : 1) == 0 || b->itemsize == 16;
    if (fits && s == TSR_OK && aligned) s = adopt(&t, b, &desc);
    if (t) return array_wrap(t, o);
    PyBuffer_Release(b);
    PyMem_Free(b);
    if (s != TSR_OK) return fail(s);
    Py_RETURN_NONE;
}

/* DLPack ----------------------------------------------------------------------------------------------- */

/* A capsule that nobody took is deleted with its tensor. */
static void drop_versioned(PyObject *capsule)
{
    tsr_dl_managed_versioned *m = PyCapsule_IsValid(capsule, "dltensor_versioned")
                                      ? PyCapsule_GetPointer(capsule, "dltensor_versioned") : NULL;
    if (m && m->deleter) m->deleter(m);
}

static void drop_legacy(PyObject *capsule)
{
    tsr_dl_managed *m =
        PyCapsule_IsValid(capsule, "dltensor") ? PyCapsule_GetPointer(capsule, "dltensor") : NULL;
    if (m && m->deleter) m->deleter(m);
}

static PyObject *export_versioned(const tsr_tensor *t, const tsr_dlpack_opts *opts)
{
    tsr_dl_managed_versioned *m = NULL;
    const tsr_status s = tsr_to_dlpack(&m, t, opts);
    if (s != TSR_OK) return fail(s);
    PyObject *capsule = PyCapsule_New(m, "dltensor_versioned", drop_versioned);
    if (!capsule) m->deleter(m);
    return capsule;
}

static PyObject *export_legacy(const tsr_tensor *t, const tsr_dlpack_opts *opts)
{
    tsr_dl_managed *m = NULL;
    const tsr_status s = tsr_to_dlpack_legacy(&m, t, opts);
    if (s == TSR_EREADONLY) PyErr_SetString(PyExc_BufferError, tsr_last_error());
    if (s != TSR_OK) return s == TSR_EREADONLY ? NULL : fail(s);
    PyObject *capsule = PyCapsule_New(m, "dltensor", drop_legacy);
    if (!capsule) m->deleter(m);
    return capsule;
}

static int device_of(tsr_dl_device *out, const tsr_tensor *t)
{
    tsr_dl_managed_versioned *m = NULL;
    const tsr_status s = tsr_to_dlpack(&m, t, NULL);
    if (s == TSR_OK) {
        *out = m->dl_tensor.device;
        m->deleter(m);
        return 0;
    }
    if (t->device != TSR_CPU) return fail_int(s);
    *out = (tsr_dl_device){ TSR_DL_CPU, 0 }; /* a dtype that DLPack lacks has a place all the same */
    return 0;
}

PyObject *array_dlpack_device(PyObject *self, PyObject *unused)
{
    (void)unused;
    tsr_dl_device device = { TSR_DL_CPU, 0 };
    if (tensor_of(self)->device != TSR_CPU && device_of(&device, tensor_of(self))) return NULL;
    return Py_BuildValue("(ii)", device.type, device.id);
}

/* Where it is asked to be: here, or on the host. */
static int place(tsr_tensor **moved, bool *copied, const tsr_tensor *t, PyObject *wanted)
{
    tsr_dl_device here = { TSR_DL_CPU, 0 }, there;
    *moved = NULL;
    *copied = false;
    if (wanted == Py_None) return 0;
    if (!PyArg_ParseTuple(wanted, "ii;dl_device is a pair of integers", &there.type, &there.id)) return -1;
    if (t->device != TSR_CPU && device_of(&here, t)) return -1;
    if (here.type == there.type && here.id == there.id) return 0;
    if (there.type != TSR_DL_CPU) {
        PyErr_SetString(PyExc_BufferError, "__dlpack__: an array is exported where it is, or to the CPU");
        return -1;
    }
    *copied = true;
    const tsr_status s = tsr_to_host(moved, t);
    return s == TSR_OK ? 0 : fail_int(s);
}

PyObject *array_dlpack(PyObject *self, PyObject *args, PyObject *names)
{
    static char *keywords[] = { "stream", "max_version", "dl_device", "copy", NULL };
    PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None, *capsule;
    int major = 0, minor = 0;
    if (!PyArg_ParseTupleAndKeywords(args, names, "|$OOOO:__dlpack__", keywords, &stream, &version, &device,
                                     &copy))
        return NULL;
    if (version != Py_None &&
        !PyArg_ParseTuple(version, "ii;max_version is a pair of integers", &major, &minor))
        return NULL;
    tsr_tensor *moved;
    bool copied;
    if (place(&moved, &copied, tensor_of(self), device)) return NULL;
    if (copied && copy == Py_False) {
        tsr_release(&moved);
        PyErr_SetString(PyExc_BufferError, "__dlpack__: the CPU cannot see this array without a copy");
        return NULL;
    }
    const tsr_dlpack_opts opts = { .copy = copy == Py_True && !copied };
    const tsr_tensor *t = moved ? moved : tensor_of(self);
    capsule = major >= 1 ? export_versioned(t, &opts) : export_legacy(t, &opts);
    tsr_release(&moved);
    return capsule;
}

/* import_dlpack(capsule, owner): an array of the tensor in it, which is taken over. */
static PyObject *import_dlpack(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *capsule, *owner;
    tsr_tensor *t = NULL;
    tsr_status s;
    if (!PyArg_ParseTuple(args, "OO:import_dlpack", &capsule, &owner)) return NULL;
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        s = tsr_from_dlpack(&t, PyCapsule_GetPointer(capsule, "dltensor_versioned"));
        if (s == TSR_OK) PyCapsule_SetName(capsule, "used_dltensor_versioned");
    } else if (PyCapsule_IsValid(capsule, "dltensor")) {
        s = tsr_from_dlpack_legacy(&t, PyCapsule_GetPointer(capsule, "dltensor"));
        if (s == TSR_OK) PyCapsule_SetName(capsule, "used_dltensor");
    } else {
        PyErr_SetString(PyExc_ValueError, "from_dlpack: no capsule of DLPack, or one that was used");
        return NULL;
    }
    return s == TSR_OK ? array_wrap(t, owner == Py_None ? NULL : owner) : fail(s);
}

static PyMethodDef exchange_methods[] = {
    { "from_buffer", from_buffer, METH_O, NULL },
    { "import_dlpack", import_dlpack, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL }
};

int exchange_init(PyObject *module)
{
    return PyModule_AddFunctions(module, exchange_methods);
}

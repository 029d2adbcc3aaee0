/* binding.h - what the files of the extension share.
 *
 * Written against the limited API of Python 3.10: one file for every later version. A free-threaded Python,
 * which has no limited API, gets a file of its own. Functions that return an object return NULL with an
 * exception set, those that return an int -1.
 *
 * The tensor of an array never changes, and no other data of the module is written after it was made, so
 * threads need no lock. */
#ifndef TSRPY_BINDING_H
#define TSRPY_BINDING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <tessera/tessera.h>

#include "rows.h"

/* A tensor as an object. base is the array that a view was made of, or the owner of foreign memory. */
typedef struct Array {
    PyObject_HEAD
    tsr_tensor *t;
    PyObject   *base, *weakrefs;
} Array;

typedef struct Dtype {
    PyObject_HEAD
    tsr_dtype number;
} Dtype;

extern PyTypeObject *array_type, *dtype_type;

static inline bool is_array(PyObject *o) { return Py_TYPE(o) == array_type; }
static inline tsr_tensor *tensor_of(PyObject *o) { return ((Array *)o)->t; }

/* module.c: functions of C, with an example behind the words of each. */
int add_functions(PyObject *module, PyMethodDef *methods);

/* errors.c */
int       errors_init(PyObject *module);
PyObject *fail(tsr_status status);      /* the exception of this thread's latest failure; NULL */
int       fail_int(tsr_status status);  /* the same; -1 */

/* From so many elements on, the interpreter's lock is released during the work. */
enum { LONG_WORK = 2048 };
#define RUN(status, elements, call)                                   \
    do {                                                              \
        if ((elements) < LONG_WORK) {                                 \
            status = (call);                                          \
        } else {                                                      \
            PyThreadState *thread = PyEval_SaveThread();              \
            status = (call);                                          \
            PyEval_RestoreThread(thread);                             \
        }                                                             \
    } while (0)

/* dtype.c */
int       dtype_init(PyObject *module);
PyObject *dtype_object(tsr_dtype number);              /* a new reference */
int       dtype_from(tsr_dtype *out, PyObject *o);     /* an object of ours, or a name */

/* array.c */
int       array_init(PyObject *module);
PyObject *array_wrap(tsr_tensor *t, PyObject *base);   /* takes t over, also where it fails */
PyObject *array_namespace(const char *name);           /* an attribute of the package */

/* number.c: Python's numbers. */
enum { NOT_A_NUMBER = 1 };
int       number_from(tsr_scalar *out, PyObject *o);   /* 0; NOT_A_NUMBER, with no exception; -1 */
PyObject *number_object(tsr_scalar s);
/* A number that meets a tensor of this dtype: converted, or TypeError, OverflowError. A complex number makes
 * *dtype the complex one of a floating dtype. */
int       number_fit(tsr_scalar *s, tsr_dtype *dtype);
PyObject *number_sequence(PyObject *self, PyObject *args);

/* call.c */
PyObject *call_row(const row *r, PyObject *const *args, Py_ssize_t count, PyObject *names);
int       call_init(PyObject *module);

/* operators.c */
extern PyType_Slot operator_slots[];
PyObject *elementwise(PyObject *self, PyObject *args);

/* index.c */
PyObject *index_get(PyObject *self, PyObject *key);
int       index_set(PyObject *self, PyObject *key, PyObject *item);
PyObject *index_item(PyObject *self, Py_ssize_t i);

/* exchange.c: buffers and DLPack. */
int       exchange_init(PyObject *module);
int       array_get_buffer(PyObject *self, void *view, int flags);
void      array_release_buffer(PyObject *self, void *view);
PyObject *array_dlpack(PyObject *self, PyObject *args, PyObject *names);
PyObject *array_dlpack_device(PyObject *self, PyObject *unused);

/* arrow.c */
int       arrow_init(PyObject *module);
PyObject *array_arrow(PyObject *self, PyObject *args, PyObject *names);

/* view.c */
int view_init(PyObject *module);

/* file.c */
int file_init(PyObject *module);

#endif

/* operators.c - + and its kin, and the elementwise functions of the standard, on the short path to the
 * library.
 *
 * An operand is an array or a number of Python, which takes the array's dtype. */
#include "binding.h"

#include <string.h>

typedef tsr_status (*unary_fn)(tsr_tensor **, const tsr_tensor *);
typedef tsr_status (*binary_fn)(tsr_tensor **, const tsr_tensor *, const tsr_tensor *);

/* Room for an operand that is no array: a number, and the array beside it where a complex number makes it
 * complex. */
typedef struct room {
    tsr_number  number;
    tsr_tensor *wider;
} room;

/* o, which is no array, beside *other. 0; NOT_A_NUMBER; -1. */
static int number_beside(const tsr_tensor **out, const tsr_tensor **other, PyObject *o, room *r)
{
    tsr_scalar s;
    tsr_dtype dtype = (*other)->dtype;
    const int result = number_from(&s, o);
    if (result) return result;
    if (number_fit(&s, &dtype)) return -1;
    if (dtype != (*other)->dtype) {
        const tsr_status status = tsr_cast(&r->wider, *other, dtype);
        if (status != TSR_OK) return fail_int(status);
        *other = r->wider;
    }
    *out = tsr_number_init(&r->number, s);
    return 0;
}

static int operands(const tsr_tensor **x, const tsr_tensor **y, PyObject *left, PyObject *right, room *r)
{
    r->wider = NULL;
    if (is_array(left)) {
        *x = tensor_of(left);
        if (!is_array(right)) return number_beside(y, x, right, r);
        *y = tensor_of(right);
        return 0;
    }
    if (!is_array(right)) return NOT_A_NUMBER;
    *y = tensor_of(right);
    return number_beside(x, y, left, r);
}

static int64_t work_of(const tsr_tensor *x, const tsr_tensor *y)
{
    int64_t n = 1, m = 1;
    for (int i = 0; i < x->ndim; i++) n *= x->shape[i];
    for (int i = 0; i < y->ndim; i++) m *= y->shape[i];
    const int64_t most = n > m ? n : m;
    return most < LONG_WORK ? most : LONG_WORK;
}

static PyObject *binary_into(binary_fn fn, PyObject *left, PyObject *right, PyObject *into)
{
    const tsr_tensor *x, *y;
    room r;
    const int result = operands(&x, &y, left, right, &r);
    if (result == NOT_A_NUMBER) Py_RETURN_NOTIMPLEMENTED;
    if (result) return NULL;
    tsr_tensor *z = into ? tensor_of(into) : NULL;
    tsr_status s;
    RUN(s, work_of(x, y), fn(&z, x, y));
    if (r.wider) tsr_release(&r.wider);
    if (s != TSR_OK) return fail(s);
    return into ? Py_NewRef(into) : array_wrap(z, NULL);
}

static PyObject *binary(binary_fn fn, PyObject *left, PyObject *right)
{
    return binary_into(fn, left, right, NULL);
}

static PyObject *unary_into(unary_fn fn, PyObject *x, PyObject *into)
{
    tsr_tensor *z = into ? tensor_of(into) : NULL;
    tsr_status s;
    RUN(s, tsr_numel(tensor_of(x)), fn(&z, tensor_of(x)));
    if (s != TSR_OK) return fail(s);
    return into ? Py_NewRef(into) : array_wrap(z, NULL);
}

/* Python's operators, in three forms. ---------------------------------------------------------- */

#define OPERATOR(name, fn)                                                                                   \
    static PyObject *op_##name(PyObject *l, PyObject *r) { return binary(fn, l, r); }                        \
    static PyObject *iop_##name(PyObject *l, PyObject *r) { return binary_into(fn, l, r, l); }
OPERATOR(add, tsr_add)
OPERATOR(sub, tsr_sub)
OPERATOR(mul, tsr_mul)
OPERATOR(div, tsr_div)
OPERATOR(floor_div, tsr_floor_div)
OPERATOR(remainder, tsr_remainder)
OPERATOR(and, tsr_bitwise_and)
OPERATOR(or, tsr_bitwise_or)
OPERATOR(xor, tsr_bitwise_xor)
OPERATOR(left, tsr_shift_left)
OPERATOR(right, tsr_shift_right)

static PyObject *op_pow(PyObject *l, PyObject *r, PyObject *modulus)
{
    if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
    return binary(tsr_pow, l, r);
}

static PyObject *iop_pow(PyObject *l, PyObject *r, PyObject *modulus)
{
    if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
    return binary_into(tsr_pow, l, r, l);
}

/* Numbers are no matrices. */
static PyObject *matmul(PyObject *l, PyObject *r, PyObject *into)
{
    if (!is_array(l) || !is_array(r)) Py_RETURN_NOTIMPLEMENTED;
    tsr_tensor *z = into ? tensor_of(into) : NULL;
    tsr_status s;
    RUN(s, work_of(tensor_of(l), tensor_of(r)) * 16, tsr_matmul(&z, tensor_of(l), tensor_of(r)));
    if (s != TSR_OK) return fail(s);
    return into ? Py_NewRef(into) : array_wrap(z, NULL);
}

static PyObject *op_matmul(PyObject *l, PyObject *r) { return matmul(l, r, NULL); }
static PyObject *iop_matmul(PyObject *l, PyObject *r) { return matmul(l, r, l); }
static PyObject *op_negative(PyObject *x) { return unary_into(tsr_neg, x, NULL); }
static PyObject *op_positive(PyObject *x) { return unary_into(tsr_clone, x, NULL); }
static PyObject *op_absolute(PyObject *x) { return unary_into(tsr_abs, x, NULL); }
static PyObject *op_invert(PyObject *x) { return unary_into(tsr_bitwise_not, x, NULL); }

static PyObject *compare(PyObject *l, PyObject *r, int op)
{
    static const binary_fn functions[] = { [Py_LT] = tsr_lt, [Py_LE] = tsr_le, [Py_EQ] = tsr_eq,
                                           [Py_NE] = tsr_ne, [Py_GT] = tsr_gt, [Py_GE] = tsr_ge };
    return binary(functions[op], l, r);
}

PyType_Slot operator_slots[] = {
    { Py_nb_add, op_add }, { Py_nb_inplace_add, iop_add },
    { Py_nb_subtract, op_sub }, { Py_nb_inplace_subtract, iop_sub },
    { Py_nb_multiply, op_mul }, { Py_nb_inplace_multiply, iop_mul },
    { Py_nb_true_divide, op_div }, { Py_nb_inplace_true_divide, iop_div },
    { Py_nb_floor_divide, op_floor_div }, { Py_nb_inplace_floor_divide, iop_floor_div },
    { Py_nb_remainder, op_remainder }, { Py_nb_inplace_remainder, iop_remainder },
    { Py_nb_power, op_pow }, { Py_nb_inplace_power, iop_pow },
    { Py_nb_matrix_multiply, op_matmul }, { Py_nb_inplace_matrix_multiply, iop_matmul },
    { Py_nb_and, op_and }, { Py_nb_inplace_and, iop_and },
    { Py_nb_or, op_or }, { Py_nb_inplace_or, iop_or },
    { Py_nb_xor, op_xor }, { Py_nb_inplace_xor, iop_xor },
    { Py_nb_lshift, op_left }, { Py_nb_inplace_lshift, iop_left },
    { Py_nb_rshift, op_right }, { Py_nb_inplace_rshift, iop_right },
    { Py_nb_negative, op_negative },
    { Py_nb_positive, op_positive },
    { Py_nb_absolute, op_absolute },
    { Py_nb_invert, op_invert },
    { Py_tp_richcompare, compare },
    { 0, NULL }
};

/* Functions of the standard ------------------------------------------------------------------------
 *
 * elementwise(op, name): the op's function under the name and with the arguments that the standard has for
 * it. */

typedef struct function {
    PyMethodDef def;
    const char *op;
    unary_fn    one;
    binary_fn   two;
} function;

#define NAME(ID, name, ...) { #name, tsr_##name },
static const struct { const char *name; unary_fn fn; } unaries[] = {
#define UNARY(...) NAME(__VA_ARGS__)
#define BINARY(...)
#define UNARY_A(...)
#define UNARY_AB(...)
#define TERNARY(...)
#define TERNARY_A(...)
#include <tessera/op.def>
    { "clone", tsr_clone }
};

static const struct { const char *name; binary_fn fn; } binaries[] = {
#define UNARY(...)
#define BINARY(...) NAME(__VA_ARGS__)
#define UNARY_A(...)
#define UNARY_AB(...)
#define TERNARY(...)
#define TERNARY_A(...)
#include <tessera/op.def>
};

/* out, if it is the only argument with a name. -1 where another one is. */
static int out_of(PyObject **out, const function *f, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    *out = NULL;
    if (!names || PyTuple_Size(names) == 0) return 0;
    PyObject *name = PyTuple_GetItem(names, 0);
    if (PyTuple_Size(names) != 1 || PyUnicode_CompareWithASCIIString(name, "out") != 0) {
        PyErr_Format(PyExc_TypeError, "%s() has no argument %R", f->def.ml_name, name);
        return -1;
    }
    PyObject *o = args[count];
    if (o == Py_None) return 0;
    if (!is_array(o)) {
        PyErr_Format(PyExc_TypeError, "%s(): out is no array", f->def.ml_name);
        return -1;
    }
    *out = o;
    return 0;
}

static PyObject *wrong_count(const function *f, int wanted, Py_ssize_t count)
{
    PyErr_Format(PyExc_TypeError, "%s() takes %d arrays, and %zd are given", f->def.ml_name, wanted, count);
    return NULL;
}

static PyObject *no_array(const function *f, PyObject *o)
{
    PyErr_Format(PyExc_TypeError, "%s() takes arrays, and this is %R", f->def.ml_name,
                 (PyObject *)Py_TYPE(o));
    return NULL;
}

static PyObject *call_one(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    const function *f = PyCapsule_GetPointer(self, NULL);
    PyObject *out;
    if (out_of(&out, f, args, count, names)) return NULL;
    if (count != 1) return wrong_count(f, 1, count);
    return is_array(args[0]) ? unary_into(f->one, args[0], out) : no_array(f, args[0]);
}

static PyObject *call_two(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    const function *f = PyCapsule_GetPointer(self, NULL);
    PyObject *out;
    if (out_of(&out, f, args, count, names)) return NULL;
    if (count != 2) return wrong_count(f, 2, count);
    PyObject *z = binary_into(f->two, args[0], args[1], out);
    if (z != Py_NotImplemented) return z;
    Py_DECREF(z);
    return no_array(f, is_array(args[0]) ? args[1] : args[0]);
}

static bool find_op(function *f, const char *op)
{
    for (size_t i = 0; i < sizeof unaries / sizeof *unaries; i++)
        if (!strcmp(unaries[i].name, op)) f->one = unaries[i].fn;
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++)
        if (!strcmp(binaries[i].name, op)) f->two = binaries[i].fn;
    return f->one || f->two;
}

PyObject *elementwise(PyObject *self, PyObject *args)
{
    (void)self;
    const char *op, *name, *doc;
    if (!PyArg_ParseTuple(args, "sss:elementwise", &op, &name, &doc)) return NULL;
    function *f = PyMem_Calloc(1, sizeof *f); /* lives as long as the process, as a static function does */
    char *name_copy = PyMem_Malloc(strlen(name) + 1), *doc_copy = PyMem_Malloc(strlen(doc) + 1);
    if (!f || !name_copy || !doc_copy) return PyErr_NoMemory();
    if (!find_op(f, op)) return PyErr_Format(PyExc_ValueError, "there is no elementwise op %s", op);
    f->def =
        (PyMethodDef){ strcpy(name_copy, name), (PyCFunction)(void (*)(void))(f->one ? call_one : call_two),
                       METH_FASTCALL | METH_KEYWORDS, strcpy(doc_copy, doc) };
    PyObject *capsule = PyCapsule_New(f, NULL, NULL), *module = PyUnicode_FromString("tessera");
    PyObject *result = capsule && module ? PyCFunction_NewEx(&f->def, capsule, module) : NULL;
    Py_XDECREF(capsule);
    Py_XDECREF(module);
    return result;
}

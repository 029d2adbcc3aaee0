/* call.h - functions as rows of a table, and calls of them with their arguments in place. */
#ifndef TSR_CLI_CALL_H
#define TSR_CLI_CALL_H

#include "machine.h"

enum { SLOTS = 8 };

/* What is done to the tensors first. */
enum {
    FLOATS = 1, /* integers and truths become floats */
    COUNTS = 2  /* truths become integers */
};

/* One argument, read by its kind. One that was not given has its default; None is TSR_ALL_AXES of an axis,
 * -1 of a real number, else 0.
 *
 *     t  a tensor, of the function's dtypes   i  an integer          a  an axis
 *     o  the same, or NULL for None           r  a real number       x  axes; none for None
 *     p  one of two that are promoted         b  a truth             f  an axis; None flattens the first
 *     k  a tensor of i64                      d  a dtype                argument
 *     q  a tensor of f64                      n  a list of integers
 *     s  a list of tensors, promoted          w  is not read: the function does */
typedef struct value {
    tsr_tensor  *t;
    tsr_tensor **list;
    int          n;                    /* of list, ints or axes */
    int64_t      ints[TSR_MAX_NDIM];
    int          axes[TSR_MAX_NDIM];
    int64_t      i;
    double       r;
    bool         b;
    tsr_dtype    dtype;
    int          axis;
} value;

#define TENSORS(value) ((const tsr_tensor *const *)(value).list)

/* A call with its arguments in their slots. */
typedef struct call {
    machine        *m;
    const function *fn;
    operand         a[SLOTS];
    value           v[SLOTS];
    const node     *place[SLOTS];
    const node     *at;
    tsr_tensor     *z;
} call;

struct function {
    const char *name, *arguments, *kinds;
    int         flags;
    bool      (*run)(call *c);
};

/* functions.c: every function, and how many there are. */
extern const function functions[];
extern const int      function_count;

bool slot_given(const call *c, int i);
const node *slot_place(const call *c, int i);
bool call_done(call *c, tsr_status s); /* of the library's function; false after a fault */

#endif

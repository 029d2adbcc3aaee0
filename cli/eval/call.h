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

/* A call with its arguments in their slots. */
typedef struct call {
    machine        *m;
    const function *fn;
    operand         a[SLOTS];
    const node     *place[SLOTS];
    const node     *at;
    tsr_tensor     *z;
} call;

typedef tsr_status (*one_fn)(tsr_tensor **, const tsr_tensor *);
typedef tsr_status (*two_fn)(tsr_tensor **, const tsr_tensor *, const tsr_tensor *);
typedef tsr_status (*axis_fn)(tsr_tensor **, const tsr_tensor *, int);
typedef tsr_status (*axes_fn)(tsr_tensor **, const tsr_tensor *, int, const int *, bool);
typedef tsr_status (*axes_more_fn)(tsr_tensor **, const tsr_tensor *, int, const int *, bool, double);
typedef tsr_status (*place_fn)(tsr_tensor **, const tsr_tensor *, int, bool);
typedef tsr_status (*integer_fn)(tsr_tensor **, const tsr_tensor *, int64_t);
typedef tsr_status (*real_fn)(tsr_tensor **, const tsr_tensor *, double);
typedef tsr_status (*fft_fn)(tsr_tensor **, const tsr_tensor *, int64_t, int, tsr_fft_norm);
typedef tsr_status (*shape_fn)(tsr_tensor **, tsr_dtype, int, const int64_t *);
typedef tsr_status (*join_fn)(tsr_tensor **, int, const tsr_tensor *const *, int);

struct function {
    const char *name, *arguments;
    bool      (*run)(call *c);
    int         flags;
    union {
        one_fn       one;
        two_fn       two;
        axis_fn      axis;
        axes_fn      axes;
        axes_more_fn axes_more;
        place_fn     place;
        integer_fn   integer;
        real_fn      real;
        fft_fn       fft;
        shape_fn     shape;
        join_fn      join;
    } by;
};

/* functions.c: every function, and how many there are. */
extern const function functions[];
extern const int      function_count;

/* call.c: for functions, what is in their slots. Each gives false after a fault; a slot that was
 * not given leaves *out as it is. */
bool slot_given(const call *c, int i);
const node *slot_place(const call *c, int i);
bool call_done(call *c, tsr_status s); /* of the library's function */

/* Slot i as a tensor, converted to the dtypes that the function takes. */
bool slot_tensor(call *c, tsr_tensor **out, int i);
bool slot_int(call *c, int64_t *out, int i);
bool slot_real(call *c, double *out, int i);
bool slot_truth(call *c, bool *out, int i);
bool slot_dtype(call *c, tsr_dtype *out, int i);
bool slot_axis(call *c, int *out, int i);

/* A starred slot: f(x, 2, 3) and f(x, (2, 3)) are the same. */
const operand *slot_list(const call *c, int i);

#endif

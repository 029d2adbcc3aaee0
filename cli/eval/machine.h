/* machine.h - operands, and how expressions are worked out.
 *
 * Numbers that are written in the expression are weak, as in NumPy: they take the dtype of the
 * tensors they meet, unless their kind is the higher one (0.5 with integers gives f64). Dtypes
 * that the library does not mix are promoted by NumPy's table; integers become floats where an
 * op needs these.
 */
#ifndef TSR_CLI_MACHINE_H
#define TSR_CLI_MACHINE_H

#include "tessera/tessera.h"
#include "tree.h"

typedef enum operand_kind {
    OPERAND_UNSET, /* an argument that was not given */
    OPERAND_NONE,
    OPERAND_NUMBER,
    OPERAND_TENSOR,
    OPERAND_TEXT,
    OPERAND_LIST,
    OPERAND_REST
} operand_kind;

typedef struct operand {
    operand_kind    kind;
    tsr_scalar      number;
    tsr_tensor     *tensor;
    char           *text;
    int             count;
    struct operand *items;
} operand;

void operand_free(operand *o);

/* Looks a name up. False if there is no such variable; f has a fault if it cannot be read. */
typedef bool (*lookup_fn)(void *context, tsr_tensor **out, const char *name, fault *f, const node *at);

typedef struct machine {
    fault     *f;
    lookup_fn  lookup;
    void      *context;
    const char *const *names;  /* of variables, for suggestions; ends with NULL */
    int        depth;
    void     (*step)(void);    /* called for each node that is worked out; may be NULL */
} machine;

/* Works out a tree. False with a fault. */
bool evaluate(machine *m, operand *out, const node *n);

/* For functions ------------------------------------------------------------------------ */

/* A fault at a node: by the message of the library, or by one's own. Return false. */
bool fail_by_library(machine *m, const node *at);
bool fail(machine *m, const node *at, const char *format, ...) CLI_PRINTF(3, 4);

/* An operand as a tensor: a number of rank 0, a list stacked. The dtype is that of NumPy. */
bool as_tensor(machine *m, tsr_tensor **out, const operand *o, const node *at);

/* An op of the list by its name, with NumPy's promotion. */
bool call_elementwise(machine *m, operand *out, const char *op, int n, const operand *args, const node *at);

/* Is there such an op, and a plain function for it? */
bool is_elementwise(const char *op, int *operands);

/* t in dtype; t itself, retained, if it has it already. */
bool cast_to(machine *m, tsr_tensor **out, tsr_tensor *t, tsr_dtype dtype, const node *at);

/* What two dtypes are promoted to by NumPy's table; false if there is nothing. */
bool promote(tsr_dtype *out, tsr_dtype a, tsr_dtype b);

/* The floating dtype that an integer dtype becomes where floats are needed; others stay. */
tsr_dtype floating_of(tsr_dtype dtype);

bool read_int(machine *m, int64_t *out, const operand *o, const node *at);
bool read_real(machine *m, double *out, const operand *o, const node *at);
bool read_truth(machine *m, bool *out, const operand *o, const node *at);
bool read_dtype(machine *m, tsr_dtype *out, const operand *o, const node *at);

/* A list of integers, or one. */
bool read_ints(machine *m, int *n, int64_t out[TSR_MAX_NDIM], const operand *o, const node *at);
bool read_axes(machine *m, int *n, int out[TSR_MAX_NDIM], const operand *o, const node *at);

operand number_operand(tsr_scalar s);
operand tensor_operand(tsr_tensor *t);

/* functions.c: the functions that are no plain ops ------------------------------------- */

typedef struct function function;

/* NULL if there is none. The name may be NumPy's. */
const function *find_function(const char *name);

/* NumPy's name of an op to ours; the name itself if it is none. */
const char *op_of_name(const char *name);

/* Calls it with the arguments of a call; args are the values of children first .. */
bool call_function(machine *m, operand *out, const function *fn, int nargs, const operand *args,
                   char *const *keywords, const node *const *places, const node *at);

/* Every name that can be called, for suggestions: calls `see` with each. */
void list_functions(void (*see)(void *context, const char *name), void *context);

/* "x, axis=None", for the help; NULL if there is no such function. */
const char *function_arguments(const char *name);

#endif

/* selftest.h - checks of the library, and the trials they are made of.
 *
 * A check is one thing that must hold, usually of an op with a dtype. It is tried
 * again and again on random tensors; a trial's numbers follow from the seed, the
 * check's name and the number of the pass, and from nothing else.
 *
 * A trial compares what the library does with loops written here (value.h), on
 * tensors of random strides. It fails with a sentence; it need not release the
 * tensors it made.
 */
#ifndef TSR_CLI_SELFTEST_H
#define TSR_CLI_SELFTEST_H

#include "value.h"

#if defined(__GNUC__)
#define TRIAL_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define TRIAL_PRINTF(text, first)
#endif

enum { TRIAL_TENSORS = 12, TRIAL_RANK = 4, TRIAL_ELEMENTS = 240 };

typedef struct trial trial;

typedef struct check {
    const char *family;
    char        name[48];           /* "add f32" */
    tsr_op_kind op;                 /* that it checks, or TSR_OP_NONE */
    void      (*run)(trial *t);
    const void *about;              /* whatever run needs to know */
    tsr_dtype   dtype, other;
    int         every;              /* run in every n-th pass, from the first on; 0 means 1 */
} check;

struct trial {
    const check *check;
    uint64_t     random;
    bool         failed;
    char         why[800];
    tsr_tensor  *tensor[TRIAL_TENSORS];  /* start as NULL, and are released at the end */
};

/* Lists ------------------------------------------------------------------------------- */

typedef struct check_list {
    check *item;
    int    count, room;
    bool   full;        /* there was no memory for one more */
} check_list;

/* Adds a copy of c, named by the title and c's dtypes. */
void add_check(check_list *list, check c, const char *title);

/* Each file of checks adds its own. */
void list_movement(check_list *list);
void list_elementwise(check_list *list);
void list_reduce(check_list *list);  /* and scan */
void list_matmul(check_list *list);
void list_order(check_list *list);
void list_index(check_list *list);
void list_random(check_list *list);
void list_linalg(check_list *list);  /* and fft */
void list_conv(check_list *list);    /* and pool, quant */
void list_nn(check_list *list);      /* and attention */
void list_errors(check_list *list);
void list_threads(check_list *list);

/* Trials ------------------------------------------------------------------------------- */

/* Fails the trial; the first sentence stays. */
void fail_trial(trial *t, const char *format, ...) TRIAL_PRINTF(2, 3);

/* In a function that returns nothing: the call must succeed, or the trial has failed. */
#define NEED(t, call)                                                                              \
    do {                                                                                           \
        const tsr_status need_ = (call);                                                           \
        if (need_ != TSR_OK) {                                                                     \
            fail_trial((t), "%s gave %s: %s", #call, tsr_status_name(need_), tsr_last_error());    \
            return;                                                                                \
        }                                                                                          \
    } while (0)

/* The same for a condition, with a sentence. */
#define MUST(t, condition, ...)                  \
    do {                                         \
        if (!(condition)) {                      \
            fail_trial((t), __VA_ARGS__);        \
            return;                              \
        }                                        \
    } while (0)

/* After a function that may have failed the trial. */
#define GO_ON(t) do { if ((t)->failed) return; } while (0)

/* Random numbers: 0 .. n - 1, low .. high, once in n. */
uint64_t random_bits(trial *t);
int64_t  random_below(trial *t, int64_t n);
int64_t  random_between(trial *t, int64_t low, int64_t high);
bool     once_in(trial *t, int64_t n);

/* A shape of low .. high dims and at most TRIAL_ELEMENTS elements, empty once in a while
 * unless it must not be. Returns the rank. */
int random_shape(trial *t, int64_t shape[TRIAL_RANK], int low, int high, bool may_be_empty);

/* Which numbers a tensor is filled with: small ones; or also infinities, NaN and the ends of
 * integers. */
typedef enum filling { FILL_SMALL, FILL_SPECIAL } filling;

/* A tensor of this shape with random strides, in t->tensor[slot]: permuted, turned, with gaps,
 * repeated dims, and junk on dims of size 1. */
void make_input(trial *t, int slot, tsr_dtype dtype, int ndim, const int64_t *shape, filling with);

/* Filled with indices of a dim of size `limit`; negative ones too, where the dtype has them. */
void make_indices(trial *t, int slot, tsr_dtype dtype, int ndim, const int64_t *shape, int64_t limit);

/* To be written: no two indices meet, and check_gaps knows the bytes between. */
void make_output(trial *t, int slot, tsr_dtype dtype, int ndim, const int64_t *shape);

/* Packed: what the tensor in slot `from` is when it is repeated to this shape. */
void make_packed(trial *t, int slot, int from, int ndim, const int64_t *shape);

/* The address of element k in row-major order. */
void *element(const tsr_tensor *tensor, int64_t k);

/* The k-th index of a shape, in row-major order; and back. */
void    index_of(int64_t *index, int64_t k, int ndim, const int64_t *shape);
int64_t place_of(const int64_t *index, int ndim, const int64_t *shape);
int64_t count_of(int ndim, const int64_t *shape);

value value_at(const tsr_tensor *tensor, int64_t k);

/* The bytes between the elements of an output are as make_output left them. */
void check_gaps(trial *t, int slot);

/* Two tensors have the same dtype, shape and elements, bit for bit but for NaN (and -0, if
 * loosely). */
void check_same(trial *t, int got, int wanted, bool loosely);

/* The shape is this; element k is near a value, integers equal. */
void check_shape(trial *t, int slot, tsr_dtype dtype, int ndim, const int64_t *shape);
void check_near(trial *t, int slot, int64_t k, value wanted, double slack);

/* tsr_infer says of the op on the n tensors from slot `first` on what its result came to be,
 * and tsr_op_cost counts the result's bytes at least. */
void check_inferred(trial *t, int n, int first, const void *params, int result);

#endif

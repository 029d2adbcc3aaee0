/* trial.h - checks of the library, and the trials they are made of.
 *
 * A check is one thing that must hold, usually of an op with a dtype. It is tried
 * again and again on random tensors; a trial's numbers follow from the seed, the
 * check's name and the number of the pass, and from nothing else. So the same trial
 * can be run again with other threads or instructions, and must give the same.
 *
 * A trial compares what the library does with references written here (value.h), on
 * tensors of random strides. It fails with a sentence; it need not release the
 * tensors it made.
 *
 * The list of checks serves `tsr selftest`, tests/net and tsr-backend-check. This folder knows the
 * public headers only.
 *
 * On a device all tensors of a trial lie in its memory, also those that the library makes. Elements are
 * read and written through copies (mirror.h), which NEED stores before and drops after a call of the library.
 */
#ifndef TSR_OPCHECK_TRIAL_H
#define TSR_OPCHECK_TRIAL_H

#include "mirror.h"
#include "value.h"

#if defined(__GNUC__)
#define TRIAL_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define TRIAL_PRINTF(text, first)
#endif

enum { TRIAL_TENSORS = 12, TRIAL_RANK = TSR_MAX_NDIM < 8 ? TSR_MAX_NDIM : 8, TRIAL_ELEMENTS = 240 };

typedef struct trial trial;

/* How trials are run. Zeros: small tensors in ordinary memory, compared with references. */
typedef struct trial_settings {
    int64_t        elements;   /* of a tensor, at most; 0: TRIAL_ELEMENTS */
    const int64_t *edges;      /* sizes at which kernels end or change: dims are drawn from around them */
    int            nedges;
    bool           guarded;    /* tensors end, or begin, where a page that cannot be accessed does */
    bool           unchecked;  /* results are not compared with references: another run did that */
    tsr_device     device;     /* that tensors are on */
    bool           plumbing;   /* the device computes nothing: calls must succeed, nothing is compared */
    /* Why the last call may give this status, or NULL; may be NULL. */
    const char *(*excuse)(const trial *t, tsr_status status);
    const void    *about;      /* for checks of the caller's own */
} trial_settings;

typedef struct check {
    const char *family;
    char        name[48];           /* "add f32" */
    tsr_op_kind op;                 /* that it checks, or TSR_OP_NONE */
    void      (*run)(trial *t);
    const void *about;              /* whatever run needs to know */
    tsr_dtype   dtype, other;
    int         every;              /* run in every n-th pass, from the first on; 0 means 1 */
    int         more;               /* how many times as many trials as other checks, for ops of many kernels;
                                     * 0 means 1 */
    bool        cpu_only;           /* not run on other devices */
} check;

struct trial {
    const check *check;
    const trial_settings *how;
    uint64_t     random;
    int          layout;     /* of most of its tensors, chosen with the first */
    uint64_t     sampling;   /* random numbers of samples, which no other choice depends on */
    void        *room;       /* see trial_room */
    bool         packed;     /* tensors are made packed and row-major, not with random strides */
    unsigned char *before[TRIAL_TENSORS]; /* operands' memory as it was made */
    tsr_memory_stats stats;  /* before the trial */
    tsr_device   device;     /* that tensors are made on; at first that of the settings */
    bool         failed;
    bool         skipped;  /* this machine cannot do it */
    bool         differs;  /* it failed by what it compared, not by a call */
    char         why[800]; /* it failed, or was skipped */
    const unsigned char *bytes, *bytes_end; /* random numbers are taken from these while there are any */
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

/* The same for every dtype that is taken; takes NULL: all. */
void add_checks(check_list *list, check c, const char *title, bool (*takes)(tsr_dtype dtype));

/* A row of a list of checks: what add_checks is told of each. */
typedef struct check_rule {
    const char *name;
    void (*run)(trial *t);
    const void *about;
    bool (*takes)(tsr_dtype dtype);
} check_rule;

/* add_checks for each row: c with what the row says. */
void add_rules(check_list *list, check c, const check_rule *rules, size_t count);

/* All of them. */
void list_everything(check_list *list);

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
void list_norm(check_list *list);
void list_loss(check_list *list);    /* and sampling */
void list_layout(check_list *list);
void list_view(check_list *list);
void list_join(check_list *list);
void list_contract(check_list *list);
void list_products(check_list *list);
void list_fftn(check_list *list);
void list_adaptive_pool(check_list *list);
void list_image(check_list *list);
void list_quant(check_list *list);
void list_lookup(check_list *list);
void list_unique(check_list *list);
void list_statistics(check_list *list);
void list_draw(check_list *list);
void list_spectrum(check_list *list);
void list_layers(check_list *list);
void list_create(check_list *list);
void list_compare(check_list *list);
void list_element(check_list *list);
void list_errors(check_list *list);
void list_training(check_list *list);
void list_threads(check_list *list);

/* Trials ------------------------------------------------------------------------------- */

/* The random numbers of a trial of check c. */
uint64_t trial_random(uint64_t seed, const check *c, int64_t pass);

/* Fails the trial; the first sentence stays. */
void fail_trial(trial *t, const char *format, ...) TRIAL_PRINTF(2, 3);

/* Ends the trial without a verdict. */
void skip_trial(trial *t, const char *format, ...) TRIAL_PRINTF(2, 3);

/* A call gave this status: the trial fails, or is skipped if there is an excuse. */
void fail_call(trial *t, const char *call, tsr_status status);

/* In a function that returns nothing: the call must succeed, or the trial has failed. */
#define NEED(t, call)                                      \
    do {                                                   \
        mirrors_end();                                     \
        const tsr_status need_ = (call);                   \
        mirrors_end();                                     \
        if (need_ != TSR_OK) {                             \
            fail_call((t), #call, need_);                  \
            return;                                        \
        }                                                  \
    } while (0)

/* The same for a call that needs a library which is not part of this one: where that is missing, the
 * trial is skipped. */
#define NEED_LIBRARY(t, call)                                                                      \
    do {                                                                                           \
        mirrors_end();                                                                             \
        const tsr_status status_ = (call);                                                         \
        if (is_missing((t), status_)) return;                                                      \
        NEED((t), status_);                                                                        \
    } while (0)

/* Does the status say that another library is missing? Then the trial is skipped. */
bool is_missing(trial *t, tsr_status status);

/* The same for a condition, with a sentence. */
#define MUST(t, condition, ...)                  \
    do {                                         \
        if (!(condition)) {                      \
            fail_trial((t), __VA_ARGS__);        \
            return;                              \
        }                                        \
    } while (0)

/* Returns if a function called before has failed the trial. */
#define GO_ON(t) do { if ((t)->failed) return; } while (0)

/* Runs a check once, and fails the trial if operands change. The tensors stay until end_trial(), which fails
 * the trial if something leaked. With settings.plumbing, wrong values do not fail it. */
void run_trial(trial *t);
void end_trial(trial *t);

/* Memory that end_trial() frees; one block at a time. Fails the trial and returns NULL if there is none. */
void *trial_room(trial *t, size_t bytes);

/* Elements of a result that are compared with a reference whose cost is so many elements each: all of a
 * small result; of a large one its ends and some between. -1: no more, and none in unchecked trials.
 *
 *     for (int64_t k = first_sample(t, n, cost); k >= 0; k = next_sample(t, k, n, cost)) */
int64_t first_sample(trial *t, int64_t n, int64_t cost);
int64_t next_sample(trial *t, int64_t k, int64_t n, int64_t cost);

/* Random numbers: 0 .. n - 1, low .. high, once in n. From the trial's bytes a number takes no more than it
 * needs. */
uint64_t random_bits(trial *t);
int64_t  random_below(trial *t, int64_t n);
int64_t  random_between(trial *t, int64_t low, int64_t high);
bool     once_in(trial *t, int64_t n);

/* Around the draws of n elements: those of many follow from one, and leave the bytes to other choices. */
const unsigned char *begin_elements(trial *t, int64_t n);
void                 end_elements(trial *t, const unsigned char *bytes_end);

/* low .. high, or once in a while a size at which kernels end, up to `most`. */
int64_t random_size(trial *t, int64_t low, int64_t high, int64_t most);

/* Elements that a tensor may have. */
int64_t most_elements(const trial *t);

/* A shape of low .. high dims and at most that many elements, empty once in a while
 * unless it must not be. Returns the rank. */
int random_shape(trial *t, int64_t shape[TRIAL_RANK], int low, int high, bool may_be_empty);

/* Which numbers a tensor is filled with: small ones; or also infinities, NaN and the ends of
 * integers; or also the largest and smallest floats; or numbers near 1, whose products stay in range; or
 * small ones and here and there a NaN, of complex numbers in both parts. */
typedef enum filling { FILL_SMALL, FILL_SPECIAL, FILL_EXTREME, FILL_FACTORS, FILL_NAN } filling;

/* A desc with random strides: permuted, reversed, with gaps, broadcast dims if it may_repeat, and junk on
 * dims of size 1. */
void random_desc(trial *t, tsr_desc *out, tsr_dtype dtype, int ndim, const int64_t *shape, bool may_repeat);

/* A tensor of this shape with random strides, in t->tensor[slot]. It must stay as it is. */
void make_input(trial *t, int slot, tsr_dtype dtype, int ndim, const int64_t *shape, filling with);

/* Filled with indices of a dim of size `limit`; negative ones too, where the dtype has them. */
void make_indices(trial *t, int slot, tsr_dtype dtype, int ndim, const int64_t *shape, int64_t limit);

/* A tensor to be written, without overlap, and with known bytes between its elements for check_gaps(). */
void make_output(trial *t, int slot, tsr_dtype dtype, int ndim, const int64_t *shape);

/* The operand of a call whose result may be the operand itself: once in a while the output in slot `result`,
 * filled with the operand's elements; the operand in its slot stays for comparison. */
const tsr_tensor *operand_or_result(trial *t, int operand, int result);

/* A result with the dtype and shape of the operand in slot x, to be written; now and then it holds the
 * operand's elements, for a call that writes over them. Returns the slot that the call reads: x, or this. */
int make_output_like(trial *t, int slot, int x);

/* Packed: what the tensor in slot `from` is when it is repeated to this shape. */
void make_packed(trial *t, int slot, int from, int ndim, const int64_t *shape);

/* The host's address of element k in row-major order; on a device it is good until the next call. */
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

/* Two tensors have the same shape, and each element of `got` is that of `from`, converted by hand. */
void check_converted(trial *t, int got, int from);

/* Element k is this, bit for bit but for NaN. */
void check_bits(trial *t, int slot, int64_t k, const void *wanted);

/* The error of one rounding, relative to the terms of a sum: `here` on the CPU, which adds in double. A
 * device may compute in the dtype that results are rounded to, or in f32. */
double rounding_of(const trial *t, tsr_dtype dtype, double here);

/* The shape is this; element k is near a value, integers equal. A device may be off by twice the slack. */
void check_shape(trial *t, int slot, tsr_dtype dtype, int ndim, const int64_t *shape);
void check_near(trial *t, int slot, int64_t k, value wanted, double slack);

/* Checks that tsr_infer, for the op of the check and the n tensors from slot `first` on, gives the desc of
 * `result`, and that tsr_op_cost counts the bytes of the result at least. */
void check_inferred(trial *t, int n, int first, const void *params, int result);

#endif

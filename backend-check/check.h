/* check.h - what a check of a backend is made of.
 *
 * A check is one thing that must hold on the device, usually of an op with a dtype. It is tried
 * several times; a trial's numbers follow from the seed, the check's name and the number of the
 * trial, and from nothing else.
 *
 * Ops are called twice with the same operands, once on the CPU (HERE) and once on the device
 * (THERE), byte for byte: the strides, the bytes between elements and the place in the storage
 * are alike. Results are compared by the tolerance of the op (compare.h), and the bytes between
 * their elements must stay as they were.
 */
#ifndef TSR_BACKEND_CHECK_H
#define TSR_BACKEND_CHECK_H

#include "tessera/backend.h"
#include "tessera/tessera.h"

#if defined(__GNUC__)
#define CHECK_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define CHECK_PRINTF(text, first)
#endif

/* The device ---------------------------------------------------------------------------- */

typedef struct session {
    tsr_device device;   /* that is checked */
    tsr_device sibling;  /* another one of its backend, or TSR_NO_DEVICE */
    tsr_device stranger; /* one of another backend that is not the CPU, or TSR_NO_DEVICE */
    const tsr_backend *backend;
    int index; /* of the device in its backend */
    tsr_device_info info;
    uint64_t seed;
    int cases;     /* trials of each check */
    bool plumbing; /* values are not compared */
} session;

/* Does the device say that it has this ("f64", "f16")? The words of its capabilities. */
bool has_capability(const session *s, const char *word);

/* Why the device need not have this dtype; NULL if it must. */
const char *excuse_for(const session *s, tsr_dtype dtype);

/* Trials ---------------------------------------------------------------------------------- */

enum { IN_MAX = 8, OUT_MAX = 4, SLOTS = IN_MAX + OUT_MAX, RANK = 6 };

typedef enum side { HERE, THERE, SIZES, SIDES } side; /* SIZES: see tolerance.sized */

typedef struct operand {
    tsr_tensor *at[SIDES];
    unsigned char *bytes; /* of the whole storage, when it was made; NULL: no storage of ours */
    size_t size;
    size_t offset; /* of element (0, ..., 0) */
    int same_as;   /* the slot that it is (in place), or its own */
    bool is_number;
    tsr_number number;
} operand;

/* Arguments of a call beside its tensors. */
typedef struct arguments {
    int axis, naxes, axes[RANK], mode;
    bool flag, other;
    int64_t n[2 * RANK];
    double a, b, c;
    uint64_t seed;
    tsr_dtype dtype;
} arguments;

typedef struct check check;

typedef struct trial {
    const session *session;
    const check *check;
    uint64_t random;
    int number; /* of the trial, from 0 on */
    bool failed, skipped;
    bool refused; /* the CPU's side did not take the operands, nor did the device's */
    char why[2400];
    operand slot[SLOTS]; /* operands, then results */
    tsr_device place[THERE + 1];
    arguments with;
    double terms;    /* that a sum or product has; for the tolerance */
    const void *how; /* options of a call */
} trial;

struct check {
    const char *family;
    char name[56];  /* "add f32" */
    tsr_op_kind op; /* that it is about, or TSR_OP_NONE */
    void (*run)(trial *t);
    const void *about; /* whatever run needs to know */
    tsr_dtype dtype, other;
    int most; /* trials, at most; 0: as many as are asked for */
};

typedef struct check_list {
    check *item;
    int count, room;
} check_list;

/* Adds a copy of c, named by the title and c's dtypes; one for each dtype of a set (bit i: dtype i). */
void add_check(check_list *list, check c, const char *title);
void add_for_dtypes(check_list *list, check c, const char *title, uint32_t dtypes);
void free_checks(check_list *list);

/* The dtypes that operand i of an op may have by its signature. */
uint32_t dtypes_of(tsr_op_kind kind, int i);
#define DTYPE_BIT(d) ((uint32_t)1 << (d))
uint32_t dtypes_of_kind(tsr_kind kind);

/* Each file adds its own. */
void list_elementwise(check_list *list);
void list_movement(check_list *list);
void list_reduce(check_list *list);
void list_matmul(check_list *list);
void list_index(check_list *list);
void list_order(check_list *list);
void list_random(check_list *list);
void list_conv(check_list *list);
void list_nn(check_list *list);
void list_quant(check_list *list);
void list_linalg(check_list *list);
void list_transfers(check_list *list);
void list_streams(check_list *list);
void list_memory(check_list *list);
void list_threads(check_list *list);
void list_contract(check_list *list);

/* Ends. The first sentence stays. */
void fail_trial(trial *t, const char *format, ...) CHECK_PRINTF(2, 3);
void skip_trial(trial *t, const char *format, ...) CHECK_PRINTF(2, 3);
static inline bool is_over(const trial *t) { return t->failed || t->skipped || t->refused; }

/* A call on the device went wrong: a failure, or a skip where the device has an excuse; nothing where
 * values are not compared and the call was about them. */
void call_went_wrong(trial *t, const char *what, tsr_status s);

/* In a function that returns nothing: the call must succeed. */
#define NEED(t, call) \
    do { \
        const tsr_status need_ = (call); \
        if (need_ != TSR_OK) { \
            call_went_wrong((t), #call, need_); \
            return; \
        } \
    } while (0)

#define MUST(t, condition, ...) \
    do { \
        if (!(condition)) { \
            fail_trial((t), __VA_ARGS__); \
            return; \
        } \
    } while (0)

/* The same where values are compared. */
#define MUST_BE(t, condition, ...) \
    do { \
        if (!(t)->session->plumbing && !(condition)) { \
            fail_trial((t), __VA_ARGS__); \
            return; \
        } \
    } while (0)

#define GO_ON(t) \
    do { \
        if (is_over(t)) return; \
    } while (0)

void begin_trial(trial *t, const session *s, const check *c, int number);
void end_trial(trial *t); /* releases what it holds */

/* Random numbers: 0 .. n - 1, low .. high, once in n, a real in low .. high. */
uint64_t random_bits(trial *t);
int64_t random_below(trial *t, int64_t n);
int64_t random_between(trial *t, int64_t low, int64_t high);
bool once_in(trial *t, int64_t n);
double random_real(trial *t, double low, double high);

/* Ops -------------------------------------------------------------------------------------- */

typedef struct tolerance {
    double ulps;  /* that a float may differ by, of f32 for shorter ones, which may be rounded
                      to their neighbour besides; 0: equal, NaN to any NaN; BITS: bit for bit */
    double least; /* errors are relative to this at least */
    bool sized;   /* errors are relative to what the call gives for |operands| */
    enum { GROWS_NOT, GROWS_ROOT, GROWS_LINEAR } grows; /* with trial.terms */
    bool any_zero;                                      /* 0 and -0 are one */
} tolerance;

#define BITS (-1.0)

/* Calls the op with the tensors of one side. */
typedef tsr_status (*call_fn)(trial *t, side s);

#define IN(t, s, i)     ((const tsr_tensor *)(t)->slot[i].at[s])
#define RESULT(t, s, i) (&(t)->slot[IN_MAX + (i)].at[s])

/* Both sides with results that are made, or given with strides of any kind, or, where `in_place`
 * (bit i: operand i) allows it and it fits, are an operand; only made ones for MADE. Then compares.
 * Where the CPU refuses the operands, the device must refuse them with the same status. */
#define MADE (1u << 31)
void run_op(trial *t, call_fn call, int nresults, unsigned in_place, const tolerance *e);

#endif

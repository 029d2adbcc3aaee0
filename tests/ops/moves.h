/* moves.h - operands with any strides in one block of memory, and what a call must make
 * of them.
 *
 * A case puts up to three inputs into the block, lists what each result must hold, lets
 * results be made or be given (with strides of their own, in the inputs' way or not, or
 * in place), calls, and compares: the elements of each result, and every other byte of
 * the block, which must be as it was.
 */
#ifndef TSR_TEST_MOVES_H
#define TSR_TEST_MOVES_H

#include "property/reference.h"

enum { DTYPES = TSR_DTYPE_COUNT - 1, EACH = 200 * DTYPES, INPUTS = 3, RESULTS = 4, REGION = REF_BYTES / 8 };

static _Alignas(64) unsigned char memory[REF_BYTES], before[REF_BYTES];
static ref_view in[INPUTS];

/* What one result must be. Result i goes to c->t[i]; input i lies in c->t[RESULTS + i]. */
typedef struct outcome {
    ref_view      view;                 /* dtype and shape; addresses, where it is given */
    bool          given;
    bool          any_nan;              /* a NaN need not have these bits */
    unsigned char e[REF_ELEMENTS][16];
} outcome;

static outcome want[RESULTS];

/* The dtype of a case: each comes as often as any other. */
static inline tsr_dtype dtype_of(const ref_case *c) { return (tsr_dtype)(1 + c->number % DTYPES); }

static inline bool make_tensor(ref_case *c, int handle, ref_view *v, tsr_dtype dtype, int ndim,
                               const int64_t *shape, bool writable, int64_t lowest)
{
    tsr_desc d;
    int64_t low, high;
    const int64_t align = ref_align(dtype);
    ref_random_desc(c, &d, v, &low, dtype, ndim, shape, writable, REGION - 128);
    ref_span(v, &low, &high);
    const int64_t first = (lowest - low + align - 1) / align * align;
    for (int64_t k = 0; k < v->n; k++) v->at[k] += first;
    return ref_make(c, handle, memory, first, &d, first + low, first + high);
}

/* Fills the block with noise. */
static inline void begin_case(ref_case *c) { ref_random_bytes(c, memory, sizeof memory); }

/* Input i of any elements; distinct: no two of its indices meet. */
static inline bool make_input_like(ref_case *c, int i, tsr_dtype dtype, int ndim, const int64_t *shape,
                                   bool distinct)
{
    if (!make_tensor(c, RESULTS + i, &in[i], dtype, ndim, shape, distinct, 64 + i * REGION)) return false;
    for (int64_t k = 0; k < in[i].n; k++) ref_random_element(c, dtype, memory + in[i].at[k]);
    return true;
}

static inline bool make_input(ref_case *c, int i, tsr_dtype dtype, int ndim, const int64_t *shape)
{
    return make_input_like(c, i, dtype, ndim, shape, ref_once_in(c, 2));
}

/* Input i of indices into `size` places, of a random integer dtype. */
static inline bool make_index(ref_case *c, int i, int ndim, const int64_t *shape, int64_t size)
{
    const tsr_dtype dtype = (tsr_dtype)ref_between(c, TSR_I8, TSR_U64);
    if (!make_input(c, i, dtype, ndim, shape)) return false;
    for (int64_t k = 0; k < in[i].n; k++) {
        const int64_t v = ref_is_signed(dtype) ? ref_between(c, -size, size - 1) : ref_below(c, size);
        ref_store_bits(memory + in[i].at[k], ref_size(dtype), (uint64_t)v);
    }
    return true;
}

/* Index k of input i, from the start of its dim. */
static inline int64_t index_at(int i, int64_t k, int64_t size)
{
    const ref_number n = ref_decode(in[i].dtype, before + in[i].at[k]);
    return n.negative ? size - (int64_t)n.bits : (int64_t)n.bits;
}

/* The inputs are as they should be: from now on, nothing may change but results. */
static inline void freeze(void) { memcpy(before, memory, sizeof memory); }

static inline const unsigned char *input_at(int i, int64_t k) { return before + in[i].at[k]; }
static inline const unsigned char *input(int i, const int64_t *index)
{
    return input_at(i, ref_flat(&in[i], index));
}

static inline void want_shape(int r, tsr_dtype dtype, int ndim, const int64_t *shape)
{
    ref_set_shape(&want[r].view, dtype, ndim, shape);
    want[r].given = want[r].any_nan = false;
}

static inline void want_bytes(int r, int64_t k, const void *bytes)
{
    memcpy(want[r].e[k], bytes, (size_t)ref_size(want[r].view.dtype));
}

static inline void want_i64(int r, int64_t k, int64_t v) { want_bytes(r, k, &v); }

static inline bool same_shape(const ref_view *a, const ref_view *b)
{
    if (a->dtype != b->dtype || a->ndim != b->ndim) return false;
    for (int i = 0; i < a->ndim; i++) if (a->shape[i] != b->shape[i]) return false;
    return true;
}

/* Result r is made by the call, or given: away from the inputs, among them, or as one of them. */
static inline bool choose_result(ref_case *c, int r, bool may_touch)
{
    int64_t shape[TSR_MAX_NDIM];
    outcome *w = &want[r];
    c->t[r] = NULL;
    if (ref_once_in(c, 3)) return true;
    w->given = true;
    for (int i = 0; may_touch && i < INPUTS; i++)
        if (c->t[RESULTS + i] && same_shape(&w->view, &in[i]) && !ref_repeats(&in[i]) && ref_once_in(c, 3)) {
            ref_say(c, "    result %d is input %d\n", r, i);
            w->view = in[i];
            c->t[r] = &c->place[r];
            const tsr_desc d = c->t[RESULTS + i]->desc;
            MUST_TRUE(tsr_place(c->t[r], c->t[RESULTS + i]->data, &d) == TSR_OK);
            return true;
        }
    memcpy(shape, w->view.shape, sizeof shape);
    const int64_t lowest = may_touch && ref_once_in(c, 2) ? ref_below(c, 2) * REGION + ref_below(c, 200)
                                                          : REF_BYTES / 2 + r * REGION;
    return make_tensor(c, r, &w->view, w->view.dtype, w->view.ndim, shape, true, lowest);
}

static inline bool is_nan(tsr_dtype part, const void *p)
{
    return ref_is_float(part) && ref_decode(part, p).kind == REF_NAN;
}

static inline bool element_is(const outcome *w, const void *got, const void *wanted)
{
    const tsr_dtype part = ref_part(w->view.dtype);
    const size_t size = (size_t)ref_size(part), n = (size_t)ref_size(w->view.dtype) / size;
    if (!w->any_nan) return !memcmp(got, wanted, n * size);
    for (size_t i = 0; i < n; i++) {
        const char *g = (const char *)got + i * size, *e = (const char *)wanted + i * size;
        if (memcmp(g, e, size) && !(is_nan(part, g) && is_nan(part, e))) return false;
    }
    return true;
}

/* Results 0 .. n - 1 hold what they must, and nothing else has changed. */
static inline void check_results(ref_case *c, int n)
{
    static ref_view v;
    for (int r = 0; r < n; r++) {
        const outcome *w = &want[r];
        const tsr_tensor *t = c->t[r];
        MUST(tsr_check(t) == TSR_OK && t->dtype == w->view.dtype && t->ndim == w->view.ndim);
        for (int i = 0; i < t->ndim; i++) MUST(t->shape[i] == w->view.shape[i]);
        if (!w->given) MUST(tsr_is_contiguous(t));
        ref_of_desc(&v, &t->desc, 0);
        for (int64_t k = 0; k < v.n; k++) {
            const unsigned char *got = (const unsigned char *)t->data + v.at[k];
            if (!element_is(w, got, w->e[k])) ref_say(c, "    result %d, element %lld\n", r, (long long)k);
            MUST(element_is(w, got, w->e[k]));
        }
    }
    for (int r = 0; r < n; r++)
        for (int64_t k = 0; want[r].given && k < want[r].view.n; k++)
            memcpy(before + want[r].view.at[k], memory + want[r].view.at[k],
                   (size_t)ref_size(want[r].view.dtype));
    MUST(!memcmp(memory, before, sizeof memory));
}

/* A case whose call must fail: nothing is made, and nothing is changed. */
static inline void check_refused(ref_case *c, int n)
{
    for (int r = 0; r < n; r++) MUST(want[r].given ? c->t[r] != NULL : c->t[r] == NULL);
    MUST(!memcmp(memory, before, sizeof memory));
}

/* axis, counted from either end. */
static inline int either_end(ref_case *c, int axis, int ndim)
{
    return ref_once_in(c, 2) ? axis : axis - ndim;
}

/* A shape of rank 1 at least. */
static inline int random_shape_with_axis(ref_case *c, int64_t *shape, int most_dims, int64_t most)
{
    int ndim;
    do ndim = ref_random_shape(c, shape, most_dims, most);
    while (ndim == 0);
    return ndim;
}

#endif

/* reference.h - a slow, plain model of strided tensors, for the generated tests.
 *
 * Nothing here calls the library to learn what is right:
 *
 *   ref_view     a tensor as the list of its elements' addresses, in row-major
 *                order. A view is made by naming, for each index of the result,
 *                the index of the source; strides play no part.
 *   ref_convert  dtype conversion on integers alone: a number is a sign, 64 bits
 *                and a power of two, so rounding is done once and by hand.
 *
 * A test is a function of one case. Cases are numbered, and a case's number and
 * the seed give everything in it:
 *
 *     test_view_algebra                all tests, all cases
 *     test_view_algebra chains         the tests whose names contain "chains"
 *     test_view_algebra chains 1234    case 1234 of those (or TSR_CASE=1234)
 *     TSR_SEED=7 TSR_TEST_SCALE=10     other cases, and ten times as many
 *
 * A case that fails prints what it did, and how to run it again. It is then made
 * smaller: choices are set to 0 one by one, as long as the case still fails, and what
 * is left of it is printed too.
 */
#ifndef TSR_TEST_REFERENCE_H
#define TSR_TEST_REFERENCE_H

#include <stdarg.h>

#include "opcheck/number.h"
#ifndef TEST_OWN_MAIN
#define TEST_OWN_MAIN
#define REF_MAIN
#endif
#include "test.h"

enum {
    REF_BYTES    = 1 << 15, /* of the memory that tensors lie in */
    REF_ELEMENTS = 4096,    /* a view may have */
    REF_SOURCE   = 240,     /* a tensor starts out with, at most */
    REF_RANK     = 6,
    REF_CHOICES  = 2048,    /* of a case that are tried at 0 */
    REF_HANDLES  = 12
};

/* Cases ------------------------------------------------------------------------- */

typedef struct ref_case {
    int64_t     number;
    uint64_t    random;
    bool        failed;
    size_t      length;
    char        text[3000];          /* what was done so far */
    tsr_tensor *t[REF_HANDLES];      /* released when the case ends */
    tsr_tensor  place[REF_HANDLES];  /* for tensors that are placed; t[i] may point at place[i] */
} ref_case;

static struct {
    uint64_t seed;
    double   scale;
    int64_t  only;                   /* case to run; -1: all */
} ref_options = { 20260101, 1, -1 };

/* The choices of the case that runs. */
static struct {
    bool quiet;                      /* a failure is not printed */
    int  count;                      /* made so far */
    bool zero[REF_CHOICES];          /* made to be 0 */
} ref_choices;

static inline void ref_begin(int argc, char **argv)
{
    const char *only = argc > 2 ? argv[2] : getenv("TSR_CASE");
    const char *seed = getenv("TSR_SEED"), *scale = getenv("TSR_TEST_SCALE");
    TEST_BEGIN(argc, argv);
    if (only) ref_options.only = strtoll(only, NULL, 10);
    if (seed) ref_options.seed = strtoull(seed, NULL, 10);
    if (scale) ref_options.scale = strtod(scale, NULL);
}

/* 0 .. n - 1; one chance in n; low .. high (low if there is nothing between). The choice 0
 * is the simplest: the first of several, the lowest, no. */
static inline int64_t ref_below(ref_case *c, int64_t n)
{
    const int64_t chosen = test_below(&c->random, n);
    const int k = ref_choices.count++;
    return k < REF_CHOICES && ref_choices.zero[k] ? 0 : chosen;
}
static inline bool ref_once_in(ref_case *c, int64_t n) { return ref_below(c, n) == n - 1; }
static inline int64_t ref_between(ref_case *c, int64_t low, int64_t high)
{
    return high > low ? low + ref_below(c, high - low + 1) : low;
}

/* Adds to the story of the case. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static inline void ref_say(ref_case *c, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const size_t room = sizeof c->text - c->length;
    const int n = vsnprintf(c->text + c->length, room, fmt, args);
    va_end(args);
    if (n > 0) c->length += (size_t)n < room ? (size_t)n : room - 1;
}

static inline void ref_say_numbers(ref_case *c, int n, const int64_t *numbers)
{
    ref_say(c, "(");
    for (int i = 0; i < n; i++) ref_say(c, i ? ", %lld" : "%lld", (long long)numbers[i]);
    ref_say(c, ")");
}

static inline void ref_say_desc(ref_case *c, const tsr_desc *d)
{
    ref_say(c, "%s", tsr_dtype_name(d->dtype));
    ref_say_numbers(c, d->ndim, d->shape);
    ref_say_numbers(c, d->ndim, d->stride);
}

static inline void ref_fail(ref_case *c, const char *file, int line, const char *expected)
{
    c->failed = true;
    if (ref_choices.quiet || test_state.failures++ >= 4) return;
    printf("%s:%d: %s, case %lld, seed %llu: expected %s\n%s\n    last error: %s\n    again: %s %s %lld\n",
           file, line, test_state.current, (long long)c->number, (unsigned long long)ref_options.seed,
           expected, c->text, tsr_last_error(), file, test_state.current, (long long)c->number);
}

/* In a function of a case `c` that returns nothing: ends the case if cond is false. */
#define MUST(cond)                                          \
    do {                                                    \
        if (!(cond)) {                                      \
            ref_fail(c, __FILE__, __LINE__, #cond);         \
            return;                                         \
        }                                                   \
    } while (0)

/* The same in a function that returns bool: false tells the caller to end. */
#define MUST_TRUE(cond)                                     \
    do {                                                    \
        if (!(cond)) {                                      \
            ref_fail(c, __FILE__, __LINE__, #cond);         \
            return false;                                   \
        }                                                   \
    } while (0)

/* After a helper that has reported already. */
#define MUST_GO_ON(c) do { if ((c)->failed) return; } while (0)

/* Case `number` of the current test, with the choices as they are. */
static inline void ref_run(ref_case *c, int64_t number, uint64_t start, void (*run)(ref_case *c))
{
    ref_choices.count = 0;
    c->number = number;
    c->random = start + (uint64_t)number * 0x632be59bd9b4e019u;
    c->length = 0;
    c->text[0] = '\0';
    c->failed = false;
    for (int h = 0; h < REF_HANDLES; h++) {
        c->t[h] = NULL;
        (void)tsr_place_none(&c->place[h]);
    }
    run(c);
    for (int h = 0; h < REF_HANDLES; h++) tsr_release(&c->t[h]);
}

/* Finds choices that the failure does not need, and prints the case without them. */
static inline void ref_shrink(ref_case *c, int64_t number, uint64_t start, void (*run)(ref_case *c))
{
    bool smaller = true;
    ref_choices.quiet = true;
    for (int pass = 0; smaller && pass < 4; pass++) {
        smaller = false;
        const int count = ref_choices.count < REF_CHOICES ? ref_choices.count : REF_CHOICES;
        for (int k = 0; k < count; k++) {
            if (ref_choices.zero[k]) continue;
            ref_choices.zero[k] = true;
            ref_run(c, number, start, run);
            ref_choices.zero[k] = c->failed;
            smaller = smaller || c->failed;
        }
    }
    ref_run(c, number, start, run);
    ref_choices.quiet = false;
    printf("    the same, smaller:\n%s\n", c->text);
    memset(ref_choices.zero, 0, sizeof ref_choices.zero);
}

/* Runs cases 0 .. count - 1 of the current test. */
static inline void ref_cases(int64_t count, void (*run)(ref_case *c))
{
    static ref_case c;
    uint64_t start = ref_options.seed;
    for (const char *p = test_state.current; *p; p++) start = start * 131 + (unsigned char)*p;
    start = test_next(&start);
    count = (int64_t)((double)count * ref_options.scale);
    for (int64_t i = 0; i < count; i++) {
        if (ref_options.only >= 0 && i != ref_options.only) continue;
        ref_run(&c, i, start, run);
        if (c.failed && test_state.failures <= 2) ref_shrink(&c, i, start, run);
    }
}

/* Memory ------------------------------------------------------------------------ */

static inline void ref_random_bytes(ref_case *c, unsigned char *bytes, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const uint64_t x = test_next(&c->random);
        memcpy(bytes + i, &x, 8);  /* a size that is known is no call */
    }
    for (uint64_t x = test_next(&c->random); i < n; i++, x >>= 8) bytes[i] = (unsigned char)x;
}

/* Element lists ------------------------------------------------------------------ */

typedef struct ref_view {
    tsr_dtype dtype;
    int       ndim;
    int64_t   shape[TSR_MAX_NDIM];
    int64_t   n;                    /* elements */
    int64_t   at[REF_ELEMENTS];     /* byte address of each, in row-major order */
} ref_view;

static inline int64_t ref_count(int ndim, const int64_t *shape)
{
    int64_t n = 1;
    for (int i = 0; i < ndim; i++) n *= shape[i];
    return n;
}

/* The next index in row-major order; back to the first after the last. */
static inline void ref_next(int64_t *index, int ndim, const int64_t *shape)
{
    for (int i = ndim - 1; i >= 0 && ++index[i] >= shape[i]; i--) index[i] = 0;
}

/* The place of an index in row-major order. */
static inline int64_t ref_flat(const ref_view *v, const int64_t *index)
{
    int64_t at = 0;
    for (int i = 0; i < v->ndim; i++) at = at * v->shape[i] + index[i];
    return at;
}

/* for (REF_EACH(view, index, k)): every index of a view, and its number. */
#define REF_EACH(v, index, k)                                                        \
    int64_t index[TSR_MAX_NDIM] = { 0 }, k = 0; (k) < (v)->n; (k)++, ref_next((index), (v)->ndim, (v)->shape)

static inline void ref_set_shape(ref_view *v, tsr_dtype dtype, int ndim, const int64_t *shape)
{
    v->dtype = dtype;
    v->ndim = ndim;
    for (int i = 0; i < ndim; i++) v->shape[i] = shape[i];
    v->n = ref_count(ndim, shape);
}

/* The elements of a desc whose first lies at byte `base`. */
static inline void ref_of_desc(ref_view *v, const tsr_desc *d, int64_t base)
{
    ref_set_shape(v, d->dtype, d->ndim, d->shape);
    for (REF_EACH(v, index, k)) {
        int64_t offset = 0;
        for (int i = 0; i < d->ndim; i++) if (index[i] > 0) offset += index[i] * d->stride[i];
        v->at[k] = base + offset * ref_size(d->dtype);
    }
}

/* The lowest byte and one past the highest; both 0 if there are none. */
static inline void ref_span(const ref_view *v, int64_t *low, int64_t *high)
{
    *low = *high = v->n ? v->at[0] : 0;
    for (int64_t k = 0; k < v->n; k++) {
        if (v->at[k] < *low) *low = v->at[k];
        if (v->at[k] + ref_size(v->dtype) > *high) *high = v->at[k] + ref_size(v->dtype);
    }
}

static inline int ref_compare_addresses(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Do two elements share an address? (Addresses of one view differ by whole elements.) */
static inline bool ref_repeats(const ref_view *v)
{
    static int64_t sorted[REF_ELEMENTS];
    memcpy(sorted, v->at, (size_t)v->n * sizeof *sorted);
    qsort(sorted, (size_t)v->n, sizeof *sorted, ref_compare_addresses);
    for (int64_t k = 1; k < v->n; k++) if (sorted[k] == sorted[k - 1]) return true;
    return false;
}

/* Are there strides that give `shape` these addresses? An index with a single 1 fixes the
 * stride of its dim; then all the others must agree. strides may be NULL. */
static inline bool ref_find_strides(int64_t *strides, const ref_view *v, int ndim, const int64_t *shape)
{
    int64_t stride[TSR_MAX_NDIM], step = 1, index[TSR_MAX_NDIM] = { 0 };
    for (int i = ndim - 1; i >= 0; i--) {
        stride[i] = shape[i] > 1 && v->n > 0 ? v->at[step] - v->at[0] : 0;
        if (strides) strides[i] = stride[i] / ref_size(v->dtype);
        step *= shape[i];
    }
    for (int64_t k = 0; k < v->n; k++, ref_next(index, ndim, shape)) {
        int64_t at = v->at[0];
        for (int i = 0; i < ndim; i++) at += index[i] * stride[i];
        if (at != v->at[k]) return false;
    }
    return true;
}

/* Random shapes and descs --------------------------------------------------------- */

static inline tsr_dtype ref_random_dtype(ref_case *c)
{
    return (tsr_dtype)ref_between(c, 1, TSR_DTYPE_COUNT - 1);
}

/* A shape of at most `most` elements; one in some twenty has a dim of size 0. Returns the rank. */
static inline int ref_random_shape(ref_case *c, int64_t *shape, int most_dims, int64_t most)
{
    const int ndim = (int)ref_below(c, most_dims + 1);
    const bool empty = ndim > 0 && ref_once_in(c, 20);
    int64_t n = 1;
    for (int i = 0; i < ndim; i++) {
        int64_t longest = most / n < 9 ? most / n : 9;
        if (ref_once_in(c, 3) || longest < 2) longest = 1;
        shape[i] = ref_between(c, 1, longest);
        n *= shape[i];
    }
    if (ndim == 1 && ref_once_in(c, 3)) shape[0] = ref_between(c, 1, most);
    if (empty) shape[ref_below(c, ndim)] = 0;
    return ndim;
}

static inline void ref_shuffle(ref_case *c, int n, int *order)
{
    for (int i = 0; i < n; i++) order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        const int64_t j = ref_below(c, i + 1);
        const int swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
}

static inline int64_t ref_junk(ref_case *c)
{
    static const int64_t junk[] = { INT64_MIN, INT64_MAX, 0, -1, 1, INT64_MIN + 1, INT64_MAX / 2 };
    return ref_once_in(c, 3) ? (int64_t)test_next(&c->random) : junk[ref_below(c, 7)];
}

/* Packed in some order of dims, with gaps and negative strides as the flags say. */
static inline void ref_packed_strides(ref_case *c, int ndim, const int64_t *shape, int64_t *stride, bool gaps,
                                      bool reversed)
{
    int order[TSR_MAX_NDIM];
    int64_t step = gaps ? ref_between(c, 1, 3) : 1;
    ref_shuffle(c, ndim, order);
    for (int i = 0; i < ndim; i++) {
        const int at = order[i];
        stride[at] = reversed && ref_once_in(c, 2) ? -step : step;
        step *= shape[at] > 0 ? shape[at] : 1;
        if (gaps && ref_once_in(c, 3)) step += ref_between(c, 1, 4);
    }
}

static inline void ref_random_strides(ref_case *c, int ndim, const int64_t *shape, int64_t *stride)
{
    const int kind = (int)ref_below(c, 8);
    int64_t step = 1;
    if (kind >= 2 && kind <= 5) ref_packed_strides(c, ndim, shape, stride, kind >= 3, kind >= 4);
    for (int i = 0; i < ndim; i++) {
        const int at = kind == 0 ? ndim - 1 - i : i;
        if (kind < 2) stride[at] = step;                             /* row-major, column-major */
        if (kind == 5 && ref_once_in(c, 3)) stride[at] = 0;
        if (kind > 5) stride[at] = ref_between(c, kind == 6 ? -4 : -30, kind == 6 ? 4 : 30);
        step *= shape[at] > 0 ? shape[at] : 1;
    }
    for (int i = 0; i < ndim; i++) if (shape[i] == 1 && ref_once_in(c, 2)) stride[i] = ref_junk(c);
}

/* A desc of this dtype and shape that reaches over at most `most` bytes; no two of its indices
 * meet if it is to be written. *low is its lowest byte (<= 0), *v its elements from address 0. */
static inline void ref_random_desc(ref_case *c, tsr_desc *d, ref_view *v, int64_t *low, tsr_dtype dtype,
                                   int ndim, const int64_t *shape, bool writable, int64_t most)
{
    int64_t high;
    *d = (tsr_desc){ .dtype = dtype, .ndim = ndim };
    for (int i = 0; i < ndim; i++) d->shape[i] = shape[i];
    for (int tries = 0;; tries++) {
        if (tries < 50) ref_random_strides(c, ndim, shape, d->stride);
        else            ref_packed_strides(c, ndim, shape, d->stride, false, true);
        ref_of_desc(v, d, 0);
        ref_span(v, low, &high);
        if (high - *low <= most && !(writable && ref_repeats(v))) return;
        if (tries > 50) {
            printf("%lld elements do not fit %lld bytes: the test asks too much\n", (long long)v->n,
                   (long long)most);
            abort();
        }
    }
}

/* A tensor over data + at, made in one of the owners there are, in c->t[handle]. */
static inline bool ref_make(ref_case *c, int handle, unsigned char *data, int64_t at, const tsr_desc *d,
                            int64_t low, int64_t high)
{
    static const char *const owners[] = { "wrap", "place", "storage" };
    const int owner = (int)ref_below(c, 3);
    tsr_storage *storage = NULL;
    ref_say(c, "    t%d: ", handle);
    ref_say_desc(c, d);
    ref_say(c, " at %lld, by %s\n", (long long)at, owners[owner]);
    switch (owner) {
    case 0:
        MUST_TRUE(tsr_wrap(&c->t[handle], data + at, d) == TSR_OK);
        break;
    case 1:
        c->t[handle] = &c->place[handle];
        MUST_TRUE(tsr_place(c->t[handle], data + at, d) == TSR_OK);
        break;
    default:
        MUST_TRUE(tsr_storage_borrow(&storage, data + low, (size_t)(high - low), TSR_CPU, TSR_MEMORY_HOST) ==
                  TSR_OK);
        MUST_TRUE(tsr_from_storage(&c->t[handle], storage, (size_t)(at - low), d) == TSR_OK);
        tsr_storage_release(&storage);
    }
    MUST_TRUE(tsr_check(c->t[handle]) == TSR_OK);
    return true;
}

/* Values ------------------------------------------------------------------------- */

/* A float near what rounds, overflows or saturates somewhere: a value of a random narrower
 * float or an end of an integer, moved by a few last places. */
static inline uint64_t ref_edge_float(ref_case *c, tsr_dtype dtype)
{
    ref_number n = { REF_FINITE, ref_once_in(c, 2), 0, 0 };
    if (ref_once_in(c, 2)) {
        const tsr_dtype narrow = (tsr_dtype)ref_between(c, TSR_F8E4M3, TSR_F32);
        n = ref_decode_float(narrow, test_next(&c->random) & ref_low_mask(ref_bits(narrow)));
        if (n.kind == REF_FINITE && ref_once_in(c, 2)) {   /* halfway to the next */
            n.bits = 2 * n.bits + 1;
            n.exponent--;
        }
    } else {
        n.bits = (uint64_t)1 << ref_between(c, 0, 63);
        if (ref_once_in(c, 2)) n.bits -= 1;
        if (ref_once_in(c, 3)) n.bits += (uint64_t)ref_below(c, 3);
    }
    return ref_encode_float(dtype, n) + (uint64_t)ref_between(c, -2, 2);
}

static inline uint64_t ref_special_float(ref_case *c, tsr_dtype dtype)
{
    const ref_format f = ref_format_of(dtype);
    const int width = f.exponent_bits + f.mantissa_bits;
    const uint64_t one = (uint64_t)1 << f.mantissa_bits, nan = ref_nan_bits(f);
    const uint64_t above = f.infinities ? ref_low_mask(f.exponent_bits) << f.mantissa_bits : nan;
    const uint64_t bits[] = {
        0, 1, one - 1, one, one + 1, above - 1, above, above + 1 > nan ? nan : above + 1, nan,
        ref_low_mask(f.exponent_bits - 1) << f.mantissa_bits /* 1 */,
    };
    return bits[ref_below(c, 10)] | (uint64_t)ref_below(c, 2) << width;
}

static inline uint64_t ref_random_real(ref_case *c, tsr_dtype dtype)
{
    const int bits = ref_bits(dtype);
    const uint64_t mask = ref_low_mask(bits), random = test_next(&c->random) & mask;
    if (dtype == TSR_BOOL) return random & 1;
    if (ref_is_float(dtype)) {
        const int64_t choice = ref_below(c, 3);
        if (choice == 0) return random;
        return (choice == 1 ? ref_special_float(c, dtype) : ref_edge_float(c, dtype)) & mask;
    }
    switch (ref_below(c, 4)) {
    case 0:  return (uint64_t)ref_between(c, -3, 3) & mask;
    case 1:  return (((uint64_t)1 << ref_below(c, bits)) + (uint64_t)ref_between(c, -1, 1)) & mask;
    case 2:  return ((mask >> ref_below(c, 2)) + (uint64_t)ref_below(c, 2)) & mask;
    default: return random;
    }
}

/* An element of any dtype, special as often as not. */
static inline void ref_random_element(ref_case *c, tsr_dtype dtype, void *p)
{
    const tsr_dtype part = ref_part(dtype);
    const int64_t size = ref_size(part);
    ref_store_bits(p, size, ref_random_real(c, part));
    if (ref_is_complex(dtype)) ref_store_bits((char *)p + size, size, ref_random_real(c, part));
}

#ifdef REF_MAIN
int main(int argc, char **argv)
{
    ref_begin(argc, argv);
    return test_all();
}
#endif

#endif

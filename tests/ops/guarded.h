/* guarded.h - tensors that end at pages which nobody may touch, and watched memory around results.
 *
 * A zone is memory between two guards. A tensor lies at its low end or at its high end: one element too many,
 * read or written there, ends the program with the name of the case. What lies around a result on its other
 * side, and between its rows, is filled and compared afterwards.
 *
 * Loops are cut for several threads but run on this one, the last part first: cuts and their order are the
 * same in every run. The program that includes this defines _GNU_SOURCE. */
#ifndef TSR_TEST_GUARDED_H
#define TSR_TEST_GUARDED_H

#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include "products.h"

enum {
    ZONES = 6,
    ZONE_BYTES = 1 << 24,
    GUARD_BYTES = 1 << 16,
    WATCHED_BYTES = 4096, /* on each side of a result */
    FILL = 0xa5
};

static char *zone_begin[ZONES];
static char case_name[512];

static inline void name_case(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(case_name, sizeof case_name, format, args);
    va_end(args);
}

static inline void report_fault(int number)
{
    static const char words[] = ": touched memory outside an operand or a result\n";
    (void)number;
    if (write(1, case_name, strlen(case_name)) < 0 || write(1, words, sizeof words - 1) < 0) _exit(2);
    _exit(1);
}

static inline void run_parts_here(void *executor_context, int parts, tsr_part_fn body, void *context)
{
    (void)executor_context;
    for (int i = parts - 1; i >= 0; i--) body(context, i);
}

/* False if there is no memory for the zones. */
static inline bool guard_zones(void)
{
    for (int i = 0; i < ZONES; i++) {
        char *p = mmap(NULL, ZONE_BYTES + 2 * GUARD_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED || mprotect(p + GUARD_BYTES, ZONE_BYTES, PROT_READ | PROT_WRITE) != 0)
            return false;
        zone_begin[i] = p + GUARD_BYTES;
    }
    (void)signal(SIGSEGV, report_fault);
    (void)signal(SIGBUS, report_fault);
    tsr_set_executor(run_parts_here, NULL);
    return true;
}

/* A tensor at an end of a zone. Strides may be negative; its span must fit. */
typedef struct guarded {
    tsr_tensor *t;
    char *begin, *end; /* the bytes that it spans */
    int zone;
} guarded;

static inline guarded guarded_make(int zone, bool high, tsr_dtype dtype, int ndim, const int64_t *shape,
                                   const int64_t *stride)
{
    guarded g = { .zone = zone };
    tsr_desc d;
    int64_t lo = 0;
    EXPECT_OK(tsr_desc_init(&d, dtype, ndim, shape, stride));
    const int64_t bytes = tsr_desc_span(&d, &lo, NULL);
    if (bytes > ZONE_BYTES) {
        printf("%lld bytes do not fit a zone\n", (long long)bytes);
        exit(1);
    }
    g.begin = high ? zone_begin[zone] + ZONE_BYTES - bytes : zone_begin[zone];
    g.end = g.begin + bytes;
    EXPECT_OK(tsr_wrap(&g.t, g.begin - lo, &d));
    return g;
}

static inline char *watched_begin(const guarded *g)
{
    char *const zone = zone_begin[g->zone];
    return g->begin - zone < WATCHED_BYTES ? zone : g->begin - WATCHED_BYTES;
}

static inline char *watched_end(const guarded *g)
{
    char *const end = zone_begin[g->zone] + ZONE_BYTES;
    return end - g->end < WATCHED_BYTES ? end : g->end + WATCHED_BYTES;
}

/* Fills what lies in the tensor, between its rows and around it. */
static inline void guarded_fill(const guarded *g, int byte)
{
    memset(watched_begin(g), byte, (size_t)(watched_end(g) - watched_begin(g)));
}

/* The elements in row-major order: to memory of the caller's, or all from one element. */
static inline void move_elements(const tsr_tensor *t, char *packed, const char *each)
{
    const int64_t n = tsr_numel(t), size = (int64_t)tsr_dtype_size(t->dtype), last = t->ndim - 1;
    const int64_t run = t->ndim ? t->shape[last] : 1, step = t->ndim ? t->stride[last] * size : 0;
    for (int64_t i = 0; i < n; i += run) {
        char *at = element_at(t, i);
        for (int64_t j = 0; j < run; j++, at += step)
            if (each)
                memcpy(at, each, (size_t)size);
            else
                memcpy(packed + (i + j) * size, at, (size_t)size);
    }
}

/* Was nothing around the tensor written? Its own elements are lost. */
static inline bool guarded_is_untouched(const guarded *g)
{
    char each[16];
    memset(each, FILL, sizeof each);
    move_elements(g->t, NULL, each);
    for (const char *p = watched_begin(g); p < watched_end(g); p++)
        if ((unsigned char)*p != FILL) return false;
    return true;
}

/* The elements, packed; free() them. */
static inline char *guarded_elements(const guarded *g)
{
    char *packed = malloc((size_t)tsr_byte_size(g->t) + 1);
    move_elements(g->t, packed, NULL);
    return packed;
}

/* Elements that stand for numbers -------------------------------------------------- */

enum { CODES = 16 };

/* Some elements of a dtype, and what they are: whole numbers from -4 to 4, or integers of any bits. Sums of
 * their products are exact. */
typedef struct codes {
    tsr_dtype dtype;
    char bytes[CODES][16];
    value of[CODES];
} codes;

static inline codes codes_of(tsr_dtype dtype, uint64_t *random)
{
    codes c = { .dtype = dtype };
    for (int i = 0; i < CODES; i++) {
        value v = { test_next(random), (long double)(test_below(random, 9) - 4), 0 };
        if (tsr_dtype_kind(dtype) == TSR_COMPLEX) v.im = (long double)(test_below(random, 9) - 4);
        value_store(dtype, c.bytes[i], v);
        c.of[i] = value_load(dtype, c.bytes[i]);
    }
    return c;
}

/* Numbers of a tensor in row-major order, for plain loops. */
typedef struct numbers {
    double *re, *im;
    uint64_t *u;
} numbers;

static inline numbers numbers_make(int64_t n)
{
    return (numbers){ calloc((size_t)n + 1, sizeof(double)), calloc((size_t)n + 1, sizeof(double)),
                      calloc((size_t)n + 1, sizeof(uint64_t)) };
}

static inline void numbers_free(numbers *x)
{
    free(x->re);
    free(x->im);
    free(x->u);
}

/* Random elements; what lies between and around them is NaN, where there is one. */
static inline numbers guarded_random(const guarded *g, const codes *c, uint64_t *random)
{
    const int64_t n = tsr_numel(g->t);
    const size_t size = tsr_dtype_size(g->t->dtype);
    numbers x = numbers_make(n);
    guarded_fill(g, 0xff);
    for (int64_t i = 0; i < n; i++) {
        const int64_t code = test_below(random, CODES);
        memcpy(element_at(g->t, i), c->bytes[code], size);
        x.re[i] = (double)c->of[code].re;
        x.im[i] = (double)c->of[code].im;
        x.u[i] = c->of[code].u;
    }
    return x;
}

/* How many elements are not what exact sums round to. */
static inline int64_t count_wrong(const char *packed, tsr_dtype dtype, const numbers *want, int64_t n)
{
    const int64_t size = (int64_t)tsr_dtype_size(dtype);
    int64_t wrong = 0;
    for (int64_t i = 0; i < n; i++) {
        const char *p = packed + i * size;
        float f;
        double d;
        if (dtype == TSR_F32)
            wrong += (memcpy(&f, p, sizeof f), f != (float)want->re[i]);
        else if (dtype == TSR_F64)
            wrong += (memcpy(&d, p, sizeof d), d != want->re[i]);
        else
            wrong += !is_value(dtype, p,
                               (value){ want->u[i], (long double)want->re[i], (long double)want->im[i] });
    }
    return wrong;
}

#endif

/* products.h - strided operands and exact arithmetic for the tests of products.
 *
 * Nothing here multiplies with the library. Operands hold small whole numbers, so
 * that every sum is exact in every order and results can be compared for equality.
 */
#ifndef TSR_TEST_PRODUCTS_H
#define TSR_TEST_PRODUCTS_H

#include "test.h"

static const tsr_dtype product_dtypes[] = { TSR_I8,  TSR_I16, TSR_I32,    TSR_I64,    TSR_U8,  TSR_U16,
                                            TSR_U32, TSR_U64, TSR_F8E4M3, TSR_F8E5M2, TSR_F16, TSR_BF16,
                                            TSR_F32, TSR_F64, TSR_C64,    TSR_C128 };
enum { PRODUCT_DTYPES = sizeof product_dtypes / sizeof *product_dtypes };

/* A tensor over a block of exactly the bytes that its strides reach. */
typedef struct strided {
    tsr_tensor *t;
    char       *block;
} strided;

static inline void strided_free(strided *s)
{
    tsr_release(&s->t);
    free(s->block);
    s->block = NULL;
}

/* Memory in a random order of dims, with gaps, walked backwards here and there; dims of
 * size 1 have junk strides. With `repeats`, a dim may have stride 0. plain: packed. */
static inline strided strided_make(uint64_t *random, tsr_dtype dtype, int ndim, const int64_t *shape,
                                   bool repeats, bool plain)
{
    strided s = { NULL, NULL };
    tsr_desc d;
    int64_t stride[TSR_MAX_NDIM] = { 0 }, lo = 0, reach = 1;
    int order[TSR_MAX_NDIM];
    for (int i = 0; i < ndim; i++) order[i] = ndim - 1 - i;
    for (int i = ndim - 1; i > 0 && !plain && test_below(random, 2); i--) {
        const int j = (int)test_below(random, i + 1), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    for (int i = 0; i < ndim; i++) {
        const int at = order[i];
        const int64_t n = shape[at];
        int64_t step = reach * (plain || test_below(random, 3) ? 1 : 1 + test_below(random, 3));
        if (repeats && !plain && test_below(random, 8) == 0) step = 0;
        if (step) reach = step * (n > 0 ? n : 1);
        if (!plain && test_below(random, 4) == 0) step = -step;
        if (n == 1 && !plain && test_below(random, 2)) step = test_below(random, 100000) - 50000;
        stride[at] = step;
    }
    EXPECT_OK(tsr_desc_init(&d, dtype, ndim, shape, stride));
    const int64_t bytes = tsr_desc_span(&d, &lo, NULL);
    s.block = calloc((size_t)bytes + 16, 1);
    char *begin = s.block + (16 - bytes % 16) % 16;  /* ends where the block ends */
    EXPECT_OK(tsr_wrap(&s.t, begin - lo, &d));
    return s;
}

/* The address of an element by its place in row-major order. */
static inline char *element_at(const tsr_tensor *t, int64_t place)
{
    int64_t offset = 0;
    for (int i = t->ndim - 1; i >= 0; i--) {
        if (t->shape[i] > 1) offset += place % t->shape[i] * t->stride[i];
        place /= t->shape[i];
    }
    return (char *)t->data + offset * (int64_t)tsr_dtype_size(t->dtype);
}

/* An element of any dtype: integers modulo 2^64, or a complex number. */
typedef struct value {
    uint64_t    u;
    long double re, im;
} value;

static inline bool is_integer(tsr_dtype d)
{
    return tsr_dtype_kind(d) == TSR_SIGNED || tsr_dtype_kind(d) == TSR_UNSIGNED;
}

static inline value value_load(tsr_dtype dtype, const void *p)
{
    tsr_scalar s;
    EXPECT_OK(tsr_scalar_load(&s, dtype, p));
    const tsr_c128 c = tsr_scalar_to_c128(s);
    return (value){ is_integer(dtype) ? tsr_scalar_to_u64(s) : 0, (long double)c.re, (long double)c.im };
}

/* All elements in row-major order, for loops that visit each many times; free() them. */
static inline value *values_of(const tsr_tensor *t)
{
    const int64_t n = tsr_numel(t);
    value *v = malloc((size_t)(n + 1) * sizeof *v);
    for (int64_t i = 0; i < n; i++) v[i] = value_load(t->dtype, element_at(t, i));
    return v;
}

static inline void value_store(tsr_dtype dtype, void *p, value v)
{
    EXPECT_OK(tsr_scalar_store(p, dtype, is_integer(dtype) ? tsr_scalar_u64(v.u)
                                                           : tsr_scalar_c128((double)v.re, (double)v.im)));
}

static inline value value_times(value a, value b)
{
    return (value){ a.u * b.u, a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

static inline value value_plus(value a, value b) { return (value){ a.u + b.u, a.re + b.re, a.im + b.im }; }

static inline value value_of(double x) { return (value){ (uint64_t)(int64_t)x, (long double)x, 0 }; }

/* Is the element what v rounds to? -0 is 0. */
static inline bool is_value(tsr_dtype dtype, const void *p, value v)
{
    unsigned char want[16] = { 0 };
    value_store(dtype, want, v);
    if (is_integer(dtype)) return memcmp(want, p, tsr_dtype_size(dtype)) == 0;
    const value w = value_load(dtype, want), g = value_load(dtype, p);
    return (w.re == g.re || (w.re != w.re && g.re != g.re)) &&
           (w.im == g.im || (w.im != w.im && g.im != g.im));
}

/* Small whole numbers; any bits for integers. */
static inline void fill_random(uint64_t *random, const tsr_tensor *t)
{
    const int64_t n = tsr_numel(t);
    for (int64_t i = 0; i < n; i++) {
        value v = { test_next(random), (long double)(test_below(random, 7) - 3), 0 };
        if (tsr_dtype_kind(t->dtype) == TSR_COMPLEX) v.im = (long double)(test_below(random, 7) - 3);
        value_store(t->dtype, element_at(t, i), v);
    }
}

/* Refuses the n-th allocation and those after it. */
static int64_t allocations_left;
static inline bool refuse(void *context, size_t bytes)
{
    (void)context; (void)bytes;
    return allocations_left-- > 0;
}

/* Runs the call with 0, 1, 2, ... allocations until it succeeds: each failure is
 * TSR_ENOMEM and leaves out NULL. */
#define EXPECT_SURVIVES(out, call)                                              \
    do {                                                                        \
        tsr_status ended_ = TSR_ENOMEM;                                         \
        for (int64_t n_ = 0; ended_ == TSR_ENOMEM && n_ < 200; n_++) {          \
            allocations_left = n_;                                              \
            tsr_set_alloc_hook(refuse, NULL);                                   \
            ended_ = (call);                                                    \
            tsr_set_alloc_hook(NULL, NULL);                                     \
            EXPECT(ended_ == TSR_OK ? (out) != NULL : (out) == NULL);           \
        }                                                                       \
        EXPECT_MSG(ended_ == TSR_OK, "ended with %s: %s", tsr_status_name(ended_), tsr_last_error()); \
    } while (0)

#endif

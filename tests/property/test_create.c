/* test_create.c - factories against element-by-element references.
 *
 * Results are made, or given with strides of their own inside a block of memory
 * that must not change otherwise.
 */
#include <float.h>
#include <math.h>

#include "reference.h"

static _Alignas(64) unsigned char memory[REF_BYTES], before[REF_BYTES];
static unsigned char wanted[REF_ELEMENTS][16];

__extension__ typedef __int128 wide;  /* holds every integer scalar, and their sums */

/* Results ------------------------------------------------------------------------- */

/* At times, a result of this dtype and shape with odd strides, in c->t[0]. True if there is one. */
static bool maybe_given(ref_case *c, ref_view *v, tsr_dtype dtype, int ndim, const int64_t *shape)
{
    tsr_desc d;
    int64_t low, high;
    ref_random_bytes(c, memory, sizeof memory);
    ref_set_shape(v, dtype, ndim, shape);
    if (ref_once_in(c, 2)) return false;
    ref_random_desc(c, &d, v, &low, dtype, ndim, shape, true, REF_BYTES - 256);
    ref_span(v, &low, &high);
    const int64_t first = (128 - low) / 16 * 16;
    for (int64_t k = 0; k < v->n; k++) v->at[k] += first;
    memcpy(before, memory, sizeof memory);
    return ref_make(c, 0, memory, first, &d, first + low, first + high);
}

/* c->t[0] holds the wanted elements: where v says, or, if it was made, packed. Elements come
 * from values of dtype `from` (a NaN's payload is free). */
static bool result_is(ref_case *c, ref_view *v, bool given, tsr_dtype from)
{
    const tsr_tensor *t = c->t[0];
    MUST_TRUE(t && tsr_check(t) == TSR_OK && t->dtype == v->dtype && t->ndim == v->ndim);
    for (int i = 0; i < v->ndim; i++) MUST_TRUE(t->shape[i] == v->shape[i]);
    const unsigned char *base = given ? memory : t->data;
    const int64_t size = ref_size(v->dtype);
    if (!given) MUST_TRUE(tsr_is_contiguous(t) && !tsr_is_view(t));
    for (int64_t k = 0; k < v->n; k++) {
        const int64_t at = given ? v->at[k] : k * size;
        if (!ref_element_is(v->dtype, base + at, wanted[k], from))
            ref_say(c, "    element %lld\n", (long long)k);
        MUST_TRUE(ref_element_is(v->dtype, base + at, wanted[k], from));
        if (given) memcpy(before + at, memory + at, (size_t)size);
    }
    if (given) MUST_TRUE(!memcmp(before, memory, sizeof memory));
    return true;
}

/* The same number in every element. */
static void want_all(const ref_view *v, tsr_dtype from, const void *element)
{
    for (int64_t k = 0; k < v->n; k++) ref_convert(v->dtype, wanted[k], from, element);
}

/* Full --------------------------------------------------------------------------- */

static void from_data_case(ref_case *c)
{
    static ref_view v;
    static unsigned char data[REF_SOURCE * 16 + 16];
    int64_t shape[TSR_MAX_NDIM];
    const int ndim = ref_random_shape(c, shape, REF_RANK, REF_SOURCE);
    const tsr_dtype dtype = (tsr_dtype)(1 + c->number % 18);
    const bool given = maybe_given(c, &v, dtype, ndim, shape);
    MUST_GO_ON(c);
    unsigned char *from = data + ref_below(c, 16);
    for (int64_t k = 0; k < v.n; k++) {
        ref_random_element(c, dtype, from + k * ref_size(dtype));
        memcpy(wanted[k], from + k * ref_size(dtype), 16);
    }
    MUST(tsr_from_data(&c->t[0], dtype, ndim, shape, from) == TSR_OK);
    (void)result_is(c, &v, given, dtype);
}

TEST(test_from_data_copies_row_major_elements) { ref_cases(20000, from_data_case); }

/* Like --------------------------------------------------------------------------- */

/* Where memory orders two dims of d, the other desc orders them alike. */
static bool same_order(const tsr_desc *like, const tsr_desc *d)
{
    for (int a = 0; a < d->ndim; a++)
        for (int b = 0; b < d->ndim; b++) {
            if (d->shape[a] <= 1 || d->shape[b] <= 1 || !d->stride[a] || !d->stride[b]) continue;
            if (llabs(d->stride[a]) > llabs(d->stride[b]) && like->stride[a] < like->stride[b]) return false;
        }
    return true;
}

static bool is_like(ref_case *c, const tsr_tensor *t, const tsr_tensor *like)
{
    MUST_TRUE(tsr_check(t) == TSR_OK && tsr_same_shape(t, like) && t->dtype == like->dtype);
    MUST_TRUE(t->device == like->device && t->memory == like->memory && !tsr_is_view(t) &&
              !tsr_is_readonly(t));
    MUST_TRUE(tsr_desc_is_dense(&t->desc) && !tsr_may_overlap(t, like));
    MUST_TRUE(tsr_numel(like) == 0 || same_order(&t->desc, &like->desc));
    return true;
}

static void like_case(ref_case *c)
{
    static ref_view v, own;
    tsr_desc d;
    int64_t shape[TSR_MAX_NDIM], low, lo;
    const int ndim = ref_random_shape(c, shape, REF_RANK, REF_SOURCE);
    const tsr_dtype dtype = (tsr_dtype)(1 + c->number % 18);
    const int64_t value = ref_between(c, 0, 100);
    ref_random_bytes(c, memory, sizeof memory);
    ref_random_desc(c, &d, &v, &low, dtype, ndim, shape, false, REF_BYTES - 256);
    const int64_t first = (128 - low) / 16 * 16;
    for (int64_t k = 0; k < v.n; k++) v.at[k] += first;
    if (!ref_make(c, 1, memory, first, &d, first + low, REF_BYTES)) return;
    memcpy(before, memory, sizeof memory);
    const int which = (int)ref_below(c, 5);
    const int64_t numbers[] = { 0, 0, 1, value };
    switch (which) {
    case 0:  MUST(tsr_empty_like(&c->t[0], c->t[1]) == TSR_OK); break;
    case 1:  MUST(tsr_zeros_like(&c->t[0], c->t[1]) == TSR_OK); break;
    case 2:  MUST(tsr_ones_like(&c->t[0], c->t[1]) == TSR_OK); break;
    case 3:  MUST(tsr_full_like(&c->t[0], c->t[1], TSR_SCALAR(value)) == TSR_OK); break;
    default: MUST(tsr_clone(&c->t[0], c->t[1]) == TSR_OK); break;
    }
    ref_say(c, "    like %d\n", which);
    if (!is_like(c, c->t[0], c->t[1])) return;
    if (which == 4)
        for (int64_t k = 0; k < v.n; k++) memcpy(wanted[k], memory + v.at[k], (size_t)ref_size(dtype));
    else
        want_all(&v, TSR_I64, &numbers[which]);
    (void)tsr_desc_span(&c->t[0]->desc, &lo, NULL);
    MUST(lo == 0);
    ref_of_desc(&own, &c->t[0]->desc, 0);
    for (int64_t k = 0; k < own.n && which > 0; k++)
        MUST(ref_element_is(dtype, (char *)c->t[0]->data + own.at[k], wanted[k],
                            which == 4 ? dtype : TSR_I64));
    MUST(!memcmp(before, memory, sizeof memory));
}

TEST(test_likes_keep_dtype_shape_and_order_of_dims) { ref_cases(20000, like_case); }

/* Arange ------------------------------------------------------------------------- */

static tsr_scalar integer_scalar(ref_case *c, wide v)
{
    if (v < 0) return tsr_scalar_i64((int64_t)v);
    if (v <= 1 && ref_once_in(c, 10)) return tsr_scalar_bool(v == 1);
    return v > INT64_MAX || ref_once_in(c, 2) ? tsr_scalar_u64((uint64_t)v) : tsr_scalar_i64((int64_t)v);
}

static void say_integer(ref_case *c, wide v)
{
    const wide size = v < 0 ? -v : v;
    ref_say(c, " %s%llu", v < 0 ? "-" : "", (unsigned long long)size);
}

/* A number that a scalar holds, often near an end of some range. */
static wide random_integer(ref_case *c)
{
    static const int shifts[] = { 0, 7, 8, 24, 31, 53, 62, 63 };
    if (ref_once_in(c, 6)) return UINT64_MAX - (uint64_t)ref_below(c, 300);
    wide v = ((wide)1 << shifts[ref_below(c, 8)]) + ref_between(c, -300, 300);
    if (ref_once_in(c, 2)) v = -v;
    return v < INT64_MIN ? INT64_MIN : v;
}

static wide clamp(wide v) { return v < INT64_MIN ? INT64_MIN : v > UINT64_MAX ? UINT64_MAX : v; }

static void integer_range_case(ref_case *c)
{
    static ref_view v;
    const tsr_dtype dtype = (tsr_dtype)ref_between(c, TSR_I8, TSR_F64);
    wide start = random_integer(c), step = ref_once_in(c, 3) ? random_integer(c) : ref_between(c, -9, 9);
    if (step == 0) step = 1;
    const wide stop = clamp(start + step * ref_between(c, -3, 200) + ref_between(c, -3, 3));
    int64_t n = 0;
    for (wide at = start; step > 0 ? at < stop : at > stop; at += step) {
        if (n == REF_ELEMENTS) return;
        const ref_number number = { REF_FINITE, at < 0, (uint64_t)(at < 0 ? -at : at), 0 };
        ref_encode_real(dtype, wanted[n++], number, true);
    }
    ref_say(c, "    arange %s", tsr_dtype_name(dtype));
    say_integer(c, start);
    say_integer(c, stop);
    say_integer(c, step);
    if (n > REF_SOURCE * 2) return;
    const bool given = maybe_given(c, &v, dtype, 1, &n);
    MUST_GO_ON(c);
    const tsr_scalar a = integer_scalar(c, start), b = integer_scalar(c, stop), by = integer_scalar(c, step);
    MUST(tsr_arange(&c->t[0], dtype, a, b, by) == TSR_OK);
    (void)result_is(c, &v, given, TSR_I64);
}

TEST(test_arange_of_integers_is_exact) { ref_cases(30000, integer_range_case); }

static double random_double(ref_case *c)
{
    static const double some[] = {
        0, 1, -1, 0.1, 0.3, 0.7, 1e16, 1e-3, 1e300, 5e-324, 1.0 / 3, 255.5, 9.2e18
    };
    if (ref_once_in(c, 3)) return some[ref_below(c, 13)];
    return (double)ref_between(c, -4000, 4000) / (double)(1 << ref_below(c, 7)) +
           (ref_once_in(c, 3) ? 0.1 : 0.0);
}

static void float_range_case(ref_case *c)
{
    static ref_view v;
    const tsr_dtype dtype = (tsr_dtype)ref_between(c, TSR_I8, TSR_F64);
    const double start = random_double(c), step = random_double(c);
    const double stop = ref_once_in(c, 4) ? random_double(c) : start + step * (double)ref_between(c, -2, 150);
    if (step == 0) return;
    const double count = ceil((stop - start) / step);
    if (count > REF_SOURCE * 2) return;
    const int64_t n = count > 0 ? (int64_t)count : 0;
    for (int64_t i = 0; i < n; i++) {
        const double product = (double)i * step, value = start + product;
        ref_convert(dtype, wanted[i], TSR_F64, &value);
    }
    ref_say(c, "    arange %s %.17g %.17g %.17g\n", tsr_dtype_name(dtype), start, stop, step);
    const bool given = maybe_given(c, &v, dtype, 1, &n);
    MUST_GO_ON(c);
    MUST(tsr_arange(&c->t[0], dtype, TSR_SCALAR(start), TSR_SCALAR(stop), TSR_SCALAR(step)) == TSR_OK);
    (void)result_is(c, &v, given, TSR_F64);
}

TEST(test_arange_of_floats_counts_and_computes_in_double) { ref_cases(20000, float_range_case); }

/* Counts by Python: max(0, math.ceil((stop - start) / step)). */
TEST(test_arange_counts_as_python_does)
{
    static const struct { double start, stop, step; int64_t n; } cases[] = {
        { 0.0, 1.0, 0.1, 10 }, { 0.0, 0.3, 0.1, 3 }, { 1.0, 2.0, 0.1, 10 }, { 0.0, 2.1, 0.7, 4 },
        { 0.0, 0.7, 0.1, 7 }, { 0.1, 0.4, 0.1, 4 }, { 0.0, 1.0, 0.3333333333333333, 3 }, { 1.0, 1.3, 0.1, 4 },
        { 0.0, -1.0, -0.1, 10 }, { 5.0, 0.0, -0.5, 10 }, { 0.0, 1e-320, 1e-321, 11 }, { -1.0, 1.0, 0.25, 8 },
        { 0.0, 0.0, 1.0, 0 }, { 1.0, 0.0, 1.0, 0 }, { 0.0, 1.0, 2.0, 1 }, { 0.0, 1.0, -1.0, 0 },
        { 9007199254740992.0, 9007199254741000.0, 1.0, 8 }, { 0.5, 3.5, 1.0, 3 }, { 0.0, 1.0, 1e+300, 1 },
        { 1e+16, 1.000000000000001e+16, 1.0, 10 }, { 0.0, 100.0, 3.3, 31 }, { -0.3, 0.3, 0.1, 6 },
        { 0.0, 5e-324, 5e-324, 1 }, { 1.1, 1.1, 1.0, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tsr_tensor *t = NULL;
        EXPECT_OK(tsr_arange(&t, TSR_F64, TSR_SCALAR(cases[i].start), TSR_SCALAR(cases[i].stop),
                             TSR_SCALAR(cases[i].step)));
        EXPECT_MSG(tsr_numel(t) == cases[i].n, "%g to %g by %g has %lld, not %lld", cases[i].start,
                   cases[i].stop, cases[i].step, (long long)tsr_numel(t), (long long)cases[i].n);
        tsr_release(&t);
    }
}

TEST(test_arange_refuses_what_has_no_end)
{
    tsr_tensor *t = NULL;
    EXPECT_FAILS(tsr_arange(&t, TSR_I32, TSR_SCALAR(0), TSR_SCALAR(9), TSR_SCALAR(0)), TSR_EINVAL,
                 "arange: step is 0");
    EXPECT_FAILS(tsr_arange(&t, TSR_F32, TSR_SCALAR(0.0), TSR_SCALAR(9), TSR_SCALAR(-0.0)), TSR_EINVAL,
                 "arange: step is 0");
    EXPECT_FAILS(tsr_arange(&t, TSR_F32, TSR_SCALAR(0.0), TSR_SCALAR((double)INFINITY), TSR_SCALAR(1)),
                 TSR_EINVAL, "not finite");
    EXPECT_FAILS(tsr_arange(&t, TSR_F32, TSR_SCALAR((double)NAN), TSR_SCALAR(1), TSR_SCALAR(1)), TSR_EINVAL,
                 "not finite");
    EXPECT_FAILS(tsr_arange(&t, TSR_BOOL, TSR_SCALAR(0), TSR_SCALAR(1), TSR_SCALAR(1)), TSR_EDTYPE,
                 "arange: bool");
    EXPECT_FAILS(tsr_arange(&t, TSR_C64, TSR_SCALAR(0), TSR_SCALAR(1), TSR_SCALAR(1)), TSR_EDTYPE,
                 "arange: c64");
    EXPECT_FAILS(tsr_arange(&t, TSR_I8, TSR_SCALAR(INT64_MIN), TSR_SCALAR(INT64_MAX), TSR_SCALAR(1)),
                 TSR_EOVERFLOW, "2^63 - 1");
    EXPECT_FAILS(tsr_arange(&t, TSR_I8, TSR_SCALAR(INT64_MIN), TSR_SCALAR(UINT64_MAX), TSR_SCALAR(1)),
                 TSR_EOVERFLOW, "2^63 - 1");
    EXPECT_FAILS(tsr_arange(&t, TSR_U64, TSR_SCALAR(UINT64_MAX), TSR_SCALAR(0), TSR_SCALAR(-1)),
                 TSR_EOVERFLOW, "2^63 - 1");
    EXPECT_FAILS(tsr_arange(&t, TSR_I8, TSR_SCALAR(0.0), TSR_SCALAR(1e300), TSR_SCALAR(1e-300)),
                 TSR_EOVERFLOW, "2^63 - 1");
    EXPECT_FAILS(tsr_arange(&t, TSR_F64, tsr_scalar_c128(0, 1), TSR_SCALAR(1), TSR_SCALAR(1)), TSR_EDTYPE,
                 "real");
    EXPECT(t == NULL);
}

TEST(test_arange_reaches_from_one_end_of_the_integers_to_the_other)
{
    tsr_tensor *t = NULL;
    const int64_t quarter = INT64_C(1) << 62;
    EXPECT_OK(tsr_arange(&t, TSR_F64, TSR_SCALAR(INT64_MIN), TSR_SCALAR(UINT64_MAX), TSR_SCALAR(quarter)));
    EXPECT(tsr_numel(t) == 6);
    for (int64_t i = 0; i < 6; i++) EXPECT(TSR_AT(double, t, i) == -0x1p63 + (double)i * 0x1p62);
    tsr_release(&t);
    EXPECT_OK(tsr_arange(&t, TSR_I64, TSR_SCALAR(INT64_MAX), TSR_SCALAR(INT64_MIN), TSR_SCALAR(INT64_MIN)));
    EXPECT(tsr_numel(t) == 2 && TSR_AT(int64_t, t, 0) == INT64_MAX && TSR_AT(int64_t, t, 1) == -1);
    tsr_release(&t);
    EXPECT_OK(tsr_arange(&t, TSR_U64, TSR_SCALAR(UINT64_MAX - 2), TSR_SCALAR(UINT64_MAX), TSR_SCALAR(1)));
    EXPECT(tsr_numel(t) == 2 && TSR_AT(uint64_t, t, 1) == UINT64_MAX - 1);
    tsr_release(&t);
}

/* Linspace ------------------------------------------------------------------------ */

/* Every value within a few last places of the larger end, and the ends exact. */
static bool is_even(ref_case *c, const double *got, int64_t by, int64_t n, double a, double b, bool endpoint)
{
    const int64_t parts = endpoint ? (n > 1 ? n - 1 : 1) : n;
    const double largest = fabs(a) > fabs(b) ? fabs(a) : fabs(b);
    const long double room = (long double)largest * 4 * DBL_EPSILON + (long double)n * 5e-324L;
    for (int64_t i = 0; i < n; i++) {
        const long double at = (long double)i / (long double)parts;
        const long double exact = (long double)a * (1 - at) + (long double)b * at;
        MUST_TRUE(fabsl((long double)got[i * by] - exact) <= room);
    }
    if (n > 0) MUST_TRUE(got[0] == a);
    if (n > 1 && endpoint) MUST_TRUE(got[(n - 1) * by] == b);
    return true;
}

static double random_end(ref_case *c)
{
    static const double ends[] = { DBL_MAX, -DBL_MAX, 5e-324, 0.0, -0.0, 1e308, -1e308, DBL_MIN };
    return ref_once_in(c, 6) ? ends[ref_below(c, 8)] : random_double(c);
}

static void linspace_case(ref_case *c)
{
    static ref_view v;
    const bool complex = ref_once_in(c, 3), endpoint = ref_once_in(c, 2);
    const tsr_c128 a = { random_end(c), complex ? random_end(c) : 0 },
                   b = { random_end(c), complex ? random_end(c) : 0 };
    const int64_t n = ref_once_in(c, 8) ? ref_below(c, 3) : ref_below(c, 200);
    const tsr_dtype exact = complex ? TSR_C128 : TSR_F64;
    tsr_dtype dtype = (tsr_dtype)ref_between(c, TSR_F8E4M3, TSR_C128);
    if (complex && !ref_is_complex(dtype)) dtype = TSR_C64;
    const tsr_scalar start = complex ? TSR_SCALAR(a) : TSR_SCALAR(a.re),
                     stop = complex ? TSR_SCALAR(b) : TSR_SCALAR(b.re);
    ref_say(c, "    linspace %s %lld from %.17g%+.17gi to %.17g%+.17gi%s\n", tsr_dtype_name(dtype),
            (long long)n, a.re, a.im, b.re, b.im, endpoint ? "" : ", open");
    MUST(tsr_linspace(&c->t[1], exact, start, stop, n, endpoint) == TSR_OK && tsr_numel(c->t[1]) == n);
    const double *values = c->t[1]->data;
    if (!is_even(c, values, complex ? 2 : 1, n, a.re, b.re, endpoint)) return;
    if (complex && !is_even(c, values + 1, 2, n, a.im, b.im, endpoint)) return;
    for (int64_t k = 0; k < n; k++) ref_convert(dtype, wanted[k], exact, values + k * (complex ? 2 : 1));
    const bool given = maybe_given(c, &v, dtype, 1, &n);
    MUST_GO_ON(c);
    MUST(tsr_linspace(&c->t[0], dtype, start, stop, n, endpoint) == TSR_OK);
    (void)result_is(c, &v, given, exact);
}

TEST(test_linspace_is_even_and_ends_exactly) { ref_cases(20000, linspace_case); }

/* Results that do not fit ------------------------------------------------------------ */

static void misfit_case(ref_case *c)
{
    int64_t shape[TSR_MAX_NDIM];
    const int ndim = ref_random_shape(c, shape, 4, 100);
    const bool dtype = ref_once_in(c, 2);
    MUST(tsr_zeros(&c->t[0], TSR_I32, ndim, shape) == TSR_OK);
    tsr_tensor *had = c->t[0];
    const void *data = had->data;
    if (!dtype) shape[ndim] = 2;
    const tsr_dtype ask = dtype ? TSR_U32 : TSR_I32;
    const int rank = ndim + (dtype ? 0 : 1);
    const tsr_status want = dtype ? TSR_EDTYPE : TSR_ESHAPE;
    MUST(tsr_ones(&c->t[0], ask, rank, shape) == want && c->t[0] == had && had->data == data);
    MUST(tsr_empty(&c->t[0], ask, rank, shape) == want && c->t[0] == had && had->data == data);
    for (int64_t k = 0; k < tsr_numel(had); k++) MUST(((int32_t *)had->data)[k] == 0);
}

TEST(test_a_given_result_must_have_the_dtype_and_shape) { ref_cases(1000, misfit_case); }

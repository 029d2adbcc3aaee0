/* test_order.c - long lanes in order against the laws of sorting (a permutation, in order, stable), and what
 * is particular. That every op of the family is right is for opcheck. */
#include "property/reference.h"

/* The order, from numbers taken apart ------------------------------------------------------- */

static bool is_nan(tsr_dtype dtype, const void *p)
{
    return ref_is_float(dtype) && ref_decode(dtype, p).kind == REF_NAN;
}

/* -1, 0 or 1: a before b, equal, after. NaN is after all numbers, and equal to NaN. */
static int compare(tsr_dtype dtype, const void *a, const void *b)
{
    const ref_number x = ref_decode(dtype, a), y = ref_decode(dtype, b);
    if (x.kind == REF_NAN || y.kind == REF_NAN) return (x.kind == REF_NAN) - (y.kind == REF_NAN);
    if (ref_is_float(dtype)) {
        double p, q;
        ref_convert(TSR_F64, &p, dtype, a);
        ref_convert(TSR_F64, &q, dtype, b);
        return (p > q) - (p < q);
    }
    const int size = (x.bits > y.bits) - (x.bits < y.bits);
    return x.negative != y.negative ? (x.negative ? -1 : 1) : x.negative ? -size : size;
}

/* The same, descending, where NaN is last too. */
static int compare_as(tsr_dtype dtype, const void *a, const void *b, bool descending)
{
    const int order = compare(dtype, a, b);
    return descending && !is_nan(dtype, a) && !is_nan(dtype, b) ? -order : order;
}

static bool has_order(tsr_dtype dtype) { return !ref_is_complex(dtype); }

/* Laws, on lanes that are long ---------------------------------------------------------------- */

static bool lane_obeys(const tsr_tensor *x, const tsr_tensor *values, const tsr_tensor *places, int64_t lane,
                       bool descending)
{
    static bool seen[1 << 17];
    const int64_t n = x->shape[1];
    const size_t size = (size_t)ref_size(x->dtype);
    const char *from = (const char *)x->data + (size_t)(lane * n) * size;
    const char *to = (const char *)values->data + (size_t)(lane * n) * size;
    const int64_t *place = (const int64_t *)places->data + lane * n;
    memset(seen, 0, sizeof seen);
    for (int64_t i = 0; i < n; i++) {
        if (place[i] < 0 || place[i] >= n || seen[place[i]]) return false; /* permutation */
        seen[place[i]] = true;
        if (memcmp(to + (size_t)i * size, from + (size_t)place[i] * size, size)) return false;
        if (i == 0) continue;
        const char *at = to + (size_t)i * size;
        const int order = compare_as(x->dtype, at - size, at, descending);
        if (order > 0) return false;
        if (order == 0 && place[i - 1] >= place[i]) return false; /* stability */
    }
    return true;
}

static bool same_bytes(const tsr_tensor *a, const tsr_tensor *b)
{
    return tsr_numel(a) == tsr_numel(b) &&
           !memcmp(a->data, b->data, (size_t)(tsr_numel(a) * ref_size(a->dtype)));
}

/* Values alone, places alone and the first few are those of all. */
static void check_parts(const tsr_tensor *x, const tsr_tensor *values, const tsr_tensor *places,
                        bool descending)
{
    tsr_tensor *v = NULL, *p = NULL, *first = NULL;
    const int64_t n = x->shape[1], few[] = { 1, n / 50, n / 9, n };
    EXPECT_OK(tsr_sort(&v, x, 1, descending));
    EXPECT_OK(tsr_argsort(&p, x, 1, descending));
    EXPECT_MSG(same_bytes(v, values), "%s, %lld", tsr_dtype_name(x->dtype), (long long)n);
    EXPECT_MSG(same_bytes(p, places), "%s, %lld", tsr_dtype_name(x->dtype), (long long)n);
    for (int i = 0; i < 4; i++) {
        tsr_release_all(&v, &p);
        EXPECT_OK(tsr_topk(&v, &p, x, few[i], 1, descending, true));
        EXPECT_OK(tsr_slice(&first, values, 1, 0, few[i], 1));
        EXPECT_OK(tsr_contiguous(&first, first));
        EXPECT_MSG(same_bytes(v, first), "%s, %lld of %lld", tsr_dtype_name(x->dtype), (long long)few[i],
                   (long long)n);
        EXPECT_OK(tsr_slice(&first, places, 1, 0, few[i], 1));
        EXPECT_OK(tsr_contiguous(&first, first));
        EXPECT_MSG(same_bytes(p, first), "%s, %lld of %lld", tsr_dtype_name(x->dtype), (long long)few[i],
                   (long long)n);
    }
    tsr_release_all(&v, &p, &first);
}

static void check_laws(tsr_dtype dtype, int64_t lanes, int64_t n, int spread, bool descending)
{
    static ref_case c;
    tsr_tensor *x = NULL, *values = NULL, *places = NULL;
    c.random = (uint64_t)dtype * 1000 + (uint64_t)n;
    EXPECT_OK(tsr_empty(&x, dtype, TSR_SHAPE(lanes, n)));
    for (int64_t i = 0; i < lanes * n; i++) {
        const int64_t size = ref_size(dtype);
        char *p = (char *)x->data + i * size;
        ref_random_element(&c, dtype, p);
        if (spread == 1 && i > 0 && ref_once_in(&c, 2)) memcpy(p, p - size, (size_t)size);
        if (spread == 3 && i % n != n / 2) memmove(p, p - i % n * size, (size_t)size); /* all equal but one */
    }
    if (spread == 2) EXPECT_OK(tsr_sort(&x, x, 1, false));  /* sorted already */
    EXPECT_OK(tsr_sort_with_indices(&values, &places, x, 1, descending));
    for (int64_t lane = 0; lane < lanes; lane++)
        EXPECT_MSG(lane_obeys(x, values, places, lane, descending), "%s, lane %lld of %lld",
                   tsr_dtype_name(dtype), (long long)lane, (long long)n);
    check_parts(x, values, places, descending);
    tsr_release_all(&x, &values, &places);
}

TEST(test_sorting_obeys_its_laws)
{
    static const int64_t sizes[] = { 1, 2, 47, 48, 49, 64, 65, 127, 128, 129, 256, 257, 1000, 20000 };
    for (int dtype = 1; dtype < TSR_DTYPE_COUNT; dtype++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes && has_order((tsr_dtype)dtype); i++)
            for (int spread = 0; spread < 4; spread++)
                check_laws((tsr_dtype)dtype, sizes[i] > 1000 ? 1 : 3, sizes[i], spread,
                           (i + (size_t)spread) % 2 == 0);
}

TEST(test_lanes_sorted_by_many_threads_obey_the_laws)
{
    EXPECT_OK(tsr_set_threads(4));
    check_laws(TSR_F32, 64, 1000, 0, true);
    check_laws(TSR_I64, 1000, 40, 1, false);
    for (int spread = 0; spread < 4; spread++) {  /* one lane for all threads */
        check_laws(TSR_F32, 1, 1 << 17, spread, spread % 2 == 0);
        check_laws(TSR_F64, 1, 1 << 17, spread, spread % 2 == 1);
        check_laws(TSR_I8, 1, 1 << 17, spread, false);
    }
    EXPECT_OK(tsr_set_threads(0));
}

/* By hand ---------------------------------------------------------------------------------------- */

static void expect_i64(const tsr_tensor *t, int n, const int64_t *numbers)
{
    int64_t got[64] = { 0 };
    EXPECT(tsr_numel(t) == n && tsr_store(got, (size_t)n * sizeof *got, t) == TSR_OK);
    for (int i = 0; i < n; i++)
        EXPECT_MSG(got[i] == numbers[i], "element %d is %lld, not %lld", i, (long long)got[i],
                   (long long)numbers[i]);
}

TEST(test_nan_is_last_and_zeros_are_equal)
{
    const float nan = tsr_f16_to_f32(0x7e00), inf = tsr_f16_to_f32(0x7c00);
    tsr_tensor *x = NULL, *at = NULL, *v = NULL, *count = NULL;
    EXPECT_OK(tsr_from_data(&x, TSR_F32, TSR_SHAPE(7), (float[]){ nan, 0.0f, -0.0f, inf, nan, -inf, 0.0f }));
    EXPECT_OK(tsr_argsort(&at, x, 0, false));
    expect_i64(at, 7, (int64_t[]){ 5, 1, 2, 6, 3, 0, 4 });
    EXPECT_OK(tsr_argsort(&at, x, 0, true));
    expect_i64(at, 7, (int64_t[]){ 3, 1, 2, 6, 5, 0, 4 });
    tsr_release(&at);
    EXPECT_OK(tsr_topk(&v, &at, x, 2, 0, true, false));
    expect_i64(at, 2, (int64_t[]){ 3, 1 });
    tsr_release(&v);
    EXPECT_OK(tsr_unique(&v, x, &(tsr_unique_results){ .counts = &count }));
    expect_i64(count, 5, (int64_t[]){ 1, 3, 1, 1, 1 });
    tsr_tensor *all[] = { x, at, v, count };
    for (int i = 0; i < 4; i++) tsr_release(&all[i]);
}

TEST(test_a_number_is_searched_for_in_the_lists_dtype)
{
    tsr_tensor *list = NULL, *at = NULL;
    EXPECT_OK(tsr_from_data(&list, TSR_I16, TSR_SHAPE(4), (int16_t[]){ 1, 3, 3, 8 }));
    EXPECT_OK(tsr_searchsorted(&at, list, TSR_NUMBER(3), false));
    expect_i64(at, 1, (int64_t[]){ 1 });
    EXPECT_OK(tsr_searchsorted(&at, list, TSR_NUMBER(3), true));
    expect_i64(at, 1, (int64_t[]){ 3 });
    EXPECT_FAILS(tsr_searchsorted(&at, list, TSR_NUMBER(2.5), false), TSR_EDTYPE, "searchsorted");
    tsr_release_all(&at, &list);
}

TEST(test_bad_input_is_refused_in_words)
{
    tsr_tensor *x = NULL, *y = NULL, *z = NULL, *scalar = NULL, *i = NULL, *shared = NULL;
    tsr_tensor *integers = NULL;
    EXPECT_OK(tsr_zeros(&x, TSR_F32, TSR_SHAPE(2, 3)));
    EXPECT_OK(tsr_zeros(&z, TSR_C64, TSR_SHAPE(3)));
    EXPECT_OK(tsr_zeros(&scalar, TSR_F32, TSR_SCALAR_SHAPE));
    EXPECT_OK(tsr_zeros(&integers, TSR_I64, TSR_SHAPE(3)));

    EXPECT_FAILS(tsr_sort(&y, x, 2, false), TSR_EINDEX, "sort: axis 2 of f32(2, 3 | 3, 1)");
    EXPECT_FAILS(tsr_sort(&y, scalar, 0, false), TSR_EINDEX, "sort");
    EXPECT_FAILS(tsr_sort(&y, z, 0, false), TSR_EDTYPE,
                 "sort: x: dtype must be real/bool, but x is c64(3 | 1)");
    EXPECT_FAILS(tsr_sort(&integers, x, 0, false), TSR_EDTYPE, "sort: the result is f32(2, 3");
    EXPECT_FAILS(tsr_argsort(&y, z, 0, false), TSR_EDTYPE, "argsort");
    EXPECT_FAILS(tsr_sort_with_indices(&y, &y, x, 0, false), TSR_EINVAL, "the same handle");
    shared = tsr_retain(integers);
    EXPECT_FAILS(tsr_sort_with_indices(&shared, &integers, integers, 0, false), TSR_EOVERLAP, "results");
    tsr_release(&shared);
    EXPECT_FAILS(tsr_topk(&y, &i, x, 4, 1, true, true), TSR_EINVAL,
                 "topk: k is 4, but dim 1 of f32(2, 3 | 3, 1) has 3");
    EXPECT_FAILS(tsr_topk(&y, &i, x, -1, 1, true, true), TSR_EINVAL, "topk: k is -1");
    EXPECT_FAILS(tsr_kthvalue(&y, &i, x, 0, 0, true), TSR_EINVAL, "kthvalue: the 0-th");
    EXPECT_FAILS(tsr_kthvalue(&y, &i, x, 3, 0, true), TSR_EINVAL, "kthvalue: the 3-th along dim 0");
    EXPECT_FAILS(tsr_unique(&y, z, NULL), TSR_EDTYPE, "unique");
    EXPECT_FAILS(tsr_unique(&y, x, &(tsr_unique_results){ .counts = &y }), TSR_EINVAL, "the same handle");
    EXPECT_FAILS(tsr_unique(&y, x, &(tsr_unique_results){ .counts = &integers }), TSR_ESHAPE,
                 "unique: the result is i64(1 | 1), but out holds i64(3 | 1)");
    EXPECT_FAILS(tsr_isin(&y, x, z), TSR_EDTYPE, "isin: x: dtype must be real/bool");
    EXPECT_FAILS(tsr_isin(&y, x, integers), TSR_EDTYPE,
                 "isin: f32 and i64(3 | 1) are not promoted together");
    EXPECT_FAILS(tsr_isin(&integers, x, x), TSR_EDTYPE, "isin: the result is bool(2, 3");
    EXPECT_FAILS(tsr_searchsorted(&y, x, x, true), TSR_ESHAPE, "but sorted is f32(2, 3 | 3, 1)");
    EXPECT_FAILS(tsr_searchsorted(&y, integers, x, true), TSR_EDTYPE, "not promoted together");
    EXPECT(y == NULL && i == NULL);

    tsr_tensor *all[] = { x, z, scalar, integers };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) tsr_release(&all[k]);
}

TEST(test_nothing_is_sorted_too)
{
    tsr_tensor *x = NULL, *v = NULL, *at = NULL, *count = NULL, *which = NULL, *first = NULL;
    EXPECT_OK(tsr_zeros(&x, TSR_I8, TSR_SHAPE(0, 4)));
    EXPECT_OK(tsr_sort_with_indices(&v, &at, x, 0, false));
    EXPECT(tsr_numel(v) == 0 && tsr_numel(at) == 0);
    tsr_release(&v);
    EXPECT_OK(tsr_unique(&v, x, &(tsr_unique_results){ &count, &which, &first }));
    EXPECT(tsr_numel(v) == 0 && tsr_numel(count) == 0 && which->shape[1] == 4 && tsr_numel(first) == 0);
    tsr_release_all(&v, &at);
    EXPECT_OK(tsr_topk(&v, &at, x, 0, 1, true, true));
    EXPECT(v->shape[0] == 0 && v->shape[1] == 0);
    tsr_tensor *all[] = { x, v, at, count, which, first };
    for (int i = 0; i < 6; i++) tsr_release(&all[i]);
}

/* test_index.c - picking elements by number, against loops over indices. */
#include "moves.h"

/* Reading -------------------------------------------------------------------------------- */

static void take_case(ref_case *c)
{
    int64_t shape[TSR_MAX_NDIM], picks[TSR_MAX_NDIM], wide[TSR_MAX_NDIM];
    const bool rows = ref_once_in(c, 5);  /* as tsr_embedding */
    int ndim;
    do ndim = random_shape_with_axis(c, shape, rows ? 2 : 4, 30);
    while (rows && ndim != 2);
    const int q = ref_random_shape(c, picks, 3, 8), axis = rows ? 0 : (int)ref_below(c, ndim);
    begin_case(c);
    if (shape[axis] == 0 && ref_count(q, picks) > 0) return;
    if (!make_input(c, 0, dtype_of(c), ndim, shape) || !make_index(c, 1, q, picks, shape[axis])) return;
    freeze();
    for (int i = 0; i < ndim + q - 1; i++)
        wide[i] = i < axis ? shape[i] : i < axis + q ? picks[i - axis] : shape[i - q + 1];
    if (ref_count(ndim + q - 1, wide) > 240) return;
    want_shape(0, dtype_of(c), ndim + q - 1, wide);
    for (REF_EACH(&want[0].view, index, k)) {
        int64_t from[TSR_MAX_NDIM] = { 0 }, pick[TSR_MAX_NDIM] = { 0 };
        for (int i = 0; i < q; i++) pick[i] = index[axis + i];
        for (int i = 0; i < ndim; i++) from[i] = i < axis ? index[i] : i > axis ? index[i + q - 1] : 0;
        from[axis] = index_at(1, ref_flat(&in[1], pick), shape[axis]);
        want_bytes(0, k, input(0, from));
    }
    if (!choose_result(c, 0, true)) return;
    const tsr_tensor *t = c->t[RESULTS], *at = c->t[RESULTS + 1];
    ref_say(c, "    take along %d\n", axis);
    MUST((rows ? tsr_embedding(&c->t[0], t, at) : tsr_take(&c->t[0], t, at, either_end(c, axis, ndim))) ==
         TSR_OK);
    check_results(c, 1);
}

TEST(test_take_puts_the_indices_dims_where_the_axis_was) { ref_cases(2 * EACH, take_case); }

static void along_case(ref_case *c)
{
    int64_t shape[TSR_MAX_NDIM], picks[TSR_MAX_NDIM], wide[TSR_MAX_NDIM];
    const bool broadcast = ref_once_in(c, 2);
    const int ndim = random_shape_with_axis(c, shape, 4, 30), axis = (int)ref_below(c, ndim);
    for (int i = 0; i < ndim; i++) {
        picks[i] = i == axis ? ref_below(c, 5) : broadcast ? shape[i] : ref_below(c, shape[i] + 1);
        if (broadcast && i != axis && ref_once_in(c, 4)) picks[i] = 1;
        if (broadcast && i != axis && shape[i] == 1) picks[i] = ref_below(c, 4);
        wide[i] = broadcast && i != axis && picks[i] == 1 ? shape[i] : picks[i];
    }
    begin_case(c);
    if ((shape[axis] == 0 && ref_count(ndim, picks) > 0) || ref_count(ndim, wide) > 240) return;
    if (!make_input(c, 0, dtype_of(c), ndim, shape) || !make_index(c, 1, ndim, picks, shape[axis])) return;
    freeze();
    want_shape(0, dtype_of(c), ndim, wide);
    for (REF_EACH(&want[0].view, index, k)) {
        int64_t from[TSR_MAX_NDIM] = { 0 }, pick[TSR_MAX_NDIM] = { 0 };
        for (int i = 0; i < ndim; i++) {
            pick[i] = i != axis && picks[i] == 1 ? 0 : index[i];
            from[i] = shape[i] == 1 ? 0 : index[i];
        }
        from[axis] = index_at(1, ref_flat(&in[1], pick), shape[axis]);
        want_bytes(0, k, input(0, from));
    }
    if (!choose_result(c, 0, true)) return;
    const tsr_tensor *t = c->t[RESULTS], *at = c->t[RESULTS + 1];
    const int asked = either_end(c, axis, ndim);
    ref_say(c, "    %s along %d\n", broadcast ? "take_along_axis" : "gather", axis);
    MUST((broadcast ? tsr_take_along_axis(&c->t[0], t, at, asked) : tsr_gather(&c->t[0], t, at, asked)) ==
         TSR_OK);
    check_results(c, 1);
}

TEST(test_picks_along_an_axis_broadcast_or_are_cut) { ref_cases(2 * EACH, along_case); }

/* An index that lies outside: nothing is made or changed, and the message says where. */
static void outside_case(ref_case *c)
{
    int64_t shape[TSR_MAX_NDIM], picks[TSR_MAX_NDIM], at[TSR_MAX_NDIM] = { 0 };
    char said[200], place[100] = "";
    const int ndim = random_shape_with_axis(c, shape, 3, 30), axis = (int)ref_below(c, ndim);
    const int q = ref_random_shape(c, picks, 3, 8);
    begin_case(c);
    if (ref_count(q, picks) == 0 || shape[axis] == 0) return;
    if (!make_input(c, 0, dtype_of(c), ndim, shape) || !make_index(c, 1, q, picks, shape[axis])) return;
    const tsr_dtype dtype = in[1].dtype;
    const bool down = ref_is_signed(dtype) && ref_once_in(c, 2), far = dtype == TSR_U64 && ref_once_in(c, 2);
    const int64_t k = ref_below(c, in[1].n), v = down ? -shape[axis] - 1 : far ? -1 : shape[axis];
    ref_store_bits(memory + in[1].at[k], ref_size(dtype), (uint64_t)v);
    freeze();
    int64_t first = 0;  /* others may look at the same address */
    while (in[1].at[first] != in[1].at[k]) first++;
    for (int64_t i = 0; i < first; i++) ref_next(at, q, picks);
    for (int i = 0; i < q; i++)
        snprintf(place + strlen(place), sizeof place - strlen(place), i ? ", %lld" : "%lld",
                 (long long)at[i]);
    if (far)
        snprintf(said, sizeof said, "take: index 18446744073709551615 at (%s) is outside dim %d of ", place,
                 axis);
    else
        snprintf(said, sizeof said, "take: index %lld at (%s) is outside dim %d of ", (long long)v, place,
                 axis);
    want_shape(0, dtype_of(c), 0, NULL);
    MUST(tsr_take(&c->t[0], c->t[RESULTS], c->t[RESULTS + 1], axis) == TSR_EINDEX);
    ref_say(c, "    should say %s\n", said);
    MUST(strstr(tsr_last_error(), said) != NULL);
    check_refused(c, 1);
    MUST(tsr_one_hot(&c->t[0], c->t[RESULTS + 1], shape[axis], TSR_F32) == TSR_EINDEX);
    check_refused(c, 1);
}

TEST(test_an_index_outside_its_dim_is_named) { ref_cases(EACH, outside_case); }

/* Writing ----------------------------------------------------------------------------------- */

static void add_part(tsr_dtype dtype, void *z, const void *x)
{
    const int64_t size = ref_size(dtype);
    if (!ref_is_float(dtype)) {
        ref_store_bits(z, size, ref_load_bits(z, size) + ref_load_bits(x, size));
    } else if (dtype == TSR_F64) {
        double a, b;
        memcpy(&a, z, sizeof a);
        memcpy(&b, x, sizeof b);
        a += b;
        memcpy(z, &a, sizeof a);
    } else {
        float a, b;
        ref_convert(TSR_F32, &a, dtype, z);
        ref_convert(TSR_F32, &b, dtype, x);
        a += b;
        ref_convert(dtype, z, TSR_F32, &a);
    }
}

/* Is a < b, of real dtypes, neither a NaN? -0 is below 0. */
static bool is_below(tsr_dtype dtype, const void *a, const void *b)
{
    const ref_number x = ref_decode(dtype, a), y = ref_decode(dtype, b);
    if (!ref_is_float(dtype)) {
        if (x.negative != y.negative) return x.negative;
        return x.negative ? x.bits > y.bits : x.bits < y.bits;
    }
    double p, q;
    ref_convert(TSR_F64, &p, dtype, a);
    ref_convert(TSR_F64, &q, dtype, b);
    return p < q || (p == q && x.negative && !y.negative);
}

static void combine(tsr_scatter_mode mode, tsr_dtype dtype, unsigned char *z, const unsigned char *x)
{
    const tsr_dtype part = ref_part(dtype);
    const size_t size = (size_t)ref_size(dtype);
    if (mode == TSR_SCATTER_SET) {
        memcpy(z, x, size);
    } else if (mode == TSR_SCATTER_ADD) {
        for (size_t i = 0; i < size; i += (size_t)ref_size(part)) add_part(part, z + i, x + i);
    } else if (!is_nan(dtype, z) && (is_nan(dtype, x) || is_below(dtype, z, x))) {
        memcpy(z, x, size);
    }
}

static bool mode_takes(tsr_scatter_mode mode, tsr_dtype dtype)
{
    if (mode == TSR_SCATTER_ADD) return dtype != TSR_BOOL && dtype != TSR_C32;
    return mode == TSR_SCATTER_SET || !ref_is_complex(dtype);
}

static void scatter_case(ref_case *c)
{
    int64_t shape[TSR_MAX_NDIM], picks[TSR_MAX_NDIM], from[TSR_MAX_NDIM] = { 0 };
    const tsr_dtype dtype = dtype_of(c);
    const tsr_scatter_mode mode = (tsr_scatter_mode)(c->number / DTYPES % 3);
    const int ndim = random_shape_with_axis(c, shape, 4, 40), axis = (int)ref_below(c, ndim);
    const bool scalar = ref_once_in(c, 6);
    for (int i = 0; i < ndim; i++) {
        picks[i] = i == axis ? ref_below(c, 6) : ref_between(c, shape[i] > 2 ? shape[i] - 2 : 0, shape[i]);
        from[i] = picks[i] + (ref_once_in(c, 3) ? ref_below(c, 3) : 0);
    }
    begin_case(c);
    if ((shape[axis] == 0 && ref_count(ndim, picks) > 0) || ref_count(ndim, from) > 200) return;
    if (!make_input(c, 0, dtype, ndim, shape) || !make_index(c, 1, ndim, picks, shape[axis]) ||
        !make_input(c, 2, dtype, scalar ? 0 : ndim, from))
        return;
    freeze();
    want_shape(0, dtype, ndim, shape);
    want[0].any_nan = mode == TSR_SCATTER_ADD;
    for (int64_t k = 0; k < in[0].n; k++) want_bytes(0, k, input_at(0, k));
    for (REF_EACH(&in[1], index, k)) {
        int64_t to[TSR_MAX_NDIM];
        memcpy(to, index, sizeof to);
        to[axis] = index_at(1, k, shape[axis]);
        if (mode_takes(mode, dtype))
            combine(mode, dtype, want[0].e[ref_flat(&in[0], to)], scalar ? input_at(2, 0) : input(2, index));
    }
    if (!choose_result(c, 0, true)) return;
    ref_say(c, "    scatter, mode %d, along %d\n", (int)mode, axis);
    const tsr_status s = tsr_scatter(&c->t[0], c->t[RESULTS], c->t[RESULTS + 1], c->t[RESULTS + 2],
                                     either_end(c, axis, ndim), mode);
    MUST(s == (mode_takes(mode, dtype) ? TSR_OK : TSR_EDTYPE));
    if (s == TSR_OK) check_results(c, 1);
    else check_refused(c, 1);
}

TEST(test_scatter_is_a_loop_in_row_major_order) { ref_cases(3 * EACH, scatter_case); }

static void index_add_case(ref_case *c)
{
    int64_t shape[TSR_MAX_NDIM], from[TSR_MAX_NDIM] = { 0 };
    const tsr_dtype dtype = dtype_of(c);
    const int ndim = random_shape_with_axis(c, shape, 4, 40), axis = (int)ref_below(c, ndim);
    const bool scalar = ref_once_in(c, 6);
    const int64_t n = scalar ? 1 : ref_below(c, 6);
    memcpy(from, shape, sizeof from);
    from[axis] = n;
    begin_case(c);
    if ((shape[axis] == 0 && n > 0) || ref_count(ndim, from) > 200 || !mode_takes(TSR_SCATTER_ADD, dtype))
        return;
    if (!make_input(c, 0, dtype, ndim, shape) || !make_index(c, 1, scalar ? 0 : 1, &n, shape[axis]) ||
        !make_input(c, 2, dtype, ndim, from))
        return;
    freeze();
    want_shape(0, dtype, ndim, shape);
    want[0].any_nan = true;
    for (int64_t k = 0; k < in[0].n; k++) want_bytes(0, k, input_at(0, k));
    for (REF_EACH(&in[2], index, k)) {
        int64_t to[TSR_MAX_NDIM];
        memcpy(to, index, sizeof to);
        to[axis] = index_at(1, index[axis], shape[axis]);
        combine(TSR_SCATTER_ADD, dtype, want[0].e[ref_flat(&in[0], to)], input_at(2, k));
    }
    if (!choose_result(c, 0, true)) return;
    ref_say(c, "    index_add along %d\n", axis);
    MUST(tsr_index_add(&c->t[0], c->t[RESULTS], c->t[RESULTS + 1], c->t[RESULTS + 2],
                       either_end(c, axis, ndim)) == TSR_OK);
    check_results(c, 1);
}

TEST(test_index_add_adds_slices) { ref_cases(EACH, index_add_case); }

static void one_hot_case(ref_case *c)
{
    int64_t shape[TSR_MAX_NDIM];
    static const unsigned char zero[16];
    unsigned char one[16];
    const uint8_t truth = 1;
    const int ndim = ref_random_shape(c, shape, 3, 20);
    const int64_t depth = ref_between(c, ref_count(ndim, shape) ? 1 : 0, 9);
    begin_case(c);
    if (!make_index(c, 0, ndim, shape, depth ? depth : 1)) return;
    freeze();
    shape[ndim] = depth;
    ref_convert(dtype_of(c), one, TSR_U8, &truth);
    want_shape(0, dtype_of(c), ndim + 1, shape);
    for (REF_EACH(&want[0].view, index, k))
        want_bytes(0, k, index_at(0, k / depth, depth) == index[ndim] ? one : zero);
    if (!choose_result(c, 0, true)) return;
    ref_say(c, "    one_hot %lld\n", (long long)depth);
    MUST(tsr_one_hot(&c->t[0], c->t[RESULTS], depth, dtype_of(c)) == TSR_OK);
    check_results(c, 1);
}

TEST(test_one_hot_marks_each_index) { ref_cases(EACH, one_hot_case); }

/* Masks ------------------------------------------------------------------------------------- */

/* Random shapes that broadcast, and what they come to. */
static int random_pair(ref_case *c, int64_t *wide, int *na, int64_t *a, int *nb, int64_t *b, bool a_is_wide)
{
    const int ndim = ref_random_shape(c, wide, 4, 60);
    *na = a_is_wide ? ndim : (int)ref_between(c, 0, ndim);
    *nb = *na < ndim ? ndim : (int)ref_between(c, 0, ndim);
    for (int i = 0; i < *na; i++) a[i] = wide[ndim - *na + i];
    for (int i = 0; i < *nb; i++) b[i] = ref_once_in(c, 4) ? 1 : wide[ndim - *nb + i];
    for (int i = 0; i < *nb; i++) {  /* a dim that one of them leaves open is 1 */
        const int at = i - (*nb - *na);
        if (at < 0) wide[i] = b[i];
    }
    return ndim;
}

/* The flat place, in a tensor that broadcasts, of an index. */
static int64_t place_in(const ref_view *v, const int64_t *index, int ndim)
{
    int64_t at = 0;
    for (int i = 0; i < v->ndim; i++)
        at = at * v->shape[i] + (v->shape[i] == 1 ? 0 : index[ndim - v->ndim + i]);
    return at;
}

static void masked_select_case(ref_case *c)
{
    static ref_view all;
    int64_t wide[TSR_MAX_NDIM], a[TSR_MAX_NDIM], b[TSR_MAX_NDIM], n = 0;
    int na, nb;
    const int ndim = random_pair(c, wide, &na, a, &nb, b, false);
    begin_case(c);
    if (!make_input(c, 0, dtype_of(c), na, a) || !make_input(c, 1, TSR_BOOL, nb, b)) return;
    freeze();
    ref_set_shape(&all, TSR_BOOL, ndim, wide);
    const size_t size = (size_t)ref_size(dtype_of(c));
    for (REF_EACH(&all, index, k)) {
        if (!*input_at(1, place_in(&in[1], index, ndim))) continue;
        memcpy(want[0].e[n++], input_at(0, place_in(&in[0], index, ndim)), size);
    }
    want_shape(0, dtype_of(c), 1, &n);
    if (!choose_result(c, 0, true)) return;
    ref_say(c, "    masked_select of %lld\n", (long long)n);
    MUST(tsr_masked_select(&c->t[0], c->t[RESULTS], c->t[RESULTS + 1]) == TSR_OK);
    check_results(c, 1);
}

TEST(test_masked_select_lists_what_is_true) { ref_cases(EACH, masked_select_case); }

static void masked_fill_case(ref_case *c)
{
    int64_t wide[TSR_MAX_NDIM], a[TSR_MAX_NDIM], b[TSR_MAX_NDIM];
    unsigned char filler[16] = { 0 };
    const tsr_dtype dtype = dtype_of(c), part = ref_part(dtype);
    tsr_scalar value;
    int na, nb;
    const int ndim = random_pair(c, wide, &na, a, &nb, b, true);
    begin_case(c);
    if (!make_input(c, 0, dtype, na, a) || !make_input(c, 1, TSR_BOOL, nb, b)) return;
    freeze();
    do ref_random_element(c, dtype, filler);
    while (is_nan(part, filler) || (ref_is_complex(dtype) && is_nan(part, filler + ref_size(part))));
    MUST(tsr_scalar_load(&value, dtype, filler) == TSR_OK);
    want_shape(0, dtype, na, a);
    for (REF_EACH(&in[0], index, k))
        want_bytes(0, k, *input_at(1, place_in(&in[1], index, ndim)) ? filler : input_at(0, k));
    if (!choose_result(c, 0, true)) return;
    MUST(tsr_masked_fill(&c->t[0], c->t[RESULTS], c->t[RESULTS + 1], value) == TSR_OK);
    check_results(c, 1);
}

TEST(test_masked_fill_changes_what_is_true) { ref_cases(EACH, masked_fill_case); }

static void nonzero_case(ref_case *c)
{
    int64_t shape[TSR_MAX_NDIM], n = 0;
    const int ndim = ref_random_shape(c, shape, 4, 60);
    begin_case(c);
    if (!make_input(c, 0, dtype_of(c), ndim, shape)) return;
    for (int64_t k = 0; k < in[0].n; k++)
        if (ref_once_in(c, 2)) memset(memory + in[0].at[k], 0, (size_t)ref_size(in[0].dtype));
    freeze();
    for (REF_EACH(&in[0], index, k)) {
        uint8_t is = 0;
        ref_convert(TSR_BOOL, &is, dtype_of(c), input_at(0, k));
        for (int i = 0; is && i < ndim; i++) want_i64(0, n * ndim + i, index[i]);
        n += is;
    }
    if (n * ndim > 240) return;
    want_shape(0, TSR_I64, 2, (int64_t[]){ n, ndim });
    if (!choose_result(c, 0, true)) return;
    MUST(tsr_nonzero(&c->t[0], c->t[RESULTS]) == TSR_OK);
    check_results(c, 1);
}

/* want_i64 needs the dtype's size before the shape is known. */
TEST(test_nonzero_lists_indices_in_row_major_order)
{
    want_shape(0, TSR_I64, 0, NULL);
    ref_cases(EACH, nonzero_case);
}

/* By hand ------------------------------------------------------------------------------------- */

static void expect_f32(const tsr_tensor *t, int n, const float *numbers)
{
    float got[64] = { 0 };
    EXPECT(tsr_numel(t) == n && tsr_store(got, (size_t)n * sizeof *got, t) == TSR_OK);
    for (int i = 0; i < n; i++)
        EXPECT_MSG(got[i] == numbers[i], "element %d is %g, not %g", i, got[i], numbers[i]);
}

TEST(test_the_last_of_several_is_set_and_all_are_added)
{
    tsr_tensor *t = NULL, *at = NULL, *src = NULL, *y = NULL;
    EXPECT_OK(tsr_from_data(&t, TSR_F32, TSR_SHAPE(3), (float[]){ 10, 20, 30 }));
    EXPECT_OK(tsr_from_data(&at, TSR_I8, TSR_SHAPE(4), (int8_t[]){ 0, -1, 0, 2 }));
    EXPECT_OK(tsr_from_data(&src, TSR_F32, TSR_SHAPE(4), (float[]){ 1, 2, 3, 4 }));
    EXPECT_OK(tsr_scatter(&y, t, at, src, 0, TSR_SCATTER_SET));
    expect_f32(y, 3, (float[]){ 3, 20, 4 });
    EXPECT_OK(tsr_scatter(&y, t, at, src, 0, TSR_SCATTER_ADD));
    expect_f32(y, 3, (float[]){ 14, 20, 36 });
    EXPECT_OK(tsr_scatter(&y, t, at, src, 0, TSR_SCATTER_MAX));
    expect_f32(y, 3, (float[]){ 10, 20, 30 });
    EXPECT_OK(tsr_scatter(&y, t, at, TSR_NUMBER(15), 0, TSR_SCATTER_MAX));
    expect_f32(y, 3, (float[]){ 15, 20, 30 });
    EXPECT_FAILS(tsr_scatter(&t, t, at, t, 0, TSR_SCATTER_SET), TSR_ESHAPE, "longer than in src f32(3 | 1)");
    EXPECT_OK(tsr_index_add(&t, t, at, src, 0));
    expect_f32(t, 3, (float[]){ 14, 20, 36 });
    tsr_tensor *all[] = { t, at, src, y };
    for (int i = 0; i < 4; i++) tsr_release(&all[i]);
}

TEST(test_bad_input_is_refused_in_words)
{
    tsr_tensor *t = NULL, *at = NULL, *y = NULL, *f = NULL, *mask = NULL, *described = NULL, *z = NULL,
               *deep = NULL;
    tsr_tensor *given = NULL, *v = NULL;
    tsr_desc d;
    int64_t ones[TSR_MAX_NDIM];
    for (int i = 0; i < TSR_MAX_NDIM; i++) ones[i] = 1;
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(5)));
    EXPECT_OK(tsr_from_data(&at, TSR_I32, TSR_SHAPE(3), (int32_t[]){ 0, 1, 7 }));
    EXPECT_OK(tsr_zeros(&f, TSR_F64, TSR_SHAPE(3)));
    EXPECT_OK(tsr_zeros(&z, TSR_C32, TSR_SHAPE(3)));
    EXPECT_OK(tsr_zeros(&mask, TSR_BOOL, TSR_SHAPE(4)));
    EXPECT_OK(tsr_zeros(&deep, TSR_U8, TSR_MAX_NDIM, ones));
    EXPECT_OK(tsr_full(&given, TSR_F32, TSR_SHAPE(3), TSR_SCALAR(9)));
    EXPECT_OK(tsr_zeros(&v, TSR_F32, TSR_SHAPE(3)));
    EXPECT_OK(tsr_desc_init(&d, TSR_I64, TSR_SHAPE(3), NULL));
    EXPECT_OK(tsr_declare(&described, &d, TSR_CPU, TSR_MEMORY_HOST));

    EXPECT_FAILS(tsr_take(&given, t, at, 0), TSR_EINDEX,
                 "take: index 7 at (2) is outside dim 0 of f32(5 | 1), which has 5");
    expect_f32(given, 3, (float[]){ 9, 9, 9 });
    EXPECT_FAILS(tsr_take_along_axis(&given, t, at, 0), TSR_EINDEX, "take_along_axis: index 7 at (2)");
    EXPECT_FAILS(tsr_gather(&given, t, at, 0), TSR_EINDEX, "gather: index 7 at (2)");
    EXPECT_FAILS(tsr_scatter(&given, given, at, v, 0, TSR_SCATTER_SET), TSR_EINDEX,
                 "scatter: index 7 at (2)");
    EXPECT_FAILS(tsr_index_add(&given, given, at, v, 0), TSR_EINDEX, "index_add: index 7 at (2)");
    EXPECT_FAILS(tsr_one_hot(&y, at, 7, TSR_F32), TSR_EINDEX,
                 "one_hot: index 7 at (2) is outside dim 1 of f32(3, 7");
    expect_f32(given, 3, (float[]){ 9, 9, 9 });

    EXPECT_FAILS(tsr_take(NULL, t, at, 0), TSR_ENULL, "take: out");
    EXPECT_FAILS(tsr_take(&y, NULL, at, 0), TSR_ENULL, "take: t");
    EXPECT_FAILS(tsr_take(&y, t, NULL, 0), TSR_ENULL, "take: index");
    EXPECT_FAILS(tsr_take(&y, t, f, 0), TSR_EDTYPE, "take: index is f64(3 | 1), and must be of integers");
    EXPECT_FAILS(tsr_take(&y, t, mask, 0), TSR_EDTYPE, "integers");
    EXPECT_FAILS(tsr_take(&y, t, described, 0), TSR_ESTATE, "take: index");
    EXPECT_FAILS(tsr_take(&y, t, at, 1), TSR_EINDEX, "take: axis 1 of f32(5 | 1)");
    EXPECT_FAILS(tsr_take(&y, deep, deep, 0), TSR_EINVAL, "too many dims");
    EXPECT_FAILS(tsr_embedding(NULL, t, at), TSR_ENULL, "embedding: out");
    EXPECT_FAILS(tsr_embedding(&y, NULL, at), TSR_ENULL, "embedding: weight");
    EXPECT_FAILS(tsr_embedding(&y, t, NULL), TSR_ENULL, "embedding: index");
    EXPECT_FAILS(tsr_embedding(&y, t, at), TSR_ESHAPE, "embedding: weight is f32(5 | 1)");
    EXPECT_FAILS(tsr_take_along_axis(NULL, t, at, 0), TSR_ENULL, "take_along_axis: out");
    EXPECT_FAILS(tsr_take_along_axis(&y, NULL, at, 0), TSR_ENULL, "take_along_axis: t");
    EXPECT_FAILS(tsr_take_along_axis(&y, t, NULL, 0), TSR_ENULL, "take_along_axis: index");
    EXPECT_FAILS(tsr_take_along_axis(&y, t, deep, 0), TSR_ESHAPE, "ranks differ");
    EXPECT_FAILS(tsr_gather(NULL, t, at, 0), TSR_ENULL, "gather: out");
    EXPECT_FAILS(tsr_gather(&y, NULL, at, 0), TSR_ENULL, "gather: t");
    EXPECT_FAILS(tsr_gather(&y, t, NULL, 0), TSR_ENULL, "gather: index");
    EXPECT_FAILS(tsr_gather(&y, t, at, -2), TSR_EINDEX, "gather: axis -2");
    EXPECT_FAILS(tsr_scatter(NULL, t, at, t, 0, TSR_SCATTER_SET), TSR_ENULL, "scatter: out");
    EXPECT_FAILS(tsr_scatter(&y, NULL, at, t, 0, TSR_SCATTER_SET), TSR_ENULL, "scatter: t");
    EXPECT_FAILS(tsr_scatter(&y, t, NULL, t, 0, TSR_SCATTER_SET), TSR_ENULL, "scatter: index");
    EXPECT_FAILS(tsr_scatter(&y, t, at, NULL, 0, TSR_SCATTER_SET), TSR_ENULL, "scatter: src");
    EXPECT_FAILS(tsr_scatter(&y, t, at, f, 0, TSR_SCATTER_SET), TSR_EDTYPE,
                 "scatter: t is f32(5 | 1), but src is f64");
    EXPECT_FAILS(tsr_scatter(&y, t, at, t, 0, (tsr_scatter_mode)3), TSR_EINVAL, "scatter: 3 is no mode");
    EXPECT_FAILS(tsr_scatter(&y, z, at, z, 0, TSR_SCATTER_ADD), TSR_EDTYPE, "scatter: add does not take c32");
    EXPECT_FAILS(tsr_scatter(&y, z, at, z, 0, TSR_SCATTER_MAX), TSR_EDTYPE, "scatter: max does not take c32");
    EXPECT_FAILS(tsr_scatter(&y, at, at, TSR_NUMBER(1.5), 0, TSR_SCATTER_SET), TSR_EDTYPE, "floating number");
    EXPECT_FAILS(tsr_scatter(&y, t, deep, t, 0, TSR_SCATTER_SET), TSR_ESHAPE, "ranks differ");
    EXPECT_FAILS(tsr_index_add(NULL, t, at, t, 0), TSR_ENULL, "index_add: out");
    EXPECT_FAILS(tsr_index_add(&y, NULL, at, t, 0), TSR_ENULL, "index_add: t");
    EXPECT_FAILS(tsr_index_add(&y, t, NULL, t, 0), TSR_ENULL, "index_add: index");
    EXPECT_FAILS(tsr_index_add(&y, t, at, NULL, 0), TSR_ENULL, "index_add: src");
    EXPECT_FAILS(tsr_index_add(&y, t, at, t, 0), TSR_ESHAPE,
                 "index_add: dim 0 of src f32(5 | 1) is 5, not 3");
    EXPECT_FAILS(tsr_index_add(&y, mask, at, mask, 0), TSR_EDTYPE, "index_add: add does not take bool");
    EXPECT_FAILS(tsr_one_hot(NULL, at, 3, TSR_F32), TSR_ENULL, "one_hot: out");
    EXPECT_FAILS(tsr_one_hot(&y, NULL, 3, TSR_F32), TSR_ENULL, "one_hot: index");
    EXPECT_FAILS(tsr_one_hot(&y, at, -1, TSR_F32), TSR_EINVAL, "one_hot: depth is -1");
    EXPECT_FAILS(tsr_one_hot(&y, at, 8, (tsr_dtype)99), TSR_EDTYPE, "one_hot: 99 is no dtype");
    EXPECT_FAILS(tsr_one_hot(&y, deep, 8, TSR_F32), TSR_EINVAL, "one_hot");
    EXPECT_FAILS(tsr_one_hot(&y, at, INT64_MAX, TSR_F32), TSR_EOVERFLOW, "one_hot");
    EXPECT_FAILS(tsr_masked_select(NULL, t, mask), TSR_ENULL, "masked_select: out");
    EXPECT_FAILS(tsr_masked_select(&y, NULL, mask), TSR_ENULL, "masked_select: t");
    EXPECT_FAILS(tsr_masked_select(&y, t, NULL), TSR_ENULL, "masked_select: mask");
    EXPECT_FAILS(tsr_masked_select(&y, t, at), TSR_EDTYPE,
                 "masked_select: mask is i32(3 | 1), and must be bool");
    EXPECT_FAILS(tsr_masked_select(&y, t, mask), TSR_ESHAPE,
                 "masked_select: t f32(5 | 1) and mask bool(4 | 1)");
    EXPECT_FAILS(tsr_masked_fill(NULL, t, mask, TSR_SCALAR(0)), TSR_ENULL, "masked_fill: out");
    EXPECT_FAILS(tsr_masked_fill(&y, NULL, mask, TSR_SCALAR(0)), TSR_ENULL, "masked_fill: t");
    EXPECT_FAILS(tsr_masked_fill(&y, t, NULL, TSR_SCALAR(0)), TSR_ENULL, "masked_fill: mask");
    EXPECT_FAILS(tsr_masked_fill(&y, t, mask, TSR_SCALAR(0)), TSR_ESHAPE,
                 "masked_fill: mask bool(4 | 1) does not");
    EXPECT_FAILS(tsr_masked_fill(&y, mask, mask, (tsr_scalar){ .dtype = TSR_F16 }), TSR_EDTYPE, "");
    EXPECT_FAILS(tsr_nonzero(NULL, t), TSR_ENULL, "nonzero: out");
    EXPECT_FAILS(tsr_nonzero(&y, NULL), TSR_ENULL, "nonzero: t");
    EXPECT_FAILS(tsr_nonzero(&given, t), TSR_EDTYPE, "nonzero: the result is i64(0, 1");
    EXPECT(y == NULL);

    tsr_tensor *all[] = { t, at, f, mask, described, z, deep, given, v };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tsr_release(&all[i]);
}

TEST(test_large_gathers_are_right_on_every_thread)
{
    tsr_tensor *t = NULL, *at = NULL, *y = NULL;
    uint64_t random = 3;
    EXPECT_OK(tsr_arange(&t, TSR_I32, TSR_SCALAR(0), TSR_SCALAR(70 * 500), TSR_SCALAR(1)));
    EXPECT_OK(tsr_reshape(&t, t, TSR_SHAPE(70, 500)));
    EXPECT_OK(tsr_empty(&at, TSR_I64, TSR_SHAPE(300)));
    for (int i = 0; i < 300; i++) ((int64_t *)at->data)[i] = test_below(&random, 70);
    EXPECT_OK(tsr_set_threads(4));
    EXPECT_OK(tsr_take(&y, t, at, 0));
    EXPECT_OK(tsr_set_threads(0));
    int wrong = 0;
    for (int i = 0; i < 300; i++)
        for (int j = 0; j < 500; j++) wrong += TSR_AT(int32_t, y, i, j) != ((int64_t *)at->data)[i] * 500 + j;
    EXPECT(wrong == 0);
    tsr_release(&t);
    tsr_release(&at);
    tsr_release(&y);
}

/* Rows of which each begins elsewhere in a line, to and from between guards; some are met again. */
TEST(test_long_rows_of_every_length_move_and_are_added)
{
    enum { ROWS = 9, PICKS = 23, GUARD = -77 };
    for (int64_t n = 60; n < 420; n += n < 140 ? 1 : 37)
        for (int wide = 0; wide < 2; wide++) {
            const tsr_dtype dtype = wide ? TSR_F64 : TSR_F32;
            const int64_t pitch = n + 3;
            tsr_tensor *all = NULL, *t = NULL, *big = NULL, *z = NULL, *at = NULL, *was = NULL, *whole = NULL;
            EXPECT_OK(tsr_integers(&at, TSR_I64, TSR_SHAPE(PICKS), 0, ROWS, (uint64_t)n));
            EXPECT_OK(tsr_integers(&whole, TSR_I32, TSR_SHAPE(ROWS, pitch), 0, 1000, 3));
            EXPECT_OK(tsr_cast(&all, whole, dtype));
            EXPECT_OK(tsr_slice(&t, all, 1, 1, n + 1, 1));
            EXPECT_OK(tsr_full(&big, dtype, TSR_SHAPE(PICKS, pitch), TSR_SCALAR(GUARD)));
            EXPECT_OK(tsr_slice(&z, big, 1, 2, n + 2, 1));
            EXPECT_OK(tsr_take(&z, t, at, 0));
            EXPECT_OK(tsr_clone(&was, all));
            EXPECT_OK(tsr_index_add(&t, t, at, z, 0));
            int wrong = 0;
            for (int64_t i = 0; big && was && i < PICKS; i++)
                for (int64_t j = 0; j < pitch; j++) {
                    const int64_t from = ((const int64_t *)at->data)[i];
                    const bool moved = j >= 2 && j < n + 2;
                    const double got = wide ? TSR_AT(double, big, i, j) : (double)TSR_AT(float, big, i, j);
                    if (!moved) wrong += got != GUARD;
                    else
                        wrong += got != (wide ? TSR_AT(double, was, from, j - 1)
                                              : (double)TSR_AT(float, was, from, j - 1));
                }
            for (int64_t i = 0; was && i < ROWS; i++)
                for (int64_t j = 0; j < pitch; j++) {
                    int64_t times = 1;
                    for (int64_t k = 0; k < PICKS; k++)
                        times += j >= 1 && j < n + 1 && ((const int64_t *)at->data)[k] == i;
                    const double had = wide ? TSR_AT(double, was, i, j) : (double)TSR_AT(float, was, i, j);
                    const double got = wide ? TSR_AT(double, all, i, j) : (double)TSR_AT(float, all, i, j);
                    wrong += got != had * (double)times;
                }
            EXPECT_MSG(wrong == 0, "%d wrong of rows of %d", wrong, (int)n);
            tsr_release(&all);
            tsr_release(&t);
            tsr_release(&big);
            tsr_release(&z);
            tsr_release(&at);
            tsr_release(&was);
            tsr_release(&whole);
        }
}

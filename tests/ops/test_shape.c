/* test_shape.c - tile, repeat, roll, pad, triangles, diagonals and grids against loops over
 * indices. */
#include "moves.h"

/* One result, from one input ------------------------------------------------------------- */

static void tile_case(ref_case *c)
{
    int64_t shape[TSR_MAX_NDIM], wide[TSR_MAX_NDIM], reps[TSR_MAX_NDIM];
    const int ndim = ref_random_shape(c, shape, 4, 16), n = (int)ref_below(c, 5), rank = ndim > n ? ndim : n;
    begin_case(c);
    if (!make_input(c, 0, dtype_of(c), ndim, shape)) return;
    freeze();
    int64_t total = in[0].n;
    for (int i = 0; i < n; i++) {
        reps[i] = ref_once_in(c, 15) ? 0 : ref_between(c, 1, total > 60 ? 1 : 3);
        total *= reps[i];
    }
    for (int i = 0; i < rank; i++)
        wide[i] =
            (i < rank - ndim ? 1 : shape[i - (rank - ndim)]) * (i < rank - n ? 1 : reps[i - (rank - n)]);
    want_shape(0, dtype_of(c), rank, wide);
    for (REF_EACH(&want[0].view, index, k)) {
        int64_t from[TSR_MAX_NDIM] = { 0 };
        for (int i = 0; i < ndim; i++) from[i] = index[rank - ndim + i] % shape[i];
        want_bytes(0, k, input(0, from));
    }
    if (!choose_result(c, 0, true)) return;
    ref_say(c, "    tile by ");
    ref_say_numbers(c, n, reps);
    MUST(tsr_tile(&c->t[0], c->t[RESULTS], n, reps) == TSR_OK);
    check_results(c, 1);
}

TEST(test_tile_repeats_the_whole) { ref_cases(EACH, tile_case); }

static void repeat_case(ref_case *c)
{
    int64_t shape[TSR_MAX_NDIM];
    const int ndim = random_shape_with_axis(c, shape, 5, 24), axis = (int)ref_below(c, ndim);
    const int64_t count = ref_below(c, 5);
    begin_case(c);
    if (!make_input(c, 0, dtype_of(c), ndim, shape)) return;
    freeze();
    shape[axis] *= count;
    want_shape(0, dtype_of(c), ndim, shape);
    for (REF_EACH(&want[0].view, index, k)) {
        int64_t from[TSR_MAX_NDIM] = { 0 };
        for (int i = 0; i < ndim; i++) from[i] = i == axis ? index[i] / count : index[i];
        want_bytes(0, k, input(0, from));
    }
    if (!choose_result(c, 0, true)) return;
    ref_say(c, "    repeat %lld along %d\n", (long long)count, axis);
    MUST(tsr_repeat(&c->t[0], c->t[RESULTS], count, either_end(c, axis, ndim)) == TSR_OK);
    check_results(c, 1);
}

TEST(test_repeat_repeats_each_index) { ref_cases(EACH, repeat_case); }

static void roll_case(ref_case *c)
{
    int64_t shape[TSR_MAX_NDIM], shifts[4], total[TSR_MAX_NDIM] = { 0 };
    int axes[4];
    const int ndim = random_shape_with_axis(c, shape, 4, 100), n = (int)ref_below(c, 4);
    begin_case(c);
    if (!make_input(c, 0, dtype_of(c), ndim, shape)) return;
    freeze();
    for (int i = 0; i < n; i++) {
        const int axis = (int)ref_below(c, ndim);
        axes[i] = either_end(c, axis, ndim);
        shifts[i] = ref_between(c, -12, 12);
        total[axis] += shifts[i];
        if (ref_once_in(c, 10) && shape[axis] > 0) {  /* far, but to the same place */
            const int64_t far = INT64_MAX / 2 / shape[axis] * shape[axis];
            shifts[i] += ref_once_in(c, 2) ? far : -far;
        }
    }
    want_shape(0, dtype_of(c), ndim, shape);
    for (REF_EACH(&want[0].view, index, k)) {
        int64_t from[TSR_MAX_NDIM] = { 0 };
        for (int i = 0; i < ndim; i++) from[i] = ((index[i] - total[i]) % shape[i] + shape[i]) % shape[i];
        want_bytes(0, k, input(0, from));
    }
    if (!choose_result(c, 0, true)) return;
    MUST(tsr_roll(&c->t[0], c->t[RESULTS], n, shifts, axes) == TSR_OK);
    check_results(c, 1);
}

TEST(test_roll_moves_indices_round) { ref_cases(EACH, roll_case); }

/* Which element of n stands at place i, which may lie outside; -1: none. */
static int64_t padded_from(int64_t i, int64_t n, tsr_pad_mode mode)
{
    if (mode == TSR_PAD_EDGE) return i < 0 ? 0 : i >= n ? n - 1 : i;
    while (mode == TSR_PAD_WRAP && i < 0) i += n;
    while (mode == TSR_PAD_WRAP && i >= n) i -= n;
    if (mode == TSR_PAD_REFLECT && n == 1) return 0;
    while (mode == TSR_PAD_REFLECT && (i < 0 || i >= n)) i = i < 0 ? -i : 2 * (n - 1) - i;
    return i < 0 || i >= n ? -1 : i;
}

static void pad_case(ref_case *c)
{
    int64_t shape[TSR_MAX_NDIM], wide[TSR_MAX_NDIM], ahead[TSR_MAX_NDIM], behind[TSR_MAX_NDIM];
    const int ndim = ref_random_shape(c, shape, 3, 12);
    const tsr_pad_mode mode = (tsr_pad_mode)ref_below(c, 4);
    const tsr_dtype dtype = dtype_of(c);
    unsigned char filler[16] = { 0 };
    tsr_scalar value;
    begin_case(c);
    if (!make_input(c, 0, dtype, ndim, shape)) return;
    freeze();
    do ref_random_element(c, dtype, filler);  /* a NaN may change on the way to a scalar */
    while (is_nan(ref_part(dtype), filler) || is_nan(ref_part(dtype), filler + ref_size(ref_part(dtype))));
    MUST(tsr_scalar_load(&value, dtype, filler) == TSR_OK);
    for (int i = 0; i < ndim; i++) {
        const bool can = shape[i] > 0 || mode == TSR_PAD_CONSTANT;
        ahead[i] = can ? ref_below(c, ndim == 1 ? 30 : 5) : 0;
        behind[i] = can ? ref_below(c, ndim == 1 ? 30 : 5) : 0;
        wide[i] = ahead[i] + shape[i] + behind[i];
    }
    want_shape(0, dtype, ndim, wide);
    if (want[0].view.n > 240) return;
    for (REF_EACH(&want[0].view, index, k)) {
        int64_t from[TSR_MAX_NDIM] = { 0 };
        bool inside = true;
        for (int i = 0; i < ndim; i++) {
            from[i] = padded_from(index[i] - ahead[i], shape[i], mode);
            inside = inside && from[i] >= 0;
        }
        want_bytes(0, k, inside ? input(0, from) : filler);
    }
    if (!choose_result(c, 0, true)) return;
    ref_say(c, "    pad, mode %d, by ", (int)mode);
    ref_say_numbers(c, ndim, ahead);
    ref_say_numbers(c, ndim, behind);
    MUST(tsr_pad(&c->t[0], c->t[RESULTS], ndim, ahead, behind, mode, value) == TSR_OK);
    check_results(c, 1);
}

TEST(test_pad_continues_what_is_there) { ref_cases(4 * EACH, pad_case); }

static void triangle_case(ref_case *c)
{
    int64_t shape[TSR_MAX_NDIM];
    static const unsigned char zero[16];
    int ndim;
    do ndim = ref_random_shape(c, shape, 4, 100);
    while (ndim < 2);
    const bool lower = ref_once_in(c, 2);
    const int64_t k = ref_once_in(c, 20) ? ref_junk(c) : ref_between(c, -8, 8);
    begin_case(c);
    if (!make_input(c, 0, dtype_of(c), ndim, shape)) return;
    freeze();
    want_shape(0, dtype_of(c), ndim, shape);
    for (REF_EACH(&want[0].view, index, at)) {
        const int64_t d = index[ndim - 1] - index[ndim - 2];
        want_bytes(0, at, (lower ? d <= k : d >= k) ? input(0, index) : zero);
    }
    if (!choose_result(c, 0, true)) return;
    ref_say(c, "    %s %lld\n", lower ? "tril" : "triu", (long long)k);
    MUST((lower ? tsr_tril(&c->t[0], c->t[RESULTS], k) : tsr_triu(&c->t[0], c->t[RESULTS], k)) == TSR_OK);
    check_results(c, 1);
}

TEST(test_triangles_keep_one_side_of_a_diagonal) { ref_cases(2 * EACH, triangle_case); }

static void diag_case(ref_case *c)
{
    int64_t shape[TSR_MAX_NDIM];
    static const unsigned char zero[16];
    const bool matrix = ref_once_in(c, 2);
    const int64_t k = matrix && ref_once_in(c, 20) ? ref_junk(c) : ref_between(c, -6, 6),
                  size = k < 0 ? -k : k;
    for (int i = 0; i < 2; i++) shape[i] = ref_below(c, 10);
    begin_case(c);
    if (!make_input(c, 0, dtype_of(c), matrix ? 2 : 1, shape)) return;
    freeze();
    if (matrix) {
        int64_t n = 0;
        for (int64_t i = 0; i < shape[0]; i++)
            for (int64_t j = 0; j < shape[1]; j++)
                if (j - i == k)
                    memcpy(want[0].e[n++], input(0, (int64_t[]){ i, j }), (size_t)ref_size(dtype_of(c)));
        want_shape(0, dtype_of(c), 1, &n);
    } else {
        want_shape(0, dtype_of(c), 2, (int64_t[]){ shape[0] + size, shape[0] + size });
        for (REF_EACH(&want[0].view, index, at))
            want_bytes(0, at,
                       index[1] - index[0] == k ? input_at(0, index[0] < index[1] ? index[0] : index[1])
                                                : zero);
    }
    if (!choose_result(c, 0, true)) return;
    ref_say(c, "    diag %lld\n", (long long)k);
    MUST(tsr_diag(&c->t[0], c->t[RESULTS], k) == TSR_OK);
    check_results(c, 1);
}

TEST(test_diag_is_between_vectors_and_matrices) { ref_cases(2 * EACH, diag_case); }

/* Grids ------------------------------------------------------------------------------------ */

static void meshgrid_case(ref_case *c)
{
    static ref_view v;
    const int n = (int)ref_between(c, 1, 3);
    const bool xy = ref_once_in(c, 2), own = ref_once_in(c, 4);
    const tsr_tensor *vectors[3];
    tsr_tensor *outs[3];
    begin_case(c);
    for (int i = 0; i < n; i++) {
        const int64_t size = ref_once_in(c, 10) ? 0 : ref_between(c, 1, 9);
        if (!make_input(c, i, i == 0 ? dtype_of(c) : ref_random_dtype(c), 1, &size)) return;
        vectors[i] = c->t[RESULTS + i];
        outs[i] = NULL;
        if (own) outs[i] = c->t[RESULTS + i];
        else if (ref_once_in(c, 3)) outs[i] = tsr_place_none(&c->place[i]);
    }
    freeze();
    const tsr_status s = tsr_meshgrid(outs, n, vectors, xy ? TSR_MESH_XY : TSR_MESH_IJ);
    for (int i = 0; i < n; i++) c->t[own ? RESULTS + i : i] = outs[i];
    MUST(s == TSR_OK);
    for (int i = 0; i < n; i++) {
        const int along = xy && n > 1 && i < 2 ? 1 - i : i;
        MUST(tsr_check(outs[i]) == TSR_OK && tsr_is_view(outs[i]) && outs[i]->ndim == n);
        for (int j = 0; j < n; j++) MUST(outs[j]->shape[along] == in[i].shape[0]);
        ref_of_desc(&v, &outs[i]->desc, (unsigned char *)outs[i]->data - memory);
        for (REF_EACH(&v, index, k)) MUST(v.at[k] == in[i].at[index[along]]);
    }
    MUST(!memcmp(memory, before, sizeof memory));
}

TEST(test_meshgrid_gives_views_along_each_dim) { ref_cases(EACH, meshgrid_case); }

/* By hand ------------------------------------------------------------------------------------ */

static void expect_i32(const tsr_tensor *t, int n, const int32_t *numbers)
{
    int32_t got[64] = { 0 };
    EXPECT(tsr_numel(t) == n && tsr_store(got, (size_t)n * sizeof *got, t) == TSR_OK);
    for (int i = 0; i < n; i++)
        EXPECT_MSG(got[i] == numbers[i], "element %d is %d, not %d", i, got[i], numbers[i]);
}

TEST(test_pad_looks_as_the_header_draws_it)
{
    tsr_tensor *t = NULL, *y = NULL;
    static const int32_t drawn[][11] = {
        { 9, 9, 9, 9, 1, 2, 3, 9, 9, 9, 9 }, { 1, 1, 1, 1, 1, 2, 3, 3, 3, 3, 3 },
        { 1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3 }, { 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1 },
    };
    EXPECT_OK(tsr_from_data(&t, TSR_I32, TSR_SHAPE(3), (int32_t[]){ 1, 2, 3 }));
    for (int mode = 0; mode < 4; mode++) {
        EXPECT_OK(tsr_pad(&y, t, 1, (int64_t[]){ 4 }, (int64_t[]){ 4 }, (tsr_pad_mode)mode, TSR_SCALAR(9)));
        expect_i32(y, 11, drawn[mode]);
    }
    tsr_release(&t);
    tsr_release(&y);
}

/* Rows that begin anywhere in a line, of a result that is more than a cache holds. */
TEST(test_large_pads_are_right_for_every_size_and_stride)
{
    static const tsr_dtype dtypes[] = { TSR_U8, TSR_I16, TSR_I32, TSR_I64, TSR_C128 };
    static const int64_t ahead[] = { 0, 1, 2, 1 }, behind[] = { 1, 0, 1, 3 }, cols[] = { 1, 7, 31, 56, 97 };
    for (int k = 0; k < 5; k++)
        for (int flipped = 0; flipped < 2; flipped++) {
            tsr_tensor *t = NULL, *bytes = NULL, *y = NULL, *got = NULL;
            const int64_t size = (int64_t)tsr_dtype_size(dtypes[k]),
                          rows = (1 << 20) / (cols[k] * size) / 12 + 1;
            const int64_t shape[] = { 3, 4, rows, cols[k] };
            EXPECT_OK(tsr_integers(&bytes, TSR_I32, 4, shape, 0, 100, 5));
            EXPECT_OK(tsr_cast(&t, bytes, dtypes[k]));
            if (flipped) EXPECT_OK(tsr_flip(&t, t, 1, (const int[]){ 2 }));
            if (flipped) EXPECT_OK(tsr_flip(&bytes, bytes, 1, (const int[]){ 2 }));
            EXPECT_OK(tsr_pad(&y, t, 4, ahead, behind, TSR_PAD_CONSTANT, TSR_SCALAR(101)));
            EXPECT_OK(tsr_cast(&got, y, TSR_I32));
            int wrong = 0;
            for (int64_t a = 0; got && a < 4; a++)
                for (int64_t b = 0; b < 5; b++)
                    for (int64_t c = 0; c < rows + 3; c++)
                        for (int64_t d = 0; d < cols[k] + 4; d++) {
                            const bool inside =
                                a < 3 && b >= 1 && c >= 2 && c < rows + 2 && d >= 1 && d < cols[k] + 1;
                            const int there = inside ? TSR_AT(int32_t, bytes, a, b - 1, c - 2, d - 1) : 101;
                            wrong += TSR_AT(int32_t, got, a, b, c, d) != there;
                        }
            EXPECT_MSG(wrong == 0, "%d wrong of %s, flipped %d", wrong, tsr_dtype_name(dtypes[k]), flipped);
            tsr_release(&t);
            tsr_release(&bytes);
            tsr_release(&y);
            tsr_release(&got);
        }
}

TEST(test_the_highest_rank_tiles_and_repeats_too)
{
    int64_t shape[TSR_MAX_NDIM], reps[TSR_MAX_NDIM];
    tsr_tensor *t = NULL, *y = NULL;
    for (int i = 0; i < TSR_MAX_NDIM; i++) shape[i] = reps[i] = 1;
    shape[0] = shape[TSR_MAX_NDIM - 1] = 2;
    reps[0] = 2;
    reps[TSR_MAX_NDIM - 1] = 3;
    EXPECT_OK(tsr_from_data(&t, TSR_I32, TSR_MAX_NDIM, shape, (int32_t[]){ 1, 2, 3, 4 }));
    EXPECT_OK(tsr_tile(&y, t, TSR_MAX_NDIM, reps));
    expect_i32(y, 24, (int32_t[]){ 1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4, 1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4 });
    tsr_release(&y);
    EXPECT_OK(tsr_repeat(&y, t, 2, -1));
    expect_i32(y, 8, (int32_t[]){ 1, 1, 2, 2, 3, 3, 4, 4 });
    tsr_release(&y);
    EXPECT_OK(tsr_repeat(&y, t, 2, 0));
    expect_i32(y, 8, (int32_t[]){ 1, 2, 1, 2, 3, 4, 3, 4 });
    tsr_release(&y);
    tsr_release(&t);
}

TEST(test_scalars_are_taken_where_there_is_sense_in_it)
{
    tsr_tensor *t = NULL, *y = NULL;
    EXPECT_OK(tsr_from_data(&t, TSR_I32, TSR_SCALAR_SHAPE, (int32_t[]){ 7 }));
    EXPECT_OK(tsr_tile(&y, t, 1, (int64_t[]){ 3 }));
    expect_i32(y, 3, (int32_t[]){ 7, 7, 7 });
    tsr_release(&y);
    EXPECT_OK(tsr_pad(&y, t, 0, NULL, NULL, TSR_PAD_EDGE, TSR_SCALAR(0)));
    expect_i32(y, 1, (int32_t[]){ 7 });
    EXPECT_OK(tsr_roll(&y, t, 0, NULL, NULL));
    EXPECT_FAILS(tsr_repeat(&y, t, 2, 0), TSR_EINDEX, "repeat: axis 0");
    EXPECT_FAILS(tsr_tril(&y, t, 0), TSR_ESHAPE, "tril");
    EXPECT_FAILS(tsr_diag(&y, t, 0), TSR_ESHAPE, "diag");
    tsr_release(&y);
    tsr_release(&t);
}

TEST(test_bad_input_is_refused_in_words)
{
    tsr_tensor *t = NULL, *y = NULL, *small = NULL, *described = NULL, *v = NULL, *fixed = NULL,
               *spread = NULL;
    const int64_t one[] = { 1, 1 }, minus[] = { -1, 0 }, huge[] = { INT64_MAX, 2 };
    tsr_desc d;
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(2, 3)));
    EXPECT_OK(tsr_zeros(&small, TSR_F32, TSR_SHAPE(2, 2)));
    EXPECT_OK(tsr_zeros(&v, TSR_F32, TSR_SHAPE(3)));
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2, 3), NULL));
    EXPECT_OK(tsr_declare(&described, &d, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT_OK(tsr_wrap_const(&fixed, (float[6]){ 0 }, &d));
    EXPECT_OK(tsr_expand(&spread, v, TSR_SHAPE(2, 3)));

    EXPECT_FAILS(tsr_tile(NULL, t, 2, one), TSR_ENULL, "tile: out");
    EXPECT_FAILS(tsr_tile(&y, NULL, 2, one), TSR_ENULL, "tile: t");
    EXPECT_FAILS(tsr_tile(&y, t, 2, NULL), TSR_ENULL, "reps");
    EXPECT_FAILS(tsr_tile(&y, t, 17, one), TSR_EINVAL, "tile");
    EXPECT_FAILS(tsr_tile(&y, t, 2, minus), TSR_EINVAL, "tile: -1 times along dim 0");
    EXPECT_FAILS(tsr_tile(&y, t, 2, huge), TSR_EOVERFLOW, "tile");
    EXPECT_FAILS(tsr_tile(&y, described, 2, one), TSR_ESTATE, "tile");
    EXPECT_FAILS(tsr_tile(&small, t, 2, one), TSR_ESHAPE, "tile: the result is f32(2, 3 | 3, 1)");
    EXPECT_FAILS(tsr_tile(&fixed, t, 2, one), TSR_EREADONLY, "tile");
    EXPECT_FAILS(tsr_tile(&spread, t, 2, one), TSR_EOVERLAP, "tile");

    EXPECT_FAILS(tsr_repeat(NULL, t, 1, 0), TSR_ENULL, "repeat: out");
    EXPECT_FAILS(tsr_repeat(&y, NULL, 1, 0), TSR_ENULL, "repeat: t");
    EXPECT_FAILS(tsr_repeat(&y, t, -1, 0), TSR_EINVAL, "repeat: -1 times");
    EXPECT_FAILS(tsr_repeat(&y, t, INT64_MAX, 0), TSR_EOVERFLOW, "repeat");
    EXPECT_FAILS(tsr_repeat(&y, t, 1, 2), TSR_EINDEX, "repeat: axis 2 of f32(2, 3 | 3, 1)");
    EXPECT_FAILS(tsr_repeat(&y, described, 1, 0), TSR_ESTATE, "repeat");

    EXPECT_FAILS(tsr_roll(NULL, t, 1, one, (int[]){ 0 }), TSR_ENULL, "roll: out");
    EXPECT_FAILS(tsr_roll(&y, NULL, 1, one, (int[]){ 0 }), TSR_ENULL, "roll: t");
    EXPECT_FAILS(tsr_roll(&y, t, 1, NULL, (int[]){ 0 }), TSR_ENULL, "roll: shifts");
    EXPECT_FAILS(tsr_roll(&y, t, 1, one, NULL), TSR_ENULL, "roll: axes");
    EXPECT_FAILS(tsr_roll(&y, t, -1, one, (int[]){ 0 }), TSR_EINVAL, "roll");
    EXPECT_FAILS(tsr_roll(&y, t, 1, one, (int[]){ -3 }), TSR_EINDEX, "roll: axes -3");

    EXPECT_FAILS(tsr_pad(NULL, t, 2, one, one, TSR_PAD_EDGE, TSR_SCALAR(0)), TSR_ENULL, "pad: out");
    EXPECT_FAILS(tsr_pad(&y, NULL, 2, one, one, TSR_PAD_EDGE, TSR_SCALAR(0)), TSR_ENULL, "pad: t");
    EXPECT_FAILS(tsr_pad(&y, t, 2, NULL, one, TSR_PAD_EDGE, TSR_SCALAR(0)), TSR_ENULL, "pad: before");
    EXPECT_FAILS(tsr_pad(&y, t, 2, one, NULL, TSR_PAD_EDGE, TSR_SCALAR(0)), TSR_ENULL, "pad: after");
    EXPECT_FAILS(tsr_pad(&y, t, 1, one, one, TSR_PAD_EDGE, TSR_SCALAR(0)), TSR_ESHAPE,
                 "pad: lengths for 1 dims");
    EXPECT_FAILS(tsr_pad(&y, t, 2, minus, one, TSR_PAD_EDGE, TSR_SCALAR(0)), TSR_EINVAL, "pad: -1 before");
    EXPECT_FAILS(tsr_pad(&y, t, 2, one, huge, TSR_PAD_EDGE, TSR_SCALAR(0)), TSR_EOVERFLOW, "pad: dim 0");
    EXPECT_FAILS(tsr_pad(&y, t, 2, one, one, (tsr_pad_mode)4, TSR_SCALAR(0)), TSR_EINVAL,
                 "pad: 4 is no mode");
    EXPECT_FAILS(tsr_pad(&y, t, 2, one, one, (tsr_pad_mode)-1, TSR_SCALAR(0)), TSR_EINVAL, "no mode");
    EXPECT_FAILS(tsr_pad(&y, t, 2, one, one, TSR_PAD_CONSTANT, (tsr_scalar){ .dtype = TSR_F16 }), TSR_EDTYPE,
                 "");

    EXPECT_FAILS(tsr_tril(NULL, t, 0), TSR_ENULL, "tril: out");
    EXPECT_FAILS(tsr_tril(&y, NULL, 0), TSR_ENULL, "tril: t");
    EXPECT_FAILS(tsr_triu(&y, v, 0), TSR_ESHAPE, "triu: f32(3 | 1) holds no matrix");
    EXPECT_FAILS(tsr_triu(&y, described, 0), TSR_ESTATE, "triu");
    EXPECT_FAILS(tsr_diag(NULL, t, 0), TSR_ENULL, "diag: out");
    EXPECT_FAILS(tsr_diag(&y, NULL, 0), TSR_ENULL, "diag: t");
    EXPECT_FAILS(tsr_diag(&y, v, INT64_MIN), TSR_EOVERFLOW, "diag");
    EXPECT_FAILS(tsr_diag(&y, v, INT64_MAX), TSR_EOVERFLOW, "diag");

    tsr_tensor *outs[2] = { NULL, NULL };
    EXPECT_FAILS(tsr_meshgrid(NULL, 1, (const tsr_tensor *const[]){ v }, TSR_MESH_IJ), TSR_ENULL,
                 "meshgrid: outs");
    EXPECT_FAILS(tsr_meshgrid(outs, 1, NULL, TSR_MESH_IJ), TSR_ENULL, "meshgrid: vectors");
    EXPECT_FAILS(tsr_meshgrid(outs, 0, (const tsr_tensor *const[]){ v }, TSR_MESH_IJ), TSR_EINVAL,
                 "0 vectors");
    EXPECT_FAILS(tsr_meshgrid(outs, 17, (const tsr_tensor *const[]){ v }, TSR_MESH_IJ), TSR_EINVAL,
                 "17 vectors");
    EXPECT_FAILS(tsr_meshgrid(outs, 2, (const tsr_tensor *const[]){ v, NULL }, TSR_MESH_IJ), TSR_ENULL,
                 "vector 1");
    EXPECT_FAILS(tsr_meshgrid(outs, 2, (const tsr_tensor *const[]){ v, t }, TSR_MESH_XY), TSR_ESHAPE,
                 "vector 1 is f32(2, 3 | 3, 1)");
    EXPECT_FAILS(tsr_meshgrid(outs, 1, (const tsr_tensor *const[]){ v }, (tsr_mesh_order)2), TSR_EINVAL,
                 "no order");
    EXPECT(!y && !outs[0] && !outs[1]);

    tsr_tensor *all[] = { t, small, described, v, fixed, spread };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tsr_release(&all[i]);
}

TEST(test_padding_nothing_needs_a_constant)
{
    tsr_tensor *t = NULL, *y = NULL;
    const int64_t none[] = { 0, 0 }, two[] = { 2, 0 };
    EXPECT_OK(tsr_zeros(&t, TSR_I32, TSR_SHAPE(0, 2)));
    EXPECT_FAILS(tsr_pad(&y, t, 2, two, none, TSR_PAD_WRAP, TSR_SCALAR(5)), TSR_ESHAPE,
                 "pad: dim 0 of i32(0, 2");
    EXPECT_OK(tsr_pad(&y, t, 2, two, none, TSR_PAD_CONSTANT, TSR_SCALAR(5)));
    expect_i32(y, 4, (int32_t[]){ 5, 5, 5, 5 });
    tsr_release(&y);
    EXPECT_OK(tsr_pad(&y, t, 2, none, two, TSR_PAD_CONSTANT, TSR_SCALAR(5)));
    tsr_release(&y);
    EXPECT_OK(tsr_pad(&y, t, 2, none, none, TSR_PAD_REFLECT, TSR_SCALAR(5)));
    EXPECT(tsr_numel(y) == 0);
    tsr_release(&y);
    tsr_release(&t);
}

TEST(test_described_and_placed_results_are_filled)
{
    tsr_tensor *t = NULL, *y = NULL, place, *p = tsr_place_none(&place);
    tsr_desc d;
    EXPECT_OK(tsr_from_data(&t, TSR_I32, TSR_SHAPE(3), (int32_t[]){ 1, 2, 3 }));
    EXPECT_OK(tsr_desc_init(&d, TSR_I32, TSR_SHAPE(3), (int64_t[]){ -2 }));
    EXPECT_OK(tsr_declare(&y, &d, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT_OK(tsr_roll(&y, t, 1, (int64_t[]){ 1 }, (int[]){ 0 }));
    expect_i32(y, 3, (int32_t[]){ 3, 1, 2 });
    EXPECT_OK(tsr_repeat(&p, t, 2, 0));
    EXPECT(p == &place);
    expect_i32(p, 6, (int32_t[]){ 1, 1, 2, 2, 3, 3 });
    tsr_release(&p);
    tsr_release(&y);
    tsr_release(&t);
}

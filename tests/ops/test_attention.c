/* test_attention.c - attention by the backend's kernel and in parts: what is particular. That it is right for
 * shapes, groups, masks, strides and dtypes is for opcheck. */
#include <math.h>

#include "core/same_exp.h"
#include "ops/dispatch.h"
#include "test.h"

typedef long double wide;

static const tsr_dtype floats[] = { TSR_F8E4M3, TSR_F8E5M2, TSR_F16, TSR_BF16, TSR_F32, TSR_F64 };
enum { FLOATS = sizeof floats / sizeof *floats };

/* Elements of packed tensors. */
static double load(const tsr_tensor *t, int64_t place)
{
    tsr_scalar s;
    EXPECT_OK(tsr_scalar_load(&s, t->dtype,
                              (const char *)t->data + place * (int64_t)tsr_dtype_size(t->dtype)));
    return tsr_scalar_to_f64(s);
}

static void store(const tsr_tensor *t, int64_t place, double x)
{
    EXPECT_OK(tsr_scalar_store((char *)t->data + place * (int64_t)tsr_dtype_size(t->dtype), t->dtype,
                               TSR_SCALAR(x)));
}

/* Large ------------------------------------------------------------------------------------- */

static int64_t bytes_asked, largest_asked;

static bool count_bytes(void *context, size_t bytes)
{
    (void)context;
    bytes_asked += (int64_t)bytes;
    if ((int64_t)bytes > largest_asked) largest_asked = (int64_t)bytes;
    return true;
}

/* 4096 x 4096 scores are 64 MiB of f32. */
TEST(test_memory_grows_with_the_sequence_and_not_with_its_square)
{
    enum { LENGTH = 4096, MIB = 1 << 20 };
    tsr_tensor *q = NULL, *z[2] = { NULL };
    EXPECT_OK(tsr_set_threads(2));  /* each has scratch memory of its own */
    EXPECT_OK(tsr_randn(&q, TSR_F32, TSR_SHAPE(1, LENGTH, 4), 1));
    for (int parts = 0; parts < 2; parts++) {
        tsr_memory_stats before, after;
        tsr_memory_reset_peak();
        tsr_memory_get_stats(&before);
        bytes_asked = largest_asked = 0;
        tsr_set_alloc_hook(count_bytes, NULL);
        tsri_prefer_parts(parts);
        EXPECT_OK(tsr_attention(&z[parts], q, q, q, NULL, &(tsr_attention_options){ .causal = true }));
        tsri_prefer_parts(false);
        tsr_set_alloc_hook(NULL, NULL);
        tsr_memory_get_stats(&after);
        EXPECT_MSG(after.peak_bytes - before.live_bytes < 8 * MIB && largest_asked < 4 * MIB,
                   "peak %lld, largest %lld", (long long)(after.peak_bytes - before.live_bytes),
                   (long long)largest_asked);
        EXPECT_MSG(parts || bytes_asked < 4 * MIB, "%lld", (long long)bytes_asked);
    }
    bool close = false;
    if (z[0] && z[1])
        EXPECT_OK(tsr_allclose(&close, z[0], z[1], &(tsr_close_opts){ 1e-4, 1e-5, false }, NULL));
    EXPECT(close);
    EXPECT_OK(tsr_set_threads(0));
    tsr_release_all(&z[0], &z[1], &q);
}

/* Hard numbers -------------------------------------------------------------------------------- */

TEST(test_large_scores_do_not_overflow)
{
    for (int d = 0; d < FLOATS; d++)
        for (int parts = 0; parts < 2; parts++) {
            tsr_tensor *q = NULL, *k = NULL, *v = NULL, *z = NULL;
            EXPECT_OK(tsr_full(&q, floats[d], TSR_SHAPE(1, 1, 1), TSR_SCALAR(200)));
            EXPECT_OK(tsr_empty(&k, floats[d], TSR_SHAPE(1, 400, 1)));
            EXPECT_OK(tsr_empty(&v, floats[d], TSR_SHAPE(1, 400, 1)));
            for (int64_t j = 0; k && v && j < 400; j++) {
                store(k, j, j == 300 ? 200 : (double)(j % 7) - 100);  /* exp(40000) is infinite */
                store(v, j, j == 300 ? 3 : 100);
            }
            tsri_prefer_parts(parts);
            EXPECT_OK(tsr_attention(&z, q, k, v, NULL, NULL));
            tsri_prefer_parts(false);
            EXPECT(z && load(z, 0) == 3);
            tsr_release_all(&z, &v, &k, &q);
        }
}

TEST(test_dtypes_are_promoted)
{
    tsr_tensor *q = NULL, *k = NULL, *v = NULL, *z = NULL, *wide_q = NULL, *wide_k = NULL, *want = NULL;
    bool same = false;
    EXPECT_OK(tsr_randn(&q, TSR_F16, TSR_SHAPE(2, 3, 2), 1));
    EXPECT_OK(tsr_randn(&k, TSR_BF16, TSR_SHAPE(1, 4, 2), 2));
    EXPECT_OK(tsr_randn(&v, TSR_F32, TSR_SHAPE(1, 4, 3), 3));
    EXPECT_OK(tsr_cast(&wide_q, q, TSR_F32));
    EXPECT_OK(tsr_cast(&wide_k, k, TSR_F32));
    EXPECT_OK(tsr_attention(&z, q, k, v, NULL, NULL));
    EXPECT_OK(tsr_attention(&want, wide_q, wide_k, v, NULL, NULL));
    EXPECT_OK(tsr_equal(&same, z, want));
    EXPECT(same && z->dtype == TSR_F32);
    tsr_tensor *all[] = { q, k, v, z, wide_q, wide_k, want };
    for (int i = 0; i < 7; i++) tsr_release(&all[i]);
}

/* Even if the row itself holds NaN. */
TEST(test_rows_that_see_nothing_are_zero)
{
    for (int parts = 0; parts < 2; parts++) {
        tsr_tensor *q = NULL, *k = NULL, *z = NULL, *mask[2] = { NULL };
        EXPECT_OK(tsr_randn(&q, TSR_F32, TSR_SHAPE(2, 70, 3), 9));
        EXPECT_OK(tsr_randn(&k, TSR_F32, TSR_SHAPE(2, 5, 3), 10));
        EXPECT_OK(tsr_zeros(&mask[0], TSR_BOOL, TSR_SHAPE(1, 1)));
        EXPECT_OK(tsr_full(&mask[1], TSR_F16, TSR_SHAPE(5), TSR_SCALAR(-INFINITY)));
        store(q, 0, (double)NAN);
        tsri_prefer_parts(parts);
        EXPECT_OK(tsr_attention(&z, q, k, k, NULL, &(tsr_attention_options){ .causal = true }));
        for (int64_t i = 0; i < 65 * 3; i++) EXPECT(load(z, i) == 0);
        for (int64_t i = 65 * 3; i < 70 * 3; i++) EXPECT(load(z, i) != 0);
        for (int m = 0; m < 2; m++) {
            EXPECT_OK(tsr_attention(&z, q, k, k, mask[m], NULL));
            for (int64_t i = 0; i < tsr_numel(z); i++) EXPECT(load(z, i) == 0);
        }
        tsri_prefer_parts(false);
        tsr_tensor *all[] = { q, k, z, mask[0], mask[1] };
        for (int i = 0; i < 5; i++) tsr_release(&all[i]);
    }
}

/* Keys that no row sees may hold anything: the result is as with zeros there. */
TEST(test_what_may_not_be_seen_may_be_nan)
{
    enum { KEYS = 300, SEEN = 140, D = 5, E = 7 };
    static const double wild[] = { (double)NAN, (double)INFINITY, -(double)INFINITY };
    for (int i = 0; i < 8; i++) {
        const tsr_dtype dtype = i & 4 ? TSR_F64 : TSR_F32;
        tsr_tensor *q = NULL, *k = NULL, *v = NULL, *mask = NULL, *z[2] = { NULL };
        bool same = false;
        EXPECT_OK(tsr_randn(&q, dtype, TSR_SHAPE(2, 9, D), 11));
        EXPECT_OK(tsr_randn(&k, dtype, TSR_SHAPE(1, KEYS, D), 12));
        EXPECT_OK(tsr_randn(&v, dtype, TSR_SHAPE(1, KEYS, E), 13));
        EXPECT_OK(tsr_zeros(&mask, i & 1 ? TSR_F32 : TSR_BOOL, TSR_SHAPE(KEYS)));
        for (int64_t j = 0; j < KEYS; j++)
            store(mask, j, !(i & 1) ? j < SEEN : j < SEEN ? 0.25 : -(double)INFINITY);
        tsri_prefer_parts(i & 2);
        for (int hidden = 0; hidden < 2; hidden++) {
            for (int64_t j = SEEN; j < KEYS; j++) {
                for (int64_t p = 0; p < D; p++) store(k, j * D + p, hidden ? wild[(j + p) % 3] : 0);
                for (int64_t p = 0; p < E; p++) store(v, j * E + p, hidden ? wild[(j + p) % 3] : 0);
            }
            EXPECT_OK(tsr_attention(&z[hidden], q, k, v, mask, NULL));
        }
        tsri_prefer_parts(false);
        EXPECT_OK(tsr_allclose(&same, z[0], z[1], &(tsr_close_opts){ 1e-6, 1e-6, false }, NULL));
        EXPECT(same && isfinite(load(z[0], 0)));
        tsr_tensor *all[] = { q, k, v, mask, z[0], z[1] };
        for (int a = 0; a < 6; a++) tsr_release(&all[a]);
    }
}

/* A NaN in q reaches its row, one in key j or value j the rows from j on, and there only its column. */
TEST(test_nan_that_is_seen_comes_through)
{
    enum { N = 70, D = 5 };
    for (int i = 0; i < 3 * FLOATS * 2; i++) {
        const int which = i % 3, at = 3 + i;
        tsr_tensor *t[3] = { NULL }, *z = NULL;
        for (int k = 0; k < 3; k++) EXPECT_OK(tsr_ones(&t[k], floats[i / 3 % FLOATS], TSR_SHAPE(1, N, D)));
        store(t[which], at * D + 2, (double)NAN);
        tsri_prefer_parts(i >= 3 * FLOATS);
        EXPECT_OK(tsr_attention(&z, t[0], t[1], t[2], NULL, &(tsr_attention_options){ .causal = true }));
        tsri_prefer_parts(false);
        for (int64_t k = 0; k < N * D; k++) {
            const int64_t row = k / D;
            const bool seen = which == 0 ? row == at : row >= at && (which == 1 || k % D == 2);
            EXPECT_MSG(seen ? isnan(load(z, k)) : load(z, k) == 1, "NaN in %d, element %d", which, (int)k);
        }
        for (int k = 0; k < 3; k++) tsr_release(&t[k]);
        tsr_release(&z);
    }
}

/* The exponential that weights are made with. */
TEST(test_exponentials_are_right_to_their_last_digits)
{
    for (int i = 0; i <= 100000; i++) {
        const float f = -87.3f * (float)i / 100000;
        const double d = -708.0 * i / 100000;
        EXPECT(fabsl((wide)tsri_exp_f32(f) - expl((wide)f)) <= 1.2e-7L * expl((wide)f));
        EXPECT(fabsl((wide)tsri_exp_f64(d) - expl((wide)d)) <= 3e-16L * expl((wide)d));
    }
    EXPECT(tsri_exp_f32(0) == 1 && tsri_exp_f32(-88) == 0 && tsri_exp_f32(-INFINITY) == 0 &&
           isnan(tsri_exp_f32(NAN)));
    EXPECT(tsri_exp_f64(0) == 1 && tsri_exp_f64(-709) == 0 && tsri_exp_f64(-INFINITY) == 0 &&
           isnan(tsri_exp_f64(NAN)));
}

/* The one that kernels of this machine have: of two keys with scores 0 and -x, the second weighs
 * e^-x / (1 + e^-x). */
TEST(test_attention_weights_are_right_to_their_last_digits)
{
    enum { N = 20000 };
    static const struct { tsr_dtype dtype; double most; wide error; } all[] = {
        { TSR_F32, 87, 4.5e-7L }, { TSR_F64, 700, 1.2e-15L },
    };
    for (size_t d = 0; d < sizeof all / sizeof *all; d++) {
        tsr_tensor *q = NULL, *k = NULL, *v = NULL, *z = NULL;
        EXPECT_OK(tsr_ones(&q, all[d].dtype, TSR_SHAPE(N, 1, 1, 1)));
        EXPECT_OK(tsr_zeros(&k, all[d].dtype, TSR_SHAPE(N, 1, 2, 1)));
        EXPECT_OK(tsr_zeros(&v, all[d].dtype, TSR_SHAPE(N, 1, 2, 1)));
        for (int64_t i = 0; i < N; i++) {
            store(k, 2 * i + 1, -all[d].most * (double)(i * i) / ((double)N * N)); /* most are small */
            store(v, 2 * i + 1, 1);
        }
        EXPECT_OK(tsr_attention(&z, q, k, v, NULL, NULL));
        for (int64_t i = 0; z && i < N; i++) {
            const wide e = expl((wide)load(k, 2 * i + 1)), wanted = e / (1 + e);
            EXPECT_MSG(fabsl((wide)load(z, i) - wanted) <= all[d].error * wanted, "%s: e^%g",
                       tsr_dtype_name(all[d].dtype), load(k, 2 * i + 1));
        }
        tsr_release_all(&q, &k, &v, &z);
    }
}

/* Bad input ---------------------------------------------------------------------------------------- */

TEST(test_bad_arguments_are_refused_in_words)
{
    tsr_tensor *q = NULL, *k = NULL, *v = NULL, *z = NULL, *i = NULL, *mask = NULL, *flat = NULL,
               *other = NULL;
    const tsr_attention_options endless = { INFINITY, false };
    EXPECT_OK(tsr_zeros(&q, TSR_F32, TSR_SHAPE(2, 4, 3, 5)));
    EXPECT_OK(tsr_zeros(&k, TSR_F32, TSR_SHAPE(2, 2, 6, 5)));
    EXPECT_OK(tsr_zeros(&v, TSR_F32, TSR_SHAPE(2, 2, 6, 7)));
    EXPECT_OK(tsr_zeros(&i, TSR_I32, TSR_SHAPE(2, 2, 6, 5)));
    EXPECT_OK(tsr_zeros(&mask, TSR_BOOL, TSR_SHAPE(3, 5)));
    EXPECT_OK(tsr_zeros(&flat, TSR_F32, TSR_SHAPE(3, 5)));
    EXPECT_FAILS(tsr_attention(&z, NULL, k, v, NULL, NULL), TSR_ENULL, "attention: q is NULL");
    EXPECT_FAILS(tsr_attention(&z, q, NULL, v, NULL, NULL), TSR_ENULL, "attention: k is NULL");
    EXPECT_FAILS(tsr_attention(&z, q, k, NULL, NULL, NULL), TSR_ENULL, "attention: v is NULL");
    EXPECT_FAILS(tsr_attention(&z, q, k, v, NULL, &endless), TSR_EINVAL, "scale is inf");
    EXPECT_FAILS(tsr_attention(&z, q, i, v, NULL, NULL), TSR_EDTYPE, "i32");
    EXPECT_FAILS(tsr_attention(&z, i, i, i, NULL, NULL), TSR_EDTYPE, "attention: q");
    EXPECT_FAILS(tsr_attention(&z, q, k, v, i, NULL), TSR_EDTYPE, "mask");
    EXPECT_FAILS(tsr_attention(&z, q, k, v, mask, NULL), TSR_ESHAPE, "does not broadcast to (2, 4, 3, 6)");
    EXPECT_FAILS(tsr_attention(&z, flat, k, v, NULL, NULL), TSR_ESHAPE, "attention: q");
    EXPECT_FAILS(tsr_attention(&z, q, v, v, NULL, NULL), TSR_ESHAPE, "d is 5");
    EXPECT_FAILS(tsr_attention(&z, k, q, q, NULL, NULL), TSR_ESHAPE, "2 heads do not divide into 4");
    EXPECT_OK(tsr_zeros(&other, TSR_F32, TSR_SHAPE(2, 3, 6, 5)));
    EXPECT_FAILS(tsr_attention(&z, q, other, other, NULL, NULL), TSR_ESHAPE, "4 heads do not divide into 3");
    tsr_release(&other);
    EXPECT_OK(tsr_zeros(&other, TSR_F32, TSR_SHAPE(3, 2, 6, 5)));
    EXPECT_FAILS(tsr_attention(&z, q, other, other, NULL, NULL), TSR_ESHAPE, "differ in the dims (...)");
    EXPECT_FAILS(tsr_attention(&z, q, k, other, NULL, NULL), TSR_ESHAPE, "v is f32(3, 2, 6, 5");
    EXPECT_FAILS(tsr_attention(&q, q, k, v, NULL, NULL), TSR_ESHAPE,
                 "attention: the result is f32(2, 4, 3, 7");
    EXPECT_FAILS(tsr_attention(&i, q, k, v, NULL, NULL), TSR_EDTYPE, "attention: the result is f32");
    EXPECT(z == NULL);
    tsr_release_all(&other, &flat, &mask, &i, &v, &k, &q);
}

TEST(test_bad_arguments_of_self_attention_are_refused_in_words)
{
    tsr_tensor *q = NULL, *k = NULL, *z = NULL, *flat = NULL;
    EXPECT_OK(tsr_zeros(&q, TSR_F32, TSR_SHAPE(3, 4, 5)));
    EXPECT_OK(tsr_zeros(&k, TSR_F32, TSR_SHAPE(6, 3, 5)));
    EXPECT_OK(tsr_zeros(&flat, TSR_F32, TSR_SHAPE(3, 5)));
    EXPECT_FAILS(tsr_self_attention(&z, NULL, q, q, 0), TSR_ENULL, "self_attention: q is NULL");
    EXPECT_FAILS(tsr_self_attention(&z, q, NULL, q, 0), TSR_ENULL, "self_attention: k is NULL");
    EXPECT_FAILS(tsr_self_attention(&z, q, q, NULL, 0), TSR_ENULL, "self_attention: v is NULL");
    EXPECT_FAILS(tsr_self_attention(&z, q, q, q, NAN), TSR_EINVAL, "scale is nan");
    EXPECT_FAILS(tsr_self_attention(&z, flat, q, q, 0), TSR_ESHAPE, "self_attention: q");
    EXPECT_FAILS(tsr_self_attention(&z, q, k, k, 0), TSR_ESHAPE, "4 heads do not divide into 3");
    EXPECT_FAILS(tsr_self_attention(&k, q, q, q, 0), TSR_ESHAPE, "self_attention: the result is f32(3, 4, 5");
    EXPECT(z == NULL);
    tsr_release_all(&flat, &k, &q);
}

TEST(test_bad_arguments_of_a_layer_are_refused_in_words)
{
    tsr_tensor *x = NULL, *w = NULL, *narrow = NULL, *vector = NULL, *z = NULL, *mask = NULL;
    EXPECT_OK(tsr_zeros(&x, TSR_F32, TSR_SHAPE(2, 3, 6)));
    EXPECT_OK(tsr_zeros(&w, TSR_F32, TSR_SHAPE(6, 6)));
    EXPECT_OK(tsr_zeros(&narrow, TSR_F32, TSR_SHAPE(5, 6)));
    EXPECT_OK(tsr_zeros(&vector, TSR_F32, TSR_SHAPE(6)));
    EXPECT_OK(tsr_zeros(&mask, TSR_BOOL, TSR_SHAPE(4, 4)));
    const tsr_attention_weights good = { w, w, w, w, NULL, NULL, NULL, NULL };
    tsr_attention_weights bad = good;
    EXPECT_FAILS(tsr_multi_head_attention(NULL, x, &good, 2, NULL, NULL), TSR_ENULL,
                 "multi_head_attention: out is NULL");
    EXPECT_FAILS(tsr_multi_head_attention(&z, NULL, &good, 2, NULL, NULL), TSR_ENULL,
                 "multi_head_attention: x is NULL");
    EXPECT_FAILS(tsr_multi_head_attention(&z, x, NULL, 2, NULL, NULL), TSR_ENULL, "weights is NULL");
    EXPECT_FAILS(tsr_multi_head_attention(&z, x, &good, 0, NULL, NULL), TSR_EINVAL, "heads is 0");
    EXPECT_FAILS(tsr_multi_head_attention(&z, x, &good, 4, NULL, NULL), TSR_ESHAPE,
                 "whose rows are not 4 heads");
    EXPECT_FAILS(tsr_multi_head_attention(&z, vector, &good, 2, NULL, NULL), TSR_ESHAPE, "x is f32(6");
    EXPECT_FAILS(tsr_multi_head_attention(&z, x, &good, 2, mask, NULL), TSR_ESHAPE, "does not broadcast");
    bad.v = NULL;
    EXPECT_FAILS(tsr_multi_head_attention(&z, x, &bad, 2, NULL, NULL), TSR_ENULL, "weights.v is NULL");
    bad = good;
    bad.k = narrow;
    EXPECT_FAILS(tsr_multi_head_attention(&z, x, &bad, 2, NULL, NULL), TSR_ESHAPE, "weights.k is f32(5, 6");
    bad = good;
    bad.v = narrow;
    EXPECT_FAILS(tsr_multi_head_attention(&z, x, &bad, 2, NULL, NULL), TSR_ESHAPE, "weights.v is f32(5, 6");
    bad = good;
    bad.out = vector;
    EXPECT_FAILS(tsr_multi_head_attention(&z, x, &bad, 2, NULL, NULL), TSR_ESHAPE, "weights.out is f32(6");
    bad = good;
    bad.q_bias = narrow;
    EXPECT_STATUS(tsr_multi_head_attention(&z, x, &bad, 2, NULL, NULL), TSR_ESHAPE);
    EXPECT(z == NULL);
    tsr_release_all(&mask, &vector, &narrow, &w, &x);
}

/* Memory --------------------------------------------------------------------------------------------- */

/* Operands that do not fit their strides are rare; what does not fit any memory is told. */
TEST(test_a_block_that_no_memory_holds_is_refused)
{
    tsr_tensor *one = NULL, *q = NULL, *v = NULL, *z = NULL;
    EXPECT_OK(tsr_ones(&one, TSR_F32, TSR_SHAPE(1, 1, 1)));
    EXPECT_OK(tsr_expand(&q, one, TSR_SHAPE(1, 1, INT64_MAX / 8)));
    EXPECT_OK(tsr_expand(&v, one, TSR_SHAPE(1, 1, 2)));
    EXPECT_FAILS(tsr_attention(&z, q, q, v, NULL, NULL), TSR_ENOMEM, "attention: no memory");
    EXPECT(z == NULL);
    tsr_release_all(&v, &q, &one);
}

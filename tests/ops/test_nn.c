/* test_nn.c - what networks' ops promise beside their results: infinities, losses of nothing, hard numbers,
 * long lanes, refusals and their words. The results are checked by tests/net (opcheck/check_nn.c,
 * check_norm.c, check_loss.c), with the backend's kernels and with parts.
 */
#include <math.h>

#include "ops/dispatch.h"
#include "opcheck/trial.h"
#include "test.h"

/* Numbers between -4 and 4 that share nothing with the library's generator. */
static void fill_tensor(tsr_tensor *t)
{
    uint64_t state = 7;
    for (int64_t i = 0; i < tsr_numel(t); i++) {
        const double v = (double)(int64_t)test_next(&state) * 0x1p-61;
        const value x =
            is_float(t->dtype) ? real_value(v) : integer_value(t->dtype, (uint64_t)test_below(&state, 4));
        write_value(t->dtype, element(t, i), x);
    }
}

static tsr_tensor *filled(tsr_dtype dtype, int ndim, const int64_t *shape)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_empty(&t, dtype, ndim, shape));
    if (t) fill_tensor(t);
    return t;
}

/* Lanes that do not stay in a cache are worked on in parts, of which some have nothing to add. */
TEST(test_long_lanes_may_begin_or_end_with_anything)
{
    enum { N = 5000, LANES = 32 };
    for (int log = 0; log < 2; log++) {
        tsr_tensor *x = filled(TSR_F32, 2, (const int64_t[]){ N, LANES }), *rows = NULL, *z = NULL,
                   *want = NULL;
        float *v = x->data;
        const float least = log ? 3e-7f : 3e-45f;
        for (int64_t i = 0; i < N; i++) {
            if (i < 2000) v[i * LANES] = -INFINITY;
            if (i > 100) v[i * LANES + 1] = -INFINITY;
            v[i * LANES + 2] = -INFINITY;
            v[i * LANES + 3] += (float)i;  /* every part has a new largest */
            v[i * LANES + 4] -= (float)i;
        }
        v[(N - 1) * LANES + 5] = NAN;
        v[(N - 1) * LANES + 6] = INFINITY;
        v[7] = INFINITY;
        EXPECT_OK(tsr_transpose(&rows, x, 0, 1));
        EXPECT_OK(tsr_rearrange(&rows, rows));
        EXPECT_OK(log ? tsr_log_softmax(&z, x, 0) : tsr_softmax(&z, x, 0));
        EXPECT_OK(log ? tsr_log_softmax(&want, rows, 1) : tsr_softmax(&want, rows, 1));
        for (int64_t l = 0; l < LANES; l++)
            for (int64_t i = 0; i < N; i++) {
                const float got = ((float *)z->data)[i * LANES + l], w = ((float *)want->data)[l * N + i];
                EXPECT_MSG(got == w || (isnan(got) && isnan(w)) || fabsf(got - w) <= 3e-7f * fabsf(w) + least,
                           "lane %d, %d: %g, not %g", (int)l, (int)i, (double)got, (double)w);
            }
        tsr_release_all(&x, &rows, &z, &want);
    }
}

/* One call of each op on the same operands, for tests of threads and of memory. */
typedef struct kit {
    tsr_tensor *x, *channels, *last, *target, *heads, *positions, *table;
} kit;

static bool open_kit(kit *k, tsr_dtype dtype, int64_t n, int64_t c, int64_t l)
{
    k->x = filled(dtype, 3, (const int64_t[]){ n, c, l });
    k->channels = filled(TSR_F32, 1, &c);
    k->last = filled(TSR_F32, 1, &l);
    k->target = filled(TSR_I32, 2, (const int64_t[]){ n, l });
    k->heads = NULL;
    EXPECT_OK(tsr_view(&k->heads, k->x, TSR_SHAPE(n, c, l)));
    k->positions = filled(TSR_I64, 1, &n);
    k->table = filled(TSR_F32, 2, (const int64_t[]){ 5, l / 2 });
    return k->x && k->channels && k->last && k->target && k->heads && k->positions && k->table;
}

static void close_kit(kit *k)
{
    tsr_release_all(&k->x, &k->channels, &k->last, &k->target, &k->heads, &k->positions, &k->table);
}

enum { CALLS = 24 };

/* Which elements go does not depend on how they lie, or on their dtype. */
TEST(test_dropout_depends_on_seed_and_index_alone)
{
    tsr_tensor *ones = NULL, *z = NULL, *transposed = NULL, *column = NULL, *same = NULL;
    int64_t kept = 0;
    EXPECT_OK(tsr_ones(&ones, TSR_F32, TSR_SHAPE(300, 1001)));
    EXPECT_OK(tsr_dropout(&z, ones, 0.3, 42));
    for (int64_t i = 0; z && i < 300300; i++) {
        const float v = ((const float *)z->data)[i];
        EXPECT(v == 0 || v == (float)(1 / (1 - 0.3)));
        kept += v != 0;
    }
    EXPECT_MSG(llabs(kept - 210210) < 5 * 251, "%lld kept", (long long)kept);  /* five deviations */
    EXPECT_OK(tsr_ones(&column, TSR_BF16, TSR_SHAPE(1001, 300)));
    EXPECT_OK(tsr_transpose(&transposed, column, 0, 1));
    EXPECT_OK(tsr_dropout(&transposed, transposed, 0.3, 42));
    for (int64_t i = 0; i < 300 * 1001; i++)
        EXPECT((value_at(transposed, i).re != 0) == (value_at(z, i).re != 0));
    EXPECT_OK(tsr_dropout(&same, ones, 0.3, 43));
    EXPECT(memcmp(same->data, z->data, (size_t)tsr_byte_size(z)));
    tsr_release_all(&same, &ones, &z, &transposed, &column);
}

/* An element goes exactly where its number is below p, however close. */
TEST(test_dropout_compares_numbers_exactly)
{
    for (int parts = 0; parts < 2; parts++)
        for (uint64_t seed = 1; seed < 20; seed++) {
            tsr_tensor *x = NULL, *at = NULL, *above = NULL, *numbers = NULL;
            EXPECT_OK(tsr_uniform(&numbers, TSR_F32, TSR_SHAPE(2), 0, 1, seed));
            const double u = value_at(numbers, 1).re;
            tsr_release(&numbers);
            EXPECT_OK(tsr_ones(&x, TSR_F64, TSR_SHAPE(2)));
            tsri_prefer_parts(parts);
            EXPECT_OK(tsr_dropout(&at, x, u, seed));
            EXPECT_OK(tsr_dropout(&above, x, u + 0x1p-30, seed));
            tsri_prefer_parts(false);
            EXPECT(at && ((const double *)at->data)[1] != 0);
            EXPECT(above && ((const double *)above->data)[1] == 0);
            tsr_release_all(&x, &at, &above);
        }
}

/* Hard numbers ---------------------------------------------------------------------------------- */

TEST(test_norms_do_not_cancel_under_a_large_mean)
{
    for (int parts = 0; parts < 2; parts++) {
        tsr_tensor *x = NULL, *z = NULL;
        EXPECT_OK(tsr_empty(&x, TSR_F32, TSR_SHAPE(2, 4000)));
        if (!x) return;
        for (int i = 0; i < 8000; i++) ((float *)x->data)[i] = 1e7f + (float)(i % 4);
        tsri_prefer_parts(parts);
        EXPECT_OK(tsr_layer_norm(&z, x, 1, NULL, NULL, 0));
        tsri_prefer_parts(false);
        for (int i = 0; z && i < 8000; i++) {
            const double want = (i % 4 - 1.5) / sqrt(1.25);
            EXPECT(fabs((double)((float *)z->data)[i] - want) < 1e-6);
        }
        tsr_release_all(&x, &z);
    }
}

TEST(test_norms_of_large_numbers_do_not_overflow)
{
    for (int parts = 0; parts < 2; parts++) {
        tsr_tensor *x = NULL, *z = NULL;
        EXPECT_OK(tsr_full(&x, TSR_F32, TSR_SHAPE(3, 9), TSR_SCALAR(-1e30)));
        tsri_prefer_parts(parts);
        EXPECT_OK(tsr_rms_norm(&z, x, NULL, 1e-5));
        tsri_prefer_parts(false);
        for (int i = 0; z && i < 27; i++) EXPECT(fabs((double)((float *)z->data)[i] + 1) < 1e-6);
        tsr_release_all(&x, &z);
    }
}

/* Weights and biases that are infinite, NaN or 0 of either sign give what multiplying and adding gives. */
TEST(test_norms_with_hard_weights)
{
    enum { N = 41 };
    static const float hard[] = { INFINITY, -INFINITY, NAN, 0.0f, -0.0f, 1e38f, -1e-40f, 1 };
    for (int at = 0; at < 64; at++) {
        tsr_tensor *x = NULL, *w = NULL, *b = NULL, *z = NULL;
        EXPECT_OK(tsr_empty(&x, TSR_F32, TSR_SHAPE(2, N)));
        EXPECT_OK(tsr_empty(&w, TSR_F32, TSR_SHAPE(N)));
        EXPECT_OK(tsr_empty(&b, TSR_F32, TSR_SHAPE(N)));
        if (!x || !w || !b) return;
        for (int i = 0; i < 2 * N; i++)
            ((float *)x->data)[i] = i % 5 == 0 ? -0.0f : i % 7 == 0 ? 0.0f : (float)sin(i);
        for (int i = 0; i < N; i++) {
            ((float *)w->data)[i] = hard[(i + at) % 8];
            ((float *)b->data)[i] = hard[(i + at / 8) % 8];
        }
        for (int biased = 0; biased < 2; biased++) {
            EXPECT_OK(biased ? tsr_layer_norm(&z, x, 1, w, b, 1e-5) : tsr_rms_norm(&z, x, w, 1e-5));
            for (int r = 0; z && r < 2; r++) {
                const float *row = (const float *)x->data + r * N;
                double mean = 0, squares = 0;
                for (int i = 0; i < N && biased; i++) mean += (double)row[i] / N;
                for (int i = 0; i < N; i++) squares += ((double)row[i] - mean) * ((double)row[i] - mean) / N;
                for (int i = 0; i < N; i++) {
                    const double y = ((double)row[i] - mean) / sqrt(squares + 1e-5);
                    const double add = biased ? (double)((float *)b->data)[i] : 0,
                                 by = (double)((float *)w->data)[i];
                    const float want = (float)(biased ? y * by + add : y * by),
                                got = ((float *)z->data)[r * N + i];
                    const double unit = 0x1p-22 * (fabs(y * by) + fabs(add)) + 0x1p-140 * (1 + fabs(by));
                    if (isnan(want)) EXPECT(isnan(got));
                    else if (isinf(want)) EXPECT(got == want);
                    else EXPECT(fabs((double)got - (double)want) <= unit);
                }
            }
        }
        tsr_release_all(&x, &w, &b, &z);
    }
}

static tsr_tensor *vector_of(tsr_dtype dtype, int n, const double *values)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_empty(&t, dtype, TSR_SHAPE(n)));
    for (int i = 0; t && i < n; i++)
        write_value(dtype, element(t, i), real_value(values[i]));
    return t;
}

static void expect_values(const tsr_tensor *t, int n, const double *want)
{
    for (int i = 0; t && i < n; i++) {
        const double got = value_at(t, i).re;
        EXPECT_MSG(got == want[i] || (isnan(got) && isnan(want[i])) || fabs(got - want[i]) < 1e-6,
                   "%g, not %g", got, want[i]);
    }
}

TEST(test_softmax_of_infinities_is_as_documented)
{
    static const struct { double x[3], soft[3], log[3]; } rows[] = {
        { { 0, -INFINITY, 0 }, { 0.5, 0, 0.5 }, { -0.69314718, -INFINITY, -0.69314718 } },
        { { -INFINITY, -INFINITY, -INFINITY }, { NAN, NAN, NAN }, { NAN, NAN, NAN } },
        { { 1, NAN, 2 }, { NAN, NAN, NAN }, { NAN, NAN, NAN } },
        { { 1, INFINITY, 2 }, { NAN, NAN, NAN }, { NAN, NAN, NAN } },
        { { 1000, -1000, 1000 }, { 0.5, 0, 0.5 }, { -0.69314718, -2000.69314718, -0.69314718 } },
        { { -5000, -5000, -INFINITY }, { 0.5, 0.5, 0 }, { -0.69314718, -0.69314718, -INFINITY } },
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int parts = 0; parts < 2; parts++)
            for (int d = 0; d < 2; d++) {
                tsr_tensor *x = vector_of(d ? TSR_F64 : TSR_F32, 3, rows[r].x), *z = NULL;
                tsri_prefer_parts(parts);
                EXPECT_OK(tsr_log_softmax(&z, x, 0));
                if (d) expect_values(z, 3, rows[r].log);
                else   EXPECT(z && z->dtype == TSR_F32);
                EXPECT_OK(tsr_softmax(&x, x, 0));
                expect_values(x, 3, rows[r].soft);
                tsri_prefer_parts(false);
                tsr_release_all(&x, &z);
            }
}

TEST(test_causal_rows_that_see_nothing_are_zero)
{
    for (int parts = 0; parts < 2; parts++) {
        tsr_tensor *x = NULL;
        EXPECT_OK(tsr_full(&x, TSR_F32, TSR_SHAPE(4, 2), TSR_SCALAR(NAN)));
        if (!x) return;
        for (int i = 4; i < 8; i++) ((float *)x->data)[i] = 1;
        ((float *)x->data)[5] = NAN;  /* row 2 sees column 0 only */
        tsri_prefer_parts(parts);
        EXPECT_OK(tsr_causal_softmax(&x, x));
        tsri_prefer_parts(false);
        expect_values(x, 8, (const double[]){ 0, 0, 0, 0, 1, 0, 0.5, 0.5 });
        tsr_release(&x);
    }
}

TEST(test_losses_of_nothing)
{
    tsr_tensor *x = NULL, *target = NULL, *z = NULL;
    for (int parts = 0; parts < 2; parts++) {
        tsri_prefer_parts(parts);
        EXPECT_OK(tsr_zeros(&x, TSR_F32, TSR_SHAPE(0, 3)));
        EXPECT_OK(tsr_zeros(&target, TSR_I64, TSR_SHAPE(0)));
        EXPECT_OK(tsr_cross_entropy(&z, x, target, NULL, TSR_REDUCTION_MEAN, -1, 0));
        expect_values(z, 1, (const double[]){ NAN });
        EXPECT_OK(tsr_cross_entropy(&z, x, target, NULL, TSR_REDUCTION_SUM, -1, 0));
        expect_values(z, 1, (const double[]){ 0 });
        tsr_release(&z);
        EXPECT_OK(tsr_cross_entropy(&z, x, target, NULL, TSR_REDUCTION_NONE, -1, 0));
        EXPECT(z && tsr_numel(z) == 0);
        tsr_release(&z);
        EXPECT_OK(tsr_mse_loss(&z, x, x, TSR_REDUCTION_MEAN));
        expect_values(z, 1, (const double[]){ NAN });
        tsr_release_all(&x, &target);
        EXPECT_OK(tsr_zeros(&x, TSR_F32, TSR_SHAPE(2, 3)));
        EXPECT_OK(tsr_full(&target, TSR_I64, TSR_SHAPE(2), TSR_SCALAR(-100)));
        EXPECT_OK(tsr_cross_entropy(&z, x, target, NULL, TSR_REDUCTION_MEAN, -100, 0));  /* all are ignored */
        expect_values(z, 1, (const double[]){ NAN });
        tsr_release_all(&x, &target, &z);
        tsri_prefer_parts(false);
    }
}

/* Bad input --------------------------------------------------------------------------------------- */

TEST(test_bad_arguments_are_refused_in_words)
{
    kit k;
    tsr_tensor *z = NULL, *sum = NULL, *ints = NULL, *none = NULL, *three = NULL;
    if (!open_kit(&k, TSR_F32, 2, 4, 6)) return;
    EXPECT_OK(tsr_zeros(&ints, TSR_I32, TSR_SHAPE(2, 4, 6)));
    EXPECT_OK(tsr_zeros(&three, TSR_F32, TSR_SHAPE(3)));
    EXPECT_FAILS(tsr_softmax(&z, none, 0), TSR_ENULL, "softmax: x");
    EXPECT_FAILS(tsr_softmax(&z, k.x, 3), TSR_EINDEX, "softmax: axis 3 of f32(2, 4, 6");
    EXPECT_FAILS(tsr_softmax(&z, ints, 0), TSR_EDTYPE, "softmax: x");
    EXPECT_FAILS(tsr_softmax(&three, k.x, 0), TSR_ESHAPE, "softmax: the result is f32(2, 4, 6");
    EXPECT_FAILS(tsr_log_softmax(&z, k.x, -4), TSR_EINDEX, "log_softmax: axis -4");
    EXPECT_FAILS(tsr_causal_softmax(&z, k.last), TSR_ESHAPE, "causal_softmax: x");
    EXPECT_FAILS(tsr_layer_norm(&z, k.x, 0, NULL, NULL, 1e-5), TSR_EINVAL, "layer_norm: ndims is 0");
    EXPECT_FAILS(tsr_layer_norm(&z, k.x, 4, NULL, NULL, 1e-5), TSR_EINVAL, "layer_norm: ndims is 4");
    EXPECT_FAILS(tsr_layer_norm(&z, k.x, 1, k.channels, NULL, 1e-5), TSR_ESHAPE,
                 "layer_norm: weight is f32(4");
    EXPECT_FAILS(tsr_layer_norm(&z, k.x, 2, NULL, k.last, 1e-5), TSR_ESHAPE, "the last 2 dims of x");
    EXPECT_FAILS(tsr_layer_norm(&z, k.x, 1, NULL, NULL, -1), TSR_EINVAL, "layer_norm: eps is -1");
    EXPECT_FAILS(tsr_rms_norm(&z, k.x, k.channels, 0), TSR_ESHAPE, "rms_norm: weight");
    EXPECT_FAILS(tsr_rms_norm(&z, k.x, NULL, NAN), TSR_EINVAL, "rms_norm: eps");
    EXPECT_FAILS(tsr_rms_norm(&z, k.x, ints, 0), TSR_EDTYPE, "rms_norm: weight");
    EXPECT_FAILS(tsr_add_rms_norm(&z, &z, k.x, k.heads, NULL, 0), TSR_EINVAL,
                 "add_rms_norm: sum_out and out are the same handle");
    EXPECT_FAILS(tsr_add_rms_norm(&z, &sum, k.x, NULL, NULL, 0), TSR_ENULL, "add_rms_norm: residual");
    EXPECT_FAILS(tsr_add_rms_norm(&z, &sum, k.x, k.last, NULL, 0), TSR_ESHAPE, "add_rms_norm");
    EXPECT_FAILS(tsr_add_rms_norm(&z, &sum, k.x, k.heads, NULL, INFINITY), TSR_EINVAL, "add_rms_norm: eps");
    EXPECT_FAILS(tsr_add_rms_norm(&k.x, &k.heads, k.x, k.heads, NULL, 0), TSR_EOVERLAP, "overlap each other");
    EXPECT_FAILS(tsr_batch_norm(&z, k.x, NULL, k.channels, NULL, NULL, 1), TSR_ENULL, "batch_norm: mean");
    EXPECT_FAILS(tsr_batch_norm(&z, k.x, k.channels, NULL, NULL, NULL, 1), TSR_ENULL, "batch_norm: var");
    EXPECT_FAILS(tsr_batch_norm(&z, k.x, k.last, k.last, NULL, NULL, 1), TSR_ESHAPE, "batch_norm: mean");
    EXPECT_FAILS(tsr_batch_norm(&z, k.x, k.channels, k.channels, k.last, NULL, 1), TSR_ESHAPE,
                 "batch_norm: weight");
    EXPECT_FAILS(tsr_batch_norm(&z, k.x, k.channels, k.channels, NULL, NULL, -1), TSR_EINVAL,
                 "batch_norm: eps");
    EXPECT_FAILS(tsr_batch_norm(&z, k.last, k.channels, k.channels, NULL, NULL, 1), TSR_ESHAPE,
                 "batch_norm: x");
    EXPECT_FAILS(tsr_group_norm(&z, k.x, 3, NULL, NULL, 1), TSR_EINVAL, "group_norm: 3 groups do not divide");
    EXPECT_FAILS(tsr_group_norm(&z, k.x, 0, NULL, NULL, 1), TSR_EINVAL, "group_norm: 0 groups");
    EXPECT_FAILS(tsr_group_norm(&z, k.x, 2, k.last, NULL, 1), TSR_ESHAPE, "group_norm: weight");
    EXPECT_FAILS(tsr_instance_norm(&z, k.last, NULL, NULL, 1), TSR_ESHAPE, "instance_norm: x");
    EXPECT_FAILS(tsr_instance_norm(&z, k.x, NULL, NULL, -2), TSR_EINVAL, "instance_norm: eps is -2");
    EXPECT_FAILS(tsr_rope(&z, k.x, k.positions, 0, TSR_ROPE_HALVES), TSR_EINVAL, "rope: theta is 0");
    EXPECT_FAILS(tsr_rope(&z, k.x, k.positions, 1e4, (tsr_rope_mode)2), TSR_EINVAL, "rope: 2 is no mode");
    EXPECT_FAILS(tsr_rope(&z, k.x, k.last, 1e4, TSR_ROPE_HALVES), TSR_EDTYPE,
                 "rope: positions: dtype must be integer");
    EXPECT_FAILS(tsr_rope(&z, k.x, k.target, 1e4, TSR_ROPE_HALVES), TSR_ESHAPE, "rope: positions");
    EXPECT_FAILS(tsr_rope_with(&z, k.x, k.positions, NULL, k.table, TSR_ROPE_HALVES), TSR_ENULL,
                 "rope_with: sin_table");
    EXPECT_FAILS(tsr_rope_with(&z, k.x, k.positions, k.table, NULL, TSR_ROPE_HALVES), TSR_ENULL,
                 "rope_with: cos_table");
    EXPECT_FAILS(tsr_rope_with(&z, k.x, k.positions, k.x, k.table, TSR_ROPE_HALVES), TSR_ESHAPE,
                 "rope_with: sin_table");
    ((int64_t *)k.positions->data)[1] = 5;
    EXPECT_FAILS(tsr_rope_with(&z, k.x, k.positions, k.table, k.table, TSR_ROPE_HALVES), TSR_EINDEX,
                 "rope_with: position 5 at (1) is outside the 5 rows");
    EXPECT_FAILS(tsr_swiglu(&z, k.x, NULL), TSR_ENULL, "swiglu: up");
    EXPECT_FAILS(tsr_swiglu(&z, NULL, k.x), TSR_ENULL, "swiglu: gate");
    EXPECT_FAILS(tsr_swiglu(&z, k.x, k.last), TSR_ESHAPE, "swiglu");
    EXPECT_FAILS(tsr_silu_and_mul(&z, three), TSR_ESHAPE, "silu_and_mul: x is f32(3");
    EXPECT_FAILS(tsr_dropout(&z, k.x, 1.5, 0), TSR_EINVAL, "dropout: p is 1.5");
    EXPECT_FAILS(tsr_dropout(&z, k.x, NAN, 0), TSR_EINVAL, "dropout: p is");
    EXPECT_FAILS(tsr_global_avg_pool(&z, k.last), TSR_ESHAPE, "global_avg_pool: x is f32(6");
    EXPECT_FAILS(tsr_global_avg_pool(&z, ints), TSR_EDTYPE, "global_avg_pool: x: dtype must be floating");
    EXPECT(z == NULL && sum == NULL);
    tsr_release_all(&ints, &three);
    close_kit(&k);
}

TEST(test_bad_losses_are_refused_in_words)
{
    kit k;
    tsr_tensor *z = NULL, *three = NULL;
    const tsr_reduction mean = TSR_REDUCTION_MEAN;
    if (!open_kit(&k, TSR_F32, 2, 5, 6)) return;
    EXPECT_OK(tsr_zeros(&three, TSR_F32, TSR_SHAPE(3)));
    EXPECT_FAILS(tsr_cross_entropy(&z, k.x, k.target, k.last, mean, 0, 0), TSR_ESHAPE,
                 "cross_entropy: weight");
    EXPECT_FAILS(tsr_cross_entropy(&z, k.x, k.target, NULL, (tsr_reduction)7, 0, 0), TSR_EINVAL,
                 "7 is no reduction");
    EXPECT_FAILS(tsr_cross_entropy(&z, k.x, k.target, NULL, mean, 0, 1.5), TSR_EINVAL,
                 "label_smoothing is 1.5");
    EXPECT_FAILS(tsr_cross_entropy(&z, k.x, k.positions, NULL, mean, 0, 0), TSR_ESHAPE,
                 "cross_entropy: target is i64(2");
    EXPECT_FAILS(tsr_cross_entropy(&z, k.last, k.positions, NULL, mean, 0, 0), TSR_ESHAPE,
                 "cross_entropy: logits");
    EXPECT_FAILS(tsr_cross_entropy(&z, k.x, three, NULL, mean, 0, 0), TSR_ESHAPE, "cross_entropy: target");
    EXPECT_FAILS(tsr_nll_loss(&z, k.x, three, NULL, mean, 0), TSR_EDTYPE,
                 "nll_loss: target: dtype must be integer");
    ((int32_t *)k.target->data)[8] = 5;
    EXPECT_FAILS(tsr_cross_entropy(&z, k.x, k.target, NULL, mean, -1, 0), TSR_EINDEX,
                 "cross_entropy: target 5 at (1, 2) is none of the 5 classes");
    EXPECT_OK(tsr_cross_entropy(&z, k.x, k.target, NULL, mean, 5, 0));
    tsr_release(&z);
    ((int32_t *)k.target->data)[3] = -2;
    EXPECT_FAILS(tsr_nll_loss(&z, k.x, k.target, NULL, mean, 5), TSR_EINDEX, "nll_loss: target -2 at (0, 3)");
    EXPECT_FAILS(tsr_mse_loss(&z, k.x, three, mean), TSR_ESHAPE, "mse_loss: y is f32(3");
    EXPECT_FAILS(tsr_l1_loss(&z, k.x, NULL, mean), TSR_ENULL, "l1_loss: y");
    EXPECT_FAILS(tsr_l1_loss(&z, k.x, k.x, (tsr_reduction)-1), TSR_EINVAL, "l1_loss: -1 is no reduction");
    EXPECT_FAILS(tsr_huber_loss(&z, k.x, k.x, mean, 0), TSR_EINVAL, "huber_loss: delta is 0");
    EXPECT_FAILS(tsr_huber_loss(&z, NULL, k.x, mean, 1), TSR_ENULL, "huber_loss: x");
    EXPECT_FAILS(tsr_smooth_l1_loss(&z, k.x, k.x, mean, -1), TSR_EINVAL, "smooth_l1_loss: beta is -1");
    EXPECT_FAILS(tsr_smooth_l1_loss(&z, k.x, NULL, mean, 1), TSR_ENULL, "smooth_l1_loss: y");
    EXPECT_FAILS(tsr_smooth_l1_loss(&z, k.target, k.target, mean, 1), TSR_EDTYPE, "smooth_l1_loss: x");
    EXPECT(z == NULL);
    tsr_release(&three);
    close_kit(&k);
}

/* Long lanes ----------------------------------------------------------------------------------- */

static double at(const tsr_tensor *t, int64_t i, int64_t j) { return value_at(t, i * t->shape[1] + j).re; }

/* Rows of a matrix x as softmax and layer_norm make them. */
static void expect_rows(const tsr_tensor *x, const tsr_tensor *soft, const tsr_tensor *norm)
{
    const double unit = x->dtype == TSR_F64 ? 0x1p-53 : x->dtype == TSR_F32 ? 0x1p-24 : 0x1p-11;
    const int64_t n = x->shape[1];
    for (int64_t i = 0; i < x->shape[0]; i += 1 + x->shape[0] / 7) {
        long double exps = 0, sum = 0, squares = 0;
        for (int64_t j = 0; j < n; j++) {
            exps += expl((long double)at(x, i, j));
            sum += (long double)at(x, i, j);
        }
        for (int64_t j = 0; j < n; j++) squares += powl((long double)at(x, i, j) - sum / (long double)n, 2);
        for (int64_t j = 0; j < n; j++) {
            const double e = (double)(expl((long double)at(x, i, j)) / exps);
            const long double off = (long double)at(x, i, j) - sum / (long double)n;
            const double z = (double)(off / sqrtl(squares / (long double)n + 1e-5L));
            EXPECT(fabs(at(soft, i, j) - e) <= e * unit * 32 + (x->dtype == TSR_F16 ? 0x1p-25 : 0));
            EXPECT(fabs(at(norm, i, j) - z) <= (1 + fabs(z)) * unit * 16);
        }
    }
}

/* A result of this shape, with its columns or its rows contiguous. */
static tsr_tensor *result_like(const tsr_tensor *x, bool by_columns)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_empty(&t, x->dtype, TSR_SHAPE(x->shape[by_columns], x->shape[!by_columns])));
    if (by_columns) EXPECT_OK(tsr_transpose(&t, t, 0, 1));
    return t;
}

static void expect_long_lanes(tsr_dtype dtype, const int64_t *shape, bool x_by_columns, bool z_by_columns)
{
    tsr_tensor *x = filled(dtype, 2, x_by_columns ? (const int64_t[]){ shape[1], shape[0] } : shape);
    if (x_by_columns) EXPECT_OK(tsr_transpose(&x, x, 0, 1));
    tsr_tensor *soft = result_like(x, z_by_columns), *norm = result_like(x, z_by_columns);
    EXPECT_OK(tsr_softmax(&soft, x, 1));
    EXPECT_OK(tsr_layer_norm(&norm, x, 1, NULL, NULL, 1e-5));
    expect_rows(x, soft, norm);
    tsr_release_all(&x, &soft, &norm);
}

TEST(test_long_lanes_along_every_stride_are_right)
{
    static const tsr_dtype dtypes[] = { TSR_F32, TSR_F64, TSR_F16 };
    static const int64_t shapes[][2] = { { 3, 5000 }, { 37, 1201 }, { 700, 33 },  { 1, 513 },
                                         { 50, 512 }, { 64, 2200 }, { 2000, 7 } };
    for (size_t d = 0; d < 3; d++)
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
            for (int layout = 0; layout < 4; layout++)
                expect_long_lanes(dtypes[d], shapes[k], layout & 1, layout & 2);
}

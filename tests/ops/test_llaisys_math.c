/* test_llaisys_math.c - the operators of seed 002's system, as its formulas have them: add,
 * argmax, embedding, linear, rearrange, rms_norm, rope and swiglu, in f32, f16 and bf16
 * against direct loops, over packed tensors and over views.
 *
 * Sizes are those of its own tests, and a few that are no round numbers. Results must be
 * what double gives, to within some units of f32 and the rounding to the dtype. */
#include <math.h>

#include "property/reference.h"

static const tsr_dtype dtypes[] = { TSR_F32, TSR_F16, TSR_BF16 };
enum { DTYPES = 3 };

/* Tensors as numbers ------------------------------------------------------------------- */

static double number(tsr_dtype dtype, const void *p)
{
    const ref_number n = ref_decode(dtype, p);
    if (n.kind != REF_FINITE) return n.kind == REF_NAN ? NAN : n.negative ? -INFINITY : INFINITY;
    return ldexp(n.negative ? -(double)n.bits : (double)n.bits, n.exponent);
}

static double at(const tsr_tensor *t, int64_t i, int64_t j, int64_t k)
{
    const int64_t index[3] = { i, j, k };
    int64_t offset = 0;
    for (int d = 0; d < t->ndim; d++) offset += index[d] * t->stride[d];
    return number(t->dtype, (const char *)t->data + offset * ref_size(t->dtype));
}

static void set(tsr_tensor *t, int64_t k, double v)
{
    ref_convert(t->dtype, (char *)t->data + k * ref_size(t->dtype), TSR_F64, &v);
}

static uint64_t state = 1;

/* Between -1 and 1; packed, or every second row of a tensor with more columns. */
static tsr_tensor *make(tsr_dtype dtype, int ndim, const int64_t *shape, bool as_view)
{
    tsr_tensor *t = NULL;
    int64_t larger[3];
    for (int i = 0; i < ndim; i++) larger[i] = as_view ? 2 * shape[i] + 1 : shape[i];
    EXPECT_OK(tsr_empty(&t, dtype, ndim, larger));
    for (int64_t k = 0; t && k < tsr_numel(t); k++) set(t, k, (double)(int64_t)test_next(&state) * 0x1p-63);
    for (int i = 0; as_view && i < ndim; i++) {
        if (i == 0) EXPECT_OK(tsr_slice(&t, t, i, 0, 2 * shape[i], 2));
        else        EXPECT_OK(tsr_slice(&t, t, i, 1, 1 + shape[i], 1));
    }
    return t;
}

/* Within some units of f32 relative to `size`, and half a step of the dtype. */
static void expect_near(tsr_dtype dtype, double got, double want, double size, const char *what)
{
    const double step = dtype == TSR_F32 ? 0x1p-24 : dtype == TSR_F16 ? 0x1p-11 : 0x1p-8;
    const double least = dtype == TSR_F16 ? 0x1p-25 : 0;
    EXPECT_MSG(fabs(got - want) <= 8 * 0x1p-24 * size + step * fabs(want) * 1.001 + least,
               "%s in %s: %.9g, not %.9g", what, tsr_dtype_name(dtype), got, want);
}

static const int64_t shapes[][2] = { { 2, 3 }, { 512, 64 }, { 1, 1 }, { 13, 77 } };
enum { SHAPES = 4 };

#define EACH_CASE(d, s, v) \
    for (int d = 0; d < DTYPES; d++) for (int s = 0; s < SHAPES; s++) for (int v = 0; v < 2; v++)

/* The operators ---------------------------------------------------------------------------- */

TEST(test_add_is_c_equals_a_plus_b)
{
    EACH_CASE(d, s, v) {
        tsr_tensor *a = make(dtypes[d], 2, shapes[s], v), *b = make(dtypes[d], 2, shapes[s], v), *c = NULL;
        EXPECT_OK(tsr_add(&c, a, b));
        for (int64_t i = 0; i < shapes[s][0]; i++)
            for (int64_t j = 0; j < shapes[s][1]; j++)
                expect_near(dtypes[d], at(c, i, j, 0), at(a, i, j, 0) + at(b, i, j, 0), 1, "add");
        tsr_release_all(&a, &b, &c);
    }
}

TEST(test_argmax_gives_the_largest_and_where_it_is)
{
    EACH_CASE(d, s, v) {
        const int64_t n = shapes[s][0] * shapes[s][1];
        tsr_tensor *x = make(dtypes[d], 1, &n, v), *index = NULL, *value = NULL;
        int64_t best = 0;
        for (int64_t i = 1; i < n; i++) if (at(x, i, 0, 0) > at(x, best, 0, 0)) best = i;
        EXPECT_OK(tsr_argmax(&index, x, 0, true));
        EXPECT_OK(tsr_max(&value, x, 1, (const int[]){ 0 }, true));
        EXPECT(index && index->dtype == TSR_I64 && index->ndim == 1 && *(const int64_t *)index->data == best);
        EXPECT(value && value->dtype == dtypes[d] && at(value, 0, 0, 0) == at(x, best, 0, 0));
        tsr_release_all(&x, &index, &value);
    }
}

TEST(test_embedding_takes_rows_of_the_weight)
{
    EACH_CASE(d, s, v) {
        const int64_t n = 50, rows = shapes[s][0];
        tsr_tensor *weight = make(dtypes[d], 2, shapes[s], v), *index = NULL, *out = NULL;
        EXPECT_OK(tsr_empty(&index, TSR_I64, 1, &n));
        for (int64_t i = 0; index && i < n; i++) ((int64_t *)index->data)[i] = test_below(&state, rows);
        EXPECT_OK(tsr_embedding(&out, weight, index));
        EXPECT(out && out->ndim == 2 && out->shape[0] == n && out->shape[1] == shapes[s][1]);
        for (int64_t i = 0; out && i < n; i++)
            for (int64_t j = 0; j < shapes[s][1]; j++)
                EXPECT(at(out, i, j, 0) == at(weight, ((const int64_t *)index->data)[i], j, 0));
        tsr_release_all(&weight, &index, &out);
    }
}

TEST(test_linear_is_x_times_w_transposed_plus_bias)
{
    EACH_CASE(d, s, v) {
        const int64_t m = shapes[s][0], k = shapes[s][1], n = 19;
        tsr_tensor *x = make(dtypes[d], 2, shapes[s], v),
                   *w = make(dtypes[d], 2, (const int64_t[]){ n, k }, v);
        tsr_tensor *bias = make(dtypes[d], 1, &n, v), *y = NULL, *bare = NULL;
        EXPECT_OK(tsr_linear(&y, x, w, bias));
        EXPECT_OK(tsr_linear(&bare, x, w, NULL));
        for (int64_t i = 0; y && bare && i < m; i++)
            for (int64_t j = 0; j < n; j++) {
                double sum = 0, size = 0;
                for (int64_t l = 0; l < k; l++) {
                    sum += at(x, i, l, 0) * at(w, j, l, 0);
                    size += fabs(at(x, i, l, 0) * at(w, j, l, 0));
                }
                expect_near(dtypes[d], at(y, i, j, 0), sum + at(bias, j, 0, 0), 4 * size + 1, "linear");
                expect_near(dtypes[d], at(bare, i, j, 0), sum, 4 * size + 1, "linear without bias");
            }
        tsr_release_all(&x, &w, &bias, &y, &bare);
    }
}

TEST(test_rearrange_copies_between_any_strides)
{
    EACH_CASE(d, s, v) {
        tsr_tensor *x = make(dtypes[d], 2, shapes[s], v), *out = NULL, *column = NULL;
        EXPECT_OK(tsr_rearrange(&out, x));
        EXPECT(out && tsr_is_contiguous(out));
        EXPECT_OK(tsr_empty(&column, dtypes[d], TSR_SHAPE(shapes[s][1], shapes[s][0])));
        EXPECT_OK(tsr_transpose(&column, column, 0, 1));
        EXPECT_OK(tsr_rearrange(&column, x));
        for (int64_t i = 0; i < shapes[s][0]; i++)
            for (int64_t j = 0; j < shapes[s][1]; j++)
                EXPECT(at(out, i, j, 0) == at(x, i, j, 0) && at(column, i, j, 0) == at(x, i, j, 0));
        tsr_release_all(&x, &out, &column);
    }
}

TEST(test_rms_norm_divides_by_the_root_of_the_mean_square)
{
    EACH_CASE(d, s, v) {
        const int64_t n = shapes[s][1];
        tsr_tensor *x = make(dtypes[d], 2, shapes[s], v), *w = make(dtypes[d], 1, &n, v), *y = NULL;
        EXPECT_OK(tsr_rms_norm(&y, x, w, 1e-5));
        for (int64_t i = 0; y && i < shapes[s][0]; i++) {
            double sum = 0;
            for (int64_t j = 0; j < n; j++) sum += at(x, i, j, 0) * at(x, i, j, 0);
            for (int64_t j = 0; j < n; j++) {
                const double want = at(w, j, 0, 0) * at(x, i, j, 0) / sqrt(sum / (double)n + 1e-5);
                expect_near(dtypes[d], at(y, i, j, 0), want, fabs(want), "rms_norm");
            }
        }
        tsr_release_all(&x, &w, &y);
    }
}

/* Element j of head h at place i of x, rotated. */
static double rotated(const tsr_tensor *x, int64_t i, int64_t h, int64_t j, int64_t position, double theta)
{
    const int64_t n = x->shape[2], half = n / 2, pair = j % half;
    const double angle = (double)position / pow(theta, 2 * (double)pair / (double)n);
    const double a = at(x, i, h, pair), b = at(x, i, h, pair + half);
    return j < half ? a * cos(angle) - b * sin(angle) : b * cos(angle) + a * sin(angle);
}

TEST(test_rope_turns_pairs_by_position)
{
    static const struct { int64_t shape[3], start; } cases[] = { { { 2, 1, 4 }, 0 }, { { 51, 4, 64 }, 512 } };
    for (int d = 0; d < DTYPES; d++)
        for (int s = 0; s < 2; s++)
            for (int v = 0; v < 2; v++) {
                const int64_t *shape = cases[s].shape;
                tsr_tensor *x = make(dtypes[d], 3, shape, v), *positions = NULL, *y = NULL;
                EXPECT_OK(tsr_arange(&positions, TSR_I64, TSR_SCALAR(cases[s].start),
                                     TSR_SCALAR(cases[s].start + shape[0]), TSR_SCALAR(1)));
                EXPECT_OK(tsr_rope(&y, x, positions, 10000, TSR_ROPE_HALVES));
                for (int64_t i = 0; y && i < shape[0]; i++)
                    for (int64_t h = 0; h < shape[1]; h++)
                        for (int64_t j = 0; j < shape[2]; j++)
                            expect_near(dtypes[d], at(y, i, h, j),
                                        rotated(x, i, h, j, cases[s].start + i, 10000), 1, "rope");
                tsr_release_all(&x, &positions, &y);
            }
}

TEST(test_swiglu_gates_up)
{
    EACH_CASE(d, s, v) {
        tsr_tensor *gate = make(dtypes[d], 2, shapes[s], v), *up = make(dtypes[d], 2, shapes[s], v),
                   *out = NULL;
        EXPECT_OK(tsr_swiglu(&out, gate, up));
        for (int64_t i = 0; i < shapes[s][0]; i++)
            for (int64_t j = 0; j < shapes[s][1]; j++) {
                const double want = at(up, i, j, 0) * at(gate, i, j, 0) / (1 + exp(-at(gate, i, j, 0)));
                expect_near(dtypes[d], at(out, i, j, 0), want, fabs(want), "swiglu");
            }
        tsr_release_all(&gate, &up, &out);
    }
}

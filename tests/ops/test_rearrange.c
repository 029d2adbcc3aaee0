/* test_rearrange.c - copies between layouts, at sizes where other vector kernels begin:
 * around blocks, parts and buffers, whole and with rests, aligned and not. Every element is compared
 * with the one that the index arithmetic names. */
#include "test.h"

static const tsr_dtype dtypes[] = { TSR_U8, TSR_BF16, TSR_F32, TSR_F64, TSR_C128 };
enum { DTYPES = sizeof dtypes / sizeof dtypes[0] };

/* Random bytes everywhere. */
static void scribble(tsr_tensor *t, uint64_t seed)
{
    unsigned char *p = t->data;
    const int64_t n = tsr_numel(t) * (int64_t)tsr_dtype_size(t->dtype);
    for (int64_t i = 0; i < n; i++) p[i] = (unsigned char)(test_next(&seed) >> 24);
}

static const char *place(const tsr_tensor *t, const int64_t *index)
{
    int64_t at = 0;
    for (int d = 0; d < t->ndim; d++) at += index[d] * t->stride[d];
    return (const char *)t->data + at * (int64_t)tsr_dtype_size(t->dtype);
}

/* The first element that differs, counted in row-major order, or -1. */
static int64_t difference(const tsr_tensor *a, const tsr_tensor *b)
{
    int64_t index[TSR_MAX_NDIM] = { 0 };
    const int64_t n = tsr_numel(a);
    for (int64_t i = 0; i < n; i++) {
        if (memcmp(place(a, index), place(b, index), tsr_dtype_size(a->dtype)) != 0) return i;
        for (int d = a->ndim - 1; d >= 0 && ++index[d] == a->shape[d]; d--) index[d] = 0;
    }
    return -1;
}

/* Copies the view into packed memory that begins `skew` elements late, with guards around it. */
static void copy_and_compare(const tsr_tensor *view, int64_t skew)
{
    enum { GUARD = 64 };
    tsr_tensor *room = NULL, *part = NULL, *to = NULL;
    const int64_t n = tsr_numel(view), size = (int64_t)tsr_dtype_size(view->dtype);
    EXPECT_OK(tsr_empty(&room, view->dtype, TSR_SHAPE(n + 2 * GUARD + skew)));
    memset(room->data, 0xa5, (size_t)((n + 2 * GUARD + skew) * size));
    EXPECT_OK(tsr_slice(&part, room, 0, GUARD + skew, GUARD + skew + n, 1));
    EXPECT_OK(tsr_view(&to, part, view->ndim, view->shape));
    EXPECT_OK(tsr_copy(to, view));
    const int64_t at = difference(to, view);
    EXPECT_MSG(at < 0, "%s rank %d, skew %lld: element %lld differs", tsr_dtype_name(view->dtype),
               (int)view->ndim, (long long)skew, (long long)at);
    const unsigned char *bytes = room->data;
    for (int64_t i = 0; i < (GUARD + skew) * size; i++) EXPECT(bytes[i] == 0xa5);
    for (int64_t i = (GUARD + skew + n) * size; i < (2 * GUARD + skew + n) * size; i++)
        EXPECT(bytes[i] == 0xa5);
    tsr_release_all(&to, &part, &room);
}

static void transpose(tsr_dtype dtype, int64_t rows, int64_t cols, int64_t skew)
{
    tsr_tensor *x = NULL, *y = NULL;
    EXPECT_OK(tsr_empty(&x, dtype, TSR_SHAPE(rows, cols)));
    scribble(x, (uint64_t)(rows * 1000 + cols));
    EXPECT_OK(tsr_transpose(&y, x, 0, 1));
    copy_and_compare(y, skew);
    EXPECT_OK(tsr_flip(&y, y, 1, (const int[]){ 0 }));
    copy_and_compare(y, skew);
    EXPECT_OK(tsr_flip(&y, y, 1, (const int[]){ 1 }));
    copy_and_compare(y, skew);
    tsr_release_all(&y, &x);
}

TEST(test_transposing_matrices_around_the_blocks)
{
    static const int64_t sizes[] = {
        1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 80, 127, 129, 144, 200
    };
    enum { N = sizeof sizes / sizeof sizes[0] };
    for (int d = 0; d < DTYPES; d++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) transpose(dtypes[d], sizes[i], sizes[j], (i + j) % 3);
}

TEST(test_transposing_matrices_around_the_parts)
{
    static const int64_t sizes[][2] = { { 511, 70 }, { 512, 513 }, { 530, 575 },
                                        { 576, 64 }, { 577, 129 }, { 1030, 300 } };
    for (int d = 0; d < DTYPES; d++)
        for (int i = 0; i < 6; i++) {
            transpose(dtypes[d], sizes[i][0], sizes[i][1], 0);
            transpose(dtypes[d], sizes[i][1], sizes[i][0], 1);
        }
}

TEST(test_transposing_matrices_beyond_the_caches)
{
    transpose(TSR_F32, 2048, 1024, 0);
    transpose(TSR_F32, 2001, 1003, 1);
    transpose(TSR_U8, 3333, 2999, 5);
    transpose(TSR_BF16, 2500, 1601, 0);
    transpose(TSR_F64, 1040, 1100, 0);
    transpose(TSR_C128, 700, 800, 1);
}

/* Results that are written in whole lines although their rows begin anywhere in one. */
TEST(test_transposing_matrices_whose_rows_share_lines)
{
    transpose(TSR_U8, 3336, 2063, 4);
    transpose(TSR_U8, 3332, 2100, 3);
    transpose(TSR_F16, 2022, 1559, 2);
    transpose(TSR_F32, 2061, 1029, 0);
    transpose(TSR_F32, 1616, 1040, 3);
    transpose(TSR_F64, 1023, 1037, 1);
    transpose(TSR_C128, 641, 700, 0);
    transpose(TSR_F32, 100000, 17, 1);  /* few rows, or few columns */
    transpose(TSR_F32, 17, 100000, 0);
    transpose(TSR_F32, 50000, 64, 0);
    transpose(TSR_F64, 11, 100001, 1);
    transpose(TSR_F64, 100001, 11, 0);
}

/* Every permutation of the axes, whole and with steps. */
static void permute(tsr_dtype dtype, int n, const int64_t *shape, uint64_t seed)
{
    tsr_tensor *x = NULL, *y = NULL;
    int axes[6];
    EXPECT_OK(tsr_empty(&x, dtype, n, shape));
    scribble(x, seed);
    for (int i = 0; i < n; i++) axes[i] = i;
    for (int i = n - 1; i > 0; i--) {
        const int j = (int)(test_next(&seed) % (uint64_t)(i + 1)), kept = axes[i];
        axes[i] = axes[j];
        axes[j] = kept;
    }
    EXPECT_OK(tsr_permute(&y, x, n, axes));
    copy_and_compare(y, 0);
    for (int k = 0; k < 2; k++) {
        const int axis = (int)(test_next(&seed) % (uint64_t)n);
        if (k) EXPECT_OK(tsr_flip(&y, y, 1, &axis));
        else   EXPECT_OK(tsr_slice(&y, y, axis, 0, y->shape[axis], 2));
        copy_and_compare(y, k);
    }
    tsr_release_all(&y, &x);
}

TEST(test_permutations_of_short_and_long_dims)
{
    static const int64_t shapes[][6] = { { 3, 4, 7, 53, 9 },   { 2, 3, 20, 20, 5 }, { 16, 3, 3, 16, 2 },
                                         { 100, 3, 40, 1, 2 }, { 4, 64, 7, 7, 3 },  { 33, 2, 65, 2, 2 } };
    uint64_t seed = 7;
    for (int d = 0; d < DTYPES; d++)
        for (int i = 0; i < 6; i++)
            for (int k = 0; k < 6; k++) permute(dtypes[d], 5, shapes[i], test_next(&seed));
    permute(TSR_F32, 6, (const int64_t[]){ 3, 4, 50, 50, 5, 7 }, 1);
}

TEST(test_images_change_their_layout)
{
    for (int d = 0; d < DTYPES; d++)
        for (int64_t channels = 1; channels <= 5; channels++) {
            tsr_tensor *x = NULL, *y = NULL;
            EXPECT_OK(tsr_empty(&x, dtypes[d], TSR_SHAPE(2, channels, 37, 41)));
            scribble(x, 3);
            EXPECT_OK(tsr_permute(&y, x, 4, (const int[]){ 0, 2, 3, 1 }));
            copy_and_compare(y, 0);
            EXPECT_OK(tsr_view(&y, x, TSR_SHAPE(2, 37, 41, channels)));
            EXPECT_OK(tsr_permute(&y, y, 4, (const int[]){ 0, 3, 1, 2 }));
            copy_and_compare(y, 1);
            tsr_release_all(&y, &x);
        }
}

TEST(test_repeated_rows_and_columns)
{
    for (int d = 0; d < DTYPES; d++)
        for (int64_t n = 1; n < 40000; n += n < 140 ? 9 : 19000) {
            tsr_tensor *x = NULL, *y = NULL;
            EXPECT_OK(tsr_empty(&x, dtypes[d], TSR_SHAPE(n)));
            scribble(x, (uint64_t)n);
            EXPECT_OK(tsr_expand(&y, x, TSR_SHAPE(5, n)));
            copy_and_compare(y, n % 3);
            EXPECT_OK(tsr_transpose(&y, y, 0, 1));
            copy_and_compare(y, n % 2);
            tsr_release_all(&y, &x);
        }
}

TEST(test_large_results_are_written_around_the_caches)
{
    tsr_tensor *x = NULL, *y = NULL;
    EXPECT_OK(tsr_empty(&x, TSR_F32, TSR_SHAPE(1500, 1801)));
    scribble(x, 9);
    copy_and_compare(x, 1);
    EXPECT_OK(tsr_flip(&y, x, 1, (const int[]){ 1 }));
    copy_and_compare(y, 3);
    EXPECT_OK(tsr_slice(&y, x, 1, 3, 1800, 1));
    copy_and_compare(y, 2);
    EXPECT_OK(tsr_slice(&y, x, 0, 0, 1, 1));
    EXPECT_OK(tsr_expand(&y, y, TSR_SHAPE(1500, 1801)));
    copy_and_compare(y, 1);
    tsr_release_all(&y, &x);
}

/* Every second element of long rows, which are read a part at a time. */
TEST(test_ops_on_every_second_element)
{
    static const int64_t sizes[] = { 16384, 20011, 3 << 20 };
    tsr_tensor *x = NULL, *y = NULL, *evens = NULL, *odds = NULL, *z = NULL;
    for (int k = 0; k < 3; k++) {
        const int64_t n = sizes[k];
        EXPECT_OK(tsr_empty(&x, TSR_F32, TSR_SHAPE(2 * n - 1)));
        EXPECT_OK(tsr_empty(&y, TSR_F32, TSR_SHAPE(2 * n)));
        for (int64_t i = 0; i < 2 * n - 1; i++) ((float *)x->data)[i] = (float)(i % 65521);
        for (int64_t i = 0; i < 2 * n; i++) ((float *)y->data)[i] = (float)(i % 32749);
        EXPECT_OK(tsr_slice(&evens, x, 0, 0, 2 * n - 1, 2));
        EXPECT_OK(tsr_slice(&odds, y, 0, 1, 2 * n, 2));
        EXPECT_OK(tsr_add(&z, evens, odds));
        int64_t wrong = z ? 0 : n;
        for (int64_t i = 0; i < n && z; i++)
            wrong += ((const float *)z->data)[i] != (float)(2 * i % 65521 + (2 * i + 1) % 32749);
        EXPECT_MSG(wrong == 0, "%lld of %lld are wrong", (long long)wrong, (long long)n);
        tsr_release_all(&x, &y, &evens, &odds, &z);
    }
}

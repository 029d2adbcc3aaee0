/* test_boxes.c - concat, stack and pad of results that are made box by box, against loops over bytes. */
#include "moves.h"

/* A tensor of any layout with this shape, whose elements are random bytes: packed, with its dims in another
 * order in memory, or backwards. */
static tsr_tensor *make(tsr_dtype dtype, int ndim, const int64_t *shape, unsigned layout, uint64_t seed)
{
    tsr_tensor *t = NULL;
    int64_t turned[TSR_MAX_NDIM], bytes = (int64_t)tsr_dtype_size(dtype);
    int order[TSR_MAX_NDIM];
    for (int d = 0; d < ndim; d++) {
        order[d] = layout % 3 == 1 ? ndim - 1 - d : d;
        turned[order[d]] = shape[d];
    }
    EXPECT_OK(tsr_empty(&t, dtype, ndim, turned));
    for (int d = 0; d < ndim; d++) bytes *= shape[d];
    for (int64_t i = 0; i < bytes; i += 8) {
        const uint64_t random = test_next(&seed);
        memcpy((char *)t->data + i, &random, bytes - i < 8 ? (size_t)(bytes - i) : 8);
    }
    EXPECT_OK(tsr_permute(&t, t, ndim, order));
    if (layout % 3 == 2) EXPECT_OK(tsr_flip(&t, t, 1, (const int[]){ ndim - 1 }));
    return t;
}

static const char *element(const tsr_tensor *t, const int64_t *index)
{
    int64_t offset = 0;
    for (int d = 0; d < t->ndim; d++) offset += index[d] * t->stride[d];
    return (const char *)t->data + offset * (int64_t)tsr_dtype_size(t->dtype);
}

static bool next_index(int64_t *index, const tsr_tensor *t)
{
    for (int d = t->ndim - 1; d >= 0; d--) {
        if (++index[d] < t->shape[d]) return true;
        index[d] = 0;
    }
    return false;
}

/* Is every element of z that of the part it comes from? */
static bool is_joined(const tsr_tensor *z, tsr_tensor *const *part, int axis, bool stacked)
{
    const size_t size = tsr_dtype_size(z->dtype);
    int64_t index[TSR_MAX_NDIM] = { 0 };
    do {
        int64_t from[TSR_MAX_NDIM], along = index[axis];
        int k = 0;
        memcpy(from, index, (size_t)z->ndim * sizeof *from);
        if (stacked) {
            k = (int)along;
            for (int d = axis; d + 1 < z->ndim; d++) from[d] = index[d + 1];
        } else {
            for (; along >= part[k]->shape[axis]; k++) along -= part[k]->shape[axis];
            from[axis] = along;
        }
        if (memcmp(element(z, index), element(part[k], from), size)) return false;
    } while (next_index(index, z));
    return true;
}

static void check_join(tsr_dtype dtype, int n, int ndim, const int64_t *shape, int axis, bool stacked,
                       unsigned layout)
{
    tsr_tensor *part[70] = { NULL }, *z = NULL;
    int64_t own[TSR_MAX_NDIM];
    for (int i = 0; i < n; i++) {
        memcpy(own, shape, (size_t)ndim * sizeof *own);
        if (!stacked) own[axis] += i % 3;
        part[i] = make(dtype, ndim, own, layout + (unsigned)i, (uint64_t)i + 1);
    }
    for (int given = 0; given < 2; given++) {
        if (stacked) EXPECT_OK(tsr_stack(&z, n, (const tsr_tensor *const *)part, axis));
        else         EXPECT_OK(tsr_concat(&z, n, (const tsr_tensor *const *)part, axis));
        EXPECT_MSG(z && is_joined(z, part, axis, stacked), "%d of %s on axis %d, %s", n,
                   tsr_dtype_name(dtype), axis, stacked ? "stacked" : "joined");
        if (given || !z) break;
        tsr_tensor *other = make(dtype, z->ndim, z->shape, layout + 1, 99);  /* of another layout */
        tsr_release(&z);
        z = other;
    }
    for (int i = 0; i < n; i++) tsr_release(&part[i]);
    tsr_release(&z);
}

static const tsr_dtype sizes[] = { TSR_I8, TSR_I16, TSR_F32, TSR_F64, TSR_C128 };

TEST(test_joined_boxes_hold_the_elements_of_their_parts)
{
    for (unsigned i = 0; i < 5; i++)
        for (unsigned layout = 0; layout < 3; layout++) {
            check_join(sizes[i], 3, 2, (const int64_t[]){ 40000, 3 }, 1, false, layout);
            check_join(sizes[i], 64, 2, (const int64_t[]){ 37, 211 }, 2, true, layout);
            check_join(sizes[i], 2, 3, (const int64_t[]){ 5, 301, 129 }, 3, true, layout);
            check_join(sizes[i], 5, 3, (const int64_t[]){ 33, 61, 7 }, 1, true, layout);
            check_join(sizes[i], 7, 4, (const int64_t[]){ 3, 700, 1, 5 }, 2, false, layout);
        }
    check_join(TSR_F32, 3, 2, (const int64_t[]){ 1100, 1000 }, 0, false, 0);  /* long runs */
}

/* n parts that are windows of wider tensors, and a result that is one too, its rows `gap` cells apart: what
 * lies between is as before. */
static void check_interleaved(tsr_dtype dtype, int n, int64_t rows, int64_t cols, int64_t gap)
{
    tsr_tensor *part[70] = { NULL }, *wide = make(dtype, 3, (const int64_t[]){ rows, cols + gap, n }, 0, 7),
               *z = NULL, *was = NULL;
    for (int i = 0; i < n; i++) {
        tsr_tensor *t = make(dtype, 2, (const int64_t[]){ rows, cols + gap }, 0, (uint64_t)i + 1);
        EXPECT_OK(tsr_slice(&part[i], t, 1, gap - gap / 2, cols + gap - gap / 2, 1));
        tsr_release(&t);
    }
    EXPECT_OK(tsr_clone(&was, wide));
    EXPECT_OK(tsr_slice(&z, wide, 1, 0, cols, 1));
    EXPECT_OK(tsr_stack(&z, n, (const tsr_tensor *const *)part, 2));
    EXPECT_MSG(is_joined(z, part, 2, true), "%d of %s, %lld x %lld, %lld apart", n, tsr_dtype_name(dtype),
               (long long)rows, (long long)cols, (long long)gap);
    for (int64_t r = 0; r < rows; r++) {
        const int64_t at[] = { r, cols, 0 };
        EXPECT(!memcmp(element(wide, at), element(was, at), (size_t)(gap * n) * tsr_dtype_size(dtype)));
    }
    for (int i = 0; i < n; i++) tsr_release(&part[i]);
    tsr_release(&z);
    tsr_release(&was);
    tsr_release(&wide);
}

TEST(test_stacked_elements_are_neighbours)
{
    static const int counts[] = { 2, 3, 4, 5, 8, 9, 15, 16, 17, 33, 64, 70 };
    for (unsigned i = 0; i < 5; i++)
        for (unsigned k = 0; k < sizeof counts / sizeof *counts; k++)
            for (int64_t gap = 0; gap < 3; gap++) {
                check_interleaved(sizes[i], counts[k], 71, 129, gap);
                check_interleaved(sizes[i], counts[k], 3, 2500 + gap, gap);
            }
    check_interleaved(TSR_F32, 16, 1001, 16, 0);
    check_interleaved(TSR_F32, 3, 1777, 2050, 0);  /* around the caches */
    check_interleaved(TSR_F32, 64, 64, 2048 + 16, 0);
    check_interleaved(TSR_F32, 64, 64, 2048 + 16, 1);
    check_interleaved(TSR_F64, 8, 600, 1041, 0);
}

TEST(test_joined_boxes_do_not_depend_on_threads)
{
    for (int threads = 2; threads <= 5; threads += 3) {
        EXPECT_OK(tsr_set_threads(threads));
        check_join(TSR_F32, 16, 2, (const int64_t[]){ 300, 257 }, 2, true, 0);
        check_join(TSR_I16, 3, 2, (const int64_t[]){ 100000, 5 }, 1, false, 1);
    }
    EXPECT_OK(tsr_set_threads(0));
}

/* Where index i of a padded dim comes from; -1: nowhere. */
static int64_t source_of(int64_t i, int64_t n, tsr_pad_mode mode)
{
    if (i >= 0 && i < n) return i;
    switch (mode) {
    case TSR_PAD_CONSTANT: return -1;
    case TSR_PAD_EDGE: return i < 0 ? 0 : n - 1;
    case TSR_PAD_WRAP: return (i % n + n) % n;
    default:
        while (i < 0 || i >= n) i = i < 0 ? -i : 2 * (n - 1) - i;
        return i;
    }
}

static void check_pad(tsr_dtype dtype, int ndim, const int64_t *shape, const int64_t *front,
                      const int64_t *back, tsr_pad_mode mode, unsigned layout)
{
    static const char zeros[16];
    tsr_tensor *x = make(dtype, ndim, shape, layout, 5), *z = NULL;
    int64_t index[TSR_MAX_NDIM] = { 0 }, from[TSR_MAX_NDIM];
    EXPECT_OK(tsr_pad(&z, x, ndim, front, back, mode, TSR_SCALAR(0)));
    bool right = z != NULL;
    if (z) do {
        bool inside = true;
        for (int d = 0; d < ndim; d++) {
            from[d] = source_of(index[d] - front[d], shape[d], mode);
            inside &= from[d] >= 0;
        }
        right &= !memcmp(element(z, index), inside ? element(x, from) : zeros, tsr_dtype_size(dtype));
    } while (right && next_index(index, z));
    EXPECT_MSG(right, "%s, mode %d, layout %u", tsr_dtype_name(dtype), (int)mode, layout);
    tsr_release(&x);
    tsr_release(&z);
}

TEST(test_padded_boxes_continue_what_is_there)
{
    static const int64_t planes[] = { 9, 31, 28, 30 }, one[] = { 0, 0, 1, 2 }, two[] = { 0, 0, 3, 0 };
    static const int64_t rows[] = { 9001, 40 }, left[] = { 0, 7 }, none[] = { 0, 0 };
    for (unsigned i = 0; i < 5; i++)
        for (int mode = TSR_PAD_CONSTANT; mode <= TSR_PAD_WRAP; mode++) {
            check_pad(sizes[i], 4, planes, one, two, (tsr_pad_mode)mode, i + (unsigned)mode);
            check_pad(sizes[i], 2, rows, left, none, (tsr_pad_mode)mode, i);
        }
}

static long allocations_left;

static bool allow_some(void *context, size_t bytes)
{
    (void)context; (void)bytes;
    return allocations_left-- > 0;
}

/* The first, second, ... allocation of `call` fails, until it succeeds: each time it is
 * TSR_ENOMEM and leaves results 0 .. n - 1 NULL. `call` is an expression that uses out[]. */
#define EXPECT_SURVIVES(n, call)                                                            \
    do {                                                                                    \
        tsr_tensor *out[RESULTS] = { NULL };                                                \
        tsr_status s_ = TSR_ENOMEM;                                                         \
        long fails_ = 0;                                                                    \
        for (; s_ == TSR_ENOMEM && fails_ < 100; fails_++) {                                \
            allocations_left = fails_;                                                      \
            tsr_set_alloc_hook(allow_some, NULL);                                           \
            s_ = (call);                                                                    \
            tsr_set_alloc_hook(NULL, NULL);                                                 \
            for (int i_ = 0; i_ < (n) && s_ != TSR_OK; i_++) EXPECT(out[i_] == NULL);       \
        }                                                                                   \
        EXPECT(s_ == TSR_OK && fails_ > 1);                                                 \
        for (int i_ = 0; i_ < RESULTS; i_++) tsr_release(&out[i_]);                         \
    } while (0)

TEST(test_out_of_memory_leaves_nothing_behind)
{
    static const int64_t shape[] = { 9, 31, 28, 30 }, one[] = { 0, 0, 1, 1 };
    tsr_tensor *x = make(TSR_F64, 4, shape, 0, 3);
    const tsr_tensor *pair[] = { x, x };
    EXPECT_OK(tsr_set_threads(1));
    EXPECT_SURVIVES(1, tsr_stack(&out[0], 2, pair, 4));
    EXPECT_SURVIVES(1, tsr_concat(&out[0], 2, pair, 3));
    EXPECT_SURVIVES(1, tsr_pad(&out[0], x, 4, one, one, TSR_PAD_REFLECT, TSR_SCALAR(0)));
    EXPECT_OK(tsr_set_threads(0));
    tsr_release(&x);
}

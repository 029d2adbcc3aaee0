/* test_infiniop_rearrange.cpp - rearrange keeps every bit, for every dtype, layout and address, and
 * takes no memory once it is created. */
#include "infiniop_test.h"

#include <algorithm>

static size_t bytes_of(infiniDtype_t d)
{
    static const size_t bytes[] = { 0, 1, 1, 1, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 16, 2 };
    return bytes[d];
}

struct Layout {
    Sizes shape;
    Steps dst, src;
};

static const Layout layouts[] = {
    { {}, {}, {} },
    { { 17 }, { 1 }, { -1 } },
    { { 100, 100 }, { 100, 1 }, { 1, 100 } },
    { { 4, 4 }, { 16, 4 }, { 4, 1 } },
    { { 5, 3, 7 }, { 21, 7, 1 }, { 1, 35, 5 } },
    { { 2, 3, 4, 5 }, { 60, 20, 5, 1 }, { -60, 20, -5, 1 } },
    { { 6, 5 }, { 5, 1 }, { 0, 1 } },
    { { 6, 5 }, { 5, 1 }, { 0, 0 } },
    { { 3, 1, 4 }, { 4, 99, 1 }, { 1, -7, 3 } },
    { { 0, 4 }, { 4, 1 }, { 4, 1 } },
    { { 2, 2, 2, 2, 2, 2, 2, 2, 2, 2 },
      { 512, 256, 128, 64, 32, 16, 8, 4, 2, 1 },
      { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512 } },
};

/* Memory that holds every element, and where element (0, ..., 0) is in it. */
struct Memory {
    std::vector<uint8_t> bytes;
    uint8_t *first;
    Memory(const Sizes &shape, const Steps &strides, size_t size, size_t shift)
    {
        ptrdiff_t low = 0, high = 0;
        for (size_t i = 0; i < shape.size(); i++) {
            const ptrdiff_t reach = shape[i] ? (ptrdiff_t)(shape[i] - 1) * strides[i] : 0;
            (reach < 0 ? low : high) += reach;
        }
        bytes.resize((size_t)(high - low + 1) * size + 48);
        uint8_t *aligned = bytes.data() + (16 - (size_t)bytes.data() % 16) % 16;
        first = aligned + shift - low * (ptrdiff_t)size;
    }
};

static ptrdiff_t offset_of(size_t i, const Sizes &shape, const Steps &strides)
{
    ptrdiff_t at = 0;
    for (size_t d = shape.size(); d-- > 0;) {
        at += (ptrdiff_t)(i % shape[d]) * strides[d];
        i /= shape[d];
    }
    return at;
}

static void check_one(infiniopHandle_t handle, const Layout &l, infiniDtype_t d, size_t dst_shift,
                      size_t src_shift)
{
    const size_t size = bytes_of(d);
    Memory dst(l.shape, l.dst, size, dst_shift), src(l.shape, l.src, size, src_shift);
    uint64_t seed = 1;
    for (uint8_t &b : src.bytes) b = (uint8_t)test_next(&seed);
    if (d == INFINI_DTYPE_BOOL)
        for (uint8_t &b : src.bytes) b &= 1;
    for (uint8_t &b : dst.bytes) b = 0xa5;
    std::vector<uint8_t> want = dst.bytes;
    size_t n = 1;
    for (size_t s : l.shape) n *= s;
    for (size_t i = 0; i < n; i++)
        memcpy(want.data() + (dst.first - dst.bytes.data()) + offset_of(i, l.shape, l.dst) * (ptrdiff_t)size,
               src.first + offset_of(i, l.shape, l.src) * (ptrdiff_t)size, size);

    infiniopTensorDescriptor_t to = nullptr, from = nullptr;
    infiniopRearrangeDescriptor_t op = nullptr;
    EXPECT_DONE(infiniopCreateTensorDescriptor(&to, l.shape.size(), l.shape.data(), l.dst.data(), d));
    EXPECT_DONE(infiniopCreateTensorDescriptor(&from, l.shape.size(), l.shape.data(), l.src.data(), d));
    EXPECT_DONE(infiniopCreateRearrangeDescriptor(handle, &op, to, from));
    infiniopDestroyTensorDescriptor(to);
    infiniopDestroyTensorDescriptor(from);
    EXPECT_DONE(infiniopRearrange(op, dst.first, src.first, nullptr));
    EXPECT_MSG(dst.bytes == want, "dtype %d, rank %zu, shifts %zu and %zu", (int)d, l.shape.size(), dst_shift,
               src_shift);
    EXPECT_DONE(infiniopDestroyRearrangeDescriptor(op));
}

TEST(test_rearrange_keeps_every_bit_of_every_dtype_and_layout)
{
    Handle handle;
    for (const Layout &l : layouts)
        for (int d = INFINI_DTYPE_BYTE; d <= INFINI_DTYPE_BF16; d++)
            check_one(handle, l, (infiniDtype_t)d, 0, 0);
}

TEST(test_rearrange_takes_any_address)
{
    Handle handle;
    for (const Layout &l : layouts)
        for (int d = INFINI_DTYPE_I16; d <= INFINI_DTYPE_BF16; d++) {
            check_one(handle, l, (infiniDtype_t)d, 1, 0);
            check_one(handle, l, (infiniDtype_t)d, 0, 3);
            check_one(handle, l, (infiniDtype_t)d, 1, 7);
        }
}

static bool refuse(void *count, size_t)
{
    ++*(int *)count;
    return false;
}

TEST(test_rearrange_takes_no_memory_when_it_runs)
{
    Handle handle;
    Array a({ 50, 60 }, INFINI_DTYPE_F32, { 1, 50 }), b({ 50, 60 }, INFINI_DTYPE_F32),
        odd({ 50, 60 }, INFINI_DTYPE_F32, {}, 1);
    infiniopRearrangeDescriptor_t op = nullptr;
    int asked = 0;
    a.random(1);
    EXPECT_DONE(infiniopCreateRearrangeDescriptor(handle, &op, b.desc(), a.desc()));
    tsr_set_alloc_hook(refuse, &asked);
    EXPECT_DONE(infiniopRearrange(op, b.data(), a.data(), nullptr));
    EXPECT_DONE(infiniopRearrange(op, odd.data(), a.data(), nullptr));
    tsr_set_alloc_hook(nullptr, nullptr);
    EXPECT(asked == 0);
    expect_elements("b", b, [&](size_t i) { return a[i]; });
    expect_elements("odd", odd, [&](size_t i) { return a[i]; });
    EXPECT_DONE(infiniopDestroyRearrangeDescriptor(op));
}

TEST(test_rearrange_onto_itself_is_as_if_the_source_had_been_copied)
{
    Handle handle;
    Array x({ 6 }, INFINI_DTYPE_F32);
    infiniopTensorDescriptor_t forwards = nullptr, backwards = nullptr;
    infiniopRearrangeDescriptor_t op = nullptr;
    const size_t n = 6;
    const ptrdiff_t one = 1, minus = -1;
    x.fill([](size_t i) { return (double)i; });
    EXPECT_DONE(infiniopCreateTensorDescriptor(&forwards, 1, &n, &one, INFINI_DTYPE_F32));
    EXPECT_DONE(infiniopCreateTensorDescriptor(&backwards, 1, &n, &minus, INFINI_DTYPE_F32));
    EXPECT_DONE(infiniopCreateRearrangeDescriptor(handle, &op, forwards, backwards));
    EXPECT_DONE(infiniopRearrange(op, x.data(), (float *)x.data() + 5, nullptr));
    expect_elements("x", x, [](size_t i) { return 5 - (double)i; });
    EXPECT_DONE(infiniopDestroyRearrangeDescriptor(op));
    infiniopDestroyTensorDescriptor(forwards);
    infiniopDestroyTensorDescriptor(backwards);
}

TEST(test_rearrange_refuses_what_the_document_says)
{
    Handle handle;
    infiniopRearrangeDescriptor_t op = nullptr;
    Array a({ 3, 4 }, INFINI_DTYPE_F32), b({ 4, 3 }, INFINI_DTYPE_F32), half({ 3, 4 }, INFINI_DTYPE_F16);
    Array flat({ 12 }, INFINI_DTYPE_F32), spread({ 3, 4 }, INFINI_DTYPE_F32, { 0, 1 });
    EXPECT_INFINI(CREATE_OP(Rearrange, a.desc(), half.desc()), INFINI_STATUS_BAD_TENSOR_DTYPE);
    EXPECT_INFINI(CREATE_OP(Rearrange, a.desc(), b.desc()), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(Rearrange, a.desc(), flat.desc()), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(Rearrange, spread.desc(), a.desc()), INFINI_STATUS_BAD_TENSOR_STRIDES);
    EXPECT_DONE(CREATE_OP(Rearrange, a.desc(), spread.desc()));
    EXPECT_INFINI(CREATE_OP(Rearrange, nullptr, a.desc()), INFINI_STATUS_NULL_POINTER);
    EXPECT_INFINI(infiniopCreateRearrangeDescriptor(nullptr, &op, a.desc(), a.desc()),
                  INFINI_STATUS_NULL_POINTER);
    EXPECT_INFINI(infiniopRearrange(nullptr, a.data(), a.data(), nullptr), INFINI_STATUS_NULL_POINTER);
    EXPECT_DONE(infiniopCreateRearrangeDescriptor(handle, &op, a.desc(), a.desc()));
    EXPECT_INFINI(infiniopRearrange(op, nullptr, a.data(), nullptr), INFINI_STATUS_NULL_POINTER);
    EXPECT_INFINI(infiniopRearrange(op, a.data(), nullptr, nullptr), INFINI_STATUS_NULL_POINTER);
    EXPECT_DONE(infiniopDestroyRearrangeDescriptor(op));
    EXPECT_INFINI(infiniopDestroyRearrangeDescriptor(nullptr), INFINI_STATUS_NULL_POINTER);
}

/* test_infiniop_document.c - what the document on tensor descriptors says, as a C program. Its two
 * examples of code are a declaration, which is called here, and a formula for an address, which is
 * compared with what rearrange reads; its three constraints are descriptors that operators take. */
#include <stdint.h>

#include "infiniop.h"
#include "infinirt.h"
#include "test.h"

static infiniopHandle_t make_handle(void)
{
    infiniopHandle_t handle = NULL;
    EXPECT(infinirtSetDevice(INFINI_DEVICE_CPU, 0) == INFINI_STATUS_SUCCESS);
    EXPECT(infiniopCreateHandle(&handle) == INFINI_STATUS_SUCCESS);
    return handle;
}

/* One tensor as another's layout. */
static infiniStatus_t rearrange(infiniopTensorDescriptor_t dst_desc, void *dst,
                                infiniopTensorDescriptor_t src_desc, const void *src)
{
    infiniopHandle_t handle = make_handle();
    infiniopRearrangeDescriptor_t op = NULL;
    infiniStatus_t s = infiniopCreateRearrangeDescriptor(handle, &op, dst_desc, src_desc);
    if (s == INFINI_STATUS_SUCCESS) {
        s = infiniopRearrange(op, dst, src, NULL);
        EXPECT(infiniopDestroyRearrangeDescriptor(op) == INFINI_STATUS_SUCCESS);
    }
    EXPECT(infiniopDestroyHandle(handle) == INFINI_STATUS_SUCCESS);
    return s;
}

static infiniopTensorDescriptor_t describe(size_t ndim, const size_t *shape, const ptrdiff_t *strides,
                                           infiniDtype_t dtype)
{
    infiniopTensorDescriptor_t d = NULL;
    EXPECT(infiniopCreateTensorDescriptor(&d, ndim, shape, strides, dtype) == INFINI_STATUS_SUCCESS);
    return d;
}

/* addr + ((3 - 1) * s1 + (2 - 1) * s2) * size(T) is row 3, column 2. */
TEST(test_an_element_lies_where_the_formula_says)
{
    const size_t shape[2] = { 4, 5 };
    const ptrdiff_t strides[][2] = { { 5, 1 }, { 1, 4 }, { 10, 2 }, { -5, 1 }, { 0, 1 } };
    for (size_t k = 0; k < sizeof strides / sizeof *strides; k++) {
        int32_t memory[64], packed[20];
        const ptrdiff_t s1 = strides[k][0], s2 = strides[k][1];
        int32_t *addr = memory + (s1 < 0 ? 15 : 0);
        for (int i = 0; i < 64; i++) memory[i] = i * i;
        infiniopTensorDescriptor_t src = describe(2, shape, strides[k], INFINI_DTYPE_I32);
        infiniopTensorDescriptor_t dst = describe(2, shape, NULL, INFINI_DTYPE_I32);
        EXPECT(rearrange(dst, packed, src, addr) == INFINI_STATUS_SUCCESS);
        EXPECT(packed[2 * 5 + 1] ==
               *(int32_t *)((char *)addr + ((3 - 1) * s1 + (2 - 1) * s2) * (ptrdiff_t)sizeof(int32_t)));
        infiniopDestroyTensorDescriptor(src);
        infiniopDestroyTensorDescriptor(dst);
    }
}

TEST(test_no_dims_are_a_scalar_and_need_no_shape)
{
    const double x = 2.5;
    double y = 0;
    infiniopTensorDescriptor_t d = describe(0, NULL, NULL, INFINI_DTYPE_F64);
    EXPECT(rearrange(d, &y, d, &x) == INFINI_STATUS_SUCCESS && y == 2.5);
    EXPECT(infiniopDestroyTensorDescriptor(d) == INFINI_STATUS_SUCCESS);
}

TEST(test_a_stride_of_zero_repeats_and_a_negative_one_walks_back)
{
    const size_t shape[2] = { 3, 2 };
    const ptrdiff_t repeat[2] = { 0, 1 }, back[2] = { -2, -1 };
    const float x[6] = { 1, 2, 3, 4, 5, 6 };
    float y[6];
    infiniopTensorDescriptor_t packed = describe(2, shape, NULL, INFINI_DTYPE_F32);
    infiniopTensorDescriptor_t repeated = describe(2, shape, repeat, INFINI_DTYPE_F32);
    infiniopTensorDescriptor_t reversed = describe(2, shape, back, INFINI_DTYPE_F32);
    EXPECT(rearrange(packed, y, repeated, x) == INFINI_STATUS_SUCCESS);
    EXPECT(y[0] == 1 && y[1] == 2 && y[2] == 1 && y[5] == 2);
    EXPECT(rearrange(packed, y, reversed, x + 5) == INFINI_STATUS_SUCCESS);
    EXPECT(y[0] == 6 && y[1] == 5 && y[5] == 1);
    EXPECT(rearrange(repeated, y, packed, x) == INFINI_STATUS_BAD_TENSOR_STRIDES);
    infiniopDestroyTensorDescriptor(packed);
    infiniopDestroyTensorDescriptor(repeated);
    infiniopDestroyTensorDescriptor(reversed);
}

/* A transpose is other metadata, and then a rearrange: 2 x 3 to 3 x 2. */
TEST(test_a_transpose_is_metadata_then_rearrange)
{
    const size_t shape[2] = { 3, 2 };
    const ptrdiff_t strides[2] = { 1, 3 };
    const char src[6] = { 'a', 'b', 'c', 'd', 'e', 'f' };
    char dst[6];
    infiniopTensorDescriptor_t from = describe(2, shape, strides, INFINI_DTYPE_I8);
    infiniopTensorDescriptor_t to = describe(2, shape, NULL, INFINI_DTYPE_I8);
    EXPECT(rearrange(to, dst, from, src) == INFINI_STATUS_SUCCESS);
    EXPECT(!memcmp(dst, "adbecf", 6));
    infiniopDestroyTensorDescriptor(from);
    infiniopDestroyTensorDescriptor(to);
}

/* { float32 | (d1, d2) | (..., 1) }, { dT | ((b,) h, w, c) | (...) } and { dT | ((...,) m, n) | (~) } */
TEST(test_the_constraints_of_the_document_describe_tensors_that_operators_take)
{
    infiniopHandle_t handle = make_handle();
    const size_t rows[2] = { 3, 4 }, image[3] = { 2, 3, 4 }, images[4] = { 2, 2, 3, 4 };
    const ptrdiff_t wide[2] = { 10, 1 };
    infiniopTensorDescriptor_t all[4];
    all[0] = describe(2, rows, wide, INFINI_DTYPE_F32);
    all[1] = describe(3, image, NULL, INFINI_DTYPE_F16);
    all[2] = describe(4, images, NULL, INFINI_DTYPE_BF16);
    all[3] = describe(2, rows, NULL, INFINI_DTYPE_F64);
    for (int i = 0; i < 4; i++) {
        infiniopReluDescriptor_t op = NULL;
        EXPECT(infiniopCreateReluDescriptor(handle, &op, all[i], all[i]) == INFINI_STATUS_SUCCESS);
        EXPECT(infiniopDestroyReluDescriptor(op) == INFINI_STATUS_SUCCESS);
        EXPECT(infiniopDestroyTensorDescriptor(all[i]) == INFINI_STATUS_SUCCESS);
    }
    EXPECT(infiniopDestroyHandle(handle) == INFINI_STATUS_SUCCESS);
}

TEST(test_descriptors_copy_what_they_are_given)
{
    size_t shape[2] = { 2, 2 };
    ptrdiff_t strides[2] = { 1, 2 };
    const float x[4] = { 1, 2, 3, 4 };
    float y[4];
    infiniopTensorDescriptor_t src = describe(2, shape, strides, INFINI_DTYPE_F32);
    infiniopTensorDescriptor_t dst = describe(2, shape, NULL, INFINI_DTYPE_F32);
    memset(shape, 0xff, sizeof shape);
    memset(strides, 0xff, sizeof strides);
    EXPECT(rearrange(dst, y, src, x) == INFINI_STATUS_SUCCESS);
    EXPECT(y[0] == 1 && y[1] == 3 && y[2] == 2 && y[3] == 4);
    infiniopDestroyTensorDescriptor(src);
    infiniopDestroyTensorDescriptor(dst);
}

TEST(test_creating_a_descriptor_checks_its_arguments)
{
    infiniopTensorDescriptor_t d = NULL;
    const size_t shape[2] = { 2, 3 }, huge[2] = { (size_t)1 << 62, 8 }, beyond[1] = { SIZE_MAX };
    size_t many[17];
    for (int i = 0; i < 17; i++) many[i] = 1;
    EXPECT(infiniopCreateTensorDescriptor(NULL, 2, shape, NULL, INFINI_DTYPE_F32) ==
           INFINI_STATUS_NULL_POINTER);
    EXPECT(infiniopCreateTensorDescriptor(&d, 2, NULL, NULL, INFINI_DTYPE_F32) == INFINI_STATUS_NULL_POINTER);
    EXPECT(infiniopCreateTensorDescriptor(&d, 2, shape, NULL, INFINI_DTYPE_INVALID) ==
           INFINI_STATUS_BAD_TENSOR_DTYPE);
    EXPECT(infiniopCreateTensorDescriptor(&d, 2, shape, NULL, (infiniDtype_t)20) ==
           INFINI_STATUS_BAD_TENSOR_DTYPE);
    EXPECT(infiniopCreateTensorDescriptor(&d, 17, many, NULL, INFINI_DTYPE_F32) ==
           INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT(infiniopCreateTensorDescriptor(&d, 2, huge, NULL, INFINI_DTYPE_F32) ==
           INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT(infiniopCreateTensorDescriptor(&d, 1, beyond, NULL, INFINI_DTYPE_I8) ==
           INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT(d == NULL);
    EXPECT(infiniopDestroyTensorDescriptor(NULL) == INFINI_STATUS_SUCCESS);
    for (int dtype = INFINI_DTYPE_BYTE; dtype <= INFINI_DTYPE_BF16; dtype++)
        infiniopDestroyTensorDescriptor(describe(2, shape, NULL, (infiniDtype_t)dtype));
}

/* test_tinyai_c.c - the C interface of TinyAI's earlier version: every function, good and bad input. */
#include <limits.h>
#include <unistd.h>

#include "test.h"
#include "tiny_tensor.h"

static tiny_tensor_t *make(int ndim, const int *shape)
{
    tiny_tensor_t *t = tiny_tensor_create(shape, ndim, TINY_AI_DTYPE_FLOAT32);
    EXPECT(t != NULL);
    return t;
}

TEST(test_create_makes_zeros_with_gradients)
{
    tiny_tensor_t *t = make(3, (int[]){ 2, 3, 4 });
    EXPECT(tiny_tensor_ndim(t) == 3 && tiny_tensor_numel(t) == 24 && t->data_size == 96);
    EXPECT(t->stride[0] == 12 && t->stride[1] == 4 && t->stride[2] == 1);
    EXPECT(t->mem_ownership == TINY_AI_MEM_OWNED && t->initialized && !t->is_view && !t->requires_grad);
    EXPECT((uintptr_t)t->data % TINY_AI_TENSOR_DEFAULT_ALIGN == 0 && (uintptr_t)t->grad % 16 == 0);
    for (int i = 0; i < 24; i++) EXPECT(tiny_tensor_get_f32(t, i) == 0 && ((float *)t->grad)[i] == 0);
    tiny_tensor_destroy(t);
    tiny_tensor_destroy(NULL);
}

TEST(test_create_refuses_bad_shapes_and_dtypes)
{
    const int good[9] = { 1, 1, 1, 1, 1, 1, 1, 2, 1 }, zero[2] = { 2, 0 }, negative[2] = { 2, -1 };
    const int huge[2] = { INT_MAX, 2 };
    tiny_tensor_t *t = tiny_tensor_create(good, 8, TINY_AI_DTYPE_FLOAT32);
    EXPECT(t && tiny_tensor_numel(t) == 2);
    tiny_tensor_destroy(t);
    EXPECT(!tiny_tensor_create(NULL, 2, TINY_AI_DTYPE_FLOAT32));
    EXPECT(!tiny_tensor_create(good, 0, TINY_AI_DTYPE_FLOAT32) &&
           !tiny_tensor_create(good, -1, TINY_AI_DTYPE_FLOAT32));
    EXPECT(!tiny_tensor_create(good, 9, TINY_AI_DTYPE_FLOAT32));
    EXPECT(!tiny_tensor_create(zero, 2, TINY_AI_DTYPE_FLOAT32) &&
           !tiny_tensor_create(negative, 2, TINY_AI_DTYPE_FLOAT32));
    EXPECT(!tiny_tensor_create(huge, 2, TINY_AI_DTYPE_INT8) &&
           !tiny_tensor_create(good, 2, (tiny_ai_dtype_t)99));
}

TEST(test_other_dtypes_are_stored)
{
    const struct { tiny_ai_dtype_t dtype; size_t size;
    } all[] = { { TINY_AI_DTYPE_FLOAT16, 2 },
                { TINY_AI_DTYPE_INT8, 1 },
                { TINY_AI_DTYPE_INT16, 2 },
                { TINY_AI_DTYPE_INT32, 4 } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        tiny_tensor_t *t = tiny_tensor_create((int[]){ 3, 5 }, 2, all[i].dtype);
        EXPECT(t && t->data_size == 15 * all[i].size && tiny_tensor_zero(t) == TINY_OK);
        EXPECT(tiny_tensor_fill(t, 1) == TINY_ERR_AI_NOT_SUPPORTED);
        EXPECT(tiny_tensor_set_f32(t, 0, 1) == TINY_ERR_AI_NOT_SUPPORTED && tiny_tensor_get_f32(t, 0) == 0);
        tiny_tensor_destroy(t);
    }
}

TEST(test_from_buffer_looks_at_the_callers_memory)
{
    float buf[12] = { 0 };
    tiny_tensor_t *t = tiny_tensor_from_buffer(buf, (int[]){ 3, 4 }, 2, TINY_AI_DTYPE_FLOAT32, false);
    EXPECT(t && tiny_tensor_data(t) == buf && t->mem_ownership == TINY_AI_MEM_EXTERNAL &&
           !tiny_tensor_grad(t));
    EXPECT(tiny_tensor_set_f32(t, 5, 2.5f) == TINY_OK && buf[5] == 2.5f);
    EXPECT(tiny_tensor_requires_grad(t, true) == TINY_OK && tiny_tensor_grad(t) != NULL);
    tiny_tensor_destroy(t);
    EXPECT(buf[5] == 2.5f);
    EXPECT(!tiny_tensor_from_buffer(NULL, (int[]){ 3 }, 1, TINY_AI_DTYPE_FLOAT32, false));
    EXPECT(!tiny_tensor_from_buffer(buf, NULL, 1, TINY_AI_DTYPE_FLOAT32, false));
    EXPECT(!tiny_tensor_from_buffer(buf, (int[]){ 0 }, 1, TINY_AI_DTYPE_FLOAT32, true));
}

TEST(test_from_buffer_takes_over_what_malloc_gave)
{
    float *buf = (float *)malloc(12 * sizeof *buf);
    for (int i = 0; i < 12; i++) buf[i] = (float)i;
    tiny_tensor_t *t = tiny_tensor_from_buffer(buf, (int[]){ 3, 4 }, 2, TINY_AI_DTYPE_FLOAT32, true);
    EXPECT(t && t->mem_ownership == TINY_AI_MEM_OWNED && tiny_tensor_grad(t) != NULL);
    EXPECT(tiny_tensor_get_f32(t, 11) == 11.0f);
    tiny_tensor_destroy(t);
}

TEST(test_copy_takes_data_gradients_and_their_need_along)
{
    tiny_tensor_t *a = make(2, (int[]){ 2, 3 }), *b = make(2, (int[]){ 2, 3 });
    EXPECT(tiny_tensor_fill(a, 3.5f) == TINY_OK && tiny_tensor_requires_grad(a, true) == TINY_OK);
    ((float *)tiny_tensor_grad(a))[5] = 7;
    EXPECT(tiny_tensor_copy(a, b) == TINY_OK && tiny_tensor_get_f32(b, 5) == 3.5f);
    EXPECT(((float *)tiny_tensor_grad(b))[5] == 7 && tiny_tensor_get_requires_grad(b));
    EXPECT(tiny_tensor_copy(a, a) == TINY_OK);
    tiny_tensor_destroy(a);
    tiny_tensor_destroy(b);
}

TEST(test_copy_refuses_what_does_not_fit)
{
    tiny_tensor_t *a = make(2, (int[]){ 2, 3 }), *b = make(2, (int[]){ 3, 2 }), *c = make(1, (int[]){ 6 });
    tiny_tensor_t *d = tiny_tensor_create((int[]){ 2, 3 }, 2, TINY_AI_DTYPE_INT32), blank;
    memset(&blank, 0, sizeof blank);
    EXPECT(tiny_tensor_copy(NULL, a) == TINY_ERR_AI_NULL_POINTER &&
           tiny_tensor_copy(a, NULL) == TINY_ERR_AI_NULL_POINTER);
    EXPECT(tiny_tensor_copy(a, b) == TINY_ERR_AI_SHAPE_MISMATCH &&
           tiny_tensor_copy(a, c) == TINY_ERR_AI_SHAPE_MISMATCH);
    EXPECT(tiny_tensor_copy(a, d) == TINY_ERR_AI_NOT_SUPPORTED);
    EXPECT(tiny_tensor_copy(&blank, a) == TINY_ERR_AI_UNINITIALIZED);
    tiny_tensor_destroy(a);
    tiny_tensor_destroy(b);
    tiny_tensor_destroy(c);
    tiny_tensor_destroy(d);
}

TEST(test_fill_and_zero_reach_every_element)
{
    tiny_tensor_t *t = make(2, (int[]){ 7, 11 });
    EXPECT(tiny_tensor_fill(t, -2.25f) == TINY_OK);
    for (int i = 0; i < 77; i++) EXPECT(tiny_tensor_get_f32(t, i) == -2.25f);
    ((float *)tiny_tensor_grad(t))[3] = 1;
    EXPECT(tiny_tensor_zero(t) == TINY_OK && ((float *)tiny_tensor_grad(t))[3] == 1);
    for (int i = 0; i < 77; i++) EXPECT(tiny_tensor_get_f32(t, i) == 0);
    EXPECT(tiny_tensor_zero_grad(t) == TINY_OK && ((float *)tiny_tensor_grad(t))[3] == 0);
    tiny_tensor_destroy(t);
}

TEST(test_questions_have_answers_for_no_tensor)
{
    tiny_tensor_t blank;
    memset(&blank, 0, sizeof blank);
    tiny_tensor_t *const none[] = { NULL, &blank };
    tiny_tensor_t *a = make(1, (int[]){ 2 });
    for (int i = 0; i < 2; i++) {
        tiny_tensor_t *t = none[i];
        const tiny_error_t why = t ? TINY_ERR_AI_UNINITIALIZED : TINY_ERR_AI_NULL_POINTER;
        EXPECT(tiny_tensor_numel(t) == 0 && tiny_tensor_ndim(t) == -1 && tiny_tensor_shape(t, 0) == -1);
        EXPECT(!tiny_tensor_data(t) && !tiny_tensor_grad(t) && tiny_tensor_get_f32(t, 0) == 0);
        EXPECT(!tiny_tensor_shape_equal(t, a) && !tiny_tensor_shape_equal(a, t) &&
               !tiny_tensor_get_requires_grad(t));
        EXPECT(tiny_tensor_fill(t, 1) == why && tiny_tensor_zero(t) == why &&
               tiny_tensor_zero_grad(t) == why);
        EXPECT(tiny_tensor_set_f32(t, 0, 1) == why && tiny_tensor_requires_grad(t, true) == why);
    }
    tiny_tensor_destroy(a);
}

TEST(test_shapes_and_elements_are_bounded)
{
    tiny_tensor_t *a = make(2, (int[]){ 3, 4 }), *b = make(2, (int[]){ 3, 4 }), *c = make(2, (int[]){ 3, 5 });
    EXPECT(tiny_tensor_shape(a, 0) == 3 && tiny_tensor_shape(a, 1) == 4);
    EXPECT(tiny_tensor_shape(a, 2) == -1 && tiny_tensor_shape(a, -1) == -1);
    EXPECT(tiny_tensor_shape_equal(a, b) && !tiny_tensor_shape_equal(a, c));
    EXPECT(tiny_tensor_set_f32(a, 11, 2.5f) == TINY_OK && tiny_tensor_get_f32(a, 11) == 2.5f);
    EXPECT(tiny_tensor_set_f32(a, 12, 1) == TINY_ERR_AI_INVALID_ARG &&
           tiny_tensor_set_f32(a, -1, 1) == TINY_ERR_AI_INVALID_ARG);
    EXPECT(tiny_tensor_get_f32(a, 12) == 0 && tiny_tensor_get_f32(a, -1) == 0);
    tiny_tensor_destroy(a);
    tiny_tensor_destroy(b);
    tiny_tensor_destroy(c);
}

TEST(test_gradients_are_switched_on_and_off)
{
    tiny_tensor_t *t = make(1, (int[]){ 4 });
    void *grad = tiny_tensor_grad(t);
    EXPECT(!tiny_tensor_get_requires_grad(t));
    EXPECT(tiny_tensor_requires_grad(t, true) == TINY_OK && tiny_tensor_get_requires_grad(t));
    EXPECT(tiny_tensor_requires_grad(t, false) == TINY_OK && !tiny_tensor_get_requires_grad(t));
    EXPECT(tiny_tensor_grad(t) == grad);
    tiny_tensor_destroy(t);
}

TEST(test_print_info_writes_what_the_header_shows)
{
    char text[1024] = "";
    int ends[2];
    tiny_tensor_t *t = make(2, (int[]){ 3, 4 });
    fflush(stdout);
    EXPECT(pipe(ends) == 0);
    const int old = dup(1);
    dup2(ends[1], 1);
    tiny_tensor_print_info(t, "weights");
    tiny_tensor_print_info(NULL, NULL);
    fflush(stdout);
    dup2(old, 1);
    close(old);
    close(ends[1]);
    EXPECT(read(ends[0], text, sizeof text - 1) > 0);
    close(ends[0]);
    EXPECT(!strcmp(text,
                   "Tensor [weights]:\n  Shape: [3, 4]\n  Dtype: 0\n  Numel: 12\n  Data size: 48 bytes\n"
                   "  Requires grad: false\nTensor [unknown]: NULL\n"));
    tiny_tensor_destroy(t);
}

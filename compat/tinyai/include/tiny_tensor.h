/* tiny_tensor.h - the C interface of TinyAI's earlier version: tensors with 1 to 8 dims and a buffer
 * for gradients. Row-major; f32 is computed with, the other dtypes are only stored.
 *
 * Calls that return tiny_error_t end with
 *
 *   TINY_ERR_AI_NULL_POINTER     a tensor is NULL
 *   TINY_ERR_AI_UNINITIALIZED    its struct was not made by this library
 *   TINY_ERR_AI_NOT_SUPPORTED    its dtype is not the one needed
 */
#ifndef TINY_TENSOR_H
#define TINY_TENSOR_H

#include "tiny_ai_config.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    TINY_AI_DTYPE_FLOAT32 = 0,
    TINY_AI_DTYPE_FLOAT16,
    TINY_AI_DTYPE_INT8,
    TINY_AI_DTYPE_INT16,
    TINY_AI_DTYPE_INT32,
} tiny_ai_dtype_t;

typedef enum {
    TINY_AI_MEM_OWNED = 0, /* freed with the tensor */
    TINY_AI_MEM_EXTERNAL,  /* the caller's */
} tiny_ai_mem_ownership_t;

typedef struct tiny_tensor_t {
    void *data;
#if TINY_AI_ENABLE_GRADIENTS
    void *grad;          /* as many elements as data; NULL until asked for, if data is the caller's */
    bool  requires_grad;
#endif
    int    ndim;
    int    shape[TINY_AI_TENSOR_MAX_DIMS];
    int    stride[TINY_AI_TENSOR_MAX_DIMS]; /* in elements */
    tiny_ai_dtype_t dtype;
    int    numel;
    size_t data_size;    /* in bytes */
    tiny_ai_mem_ownership_t mem_ownership;
    bool   is_view;
    bool   initialized;
} tiny_tensor_t;

/* All zeros, aligned to TINY_AI_TENSOR_DEFAULT_ALIGN. NULL if shape is NULL, ndim is not 1 .. 8, a
 * dim is below 1, there are more than INT_MAX elements, the dtype is none, or memory is short. */
TINY_EXPORT tiny_tensor_t *tiny_tensor_create(const int *shape, int ndim, tiny_ai_dtype_t dtype);

/* Looks at the caller's buffer; with own_memory, which must come from malloc(), the tensor frees it.
 * NULL as above, or if data is NULL; the buffer is the caller's then. */
TINY_EXPORT tiny_tensor_t *tiny_tensor_from_buffer(void *data, const int *shape, int ndim,
                                                   tiny_ai_dtype_t dtype, bool own_memory);

TINY_EXPORT void tiny_tensor_destroy(tiny_tensor_t *tensor); /* NULL is fine */

/* Data, the gradients where both have them, and whether they are needed. TINY_ERR_AI_SHAPE_MISMATCH
 * if the shapes differ; TINY_ERR_AI_NOT_SUPPORTED if the dtypes do. */
TINY_EXPORT tiny_error_t tiny_tensor_copy(const tiny_tensor_t *src, tiny_tensor_t *dst);
TINY_EXPORT tiny_error_t tiny_tensor_fill(tiny_tensor_t *tensor, float value); /* f32 */
TINY_EXPORT tiny_error_t tiny_tensor_zero(tiny_tensor_t *tensor);              /* data only; any dtype */
TINY_EXPORT tiny_error_t tiny_tensor_zero_grad(tiny_tensor_t *tensor);

TINY_EXPORT int  tiny_tensor_numel(const tiny_tensor_t *tensor);          /* 0 for none */
TINY_EXPORT int  tiny_tensor_shape(const tiny_tensor_t *tensor, int dim); /* -1 if there is no such dim */
TINY_EXPORT int  tiny_tensor_ndim(const tiny_tensor_t *tensor);           /* -1 for none */
TINY_EXPORT bool tiny_tensor_shape_equal(const tiny_tensor_t *a, const tiny_tensor_t *b);

TINY_EXPORT void *tiny_tensor_data(const tiny_tensor_t *tensor);
TINY_EXPORT void *tiny_tensor_grad(const tiny_tensor_t *tensor);

/* f32, by row-major index. Reading gives 0 where there is nothing to read; writing there is
 * TINY_ERR_AI_INVALID_ARG. */
TINY_EXPORT float        tiny_tensor_get_f32(const tiny_tensor_t *tensor, int index);
TINY_EXPORT tiny_error_t tiny_tensor_set_f32(tiny_tensor_t *tensor, int index, float value);

#if TINY_AI_ENABLE_GRADIENTS
/* Allocates the buffer where there is none; switching off keeps it. TINY_ERR_AI_NO_MEM. */
TINY_EXPORT tiny_error_t tiny_tensor_requires_grad(tiny_tensor_t *tensor, bool enable);
TINY_EXPORT bool         tiny_tensor_get_requires_grad(const tiny_tensor_t *tensor);
#endif

/* A few lines to standard output. Both may be NULL. */
TINY_EXPORT void tiny_tensor_print_info(const tiny_tensor_t *tensor, const char *name);

#ifdef __cplusplus
}
#endif

#endif

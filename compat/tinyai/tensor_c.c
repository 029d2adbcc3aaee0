/* tensor_c.c - the C interface of TinyAI's earlier version.
 *
 * Data and gradients come from aligned_alloc(), so that free() takes back what was made here as
 * well as what the caller handed over. */
#include "tiny_tensor.h"

#include <limits.h>

#include "tessera/tessera.h"

static size_t dtype_size(tiny_ai_dtype_t dtype)
{
    switch (dtype) {
    case TINY_AI_DTYPE_FLOAT32: return sizeof(float);
    case TINY_AI_DTYPE_FLOAT16: return sizeof(uint16_t);
    case TINY_AI_DTYPE_INT8: return sizeof(int8_t);
    case TINY_AI_DTYPE_INT16: return sizeof(int16_t);
    case TINY_AI_DTYPE_INT32: return sizeof(int32_t);
    }
    return 0;
}

/* 0 if the shape is none, or has more than INT_MAX elements. */
static int count(const int *shape, int ndim)
{
    int64_t n = 1;
    if (!shape || ndim <= 0 || ndim > TINY_AI_TENSOR_MAX_DIMS) return 0;
    for (int i = 0; i < ndim; i++) {
        if (shape[i] <= 0) return 0;
        n *= shape[i];
        if (n > INT_MAX) return 0;
    }
    return (int)n;
}

static void *zeroed(size_t bytes)
{
    const size_t align = TINY_AI_TENSOR_DEFAULT_ALIGN;
    void *p = aligned_alloc(align, (bytes + align - 1) / align * align);
    if (p) memset(p, 0, bytes);
    return p;
}

/* A tensor without data. */
static tiny_tensor_t *make(const int *shape, int ndim, tiny_ai_dtype_t dtype)
{
    const int numel = count(shape, ndim);
    const size_t size = dtype_size(dtype);
    if (!numel || !size) return NULL;
    tiny_tensor_t *t = (tiny_tensor_t *)calloc(1, sizeof *t);
    if (!t) return NULL;
    t->ndim = ndim;
    t->numel = numel;
    t->dtype = dtype;
    t->data_size = (size_t)numel * size;
    for (int i = ndim - 1, step = 1; i >= 0; i--) {
        t->shape[i] = shape[i];
        t->stride[i] = step;
        step *= shape[i];
    }
    t->initialized = true;
    return t;
}

tiny_tensor_t *tiny_tensor_create(const int *shape, int ndim, tiny_ai_dtype_t dtype)
{
    tiny_tensor_t *t = make(shape, ndim, dtype);
    if (!t) return NULL;
    t->mem_ownership = TINY_AI_MEM_OWNED;
    t->data = zeroed(t->data_size);
    t->grad = zeroed(t->data_size);
    if (t->data && t->grad) return t;
    tiny_tensor_destroy(t);
    return NULL;
}

tiny_tensor_t *tiny_tensor_from_buffer(void *data, const int *shape, int ndim, tiny_ai_dtype_t dtype,
                                       bool own_memory)
{
    tiny_tensor_t *t = data ? make(shape, ndim, dtype) : NULL;
    if (!t) return NULL;
    if (own_memory && !(t->grad = zeroed(t->data_size))) {
        free(t);
        return NULL;
    }
    t->data = data;
    t->mem_ownership = own_memory ? TINY_AI_MEM_OWNED : TINY_AI_MEM_EXTERNAL;
    return t;
}

void tiny_tensor_destroy(tiny_tensor_t *tensor)
{
    if (!tensor) return;
    if (tensor->mem_ownership == TINY_AI_MEM_OWNED) free(tensor->data);
    free(tensor->grad);
    free(tensor);
}

static bool is_made(const tiny_tensor_t *t) { return t && t->initialized; }

static tiny_error_t check(const tiny_tensor_t *t)
{
    if (!t) return TINY_ERR_AI_NULL_POINTER;
    return t->initialized && t->data ? TINY_OK : TINY_ERR_AI_UNINITIALIZED;
}

static tiny_error_t check_f32(const tiny_tensor_t *t)
{
    const tiny_error_t e = check(t);
    if (e != TINY_OK) return e;
    return t->dtype == TINY_AI_DTYPE_FLOAT32 ? TINY_OK : TINY_ERR_AI_NOT_SUPPORTED;
}

tiny_error_t tiny_tensor_copy(const tiny_tensor_t *src, tiny_tensor_t *dst)
{
    if (!src || !dst) return TINY_ERR_AI_NULL_POINTER;
    if (check(src) != TINY_OK || check(dst) != TINY_OK) return TINY_ERR_AI_UNINITIALIZED;
    if (!tiny_tensor_shape_equal(src, dst)) return TINY_ERR_AI_SHAPE_MISMATCH;
    if (src->dtype != dst->dtype) return TINY_ERR_AI_NOT_SUPPORTED;
    memmove(dst->data, src->data, src->data_size);
    if (src->grad && dst->grad) memmove(dst->grad, src->grad, src->data_size);
    dst->requires_grad = src->requires_grad;
    return TINY_OK;
}

tiny_error_t tiny_tensor_fill(tiny_tensor_t *tensor, float value)
{
    tsr_desc d;
    tsr_tensor t;
    const tiny_error_t e = check_f32(tensor);
    if (e != TINY_OK) return e;
    tsr_status s = tsr_desc_init(&d, TSR_F32, 1, (int64_t[]){ tensor->numel }, NULL);
    if (s == TSR_OK) s = tsr_place(&t, tensor->data, &d);
    if (s == TSR_OK) s = tsr_fill(&t, TSR_SCALAR(value));
    return s == TSR_OK ? TINY_OK : TINY_ERR_AI_INVALID_ARG;
}

tiny_error_t tiny_tensor_zero(tiny_tensor_t *tensor)
{
    const tiny_error_t e = check(tensor);
    if (e == TINY_OK) memset(tensor->data, 0, tensor->data_size);
    return e;
}

tiny_error_t tiny_tensor_zero_grad(tiny_tensor_t *tensor)
{
    const tiny_error_t e = check(tensor);
    if (e == TINY_OK && tensor->grad) memset(tensor->grad, 0, tensor->data_size);
    return e;
}

int tiny_tensor_numel(const tiny_tensor_t *tensor) { return is_made(tensor) ? tensor->numel : 0; }

int tiny_tensor_shape(const tiny_tensor_t *tensor, int dim)
{
    return is_made(tensor) && dim >= 0 && dim < tensor->ndim ? tensor->shape[dim] : -1;
}

int tiny_tensor_ndim(const tiny_tensor_t *tensor) { return is_made(tensor) ? tensor->ndim : -1; }

bool tiny_tensor_shape_equal(const tiny_tensor_t *a, const tiny_tensor_t *b)
{
    if (!is_made(a) || !is_made(b) || a->ndim != b->ndim) return false;
    return memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape) == 0;
}

void *tiny_tensor_data(const tiny_tensor_t *tensor) { return is_made(tensor) ? tensor->data : NULL; }

void *tiny_tensor_grad(const tiny_tensor_t *tensor) { return is_made(tensor) ? tensor->grad : NULL; }

float tiny_tensor_get_f32(const tiny_tensor_t *tensor, int index)
{
    if (check_f32(tensor) != TINY_OK || index < 0 || index >= tensor->numel) return 0.0f;
    return ((const float *)tensor->data)[index];
}

tiny_error_t tiny_tensor_set_f32(tiny_tensor_t *tensor, int index, float value)
{
    const tiny_error_t e = check_f32(tensor);
    if (e != TINY_OK) return e;
    if (index < 0 || index >= tensor->numel) return TINY_ERR_AI_INVALID_ARG;
    ((float *)tensor->data)[index] = value;
    return TINY_OK;
}

tiny_error_t tiny_tensor_requires_grad(tiny_tensor_t *tensor, bool enable)
{
    const tiny_error_t e = check(tensor);
    if (e != TINY_OK) return e;
    if (enable && !tensor->grad && !(tensor->grad = zeroed(tensor->data_size))) return TINY_ERR_AI_NO_MEM;
    tensor->requires_grad = enable;
    return TINY_OK;
}

bool tiny_tensor_get_requires_grad(const tiny_tensor_t *tensor)
{
    return is_made(tensor) && tensor->requires_grad;
}

void tiny_tensor_print_info(const tiny_tensor_t *tensor, const char *name)
{
    if (!name) name = "unknown";
    if (!is_made(tensor)) {
        printf("Tensor [%s]: %s\n", name, tensor ? "Uninitialized" : "NULL");
        return;
    }
    printf("Tensor [%s]:\n  Shape: [", name);
    for (int i = 0; i < tensor->ndim; i++) printf("%s%d", i ? ", " : "", tensor->shape[i]);
    printf("]\n  Dtype: %d\n  Numel: %d\n  Data size: %zu bytes\n  Requires grad: %s\n", (int)tensor->dtype,
           tensor->numel, tensor->data_size, tensor->requires_grad ? "true" : "false");
}

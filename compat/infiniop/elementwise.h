/* elementwise.h - groups of one function of one or two tensors, all of one shape and one dtype. */
#ifndef COMPAT_INFINIOP_ELEMENTWISE_H
#define COMPAT_INFINIOP_ELEMENTWISE_H

#include "op.h"

namespace face {

using Unary = tsr_status(tsr_tensor **, const tsr_tensor *);
using Binary = tsr_status(tsr_tensor **, const tsr_tensor *, const tsr_tensor *);

inline infiniStatus_t create_unary(Tag tag, infiniopHandle_t handle, InfiniopDescriptor **out,
                            infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t x, Dtypes dtypes)
{
    return Draft(tag, handle, out, 1, { y, x })
        .all_dtypes(dtypes)
        .one_dtype({ 0, 1 })
        .one_shape({ 0, 1 })
        .finish();
}

inline infiniStatus_t create_binary(Tag tag, infiniopHandle_t handle, InfiniopDescriptor **out,
                             infiniopTensorDescriptor_t c, infiniopTensorDescriptor_t a,
                             infiniopTensorDescriptor_t b, Dtypes dtypes)
{
    return Draft(tag, handle, out, 1, { c, a, b })
        .all_dtypes(dtypes).one_dtype({ 0, 1, 2 }).one_shape({ 0, 1, 2 }).finish();
}

} // namespace face

/* y from x: the group, the function, the dtypes. */
#define UNARY(Name, function, dtypes) \
    infiniStatus_t infiniopCreate##Name##Descriptor( \
        infiniopHandle_t handle, infiniop##Name##Descriptor_t *desc_ptr, infiniopTensorDescriptor_t y, \
        infiniopTensorDescriptor_t x) \
    { \
        return create_unary(TAG_##Name, handle, desc_ptr, y, x, dtypes); \
    } \
    infiniStatus_t infiniop##Name(infiniop##Name##Descriptor_t desc, void *, size_t, void *y, const void *x, \
                                  void *stream) \
    { \
        return run(desc, TAG_##Name, stream, { y, x }, [](tsr_tensor **t, const InfiniopDescriptor &) { \
            Unary *op = function; \
            return op(&t[0], t[1]); \
        }); \
    }

/* c from a and b. */
#define BINARY(Name, function, dtypes) \
    infiniStatus_t infiniopCreate##Name##Descriptor( \
        infiniopHandle_t handle, infiniop##Name##Descriptor_t *desc_ptr, infiniopTensorDescriptor_t c, \
        infiniopTensorDescriptor_t a, infiniopTensorDescriptor_t b) \
    { \
        return create_binary(TAG_##Name, handle, desc_ptr, c, a, b, dtypes); \
    } \
    infiniStatus_t infiniop##Name(infiniop##Name##Descriptor_t desc, void *, size_t, void *c, const void *a, \
                                  const void *b, void *stream) \
    { \
        return run(desc, TAG_##Name, stream, { c, a, b }, [](tsr_tensor **t, const InfiniopDescriptor &) { \
            Binary *op = function; \
            return op(&t[0], t[1], t[2]); \
        }); \
    }

#endif

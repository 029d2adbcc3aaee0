/* tensor.h - making, sharing and asking tensors.
 *
 * A tensor is a desc looking at a storage. The handle is a plain pointer to a
 * struct whose layout is public and does not change, so that t->data,
 * t->shape[i] and the inline accessors of element.h cost nothing. Read the
 * fields freely; let the library write them.
 *
 * A tensor is in one of three states:
 *
 *   none        a NULL handle, or dtype TSR_DTYPE_INVALID (zeroed memory)
 *   described   dtype, shape, device and kind are set; data is NULL. The first
 *               call that writes to it allocates it; tsr_alloc() does so at once
 *   allocated   data points at element (0, ..., 0)
 *
 * Handles are counted: tsr_retain() is one more owner of the same tensor,
 * tsr_release(&t) drops one and sets t to NULL. A view is a tensor of its own
 * that shares the storage.
 *
 * Factories follow the rule for results: if *out is NULL a tensor is allocated; otherwise it
 * must have that dtype and shape, and is overwritten.
 */
#ifndef TESSERA_TENSOR_H
#define TESSERA_TENSOR_H

#include "desc.h"
#include "memory.h"
#include "scalar.h"

TSR_BEGIN_C

enum {
    TSR_FLAG_PLACED   = 1, /* the struct lies in the caller's memory */
    TSR_FLAG_READONLY = 2, /* elements may not be written */
    TSR_FLAG_VIEW     = 4, /* made by a view function from another tensor */
    TSR_FLAG_NUMBER   = 8  /* a bare number (TSR_NUMBER): takes the dtype of what it meets */
};

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnested-anon-types" /* fine in C11; a pedantic C++ compiler minds */
#endif

typedef struct tsr_tensor {
    void        *data;     /* element (0, ..., 0); NULL while only described */
    tsr_storage *storage;  /* NULL while described, and when placed over bare memory */
    union {
        tsr_desc desc;
        TSR_EXTENSION struct {  /* the same fields, for short */
            tsr_dtype dtype;
            int32_t   ndim;
            int64_t   shape[TSR_MAX_NDIM];
            int64_t   stride[TSR_MAX_NDIM];
        };
    };
    int32_t    count;      /* owners of this handle */
    uint32_t   flags;      /* TSR_FLAG_... */
    tsr_device device;
    tsr_memory memory;
} tsr_tensor;

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

/* Owning ------------------------------------------------------------------- */

/* One more owner; returns t. NULL gives NULL. */
TSR_API tsr_tensor *tsr_retain(tsr_tensor *t);

/* Drop one owner and set *t to NULL. The last one frees the tensor and lets go
 * of its storage. t and *t may be NULL. */
TSR_API void tsr_release(tsr_tensor **t);

/* A deep copy with memory of its own: same dtype, shape and order of dims,
 * packed, same device and kind. A described tensor is cloned as described. */
TSR_API TSR_MUST_CHECK tsr_status tsr_clone(tsr_tensor **out, const tsr_tensor *t);

/* Making ------------------------------------------------------------------- */

/* Row-major and packed, in host memory: not set, all 0, all 1, all `value`. */
TSR_API TSR_MUST_CHECK tsr_status tsr_empty(tsr_tensor **out, tsr_dtype dtype, int ndim,
                                            const int64_t *shape);
TSR_API TSR_MUST_CHECK tsr_status tsr_zeros(tsr_tensor **out, tsr_dtype dtype, int ndim,
                                            const int64_t *shape);
TSR_API TSR_MUST_CHECK tsr_status tsr_ones(tsr_tensor **out, tsr_dtype dtype, int ndim, const int64_t *shape);
TSR_API TSR_MUST_CHECK tsr_status tsr_full (tsr_tensor **out, tsr_dtype dtype, int ndim, const int64_t *shape,
                                            tsr_scalar value);

/* rows x cols with ones where col - row = k. */
TSR_API TSR_MUST_CHECK tsr_status tsr_eye(tsr_tensor **out, tsr_dtype dtype, int64_t rows, int64_t cols,
                                          int64_t k);

/* start, start + step, ... up to but without stop: max(0, ceil((stop - start) /
 * step)) elements, each computed as start + i * step. Exact in integers where
 * all three are integers. TSR_EINVAL if step is 0 or a value is not finite;
 * TSR_EDTYPE for bool and complex. */
TSR_API TSR_MUST_CHECK tsr_status tsr_arange(tsr_tensor **out, tsr_dtype dtype, tsr_scalar start,
                                             tsr_scalar stop, tsr_scalar step);

/* n values from start to stop, evenly spaced; the last is stop exactly if
 * endpoint. Any floating or complex dtype. */
TSR_API TSR_MUST_CHECK tsr_status tsr_linspace(tsr_tensor **out, tsr_dtype dtype, tsr_scalar start,
                                               tsr_scalar stop, int64_t n, bool endpoint);

/* Same dtype, shape, order of dims, device and kind as `like`, packed. */
TSR_API TSR_MUST_CHECK tsr_status tsr_empty_like(tsr_tensor **out, const tsr_tensor *like);
TSR_API TSR_MUST_CHECK tsr_status tsr_zeros_like(tsr_tensor **out, const tsr_tensor *like);
TSR_API TSR_MUST_CHECK tsr_status tsr_ones_like (tsr_tensor **out, const tsr_tensor *like);
TSR_API TSR_MUST_CHECK tsr_status tsr_full_like (tsr_tensor **out, const tsr_tensor *like, tsr_scalar value);

/* A copy of row-major host data: numel elements of `dtype`. */
TSR_API TSR_MUST_CHECK tsr_status tsr_from_data(tsr_tensor **out, tsr_dtype dtype, int ndim,
                                                const int64_t *shape, const void *data);

/* Described, not allocated: any strides, device and kind. Allocation makes a
 * storage of exactly the desc's span. Always makes a new tensor (*out is
 * replaced). */
TSR_API TSR_MUST_CHECK tsr_status tsr_declare(tsr_tensor **out, const tsr_desc *desc, tsr_device device,
                                              tsr_memory memory);

/* Allocate a described tensor; nothing to do for an allocated one. The contents
 * are undefined. TSR_ENOMEM leaves it described. */
TSR_API TSR_MUST_CHECK tsr_status tsr_alloc(tsr_tensor *t);

/* Borrowed and adopted memory; *out is replaced --------------------------- */

/* Look at memory of the caller's, which must outlive the tensor and all views of
 * it. data is element (0, ..., 0). Nothing is copied and nothing is freed. */
TSR_API TSR_MUST_CHECK tsr_status tsr_wrap(tsr_tensor **out, void *data, const tsr_desc *desc);

/* The same for memory that must not be written: writing to the tensor is
 * TSR_EREADONLY. */
TSR_API TSR_MUST_CHECK tsr_status tsr_wrap_const(tsr_tensor **out, const void *data, const tsr_desc *desc);

/* Take memory over: `deleter` is called once with it when the last tensor lets
 * go. If the call fails, the memory is still the caller's. */
TSR_API TSR_MUST_CHECK tsr_status tsr_adopt(tsr_tensor **out, void *data, const tsr_desc *desc,
                                            tsr_deleter deleter, void *context);

/* Look at a storage from `offset` bytes after its lowest byte (that is where
 * element (0, ..., 0) lies). TSR_EBOUNDS if any element leaves it; TSR_EINVAL if
 * the offset is no multiple of the element's alignment. */
TSR_API TSR_MUST_CHECK tsr_status tsr_from_storage(tsr_tensor **out, tsr_storage *storage, size_t offset,
                                                   const tsr_desc *desc);

/* A mapped file as a tensor: packed elements from byte `offset` on. */
TSR_API TSR_MUST_CHECK tsr_status tsr_map_file(tsr_tensor **out, const char *path, uint64_t offset,
                                               const tsr_desc *desc, tsr_map_mode mode);

/* Placing a tensor in the caller's own memory ------------------------------
 *
 * No allocation at all: the struct is the caller's, and so is the data.
 *
 *     float     samples[6];
 *     tsr_tensor frame;
 *     tsr_place(&frame, samples, &desc);
 *
 * A view function given a handle to a placed tensor writes the view into that struct,
 * so that views need no allocation either:
 *
 *     tsr_tensor row, *r = tsr_place_none(&row);
 *     tsr_slice(&r, &frame, 0, 1, 2, 1);
 *
 * Releasing a placed tensor lets go of its storage, if it has one, and leaves
 * the struct as "none"; the struct itself is never freed. */
TSR_API TSR_MUST_CHECK tsr_status tsr_place(tsr_tensor *t, void *data, const tsr_desc *desc);
TSR_API tsr_tensor *tsr_place_none(tsr_tensor *t); /* returns t; NULL gives NULL */

/* A number where an op takes a tensor, with no allocation: a scalar tensor on the
 * stack, alive to the end of the enclosing block (of the statement, in C++). It
 * takes the dtype of the tensors it meets; a number that their kind cannot hold (a
 * fraction with integers, a complex one with reals) is TSR_EDTYPE.
 *
 *     tsr_mul(&y, x, TSR_NUMBER(2.5));
 */
typedef struct tsr_number {
    tsr_tensor tensor;
    tsr_scalar value;
} tsr_number;

TSR_API const tsr_tensor *tsr_number_init(tsr_number *number, tsr_scalar value);

#ifdef __cplusplus
#define TSR_NUMBER(x) (tsr_number_value(TSR_SCALAR(x)))
#else
#define TSR_NUMBER(x) tsr_number_init(&(tsr_number){ .value = { .reserved = 0 } }, TSR_SCALAR(x))
#endif

/* Asking -------------------------------------------------------------------
 *
 * These return 0, false or NULL for "none". */

TSR_API bool    tsr_is_none(const tsr_tensor *t);
TSR_API bool    tsr_is_allocated(const tsr_tensor *t);
TSR_API const tsr_desc *tsr_desc_of(const tsr_tensor *t);
TSR_API int64_t tsr_numel(const tsr_tensor *t);
TSR_API int64_t tsr_byte_size(const tsr_tensor *t); /* numel * size of one */
TSR_API bool    tsr_is_scalar(const tsr_tensor *t); /* rank 0 */
TSR_API bool    tsr_is_contiguous(const tsr_tensor *t);
TSR_API bool    tsr_is_view(const tsr_tensor *t);   /* made by a view function */
TSR_API bool    tsr_is_borrowed(const tsr_tensor *t); /* memory the library will not free */
TSR_API bool    tsr_is_readonly(const tsr_tensor *t);
TSR_API bool    tsr_is_host(const tsr_tensor *t);   /* can the host reach it through a pointer? */
TSR_API bool    tsr_is_device(const tsr_tensor *t); /* is it on a device that is not the CPU? */
TSR_API bool    tsr_is_matrix(const tsr_tensor *t); /* rank 2 */
TSR_API tsr_device tsr_device_of(const tsr_tensor *t); /* TSR_CPU for "none" */
TSR_API tsr_memory tsr_memory_of(const tsr_tensor *t); /* TSR_MEMORY_HOST for "none" */

/* Is this a tensor other calls will accept: a valid desc, a known device and
 * kind, and, when allocated, inside its storage and aligned? The status and
 * message say what is wrong. */
TSR_API TSR_MUST_CHECK tsr_status tsr_check(const tsr_tensor *t);

/* Size of one dim. TSR_EINDEX if there is no such axis. */
TSR_API TSR_MUST_CHECK tsr_status tsr_dim(int64_t *out, const tsr_tensor *t, int axis);

/* What the dims of a tensor mean by its rank, everywhere in the library:
 *
 *     rank   batch    channels  height=rows  width=cols
 *     0      1        1         1            1
 *     1      1        1         1            shape[0]
 *     2      1        1         shape[0]     shape[1]
 *     3      shape[0] 1         shape[1]     shape[2]
 *     4      shape[0] shape[1]  shape[2]     shape[3]
 *     more   shape[0] shape[1]  shape[-2]    shape[-1]
 */
TSR_API int64_t tsr_batch(const tsr_tensor *t);
TSR_API int64_t tsr_channels(const tsr_tensor *t);
TSR_API int64_t tsr_height(const tsr_tensor *t);
TSR_API int64_t tsr_width(const tsr_tensor *t);
TSR_API int64_t tsr_rows(const tsr_tensor *t);
TSR_API int64_t tsr_cols(const tsr_tensor *t);

/* A matrix as BLAS wants it: the address of element (0, 0), rows, cols, the
 * leading dimension, and whether that describes the matrix or its transpose.
 * Nothing is copied. */
typedef struct tsr_matrix {
    void     *data;
    int64_t   rows, cols;  /* of the tensor */
    int64_t   ld;          /* elements between rows (row_major) or columns */
    bool      row_major;   /* else column-major: pass it to BLAS as transposed */
    tsr_dtype dtype;
} tsr_matrix;

/* TSR_ESHAPE unless rank 2; TSR_ESTRIDE unless one of the two strides is 1 and
 * the other at least the size of the dim it steps over. */
TSR_API TSR_MUST_CHECK tsr_status tsr_as_matrix(tsr_matrix *out, const tsr_tensor *t);

/* Do a and b share a byte, so that a write to a changes b? False is always right. True may be
 * wrong for strides for which finding out would take long. */
TSR_API bool tsr_may_overlap(const tsr_tensor *a, const tsr_tensor *b);

/* Do two indices of t reach the same byte? Such a tensor cannot be written. */
TSR_API bool tsr_self_overlaps(const tsr_tensor *t);

/* A name for the storage in tsr_memory_report(). */
TSR_API void tsr_set_name(tsr_tensor *t, const char *name);

TSR_END_C

#ifdef __cplusplus
/* A number that is converted to a tensor, which lives as long as its statement. */
struct tsr_number_value : tsr_number {
    explicit tsr_number_value(tsr_scalar s) : tsr_number() { tsr_number_init(this, s); }
    operator const tsr_tensor *() const { return &tensor; }
};
#endif

#endif

/* interop.h - tensors of other libraries, without copying: DLPack, Arrow, plain buffers.
 *
 *     tsr_dl_managed_versioned *m = NULL;
 *     tsr_to_dlpack(&m, t, NULL);          // hand m to another library, as DLManagedTensorVersioned *
 *
 *     tsr_from_dlpack(&t, m);              // and the other way: t sees the other library's memory
 *
 * Whoever takes a managed tensor calls its deleter once, when it is done with it. A call here
 * that takes one and fails leaves it with the caller.
 */
#ifndef TESSERA_INTEROP_H
#define TESSERA_INTEROP_H

#include "tensor.h"

TSR_BEGIN_C

/* DLPack 1.3 ----------------------------------------------------------------
 *
 * The structs of dlpack.h under our names, so that both headers can be included; a
 * pointer to one can be cast to a pointer to the other. */

enum { TSR_DLPACK_MAJOR = 1, TSR_DLPACK_MINOR = 3 };

typedef struct tsr_dl_version { uint32_t major, minor; } tsr_dl_version;   /* DLPackVersion */

enum { /* DLDeviceType; those that are met here */
       TSR_DL_CPU = 1,
       TSR_DL_CUDA = 2,
       TSR_DL_CUDA_HOST = 3,
       TSR_DL_OPENCL = 4,
       TSR_DL_VULKAN = 7,
       TSR_DL_METAL = 8,
       TSR_DL_ROCM = 10,
       TSR_DL_ROCM_HOST = 11,
       TSR_DL_CUDA_MANAGED = 13,
       TSR_DL_ONEAPI = 14
};

typedef struct tsr_dl_device { int32_t type, id; } tsr_dl_device;           /* DLDevice */

typedef struct tsr_dl_dtype { uint8_t code, bits; uint16_t lanes; } tsr_dl_dtype;  /* DLDataType */

typedef struct tsr_dl_tensor {                                              /* DLTensor */
    void         *data;
    tsr_dl_device device;
    int32_t       ndim;
    tsr_dl_dtype  dtype;
    int64_t      *shape;
    int64_t      *strides;     /* elements; NULL from producers before 1.2: row-major and packed */
    uint64_t      byte_offset; /* of element (0, ..., 0), from data */
} tsr_dl_tensor;

typedef struct tsr_dl_managed {                                             /* DLManagedTensor */
    tsr_dl_tensor dl_tensor;
    void         *manager_ctx;
    void        (*deleter)(struct tsr_dl_managed *self);  /* may be NULL */
} tsr_dl_managed;

enum {
    TSR_DL_READ_ONLY      = 1, /* must not be written */
    TSR_DL_IS_COPIED      = 2, /* nobody else has this memory */
    TSR_DL_SUBBYTE_PADDED = 4  /* elements below a byte take one each */
};

typedef struct tsr_dl_managed_versioned {                                   /* DLManagedTensorVersioned */
    tsr_dl_version version;
    void          *manager_ctx;
    void         (*deleter)(struct tsr_dl_managed_versioned *self);  /* may be NULL */
    uint64_t       flags;
    tsr_dl_tensor  dl_tensor;
} tsr_dl_managed_versioned;

/* Zeroed means the default. */
typedef struct tsr_dlpack_opts {
    bool copy;  /* memory of its own, and the flag that says so */
} tsr_dlpack_opts;

/* t for another library: the same memory, kept alive until the deleter is called, from any
 * thread. A read-only tensor is flagged so. Work of t's device is waited for, so that any
 * stream may use it. A placed tensor over bare memory must itself stay. *out is set, never
 * read. opts may be NULL.
 *
 * TSR_ESTATE    t has no memory
 * TSR_EDTYPE    DLPack has no such dtype
 * TSR_EDEVICE   DLPack has no name for t's device
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_to_dlpack(tsr_dl_managed_versioned **out, const tsr_tensor *t,
                                                const tsr_dlpack_opts *opts);

/* The struct from before DLPack 1.0, which cannot say that memory is read-only: TSR_EREADONLY
 * for such a tensor, unless it is copied. */
TSR_API TSR_MUST_CHECK tsr_status tsr_to_dlpack_legacy(tsr_dl_managed **out, const tsr_tensor *t,
                                                       const tsr_dlpack_opts *opts);

/* A tensor that sees another library's memory; the last view of it calls the deleter. Every
 * stride is taken. Pinned memory counts as the host's. *out is replaced; on failure m is still
 * the caller's to delete.
 *
 * TSR_EUNSUPPORTED  another major version; a rank beyond TSR_MAX_NDIM
 * TSR_EDTYPE        elements below a byte, of several lanes, or of a type there is none of here
 * TSR_EDEVICE       no backend for its device
 * TSR_EINVAL        not aligned to its elements
 * TSR_EOVERFLOW, TSR_ESHAPE, TSR_ENULL  what it describes cannot be
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_from_dlpack(tsr_tensor **out, tsr_dl_managed_versioned *m);
TSR_API TSR_MUST_CHECK tsr_status tsr_from_dlpack_legacy(tsr_tensor **out, tsr_dl_managed *m);

/* A look at a bare DLTensor, which stays its owner's and must outlive the tensor. */
TSR_API TSR_MUST_CHECK tsr_status tsr_wrap_dlpack(tsr_tensor **out, const tsr_dl_tensor *dl, bool readonly);

/* DLPackExchangeAPI: the functions of this library as a table. Where that table speaks of
 * Python objects, the objects here are tsr_tensor *; a binding copies the table and puts
 * its own three functions over those. They return 0, or -1 with words in tsr_last_error(). */
typedef struct tsr_dl_exchange_header {
    tsr_dl_version                 version;
    struct tsr_dl_exchange_header *prev_api;
} tsr_dl_exchange_header;

typedef struct tsr_dl_exchange_api {
    tsr_dl_exchange_header header;
    /* A new tensor like `prototype`. On failure set_error gets a kind and a message. */
    int (*managed_tensor_allocator)(tsr_dl_tensor *prototype, tsr_dl_managed_versioned **out, void *error_ctx,
                                    void (*set_error)(void *error_ctx, const char *kind,
                                                      const char *message));
    int (*managed_tensor_from_object)(void *object, tsr_dl_managed_versioned **out);
    int (*managed_tensor_to_object)(tsr_dl_managed_versioned *m, void **out_object);
    int (*dltensor_from_object)(void *object, tsr_dl_tensor *out);  /* good while the object is */
    int (*current_work_stream)(int32_t device_type, int32_t device_id, void **out_stream);
} tsr_dl_exchange_api;

TSR_API const tsr_dl_exchange_api *tsr_dlpack_exchange_api(void);

/* Buffers ---------------------------------------------------------------- */

/* A tensor over part of a foreign buffer: element (0, ..., 0) lies `offset` bytes into it, and
 * TSR_EBOUNDS if one element would leave it. deleter, if not NULL, is called once with the whole
 * buffer when the last view is gone. *out is replaced; on failure the buffer is still the
 * caller's. */
typedef struct tsr_buffer {
    void       *data;
    size_t      bytes;
    bool        readonly;
    tsr_deleter deleter;
    void       *context;
} tsr_buffer;

TSR_API TSR_MUST_CHECK tsr_status tsr_from_buffer(tsr_tensor **out, const tsr_buffer *buffer, size_t offset,
                                                  const tsr_desc *desc);

/* The Arrow C data interface ------------------------------------------------
 *
 * For 1-D columns of numbers and bools without nulls. Structs as in Arrow's specification,
 * under our names. */

typedef struct tsr_arrow_schema {
    const char               *format, *name, *metadata;
    int64_t                   flags, n_children;
    struct tsr_arrow_schema **children, *dictionary;
    void                    (*release)(struct tsr_arrow_schema *self);
    void                     *private_data;
} tsr_arrow_schema;

typedef struct tsr_arrow_array {
    int64_t                  length, null_count, offset, n_buffers, n_children;
    const void             **buffers;
    struct tsr_arrow_array **children, *dictionary;
    void                   (*release)(struct tsr_arrow_array *self);
    void                    *private_data;
} tsr_arrow_array;

/* A 1-D tensor as a column. Packed elements are shared and kept alive until the array is
 * released; others, and bools (bits in Arrow), are copied. Both structs are set, never read.
 *
 * TSR_ESHAPE  not 1-D
 * TSR_EDTYPE  bf16, f8 or complex, which Arrow has not
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_to_arrow(tsr_arrow_array *array, tsr_arrow_schema *schema,
                                               const tsr_tensor *t);

/* A column as a 1-D tensor, read-only, as Arrow's memory is; bools are copied. On success the
 * array and the schema are taken: their release is NULL afterwards.
 *
 * TSR_EUNSUPPORTED  nulls, a dictionary, or a format that is no number
 * TSR_EFORMAT       lengths or buffers that cannot be
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_from_arrow(tsr_tensor **out, tsr_arrow_array *array,
                                                 tsr_arrow_schema *schema);

TSR_END_C

#endif

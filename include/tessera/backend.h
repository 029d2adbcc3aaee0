/* backend.h - the contract between the library and a kind of device.
 *
 * A backend is a table: memory, and ops. An op travels to it as data, so that a
 * new op never changes this interface; "can you?" and "do it" are two questions.
 * The table carries the ABI number and the size it was built with, and new
 * entries go at its end.
 */
#ifndef TESSERA_BACKEND_H
#define TESSERA_BACKEND_H

#include "tensor.h"

TSR_BEGIN_C

enum { TSR_BACKEND_ABI = 1, TSR_OP_MAX_IN = 4, TSR_OP_MAX_OUT = 2 };

typedef enum tsr_op_kind {
    TSR_OP_NONE = 0,
#define X(ID, name, family, params, signature, flops, doc) TSR_OP_##ID,
#include "op.def"
#undef X
    TSR_OP_COUNT,
    TSR_OP_MAX_ = 0x7fffffff
} tsr_op_kind;

typedef struct tsr_op {
    tsr_op_kind       kind;
    int32_t           nin, nout;
    int32_t           reserved;
    const tsr_tensor *in[TSR_OP_MAX_IN];
    tsr_tensor       *out[TSR_OP_MAX_OUT];
    const void       *params; /* the struct named in op.def, or NULL */
} tsr_op;

/* Parameters of the ops that have any. */
typedef struct tsr_fill_params   { tsr_scalar value; } tsr_fill_params;
typedef struct tsr_random_params { uint64_t seed; double low, high; } tsr_random_params;
typedef struct tsr_pair_params   { double a, b; } tsr_pair_params;
typedef struct tsr_matmul_params { tsr_scalar alpha, beta; } tsr_matmul_params; /* c does not count where beta is 0 */
typedef struct tsr_reduce_params {
    uint32_t axes;      /* bit i: axis i is reduced, or scanned along */
    bool     keepdims;  /* reduced axes stay, with size 1 */
    double   a, b;      /* var, std: a is the correction; norm: a is p */
} tsr_reduce_params;
typedef struct tsr_axis_params    { int32_t axis; } tsr_axis_params;
typedef struct tsr_scatter_params { int32_t axis, mode; } tsr_scatter_params; /* mode: a tsr_scatter_mode */
typedef struct tsr_sort_params    { int32_t axis; bool descending; } tsr_sort_params;
typedef struct tsr_search_params  { bool right; } tsr_search_params;

typedef struct tsr_backend {
    uint32_t    abi;   /* TSR_BACKEND_ABI it was built with */
    uint32_t    size;  /* sizeof(tsr_backend) it was built with */
    const char *name;  /* "cpu" */

    /* How many devices there are. Required. */
    int        (*device_count)(void);

    /* Memory. Required. bytes is at least 1. */
    tsr_status (*alloc)(void **out, int device, size_t bytes, tsr_memory kind);
    void       (*free)(int device, void *data, size_t bytes, tsr_memory kind);

    /* Compute. Required. supports() must not fail and must not touch data; where
     * it says yes, run() may fail only for want of memory or hardware. Operands
     * are allocated and on this device. Elementwise ones have the result's shape
     * (broadcasting is strides of 0) and the dtype that their signature's name came
     * to. Outputs do not overlap themselves, and overlap an input only where they
     * are exactly that input (of another dtype of the same size, perhaps). */
    bool       (*supports)(int device, const tsr_op *op);
    tsr_status (*run)(int device, const tsr_op *op);

    /* Optional from here on: NULL, or a size too small to hold it. Work is then
     * finished when run() returns. */
    tsr_status (*sync)(int device);
} tsr_backend;

typedef struct tsr_op_info {
    const char *name, *family, *params, *signature, *doc;
    double      flops;  /* for an element of the result */
} tsr_op_info;

/* NULL if there is no such op. */
TSR_API const tsr_op_info *tsr_op_get_info(tsr_op_kind kind);

/* Add a backend that was built into the program. The table must stay. TSR_EINVAL if an
 * entry is missing, the name is taken, or the ABI is another. */
TSR_API TSR_MUST_CHECK tsr_status tsr_backend_register(const tsr_backend *backend);

/* For backends: leaves a sentence for tsr_last_error() and returns the status.
 *     return tsr_backend_fail(TSR_ENOMEM, "mydevice: 4096 bytes are too many");  */
TSR_API tsr_status tsr_backend_fail(tsr_status status, const char *message);

TSR_END_C

#endif

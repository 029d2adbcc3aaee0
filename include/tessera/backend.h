/* backend.h - the contract between the library and a kind of device.
 *
 * A backend is a table: memory, and ops. An op travels to it as data, so that a
 * new op never changes this interface; "can you?" and "do it" are two questions.
 * The table carries the ABI number and the size it was built with, and new
 * entries go at its end.
 */
#ifndef TESSERA_BACKEND_H
#define TESSERA_BACKEND_H

#include "op.h"

TSR_BEGIN_C

enum { TSR_BACKEND_ABI = 1 };

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
     * it says yes, run() may fail only for want of memory, of hardware or of a library,
     * or because the values have no answer (a singular matrix: TSR_EINVAL). Operands
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

/* Add a backend that was built into the program. The table must stay. TSR_EINVAL if an
 * entry is missing, the name is taken, or the ABI is another. */
TSR_API TSR_MUST_CHECK tsr_status tsr_backend_register(const tsr_backend *backend);

/* For backends: leaves a sentence for tsr_last_error() and returns the status.
 *     return tsr_backend_fail(TSR_ENOMEM, "mydevice: 4096 bytes are too many");  */
TSR_API tsr_status tsr_backend_fail(tsr_status status, const char *message);

TSR_END_C

#endif

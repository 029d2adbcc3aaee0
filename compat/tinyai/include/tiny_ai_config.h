/* tiny_ai_config.h - what TinyAI is built with: features, memory, error numbers.
 *
 * The current version and the earlier one (tiny_tensor.h, in C) share this header. Where one name
 * had two numbers, TINY_ERR_AI_INVALID_SHAPE, it has the current one, which is also what
 * TINY_ERR_AI_INVALID_ARG always was.
 */
#ifndef TINY_AI_CONFIG_H
#define TINY_AI_CONFIG_H

#include "tiny_math.h"
#include "tiny_dsp.h"

/* Features; each can be set to 0 before this header. */
#ifndef TINY_AI_TRAINING_ENABLED
#define TINY_AI_TRAINING_ENABLED 1
#endif
#ifndef TINY_AI_QUANT_INT8
#define TINY_AI_QUANT_INT8 1
#endif
#ifndef TINY_AI_QUANT_INT16
#define TINY_AI_QUANT_INT16 1
#endif
#ifndef TINY_AI_QUANT_FP8
#define TINY_AI_QUANT_FP8 1
#endif
#ifndef TINY_AI_USE_PSRAM
#define TINY_AI_USE_PSRAM 1
#endif

/* Memory. tiny::Tensor takes and gives back its data by these two, so a program that defines its
 * own before this header decides where tensors lie; TINY_AI_MALLOC gives NULL when there is none. */
#ifndef TINY_AI_MALLOC
#define TINY_AI_MALLOC(sz) malloc(sz)
#endif
#ifndef TINY_AI_MALLOC_PSRAM
#define TINY_AI_MALLOC_PSRAM(sz) malloc(sz)
#endif
#ifndef TINY_AI_FREE
#define TINY_AI_FREE(ptr) free(ptr)
#endif

/* Sections of a microcontroller's memory; a hosted program has none. */
#ifndef TINY_AI_ATTR_IRAM
#define TINY_AI_ATTR_IRAM
#endif
#ifndef TINY_AI_ATTR_PSRAM
#define TINY_AI_ATTR_PSRAM
#endif
#ifndef TINY_AI_ATTR_RODATA
#define TINY_AI_ATTR_RODATA
#endif

#define TINY_ERR_AI_BASE               0x90000
#define TINY_ERR_AI_INVALID_SHAPE      (TINY_ERR_AI_BASE + 1)
#define TINY_ERR_AI_INVALID_DTYPE      (TINY_ERR_AI_BASE + 2)
#define TINY_ERR_AI_ALLOC_FAILED       (TINY_ERR_AI_BASE + 3)
#define TINY_ERR_AI_FORWARD_FAILED     (TINY_ERR_AI_BASE + 4)
#define TINY_ERR_AI_BACKWARD_FAILED    (TINY_ERR_AI_BASE + 5)
#define TINY_ERR_AI_NOT_COMPILED       (TINY_ERR_AI_BASE + 6)
#define TINY_ERR_AI_QUANT_FAILED       (TINY_ERR_AI_BASE + 7)
#define TINY_ERR_AI_INCOMPATIBLE_SHAPE (TINY_ERR_AI_BASE + 8)
#define TINY_ERR_AI_OPTIMIZER_UNINIT   (TINY_ERR_AI_BASE + 9)
#define TINY_ERR_AI_NO_CACHE           (TINY_ERR_AI_BASE + 10)

/* The earlier version. */
#define TINY_ERR_AI_INVALID_ARG        (TINY_ERR_AI_BASE + 1)
#define TINY_ERR_AI_INVALID_DIM        (TINY_ERR_AI_BASE + 3)
#define TINY_ERR_AI_NO_MEM             (TINY_ERR_AI_BASE + 4)
#define TINY_ERR_AI_NULL_POINTER       (TINY_ERR_AI_BASE + 5)
#define TINY_ERR_AI_UNINITIALIZED      (TINY_ERR_AI_BASE + 6)
#define TINY_ERR_AI_SHAPE_MISMATCH     (TINY_ERR_AI_BASE + 7)
#define TINY_ERR_AI_NOT_SUPPORTED      (TINY_ERR_AI_BASE + 8)
#define TINY_ERR_AI_INVALID_STATE      (TINY_ERR_AI_BASE + 9)

#define TINY_AI_TENSOR_MAX_DIMS        8
#define TINY_AI_TENSOR_DEFAULT_ALIGN   16
#define TINY_AI_ENABLE_GRADIENTS       1
#define TINY_AI_ENABLE_VIEWS           0

#endif

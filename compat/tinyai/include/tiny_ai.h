/* tiny_ai.h - the whole of TinyAI that there is: tensors always, and those of the system's own
 * modules (layers, models, training, quantisation) whose headers lie on the include path. */
#ifndef TINY_AI_H
#define TINY_AI_H

#include "tiny_ai_config.h"

#ifdef __cplusplus

#include "tiny_tensor.hpp"

#if __has_include("tiny_quant_config.h")
#include "tiny_quant_config.h"
#endif
#if __has_include("tiny_fp8.hpp")
#include "tiny_fp8.hpp"
#endif
#if __has_include("tiny_quant.h")
#include "tiny_quant.h"
#endif
#if __has_include("tiny_quant.hpp")
#include "tiny_quant.hpp"
#endif
#if __has_include("tiny_activation.hpp")
#include "tiny_activation.hpp"
#endif
#if __has_include("tiny_loss.hpp")
#include "tiny_loss.hpp"
#endif
#if __has_include("tiny_optimizer.hpp")
#include "tiny_optimizer.hpp"
#endif
#if __has_include("tiny_layer.hpp")
#include "tiny_layer.hpp"
#endif
#if __has_include("tiny_dense.hpp")
#include "tiny_dense.hpp"
#endif
#if __has_include("tiny_conv.hpp")
#include "tiny_conv.hpp"
#endif
#if __has_include("tiny_pool.hpp")
#include "tiny_pool.hpp"
#endif
#if __has_include("tiny_norm.hpp")
#include "tiny_norm.hpp"
#endif
#if __has_include("tiny_attention.hpp")
#include "tiny_attention.hpp"
#endif
#if __has_include("tiny_sequential.hpp")
#include "tiny_sequential.hpp"
#endif
#if __has_include("tiny_mlp.hpp")
#include "tiny_mlp.hpp"
#endif
#if __has_include("tiny_cnn.hpp")
#include "tiny_cnn.hpp"
#endif
#if __has_include("tiny_dataset.hpp")
#include "tiny_dataset.hpp"
#endif
#if __has_include("tiny_trainer.hpp")
#include "tiny_trainer.hpp"
#endif

extern "C" {
#endif

/* The system's examples define these. */
void example_mlp(void);
void example_cnn(void);
void example_attention(void);

#ifdef __cplusplus
}
#endif

#endif

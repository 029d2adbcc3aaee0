/* llaisys/models/qwen2.h - a language model of Qwen2's shape, with a cache of keys and values.
 *
 * Create gives a model whose weights have memory and no values: load each with tensorLoad, or put tensors of
 * your own in their places, which stay yours. Biases of q, k and v may be NULL; in_embed may stand for
 * out_embed too, where embeddings are tied.
 */
#ifndef LLAISYS_MODELS_QWEN2_H
#define LLAISYS_MODELS_QWEN2_H

#include "../tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

struct LlaisysQwen2Meta {
    llaisysDataType_t dtype;  /* F32, F16 or BF16, of weights and of what is computed */
    size_t nlayer, hs, nh, nkvh, dh, di, maxseq, voc;
    float epsilon, theta;
    int64_t end_token;
};

/* Matrices are (out, in). Lists have nlayer tensors. */
struct LlaisysQwen2Weights {
    llaisysTensor_t in_embed;   /* (voc, hs) */
    llaisysTensor_t out_embed;  /* (voc, hs) */
    llaisysTensor_t out_norm_w; /* (hs) */
    llaisysTensor_t *attn_norm_w;
    llaisysTensor_t *attn_q_w;  /* (nh * dh, hs) */
    llaisysTensor_t *attn_q_b;
    llaisysTensor_t *attn_k_w;  /* (nkvh * dh, hs) */
    llaisysTensor_t *attn_k_b;
    llaisysTensor_t *attn_v_w;
    llaisysTensor_t *attn_v_b;
    llaisysTensor_t *attn_o_w;  /* (hs, nh * dh) */
    llaisysTensor_t *mlp_norm_w;
    llaisysTensor_t *mlp_gate_w; /* (di, hs) */
    llaisysTensor_t *mlp_up_w;
    llaisysTensor_t *mlp_down_w; /* (hs, di) */
};

struct LlaisysQwen2Model;

/* On the first of the devices; device_ids may be NULL for device 0. */
__export struct LlaisysQwen2Model *llaisysQwen2ModelCreate(const struct LlaisysQwen2Meta *meta,
                                                           llaisysDeviceType_t device, int *device_ids,
                                                           int ndevice);
__export void llaisysQwen2ModelDestroy(struct LlaisysQwen2Model *model); /* NULL is fine */
__export struct LlaisysQwen2Weights *llaisysQwen2ModelWeights(struct LlaisysQwen2Model *model);

/* The most likely token after these. One token goes on where the last call ended, and so do tokens that begin
 * with all that were given before; any other tokens begin anew. */
__export int64_t llaisysQwen2ModelInfer(struct LlaisysQwen2Model *model, int64_t *token_ids, size_t ntoken);

#ifdef __cplusplus
}
#endif

#endif

/* training.h - steps of training: one call for a list of tensors, and on a GPU a few launches for all.
 *
 * Rules for the whole header:
 *
 *   - Lists have n >= 0 tensors each. Tensor i of one goes with tensor i of the others: they have one shape
 *     (TSR_ESHAPE) and lie on one device (TSR_EDEVICE).
 *   - The tensors of a list that is not const are changed in place; they have memory. Tensors with the same
 *     index must not overlap each other (TSR_EOVERLAP). Tensors with different indices must not overlap
 *     either, but that is not checked: a tensor that is in a list twice has undefined contents.
 *   - Every tensor may have a dtype of its own: f16, bf16, f32 or f64 (TSR_EDTYPE), and any strides. Tensors
 *     with the same index are computed in f64 if one of them is f64, else in f32, and each result is rounded
 *     once.
 *   - All is checked before anything is changed. After a failure later than that (memory, the device) some
 *     tensors may be changed and others not.
 */
#ifndef TESSERA_OPS_TRAINING_H
#define TESSERA_OPS_TRAINING_H

#include "../tensor.h"

TSR_BEGIN_C

/* Each x becomes factor * x. */
TSR_API TSR_MUST_CHECK tsr_status tsr_scale_each(int n, tsr_tensor *const *xs, double factor);

/* Each y becomes alpha * x + y. */
TSR_API TSR_MUST_CHECK tsr_status tsr_axpy_each(int n, tsr_tensor *const *ys, const tsr_tensor *const *xs,
                                                double alpha);

/* The square root of the sum of the squares of all elements of all tensors, f64 if one of them is, else f32;
 * computed without intermediate overflow. n >= 1 (TSR_EINVAL); all lie on one device. Gradients are clipped
 * to a norm by tsr_scale_each. (floating) */
TSR_API TSR_MUST_CHECK tsr_status tsr_joint_norm(tsr_tensor **out, int n, const tsr_tensor *const *xs);

/* Gradient descent:
 *
 *     g = grad + decay * param            unless decoupled
 *     velocity = momentum * velocity + g
 *     step = velocity                     g + momentum * velocity if nesterov
 *     param = param - rate * step         of (1 - rate * decay) * param if decoupled
 *
 * Velocities begin as zeros. */
TSR_API TSR_MUST_CHECK tsr_status tsr_sgd_step(int n, tsr_tensor *const *params,
                                               tsr_tensor *const *velocities, const tsr_tensor *const *grads,
                                               double rate, double momentum, double decay, bool nesterov,
                                               bool decoupled);

/* Adam's method; AdamW's if decoupled:
 *
 *     g = grad + decay * param            unless decoupled
 *     first = beta1 * first + (1 - beta1) * g
 *     second = beta2 * second + (1 - beta2) * g * g
 *     param = param - rate * (first / (1 - beta1^step)) / (sqrt(second / (1 - beta2^step)) + eps)
 *                                         of (1 - rate * decay) * param if decoupled
 *
 * Moments begin as zeros, steps are counted from 1 (TSR_EINVAL); betas are from 0 to below 1 (TSR_EINVAL). */
TSR_API TSR_MUST_CHECK tsr_status tsr_adam_step(int n, tsr_tensor *const *params, tsr_tensor *const *firsts,
                                                tsr_tensor *const *seconds, const tsr_tensor *const *grads,
                                                int64_t step, double rate, double beta1, double beta2,
                                                double eps, double decay, bool decoupled);

TSR_END_C

#endif

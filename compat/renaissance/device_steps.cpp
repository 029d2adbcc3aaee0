/* device_steps.cpp - steps of optimizers: what Tech Renaissance does by a chain of ops, in one pass over
 * memory on the CPU. Each number is rounded as in the chain. */
#include <cmath>

#include "bridge.hpp"

namespace tr {

using face::Op;

namespace {

enum { GRAIN = 16384 }; /* elements that are worth a thread */

void check_step(const Op &op, const Tensor &param, const Tensor &other)
{
    op.check_device(other);
    if (other.is_empty()) op.refuse("Tensor has no allocated Storage");
    if (!face::is_fp32(other)) op.refuse("Only FP32 tensors are supported");
    if (!other.is_contiguous()) op.refuse("Tensors must be contiguous");
    face::check_same_shape(param, other);
}

/* SGD ---------------------------------------------------------------------------------------- */

struct Sgd {
    float *param, *velocity;
    const float *grad;
    float rate, momentum, kept; /* kept: what weight decay leaves of a parameter */
};

tsr_status sgd_range(void *context, int64_t begin, int64_t end)
{
    const Sgd s = *static_cast<const Sgd *>(context);
    for (int64_t i = begin; i < end; ++i) {
        const float v = s.velocity[i] * s.momentum + s.grad[i];
        s.velocity[i] = v;
        s.param[i] = s.param[i] * s.kept - v * s.rate;
    }
    return TSR_OK;
}

/* Adam --------------------------------------------------------------------------------------- */

/* What is left of a moment's sum at a step: the divisor that makes up for its start at 0. */
float correction(float beta, int step)
{
    const float c = 1.0f - std::pow(beta, static_cast<float>(step));
    return c > 0.0f ? c : 1e-8f;
}

struct Adam {
    float *param, *m, *v;
    const float *grad;
    float beta1, beta2, rate, scale, eps, added, kept; /* added: weight decay as part of the gradient */
};

template <bool ADDED> void adam_elements(const Adam s, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; ++i) {
        const float g = ADDED ? s.param[i] * s.added + s.grad[i] : s.grad[i];
        const float m = s.m[i] * s.beta1 + g * (1.0f - s.beta1);
        const float v = s.v[i] * s.beta2 + g * g * (1.0f - s.beta2);
        s.m[i] = m;
        s.v[i] = v;
        s.param[i] = s.param[i] * s.kept - m * s.rate / (std::sqrt(v * s.scale) + s.eps);
    }
}

tsr_status adam_range(void *context, int64_t begin, int64_t end)
{
    const Adam &s = *static_cast<const Adam *>(context);
    if (s.added > 0.0f) adam_elements<true>(s, begin, end);
    else adam_elements<false>(s, begin, end);
    return TSR_OK;
}

} // namespace

void DeviceBackend::sgd_step(Tensor &param, const Tensor &grad, Tensor &velocity, float lr, float momentum,
                             float weight_decay)
{
    const Op op{*this, "sgd_step"};
    check_step(op, param, param);
    check_step(op, param, grad);
    check_step(op, param, velocity);
    const float kept = 1.0f - lr * weight_decay;
    if (cuda_ < 0) {
        Sgd s = {param.data_ptr<float>(), velocity.data_ptr<float>(), grad.data_ptr<float>(),
                 lr, momentum, kept};
        op.must(tsr_parallel_for(param.numel(), GRAIN, sgd_range, &s));
        return;
    }
    mul_inplace(velocity, momentum);
    add_into(velocity, grad, velocity);
    mul_inplace(param, kept);
    minus_into(param, mul(velocity, lr), param);
}

void DeviceBackend::adam_step(Tensor &param, const Tensor &grad, Tensor &m, Tensor &v, int step,
                              const AdamSettings &n)
{
    const Op op{*this, "adam_step"};
    check_step(op, param, param);
    check_step(op, param, grad);
    check_step(op, param, m);
    check_step(op, param, v);
    if (step < 1) op.refuse("Steps are counted from 1, got: " + std::to_string(step));
    Adam s = {nullptr, nullptr, nullptr, nullptr, n.beta1, n.beta2, n.lr / correction(n.beta1, step),
              1.0f / correction(n.beta2, step), n.eps, n.decoupled ? 0.0f : n.weight_decay,
              n.decoupled ? 1.0f - n.lr * n.weight_decay : 1.0f};
    if (cuda_ < 0) {
        s.param = param.data_ptr<float>();
        s.m = m.data_ptr<float>();
        s.v = v.data_ptr<float>();
        s.grad = grad.data_ptr<float>();
        op.must(tsr_parallel_for(param.numel(), GRAIN, adam_range, &s));
        return;
    }
    Tensor g = s.added > 0.0f ? mul(param, s.added) : copy(grad);
    if (s.added > 0.0f) add_into(g, grad, g);
    mul_inplace(m, s.beta1);
    add_into(m, mul(g, 1.0f - s.beta1), m);
    square_inplace(g);
    mul_inplace(v, s.beta2);
    add_into(v, mul(g, 1.0f - s.beta2), v);
    mul_into(v, s.scale, g);
    sqrt_inplace(g);
    add_inplace(g, s.eps);
    Tensor change = mul(m, s.rate);
    div_into(change, g, change);
    mul_inplace(param, s.kept);
    minus_into(param, change, param);
}

} // namespace tr

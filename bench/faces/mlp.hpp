/* mlp.hpp - a multilayer perceptron as programs of Tech Renaissance write one over backends: layers without
 * bias, tanh between them, softmax and cross entropy at the end. Buffers are made once. */
#ifndef BENCH_FACES_MLP_HPP
#define BENCH_FACES_MLP_HPP

#include "tech_renaissance.h"

namespace mlp {

enum class Optimizer { SGD, ADAM, ADAMW };

/* What each optimizer is run with, as by default in PyTorch where it has a default. */
const float SGD_RATE = 0.1f, SGD_MOMENTUM = 0.9f, ADAM_RATE = 1e-3f, ADAMW_DECAY = 0.01f;

/* Weights are (out, in), as in PyTorch; moment is the velocity of SGD. Of the batch: the sum before tanh,
 * what tanh makes of it, the slope there, and the gradient that comes back. */
struct Layer {
    tr::Tensor weight, grad, moment, second, sum, active, slope, back;
};

class Network {
public:
    /* sizes: inputs, then the outputs of each layer; the weights are zeros. */
    Network(std::shared_ptr<tr::CpuBackend> cpu, int batch, const std::vector<int> &sizes,
            Optimizer optimizer)
        : cpu_(std::move(cpu)), optimizer_(optimizer), batch_(batch)
    {
        for (size_t i = 0; i + 1 < sizes.size(); ++i) {
            const tr::Shape weights(sizes[i + 1], sizes[i]), outputs(batch, sizes[i + 1]);
            Layer l;
            for (tr::Tensor *t : {&l.weight, &l.grad, &l.moment, &l.second})
                *t = cpu_->zeros(weights, tr::DType::FP32);
            for (tr::Tensor *t : {&l.sum, &l.active, &l.slope, &l.back})
                *t = cpu_->empty(outputs, tr::DType::FP32);
            layers_.push_back(std::move(l));
        }
    }

    /* The logits. */
    const tr::Tensor &forward(const tr::Tensor &input)
    {
        const tr::Tensor *x = &input;
        for (Layer &l : layers_) {
            cpu_->mm_into_transposed(*x, l.weight, l.sum, false, true);
            if (&l != &layers_.back()) cpu_->tanh_into(l.sum, l.active);
            x = &l.active;
        }
        return layers_.back().sum;
    }

    /* One step on a batch; returns the loss before it. */
    float train(const tr::Tensor &input, const tr::Tensor &target)
    {
        Layer &last = layers_.back();
        cpu_->softmax_into(forward(input), last.active, 1);
        const float loss = cpu_->crossentropy(last.active, target, "mean");
        cpu_->minus_into(last.active, target, last.back);
        cpu_->mul_inplace(last.back, 1.0f / static_cast<float>(batch_));
        backward(input);
        ++steps_;
        for (Layer &l : layers_) step(l);
        return loss;
    }

    std::vector<Layer> &layers() { return layers_; }

private:
    /* Nobody asks for the gradient of the input. */
    void backward(const tr::Tensor &input)
    {
        for (size_t i = layers_.size(); i-- > 0;) {
            Layer &l = layers_[i];
            cpu_->mm_into_transposed(l.back, i ? layers_[i - 1].active : input, l.grad, true, false);
            if (i == 0) break;
            Layer &below = layers_[i - 1];
            cpu_->mm_into(l.back, l.weight, below.back);
            cpu_->dtanh_into(below.sum, below.slope);
            cpu_->mul_into(below.back, below.slope, below.back);
        }
    }

    void step(Layer &l)
    {
        tr::AdamSettings adam;
        adam.lr = ADAM_RATE;
        adam.decoupled = optimizer_ == Optimizer::ADAMW;
        adam.weight_decay = adam.decoupled ? ADAMW_DECAY : 0.0f;
        if (optimizer_ == Optimizer::SGD) cpu_->sgd_step(l.weight, l.grad, l.moment, SGD_RATE, SGD_MOMENTUM);
        else cpu_->adam_step(l.weight, l.grad, l.moment, l.second, steps_, adam);
    }

    std::shared_ptr<tr::CpuBackend> cpu_;
    Optimizer optimizer_;
    int batch_, steps_ = 0;
    std::vector<Layer> layers_;
};

} // namespace mlp

#endif

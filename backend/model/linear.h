#pragma once

#include "backend/model/kernel_runner.h"
#include "backend/model/parameter_store.h"

#include <string>

namespace rankscope::backend {

/// y (N, O) = x (N, I) W (I, O) + b (O).
class Linear {
public:
    struct Options {
        std::string parameter; ///< "layer 0.mlp.up"
        std::string kernel; ///< "up": the kernel is recorded as "matmul up"
        std::int64_t inputs = 0, outputs = 0;
        float deviation = 0.02F; ///< of the initial weights
        bool bias = true;
    };
    Linear(ParameterStore& store, KernelRunner& runner, const Options& options);

    /// accumulate: adds to y, which then holds a residual.
    void forward(KernelRunner& runner, float* y, const float* x, std::int64_t rows, bool accumulate = false) const;
    /// Adds to the gradients of W and b, then overwrites dx (N, I) with dy W^T.
    void backward(KernelRunner& runner, float* dx, const float* dy, const float* x, std::int64_t rows) const;

private:
    void addWeightGradient(KernelRunner& runner, const float* dy, const float* x, std::int64_t rows) const;

    std::int64_t inputs_, outputs_;
    Weights weight_, bias_;
    tracing::LocalName forwardName_, inputGradientName_, weightGradientName_, biasGradientName_;
};

} // namespace rankscope::backend

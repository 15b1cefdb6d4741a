#pragma once

#include "backend/model/kernel_runner.h"
#include "backend/model/parameter_store.h"
#include "backend/model/product_input.h"

#include <string>

namespace rankscope::backend {

/// Of a norm's output: what exchanges send is not rounded.
inline Numbers normNumbers(Numbers numbers, const TensorPart& part)
{
    return part.splitsSequence ? Numbers::Fp32 : numbers;
}

/// Layer normalisation with gain and bias.
class Norm {
public:
    /// What forward keeps: y (N, C), mean (N), rstd (N).
    struct Saved {
        Saved(std::size_t rows, std::size_t width, Numbers numbers);
        ProductInput y;
        Buffer mean, rstd;
    };

    Norm(ParameterStore& store, KernelRunner& runner, const std::string& parameter, std::int64_t width,
        const TensorPart& part);

    std::int64_t width() const { return width_; }

    void forward(KernelRunner& runner, Saved& saved, const float* x, std::int64_t rows) const;
    /// Adds to dx (N, C).
    void backward(
        KernelRunner& runner, const Saved& saved, float* dx, const float* dy, const float* x, std::int64_t rows) const;

private:
    std::int64_t width_;
    int copies_;
    Weights gain_, bias_;
    tracing::LocalName name_;
};

} // namespace rankscope::backend

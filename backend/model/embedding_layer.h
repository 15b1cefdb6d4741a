#pragma once

#include "backend/model/kernel_runner.h"
#include "backend/model/parameter_store.h"
#include "kernels/embedding.h"

#include <vector>

namespace rankscope::backend {

/// Token table plus learned positions.
class EmbeddingLayer {
public:
    using Saved = std::vector<std::int32_t>; ///< the tokens (B, T)

    EmbeddingLayer(ParameterStore& store, KernelRunner& runner, const GptConfig& config, int sequences);

    void forward(KernelRunner& runner, Saved& saved, float* out, std::span<const std::int32_t> tokens) const;
    void backward(KernelRunner& runner, const Saved& saved, const float* gradient) const;

private:
    kernels::EmbeddingShape shape_;
    Weights table_, positions_;
    tracing::LocalName name_;
};

} // namespace rankscope::backend

#pragma once

#include "backend/model/kernel_runner.h"
#include "backend/model/parameter_store.h"
#include "kernels/embedding.h"

#include <vector>

namespace rankscope::backend {

/// Token table plus learned positions, for the rows (b, t) of a micro-batch that this rank has.
class EmbeddingLayer {
public:
    using Saved = std::vector<std::int32_t>; ///< the tokens of this rank's rows

    EmbeddingLayer(
        ParameterStore& store, KernelRunner& runner, const GptConfig& config, const TensorPart& part, int sequences);

    /// tokens (B, T); out has this rank's rows of (B, T, C).
    void forward(KernelRunner& runner, Saved& saved, float* out, std::span<const std::int32_t> tokens) const;
    void backward(KernelRunner& runner, const Saved& saved, const float* gradient) const;

private:
    template <typename Body> void eachPiece(const Body& body) const;

    std::int64_t firstRow_, rows_, sequence_, width_;
    int copies_;
    Weights table_, positions_;
    tracing::LocalName name_;
};

} // namespace rankscope::backend

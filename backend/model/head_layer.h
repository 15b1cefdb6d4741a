#pragma once

#include "backend/model/attention_block.h"

#include <vector>

namespace rankscope::backend {

/// Final norm, untied projection to the vocabulary, cross-entropy.
class HeadLayer {
public:
    struct Saved {
        Saved(const GptConfig& config, int sequences);
        Norm::Saved norm;
        Buffer logits; ///< (N, V); their gradient after backward
        Buffer losses, logSumExp; ///< (N)
        std::vector<std::int32_t> targets; ///< (N)
        float lossScale = 1;
    };

    HeadLayer(ParameterStore& store, KernelRunner& runner, const GptConfig& config, int sequences);

    /// The loss summed over the rows, in nats.
    double forward(KernelRunner& runner, Saved& saved, const float* in, std::span<const std::int32_t> targets) const;
    /// Overwrites gradient (N, C) with that of `in`.
    void backward(KernelRunner& runner, Saved& saved, float* gradient, const float* in, Workspace& workspace) const;

private:
    std::int64_t rows_, width_, vocab_;
    // In the order in which backward finishes them.
    Linear projection_;
    Norm norm_;
    tracing::LocalName lossName_, clearName_;
};

} // namespace rankscope::backend

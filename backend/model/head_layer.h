#pragma once

#include "backend/model/attention_block.h"

#include <vector>

namespace rankscope::backend {

/// Final norm, untied projection to the vocabulary, cross-entropy. Split, a rank has the logits of V / parts tokens;
/// what the parts tell each other is small: log-sum-exp and the target's logit of each row (Shoeybi et al. 2019,
/// section 3). N rows of (B, T), but `in` and the norm have this rank's rows only.
class HeadLayer {
public:
    struct Saved {
        Saved(const GptConfig& config, const TensorPart& part, int sequences, Numbers numbers);
        Norm::Saved norm;
        Buffer logits; ///< (N, V / parts); their gradient after backward, unless it is rounded
        std::vector<kernels::Bf16> dlogits; ///< (N, V / parts), else empty
        Buffer losses, logSumExp; ///< (N)
        Buffer ofParts; ///< (parts + 1, N): log-sum-exp of each part, the target's logit; empty unless split
        std::vector<std::int32_t> targets; ///< (N), from the first token of this part on
        float lossScale = 1;
        bool defersWeights = false;

        Operand gradient() const
        {
            return dlogits.empty() ? Operand{ logits.data(), nullptr } : Operand{ nullptr, dlogits.data() };
        }
    };

    HeadLayer(
        ParameterStore& store, KernelRunner& runner, const GptConfig& config, const TensorPart& part, int sequences);

    /// The loss summed over the rows, in nats; the same bits on all parts.
    double forward(KernelRunner& runner, Saved& saved, const float* in, std::span<const std::int32_t> targets,
        Workspace& workspace) const;
    /// Overwrites gradient with that of `in`.
    void backward(KernelRunner& runner, Saved& saved, float* gradient, const float* in, Workspace& workspace) const;
    /// The gradient of the projection, where Saved defers it.
    void backwardWeights(KernelRunner& runner, const Saved& saved, Workspace& workspace) const;

private:
    void lossBackward(KernelRunner& runner, Saved& saved) const;
    void mergeParts(KernelRunner& runner, Saved& saved) const;

    TensorPart part_;
    TensorSplit split_;
    std::int64_t rows_, width_, vocab_; ///< vocab: this rank's part
    // In the order in which backward finishes them.
    Linear projection_;
    Norm norm_;
    tracing::LocalName lossName_, clearName_, mergeName_;
};

} // namespace rankscope::backend

#pragma once

#include "backend/model/linear.h"
#include "backend/model/norm.h"
#include "backend/model/tensor_split.h"
#include "backend/model/workspace.h"

namespace rankscope::backend {

/// out = in + projection(attention(qkv(norm(in)))). Split, a rank has H / parts heads: one sum over the parts in
/// forward, one in backward. N rows of (B, T), but in, out and the norm have this rank's rows only.
class AttentionBlock {
public:
    struct Saved {
        Saved(const GptConfig& config, const TensorPart& part, int sequences, Numbers numbers, bool defersWeights);
        Norm::Saved norm;
        Buffer qkv; ///< (B, T, 3, H, D), with this rank's heads only
        ProductInput mixed; ///< (B, T, H, D), the heads' outputs
        Buffer logSumExp; ///< (B, H, T)
        // Gradients that those of deferred weights need, else empty.
        Buffer dout; ///< (N, C)
        ProductInput dqkv; ///< as qkv
    };

    AttentionBlock(ParameterStore& store, KernelRunner& runner, const GptConfig& config, const TensorPart& part,
        const std::string& layer, int sequences);

    void forward(KernelRunner& runner, Saved& saved, float* out, const float* in, Workspace& workspace) const;
    /// The norm's output again.
    void recomputeNorm(KernelRunner& runner, Saved& saved, const float* in) const;
    /// gradient is that of `out` before and that of `in` after.
    void backward(KernelRunner& runner, Saved& saved, float* gradient, const float* in, Workspace& workspace) const;
    /// The gradients of matrices and their biases, where Saved defers them.
    void backwardWeights(KernelRunner& runner, const Saved& saved, Workspace& workspace) const;

private:
    void mixForward(KernelRunner& runner, Saved& saved) const;
    void mixBackward(KernelRunner& runner, const Saved& saved, ProductInput& dqkv, const float* dmixed) const;

    TensorSplit split_;
    std::int64_t sequences_, tokens_, width_;
    std::int64_t heads_, mixedWidth_; ///< of this rank
    // In the order in which backward finishes them.
    Linear projection_, qkv_;
    Norm norm_;
    tracing::LocalName attentionName_;
};

} // namespace rankscope::backend

#pragma once

#include "backend/model/linear.h"
#include "backend/model/norm.h"

namespace rankscope::backend {

/// Memory that blocks use during backward, one for all: nothing in it outlives a block's call.
struct Workspace {
    Workspace(std::size_t rows, std::size_t width)
        : narrow(rows * width)
        , wide(rows * 4 * width)
    {
    }
    Buffer narrow; ///< (N, C)
    Buffer wide; ///< (N, 4 C)
};

/// out = in + projection(attention(qkv(norm(in)))).
class AttentionBlock {
public:
    struct Saved {
        Saved(const GptConfig& config, int sequences);
        Norm::Saved norm;
        Buffer qkv; ///< (B, T, 3, H, D)
        Buffer mixed; ///< (B, T, H, D), the heads' outputs
        Buffer logSumExp; ///< (B, H, T)
    };

    AttentionBlock(
        ParameterStore& store, KernelRunner& runner, const GptConfig& config, const std::string& layer, int sequences);

    void forward(KernelRunner& runner, Saved& saved, float* out, const float* in) const;
    /// gradient (N, C) is that of `out` before and that of `in` after.
    void backward(
        KernelRunner& runner, const Saved& saved, float* gradient, const float* in, Workspace& workspace) const;

private:
    void mixForward(KernelRunner& runner, Saved& saved) const;
    void mixBackward(KernelRunner& runner, const Saved& saved, float* dqkv, const float* dmixed) const;

    std::int64_t sequences_, tokens_, heads_, width_;
    // In the order in which backward finishes them.
    Linear projection_, qkv_;
    Norm norm_;
    tracing::LocalName attentionName_, residualName_;
};

} // namespace rankscope::backend

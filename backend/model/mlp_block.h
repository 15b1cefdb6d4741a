#pragma once

#include "backend/model/attention_block.h"

namespace rankscope::backend {

/// out = in + down(gelu(up(norm(in)))), four widths inside.
class MlpBlock {
public:
    struct Saved {
        Saved(std::size_t rows, std::size_t width);
        Norm::Saved norm;
        Buffer before, after; ///< (N, 4 C), of the GELU
    };

    MlpBlock(
        ParameterStore& store, KernelRunner& runner, const GptConfig& config, const std::string& layer, int sequences);

    void forward(KernelRunner& runner, Saved& saved, float* out, const float* in) const;
    /// gradient (N, C) is that of `out` before and that of `in` after.
    void backward(
        KernelRunner& runner, const Saved& saved, float* gradient, const float* in, Workspace& workspace) const;

private:
    std::int64_t rows_, width_;
    // In the order in which backward finishes them.
    Linear down_, up_;
    Norm norm_;
    tracing::LocalName geluName_, residualName_;
};

} // namespace rankscope::backend

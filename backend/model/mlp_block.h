#pragma once

#include "backend/model/attention_block.h"

namespace rankscope::backend {

/// out = in + down(gelu(up(norm(in)))), four widths inside, of which a rank has 4 C / parts: one sum over the parts in
/// forward, one in backward. N rows of (B, T), but in, out and the norm have this rank's rows only.
class MlpBlock {
public:
    struct Saved {
        Saved(const GptConfig& config, const TensorPart& part, int sequences, bool defersWeights);
        Norm::Saved norm;
        Buffer before, after; ///< (N, 4 C / parts), of the GELU
        Buffer dout, dbefore; ///< (N, C) and as before: gradients that those of deferred weights need, else empty
    };

    MlpBlock(ParameterStore& store, KernelRunner& runner, const GptConfig& config, const TensorPart& part,
        const std::string& layer, int sequences);

    void forward(KernelRunner& runner, Saved& saved, float* out, const float* in, Workspace& workspace) const;
    /// What backward needs again; `upToo` unless Saved kept the values before the GELU.
    void recompute(KernelRunner& runner, Saved& saved, const float* in, bool upToo, Workspace& workspace) const;
    /// gradient is that of `out` before and that of `in` after.
    void backward(KernelRunner& runner, Saved& saved, float* gradient, const float* in, Workspace& workspace) const;
    /// The gradients of matrices and their biases, where Saved defers them.
    void backwardWeights(KernelRunner& runner, const Saved& saved, Workspace& workspace) const;

private:
    TensorSplit split_;
    std::int64_t rows_, width_, inner_; ///< inner: four widths, this rank's part
    // In the order in which backward finishes them.
    Linear down_, up_;
    Norm norm_;
    tracing::LocalName geluName_;
};

} // namespace rankscope::backend

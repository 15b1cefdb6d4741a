#pragma once

#include "backend/model/feed_forward.h"
#include "backend/model/norm.h"
#include "backend/model/tensor_split.h"

#include <memory>
#include <string>

namespace rankscope::backend {

/// out = in + inside(norm(in)), where inside is one MLP for all rows or one of several experts: one sum over the parts
/// of tensors in forward, one in backward. N rows of (B, T), but in, out and the norm have this rank's rows only.
class MlpBlock {
public:
    struct Saved {
        Norm::Saved norm;
        FeedForward::Saved inside;
        Buffer dout; ///< (N, C), gradient that those of deferred weights need, else empty
    };

    MlpBlock(ParameterStore& store, KernelRunner& runner, const GptConfig& config, const TensorPart& part,
        const ExpertPart& experts, const std::string& layer, int sequences);

    Saved save(bool defersWeights) const;

    void forward(KernelRunner& runner, Saved& saved, float* out, const float* in, Workspace& workspace) const;
    /// What backward needs again: outputs of norm and GELU, or all of it.
    void recompute(KernelRunner& runner, Saved& saved, const float* in, bool allOfIt, Workspace& workspace) const;
    /// gradient is that of `out` before and that of `in` after.
    void backward(KernelRunner& runner, Saved& saved, float* gradient, const float* in, Workspace& workspace) const;
    /// The gradients of matrices and their biases, where Saved defers them.
    void backwardWeights(KernelRunner& runner, const Saved& saved, Workspace& workspace) const;

private:
    void begin(KernelRunner& runner, Saved& saved, const float* in, bool upToo, Workspace& workspace) const;

    Numbers normNumbers_;
    TensorSplit split_;
    // In the order in which backward finishes them.
    std::unique_ptr<FeedForward> inside_;
    Norm norm_;
};

} // namespace rankscope::backend

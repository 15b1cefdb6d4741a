#pragma once

#include "backend/model/feed_forward.h"
#include "backend/model/linear.h"

#include <string>

namespace rankscope::backend {

/// down(gelu(up(x))), four widths inside, of which a rank has 4 C / parts.
class DenseMlp final : public FeedForward {
public:
    DenseMlp(ParameterStore& store, KernelRunner& runner, const GptConfig& config, const TensorPart& part,
        const std::string& layer, int sequences);

    Saved save(bool defersWeights) const override;
    void up(KernelRunner& runner, Saved& saved, const Operand& x, Workspace& workspace) const override;
    void activate(KernelRunner& runner, Saved& saved) const override;
    void down(KernelRunner& runner, Saved& saved, float* y, bool accumulates, Workspace& workspace) const override;
    void recomputeDown(KernelRunner&, Saved&, Workspace&) const override { }
    void backward(KernelRunner& runner, Saved& saved, float* dx, Operand& dout, Workspace& workspace) const override;
    void addGradients(KernelRunner& runner, const Saved& saved, const Operand& x, const Operand& dout,
        const Workspace& workspace) const override;

private:
    Numbers numbers_;
    std::int64_t rows_, width_, inner_; ///< inner: four widths, this rank's part
    // In the order in which backward finishes them.
    Linear down_, up_;
    tracing::LocalName geluName_;
};

} // namespace rankscope::backend

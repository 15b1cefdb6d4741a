#pragma once

#include "backend/model/kernel_runner.h"
#include "backend/model/routing.h"
#include "backend/model/workspace.h"

namespace rankscope::backend {

/// What stands in an MLP block between its norm and the residual: on all N rows of (B, T), with one rank's part of the
/// matrices, whose results are summands of the whole.
class FeedForward {
public:
    struct Saved {
        Buffer before; ///< the GELU
        ProductInput after;
        ProductInput dbefore; ///< gradient that those of deferred weights need, else empty
        bool defersWeights = false;
        Routing routing; ///< with experts
    };

    virtual ~FeedForward() = default;

    virtual Saved save(bool defersWeights) const = 0;

    /// From the norm's output x (N, C) to the GELU's input.
    virtual void up(KernelRunner& runner, Saved& saved, const Operand& x, Workspace& workspace) const = 0;
    /// The GELU.
    virtual void activate(KernelRunner& runner, Saved& saved) const = 0;
    /// Writes or adds to y (N, C).
    virtual void down(KernelRunner& runner, Saved& saved, float* y, bool accumulates, Workspace& workspace) const = 0;

    /// What backward needs of down() besides, where nothing was kept.
    virtual void recomputeDown(KernelRunner& runner, Saved& saved, Workspace& workspace) const = 0;

    /// From dout (N, C) to dx (N, C). The gradients of weights may follow or wait for addGradients(), for which dout is
    /// rounded here if products read it.
    virtual void backward(KernelRunner& runner, Saved& saved, float* dx, Operand& dout, Workspace& workspace) const = 0;
    /// All gradients that backward() has not added; x and dout are those of this micro-batch.
    virtual void addGradients(KernelRunner& runner, const Saved& saved, const Operand& x, const Operand& dout,
        const Workspace& workspace) const = 0;
};

} // namespace rankscope::backend

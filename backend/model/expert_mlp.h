#pragma once

#include "backend/model/feed_forward.h"
#include "backend/model/linear.h"

#include <string>
#include <vector>

namespace rankscope::backend {

/// A mixture of experts: a router sends each row to the top_k of E MLPs that it finds most probable, and adds up what
/// comes back times their probabilities (Shazeer et al. 2017, Fedus et al. 2021). A rank has E / parts of the experts:
/// rows go to them by one all-to-all and come back by another, in forward and in backward.
///
/// An expert takes at most capacity_factor x N x top_k / E rows of a rank's micro-batch; what does not fit is dropped,
/// and only the residual remains of it. Only rows that are there are sent and computed: a hot expert is a slow rank.
///
/// Split tensors: each rank routes all rows and computes its part of each expert, whose results are summands. So are
/// the gradients of the gates, and with them that of the router.
class ExpertMlp final : public FeedForward {
public:
    ExpertMlp(ParameterStore& store, KernelRunner& runner, const GptConfig& config, const TensorPart& part,
        const ExpertPart& experts, const std::string& layer, int sequences);

    Saved save(bool defersWeights) const override;
    void up(KernelRunner& runner, Saved& saved, const Operand& x, Workspace& workspace) const override;
    void activate(KernelRunner& runner, Saved& saved) const override;
    void down(KernelRunner& runner, Saved& saved, float* y, bool accumulates, Workspace& workspace) const override;
    void recomputeDown(KernelRunner& runner, Saved& saved, Workspace& workspace) const override;
    void backward(KernelRunner& runner, Saved& saved, float* dx, Operand& dout, Workspace& workspace) const override;
    void addGradients(KernelRunner& runner, const Saved& saved, const Operand& x, const Operand& dout,
        const Workspace& workspace) const override;

private:
    std::int64_t localExperts() const { return static_cast<std::int64_t>(up_.size()); }
    kernels::RouteShape shape() const { return { rows_, experts_, topK_ }; }
    void route(KernelRunner& runner, Routing& routing, const float* x) const;
    void exchangeCounts(KernelRunner& runner, Routing& routing) const;
    /// packed (S, C), by expert, to out (R, C) at the experts. With one rank they are the same array already.
    void toExperts(KernelRunner& runner, const Routing& routing, float* out, float* packed, Workspace& workspace,
        const char* name) const;
    /// The way back, done when the result says so; workspace.arrived must stay until then.
    ExchangeWait startFromExperts(KernelRunner& runner, const Routing& routing, float* packed, const float* out,
        Workspace& workspace, const char* name) const;
    ExchangeWait exchange(KernelRunner& runner, const Routing& routing, float* packed, float* arrived, bool toExperts,
        const char* name) const;
    /// Calls body(expert, first row, rows) for those of this rank to which some came.
    template <typename Body> void eachExpert(const Routing& routing, const Body& body) const;
    void routeBackward(KernelRunner& runner, const Routing& routing, float* dlogits, const Workspace& workspace) const;
    void addExpertGradients(
        KernelRunner& runner, const Saved& saved, const float* doutput, const ProductInput& dbefore) const;

    Numbers numbers_;
    TensorPart part_;
    ExpertPart of_;
    std::int64_t rows_, sequence_, width_, inner_; ///< inner: four widths, this rank's part
    std::int64_t experts_, topK_, capacity_;
    float balance_; ///< weight of the balance loss
    Linear router_;
    std::vector<Linear> up_, down_; ///< of this rank's experts
    struct Names {
        tracing::LocalName gelu, route, take, sort, combine, clear;
    } names_;
};

} // namespace rankscope::backend

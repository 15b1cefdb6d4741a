#pragma once

#include "backend/model/kernel_runner.h"
#include "backend/tensor/buffer.h"

namespace rankscope::backend {

/// Where the split matrices of a block begin and end. Between them a rank computes on all N rows with its part of the
/// matrices. Outside, on the residual stream and in norms, each rank has all rows too, or, where the parts split the
/// sequence, N / parts of them (Korthikanti et al. 2022, section 4.2.2): the sum over the parts is then cut into its
/// halves, a reduce-scatter at the end of a block and an all-gather at the begin of the next one.
class TensorSplit {
public:
    TensorSplit(KernelRunner& runner, const TensorPart& part, std::int64_t rows, std::int64_t width);

    std::int64_t rows() const { return rows_; }
    std::int64_t ownRows() const { return ownRows_; }
    /// This rank's rows of x (N, C), as far as others have the rest.
    const float* own(const float* x) const { return x + firstRow_ * width_; }

    /// All rows from this rank's own: those, or `whole` (N, C), which they are put together in, then unrounded.
    Operand gather(KernelRunner& runner, const Operand& own, Buffer& whole, const char* name) const;
    /// The same, done when `wait` says so: beside kernels that do not need it yet.
    Operand startGather(
        KernelRunner& runner, const Operand& own, Buffer& whole, const char* name, ExchangeWait& wait) const;
    /// All rows of the gradient of a block's output from `own`, which backward overwrites: kept in `kept` if that has
    /// room, for deferred weights.
    const float* outGradient(
        KernelRunner& runner, const float* own, Buffer& kept, Buffer& whole, const char* name) const;
    /// Sums x (N, C) over the parts; afterwards own(x) is the sum.
    void sum(KernelRunner& runner, float* x, const char* name) const { startSum(runner, x, name)(); }
    ExchangeWait startSum(KernelRunner& runner, float* x, const char* name) const;

    /// out (own rows) = in + the sum over the parts of what `add(y, accumulates)` writes or adds to y (N, C). `whole`
    /// is where it does so if out has not all rows.
    template <typename Add>
    void addToResidual(
        KernelRunner& runner, float* out, const float* in, Buffer& whole, const char* name, const Add& add) const
    {
        if (part_.splitsSequence) {
            add(whole.data(), false);
            sum(runner, whole.data(), name);
            addResidual(runner, out, in, own(whole.data()));
            return;
        }
        // The product then adds to the copy: one pass over memory less than a sum afterwards. One summand carries it.
        const bool carriesResidual = part_.index == 0;
        if (carriesResidual)
            copyResidual(runner, out, in);
        add(out, carriesResidual);
        sum(runner, out, name);
    }

private:
    void copyResidual(KernelRunner& runner, float* out, const float* in) const;
    void addResidual(KernelRunner& runner, float* out, const float* in, const float* sum) const;

    TensorPart part_;
    std::int64_t rows_, ownRows_, firstRow_, width_;
    tracing::LocalName residualName_;
};

} // namespace rankscope::backend

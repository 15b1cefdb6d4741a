#pragma once

#include "backend/model/kernel_runner.h"
#include "backend/model/parameter_store.h"

#include <string>

namespace rankscope::backend {

/// y (N, O) = x (N, I) W (I, O) + b (O). Split by columns, a rank computes its part of y from the whole x; split by
/// rows, it computes from its part of x a summand of the whole y, of which the first one holds the bias.
class Linear {
public:
    struct Options {
        std::string parameter; ///< "layer 0.mlp.up"
        std::string kernel; ///< "up": the kernel is recorded as "matmul up"
        std::int64_t inputs = 0, outputs = 0; ///< of the whole
        float deviation = 0.02F; ///< of the initial weights
        bool bias = true;
        enum class Split { None, Columns, Rows } split = Split::None;
        std::int64_t columnGroups = 1; ///< each of which is split: 3 for queries, keys and values side by side
        TensorPart part{};
        bool isTensorSummand = false; ///< of a gradient that is a summand though the matrix is whole
        bool isExpert = false;
        bool inFp32 = false; ///< whatever the stage computes in
    };
    Linear(ParameterStore& store, KernelRunner& runner, const Options& options);

    /// Inputs that come unrounded are rounded here, if the stage computes in bf16: better once, by their maker.
    /// accumulate: adds to y, which then holds a residual.
    void forward(KernelRunner& runner, float* y, const Operand& x, std::int64_t rows, bool accumulate = false) const;
    /// Adds to the gradients of W and b. Where rows are split, b's is that of this rank's rows: only there each has a
    /// part of the work.
    void addGradients(KernelRunner& runner, const Operand& dy, const Operand& x, std::int64_t rows) const;
    /// Overwrites dx (N, I) with dy W^T: split by columns, with a summand of it.
    void inputGradient(KernelRunner& runner, float* dx, const Operand& dy, std::int64_t rows) const;

private:
    Operand weights(KernelRunner& runner) const;
    Operand operand(KernelRunner& runner, std::size_t input, const Operand& x, std::int64_t n) const;

    std::int64_t inputs_, outputs_; ///< of this rank's part
    bool addsBias_;
    TensorPart biasPart_; ///< of the rows
    bool inFp32_;
    int copies_; ///< ranks that multiply by the same matrix
    Weights weight_, bias_;
    mutable std::vector<kernels::Bf16> roundedWeight_; ///< of the version, if the stage computes in bf16
    mutable std::uint64_t roundedVersion_ = 0;
    tracing::LocalName forwardName_, inputGradientName_, weightGradientName_, biasGradientName_;
};

} // namespace rankscope::backend

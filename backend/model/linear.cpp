#include "backend/model/linear.h"

#include "kernels/elementwise.h"
#include "kernels/matmul.h"

#include <algorithm>

namespace rankscope::backend {

using kernels::MatmulShape;

Linear::Linear(ParameterStore& store, KernelRunner& runner, const Options& options)
    : inputs_(options.inputs)
    , outputs_(options.outputs)
    , weight_(store.add(options.parameter + ".weight", static_cast<std::size_t>(inputs_ * outputs_),
          ParameterStore::Init::Normal, options.deviation, true))
    , bias_(options.bias
              ? store.add(options.parameter + ".bias", static_cast<std::size_t>(outputs_), ParameterStore::Init::Zero)
              : Weights{})
    , forwardName_(runner.name("matmul " + options.kernel))
    , inputGradientName_(runner.name("matmul " + options.kernel + " input gradient"))
    , weightGradientName_(runner.name("matmul " + options.kernel + " weight gradient"))
    , biasGradientName_(runner.name("bias gradient"))
{
}

void Linear::forward(KernelRunner& runner, float* y, const float* x, std::int64_t rows, bool accumulate) const
{
    MatmulShape shape{ .M = rows, .N = outputs_, .K = inputs_, .accumulate = accumulate };
    const std::int64_t step = runner.rowsAtOnce(rows, matmulCost(shape).flop);
    for (std::int64_t row = 0; row < rows; row += step) {
        shape.M = std::min(step, rows - row);
        runner.run(forwardName_, matmulCost(shape), shape.M,
            [&] { kernels::cpu::matmul(y + row * outputs_, x + row * inputs_, weight_.value, bias_.value, shape); });
    }
}

void Linear::backward(KernelRunner& runner, float* dx, const float* dy, const float* x, std::int64_t rows) const
{
    addWeightGradient(runner, dy, x, rows);
    if (bias_.gradient)
        runner.run(biasGradientName_, kernels::biasBackwardCost(rows, outputs_), rows,
            [&] { kernels::cpu::biasBackward(bias_.gradient, dy, rows, outputs_); });
    MatmulShape shape{ .M = rows, .N = inputs_, .K = outputs_, .transposeB = true };
    const std::int64_t step = runner.rowsAtOnce(rows, matmulCost(shape).flop);
    for (std::int64_t row = 0; row < rows; row += step) {
        shape.M = std::min(step, rows - row);
        runner.run(inputGradientName_, matmulCost(shape), shape.M,
            [&] { kernels::cpu::matmul(dx + row * inputs_, dy + row * outputs_, weight_.value, nullptr, shape); });
    }
}

void Linear::addWeightGradient(KernelRunner& runner, const float* dy, const float* x, std::int64_t rows) const
{
    // x is read transposed: a piece is a range of its columns, which are the rows of the gradient.
    MatmulShape shape{ .M = inputs_, .N = outputs_, .K = rows, .transposeA = true, .lda = inputs_, .accumulate = true };
    const std::int64_t step = runner.rowsAtOnce(inputs_, matmulCost(shape).flop);
    for (std::int64_t input = 0; input < inputs_; input += step) {
        shape.M = std::min(step, inputs_ - input);
        runner.run(weightGradientName_, matmulCost(shape), rows * shape.M / inputs_,
            [&] { kernels::cpu::matmul(weight_.gradient + input * outputs_, x + input, dy, nullptr, shape); });
    }
}

} // namespace rankscope::backend

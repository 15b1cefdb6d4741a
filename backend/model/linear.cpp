#include "backend/model/linear.h"

#include "kernels/elementwise.h"
#include "kernels/matmul.h"

#include <algorithm>

namespace rankscope::backend {

using kernels::MatmulShape;
using Split = Linear::Options::Split;

namespace {

TensorCut weightCut(const Linear::Options& options)
{
    const auto inputs = static_cast<std::size_t>(options.inputs);
    const auto outputs = static_cast<std::size_t>(options.outputs);
    const auto groups = static_cast<std::size_t>(options.columnGroups);
    if (options.split == Split::Columns)
        return cutOf(inputs * groups, outputs / groups, 1, options.part);
    return cutOf(1, inputs, outputs, options.split == Split::Rows ? options.part : TensorPart{});
}

TensorCut biasCut(const Linear::Options& options)
{
    const auto outputs = static_cast<std::size_t>(options.outputs);
    const auto groups = static_cast<std::size_t>(options.columnGroups);
    return cutOf(groups, outputs / groups, 1, options.split == Split::Columns ? options.part : TensorPart{});
}

} // namespace

Linear::Linear(ParameterStore& store, KernelRunner& runner, const Options& options)
    : inputs_(options.split == Split::Rows ? options.inputs / options.part.parts : options.inputs)
    , outputs_(options.split == Split::Columns ? options.outputs / options.part.parts : options.outputs)
    , addsBias_(options.split != Split::Rows || options.part.index == 0)
    , biasPart_(options.split == Split::Rows ? options.part : TensorPart{})
    , weight_(store.add(options.parameter + ".weight",
          { .cut = weightCut(options),
              .init = ParameterStore::Init::Normal,
              .deviation = options.deviation,
              .decays = true,
              .isTensorSummand = options.isTensorSummand,
              .isExpert = options.isExpert }))
    , bias_(options.bias ? store.add(options.parameter + ".bias",
                { .cut = biasCut(options), .isTensorSummand = biasPart_.splitsSequence, .isExpert = options.isExpert })
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
    const float* bias = addsBias_ ? bias_.value : nullptr;
    for (std::int64_t row = 0; row < rows; row += step) {
        shape.M = std::min(step, rows - row);
        runner.run(forwardName_, matmulCost(shape), shape.M,
            [&] { kernels::cpu::matmul(y + row * outputs_, x + row * inputs_, weight_.value, bias, shape); });
    }
}

void Linear::addGradients(KernelRunner& runner, const float* dy, const float* x, std::int64_t rows) const
{
    // x is read transposed: a piece is a range of its columns, which are the rows of the gradient.
    MatmulShape shape{ .M = inputs_, .N = outputs_, .K = rows, .transposeA = true, .lda = inputs_, .accumulate = true };
    const std::int64_t step = runner.rowsAtOnce(inputs_, matmulCost(shape).flop);
    for (std::int64_t input = 0; input < inputs_; input += step) {
        shape.M = std::min(step, inputs_ - input);
        runner.run(weightGradientName_, matmulCost(shape), rows * shape.M / inputs_,
            [&] { kernels::cpu::matmul(weight_.gradient + input * outputs_, x + input, dy, nullptr, shape); });
    }
    if (!bias_.gradient)
        return;
    const std::int64_t ownRows = biasPart_.ownRows(rows);
    const float* own = biasPart_.splitsSequence ? dy + biasPart_.index * ownRows * outputs_ : dy;
    runner.run(biasGradientName_, kernels::biasBackwardCost(ownRows, outputs_), ownRows,
        [&] { kernels::cpu::biasBackward(bias_.gradient, own, ownRows, outputs_); });
}

void Linear::inputGradient(KernelRunner& runner, float* dx, const float* dy, std::int64_t rows) const
{
    MatmulShape shape{ .M = rows, .N = inputs_, .K = outputs_, .transposeB = true };
    const std::int64_t step = runner.rowsAtOnce(rows, matmulCost(shape).flop);
    for (std::int64_t row = 0; row < rows; row += step) {
        shape.M = std::min(step, rows - row);
        runner.run(inputGradientName_, matmulCost(shape), shape.M,
            [&] { kernels::cpu::matmul(dx + row * inputs_, dy + row * outputs_, weight_.value, nullptr, shape); });
    }
}

} // namespace rankscope::backend

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

void multiply(float* c, const Operand& a, const Operand& b, const float* bias, const MatmulShape& shape)
{
    if (a.rounded)
        kernels::cpu::matmul(c, a.rounded, b.rounded, bias, shape);
    else
        kernels::cpu::matmul(c, a.full, b.full, bias, shape);
}

} // namespace

Linear::Linear(ParameterStore& store, KernelRunner& runner, const Options& options)
    : inputs_(options.split == Split::Rows ? options.inputs / options.part.parts : options.inputs)
    , outputs_(options.split == Split::Columns ? options.outputs / options.part.parts : options.outputs)
    , addsBias_(options.split != Split::Rows || options.part.index == 0)
    , biasPart_(options.split == Split::Rows ? options.part : TensorPart{})
    , inFp32_(options.inFp32)
    , copies_(options.split == Split::None ? options.part.parts : 1)
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

Operand Linear::operand(KernelRunner& runner, std::size_t input, const Operand& x, std::int64_t n) const
{
    return inFp32_ || x.rounded ? x : runner.operand(runner.room(input), x.full, n);
}

Operand Linear::weights(KernelRunner& runner) const
{
    if (inFp32_ || runner.numbers() == Numbers::Fp32)
        return { weight_.value, nullptr };
    if (roundedVersion_ == runner.weightsVersion())
        return { nullptr, roundedWeight_.data() };
    roundedVersion_ = runner.weightsVersion();
    return runner.operand(roundedWeight_, weight_.value, inputs_ * outputs_);
}

void Linear::forward(KernelRunner& runner, float* y, const Operand& x, std::int64_t rows, bool accumulate) const
{
    const Operand input = operand(runner, 0, x, rows * inputs_), weight = weights(runner);
    MatmulShape shape{ .M = rows, .N = outputs_, .K = inputs_, .accumulate = accumulate };
    const kernels::KernelCost cost = matmulCost(shape, input.bytes());
    const float* bias = addsBias_ ? bias_.value : nullptr;
    runner.runInPieces(forwardName_, cost, { rows, copies_, input.type() }, rows, runner.rowsAtOnce(rows, cost.flop),
        [&](std::int64_t row, std::int64_t n) {
            shape.M = n;
            multiply(y + row * outputs_, input.from(row * inputs_), weight, bias, shape);
        });
}

void Linear::addGradients(KernelRunner& runner, const Operand& dy, const Operand& x, std::int64_t rows) const
{
    const Operand input = operand(runner, 0, x, rows * inputs_), gradient = operand(runner, 1, dy, rows * outputs_);
    // x is read transposed: a piece is a range of its columns, which are the rows of the gradient.
    MatmulShape shape{ .M = inputs_, .N = outputs_, .K = rows, .transposeA = true, .lda = inputs_, .accumulate = true };
    const kernels::KernelCost cost = matmulCost(shape, input.bytes());
    runner.runInPieces(weightGradientName_, cost, { rows, copies_, input.type() }, inputs_,
        runner.rowsAtOnce(inputs_, cost.flop), [&](std::int64_t first, std::int64_t n) {
            shape.M = n;
            multiply(weight_.gradient + first * outputs_, input.from(first), gradient, nullptr, shape);
        });
    if (!bias_.gradient)
        return;
    const std::int64_t ownRows = biasPart_.ownRows(rows);
    const Operand own = gradient.from(biasPart_.splitsSequence ? biasPart_.index * ownRows * outputs_ : 0);
    runner.run(biasGradientName_, kernels::biasBackwardCost(ownRows, outputs_, own.bytes()),
        { ownRows, biasPart_.copies() }, [&] {
            if (own.rounded)
                kernels::cpu::biasBackward(bias_.gradient, own.rounded, ownRows, outputs_);
            else
                kernels::cpu::biasBackward(bias_.gradient, own.full, ownRows, outputs_);
        });
}

void Linear::inputGradient(KernelRunner& runner, float* dx, const Operand& dy, std::int64_t rows) const
{
    const Operand gradient = operand(runner, 1, dy, rows * outputs_), weight = weights(runner);
    MatmulShape shape{ .M = rows, .N = inputs_, .K = outputs_, .transposeB = true };
    const kernels::KernelCost cost = matmulCost(shape, gradient.bytes());
    runner.runInPieces(inputGradientName_, cost, { rows, copies_, gradient.type() }, rows,
        runner.rowsAtOnce(rows, cost.flop), [&](std::int64_t row, std::int64_t n) {
            shape.M = n;
            multiply(dx + row * inputs_, gradient.from(row * outputs_), weight, nullptr, shape);
        });
}

} // namespace rankscope::backend

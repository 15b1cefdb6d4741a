#include "backend/model/head_layer.h"

#include "kernels/elementwise.h"
#include "kernels/softmax_cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rankscope::backend {

HeadLayer::Saved::Saved(const GptConfig& config, const TensorPart& part, int sequences, Numbers numbers)
    : norm(
        part.ownRows(rowCount(config, sequences)), static_cast<std::size_t>(config.width), normNumbers(numbers, part))
    , logits(rowCount(config, sequences) * static_cast<std::size_t>(config.vocab / part.parts))
    , dlogits(numbers == Numbers::Bf16 ? logits.size() : 0)
    , losses(rowCount(config, sequences))
    , logSumExp(rowCount(config, sequences))
    , ofParts(part.parts > 1 ? (static_cast<std::size_t>(part.parts) + 1) * rowCount(config, sequences) : 0)
{
}

HeadLayer::HeadLayer(
    ParameterStore& store, KernelRunner& runner, const GptConfig& config, const TensorPart& part, int sequences)
    : part_(part)
    , split_(runner, part, static_cast<std::int64_t>(rowCount(config, sequences)), config.width)
    , rows_(split_.rows())
    , width_(config.width)
    , vocab_(config.vocab / part.parts)
    , projection_(store, runner,
          { .parameter = "head",
              .kernel = "head",
              .inputs = width_,
              .outputs = config.vocab,
              .bias = false,
              .split = Linear::Options::Split::Columns,
              .part = part })
    , norm_(store, runner, "head.norm", width_, part)
    , lossName_(runner.name("cross-entropy"))
    , clearName_(runner.name("clear"))
    , mergeName_(runner.name("merge cross-entropy"))
{
}

double HeadLayer::forward(KernelRunner& runner, Saved& saved, const float* in, std::span<const std::int32_t> targets,
    Workspace& workspace) const
{
    const auto firstToken = static_cast<std::int32_t>(part_.index * vocab_);
    saved.targets.resize(targets.size());
    std::ranges::transform(targets, saved.targets.begin(), [&](std::int32_t target) { return target - firstToken; });
    norm_.forward(runner, saved.norm, in, split_.ownRows());
    const Operand x = split_.gather(runner, saved.norm.y.operand(), workspace.input, "head input");
    projection_.forward(runner, saved.logits.data(), x, rows_);
    runner.run(lossName_, kernels::softmaxCrossEntropyForwardCost(rows_, vocab_), rows_, [&] {
        kernels::cpu::softmaxCrossEntropyForward(
            saved.losses.data(), saved.logSumExp.data(), saved.logits.data(), saved.targets.data(), rows_, vocab_);
    });
    if (part_.parts > 1)
        mergeParts(runner, saved);
    const std::span<const float> losses = std::as_const(saved.losses).span();
    return std::accumulate(losses.begin(), losses.end(), 0.0);
}

void HeadLayer::mergeParts(KernelRunner& runner, Saved& saved) const
{
    const auto rows = static_cast<std::size_t>(rows_);
    const auto parts = static_cast<std::size_t>(part_.parts);
    float* ofParts = saved.ofParts.data();
    float* targetLogits = ofParts + parts * rows;
    // Each part fills its own row, so that the sum gathers them; of the target's logits one is not 0.
    std::ranges::fill(saved.ofParts.span(), 0.0F);
    std::ranges::copy(saved.logSumExp.span(), ofParts + static_cast<std::size_t>(part_.index) * rows);
    for (std::size_t row = 0; row < rows; ++row) {
        const std::int64_t target = saved.targets[row];
        if (target >= 0 && target < vocab_)
            targetLogits[row] = saved.logits.data()[static_cast<std::int64_t>(row) * vocab_ + target];
    }
    runner.overTensorParts(TensorOp::Sum, saved.ofParts.span(), part_, "cross-entropy")();
    runner.run(mergeName_, kernels::softmaxCrossEntropyForwardCost(rows_, part_.parts), { rows_, part_.parts }, [&] {
        for (std::size_t row = 0; row < rows; ++row) {
            float highest = ofParts[row], sum = 0;
            for (std::size_t part = 1; part < parts; ++part)
                highest = std::max(highest, ofParts[part * rows + row]);
            for (std::size_t part = 0; part < parts; ++part)
                sum += std::exp(ofParts[part * rows + row] - highest);
            saved.logSumExp.data()[row] = highest + std::log(sum);
            saved.losses.data()[row] = saved.logSumExp.data()[row] - targetLogits[row];
        }
    });
}

void HeadLayer::lossBackward(KernelRunner& runner, Saved& saved) const
{
    const int bytes = saved.dlogits.empty() ? 4 : 2;
    runner.run(lossName_, kernels::softmaxCrossEntropyBackwardCost(rows_, vocab_, bytes), rows_, [&] {
        const auto write = [&](auto* dlogits) {
            kernels::cpu::softmaxCrossEntropyBackward(dlogits, saved.logits.data(), saved.logSumExp.data(),
                saved.targets.data(), saved.lossScale, rows_, vocab_);
        };
        if (saved.dlogits.empty())
            write(saved.logits.data());
        else
            write(saved.dlogits.data());
    });
}

void HeadLayer::backward(
    KernelRunner& runner, Saved& saved, float* gradient, const float* in, Workspace& workspace) const
{
    lossBackward(runner, saved);
    const Operand dlogits = saved.gradient();
    float* narrow = workspace.narrow.data();
    ExchangeWait here = [] {};
    Operand x = saved.norm.y.operand();
    if (!saved.defersWeights)
        x = split_.startGather(runner, x, workspace.input, "head input", here);
    projection_.inputGradient(runner, narrow, dlogits, rows_);
    here();
    const ExchangeWait summed = split_.startSum(runner, narrow, "head input gradient");
    if (!saved.defersWeights)
        projection_.addGradients(runner, dlogits, x, rows_);
    const std::int64_t own = split_.ownRows() * width_;
    runner.run(clearName_, kernels::clearCost(own), split_.ownRows(), [&] { kernels::cpu::clear(gradient, own); });
    summed();
    norm_.backward(runner, saved.norm, gradient, split_.own(narrow), in, split_.ownRows());
}

void HeadLayer::backwardWeights(KernelRunner& runner, const Saved& saved, Workspace& workspace) const
{
    const Operand x = split_.gather(runner, saved.norm.y.operand(), workspace.input, "head input");
    projection_.addGradients(runner, saved.gradient(), x, rows_);
}

} // namespace rankscope::backend

#include "backend/model/head_layer.h"

#include "kernels/elementwise.h"
#include "kernels/softmax_cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rankscope::backend {

HeadLayer::Saved::Saved(const GptConfig& config, const TensorPart& part, int sequences)
    : norm(rowCount(config, sequences), static_cast<std::size_t>(config.width))
    , logits(rowCount(config, sequences) * static_cast<std::size_t>(config.vocab / part.parts))
    , losses(rowCount(config, sequences))
    , logSumExp(rowCount(config, sequences))
    , ofParts(part.parts > 1 ? (static_cast<std::size_t>(part.parts) + 1) * rowCount(config, sequences) : 0)
{
}

HeadLayer::HeadLayer(
    ParameterStore& store, KernelRunner& runner, const GptConfig& config, const TensorPart& part, int sequences)
    : part_(part)
    , rows_(static_cast<std::int64_t>(sequences) * config.sequence)
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
    , norm_(store, runner, "head.norm", width_)
    , lossName_(runner.name("cross-entropy"))
    , clearName_(runner.name("clear"))
    , mergeName_(runner.name("merge cross-entropy"))
{
}

double HeadLayer::forward(
    KernelRunner& runner, Saved& saved, const float* in, std::span<const std::int32_t> targets) const
{
    const auto firstToken = static_cast<std::int32_t>(part_.index * vocab_);
    saved.targets.resize(targets.size());
    std::ranges::transform(targets, saved.targets.begin(), [&](std::int32_t target) { return target - firstToken; });
    norm_.forward(runner, saved.norm, in, rows_);
    projection_.forward(runner, saved.logits.data(), saved.norm.y.data(), rows_);
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
    runner.sumOverTensorParts(saved.ofParts.span(), part_, "cross-entropy");
    runner.run(mergeName_, kernels::softmaxCrossEntropyForwardCost(rows_, part_.parts), rows_, [&] {
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

void HeadLayer::backward(
    KernelRunner& runner, Saved& saved, float* gradient, const float* in, Workspace& workspace) const
{
    float* dlogits = saved.logits.data();
    runner.run(lossName_, kernels::softmaxCrossEntropyBackwardCost(rows_, vocab_), rows_, [&] {
        kernels::cpu::softmaxCrossEntropyBackward(
            dlogits, dlogits, saved.logSumExp.data(), saved.targets.data(), saved.lossScale, rows_, vocab_);
    });
    if (!saved.defersWeights)
        projection_.addGradients(runner, dlogits, saved.norm.y.data(), rows_);
    projection_.inputGradient(runner, workspace.narrow.data(), dlogits, rows_);
    runner.sumOverTensorParts(workspace.narrow.span(), part_, "head input gradient");
    runner.run(
        clearName_, kernels::clearCost(rows_ * width_), rows_, [&] { kernels::cpu::clear(gradient, rows_ * width_); });
    norm_.backward(runner, saved.norm, gradient, workspace.narrow.data(), in, rows_);
}

void HeadLayer::backwardWeights(KernelRunner& runner, const Saved& saved) const
{
    projection_.addGradients(runner, saved.logits.data(), saved.norm.y.data(), rows_); // by now their gradient
}

} // namespace rankscope::backend

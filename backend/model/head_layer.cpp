#include "backend/model/head_layer.h"

#include "kernels/elementwise.h"
#include "kernels/softmax_cross_entropy.h"

#include <numeric>

namespace rankscope::backend {

HeadLayer::Saved::Saved(const GptConfig& config, int sequences)
    : norm(rowCount(config, sequences), static_cast<std::size_t>(config.width))
    , logits(rowCount(config, sequences) * static_cast<std::size_t>(config.vocab))
    , losses(rowCount(config, sequences))
    , logSumExp(rowCount(config, sequences))
{
}

HeadLayer::HeadLayer(ParameterStore& store, KernelRunner& runner, const GptConfig& config, int sequences)
    : rows_(static_cast<std::int64_t>(sequences) * config.sequence)
    , width_(config.width)
    , vocab_(config.vocab)
    , projection_(
          store, runner, { .parameter = "head", .kernel = "head", .inputs = width_, .outputs = vocab_, .bias = false })
    , norm_(store, runner, "head.norm", width_)
    , lossName_(runner.name("cross-entropy"))
    , clearName_(runner.name("clear"))
{
}

double HeadLayer::forward(
    KernelRunner& runner, Saved& saved, const float* in, std::span<const std::int32_t> targets) const
{
    saved.targets.assign(targets.begin(), targets.end());
    norm_.forward(runner, saved.norm, in, rows_);
    projection_.forward(runner, saved.logits.data(), saved.norm.y.data(), rows_);
    runner.run(lossName_, kernels::softmaxCrossEntropyForwardCost(rows_, vocab_), rows_, [&] {
        kernels::cpu::softmaxCrossEntropyForward(
            saved.losses.data(), saved.logSumExp.data(), saved.logits.data(), saved.targets.data(), rows_, vocab_);
    });
    const std::span<const float> losses = std::as_const(saved.losses).span();
    return std::accumulate(losses.begin(), losses.end(), 0.0);
}

void HeadLayer::backward(
    KernelRunner& runner, Saved& saved, float* gradient, const float* in, Workspace& workspace) const
{
    float* dlogits = saved.logits.data();
    runner.run(lossName_, kernels::softmaxCrossEntropyBackwardCost(rows_, vocab_), rows_, [&] {
        kernels::cpu::softmaxCrossEntropyBackward(
            dlogits, dlogits, saved.logSumExp.data(), saved.targets.data(), saved.lossScale, rows_, vocab_);
    });
    projection_.backward(runner, workspace.narrow.data(), dlogits, saved.norm.y.data(), rows_);
    runner.run(
        clearName_, kernels::clearCost(rows_ * width_), rows_, [&] { kernels::cpu::clear(gradient, rows_ * width_); });
    norm_.backward(runner, saved.norm, gradient, workspace.narrow.data(), in, rows_);
}

} // namespace rankscope::backend

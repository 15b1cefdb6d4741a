#include "backend/model/attention_block.h"

#include "kernels/attention.h"
#include "kernels/elementwise.h"

#include <algorithm>

namespace rankscope::backend {

AttentionBlock::Saved::Saved(const GptConfig& config, int sequences)
    : norm(rowCount(config, sequences), static_cast<std::size_t>(config.width))
    , qkv(rowCount(config, sequences) * 3 * static_cast<std::size_t>(config.width))
    , mixed(rowCount(config, sequences) * static_cast<std::size_t>(config.width))
    , logSumExp(rowCount(config, sequences) * static_cast<std::size_t>(config.heads))
{
}

AttentionBlock::AttentionBlock(
    ParameterStore& store, KernelRunner& runner, const GptConfig& config, const std::string& layer, int sequences)
    : sequences_(sequences)
    , tokens_(config.sequence)
    , heads_(config.heads)
    , width_(config.width)
    , projection_(store, runner,
          { .parameter = layer + ".attention.projection",
              .kernel = "projection",
              .inputs = width_,
              .outputs = width_,
              .deviation = residualDeviation(config) })
    , qkv_(store, runner,
          { .parameter = layer + ".attention.qkv", .kernel = "qkv", .inputs = width_, .outputs = 3 * width_ })
    , norm_(store, runner, layer + ".attention.norm", width_)
    , attentionName_(runner.name("attention"))
    , residualName_(runner.name("residual"))
{
}

void AttentionBlock::forward(KernelRunner& runner, Saved& saved, float* out, const float* in) const
{
    const std::int64_t rows = sequences_ * tokens_;
    norm_.forward(runner, saved.norm, in, rows);
    qkv_.forward(runner, saved.qkv.data(), saved.norm.y.data(), rows);
    mixForward(runner, saved);
    // The projection then adds to the copy: one pass over memory less than a sum afterwards.
    runner.run(
        residualName_, kernels::copyCost(rows * width_), rows, [&] { kernels::cpu::copy(out, in, rows * width_); });
    projection_.forward(runner, out, saved.mixed.data(), rows, true);
}

void AttentionBlock::backward(
    KernelRunner& runner, const Saved& saved, float* gradient, const float* in, Workspace& workspace) const
{
    const std::int64_t rows = sequences_ * tokens_;
    float* narrow = workspace.narrow.data();
    float* dqkv = workspace.wide.data();
    projection_.backward(runner, narrow, gradient, saved.mixed.data(), rows);
    mixBackward(runner, saved, dqkv, narrow);
    qkv_.backward(runner, narrow, dqkv, saved.norm.y.data(), rows);
    norm_.backward(runner, saved.norm, gradient, narrow, in, rows);
}

void AttentionBlock::mixForward(KernelRunner& runner, Saved& saved) const
{
    kernels::AttentionShape shape{ sequences_, tokens_, heads_, width_ / heads_ };
    const std::int64_t step = runner.sequencesAtOnce(sequences_, heads_, attentionForwardCost(shape).flop);
    for (std::int64_t first = 0; first < sequences_; first += step) {
        shape.B = std::min(step, sequences_ - first);
        const std::int64_t row = first * tokens_;
        runner.run(attentionName_, attentionForwardCost(shape), shape.B * tokens_, [&] {
            kernels::cpu::attentionForward(saved.mixed.data() + row * width_, saved.logSumExp.data() + row * heads_,
                saved.qkv.data() + row * 3 * width_, shape);
        });
    }
}

void AttentionBlock::mixBackward(KernelRunner& runner, const Saved& saved, float* dqkv, const float* dmixed) const
{
    kernels::AttentionShape shape{ sequences_, tokens_, heads_, width_ / heads_ };
    const std::int64_t step = runner.sequencesAtOnce(sequences_, heads_, attentionBackwardCost(shape).flop);
    for (std::int64_t first = 0; first < sequences_; first += step) {
        shape.B = std::min(step, sequences_ - first);
        const std::int64_t row = first * tokens_;
        runner.run(attentionName_, attentionBackwardCost(shape), shape.B * tokens_, [&] {
            kernels::cpu::attentionBackward(dqkv + row * 3 * width_, dmixed + row * width_,
                saved.mixed.data() + row * width_, saved.qkv.data() + row * 3 * width_,
                saved.logSumExp.data() + row * heads_, shape);
        });
    }
}

} // namespace rankscope::backend

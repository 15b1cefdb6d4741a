#include "backend/model/attention_block.h"

#include "kernels/attention.h"
#include "kernels/elementwise.h"

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
    const kernels::AttentionShape shape{ sequences_, tokens_, heads_, width_ / heads_ };
    norm_.forward(runner, saved.norm, in, rows);
    qkv_.forward(runner, saved.qkv.data(), saved.norm.y.data(), rows);
    runner.run(attentionName_, attentionForwardCost(shape), rows,
        [&] { kernels::cpu::attentionForward(saved.mixed.data(), saved.logSumExp.data(), saved.qkv.data(), shape); });
    // The projection then adds to the copy: one pass over memory less than a sum afterwards.
    runner.run(
        residualName_, kernels::copyCost(rows * width_), rows, [&] { kernels::cpu::copy(out, in, rows * width_); });
    projection_.forward(runner, out, saved.mixed.data(), rows, true);
}

void AttentionBlock::backward(
    KernelRunner& runner, const Saved& saved, float* gradient, const float* in, Workspace& workspace) const
{
    const std::int64_t rows = sequences_ * tokens_;
    const kernels::AttentionShape shape{ sequences_, tokens_, heads_, width_ / heads_ };
    float* narrow = workspace.narrow.data();
    float* dqkv = workspace.wide.data();
    projection_.backward(runner, narrow, gradient, saved.mixed.data(), rows);
    runner.run(attentionName_, attentionBackwardCost(shape), rows, [&] {
        kernels::cpu::attentionBackward(
            dqkv, narrow, saved.mixed.data(), saved.qkv.data(), saved.logSumExp.data(), shape);
    });
    qkv_.backward(runner, narrow, dqkv, saved.norm.y.data(), rows);
    norm_.backward(runner, saved.norm, gradient, narrow, in, rows);
}

} // namespace rankscope::backend

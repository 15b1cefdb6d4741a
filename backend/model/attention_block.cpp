#include "backend/model/attention_block.h"

#include "kernels/attention.h"
#include "kernels/elementwise.h"

#include <algorithm>

namespace rankscope::backend {

AttentionBlock::Saved::Saved(const GptConfig& config, const TensorPart& part, int sequences, bool defersWeights)
    : norm(rowCount(config, sequences), static_cast<std::size_t>(config.width))
    , qkv(rowCount(config, sequences) * 3 * static_cast<std::size_t>(config.width / part.parts))
    , mixed(rowCount(config, sequences) * static_cast<std::size_t>(config.width / part.parts))
    , logSumExp(rowCount(config, sequences) * static_cast<std::size_t>(config.heads / part.parts))
    , dout(defersWeights ? norm.y.size() : 0)
    , dqkv(defersWeights ? qkv.size() : 0)
{
}

AttentionBlock::AttentionBlock(ParameterStore& store, KernelRunner& runner, const GptConfig& config,
    const TensorPart& part, const std::string& layer, int sequences)
    : part_(part)
    , sequences_(sequences)
    , tokens_(config.sequence)
    , width_(config.width)
    , heads_(config.heads / part.parts)
    , mixedWidth_(config.width / part.parts)
    , projection_(store, runner,
          { .parameter = layer + ".attention.projection",
              .kernel = "projection",
              .inputs = width_,
              .outputs = width_,
              .deviation = residualDeviation(config),
              .split = Linear::Options::Split::Rows,
              .part = part })
    , qkv_(store, runner,
          { .parameter = layer + ".attention.qkv",
              .kernel = "qkv",
              .inputs = width_,
              .outputs = 3 * width_,
              .split = Linear::Options::Split::Columns,
              .columnGroups = 3,
              .part = part })
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
    // The projection then adds to the copy: one pass over memory less than a sum afterwards. One summand carries it.
    const bool carriesResidual = part_.index == 0;
    if (carriesResidual)
        runner.run(
            residualName_, kernels::copyCost(rows * width_), rows, [&] { kernels::cpu::copy(out, in, rows * width_); });
    projection_.forward(runner, out, saved.mixed.data(), rows, carriesResidual);
    runner.sumOverTensorParts({ out, static_cast<std::size_t>(rows * width_) }, part_, "attention output");
}

void AttentionBlock::recomputeNorm(KernelRunner& runner, Saved& saved, const float* in) const
{
    norm_.forward(runner, saved.norm, in, sequences_ * tokens_);
}

void AttentionBlock::backward(
    KernelRunner& runner, Saved& saved, float* gradient, const float* in, Workspace& workspace) const
{
    const std::int64_t rows = sequences_ * tokens_;
    const bool defers = saved.dout.size() > 0;
    float* narrow = workspace.narrow.data();
    float* dqkv = defers ? saved.dqkv.data() : workspace.wide.data();
    if (defers)
        std::copy_n(gradient, saved.dout.size(), saved.dout.data()); // it becomes that of `in`
    else
        projection_.addGradients(runner, gradient, saved.mixed.data(), rows);
    projection_.inputGradient(runner, narrow, gradient, rows);
    mixBackward(runner, saved, dqkv, narrow);
    if (!defers)
        qkv_.addGradients(runner, dqkv, saved.norm.y.data(), rows);
    qkv_.inputGradient(runner, narrow, dqkv, rows);
    runner.sumOverTensorParts({ narrow, static_cast<std::size_t>(rows * width_) }, part_, "attention input gradient");
    norm_.backward(runner, saved.norm, gradient, narrow, in, rows);
}

void AttentionBlock::backwardWeights(KernelRunner& runner, const Saved& saved) const
{
    const std::int64_t rows = sequences_ * tokens_;
    projection_.addGradients(runner, saved.dout.data(), saved.mixed.data(), rows);
    qkv_.addGradients(runner, saved.dqkv.data(), saved.norm.y.data(), rows);
}

void AttentionBlock::mixForward(KernelRunner& runner, Saved& saved) const
{
    kernels::AttentionShape shape{ sequences_, tokens_, heads_, mixedWidth_ / heads_ };
    const std::int64_t step = runner.sequencesAtOnce(sequences_, heads_, attentionForwardCost(shape).flop);
    for (std::int64_t first = 0; first < sequences_; first += step) {
        shape.B = std::min(step, sequences_ - first);
        const std::int64_t row = first * tokens_;
        runner.run(attentionName_, attentionForwardCost(shape), shape.B * tokens_, [&] {
            kernels::cpu::attentionForward(saved.mixed.data() + row * mixedWidth_,
                saved.logSumExp.data() + row * heads_, saved.qkv.data() + row * 3 * mixedWidth_, shape);
        });
    }
}

void AttentionBlock::mixBackward(KernelRunner& runner, const Saved& saved, float* dqkv, const float* dmixed) const
{
    kernels::AttentionShape shape{ sequences_, tokens_, heads_, mixedWidth_ / heads_ };
    const std::int64_t step = runner.sequencesAtOnce(sequences_, heads_, attentionBackwardCost(shape).flop);
    for (std::int64_t first = 0; first < sequences_; first += step) {
        shape.B = std::min(step, sequences_ - first);
        const std::int64_t row = first * tokens_;
        runner.run(attentionName_, attentionBackwardCost(shape), shape.B * tokens_, [&] {
            kernels::cpu::attentionBackward(dqkv + row * 3 * mixedWidth_, dmixed + row * mixedWidth_,
                saved.mixed.data() + row * mixedWidth_, saved.qkv.data() + row * 3 * mixedWidth_,
                saved.logSumExp.data() + row * heads_, shape);
        });
    }
}

} // namespace rankscope::backend

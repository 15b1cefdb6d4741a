#include "backend/model/attention_block.h"

#include "kernels/attention.h"
#include "kernels/elementwise.h"

#include <algorithm>
#include <type_traits>

namespace rankscope::backend {

AttentionBlock::Saved::Saved(
    const GptConfig& config, const TensorPart& part, int sequences, Numbers numbers, bool defersWeights)
    : norm(
        part.ownRows(rowCount(config, sequences)), static_cast<std::size_t>(config.width), normNumbers(numbers, part))
    , qkv(rowCount(config, sequences) * 3 * static_cast<std::size_t>(config.width / part.parts))
    , mixed(numbers, rowCount(config, sequences) * static_cast<std::size_t>(config.width / part.parts))
    , logSumExp(rowCount(config, sequences) * static_cast<std::size_t>(config.heads / part.parts))
    , dout(defersWeights ? rowCount(config, sequences) * static_cast<std::size_t>(config.width) : 0)
    , dqkv(numbers, defersWeights ? qkv.size() : 0)
{
}

AttentionBlock::AttentionBlock(ParameterStore& store, KernelRunner& runner, const GptConfig& config,
    const TensorPart& part, const std::string& layer, int sequences)
    : split_(runner, part, static_cast<std::int64_t>(rowCount(config, sequences)), config.width)
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
    , norm_(store, runner, layer + ".attention.norm", width_, part)
    , attentionName_(runner.name("attention"))
{
}

void AttentionBlock::forward(
    KernelRunner& runner, Saved& saved, float* out, const float* in, Workspace& workspace) const
{
    const std::int64_t rows = split_.rows();
    recomputeNorm(runner, saved, in);
    const Operand x = split_.gather(runner, saved.norm.y.operand(), workspace.input, "attention input");
    qkv_.forward(runner, saved.qkv.data(), x, rows);
    mixForward(runner, saved);
    split_.addToResidual(runner, out, in, workspace.narrow, "attention output",
        [&](float* y, bool accumulates) { projection_.forward(runner, y, saved.mixed.operand(), rows, accumulates); });
}

void AttentionBlock::recomputeNorm(KernelRunner& runner, Saved& saved, const float* in) const
{
    norm_.forward(runner, saved.norm, in, split_.ownRows());
}

void AttentionBlock::backward(
    KernelRunner& runner, Saved& saved, float* gradient, const float* in, Workspace& workspace) const
{
    const std::int64_t rows = split_.rows();
    const bool defers = saved.dout.size() > 0;
    float* narrow = workspace.narrow.data();
    ProductInput& dqkv = defers ? saved.dqkv : workspace.wide;
    const Operand dout = runner.operand(workspace.rounded,
        split_.outGradient(runner, gradient, saved.dout, workspace.gradient, "attention output gradient"),
        rows * width_);
    ExchangeWait here = [] {};
    Operand x = saved.norm.y.operand();
    if (!defers) {
        x = split_.startGather(runner, x, workspace.input, "attention input", here);
        projection_.addGradients(runner, dout, saved.mixed.operand(), rows);
    }
    projection_.inputGradient(runner, narrow, dout, rows);
    mixBackward(runner, saved, dqkv, narrow);
    qkv_.inputGradient(runner, narrow, dqkv.operand(), rows);
    here();
    const ExchangeWait summed = split_.startSum(runner, narrow, "attention input gradient");
    if (!defers)
        qkv_.addGradients(runner, dqkv.operand(), x, rows);
    summed();
    norm_.backward(runner, saved.norm, gradient, split_.own(narrow), in, split_.ownRows());
}

void AttentionBlock::backwardWeights(KernelRunner& runner, const Saved& saved, Workspace& workspace) const
{
    const std::int64_t rows = split_.rows();
    ExchangeWait here;
    const Operand x = split_.startGather(runner, saved.norm.y.operand(), workspace.input, "attention input", here);
    projection_.addGradients(runner, { saved.dout.data(), nullptr }, saved.mixed.operand(), rows);
    here();
    qkv_.addGradients(runner, saved.dqkv.operand(), x, rows);
}

void AttentionBlock::mixForward(KernelRunner& runner, Saved& saved) const
{
    kernels::AttentionShape shape{ sequences_, tokens_, heads_, mixedWidth_ / heads_ };
    const kernels::KernelCost cost = attentionForwardCost(shape, saved.mixed.bytes());
    saved.mixed.write([&](auto* mixed) {
        runner.runInPieces(attentionName_, cost, sequences_ * tokens_, sequences_,
            runner.sequencesAtOnce(sequences_, heads_, cost.flop), [&](std::int64_t first, std::int64_t n) {
                shape.B = n;
                const std::int64_t row = first * tokens_;
                kernels::cpu::attentionForward(mixed + row * mixedWidth_, saved.logSumExp.data() + row * heads_,
                    saved.qkv.data() + row * 3 * mixedWidth_, shape);
            });
    });
}

void AttentionBlock::mixBackward(
    KernelRunner& runner, const Saved& saved, ProductInput& dqkv, const float* dmixed) const
{
    kernels::AttentionShape shape{ sequences_, tokens_, heads_, mixedWidth_ / heads_ };
    const kernels::KernelCost cost = attentionBackwardCost(shape, dqkv.bytes());
    dqkv.write([&](auto* written) {
        const auto* mixed = saved.mixed.data<std::remove_pointer_t<decltype(written)>>();
        runner.runInPieces(attentionName_, cost, sequences_ * tokens_, sequences_,
            runner.sequencesAtOnce(sequences_, heads_, cost.flop), [&](std::int64_t first, std::int64_t n) {
                shape.B = n;
                const std::int64_t row = first * tokens_;
                kernels::cpu::attentionBackward(written + row * 3 * mixedWidth_, dmixed + row * mixedWidth_,
                    mixed + row * mixedWidth_, saved.qkv.data() + row * 3 * mixedWidth_,
                    saved.logSumExp.data() + row * heads_, shape);
            });
    });
}

} // namespace rankscope::backend

#include "backend/model/mlp_block.h"

#include "backend/model/dense_mlp.h"
#include "backend/model/expert_mlp.h"

namespace rankscope::backend {

namespace {

std::unique_ptr<FeedForward> makeInside(ParameterStore& store, KernelRunner& runner, const GptConfig& config,
    const TensorPart& part, const ExpertPart& experts, const std::string& layer, int sequences)
{
    if (config.experts > 0)
        return std::make_unique<ExpertMlp>(store, runner, config, part, experts, layer, sequences);
    return std::make_unique<DenseMlp>(store, runner, config, part, layer, sequences);
}

} // namespace

MlpBlock::MlpBlock(ParameterStore& store, KernelRunner& runner, const GptConfig& config, const TensorPart& part,
    const ExpertPart& experts, const std::string& layer, int sequences)
    : normNumbers_(config.experts > 0 ? Numbers::Fp32 : normNumbers(runner.numbers(), part)) // the router reads it
    , split_(runner, part, static_cast<std::int64_t>(rowCount(config, sequences)), config.width)
    , inside_(makeInside(store, runner, config, part, experts, layer, sequences))
    , norm_(store, runner, layer + ".mlp.norm", config.width, part)
{
}

MlpBlock::Saved MlpBlock::save(bool defersWeights) const
{
    const auto width = static_cast<std::size_t>(norm_.width());
    return { .norm = { static_cast<std::size_t>(split_.ownRows()), width, normNumbers_ },
        .inside = inside_->save(defersWeights),
        .dout = Buffer(defersWeights ? static_cast<std::size_t>(split_.rows()) * width : 0) };
}

void MlpBlock::forward(KernelRunner& runner, Saved& saved, float* out, const float* in, Workspace& workspace) const
{
    begin(runner, saved, in, true, workspace);
    split_.addToResidual(runner, out, in, workspace.narrow, "mlp output",
        [&](float* y, bool accumulates) { inside_->down(runner, saved.inside, y, accumulates, workspace); });
}

void MlpBlock::recompute(KernelRunner& runner, Saved& saved, const float* in, bool allOfIt, Workspace& workspace) const
{
    begin(runner, saved, in, allOfIt, workspace);
    if (allOfIt)
        inside_->recomputeDown(runner, saved.inside, workspace);
}

void MlpBlock::begin(KernelRunner& runner, Saved& saved, const float* in, bool upToo, Workspace& workspace) const
{
    norm_.forward(runner, saved.norm, in, split_.ownRows());
    if (upToo) {
        const Operand x = split_.gather(runner, saved.norm.y.operand(), workspace.input, "mlp input");
        inside_->up(runner, saved.inside, x, workspace);
    }
    inside_->activate(runner, saved.inside);
}

void MlpBlock::backward(
    KernelRunner& runner, Saved& saved, float* gradient, const float* in, Workspace& workspace) const
{
    const bool defers = saved.inside.defersWeights;
    float* narrow = workspace.narrow.data();
    Operand dout{ split_.outGradient(runner, gradient, saved.dout, workspace.gradient, "mlp output gradient"),
        nullptr };
    ExchangeWait here = [] {};
    Operand x = saved.norm.y.operand();
    if (!defers)
        x = split_.startGather(runner, x, workspace.input, "mlp input", here);
    inside_->backward(runner, saved.inside, narrow, dout, workspace);
    here();
    const ExchangeWait summed = split_.startSum(runner, narrow, "mlp input gradient");
    if (!defers)
        inside_->addGradients(runner, saved.inside, x, dout, workspace);
    summed();
    norm_.backward(runner, saved.norm, gradient, split_.own(narrow), in, split_.ownRows());
}

void MlpBlock::backwardWeights(KernelRunner& runner, const Saved& saved, Workspace& workspace) const
{
    const Operand x = split_.gather(runner, saved.norm.y.operand(), workspace.input, "mlp input");
    inside_->addGradients(runner, saved.inside, x, { saved.dout.data(), nullptr }, workspace);
}

} // namespace rankscope::backend

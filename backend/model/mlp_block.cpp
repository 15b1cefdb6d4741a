#include "backend/model/mlp_block.h"

#include "kernels/elementwise.h"
#include "kernels/gelu.h"

#include <algorithm>

namespace rankscope::backend {

MlpBlock::Saved::Saved(std::size_t rows, std::size_t width, const TensorPart& part, bool defersWeights)
    : norm(rows, width)
    , before(rows * 4 * width / static_cast<std::size_t>(part.parts))
    , after(before.size())
    , dout(defersWeights ? norm.y.size() : 0)
    , dbefore(defersWeights ? before.size() : 0)
{
}

MlpBlock::MlpBlock(ParameterStore& store, KernelRunner& runner, const GptConfig& config, const TensorPart& part,
    const std::string& layer, int sequences)
    : part_(part)
    , rows_(static_cast<std::int64_t>(sequences) * config.sequence)
    , width_(config.width)
    , inner_(4 * width_ / part.parts)
    , down_(store, runner,
          { .parameter = layer + ".mlp.down",
              .kernel = "down",
              .inputs = 4 * width_,
              .outputs = width_,
              .deviation = residualDeviation(config),
              .split = Linear::Options::Split::Rows,
              .part = part })
    , up_(store, runner,
          { .parameter = layer + ".mlp.up",
              .kernel = "up",
              .inputs = width_,
              .outputs = 4 * width_,
              .split = Linear::Options::Split::Columns,
              .part = part })
    , norm_(store, runner, layer + ".mlp.norm", width_)
    , geluName_(runner.name("gelu"))
    , residualName_(runner.name("residual"))
{
}

void MlpBlock::forward(KernelRunner& runner, Saved& saved, float* out, const float* in) const
{
    recompute(runner, saved, in, true);
    const bool carriesResidual = part_.index == 0;
    if (carriesResidual)
        runner.run(residualName_, kernels::copyCost(rows_ * width_), rows_,
            [&] { kernels::cpu::copy(out, in, rows_ * width_); });
    down_.forward(runner, out, saved.after.data(), rows_, carriesResidual);
    runner.sumOverTensorParts({ out, static_cast<std::size_t>(rows_ * width_) }, part_, "mlp output");
}

void MlpBlock::recompute(KernelRunner& runner, Saved& saved, const float* in, bool upToo) const
{
    const std::int64_t inner = rows_ * inner_;
    norm_.forward(runner, saved.norm, in, rows_);
    if (upToo)
        up_.forward(runner, saved.before.data(), saved.norm.y.data(), rows_);
    runner.run(geluName_, kernels::geluForwardCost(inner), rows_,
        [&] { kernels::cpu::geluForward(saved.after.data(), saved.before.data(), inner); });
}

void MlpBlock::backward(
    KernelRunner& runner, Saved& saved, float* gradient, const float* in, Workspace& workspace) const
{
    const std::int64_t inner = rows_ * inner_;
    float* narrow = workspace.narrow.data();
    const bool defers = saved.dout.size() > 0;
    float* wide = defers ? saved.dbefore.data() : workspace.wide.data();
    if (defers)
        std::copy_n(gradient, saved.dout.size(), saved.dout.data()); // it becomes that of `in`
    else
        down_.addGradients(runner, gradient, saved.after.data(), rows_);
    down_.inputGradient(runner, wide, gradient, rows_);
    runner.run(geluName_, kernels::geluBackwardCost(inner), rows_,
        [&] { kernels::cpu::geluBackward(wide, wide, saved.before.data(), inner); });
    if (!defers)
        up_.addGradients(runner, wide, saved.norm.y.data(), rows_);
    up_.inputGradient(runner, narrow, wide, rows_);
    runner.sumOverTensorParts({ narrow, static_cast<std::size_t>(rows_ * width_) }, part_, "mlp input gradient");
    norm_.backward(runner, saved.norm, gradient, narrow, in, rows_);
}

void MlpBlock::backwardWeights(KernelRunner& runner, const Saved& saved) const
{
    down_.addGradients(runner, saved.dout.data(), saved.after.data(), rows_);
    up_.addGradients(runner, saved.dbefore.data(), saved.norm.y.data(), rows_);
}

} // namespace rankscope::backend

#include "backend/model/mlp_block.h"

#include "kernels/elementwise.h"
#include "kernels/gelu.h"

#include <algorithm>

namespace rankscope::backend {

MlpBlock::Saved::Saved(const GptConfig& config, const TensorPart& part, int sequences, bool defersWeights)
    : norm(part.ownRows(rowCount(config, sequences)), static_cast<std::size_t>(config.width))
    , before(rowCount(config, sequences) * 4 * static_cast<std::size_t>(config.width / part.parts))
    , after(before.size())
    , dout(defersWeights ? rowCount(config, sequences) * static_cast<std::size_t>(config.width) : 0)
    , dbefore(defersWeights ? before.size() : 0)
{
}

MlpBlock::MlpBlock(ParameterStore& store, KernelRunner& runner, const GptConfig& config, const TensorPart& part,
    const std::string& layer, int sequences)
    : split_(runner, part, static_cast<std::int64_t>(rowCount(config, sequences)), config.width)
    , rows_(split_.rows())
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
    , norm_(store, runner, layer + ".mlp.norm", width_, part)
    , geluName_(runner.name("gelu"))
{
}

void MlpBlock::forward(KernelRunner& runner, Saved& saved, float* out, const float* in, Workspace& workspace) const
{
    recompute(runner, saved, in, true, workspace);
    split_.addToResidual(runner, out, in, workspace.narrow, "mlp output",
        [&](float* y, bool accumulates) { down_.forward(runner, y, saved.after.data(), rows_, accumulates); });
}

void MlpBlock::recompute(KernelRunner& runner, Saved& saved, const float* in, bool upToo, Workspace& workspace) const
{
    const std::int64_t inner = rows_ * inner_;
    norm_.forward(runner, saved.norm, in, split_.ownRows());
    if (upToo) {
        const float* x = split_.gather(runner, saved.norm.y.data(), workspace.input, "mlp input");
        up_.forward(runner, saved.before.data(), x, rows_);
    }
    runner.run(geluName_, kernels::geluForwardCost(inner), rows_,
        [&] { kernels::cpu::geluForward(saved.after.data(), saved.before.data(), inner); });
}

void MlpBlock::backward(
    KernelRunner& runner, Saved& saved, float* gradient, const float* in, Workspace& workspace) const
{
    const std::int64_t inner = rows_ * inner_;
    const bool defers = saved.dout.size() > 0;
    float* narrow = workspace.narrow.data();
    float* wide = defers ? saved.dbefore.data() : workspace.wide.data();
    const float* dout = split_.outGradient(runner, gradient, saved.dout, workspace.gradient, "mlp output gradient");
    TensorWait here = [] {};
    const float* x = saved.norm.y.data();
    if (!defers) {
        x = split_.startGather(runner, x, workspace.input, "mlp input", here);
        down_.addGradients(runner, dout, saved.after.data(), rows_);
    }
    down_.inputGradient(runner, wide, dout, rows_);
    runner.run(geluName_, kernels::geluBackwardCost(inner), rows_,
        [&] { kernels::cpu::geluBackward(wide, wide, saved.before.data(), inner); });
    up_.inputGradient(runner, narrow, wide, rows_);
    here();
    const TensorWait summed = split_.startSum(runner, narrow, "mlp input gradient");
    if (!defers)
        up_.addGradients(runner, wide, x, rows_);
    summed();
    norm_.backward(runner, saved.norm, gradient, split_.own(narrow), in, split_.ownRows());
}

void MlpBlock::backwardWeights(KernelRunner& runner, const Saved& saved, Workspace& workspace) const
{
    TensorWait here;
    const float* x = split_.startGather(runner, saved.norm.y.data(), workspace.input, "mlp input", here);
    down_.addGradients(runner, saved.dout.data(), saved.after.data(), rows_);
    here();
    up_.addGradients(runner, saved.dbefore.data(), x, rows_);
}

} // namespace rankscope::backend

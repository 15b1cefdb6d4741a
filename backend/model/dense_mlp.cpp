#include "backend/model/dense_mlp.h"

#include "kernels/gelu.h"

namespace rankscope::backend {

DenseMlp::DenseMlp(ParameterStore& store, KernelRunner& runner, const GptConfig& config, const TensorPart& part,
    const std::string& layer, int sequences)
    : rows_(static_cast<std::int64_t>(rowCount(config, sequences)))
    , inner_(4 * config.width / part.parts)
    , down_(store, runner,
          { .parameter = layer + ".mlp.down",
              .kernel = "down",
              .inputs = 4 * config.width,
              .outputs = config.width,
              .deviation = residualDeviation(config),
              .split = Linear::Options::Split::Rows,
              .part = part })
    , up_(store, runner,
          { .parameter = layer + ".mlp.up",
              .kernel = "up",
              .inputs = config.width,
              .outputs = 4 * config.width,
              .split = Linear::Options::Split::Columns,
              .part = part })
    , geluName_(runner.name("gelu"))
{
}

FeedForward::Saved DenseMlp::save(bool defersWeights) const
{
    const auto inside = static_cast<std::size_t>(rows_ * inner_);
    return { .before = Buffer(inside),
        .after = Buffer(inside),
        .dbefore = Buffer(defersWeights ? inside : 0),
        .defersWeights = defersWeights,
        .routing = {} };
}

void DenseMlp::up(KernelRunner& runner, Saved& saved, const float* x, Workspace&) const
{
    up_.forward(runner, saved.before.data(), x, rows_);
}

void DenseMlp::activate(KernelRunner& runner, Saved& saved) const
{
    const std::int64_t inside = rows_ * inner_;
    runner.run(geluName_, kernels::geluForwardCost(inside), rows_,
        [&] { kernels::cpu::geluForward(saved.after.data(), saved.before.data(), inside); });
}

void DenseMlp::down(KernelRunner& runner, Saved& saved, float* y, bool accumulates, Workspace&) const
{
    down_.forward(runner, y, saved.after.data(), rows_, accumulates);
}

void DenseMlp::backward(KernelRunner& runner, Saved& saved, float* dx, const float* dout, Workspace& workspace) const
{
    const std::int64_t inside = rows_ * inner_;
    float* wide = saved.defersWeights ? saved.dbefore.data() : workspace.wide.data();
    down_.inputGradient(runner, wide, dout, rows_);
    runner.run(geluName_, kernels::geluBackwardCost(inside), rows_,
        [&] { kernels::cpu::geluBackward(wide, wide, saved.before.data(), inside); });
    up_.inputGradient(runner, dx, wide, rows_);
}

void DenseMlp::addGradients(
    KernelRunner& runner, const Saved& saved, const float* x, const float* dout, const Workspace& workspace) const
{
    down_.addGradients(runner, dout, saved.after.data(), rows_);
    up_.addGradients(runner, saved.defersWeights ? saved.dbefore.data() : workspace.wide.data(), x, rows_);
}

} // namespace rankscope::backend

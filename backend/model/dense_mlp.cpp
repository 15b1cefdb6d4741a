#include "backend/model/dense_mlp.h"

#include "kernels/gelu.h"

namespace rankscope::backend {

DenseMlp::DenseMlp(ParameterStore& store, KernelRunner& runner, const GptConfig& config, const TensorPart& part,
    const std::string& layer, int sequences)
    : numbers_(runner.numbers())
    , rows_(static_cast<std::int64_t>(rowCount(config, sequences)))
    , width_(config.width)
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
        .after = ProductInput(numbers_, inside),
        .dbefore = ProductInput(numbers_, defersWeights ? inside : 0),
        .defersWeights = defersWeights,
        .routing = {} };
}

void DenseMlp::up(KernelRunner& runner, Saved& saved, const Operand& x, Workspace&) const
{
    up_.forward(runner, saved.before.data(), x, rows_);
}

void DenseMlp::activate(KernelRunner& runner, Saved& saved) const
{
    const std::int64_t inside = rows_ * inner_;
    saved.after.write([&](auto* after) {
        runner.run(geluName_, kernels::geluForwardCost(inside, saved.after.bytes()), rows_,
            [&] { kernels::cpu::geluForward(after, saved.before.data(), inside); });
    });
}

void DenseMlp::down(KernelRunner& runner, Saved& saved, float* y, bool accumulates, Workspace&) const
{
    down_.forward(runner, y, saved.after.operand(), rows_, accumulates);
}

void DenseMlp::backward(KernelRunner& runner, Saved& saved, float* dx, Operand& dout, Workspace& workspace) const
{
    const std::int64_t inside = rows_ * inner_;
    ProductInput& dbefore = saved.defersWeights ? saved.dbefore : workspace.wide;
    float* dafter = dbefore.unrounded(workspace.unrounded);
    dout = runner.operand(workspace.rounded, dout.full, rows_ * width_);
    down_.inputGradient(runner, dafter, dout, rows_);
    dbefore.write([&](auto* written) {
        runner.run(geluName_, kernels::geluBackwardCost(inside, dbefore.bytes()), rows_,
            [&] { kernels::cpu::geluBackward(written, dafter, saved.before.data(), inside); });
    });
    up_.inputGradient(runner, dx, dbefore.operand(), rows_);
}

void DenseMlp::addGradients(
    KernelRunner& runner, const Saved& saved, const Operand& x, const Operand& dout, const Workspace& workspace) const
{
    const ProductInput& dbefore = saved.defersWeights ? saved.dbefore : workspace.wide;
    down_.addGradients(runner, dout, saved.after.operand(), rows_);
    up_.addGradients(runner, dbefore.operand(), x, rows_);
}

} // namespace rankscope::backend

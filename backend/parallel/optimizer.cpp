#include "backend/parallel/optimizer.h"

#include "kernels/adamw.h"
#include "kernels/gradient_norm.h"

#include <omp.h>

namespace rankscope::backend {

Optimizer::Optimizer(const Settings& settings, GptStage& stage, tracing::Recorder& recorder)
    : settings_(settings)
    , stage_(stage)
    , recorder_(recorder)
    , moment1_(stage.values().size())
    , moment2_(stage.values().size())
    , threads_(static_cast<std::uint16_t>(omp_get_max_threads()))
    , names_{ .norm = recorder.name("gradient norm"), .adamw = recorder.name("adamw") }
{
}

tracing::KernelInfo Optimizer::kernelInfo(tracing::LocalName name, double flop, double bytes) const
{
    return { .name = name, .pass = tracing::Pass::Optimizer, .threads = threads_, .flop = flop, .bytes = bytes };
}

double Optimizer::squaredNorm(bool countsReplicated) const
{
    const auto count = static_cast<std::int64_t>(stage_.gradients().size());
    const kernels::KernelCost cost = kernels::squaredNormCost(count);
    const tracing::OpenSpan span = recorder_.kernel(kernelInfo(names_.norm, cost.flop, cost.bytes));
    if (countsReplicated)
        return kernels::cpu::squaredNorm(stage_.gradients().data(), count);
    double sum = 0;
    for (const Parameter& parameter : stage_.parameters()) {
        if (!parameter.cut.isWhole())
            sum += kernels::cpu::squaredNorm(
                parameter.gradient.data(), static_cast<std::int64_t>(parameter.gradient.size()));
    }
    return sum;
}

void Optimizer::update(std::int64_t step, double norm)
{
    kernels::AdamwSettings adamw{ .learningRate = static_cast<float>(settings_.learningRate.at(step)),
        .beta1 = static_cast<float>(settings_.beta1),
        .beta2 = static_cast<float>(settings_.beta2),
        .step = step + 1 };
    if (settings_.clip > 0 && norm > settings_.clip)
        adamw.gradientScale = static_cast<float>(settings_.clip / norm);
    const kernels::KernelCost cost = kernels::adamwCost(static_cast<std::int64_t>(moment1_.size()));
    const tracing::OpenSpan span = recorder_.kernel(kernelInfo(names_.adamw, cost.flop, cost.bytes));
    for (const Parameter& parameter : stage_.parameters()) {
        adamw.weightDecay = parameter.weightDecay ? static_cast<float>(settings_.weightDecay) : 0;
        kernels::cpu::adamwStep(parameter.value.data(), moment1_.data() + parameter.offset,
            moment2_.data() + parameter.offset, parameter.gradient.data(),
            static_cast<std::int64_t>(parameter.value.size()), adamw);
    }
}

} // namespace rankscope::backend

#include "backend/parallel/optimizer.h"

#include "kernels/gradient_norm.h"

#include <algorithm>
#include <omp.h>
#include <utility>

namespace rankscope::backend {

namespace {

/// What a shard and a parameter have in common, in floats of the stage.
Segment common(const Segment& shard, const Parameter& parameter)
{
    const std::size_t begin = std::max(shard.begin, parameter.offset);
    const std::size_t end = std::min(shard.begin + shard.count, parameter.offset + parameter.value.size());
    return { begin, end > begin ? end - begin : 0 };
}

} // namespace

Optimizer::Optimizer(
    const Settings& settings, GptStage& stage, std::vector<Segment> shards, tracing::Recorder& recorder)
    : settings_(settings)
    , stage_(stage)
    , recorder_(recorder)
    , shards_(std::move(shards))
    , threads_(static_cast<std::uint16_t>(omp_get_max_threads()))
    , names_{ .norm = recorder.name("gradient norm"), .adamw = recorder.name("adamw") }
{
    std::size_t floats = 0;
    for (const Segment& shard : shards_) {
        offsets_.push_back(floats);
        floats += shard.count;
    }
    moment1_.resize(floats);
    moment2_.resize(floats);
}

tracing::KernelInfo Optimizer::kernelInfo(tracing::LocalName name, double flop, double bytes) const
{
    return { .name = name, .pass = tracing::Pass::Optimizer, .threads = threads_, .flop = flop, .bytes = bytes };
}

double Optimizer::squaredNorm(bool countsReplicated, bool countsShared) const
{
    const kernels::KernelCost cost = kernels::squaredNormCost(static_cast<std::int64_t>(moment1_.size()));
    const tracing::OpenSpan span = recorder_.kernel(kernelInfo(names_.norm, cost.flop, cost.bytes));
    const auto of = [&](const Segment& part) {
        return kernels::cpu::squaredNorm(stage_.gradients().data() + part.begin, static_cast<std::int64_t>(part.count));
    };
    double sum = 0;
    for (const Segment& shard : shards_) {
        if (countsReplicated && countsShared) {
            sum += of(shard);
            continue;
        }
        for (const Parameter& parameter : stage_.parameters()) {
            if ((countsReplicated || !parameter.cut.isWhole()) && (countsShared || parameter.isExpert))
                sum += of(common(shard, parameter));
        }
    }
    return sum;
}

void Optimizer::update(std::int64_t step, double norm, const std::function<void(std::size_t shard)>& updated)
{
    kernels::AdamwSettings adamw{ .learningRate = static_cast<float>(settings_.learningRate.at(step)),
        .beta1 = static_cast<float>(settings_.beta1),
        .beta2 = static_cast<float>(settings_.beta2),
        .step = step + 1 };
    if (settings_.clip > 0 && norm > settings_.clip)
        adamw.gradientScale = static_cast<float>(settings_.clip / norm);
    for (std::size_t shard = shards_.size(); shard-- > 0;) {
        update(shard, adamw);
        if (updated)
            updated(shard);
    }
    stage_.weightsChanged();
}

void Optimizer::update(std::size_t shard, const kernels::AdamwSettings& settings)
{
    const Segment& of = shards_[shard];
    const kernels::KernelCost cost = kernels::adamwCost(static_cast<std::int64_t>(of.count));
    const tracing::OpenSpan span = recorder_.kernel(kernelInfo(names_.adamw, cost.flop, cost.bytes));
    kernels::AdamwSettings adamw = settings;
    for (const Parameter& parameter : stage_.parameters()) {
        const Segment part = common(of, parameter);
        if (part.count == 0)
            continue;
        const std::size_t moments = offsets_[shard] + part.begin - of.begin;
        adamw.weightDecay = parameter.weightDecay ? static_cast<float>(settings_.weightDecay) : 0;
        kernels::cpu::adamwStep(stage_.values().data() + part.begin, moment1_.data() + moments,
            moment2_.data() + moments, stage_.gradients().data() + part.begin, static_cast<std::int64_t>(part.count),
            adamw);
    }
}

} // namespace rankscope::backend

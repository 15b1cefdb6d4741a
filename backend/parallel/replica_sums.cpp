#include "backend/parallel/replica_sums.h"

namespace rankscope::backend {

std::vector<SharedRange> sharedRanges(const GptStage& stage, std::size_t bucketFloats)
{
    const std::size_t experts = stage.expertsBegin();
    std::vector<SharedRange> ranges{ { 0, experts, cutBuckets(stage.gradientEnds(), bucketFloats) } };
    std::vector<std::size_t> ends = stage.expertGradientEnds();
    if (ends.empty())
        return ranges;
    for (std::size_t& end : ends)
        end -= experts;
    ranges.push_back({ experts, ends.back(), cutBuckets(ends, bucketFloats) });
    return ranges;
}

ReplicaSums::ReplicaSums(Communicator& communicator, std::optional<GroupId> group, GptStage& stage,
    const SharedRange& range, bool shardsOptimizer)
    : range_(range)
{
    if (!group)
        return;
    gradients_.emplace(communicator, *group, stage.gradients().subspan(range.begin, range.count), range.buckets,
        shardsOptimizer ? GradientBuckets::Sum::OwnPart : GradientBuckets::Sum::Whole);
    if (shardsOptimizer)
        weights_.emplace(communicator, *group, stage.values().subspan(range.begin, range.count), range.buckets);
}

void ReplicaSums::ready(std::size_t end)
{
    if (gradients_)
        gradients_->ready(end - range_.begin);
}

void ReplicaSums::finish()
{
    if (gradients_)
        gradients_->finish();
}

void ReplicaSums::start(std::size_t bucket)
{
    if (weights_)
        weights_->start(bucket);
}

bool ReplicaSums::isHere(std::size_t begin, std::size_t end)
{
    return !weights_ || weights_->isHere(begin - range_.begin, end - range_.begin);
}

void ReplicaSums::need(std::size_t begin, std::size_t end)
{
    if (weights_)
        weights_->need(begin - range_.begin, end - range_.begin);
}

} // namespace rankscope::backend

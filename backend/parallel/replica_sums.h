#pragma once

#include "backend/model/gpt_stage.h"
#include "backend/parallel/gradient_buckets.h"
#include "backend/parallel/weight_gather.h"

#include <optional>
#include <vector>

namespace rankscope::backend {

/// A range of a stage's values and gradients that the same replicas hold alike, in buckets counted from its begin.
struct SharedRange {
    std::size_t begin = 0, count = 0;
    std::vector<Segment> buckets{};
};
/// What all replicas have; then the experts that some have, if there are any.
std::vector<SharedRange> sharedRanges(const GptStage& stage, std::size_t bucketFloats);

/// What replicas do together with a range that they share: sum its gradients and, where the optimizer's state is
/// divided, give each other the weights.
class ReplicaSums {
public:
    /// No group: this replica is alone with the range, and there is nothing to do.
    ReplicaSums(Communicator& communicator, std::optional<GroupId> group, GptStage& stage, const SharedRange& range,
        bool shardsOptimizer);

    bool has(std::size_t position) const { return position >= range_.begin && position < range_.begin + range_.count; }
    std::size_t bucketCount() const { return range_.buckets.size(); }

    // As those of GradientBuckets and WeightGather, in floats of the stage.
    void ready(std::size_t end);
    void finish();
    void start(std::size_t bucket);
    bool isHere(std::size_t begin, std::size_t end);
    void need(std::size_t begin, std::size_t end);

private:
    SharedRange range_;
    std::optional<GradientBuckets> gradients_;
    std::optional<WeightGather> weights_;
};

} // namespace rankscope::backend

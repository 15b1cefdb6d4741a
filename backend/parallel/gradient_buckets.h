#pragma once

#include "backend/comm/communicator.h"

#include <cstddef>
#include <span>
#include <vector>

namespace rankscope::backend {

/// Cuts a stage's gradients into buckets of at least `bucketFloats`, but for the last: the ranges that end at `ends`
/// are final one after the other and stay whole.
std::vector<Segment> cutBuckets(std::span<const std::size_t> ends, std::size_t bucketFloats);

/// Of each bucket the part that member `index` keeps when its sum is scattered.
std::vector<Segment> ownParts(std::span<const Segment> buckets, int index, int members);

/// Sums gradients over the replicas in buckets while the backward pass that makes them is still under way: a bucket
/// starts as soon as its last gradient is there. Li et al. 2020 (PyTorch DDP).
class GradientBuckets {
public:
    enum class Sum {
        Whole, ///< each replica gets all sums
        OwnPart, ///< those of its own parts (Rajbhandari et al. 2020, ZeRO stage 1)
    };

    /// `gradients` is the stage's whole buffer, in the order in which backward finishes it; `buckets` tile it.
    GradientBuckets(Communicator& communicator, GroupId group, std::span<float> gradients, std::vector<Segment> buckets,
        Sum sum = Sum::Whole);

    /// gradients[.., end) are final. Ends ascend.
    void ready(std::size_t end);
    /// Waits until all gradients are summed; all of them must be ready.
    void finish();

private:
    Communicator& communicator_;
    GroupId group_;
    std::span<float> gradients_;
    std::vector<Segment> buckets_;
    Sum sum_;
    std::size_t started_ = 0; ///< buckets under way or done
    Request last_{};
};

} // namespace rankscope::backend

#pragma once

#include "backend/comm/communicator.h"

#include <cstddef>
#include <span>

namespace rankscope::backend {

/// Sums gradients over the replicas in buckets while the backward pass that makes them is still under way: a bucket
/// starts as soon as its last gradient is there. Li et al. 2020 (PyTorch DDP).
class GradientBuckets {
public:
    /// `gradients` is the stage's whole buffer, in the order in which backward finishes it.
    GradientBuckets(Communicator& communicator, GroupId group, std::span<float> gradients, std::size_t bucketFloats);

    /// gradients[.., end) are final. Ends ascend.
    void ready(std::size_t end);
    /// Waits until all gradients are summed; all of them must be ready.
    void finish();

private:
    Communicator& communicator_;
    GroupId group_;
    std::span<float> gradients_;
    std::size_t bucketFloats_;
    std::size_t started_ = 0; ///< floats whose bucket is under way or done
    Request last_{};
};

} // namespace rankscope::backend

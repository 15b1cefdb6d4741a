#pragma once

#include "backend/comm/communicator.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace rankscope::backend {

/// Gives all replicas the weights of which each has updated its own part, bucket by bucket, while the optimizer goes on
/// and the next forward pass begins. Rajbhandari et al. 2020 (ZeRO stage 1).
class WeightGather {
public:
    /// `values` is the stage's whole buffer; `buckets` tile it.
    WeightGather(Communicator& communicator, GroupId group, std::span<float> values, std::vector<Segment> buckets);

    /// This replica's part of the bucket is up to date. All replicas start buckets in the same order.
    void start(std::size_t bucket);
    bool isHere(std::size_t begin, std::size_t end);
    /// Waits until values[begin, end) are up to date.
    void need(std::size_t begin, std::size_t end);
    void finish() { need(0, values_.size()); }

private:
    Communicator& communicator_;
    GroupId group_;
    std::span<float> values_;
    std::vector<Segment> buckets_;
    std::vector<std::optional<Request>> open_; ///< by bucket
    std::size_t openCount_ = 0;
};

} // namespace rankscope::backend

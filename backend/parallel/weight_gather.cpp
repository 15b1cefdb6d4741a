#include "backend/parallel/weight_gather.h"

#include "tracing/model/check.h"

#include <utility>

namespace rankscope::backend {

namespace {

bool meets(const Segment& bucket, std::size_t begin, std::size_t end)
{
    return bucket.begin < end && begin < bucket.begin + bucket.count;
}

} // namespace

WeightGather::WeightGather(
    Communicator& communicator, GroupId group, std::span<float> values, std::vector<Segment> buckets)
    : communicator_(communicator)
    , group_(group)
    , values_(values)
    , buckets_(std::move(buckets))
    , open_(buckets_.size())
{
}

void WeightGather::start(std::size_t bucket)
{
    RS_CHECK(!open_[bucket], "a bucket is gathered once before it is needed");
    open_[bucket]
        = communicator_.allGather(values_.subspan(buckets_[bucket].begin, buckets_[bucket].count), group_, "weights");
    ++openCount_;
}

bool WeightGather::isHere(std::size_t begin, std::size_t end)
{
    for (std::size_t i = 0; openCount_ > 0 && i < buckets_.size(); ++i) {
        if (!open_[i] || !meets(buckets_[i], begin, end))
            continue;
        if (!communicator_.done(*open_[i]))
            return false;
        open_[i].reset();
        --openCount_;
    }
    return true;
}

void WeightGather::need(std::size_t begin, std::size_t end)
{
    for (std::size_t i = 0; openCount_ > 0 && i < buckets_.size(); ++i) {
        if (!open_[i] || !meets(buckets_[i], begin, end))
            continue;
        communicator_.wait(*open_[i]);
        open_[i].reset();
        --openCount_;
    }
}

} // namespace rankscope::backend

#include "backend/parallel/gradient_buckets.h"

#include "tracing/model/check.h"

#include <utility>

namespace rankscope::backend {

std::vector<Segment> cutBuckets(std::span<const std::size_t> ends, std::size_t bucketFloats)
{
    RS_CHECK(bucketFloats > 0, "a bucket holds something");
    std::vector<Segment> buckets;
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
        if (end - begin < bucketFloats && end != ends.back())
            continue;
        buckets.push_back({ begin, end - begin });
        begin = end;
    }
    return buckets;
}

std::vector<Segment> ownParts(std::span<const Segment> buckets, int index, int members)
{
    std::vector<Segment> parts;
    for (const Segment& bucket : buckets) {
        const Segment own = segmentOf(bucket.count, index, members);
        parts.push_back({ bucket.begin + own.begin, own.count });
    }
    return parts;
}

GradientBuckets::GradientBuckets(
    Communicator& communicator, GroupId group, std::span<float> gradients, std::vector<Segment> buckets, Sum sum)
    : communicator_(communicator)
    , group_(group)
    , gradients_(gradients)
    , buckets_(std::move(buckets))
    , sum_(sum)
{
}

void GradientBuckets::ready(std::size_t end)
{
    while (started_ < buckets_.size() && buckets_[started_].begin + buckets_[started_].count <= end) {
        const std::span<float> bucket = gradients_.subspan(buckets_[started_].begin, buckets_[started_].count);
        last_ = sum_ == Sum::Whole ? communicator_.allReduce(bucket, group_, "gradients")
                                   : communicator_.reduceScatter(bucket, group_, "gradients");
        ++started_;
    }
}

void GradientBuckets::finish()
{
    RS_CHECK(started_ == buckets_.size(), "backward has finished all gradients");
    communicator_.wait(last_); // collectives finish in order, so the last is all
    started_ = 0;
}

} // namespace rankscope::backend

#include "backend/parallel/gradient_buckets.h"

#include "tracing/model/check.h"

namespace rankscope::backend {

GradientBuckets::GradientBuckets(
    Communicator& communicator, GroupId group, std::span<float> gradients, std::size_t bucketFloats)
    : communicator_(communicator)
    , group_(group)
    , gradients_(gradients)
    , bucketFloats_(bucketFloats)
{
    RS_CHECK(bucketFloats > 0, "a bucket holds something");
}

void GradientBuckets::ready(std::size_t end)
{
    const bool isLast = end == gradients_.size();
    if (end - started_ < bucketFloats_ && !(isLast && end > started_))
        return;
    last_ = communicator_.allReduce(gradients_.subspan(started_, end - started_), group_, "gradients");
    started_ = end;
}

void GradientBuckets::finish()
{
    RS_CHECK(started_ == gradients_.size(), "backward has finished all gradients");
    communicator_.wait(last_); // collectives finish in order, so the last is all
    started_ = 0;
}

} // namespace rankscope::backend

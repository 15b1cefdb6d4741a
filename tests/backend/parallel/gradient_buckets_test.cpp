#include "backend/parallel/gradient_buckets.h"
#include "backend/parallel/weight_gather.h"

#include <gtest/gtest.h>

#include <vector>

namespace rankscope::backend {

namespace {

/// Notes what is summed or gathered instead of doing so.
class NotingCommunicator final : public Communicator {
public:
    std::vector<std::size_t> sums; ///< floats of each all-reduce or reduce-scatter
    std::vector<std::size_t> gathered; ///< floats of each all-gather
    std::vector<Request> waited;

    int rank() const override { return 0; }
    int worldSize() const override { return 2; }
    GroupId addGroup(const Group&) override { return {}; }
    Request send(std::span<const float>, int, GroupId, const MessageLabel&) override { return {}; }
    Request receive(std::span<float>, int, GroupId, const MessageLabel&) override { return {}; }
    Request allReduce(std::span<float> data, GroupId, const char*) override
    {
        sums.push_back(data.size());
        return static_cast<Request>(sums.size());
    }
    Request allReduce(std::span<double>, GroupId, const char*) override { return {}; }
    Request reduceScatter(std::span<float> data, GroupId group, const char* name) override
    {
        return allReduce(data, group, name);
    }
    Request allGather(std::span<float> data, GroupId, const char*) override
    {
        gathered.push_back(data.size());
        return static_cast<Request>(100 + gathered.size());
    }
    Request allToAll(std::span<const std::span<const std::byte>>, std::span<const std::span<std::byte>>, GroupId,
        const char*) override
    {
        return {};
    }
    Request broadcast(std::span<std::byte>, int, GroupId, const char*) override { return {}; }
    Request barrier(GroupId) override { return {}; }
    bool done(Request) override { return false; }
    void wait(Request request) override { waited.push_back(request); }
    void progress() override { }
    void drain() override { }
};

} // namespace

TEST(GradientBuckets, StartABucketOnceEnoughGradientsAreFinal)
{
    NotingCommunicator communicator;
    std::vector<float> gradients(100);
    GradientBuckets buckets(
        communicator, {}, gradients, cutBuckets(std::vector<std::size_t>{ 20, 40, 60, 90, 100 }, 30));
    buckets.ready(20);
    EXPECT_TRUE(communicator.sums.empty());
    buckets.ready(40);
    EXPECT_EQ(communicator.sums, (std::vector<std::size_t>{ 40 }));
    buckets.ready(60);
    buckets.ready(90);
    buckets.ready(100);
    EXPECT_EQ(communicator.sums, (std::vector<std::size_t>{ 40, 50, 10 }));
    buckets.finish();
    EXPECT_EQ(communicator.waited, (std::vector{ static_cast<Request>(3) }));
}

TEST(GradientBuckets, BeginAnewWithEachStep)
{
    NotingCommunicator communicator;
    std::vector<float> gradients(10);
    GradientBuckets buckets(communicator, {}, gradients, cutBuckets(std::vector<std::size_t>{ 10 }, 100));
    for (int step = 0; step < 2; ++step) {
        buckets.ready(10);
        buckets.finish();
    }
    EXPECT_EQ(communicator.sums, (std::vector<std::size_t>{ 10, 10 }));
}

TEST(OwnParts, DivideEachBucketForItself)
{
    const std::vector<Segment> buckets{ { 0, 10 }, { 10, 5 } };
    EXPECT_EQ(ownParts(buckets, 0, 2), (std::vector<Segment>{ { 0, 5 }, { 10, 2 } }));
    EXPECT_EQ(ownParts(buckets, 1, 2), (std::vector<Segment>{ { 5, 5 }, { 12, 3 } }));
}

TEST(WeightGather, WaitsForTheBucketsThatAreRead)
{
    NotingCommunicator communicator;
    std::vector<float> values(30);
    WeightGather weights(communicator, {}, values, { { 0, 10 }, { 10, 10 }, { 20, 10 } });
    EXPECT_TRUE(weights.isHere(0, 30)) << "nothing is under way";
    for (const std::size_t bucket : { 2u, 1u, 0u })
        weights.start(bucket);
    EXPECT_FALSE(weights.isHere(10, 12));
    weights.need(20, 30);
    weights.need(15, 25);
    weights.need(10, 20); // they have come
    EXPECT_EQ(communicator.waited, (std::vector{ static_cast<Request>(101), static_cast<Request>(102) }));
    weights.finish();
    EXPECT_EQ(communicator.waited.back(), static_cast<Request>(103));
}

} // namespace rankscope::backend

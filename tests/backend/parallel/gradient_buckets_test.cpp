#include "backend/parallel/gradient_buckets.h"

#include <gtest/gtest.h>

#include <vector>

namespace rankscope::backend {

namespace {

/// Notes what is summed instead of summing it.
class NotingCommunicator final : public Communicator {
public:
    std::vector<std::size_t> sums; ///< floats of each all-reduce
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
    Request reduceScatter(std::span<float>, GroupId, const char*) override { return {}; }
    Request allGather(std::span<float>, GroupId, const char*) override { return {}; }
    Request allToAll(std::span<const std::span<const std::byte>>, std::span<const std::span<std::byte>>, GroupId,
        const char*) override
    {
        return {};
    }
    Request broadcast(std::span<std::byte>, int, GroupId, const char*) override { return {}; }
    Request barrier(GroupId) override { return {}; }
    bool done(Request) override { return true; }
    void wait(Request request) override { waited.push_back(request); }
    void progress() override { }
    void drain() override { }
};

} // namespace

TEST(GradientBuckets, StartABucketOnceEnoughGradientsAreFinal)
{
    NotingCommunicator communicator;
    std::vector<float> gradients(100);
    GradientBuckets buckets(communicator, {}, gradients, 30);
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
    GradientBuckets buckets(communicator, {}, gradients, 100);
    for (int step = 0; step < 2; ++step) {
        buckets.ready(10);
        buckets.finish();
    }
    EXPECT_EQ(communicator.sums, (std::vector<std::size_t>{ 10, 10 }));
}

} // namespace rankscope::backend

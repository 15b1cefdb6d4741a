#include "tracing/cli/watch/hang.h"

#include "tests/support/temporary_directory.h"
#include "tracing/record/recorder.h"

#include <gtest/gtest.h>

#include <memory>

namespace rankscope::tracing {
namespace {

/// Two ranks of one group that are in the middle of something.
class Hang : public testing::Test {
protected:
    Hang()
    {
        for (std::int32_t rank = 0; rank < 2; ++rank) {
            ranks_.push_back(Recorder::open({ session_.string(), rank, 2, 0, 1 << 16 }));
            groups_.push_back(ranks_.back()->communicator("dp", Dimension::Data, { 0, 1 }));
            ranks_.back()->range({}).end();
        }
    }

    [[nodiscard]] OpenSpan allReduce(std::size_t rank, std::uint32_t sequence)
    {
        CollectiveInfo info;
        info.op = CollectiveOp::AllReduce;
        info.communicator = groups_[rank];
        info.sequence = sequence;
        return ranks_[rank]->collective(info);
    }
    [[nodiscard]] OpenSpan receive(std::size_t rank, std::int32_t peer)
    {
        CollectiveInfo info;
        info.op = CollectiveOp::Receive;
        info.communicator = groups_[rank];
        info.peer = peer;
        return ranks_[rank]->collective(info);
    }

    support::TemporaryDirectory directory_;
    std::filesystem::path session_ = directory_ / "";
    std::vector<std::unique_ptr<Recorder>> ranks_;
    std::vector<LocalCommunicator> groups_;
};

TEST_F(Hang, NamesWhoDidNotJoinByTheNumbersOfTheGroup)
{
    const auto waiting = allReduce(0, 118);
    EXPECT_EQ(whoDidNotJoin(session_), "rank 1 did not join all-reduce 118 of dp");
    const AttemptEnd end = endByHang(session_, 12);
    EXPECT_EQ(end.reason, "rank 1 keeps the others waiting; no progress for 12 s");
    EXPECT_EQ(end.ranks, std::vector<int>{ 1 });
}

TEST_F(Hang, ARankInAnEarlierCollectiveDidNotJoinTheLaterOne)
{
    const auto behind = allReduce(0, 117), ahead = allReduce(1, 118);
    EXPECT_EQ(
        whoDidNotJoin(session_), "rank 1 did not join all-reduce 117 of dp, rank 0 did not join all-reduce 118 of dp");
}

TEST_F(Hang, SaysWhereAllAreWhenNobodyIsMissing)
{
    const auto one = allReduce(0, 5), other = allReduce(1, 5);
    EXPECT_EQ(whoDidNotJoin(session_), "all ranks are in all-reduce 5 of dp");
    EXPECT_EQ(endByHang(session_, 12).reason, "the ranks hang; no progress for 12 s");
}

TEST_F(Hang, NamesWhoseMessageIsMissing)
{
    const auto waiting = receive(0, 1);
    EXPECT_EQ(whoDidNotJoin(session_), "rank 0 waits for a message of rank 1");
}

TEST_F(Hang, SaysNothingOfRanksThatAreInNoExchange)
{
    EXPECT_EQ(whoDidNotJoin(session_), "");
    EXPECT_EQ(endByHang(session_, 10).reason, "the ranks hang; no progress for 10 s");
}

} // namespace
} // namespace rankscope::tracing

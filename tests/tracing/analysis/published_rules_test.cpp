#include "tracing/analysis/scenario/published_rules.h"

#include <gtest/gtest.h>

namespace rankscope::tracing::scenario {

namespace {

constexpr std::int64_t kMs = 1'000'000;

/// Two replicas of one stage, one step. Replica 0: F 100, B 200; replica 1: F 100, B 300; then a reduce-scatter of 20
/// that begins with the later one, and after 5 of nothing an optimizer of 10.
ledger::LedgerInput twoReplicas()
{
    ledger::LedgerInput input;
    input.instances.push_back({ 1, 0, CollectiveOp::ReduceScatter, Dimension::Data, { 0, 1 }, {}, {}, {}, {}, 0 });
    for (std::int32_t r = 0; r < 2; ++r) {
        ledger::RankInput rank;
        rank.rank = r;
        rank.stage = 0;
        rank.stretches = { { 0, 435 * kMs, 7 } };
        const std::int64_t computed = r == 0 ? 300 : 400;
        const auto add = [&](Pass pass, std::int64_t begin, std::int64_t end) {
            ledger::ComputeOp op;
            op.begin = begin * kMs;
            op.end = end * kMs;
            op.pass = pass;
            rank.compute.push_back(op);
        };
        add(Pass::Forward, 0, 100);
        add(Pass::Backward, 100, computed);
        add(Pass::Optimizer, 425, 435);
        rank.parts = { { computed * kMs, 420 * kMs, 0, {}, {}, false } };
        input.ranks.push_back(rank);
    }
    return input;
}

} // namespace

TEST(PublishedRules, DropDelaysAndTakeTheMeanOfComputeAsIdeal)
{
    // Without the delay 400 + 20 + 10; ideal: every backward 250, so 350 + 20 + 10.
    const auto result = publishedSlowdown(twoReplicas());
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_DOUBLE_EQ(result->recordedSeconds, .435);
    EXPECT_DOUBLE_EQ(result->withoutDelaysSeconds, .430);
    EXPECT_DOUBLE_EQ(result->idealSeconds, .380);
    EXPECT_DOUBLE_EQ(result->slowdown(), 430. / 380);
}

TEST(PublishedRules, BlameTheReplicaTheOperationAndTheRankThatAreSlow)
{
    const auto result = publishedSlowdown(twoReplicas());
    ASSERT_TRUE(result) << result.error().message();
    // Replica 0 alone as it was: its backward takes 200, the other's 250.
    EXPECT_DOUBLE_EQ(result->byReplica[0].second, 1);
    EXPECT_DOUBLE_EQ(result->byReplica[1].second, 430. / 380);
    for (const auto& [operation, slowdown] : result->byOperation)
        EXPECT_DOUBLE_EQ(slowdown, operation == "backward-compute" ? 430. / 380 : 1) << operation;
    EXPECT_EQ(result->worstRanks, std::vector<std::int32_t>{ 1 });
    EXPECT_DOUBLE_EQ(result->worst.removedSeconds, .380);
    EXPECT_DOUBLE_EQ(result->worst.removedShare, 1);
}

TEST(PublishedRules, RefuseRunsThatAreNoTimelineOfWholeSteps)
{
    ledger::LedgerInput withoutSteps = twoReplicas(), uneven = twoReplicas();
    for (ledger::RankInput& rank : withoutSteps.ranks)
        rank.stretches[0].step.reset();
    EXPECT_FALSE(publishedSlowdown(withoutSteps));
    uneven.ranks[1].compute.pop_back();
    EXPECT_FALSE(publishedSlowdown(uneven));
    EXPECT_FALSE(publishedSlowdown({}));
}

} // namespace rankscope::tracing::scenario

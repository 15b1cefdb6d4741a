#include "app/models/rank_heat.h"

#include <gtest/gtest.h>

namespace rankscope::app {
namespace {

RankRow row(std::int32_t rank, const char* node, std::int64_t computeNs, std::int64_t lostNs, Leaf lost = Leaf::Host)
{
    RankRow made;
    made.rank = rank;
    made.node = QLatin1String(node);
    made.bar = { { Leaf::Compute, computeNs, {}, {} }, { lost, lostNs, {}, {} } };
    return made;
}

/// Rows come slowest first, as the overview has them.
std::vector<RankRow> fourRanks()
{
    return { row(3, "b", 100, 0), row(0, "a", 80, 20), row(2, "b", 60, 40), row(1, "a", 10, 90) };
}

TEST(RankHeat, PutsRanksInRowsOfNodesAndKnowsTheWorst)
{
    const RankHeat heat = rankHeat(fourRanks(), Leaf::Host);
    ASSERT_EQ(heat.nodes.size(), 2U);
    EXPECT_EQ(heat.nodes[0].name, "a");
    EXPECT_EQ(heat.nodes[0].cells, (std::vector<HeatCell>{ { 0, 0.2 }, { 1, 0.9 } }));
    EXPECT_EQ(heat.nodes[1].cells, (std::vector<HeatCell>{ { 2, 0.4 }, { 3, 0.0 } }));
    EXPECT_EQ(heat.worst.front(), (HeatCell{ 1, 0.9 }));
    // 0 to 90 % in five steps of 18.
    EXPECT_EQ(heat.stepOf(0.0), 0);
    EXPECT_EQ(heat.stepOf(0.4), 2);
    EXPECT_EQ(heat.stepOf(0.9), 4);
}

TEST(RankHeat, LittleComputeIsBad)
{
    const RankHeat heat = rankHeat(fourRanks(), Leaf::Compute);
    EXPECT_EQ(heat.worst.front(), (HeatCell{ 1, 0.1 }));
    EXPECT_EQ(heat.stepOf(0.1), 4);
    EXPECT_EQ(heat.stepOf(1.0), 0);
}

TEST(RankHeat, WhoWaitsLeastIsWhomTheOthersWaitFor)
{
    const RankHeat heat
        = rankHeat({ row(0, "a", 60, 40, Leaf::Wait), row(1, "a", 99, 1, Leaf::Wait), row(2, "a", 65, 35, Leaf::Wait) },
            Leaf::Wait);
    EXPECT_EQ(heat.worst.front(), (HeatCell{ 1, 0.01 }));
    EXPECT_EQ(heat.stepOf(0.01), 4);
    EXPECT_EQ(heat.stepOf(0.40), 0);
}

TEST(RankHeat, RanksThatAreAlikeHaveNoWorst)
{
    const RankHeat heat = rankHeat({ row(0, "a", 50, 50), row(1, "a", 50, 50) }, Leaf::Host);
    EXPECT_TRUE(heat.worst.empty());
    EXPECT_EQ(heat.stepOf(0.5), 0);
}

TEST(RankHeat, OffersTheLeavesThatMostIsLostInFirst)
{
    EXPECT_EQ(heatLeaves(fourRanks()), (std::vector<Leaf>{ Leaf::Host, Leaf::Compute }));
}

} // namespace
} // namespace rankscope::app

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

TEST(RankHeat, PutsRanksInRowsOfNodes)
{
    const RankHeat heat = rankHeat(fourRanks(), Leaf::Host);
    ASSERT_EQ(heat.nodes.size(), 2U);
    EXPECT_EQ(heat.nodes[0].name, "a");
    EXPECT_EQ(heat.nodes[0].cells, (std::vector<HeatCell>{ { 0, 0.2 }, { 1, 0.9 } }));
    EXPECT_EQ(heat.nodes[1].cells, (std::vector<HeatCell>{ { 2, 0.4 }, { 3, 0.0 } }));
    // 0 to 90 % in five steps of 18.
    EXPECT_EQ(heat.stepOf(0.0), 0);
    EXPECT_EQ(heat.stepOf(0.4), 2);
    EXPECT_EQ(heat.stepOf(0.9), 4);
}

TEST(RankHeat, LittleComputeIsBad)
{
    const RankHeat heat = rankHeat(fourRanks(), Leaf::Compute);
    EXPECT_EQ(heat.stepOf(0.1), 4);
    EXPECT_EQ(heat.stepOf(1.0), 0);
}

TEST(RankHeat, WhoWaitsLeastIsWhomTheOthersWaitFor)
{
    const RankHeat heat
        = rankHeat({ row(0, "a", 60, 40, Leaf::Wait), row(1, "a", 99, 1, Leaf::Wait), row(2, "a", 65, 35, Leaf::Wait) },
            Leaf::Wait);
    EXPECT_EQ(heat.stepOf(0.01), 4);
    EXPECT_EQ(heat.stepOf(0.40), 0);
}

TEST(RankHeat, RanksThatAreAlikeHaveNoWorst)
{
    const RankHeat heat = rankHeat({ row(0, "a", 50, 50), row(1, "a", 50, 50) }, Leaf::Host);
    EXPECT_TRUE(heat.worst.empty());
    EXPECT_EQ(heat.stepOf(0.5), 0);
}

/// 12 ranks on three nodes; `lost` of 100 ns each.
RankHeat twelve(const std::vector<std::int64_t>& lost, Leaf leaf = Leaf::Host)
{
    std::vector<RankRow> rows;
    for (std::size_t i = 0; i < lost.size(); ++i) {
        const char* nodes[]{ "a", "b", "c" };
        rows.push_back(row(static_cast<std::int32_t>(i), nodes[i / 4], 100 - lost[i], lost[i], leaf));
    }
    return rankHeat(rows, leaf);
}

TEST(RankHeat, NamesWhoStandsOutAndNobodyElse)
{
    // Half lie between 10 and 12 %: beyond 15 % is out of the ordinary.
    const RankHeat heat = twelve({ 10, 11, 12, 10, 11, 40, 10, 12, 14, 11, 10, 20 });
    EXPECT_EQ(heat.worst, (std::vector<HeatCell>{ { 5, 0.4 }, { 11, 0.2 } }));
    EXPECT_EQ(heat.worstText(), "stand out: rank 5 40.0 %, rank 11 20.0 %");
}

TEST(RankHeat, NamesNobodyWhereAllAreSpreadOut)
{
    const RankHeat heat = twelve({ 10, 13, 16, 19, 22, 25, 28, 31, 34, 37, 40, 43 });
    EXPECT_TRUE(heat.worst.empty());
    EXPECT_EQ(heat.worstText(), "no rank stands out: half of them lie between 16.0 % and 34.0 %");
}

TEST(RankHeat, NamesANodeThatStandsOutAsAWhole)
{
    const RankHeat heat = twelve({ 10, 10, 10, 10, 11, 11, 11, 11, 30, 32, 31, 30 });
    EXPECT_TRUE(heat.worst.empty()) << "a third of all ranks is no exception";
    std::vector<RankRow> rows;
    for (std::int32_t i = 0; i < 24; ++i)
        rows.push_back(row(i, i < 4 ? "bad" : i < 14 ? "a" : "b", i < 4 ? 60 : 90, i < 4 ? 40 : 10));
    EXPECT_EQ(rankHeat(rows, Leaf::Host).worstText(), "stand out: node bad (4 ranks, at worst 40.0 %)");
}

TEST(RankHeat, SaysHowManyMoreThereAre)
{
    std::vector<RankRow> rows;
    for (std::int32_t i = 0; i < 64; ++i)
        rows.push_back(row(i, "", i < 8 ? 50 - i : 90, i < 8 ? 50 + i : 10));
    EXPECT_EQ(rankHeat(rows, Leaf::Host).worstText(),
        "stand out: rank 7 57.0 %, rank 6 56.0 %, rank 5 55.0 %, rank 4 54.0 %, rank 3 53.0 %, rank 2 52.0 % and 2 "
        "more");
}

TEST(RankHeat, WhoWaitsLeastStandsOutAsTheOneThatIsWaitedFor)
{
    const RankHeat heat = twelve({ 40, 41, 40, 42, 41, 1, 40, 41, 40, 41, 40, 42 }, Leaf::Wait);
    EXPECT_EQ(heat.worstText(), "wait least, so the others wait for them: rank 5 1.0 %");
}

TEST(RankHeat, OffersTheLeavesThatMostIsLostInFirst)
{
    EXPECT_EQ(heatLeaves(fourRanks()), (std::vector<Leaf>{ Leaf::Host, Leaf::Compute }));
}

} // namespace
} // namespace rankscope::app

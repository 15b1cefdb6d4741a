#include "app/panels/widgets/axis.h"
#include "app/panels/widgets/rank_heat_map.h"
#include "app/panels/widgets/step_chart.h"

#include <gtest/gtest.h>

namespace rankscope::app {
namespace {

TEST(Axis, TicksAreRoundAndInside)
{
    EXPECT_EQ(roundTicks(0, 10, 5), (std::vector<double>{ 0, 2, 4, 6, 8, 10 }));
    EXPECT_EQ(wholeTicks(1, 4, 10), (std::vector<double>{ 1, 2, 3, 4 })); // no half steps
    EXPECT_EQ(roundTicks(3, 3, 5), (std::vector<double>{ 3 }));
}

TEST(StepChart, FindsTheStepUnderAPixelAndTheSlowestOfAFullColumn)
{
    const Look look(Theme::Dark);
    StepChart chart(look);
    chart.resize(300, 120);
    chart.setSteps({ { 1, 10, true }, { 2, 30, true }, { 3, 20, true } });
    // Three slots of 90 px.
    EXPECT_EQ(chart.indexAt(10), 0);
    EXPECT_EQ(chart.indexAt(100), 1);
    EXPECT_EQ(chart.indexAt(280), -1);

    std::vector<StepBar> many;
    for (int i = 0; i < 3000; ++i)
        many.push_back({ i, i == 1234 ? 500 : 10, true });
    chart.setSteps(many);
    EXPECT_EQ(chart.indexAt(123), 1234); // ten steps a pixel
}

TEST(StepChart, NumbersTheStepsThatATraceHasWhereItLeavesSomeOut)
{
    const Look look(Theme::Dark);
    StepChart chart(look);
    chart.resize(200, 120);
    chart.setSteps({ { 21, 10, true }, { 40, 30, true }, { 1238, 20, true } });
    // Slots of 66.7 px; the numbers are those of the steps, under the middles of their bars.
    const std::vector<std::pair<int, QString>> chosen{ { 33, "21" }, { 100, "40" }, { 166, "1238" } };
    EXPECT_EQ(chart.numbers(), chosen);

    std::vector<StepBar> many;
    for (int step = 1; step <= 20; ++step)
        many.push_back({ step, 10, true });
    chart.setSteps(many); // 10 px a step, room for four numbers: round ones
    const std::vector<std::pair<int, QString>> round{ { 45, "5" }, { 95, "10" }, { 145, "15" }, { 195, "20" } };
    EXPECT_EQ(chart.numbers(), round);
}

TEST(RankHeatMap, PutsNodesBesideEachOtherAndFindsTheRankUnderAPixel)
{
    const Look look(Theme::Dark);
    RankHeatMap map(look);
    std::vector<RankRow> rows;
    for (int rank = 0; rank < 128; ++rank) {
        RankRow row;
        row.rank = rank;
        row.node = QStringLiteral("node%1").arg(rank / 8);
        const int lost = rank == 9 ? 30 : rank % 3;
        row.bar = { { Leaf::Compute, 100 - lost, {}, {} }, { Leaf::Host, lost, {}, {} } };
        rows.push_back(row);
    }
    map.setHeat(rankHeat(rows, Leaf::Host));
    // A node is 84 px of name, 8 cells of 13 px and a gap of 16: two of them fit, in 8 lines of 18 px.
    map.resize(420, map.heightForWidth(420));
    EXPECT_EQ(map.height(), 8 * 18 + 40);
    EXPECT_EQ(map.cellAt({ 84 + 5, 5 })->rank, 0);
    EXPECT_EQ(map.cellAt({ 84 + 7 * 13 + 5, 5 })->rank, 7);
    EXPECT_EQ(map.cellAt({ 204 + 84 + 5, 5 })->rank, 8); // the second node stands right of the first
    EXPECT_EQ(map.cellAt({ 84 + 5, 18 + 5 })->rank, 16);
    EXPECT_FALSE(map.cellAt({ 20, 5 })); // a node's name
    // Who stands out is outlined in the colour of text.
    EXPECT_EQ(map.grab().toImage().pixelColor(204 + 84 + 13, 0), toQColor(look.colors().text)); // rank 9
}

} // namespace
} // namespace rankscope::app

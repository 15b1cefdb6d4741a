#include "app/panels/widgets/axis.h"
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

} // namespace
} // namespace rankscope::app

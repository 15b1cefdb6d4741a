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

} // namespace
} // namespace rankscope::app

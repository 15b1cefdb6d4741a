#include "backend/model/routing.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace rankscope::backend {

namespace {

using Indices = std::vector<std::int32_t>;

/// Rows that choose: 0 takes 2 then 0, 1 takes 2 then 1, 2 takes 2 then 0. Probability of expert e in row r: r + e / 8.
Routing threeRows()
{
    Routing routing;
    routing.chosen = { 2, 0, 2, 1, 2, 0 };
    routing.probabilities = Buffer(9);
    for (std::size_t i = 0; i < 9; ++i)
        routing.probabilities.data()[i] = static_cast<float>(i / 3) + static_cast<float>(i % 3) / 8;
    return routing;
}

constexpr kernels::RouteShape kThreeRows{ .N = 3, .E = 3, .K = 2 };

} // namespace

TEST(Routing, SortsChoicesByExpertAndRow)
{
    Routing routing = threeRows();
    sortChoices(routing, kThreeRows, 3);
    EXPECT_EQ(routing.kept, (Indices{ 2, 1, 3 }));
    EXPECT_EQ(routing.rows, (Indices{ 0, 2, 1, 0, 1, 2 }));
    EXPECT_EQ(routing.gates, (std::vector<float>{ 0, 2, 1.125F, 0.25F, 1.25F, 2.25F }));
}

TEST(Routing, DropsWhatAnExpertHasNoRoomFor)
{
    Routing routing = threeRows();
    sortChoices(routing, kThreeRows, 1);
    EXPECT_EQ(routing.kept, (Indices{ 1, 1, 1 }));
    EXPECT_EQ(routing.rows, (Indices{ 0, 1, 0 })) << "the first rows of each";
}

TEST(Routing, RowsOfTwoSendersLieByExpert)
{
    // Sender 0 has two rows for expert 0 and one for expert 1, sender 1 none and two.
    Routing routing;
    routing.came = { 2, 1, 0, 2 };
    EXPECT_EQ(routing.arrivals(), 5);
    const std::vector<float> bySender{ 1, 2, 3, 4, 5 };
    std::vector<float> byExpert(5), back(5);
    arrange(byExpert.data(), bySender.data(), routing, 1, 2, Arrange::ByExpert);
    EXPECT_EQ(byExpert, (std::vector<float>{ 1, 2, 3, 4, 5 }));
    routing.came = { 1, 2, 1, 1 };
    arrange(byExpert.data(), bySender.data(), routing, 1, 2, Arrange::ByExpert);
    EXPECT_EQ(byExpert, (std::vector<float>{ 1, 4, 2, 3, 5 }));
    arrange(back.data(), byExpert.data(), routing, 1, 2, Arrange::BySender);
    EXPECT_EQ(back, bySender);
}

TEST(Routing, AHotExpertGetsItsShareOfTheFirstChoices)
{
    const kernels::RouteShape shape{ .N = 1000, .E = 4, .K = 2 };
    Indices chosen;
    for (int row = 0; row < 1000; ++row)
        chosen.insert(chosen.end(), { row % 2, 3 - row % 2 });
    const Indices before = chosen;
    prefer(chosen, { .expert = 3, .share = 0.4 }, shape);
    std::int64_t hot = 0;
    for (std::size_t row = 0; row < 1000; ++row) {
        const bool isHot = chosen[2 * row] == 3;
        hot += isHot ? 1 : 0;
        // Where it was the second choice, the two change places; elsewhere it takes the place of the first.
        EXPECT_EQ(chosen[2 * row + 1], isHot && row % 2 == 0 ? 0 : before[2 * row + 1]) << "in row " << row;
    }
    EXPECT_NEAR(static_cast<double>(hot), 400, 5);
    prefer(chosen, { .expert = 3, .share = 1 }, shape);
    for (std::size_t row = 0; row < 1000; ++row)
        EXPECT_EQ(chosen[2 * row], 3);
}

} // namespace rankscope::backend

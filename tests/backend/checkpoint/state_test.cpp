#include "backend/checkpoint/state.h"

#include <gtest/gtest.h>

#include <numeric>

namespace rankscope::backend {

TEST(StateShares, CutTensorsEvenlyToTheFloat)
{
    // Ten floats in tensors of 4 and 6; three holders: [0, 3), [3, 6), [6, 10).
    std::vector<float> floats(10);
    std::iota(floats.begin(), floats.end(), 0.0f);
    const std::vector<StateSlice> all{ { "a", 0, std::span(floats).first(4) }, { "b", 0, std::span(floats).last(6) } };
    EXPECT_EQ(floatsOf(all), 10u);

    const auto first = shareOf(all, 0, 3);
    ASSERT_EQ(first.size(), 1u);
    EXPECT_EQ(first[0].name, "a");
    EXPECT_EQ(first[0].data.size(), 3u);

    const auto second = shareOf(all, 1, 3);
    ASSERT_EQ(second.size(), 2u);
    EXPECT_EQ(second[0].begin, 3u);
    EXPECT_EQ(second[0].data.front(), 3.0f);
    EXPECT_EQ(second[1].name, "b");
    EXPECT_EQ(second[1].begin, 0u);
    EXPECT_EQ(second[1].data.size(), 2u);

    const auto third = shareOf(all, 2, 3);
    ASSERT_EQ(third.size(), 1u);
    EXPECT_EQ(third[0].begin, 2u);
    EXPECT_EQ(third[0].data.front(), 6.0f);
    EXPECT_EQ(third[0].data.back(), 9.0f);
}

} // namespace rankscope::backend

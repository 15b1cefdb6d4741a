#include "tracing/analysis/ledger/largest_remainder.h"

#include <gtest/gtest.h>

namespace rankscope::tracing::ledger {

using Parts = std::vector<std::int64_t>;

TEST(LargestRemainder, MissingNanosecondsGoToTheLargestRemainders)
{
    // 170 over 37, 20, 120 (sum 177): 35.54, 19.21, 115.25; one is missing and goes to .54.
    EXPECT_EQ(largestRemainder(170, Parts{ 37, 20, 120 }), (Parts{ 36, 19, 115 }));
}

TEST(LargestRemainder, TiesGoToTheEarlierItem)
{
    EXPECT_EQ(largestRemainder(3, Parts{ 1, 1 }), (Parts{ 2, 1 }));
    EXPECT_EQ(largestRemainder(5, Parts{ 1, 1, 1 }), (Parts{ 2, 2, 1 }));
}

TEST(LargestRemainder, WithoutWeightNothingIsGiven) { EXPECT_EQ(largestRemainder(9, Parts{ 0, 0 }), (Parts{ 0, 0 })); }

TEST(LargestRemainder, ProductsBeyond64BitsStayExact)
{
    constexpr std::int64_t kYear = 31'536'000'000'000'000;
    EXPECT_EQ(largestRemainder(kYear, Parts{ kYear, kYear }), (Parts{ kYear / 2, kYear / 2 }));
    EXPECT_EQ(mulDiv(kYear, kYear, kYear), kYear);
    EXPECT_EQ(mulDivHalfUp(1, 1, 2), 1); // 0.5 rounds up
    EXPECT_EQ(mulDivHalfUp(499, 1, 1000), 0);
}

} // namespace rankscope::tracing::ledger

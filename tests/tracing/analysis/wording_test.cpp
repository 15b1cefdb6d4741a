#include "tracing/analysis/wording.h"

#include <gtest/gtest.h>

#include <vector>

namespace rankscope::tracing {

TEST(Wording, SharesHaveOneDecimal)
{
    EXPECT_EQ(shareText(0.683), "68.3 %");
    EXPECT_EQ(shareText(1), "100.0 %");
    EXPECT_EQ(shareText(0), "0.0 %");
    EXPECT_EQ(shareText(0.0004), "< 0.1 %");
}

TEST(Wording, TimesHaveThreeDigitsAndAUnit)
{
    EXPECT_EQ(timeText(1'010'000'000), "1.01 s");
    EXPECT_EQ(timeText(12'200'000), "12.2 ms");
    EXPECT_EQ(timeText(4'310), "4.31 µs");
    EXPECT_EQ(timeText(830), "830 ns");
    EXPECT_EQ(timeText(0), "0 ns");
    EXPECT_EQ(timeText(999'700'000), "1.00 s"); // not "1000 ms"
    EXPECT_EQ(timeText(75'000'000'000), "75.0 s");
}

TEST(Wording, SourcesAreCalledAsPeopleWriteThem)
{
    EXPECT_EQ(sourceName("pytorch"), "PyTorch");
    EXPECT_EQ(sourceName("flight recorder"), "flight recorder");
}

TEST(Wording, RangesNameAUnitOnceWhereItIsTheSame)
{
    EXPECT_EQ(rangeText(99'300'000, 99'400'000), "99.3 to 99.4 ms");
    EXPECT_EQ(rangeText(950'000'000, 1'010'000'000), "950 ms to 1.01 s");
}

TEST(Wording, AmountsAndRatesUsePowersOfThousand)
{
    EXPECT_EQ(bytesText(12'200'000), "12.2 MB");
    EXPECT_EQ(bytesText(64), "64 B");
    EXPECT_EQ(rateText(2.5e9, "FLOP"), "2.50 GFLOP/s");
    EXPECT_EQ(countText(1204), "1,204");
    EXPECT_EQ(countText(1'234'567), "1,234,567");
    EXPECT_EQ(plural(1, "step"), "1 step");
    EXPECT_EQ(plural(2, "step"), "2 steps");
}

TEST(Wording, BandwidthsAreNeverRoundedToNothing)
{
    EXPECT_EQ(gbpsText(1.85), "1.850");
    EXPECT_EQ(gbpsText(0.016), "0.016");
    EXPECT_EQ(gbpsText(0.0042), "0.0042");
    EXPECT_EQ(gbpsText(0.00000266), "0.0000027"); // 312 B in 117 ms
    EXPECT_EQ(gbpsText(0), "0.000");
}

TEST(Wording, ChangesSayWhenThereIsNone)
{
    EXPECT_EQ(changeText(103.1, 100), "+3.1 %");
    EXPECT_EQ(changeText(50, 100), "-50.0 %");
    EXPECT_EQ(changeText(99.99, 100), "no change");
    EXPECT_EQ(changeText(5, 0), "-");
}

TEST(Wording, RanksAreListedShortly)
{
    EXPECT_EQ(ranksText(std::vector<std::int32_t>{ 2 }), "rank 2");
    EXPECT_EQ(ranksText(std::vector<std::int32_t>{ 0, 1 }), "ranks 0, 1");
    EXPECT_EQ(ranksText(std::vector<std::int32_t>{ 0, 1, 3 }), "ranks 0, 1, 3");
    EXPECT_EQ(ranksText(std::vector<std::int32_t>{ 0, 1, 2, 3 }), "ranks 0-3");
    EXPECT_EQ(ranksText(std::vector<std::int32_t>{ 0, 2, 4, 6, 8, 10 }), "ranks 0, 2, 4 and 3 more");
}

} // namespace rankscope::tracing

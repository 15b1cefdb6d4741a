#include "app/models/leaf_bar.h"

#include <gtest/gtest.h>

namespace rankscope::app {
namespace {

std::vector<BarSegment> segments(std::initializer_list<std::int64_t> lengths)
{
    std::vector<BarSegment> made;
    for (const std::int64_t ns : lengths)
        made.push_back({ Leaf::Compute, ns, {}, {} });
    return made;
}

TEST(SegmentEnds, AreInProportionAndFillTheBar)
{
    EXPECT_EQ(segmentEnds(segments({ 650, 100, 250 }), 200), (std::vector<int>{ 130, 150, 200 }));
}

TEST(SegmentEnds, GiveTwoPixelsToWhatIsTooSmallToSeeAndTakeThemFromTheWidest)
{
    // 1 of 1000 is 0.1 px of 100.
    EXPECT_EQ(segmentEnds(segments({ 1, 998, 1 }), 100), (std::vector<int>{ 2, 98, 100 }));
}

TEST(SegmentEnds, OfNothingAreNothing)
{
    EXPECT_TRUE(segmentEnds({}, 100).empty());
    EXPECT_EQ(segmentEnds(segments({ 0, 0 }), 100), (std::vector<int>{ 0, 0 }));
}

TEST(LeafTimes, HoldEveryPartOfTheWindowInTheOrderOfTheTable)
{
    tracing::TimeSplit split;
    split.windowNs = 100;
    split.idleNs = 10;
    split.computeNs = 50;
    split.descheduledNs = 15;
    split.waitNs = 20;
    split.startNs = 2;
    split.plannedNs = 3;
    const std::vector<LeafTime> expected{ { Leaf::Unattributed, 10 }, { Leaf::Compute, 50 }, { Leaf::Wait, 20 },
        { Leaf::Start, 5 }, { Leaf::Descheduled, 15 } };
    EXPECT_EQ(leafTimes(split), expected);
}

} // namespace
} // namespace rankscope::app

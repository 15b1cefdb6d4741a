#include "tracing/model/interval.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

TEST(Interval, UnionMergesOverlappingAndTouchingStretches)
{
    // [10,20) and [20,25) touch, [22,30) overlaps; [50,50) and [60,40) are empty.
    EXPECT_EQ(unionOf({ { 20, 25 }, { 10, 20 }, { 22, 30 }, { 40, 45 }, { 50, 50 }, { 60, 40 } }),
        (Intervals{ { 10, 30 }, { 40, 45 } }));
}

TEST(Interval, UnionOfAStretchInsideAnotherIsTheLongerOne)
{
    EXPECT_EQ(unionOf({ { 0, 100 }, { 10, 20 }, { 90, 100 } }), (Intervals{ { 0, 100 } }));
}

TEST(Interval, IntersectionKeepsOnlyWhatBothHave)
{
    const Intervals a{ { 0, 10 }, { 20, 30 }, { 40, 50 } };
    const Intervals b{ { 5, 25 }, { 28, 45 } };
    EXPECT_EQ(intersection(a, b), (Intervals{ { 5, 10 }, { 20, 25 }, { 28, 30 }, { 40, 45 } }));
    EXPECT_EQ(intersection(b, a), intersection(a, b));
}

TEST(Interval, StretchesThatOnlyTouchHaveNothingInCommon)
{
    EXPECT_TRUE(intersection(Intervals{ { 0, 10 } }, Intervals{ { 10, 20 } }).empty());
}

TEST(Interval, DifferenceCutsHolesAndOneHoleMayReachOverTwoStretches)
{
    const Intervals a{ { 0, 10 }, { 20, 30 } };
    EXPECT_EQ(difference(a, Intervals{ { 3, 5 }, { 8, 22 } }), (Intervals{ { 0, 3 }, { 5, 8 }, { 22, 30 } }));
    EXPECT_TRUE(difference(a, Intervals{ { 0, 30 } }).empty());
    EXPECT_EQ(difference(a, Intervals{}), a);
}

TEST(Interval, DifferenceAndIntersectionAddUpToTheWhole)
{
    const Intervals a = unionOf({ { 0, 17 }, { 23, 91 }, { 100, 101 } });
    const Intervals b = unionOf({ { 5, 30 }, { 31, 33 }, { 90, 200 } });
    // a has 17 + 68 + 1 = 86; in common [5,17) [23,30) [31,33) [90,91) [100,101) = 12 + 7 + 2 + 1 + 1 = 23.
    EXPECT_EQ(totalNs(intersection(a, b)), 23);
    EXPECT_EQ(totalNs(difference(a, b)), 63);
}

TEST(Interval, ClippingToAnEmptyWindowLeavesNothing)
{
    EXPECT_EQ(clipped(Intervals{ { 0, 10 }, { 20, 30 } }, { 5, 21 }), (Intervals{ { 5, 10 }, { 20, 21 } }));
    EXPECT_TRUE(clipped(Intervals{ { 0, 10 } }, { 5, 5 }).empty());
}

} // namespace rankscope::tracing

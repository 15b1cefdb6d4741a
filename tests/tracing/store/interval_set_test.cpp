#include "tracing/store/interval_set.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

namespace {

std::vector<Window> added(IntervalSet& set, Window span)
{
    std::vector<Window> fresh;
    set.add(span, fresh);
    return fresh;
}

using Windows = std::vector<Window>;

} // namespace

TEST(IntervalSet, SpansInOrderAreFreshAsAWhole)
{
    IntervalSet set;
    EXPECT_EQ(added(set, { 0, 10 }), (Windows{ { 0, 10 } }));
    EXPECT_EQ(added(set, { 10, 20 }), (Windows{ { 10, 20 } }));
    EXPECT_EQ(added(set, { 25, 30 }), (Windows{ { 25, 30 } }));
    EXPECT_EQ(set.size(), 2u) << "those that touch are one";
}

TEST(IntervalSet, ARangeAroundOthersIsLeftWithItsOwnTime)
{
    IntervalSet set;
    added(set, { 10, 20 });
    added(set, { 30, 40 });
    EXPECT_EQ(added(set, { 5, 50 }), (Windows{ { 5, 10 }, { 20, 30 }, { 40, 50 } }));
    EXPECT_EQ(set.size(), 1u);
    EXPECT_EQ(added(set, { 0, 60 }), (Windows{ { 0, 5 }, { 50, 60 } }));
}

TEST(IntervalSet, ALateSpanFillsAGap)
{
    IntervalSet set;
    added(set, { 0, 10 });
    added(set, { 100, 110 });
    EXPECT_EQ(added(set, { 50, 60 }), (Windows{ { 50, 60 } }));
    EXPECT_EQ(added(set, { 5, 55 }), (Windows{ { 10, 50 } }));
    EXPECT_EQ(set.size(), 2u);
}

TEST(IntervalSet, WhatIsCoveredOrEmptyAddsNothing)
{
    IntervalSet set;
    added(set, { 0, 10 });
    EXPECT_TRUE(added(set, { 2, 8 }).empty());
    EXPECT_TRUE(added(set, { 20, 20 }).empty());
    EXPECT_TRUE(added(set, { 30, 20 }).empty());
}

TEST(IntervalSet, BeyondItsSizeTheOldestGapCountsAsCovered)
{
    IntervalSet set(2);
    added(set, { 0, 10 });
    added(set, { 20, 30 });
    added(set, { 40, 50 });
    EXPECT_EQ(set.size(), 2u);
    EXPECT_TRUE(added(set, { 10, 20 }).empty());
    EXPECT_EQ(added(set, { 30, 40 }), (Windows{ { 30, 40 } }));
}

} // namespace rankscope::tracing

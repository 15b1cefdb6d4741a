#include "app/timeline/core/emphasis.h"

#include <gtest/gtest.h>

namespace rankscope::app::timeline {
namespace {

using Windows = std::vector<tracing::Window>;

TEST(EmphasisTest, NothingStandsBackWithoutOne) { EXPECT_TRUE(dimmedParts({}, 0, { 0, 100 }, 1).empty()); }

TEST(EmphasisTest, OtherRanksStandBackAsAWhole)
{
    const Emphasis emphasis{ .ranks = { 2 } };
    EXPECT_TRUE(dimmedParts(emphasis, 2, { 0, 100 }, 1).empty());
    EXPECT_EQ(dimmedParts(emphasis, 1, { 0, 100 }, 1), (Windows{ { 0, 100 } }));
}

TEST(EmphasisTest, WhatLiesBetweenMarkedStretchesStandsBack)
{
    const Emphasis emphasis{ .onlyStretches = true, .stretches = { { 0, { { 10, 20 }, { 40, 50 }, { 90, 120 } } } } };
    EXPECT_EQ(dimmedParts(emphasis, 0, { 0, 100 }, 1), (Windows{ { 0, 10 }, { 20, 40 }, { 50, 90 } }));
    EXPECT_EQ(dimmedParts(emphasis, 0, { 15, 30 }, 1), (Windows{ { 20, 30 } }));
    EXPECT_EQ(dimmedParts(emphasis, 1, { 0, 100 }, 1), (Windows{ { 0, 100 } }));
}

TEST(EmphasisTest, TheAnswerIsNoLongerThanTheCanvasIsWide)
{
    Emphasis emphasis{ .onlyStretches = true };
    for (std::int64_t i = 0; i < 100'000; ++i)
        emphasis.stretches[0].push_back({ 10 * i, 10 * i + 1 });
    // 1,000 pixels of 1,000 ns: every gap is narrower than one of them, so that nothing stands back.
    EXPECT_TRUE(dimmedParts(emphasis, 0, { 0, 1'000'000 }, 1000).empty());
    // Gaps of a pixel and more are kept, and a stretch of 1 ns keeps a whole pixel.
    emphasis.stretches[0] = { { 5000, 5001 } };
    EXPECT_EQ(dimmedParts(emphasis, 0, { 0, 10'000 }, 1000), (Windows{ { 0, 5000 }, { 6000, 10'000 } }));
}

} // namespace
} // namespace rankscope::app::timeline

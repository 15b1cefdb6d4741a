#include "tracing/model/sort_runs.h"

#include <gtest/gtest.h>

#include <utility>

namespace rankscope::tracing {

namespace {

using Row = std::pair<int, int>; // what it is sorted by, and where it came from

std::vector<Row> sorted(std::vector<Row> rows)
{
    sortRuns(rows, [](const Row& a, const Row& b) { return a.first < b.first; });
    return rows;
}

} // namespace

TEST(SortRuns, LanesThatFollowEachOtherAreMergedAndEqualRowsKeepTheirOrder)
{
    // Three lanes of four, six and two rows.
    const std::vector<Row> rows{ { 1, 0 }, { 3, 0 }, { 5, 0 }, { 9, 0 }, { 0, 1 }, { 1, 1 }, { 3, 1 }, { 3, 2 },
        { 6, 1 }, { 8, 1 }, { 1, 3 }, { 7, 3 } };
    // Twelve rows in fewer than eight each would count as no runs at all: repeated, they are few among many.
    std::vector<Row> longRows;
    for (int lane = 0; lane < 3; ++lane) {
        for (int i = 0; i < 40; ++i)
            longRows.push_back({ 2 * i + lane % 2, lane });
    }
    std::vector<Row> expected;
    for (int i = 0; i < 40; ++i) {
        expected.push_back({ 2 * i, 0 });
        expected.push_back({ 2 * i, 2 });
        expected.push_back({ 2 * i + 1, 1 });
    }
    EXPECT_EQ(sorted(longRows), expected);
    const std::vector<Row> shortExpected{ { 0, 1 }, { 1, 0 }, { 1, 1 }, { 1, 3 }, { 3, 0 }, { 3, 1 }, { 3, 2 },
        { 5, 0 }, { 6, 1 }, { 7, 3 }, { 8, 1 }, { 9, 0 } };
    EXPECT_EQ(sorted(rows), shortExpected);
}

TEST(SortRuns, WhatFallsAllTheWayIsSortedToo)
{
    std::vector<Row> falls, rises;
    for (int i = 0; i < 100; ++i) {
        falls.push_back({ 99 - i, 99 - i });
        rises.push_back({ i, i });
    }
    EXPECT_EQ(sorted(falls), rises);
    EXPECT_EQ(sorted(rises), rises);
    EXPECT_TRUE(sorted({}).empty());
}

} // namespace rankscope::tracing

#include "tracing/analysis/time_split.h"

#include <gtest/gtest.h>

#include <random>

namespace rankscope::tracing {

namespace {

template <typename Row> Row at(std::int64_t beginNs, std::int64_t endNs)
{
    Row row;
    row.beginNs = beginNs;
    row.endNs = endNs;
    return row;
}

template <typename Row> void sortByBegin(std::vector<Row>& rows)
{
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.beginNs < b.beginNs; });
}

/// Spans of every kind at random places, overlapping in every way.
RankRows randomRows(std::uint32_t seed)
{
    std::mt19937 random(seed);
    const auto number
        = [&](std::int64_t limit) { return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(limit)); };
    RankRows rows;
    for (int i = 0; i < 60; ++i) {
        const std::int64_t begin = number(400'000);
        rows.kernels.push_back(at<Kernel>(begin, begin + number(20'000)));
        if (i % 2)
            rows.kernels.back().cpuNs = number(20'000);
        rows.copies.push_back(at<Copy>(begin + 7, begin + number(30'000)));
        rows.bubbles.push_back(at<Bubble>(begin - 900, begin));
        rows.ranges.push_back(at<Range>(begin, begin + number(25'000)));
        rows.ranges.back().kind = static_cast<RangeKind>(number(13));
        SplitPart part = at<SplitPart>(begin + number(9'000), begin + 10'000);
        part.splitNs = part.beginNs + number(1'000);
        part.isSplit = i % 5 != 0;
        part.dimension = static_cast<Dimension>(number(10));
        rows.parts.push_back(part);
    }
    sortByBegin(rows.kernels), sortByBegin(rows.copies), sortByBegin(rows.bubbles), sortByBegin(rows.ranges);
    sortByBegin(rows.parts);
    return rows;
}

} // namespace

TEST(TimeSplit, EachPartIsCountedOnceAndTheSumIsTheWindow)
{
    RankRows rows;
    rows.kernels = { at<Kernel>(0, 400) };
    SplitPart reduce = at<SplitPart>(300, 1000);
    reduce.splitNs = 700;
    reduce.isSplit = true;
    reduce.dimension = Dimension::Data;
    rows.parts = { reduce };
    const TimeSplit split = timeSplit(labelledIntervals({ rows, {}, { 0, 1500 } }), { 0, 1500 });
    EXPECT_EQ(split.computeNs, 400);
    EXPECT_EQ(split.hiddenNs, 100);
    EXPECT_EQ(split.waitNs, 300);
    EXPECT_EQ(split.transferNs, 300);
    EXPECT_EQ(split.transferByDimensionNs[static_cast<std::size_t>(Dimension::Data)], 300);
    EXPECT_EQ(split.idleNs, 500);
    EXPECT_EQ(split.sumNs(), 1500);
}

TEST(TimeSplit, PartsSumToTheWindowForAnyRows)
{
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        const RankRows rows = randomRows(seed);
        const std::vector<KernelSignature> signatures(1);
        const auto intervals = labelledIntervals({ rows, signatures, { 1'000, 390'000 } });
        const TimeSplit whole = timeSplit(intervals, { 1'000, 390'000 });
        EXPECT_EQ(whole.sumNs(), 389'000) << "seed " << seed;
        EXPECT_GE(whole.idleNs, 0);
        EXPECT_GE(whole.computeNs, 0);
    }
}

TEST(TimeSplit, AWindowsSplitIsTheSumOfItsPieces)
{
    const RankRows rows = randomRows(7);
    const std::vector<KernelSignature> signatures(1);
    const auto intervals = labelledIntervals({ rows, signatures, { 0, 400'000 } });
    TimeSplit sum;
    for (std::int64_t begin = 0; begin < 400'000; begin += 12'500)
        sum += timeSplit(intervals, { begin, begin + 12'500 });
    EXPECT_EQ(sum, timeSplit(intervals, { 0, 400'000 }));
}

TEST(TimeSplit, OutsideTheLabelledStretchesNothingIsRecorded)
{
    const TimeSplit split = timeSplit({}, { 0, 100 });
    EXPECT_EQ(split.idleNs, 100);
    EXPECT_EQ(split.sumNs(), split.windowNs);
}

TEST(OverlapSummary, CountsUnionsNotDurations)
{
    RankRows rows;
    // Two kernels [0,100) and [50,150): union 150, although their durations sum to 200.
    rows.kernels = { at<Kernel>(0, 100), at<Kernel>(50, 150) };
    // Two collectives [80,200) and [120,220): union 140; under compute [80,150) = 70.
    rows.parts = { at<SplitPart>(80, 200), at<SplitPart>(120, 220) };
    rows.copies = { at<Copy>(210, 240) };
    const OverlapSummary summary = overlapSummary(rows, { 0, 300 });
    EXPECT_EQ(summary.computeNs, 150);
    EXPECT_EQ(summary.communicationNs, 140);
    EXPECT_EQ(summary.overlapNs, 70);
    EXPECT_EQ(summary.exposedNs, 70);
    EXPECT_EQ(summary.copyNs, 20);
    EXPECT_EQ(summary.idleNs, 60);
    EXPECT_DOUBLE_EQ(*summary.overlapShare(), 0.5);
}

TEST(OverlapSummary, IsCutAtTheWindowAndHasNoShareWithoutCommunication)
{
    RankRows rows;
    rows.kernels = { at<Kernel>(0, 100) };
    const OverlapSummary summary = overlapSummary(rows, { 40, 60 });
    EXPECT_EQ(summary.computeNs, 20);
    EXPECT_EQ(summary.idleNs, 0);
    EXPECT_EQ(summary.overlapShare(), std::nullopt);
}

TEST(OverlapSummary, AgreesWithTheSplitOnHiddenCommunication)
{
    // Where no lifecycle or bubble steps in, the two ways of counting must meet.
    RankRows rows = randomRows(3);
    rows.ranges.clear();
    rows.bubbles.clear();
    const std::vector<KernelSignature> signatures(1);
    const TimeSplit split = timeSplit(labelledIntervals({ rows, signatures, { 0, 400'000 } }), { 0, 400'000 });
    const OverlapSummary summary = overlapSummary(rows, { 0, 400'000 });
    EXPECT_EQ(split.hiddenNs, summary.overlapNs);
    EXPECT_EQ(split.exposedNs(), summary.exposedNs);
    EXPECT_EQ(split.computeNs + split.descheduledNs, summary.computeNs);
    EXPECT_EQ(split.copyNs, summary.copyNs);
}

} // namespace rankscope::tracing

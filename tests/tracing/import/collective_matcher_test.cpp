#include "tracing/import/clock_alignment.h"
#include "tracing/import/collective_matcher.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

namespace {

constexpr auto kA2A = CollectiveOp::AllToAll;

/// Ranks without sequence numbers: parts on one stream, given as (begin, end) in microseconds.
SourceTrace rankWith(std::int32_t rank, const std::vector<std::pair<std::int64_t, std::int64_t>>& parts)
{
    SourceTrace trace;
    trace.rank = rank;
    trace.lanes.push_back({ LaneKind::Communication, Dimension::None, "communication stream 20 · 0", "" });
    trace.groups.emplace_back();
    for (const auto& [begin, end] : parts) {
        SourcePart part;
        part.beginNs = begin * 1000;
        part.endNs = end * 1000;
        part.op = kA2A;
        trace.parts.push_back(part);
    }
    return trace;
}

std::vector<OrderedEnd> ends(std::initializer_list<std::int64_t> values)
{
    std::vector<OrderedEnd> out;
    for (const std::int64_t value : values)
        out.push_back({ value, kA2A });
    return out;
}

} // namespace

TEST(BestShift, ARankThatWasRecordedOneCollectiveEarlierIsPairedFromTheEnd)
{
    // The other rank holds one more at the front; its clock is 5 behind.
    EXPECT_EQ(bestShift(ends({ 1000000, 2500000, 9000000 }), ends({ 100000, 999995, 2499995, 8999995 })), 1);
}

TEST(BestShift, EqualSequencesNeedNone) { EXPECT_EQ(bestShift(ends({ 10, 20, 35 }), ends({ 11, 21, 36 })), 0); }

TEST(BestShift, WhereNothingFitsNothingIsPaired)
{
    EXPECT_EQ(
        bestShift(ends({ 0, 10'000'000, 20'000'000, 30'000'000 }), ends({ 0, 14'000'000, 15'000'000, 47'000'000 })),
        std::nullopt);
}

TEST(Matcher, PartsWithoutNumbersMeetByTheirEnds)
{
    std::vector<SourceTrace> traces;
    traces.push_back(rankWith(0, { { 0, 10 }, { 100, 2000 }, { 3000, 3100 } }));
    traces.push_back(rankWith(1, { { 1900, 2000 }, { 3050, 3100 } }));
    const MatchResult result = matchCollectives(traces);
    ASSERT_EQ(result.instances.size(), 3u);
    EXPECT_EQ(traces[0].parts[1].instance, traces[1].parts[0].instance);
    EXPECT_EQ(traces[0].parts[2].instance, traces[1].parts[1].instance);
    EXPECT_EQ(result.withoutPartner, 1);
    EXPECT_EQ(result.how, "matched by order; rank 0 shifted by 1 against rank 1");
}

TEST(Matcher, NumbersAndGroupsComeBeforeOrder)
{
    std::vector<SourceTrace> traces;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
        traces.push_back(rankWith(rank, { { 0, 10 }, { 20, 30 } }));
        traces.back().groups.push_back({ "7", "mesh_tp", { 0, 1 }, 2, Dimension::Tensor });
        for (std::size_t p = 0; p < 2; ++p) {
            traces.back().parts[p].group = 1;
            // Rank 1 ran them in the other order.
            traces.back().parts[p].sequence
                = rank == 0 ? static_cast<std::int64_t>(p) : 1 - static_cast<std::int64_t>(p);
        }
    }
    matchCollectives(traces);
    EXPECT_EQ(traces[0].parts[0].instance, traces[1].parts[1].instance);
    EXPECT_EQ(traces[0].parts[1].instance, traces[1].parts[0].instance);
}

TEST(Alignment, ClocksMoveByTheMedianOfTheEndsDifferences)
{
    std::vector<SourceTrace> traces;
    traces.push_back(rankWith(0, { { 0, 1000 }, { 2000, 3000 }, { 4000, 5000 } }));
    traces.push_back(rankWith(1, { { 200, 1200 }, { 2200, 3200 }, { 4200, 5200 } })); // 200 us ahead
    const MatchResult matches = matchCollectives(traces);
    const Alignment alignment = alignClocks(traces, matches);
    EXPECT_TRUE(alignment.aligned);
    EXPECT_EQ(traces[0].clockMap.shiftNs - traces[1].clockMap.shiftNs, 200'000);
    EXPECT_EQ(alignment.errorNs, 0);
}

TEST(Alignment, RefusesWhereEndsDoNotAgree)
{
    std::vector<SourceTrace> traces;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
        traces.push_back(
            rankWith(rank, { { 0, 1000 }, { 20000, 30000 + rank * 9000 }, { 90000, 95000 - rank * 4000 } }));
        for (std::size_t p = 0; p < 3; ++p)
            traces.back().parts[p].sequence = static_cast<std::int64_t>(p);
    }
    const MatchResult matches = matchCollectives(traces);
    const Alignment alignment = alignClocks(traces, matches);
    EXPECT_FALSE(alignment.aligned);
    EXPECT_EQ(traces[0].clockMap.shiftNs, 0);
    EXPECT_EQ(traces[1].clockMap.shiftNs, 0);
    EXPECT_GT(traces[1].clockErrorNs, 1'000'000);
    EXPECT_NE(alignment.note.find("not aligned"), std::string::npos);
}

} // namespace rankscope::tracing

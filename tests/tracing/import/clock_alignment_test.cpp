#include "tracing/import/clock_alignment.h"
#include "tracing/import/clock_fit.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace rankscope::tracing {

namespace {

constexpr std::int64_t kMs = 1'000'000;

/// Ranks that see the same collectives, 5 ms each, each rank by a clock of its own.
std::vector<SourceTrace> ranksOf(
    const std::vector<std::int64_t>& ends, const std::vector<std::function<std::int64_t(std::int64_t)>>& clocks)
{
    std::vector<SourceTrace> traces(clocks.size());
    for (std::size_t r = 0; r < clocks.size(); ++r) {
        traces[r].rank = static_cast<std::int32_t>(r);
        traces[r].worldSize = static_cast<std::int32_t>(clocks.size());
        traces[r].lanes.emplace_back();
        traces[r].groups.emplace_back();
        for (std::size_t i = 0; i < ends.size(); ++i) {
            SourcePart part;
            part.beginNs = clocks[r](ends[i] - 5 * kMs);
            part.endNs = clocks[r](ends[i]);
            part.op = CollectiveOp::AllReduce;
            part.sequence = static_cast<std::int64_t>(i);
            traces[r].parts.push_back(part);
        }
    }
    return traces;
}

std::vector<std::int64_t> everyTenth(int count)
{
    std::vector<std::int64_t> ends;
    for (int i = 0; i < count; ++i)
        ends.push_back(i * 100 * kMs);
    return ends;
}

Alignment align(std::vector<SourceTrace>& traces) { return alignClocks(traces, matchCollectives(traces)); }

} // namespace

TEST(ClockAlignment, ADriftIsFoundBesidesTheOffset)
{
    // The second clock runs 3 ms ahead and gains 50 us a second: after 9.9 s that is 495 us more.
    auto traces = ranksOf(
        everyTenth(100), { [](std::int64_t t) { return t; }, [](std::int64_t t) { return t + 3 * kMs + t / 20'000; } });
    const Alignment alignment = align(traces);
    ASSERT_TRUE(alignment.aligned) << alignment.note;
    EXPECT_NEAR(alignment.greatestDrift, 50e-6, 0.1e-6);
    EXPECT_LT(alignment.errorNs, 100); // what integers leave
    for (const SourcePart& part : traces[1].parts)
        EXPECT_NEAR(static_cast<double>(traces[1].onRun(part.endNs, 0)),
            static_cast<double>(traces[0].onRun((part.endNs - 3 * kMs) * 20'000 / 20'001, 0)), 100);
    EXPECT_NE(alignment.note.find("drift of 50 ppm"), std::string::npos) << alignment.note;
}

TEST(ClockAlignment, TimesThatCountFromTheEpochAreComparedToo)
{
    constexpr std::int64_t kUtc = 1'698'955'060'096'688'000; // old PyTorch traces have no base
    auto traces = ranksOf(
        everyTenth(12), { [](std::int64_t t) { return kUtc + t; }, [](std::int64_t t) { return kUtc + t + 2 * kMs; } });
    const Alignment alignment = align(traces);
    ASSERT_TRUE(alignment.aligned) << alignment.note;
    EXPECT_EQ(alignment.anchors, 12);
    EXPECT_EQ(traces[0].onRun(kUtc, kUtc), traces[1].onRun(kUtc + 2 * kMs, kUtc));
}

TEST(ClockAlignment, NoDriftIsMadeUpOfJitter)
{
    std::minstd_rand random(3);
    auto traces = ranksOf(everyTenth(100),
        { [](std::int64_t t) { return t; },
            [&](std::int64_t t) { return t - 7 * kMs + static_cast<std::int64_t>(random() % 40'000); } });
    const Alignment alignment = align(traces);
    ASSERT_TRUE(alignment.aligned);
    EXPECT_EQ(alignment.greatestDrift, 0);
    EXPECT_LT(alignment.errorNs, 40'000);
}

TEST(ClockAlignment, AClockThatWasSetInBetweenIsRefused)
{
    // 20 ms back for the last eighth: no line fits, though most ends agree with the offset alone.
    auto traces = ranksOf(everyTenth(96),
        { [](std::int64_t t) { return t; }, [](std::int64_t t) { return t < 8400 * kMs ? t : t - 20 * kMs; } });
    const Alignment alignment = align(traces);
    EXPECT_FALSE(alignment.aligned);
    EXPECT_EQ(traces[1].clockMap.shiftNs, 0);
    EXPECT_GE(traces[1].clockErrorNs, 10 * kMs);
}

TEST(ClockAlignment, ADriftThatNoClockHasIsRefused)
{
    auto traces = ranksOf(
        everyTenth(100), { [](std::int64_t t) { return t; }, [](std::int64_t t) { return t + t / 500; } }); // 2000 ppm
    EXPECT_FALSE(align(traces).aligned);
}

TEST(ClockAlignment, ClocksWithoutACommonCollectiveMeetByWayOfAThird)
{
    // Groups {0, 1} and {1, 2}: rank 2 is 9 ms ahead of rank 1, which is 4 ms behind rank 0.
    const auto clock = [](std::int64_t ahead) { return [=](std::int64_t t) { return t + ahead * kMs; }; };
    auto traces = ranksOf(everyTenth(20), { clock(0), clock(-4), clock(5) });
    for (SourceTrace& trace : traces) {
        trace.groups.push_back({ "left", "", { 0, 1 }, 2, Dimension::None });
        trace.groups.push_back({ "right", "", { 1, 2 }, 2, Dimension::None });
    }
    for (std::size_t i = 0; i < 20; ++i) {
        traces[0].parts[i].group = 1;
        traces[2].parts[i].group = 2;
        traces[1].parts[i].group = i % 2 == 0 ? 1 : 2;
    }
    const Alignment alignment = align(traces);
    ASSERT_TRUE(alignment.aligned) << alignment.note;
    EXPECT_EQ(traces[0].onRun(0, 0), traces[1].onRun(-4 * kMs, 0));
    EXPECT_EQ(traces[0].onRun(0, 0), traces[2].onRun(5 * kMs, 0));
}

TEST(ClockAlignment, GivesBackAnyOffsetAndDriftWithinTheErrorThatItStates)
{
    std::minstd_rand random(11);
    for (int round = 0; round < 40; ++round) {
        const auto offset = static_cast<std::int64_t>(random() % 2'000'000'000) - 1000 * kMs;
        const double drift = (static_cast<double>(random() % 2001) - 1000) * 1e-7; // up to 100 ppm
        const auto jitter = static_cast<std::int64_t>(random() % 100'000) + 1;
        const auto skewed
            = [=](std::int64_t t) { return t + offset + static_cast<std::int64_t>(drift * static_cast<double>(t)); };
        auto traces = ranksOf(everyTenth(200),
            { [](std::int64_t t) { return t; },
                [&](std::int64_t t) { return skewed(t) + static_cast<std::int64_t>(random()) % jitter; } });
        ASSERT_TRUE(align(traces).aligned);
        for (const std::int64_t t : { 0 * kMs, 5000 * kMs, 12'345 * kMs, 19'900 * kMs }) {
            const std::int64_t difference = traces[1].onRun(skewed(t), 0) - traces[0].onRun(t, 0);
            EXPECT_LE(std::abs(difference), traces[0].clockErrorNs + traces[1].clockErrorNs + 2)
                << "round " << round << ", offset " << offset << ", drift " << drift << ", jitter " << jitter;
        }
    }
}

TEST(ClockMap, OneAfterTheOtherIsOne)
{
    const ClockMap a{ 1000, 1e-4, 5'000'000 }, b{ -70, -3e-5, 100 };
    for (const std::int64_t t : { std::int64_t{ 0 }, 5 * kMs, 900 * kMs })
        EXPECT_NEAR(static_cast<double>(a.then(b)(t)), static_cast<double>(b(a(t))), 1);
}

} // namespace rankscope::tracing

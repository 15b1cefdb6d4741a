#include "app/timeline/core/scene.h"
#include "app/timeline/core/ticks.h"
#include "app/timeline/core/time_map.h"
#include "app/timeline/core/view_history.h"
#include "app/timeline/core/words.h"

#include <gtest/gtest.h>

namespace rankscope::app::timeline {
namespace {

TEST(TimeMap, TimesAndPixelsAreEachOthersInverse)
{
    const TimeMap map = TimeMap::fit({ 1'000'000'000, 3'000'000'000 }, 168, 1000);
    EXPECT_DOUBLE_EQ(map.xOf(1'000'000'000), 168);
    EXPECT_DOUBLE_EQ(map.xOf(3'000'000'000), 1168);
    EXPECT_DOUBLE_EQ(map.nsPerPx, 2'000'000);
    for (const double x : { 168.0, 169.5, 700.25, 1168.0 })
        EXPECT_NEAR(map.xOf(map.nsAt(x)), x, 1e-9);
}

TEST(TimeMap, ZoomKeepsTheTimeUnderThePointer)
{
    const TimeMap map = TimeMap::fit({ 0, 1'000'000 }, 100, 1000);
    const double under = map.nsAt(350);
    const TimeMap zoomed = map.zoomedAt(350, 0.5);
    EXPECT_NEAR(zoomed.nsAt(350), under, 1e-6);
    EXPECT_DOUBLE_EQ(zoomed.nsPerPx, 500);
    const TimeMap back = zoomed.zoomedAt(350, 2);
    EXPECT_NEAR(back.beginNs, map.beginNs, 1e-6);
}

TEST(TimeMap, PansByLessThanANanosecondAtTheDeepestZoomAfterAnHour)
{
    const std::int64_t hour = 3'600'000'000'000;
    const TimeMap map = TimeMap::fit({ hour, hour + 100 }, 0, 1000); // 0.1 ns a pixel
    EXPECT_NEAR(map.pannedBy(1).beginNs - map.beginNs, 0.1, 1e-3);
}

TEST(TimeMap, NeverLosesTheRun)
{
    const tracing::Window run{ 0, 1'000'000 };
    const TimeMap map = TimeMap::fit(run, 0, 1000).pannedBy(1e9).clampedTo(run);
    EXPECT_LT(map.beginNs, 1'000'000);
    const TimeMap wide = TimeMap::fit(run, 0, 1000).zoomedAt(0, 1e6).clampedTo(run);
    EXPECT_DOUBLE_EQ(wide.spanNs(), 2'000'000);
}

TEST(Ruler, MajorTicksLieAtRoundTimesAndSayNoMoreThanTheStepNeeds)
{
    // 3 s over 1424 px: 110 px are 0.23 s, so the step is 0.5 s.
    std::vector<std::string> texts;
    for (const Tick& tick : rulerTicks(TimeMap::fit({ 0, 3'000'000'000 }, 168, 1424), 110)) {
        if (!tick.text.empty())
            texts.push_back(tick.text);
    }
    EXPECT_EQ(texts, (std::vector<std::string>{ "0.0 s", "0.5 s", "1.0 s", "1.5 s", "2.0 s", "2.5 s", "3.0 s" }));
}

TEST(Ruler, DeepInALongRunItCountsFromTheFirstTick)
{
    const std::int64_t hour = 3'600'000'000'000;
    std::vector<std::string> texts;
    for (const Tick& tick : rulerTicks(TimeMap::fit({ hour, hour + 40'000 }, 0, 400), 100)) {
        if (!tick.text.empty())
            texts.push_back(tick.text);
    }
    ASSERT_EQ(texts.size(), 5U);
    EXPECT_EQ(texts[1], "+10 µs");
    EXPECT_EQ(texts[4], "+40 µs");
}

TEST(Words, ThreeDigitsAndAUnit)
{
    EXPECT_EQ(durationText(1'010'000'000), "1.01 s");
    EXPECT_EQ(durationText(12'200'000), "12.2 ms");
    EXPECT_EQ(durationText(4'310), "4.31 µs");
    EXPECT_EQ(durationText(830), "830 ns");
    EXPECT_EQ(durationText(999'600), "1.00 ms");
    EXPECT_EQ(bytesText(16'777'216), "16.8 MB");
    EXPECT_EQ(rateText(1.234e12, "FLOP/s"), "1.23 TFLOP/s");
    EXPECT_EQ(percentText(0.71), "71 %");
    EXPECT_EQ(percentText(0.001), "< 1 %");
    EXPECT_EQ(numberText(1400), "1400");
    EXPECT_EQ(numberText(4.308), "4.31");
}

TEST(ViewHistory, OneGestureIsOneView)
{
    ViewHistory history;
    TimeMap first;
    TimeMap second = first.pannedBy(10);
    TimeMap third = first.pannedBy(20);
    history.leave(first, false, 1000);
    history.leave(second, false, 1100); // the same turn of the wheel
    EXPECT_EQ(history.back(third), first);
    EXPECT_EQ(history.forward(first), third);
    EXPECT_FALSE(history.forward(third));
    history.leave(third, true, 1200);
    EXPECT_EQ(history.back(first), third);
}

/// One rank with a compute lane; 1 ns a pixel from x = 168 on.
Scene sceneWith(std::vector<SpanRecord> spans)
{
    Scene scene;
    auto facts = std::make_shared<RunFacts>();
    facts->lanes.push_back(
        { tracing::LaneId{ 3 }, 0, tracing::LaneKind::Compute, tracing::Dimension::None, "compute", "" });
    facts->window = { 0, 1000 };
    scene.facts = facts;
    scene.width = 1168;
    scene.height = 300;
    scene.map = TimeMap::fit({ 0, 1000 }, 168, 1000);
    auto content = std::make_shared<LaneContent>();
    content->lane = tracing::LaneId{ 3 };
    content->spans = std::move(spans);
    scene.contents[content->lane] = content;
    scene.layout = LaneLayout(*facts, {});
    return scene;
}

TEST(HitTest, FindsTheSpanUnderThePixelAndNothingBesideIt)
{
    SpanRecord span;
    span.beginNs = 100;
    span.endNs = 200;
    const Scene scene = sceneWith({ span });
    // Minimap 36 and ruler 24, then the rank's title of 24: the lane covers [84, 104).
    const auto inside = hitTest(scene, 268, 84);
    ASSERT_TRUE(inside && inside->span);
    EXPECT_EQ(inside->span->beginNs, 100);
    EXPECT_EQ(inside->lane, tracing::LaneId{ 3 });
    EXPECT_TRUE(hitTest(scene, 367, 103)); // its last pixel
    EXPECT_FALSE(hitTest(scene, 368, 90)); // one further
    EXPECT_FALSE(hitTest(scene, 267, 90)); // one before
    EXPECT_FALSE(hitTest(scene, 300, 83)); // the title row
    EXPECT_FALSE(hitTest(scene, 300, 104)); // under the lane
    EXPECT_FALSE(hitTest(scene, 100, 90)); // the title column
}

TEST(HitTest, FindsASpanNarrowerThanAPixelAtItsPixel)
{
    SpanRecord span;
    span.beginNs = 500;
    span.endNs = 500;
    const Scene scene = sceneWith({ span });
    EXPECT_TRUE(hitTest(scene, 668, 90));
    EXPECT_FALSE(hitTest(scene, 669, 90));
}

TEST(Layout, StacksRanksAndTheirLanesInOrderAndFoldsARankToOneRow)
{
    RunFacts facts;
    const auto add = [&](int id, int rank, tracing::LaneKind kind) {
        facts.lanes.push_back({ tracing::LaneId{ id }, rank, kind, tracing::Dimension::None, "", "" });
    };
    add(1, 0, tracing::LaneKind::Host);
    add(2, 0, tracing::LaneKind::Compute);
    add(3, 0, tracing::LaneKind::Communication);
    add(4, 1, tracing::LaneKind::Compute);
    LaneLayout::Options options;
    options.folded = { 1 };
    options.levels[tracing::LaneId{ 1 }] = 2;
    const LaneLayout layout(facts, options);
    const auto& boxes = layout.boxes();
    ASSERT_EQ(boxes.size(), 5U);
    EXPECT_EQ(boxes[0].kind, Box::Kind::RankTitle);
    EXPECT_EQ(boxes[1].lane, 1U); // compute first
    EXPECT_EQ(boxes[2].lane, 2U);
    EXPECT_EQ(boxes[3].lane, 0U);
    EXPECT_EQ(boxes[3].height, 2 * kHostRowHeight);
    EXPECT_EQ(boxes[4].kind, Box::Kind::FoldedRank);
    EXPECT_EQ(boxes[4].lane, 3U);
    EXPECT_EQ(layout.height(), boxes[4].bottom());
    EXPECT_EQ(layout.boxAt(boxes[2].top + 1), &boxes[2]);
    EXPECT_EQ(layout.boxAt(boxes[2].bottom()), nullptr); // the gap
}

} // namespace
} // namespace rankscope::app::timeline

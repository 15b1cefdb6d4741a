#include "app/timeline/core/scene.h"

#include <algorithm>
#include <cmath>

namespace rankscope::app::timeline {

float Scene::headerHeight() const
{
    const int bands = (facts->steps.empty() ? 0 : 1) + (microBatches && !microBatches->empty() ? 1 : 0);
    return kMinimapHeight + kRulerHeight + static_cast<float>(bands) * kBandHeight;
}

const LaneContent* Scene::contentOf(const Box& box) const
{
    if (box.showsRankSummary()) {
        const auto found = ledgers.find(box.rank);
        if (found != ledgers.end())
            return found->second.get();
    }
    if (!box.lane)
        return nullptr;
    const auto found = contents.find(facts->lanes[*box.lane].id);
    return found == contents.end() ? nullptr : found->second.get();
}

tracing::LaneKind Scene::laneKindOf(const Box& box) const
{
    return box.lane ? facts->lanes[*box.lane].kind : tracing::LaneKind::Compute;
}

PixelSpan pixelsOf(const TimeMap& map, std::int64_t beginNs, std::int64_t endNs)
{
    // Far away edges would lose their pixel in a float.
    const double least = map.leftPx - 10000;
    const double most = map.leftPx + map.widthPx + 10000;
    const double x0 = std::floor(std::clamp(map.xOf(static_cast<double>(beginNs)), least, most));
    const double x1 = std::floor(std::clamp(map.xOf(static_cast<double>(endNs)), least, most));
    return { static_cast<float>(x0), static_cast<float>(std::max(x1, x0 + 1)) };
}

namespace {

template <typename Record>
const Record* recordAt(const std::vector<Record>& records, const TimeMap& map, float x, int level)
{
    const Record* found = nullptr;
    // Records are sorted by begin: none that begins right of the pixel can cover it.
    const auto after = std::upper_bound(records.begin(), records.end(), x,
        [&](float at, const Record& record) { return at < pixelsOf(map, record.beginNs, record.endNs).x0; });
    for (auto it = records.begin(); it != after; ++it) {
        if constexpr (requires { it->level; }) {
            if (it->level != level)
                continue;
        }
        const PixelSpan px = pixelsOf(map, it->beginNs, it->endNs);
        if (x >= px.x0 && x < px.x1)
            found = &*it; // the later one lies on top
    }
    return found;
}

int levelAt(const Box& box, tracing::LaneKind kind, float y)
{
    for (int level = 0; level < box.levels; ++level) {
        const LevelPlace place = placeOf(box, kind, level);
        if (y >= place.top && y < place.top + place.height)
            return level;
    }
    return -1;
}

} // namespace

std::optional<Hit> hitTest(const Scene& scene, float x, float y)
{
    if (x < kTitleWidth || y < scene.headerHeight())
        return std::nullopt;
    const float laneY = y - scene.headerHeight() + scene.scroll;
    const Box* box = scene.layout.boxAt(laneY);
    const LaneContent* content = box != nullptr ? scene.contentOf(*box) : nullptr;
    if (content == nullptr)
        return std::nullopt;
    Hit hit;
    hit.rank = box->rank;
    hit.lane = content->lane;
    hit.ledger = box->showsRankSummary() && scene.ledgers.contains(box->rank);
    if (const CounterRecord* sample = recordAt(content->samples, scene.map, x, 0)) {
        hit.sample = *sample;
        return hit;
    }
    const int level = levelAt(*box, scene.laneKindOf(*box), laneY - box->top);
    if (const SpanRecord* span = recordAt(content->spans, scene.map, x, level)) {
        hit.span = *span;
        return hit;
    }
    if (const FoldRecord* fold = recordAt(content->folds, scene.map, x, level)) {
        hit.fold = *fold;
        return hit;
    }
    return std::nullopt;
}

} // namespace rankscope::app::timeline

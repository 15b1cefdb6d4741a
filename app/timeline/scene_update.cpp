#include "app/timeline/scene_update.h"

#include <algorithm>

namespace rankscope::app::timeline {
namespace {

void takeMicroBatches(Scene& scene, const LaneContent& content)
{
    const auto lane = std::find_if(scene.facts->lanes.begin(), scene.facts->lanes.end(),
        [&](const tracing::Lane& candidate) { return candidate.id == content.lane; });
    if (lane == scene.facts->lanes.end() || lane->kind != tracing::LaneKind::Host)
        return;
    const std::int32_t bandRank = scene.facts->steps.empty() ? 0 : scene.facts->steps.front().rank;
    if (lane->rank != bandRank)
        return;
    auto found = std::make_shared<std::vector<SpanRecord>>();
    for (const SpanRecord& span : content.spans) {
        if (span.range == tracing::RangeKind::MicroBatch)
            found->push_back(span);
    }
    // Zoomed out they fold away, and the band stays as it is: its coming and going would shift all lanes.
    if (!found->empty())
        scene.microBatches = std::move(found);
}

} // namespace

void putContent(Scene& scene, std::shared_ptr<const LaneContent> content)
{
    takeMicroBatches(scene, *content);
    int& levels = scene.laneLevels[content->lane];
    levels = std::max(levels, content->levels);
    scene.contents[content->lane] = std::move(content);
}

void layOut(Scene& scene, const std::set<std::int32_t>& folded)
{
    scene.layout = LaneLayout(*scene.facts, { folded, scene.laneLevels, true });
}

} // namespace rankscope::app::timeline

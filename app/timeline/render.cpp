#include "app/timeline/render.h"

#include "app/timeline/canvas.h"
#include "app/timeline/core/lane_source.h"
#include "app/timeline/core/ledger_source.h"
#include "app/timeline/loader.h"
#include "app/timeline/scene_update.h"

namespace rankscope::app {

using namespace timeline;

tracing::Result<QImage> renderTimeline(
    const std::string& path, QSize size, std::optional<tracing::Window> window, Theme theme)
{
    auto reader = tracing::TraceReader::open(path);
    if (!reader)
        return reader.error();
    auto facts = readRunFacts(*reader);
    if (!facts)
        return facts.error();

    Scene scene;
    scene.theme = theme;
    scene.width = static_cast<float>(size.width());
    scene.height = static_cast<float>(size.height());
    scene.facts = *facts;
    const double plotWidth = static_cast<double>(scene.width - kTitleWidth - kRightMargin);
    scene.map = TimeMap::fit(window.value_or(scene.facts->window), static_cast<double>(kTitleWidth), plotWidth);
    for (const tracing::Lane& lane : scene.facts->lanes) {
        auto content = loadLane(*reader, *scene.facts, lane, scene.map.window(), scene.map.nsPerPx);
        if (!content)
            return content.error().in("draw " + path);
        putContent(scene, std::make_shared<const LaneContent>(std::move(*content)));
    }
    for (const tracing::RankInfo& rank : scene.facts->ranks) {
        auto ledger = loadLedger(*reader, *scene.facts, rank.rank, scene.map.window(), scene.map.nsPerPx);
        if (!ledger)
            return ledger.error().in("draw " + path);
        scene.ledgers[rank.rank] = std::make_shared<const LaneContent>(std::move(*ledger));
    }
    const int columns = std::max(1, static_cast<int>(plotWidth));
    scene.minimap = std::make_shared<const Minimap>(readMinimap(*reader, *scene.facts, columns));
    layOut(scene, {});
    Canvas canvas;
    return canvas.draw(scene, 1).copy();
}

} // namespace rankscope::app

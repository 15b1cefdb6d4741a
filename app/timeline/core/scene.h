#pragma once

#include "app/session/palette.h"
#include "app/timeline/core/emphasis.h"
#include "app/timeline/core/lane_layout.h"
#include "app/timeline/core/metrics.h"
#include "app/timeline/core/minimap.h"
#include "app/timeline/core/records.h"
#include "app/timeline/core/run_facts.h"
#include "app/timeline/core/selection.h"
#include "app/timeline/core/time_map.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace rankscope::app::timeline {

/// A drag that marks a stretch of time.
struct DragArea {
    double fromNs = 0;
    double toNs = 0;
};

/// All that one frame shows. Owned by the widget; drawing and hit tests only read it.
struct Scene {
    std::shared_ptr<const RunFacts> facts = std::make_shared<const RunFacts>();
    std::map<tracing::LaneId, std::shared_ptr<const LaneContent>> contents;
    std::map<std::int32_t, std::shared_ptr<const LaneContent>> ledgers; ///< by rank
    std::shared_ptr<const Minimap> minimap;
    std::shared_ptr<const std::vector<SpanRecord>> microBatches; ///< of the band's rank
    std::map<tracing::LaneId, int> laneLevels; ///< most sub-rows a lane ever had, so that nothing jumps while panning
    LaneLayout layout; ///< made of facts and laneLevels
    TimeMap map;
    float width = 0;
    float height = 0;
    float scroll = 0; ///< px of lanes above the visible ones
    Theme theme = Theme::Dark;
    Selection selection;
    std::optional<Hit> hover;
    float hoverX = 0;
    float hoverY = 0;
    std::optional<DragArea> area;
    Emphasis emphasis;
    std::map<std::int32_t, std::int64_t> lateCounts; ///< by rank: collectives that it entered last
    std::optional<std::int64_t> liveHeadNs; ///< while the run goes on
    std::optional<std::int64_t> behindNs; ///< age of the newest event

    float headerHeight() const;
    const LaneContent* contentOf(const Box& box) const; ///< nullptr until it is loaded
    tracing::LaneKind laneKindOf(const Box& box) const;
};

/// Pixels of a span: at least one, and neighbours share no pixel.
struct PixelSpan {
    float x0 = 0;
    float x1 = 0;
    float width() const { return x1 - x0; }
};
PixelSpan pixelsOf(const TimeMap& map, std::int64_t beginNs, std::int64_t endNs);

/// What lies under a pixel of the canvas; nothing over the header and the title column.
std::optional<Hit> hitTest(const Scene& scene, float x, float y);

} // namespace rankscope::app::timeline

#pragma once

#include "app/timeline/core/scene.h"
#include "app/timeline/draw/painter.h"

namespace rankscope::app::timeline {

/// The second of the two passes of a frame: walks the records of the scene and draws what is visible. No row is read
/// here.
void drawTimeline(Painter& painter, const Scene& scene);

// Its parts, from the ground up.
void drawLanes(Painter& painter, const Scene& scene);
void drawTitles(Painter& painter, const Scene& scene);
void drawMarks(Painter& painter, const Scene& scene); ///< late ranks, the selected collective, the live head
void drawHeader(Painter& painter, const Scene& scene); ///< minimap, ruler, bands
void drawHover(Painter& painter, const Scene& scene);

/// Part of the canvas right of the title column and under the header.
Rect plotOf(const Scene& scene);
/// Top of a box on the canvas, scrolling included.
float topOf(const Scene& scene, const Box& box);
/// Where patterns begin: moves with the content, small enough for a float.
float patternPhase(const TimeMap& map);

} // namespace rankscope::app::timeline

#pragma once

#include "app/timeline/present/raster_rectangle.h"

#include <array>

namespace rankscope::app::timeline {

/// Any triangle, row by row: colours and texture coordinates are interpolated, triangles that share an edge share no
/// pixel and leave none out.
void fillTriangle(
    const std::array<ImDrawVert, 3>& corners, const Texture* texture, ClipRect clip, const Surface& surface);

} // namespace rankscope::app::timeline

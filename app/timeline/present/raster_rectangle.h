#pragma once

#include "app/timeline/present/rasterizer.h"
#include "app/timeline/present/texture.h"

namespace rankscope::app::timeline {

/// Half-open, in pixels, inside the surface.
struct ClipRect {
    int x0 = 0;
    int y0 = 0;
    int x1 = 0;
    int y1 = 0;
};

/// Fills the upright rectangle between two corners (pixels) of one colour; the texture's coverage is taken at the
/// nearest texel, which is exact for glyphs and patterns drawn at their own size.
void fillRectangle(const ImDrawVert& topLeft, const ImDrawVert& bottomRight, const Texture* texture, ClipRect clip,
    const Surface& surface);

} // namespace rankscope::app::timeline

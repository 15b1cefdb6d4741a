#pragma once

#include <imgui/imgui.h>

#include <cstddef>
#include <cstdint>

namespace rankscope::app::timeline {

/// Pixels to draw on: 0xffRRGGBB, rows from the top.
struct Surface {
    std::uint32_t* pixels = nullptr;
    int width = 0;
    int height = 0;
    int stride = 0; ///< pixels from row to row

    std::uint32_t* row(int y) const { return pixels + static_cast<std::ptrdiff_t>(y) * stride; }
};

/// Draws ImGui's triangles in software. Pairs of triangles that are an upright rectangle (all that the timeline draws
/// but a few marks) are filled row by row; others go through a scanline rasteriser. A pixel belongs to a shape if its
/// centre does, so that neighbours share no pixel. Texture ids are those of texture.h; no id: plain colours.
void rasterize(const ImDrawData& data, const Surface& surface);

} // namespace rankscope::app::timeline

#include "app/timeline/present/rasterizer.h"

#include "app/timeline/present/raster_rectangle.h"
#include "app/timeline/present/raster_triangle.h"
#include "app/timeline/present/texture.h"

#include <algorithm>
#include <cmath>

namespace rankscope::app::timeline {
namespace {

ClipRect clipOf(const ImDrawData& data, const ImDrawCmd& command, const Surface& surface)
{
    const auto edge = [](float at, float origin, float scale, int most) {
        return std::clamp(static_cast<int>(std::lround((at - origin) * scale)), 0, most);
    };
    return { edge(command.ClipRect.x, data.DisplayPos.x, data.FramebufferScale.x, surface.width),
        edge(command.ClipRect.y, data.DisplayPos.y, data.FramebufferScale.y, surface.height),
        edge(command.ClipRect.z, data.DisplayPos.x, data.FramebufferScale.x, surface.width),
        edge(command.ClipRect.w, data.DisplayPos.y, data.FramebufferScale.y, surface.height) };
}

/// ImGui's own order of the six indices of a quad, and corners that lie upright.
bool isRectangle(const ImDrawIdx* index, const ImDrawVert* vertices)
{
    const unsigned first = index[0];
    if (index[1] != first + 1 || index[2] != first + 2 || index[3] != first || index[4] != first + 2
        || index[5] != first + 3)
        return false;
    const ImDrawVert& a = vertices[first];
    const ImDrawVert& b = vertices[first + 1];
    const ImDrawVert& c = vertices[first + 2];
    const ImDrawVert& d = vertices[first + 3];
    return a.pos.y == b.pos.y && c.pos.y == d.pos.y && a.pos.x == d.pos.x && b.pos.x == c.pos.x && a.col == c.col
        && a.col == b.col && a.col == d.col && a.uv.y == b.uv.y && c.uv.y == d.uv.y && a.uv.x == d.uv.x
        && b.uv.x == c.uv.x && a.pos.x <= c.pos.x && a.pos.y <= c.pos.y;
}

struct Placement {
    ImVec2 origin;
    ImVec2 scale;

    ImDrawVert operator()(ImDrawVert vertex) const
    {
        vertex.pos.x = (vertex.pos.x - origin.x) * scale.x;
        vertex.pos.y = (vertex.pos.y - origin.y) * scale.y;
        return vertex;
    }
};

void draw(
    const ImDrawList& list, const ImDrawCmd& command, const Placement& place, ClipRect clip, const Surface& surface)
{
    const Texture* texture = textureOf(command.GetTexID());
    const ImDrawIdx* index = list.IdxBuffer.Data + command.IdxOffset;
    const ImDrawIdx* end = index + command.ElemCount;
    const ImDrawVert* vertices = list.VtxBuffer.Data + command.VtxOffset;
    while (index + 3 <= end) {
        if (index + 6 <= end && isRectangle(index, vertices)) {
            fillRectangle(place(vertices[index[0]]), place(vertices[index[2]]), texture, clip, surface);
            index += 6;
        } else {
            fillTriangle({ place(vertices[index[0]]), place(vertices[index[1]]), place(vertices[index[2]]) }, texture,
                clip, surface);
            index += 3;
        }
    }
}

} // namespace

void rasterize(const ImDrawData& data, const Surface& surface)
{
    const Placement place{ data.DisplayPos, data.FramebufferScale };
    for (int i = 0; i < data.CmdListsCount; ++i) {
        const ImDrawList& list = *data.CmdLists[i];
        for (const ImDrawCmd& command : list.CmdBuffer) {
            const ClipRect clip = clipOf(data, command, surface);
            if (command.UserCallback == nullptr && clip.x0 < clip.x1 && clip.y0 < clip.y1)
                draw(list, command, place, clip, surface);
        }
    }
}

} // namespace rankscope::app::timeline

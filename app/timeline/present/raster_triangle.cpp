#include "app/timeline/present/raster_triangle.h"

#include "app/timeline/present/blend.h"

#include <algorithm>
#include <cmath>

namespace rankscope::app::timeline {
namespace {

/// A value that is linear over the plane.
struct Gradient {
    float atOrigin = 0;
    float perX = 0;
    float perY = 0;

    float at(float x, float y) const { return atOrigin + x * perX + y * perY; }
};

using Corners = std::array<ImDrawVert, 3>;

float doubleArea(const Corners& c)
{
    return (c[1].pos.x - c[0].pos.x) * (c[2].pos.y - c[0].pos.y)
        - (c[2].pos.x - c[0].pos.x) * (c[1].pos.y - c[0].pos.y);
}

Gradient gradient(const Corners& c, float area, float v0, float v1, float v2)
{
    Gradient g;
    g.perX = ((v1 - v0) * (c[2].pos.y - c[0].pos.y) - (v2 - v0) * (c[1].pos.y - c[0].pos.y)) / area;
    g.perY = ((v2 - v0) * (c[1].pos.x - c[0].pos.x) - (v1 - v0) * (c[2].pos.x - c[0].pos.x)) / area;
    g.atOrigin = v0 - g.perX * c[0].pos.x - g.perY * c[0].pos.y;
    return g;
}

/// Where the edge crosses a row; the same for both triangles of an edge, as it is always walked downwards.
float crossing(const ImDrawVert& a, const ImDrawVert& b, float y)
{
    const ImVec2 top = a.pos.y <= b.pos.y ? a.pos : b.pos;
    const ImVec2 bottom = a.pos.y <= b.pos.y ? b.pos : a.pos;
    return top.x + (bottom.x - top.x) * ((y - top.y) / (bottom.y - top.y));
}

class Shader {
public:
    Shader(const Corners& c, float area, const Texture* texture)
        : texture_(texture)
    {
        for (int channel = 0; channel < 4; ++channel) {
            const auto value = [&](std::size_t i) { return static_cast<float>((c[i].col >> (8 * channel)) & 0xffU); };
            color_[static_cast<std::size_t>(channel)] = gradient(c, area, value(0), value(1), value(2));
        }
        u_ = gradient(c, area, c[0].uv.x, c[1].uv.x, c[2].uv.x);
        v_ = gradient(c, area, c[0].uv.y, c[1].uv.y, c[2].uv.y);
    }

    void put(std::uint32_t& pixel, float x, float y) const
    {
        const auto channel = [&](std::size_t i) {
            return static_cast<std::uint32_t>(std::clamp(color_[i].at(x, y) + 0.5F, 0.0F, 255.0F));
        };
        const std::uint32_t alpha = by255(channel(3) * coverage(x, y));
        if (alpha != 0)
            pixel = blend(pixel, (channel(0) << 16) | (channel(1) << 8) | channel(2), alpha);
    }

private:
    std::uint32_t coverage(float x, float y) const
    {
        if (texture_ == nullptr)
            return 255;
        const auto texel = [&](float at, int size) {
            const int place = static_cast<int>(std::floor(at * static_cast<float>(size)));
            if (!texture_->repeats)
                return std::clamp(place, 0, size - 1);
            const int rest = place % size;
            return rest < 0 ? rest + size : rest;
        };
        const int row = texel(v_.at(x, y), texture_->height);
        const int column = texel(u_.at(x, y), texture_->width);
        return texture_->coverage[static_cast<std::size_t>(row * texture_->width + column)];
    }

    const Texture* texture_;
    std::array<Gradient, 4> color_{}; ///< red, green, blue, alpha
    Gradient u_;
    Gradient v_;
};

} // namespace

void fillTriangle(const Corners& corners, const Texture* texture, ClipRect clip, const Surface& surface)
{
    const float area = doubleArea(corners);
    if (area == 0)
        return;
    const Shader shader(corners, area, texture);
    Corners sorted = corners;
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.pos.y < b.pos.y; });
    const auto firstPixel = [](float edge) { return static_cast<int>(std::ceil(edge - 0.5F)); };
    const int y0 = std::max(clip.y0, firstPixel(sorted[0].pos.y));
    const int y1 = std::min(clip.y1, firstPixel(sorted[2].pos.y));
    for (int y = y0; y < y1; ++y) {
        const float centreY = static_cast<float>(y) + 0.5F;
        const float through = crossing(sorted[0], sorted[2], centreY);
        const bool upper = centreY < sorted[1].pos.y;
        const float other = upper ? crossing(sorted[0], sorted[1], centreY) : crossing(sorted[1], sorted[2], centreY);
        const int x0 = std::max(clip.x0, firstPixel(std::min(through, other)));
        const int x1 = std::min(clip.x1, firstPixel(std::max(through, other)));
        std::uint32_t* row = surface.row(y);
        for (int x = x0; x < x1; ++x)
            shader.put(row[x], static_cast<float>(x) + 0.5F, centreY);
    }
}

} // namespace rankscope::app::timeline

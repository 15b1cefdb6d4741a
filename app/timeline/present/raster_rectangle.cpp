#include "app/timeline/present/raster_rectangle.h"

#include "app/timeline/present/blend.h"

#include <algorithm>
#include <cmath>

namespace rankscope::app::timeline {
namespace {

int firstPixel(float edge) { return static_cast<int>(std::ceil(edge - 0.5F)); }

int wrapped(int texel, int size)
{
    const int rest = texel % size;
    return rest < 0 ? rest + size : rest;
}

int texelAt(float at, int size, bool repeats)
{
    const int texel = static_cast<int>(std::floor(at));
    return repeats ? wrapped(texel, size) : std::clamp(texel, 0, size - 1);
}

void fillPlain(ClipRect area, Ink ink, const Surface& surface)
{
    const int width = area.x1 - area.x0;
    for (int y = area.y0; y < area.y1; ++y) {
        std::uint32_t* pixel = surface.row(y) + area.x0;
        if (ink.alpha == 255) {
            std::fill_n(pixel, width, 0xff000000U | ink.rgb);
        } else {
            for (int x = 0; x < width; ++x)
                pixel[x] = blend(pixel[x], ink.rgb, ink.alpha);
        }
    }
}

inline void put(std::uint32_t& pixel, Ink ink, std::uint32_t coverage)
{
    if (coverage == 0)
        return;
    const std::uint32_t alpha = ink.alpha == 255 ? coverage : by255(ink.alpha * coverage);
    pixel = alpha == 255 ? 0xff000000U | ink.rgb : blend(pixel, ink.rgb, alpha);
}

/// Texels that lie one to one under the area's pixels, as glyphs do, which most textured rectangles are.
void fillUnscaled(ClipRect area, const Texture& texture, int u, int v, Ink ink, const Surface& surface)
{
    const std::uint8_t* coverage = texture.coverage.data() + static_cast<std::ptrdiff_t>(v) * texture.width + u;
    const int width = area.x1 - area.x0;
    const std::uint32_t full = 0xff000000U | ink.rgb;
    for (int y = area.y0; y < area.y1; ++y, coverage += texture.width) {
        std::uint32_t* pixel = surface.row(y) + area.x0;
        if (ink.alpha != 255) {
            for (int x = 0; x < width; ++x)
                put(pixel[x], ink, coverage[x]);
            continue;
        }
        for (int x = 0; x < width; ++x) {
            if (coverage[x] != 0)
                pixel[x] = coverage[x] == 255 ? full : blend(pixel[x], ink.rgb, coverage[x]);
        }
    }
}

bool isUnscaled(float step) { return std::abs(step - 1) < 1e-3F; }

/// A texture coordinate along one axis: texel at the first pixel's centre, texels a pixel.
struct Walk {
    float start = 0;
    float step = 0;
};

Walk walk(float from, float to, float fromPx, float toPx, int firstPx, int size)
{
    const float step = (to - from) * static_cast<float>(size) / (toPx - fromPx);
    return { from * static_cast<float>(size) + (static_cast<float>(firstPx) + 0.5F - fromPx) * step, step };
}

void fillRow(
    std::uint32_t* pixel, int count, const Texture& texture, const std::uint8_t* coverage, Walk across, Ink ink)
{
    if (isUnscaled(across.step)) {
        int u = texelAt(across.start, texture.width, texture.repeats);
        for (int x = 0; x < count; ++x) {
            put(pixel[x], ink, coverage[u]);
            if (++u >= texture.width)
                u = texture.repeats ? 0 : texture.width - 1;
        }
        return;
    }
    for (int x = 0; x < count; ++x) {
        const float at = across.start + static_cast<float>(x) * across.step;
        put(pixel[x], ink, coverage[texelAt(at, texture.width, texture.repeats)]);
    }
}

} // namespace

void fillRectangle(const ImDrawVert& topLeft, const ImDrawVert& bottomRight, const Texture* texture, ClipRect clip,
    const Surface& surface)
{
    const ClipRect area{ std::max(clip.x0, firstPixel(topLeft.pos.x)), std::max(clip.y0, firstPixel(topLeft.pos.y)),
        std::min(clip.x1, firstPixel(bottomRight.pos.x)), std::min(clip.y1, firstPixel(bottomRight.pos.y)) };
    const Ink ink = inkOf(topLeft.col);
    if (area.x0 >= area.x1 || area.y0 >= area.y1 || ink.alpha == 0)
        return;
    const bool oneTexel = topLeft.uv.x == bottomRight.uv.x && topLeft.uv.y == bottomRight.uv.y;
    if (texture == nullptr || oneTexel) { // ImGui's plain shapes point at a white texel
        fillPlain(area, ink, surface);
        return;
    }
    const Walk across = walk(topLeft.uv.x, bottomRight.uv.x, topLeft.pos.x, bottomRight.pos.x, area.x0, texture->width);
    const Walk down = walk(topLeft.uv.y, bottomRight.uv.y, topLeft.pos.y, bottomRight.pos.y, area.y0, texture->height);
    if (isUnscaled(across.step) && isUnscaled(down.step)) {
        const int u = texelAt(across.start, texture->width, texture->repeats);
        const int v = texelAt(down.start, texture->height, texture->repeats);
        if (u + area.x1 - area.x0 <= texture->width && v + area.y1 - area.y0 <= texture->height) {
            fillUnscaled(area, *texture, u, v, ink, surface);
            return;
        }
    }
    for (int y = area.y0; y < area.y1; ++y) {
        const float at = down.start + static_cast<float>(y - area.y0) * down.step;
        const int v = texelAt(at, texture->height, texture->repeats);
        const std::uint8_t* coverage = texture->coverage.data() + static_cast<std::ptrdiff_t>(v) * texture->width;
        fillRow(surface.row(y) + area.x0, area.x1 - area.x0, *texture, coverage, across, ink);
    }
}

} // namespace rankscope::app::timeline

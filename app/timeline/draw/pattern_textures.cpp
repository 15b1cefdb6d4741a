#include "app/timeline/draw/pattern_textures.h"

namespace rankscope::app::timeline {
namespace {

bool isInk(const LeafStyle& style, int x, int y)
{
    const int width = style.lineWidth;
    const int pitch = style.pitchX;
    switch (style.pattern) {
    case Pattern::VerticalLines:
        return x < width;
    case Pattern::HorizontalLines:
        return y < width;
    case Pattern::Slash:
        return (x + y) % pitch < width;
    case Pattern::Backslash:
        return (x - y + pitch) % pitch < width;
    case Pattern::Grid:
        return x < width || y < width;
    case Pattern::Cross:
        return (x + y) % pitch < width || (x - y + pitch) % pitch < width;
    case Pattern::Dots:
        return x < width && y < width;
    default:
        return false;
    }
}

Texture textureFor(const LeafStyle& style)
{
    Texture texture{ style.pitchX, style.pitchY, true, {} };
    for (int y = 0; y < texture.height; ++y) {
        for (int x = 0; x < texture.width; ++x)
            texture.coverage.push_back(isInk(style, x, y) ? 255 : 0);
    }
    return texture;
}

} // namespace

PatternTextures::PatternTextures()
{
    for (int i = 0; i < kLeafCount; ++i) {
        const LeafStyle& style = leafStyle(static_cast<Leaf>(i), Theme::Dark); // geometry is the same in both themes
        if (style.lineWidth > 0)
            textures_.emplace(Key{ style.pattern, style.lineWidth, style.pitchX, style.pitchY }, textureFor(style));
    }
}

const Texture* PatternTextures::of(const LeafStyle& style) const
{
    const auto found = textures_.find({ style.pattern, style.lineWidth, style.pitchX, style.pitchY });
    return found == textures_.end() ? nullptr : &found->second;
}

} // namespace rankscope::app::timeline

#pragma once

#include "app/session/palette.h"
#include "app/timeline/present/texture.h"

#include <map>
#include <tuple>

namespace rankscope::app::timeline {

/// One small repeating texture a pattern, one texel a pixel, so that a hatch is a single textured rectangle.
class PatternTextures {
public:
    PatternTextures();

    /// nullptr for leaves without lines.
    const Texture* of(const LeafStyle& style) const;

private:
    using Key = std::tuple<Pattern, int, int, int>; ///< pattern, line width, pitches
    std::map<Key, Texture> textures_;
};

} // namespace rankscope::app::timeline

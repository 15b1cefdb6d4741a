#pragma once

#include "app/timeline/present/texture.h"

#include <imgui/imgui.h>

#include <array>
#include <cstddef>
#include <span>

namespace rankscope::app::timeline {

enum class TextSize { Smallest, Label, Body, Title }; ///< 11, 12, 13 regular and 14 medium (LOOK, section 2)

/// Glyphs of Roboto for one device pixel ratio: Latin, Greek and Cyrillic. A letter that is missing is drawn as a box.
class FontAtlas {
public:
    FontAtlas(std::span<const char> regularFile, std::span<const char> mediumFile, float pixelRatio);

    ImFontAtlas& atlas() { return atlas_; }
    ImFont* font(TextSize size) const { return fonts_[static_cast<std::size_t>(size)]; }
    static float emPx(TextSize size);
    static float lineHeight(TextSize size); ///< the size that ImGui wants: ascent plus descent

private:
    ImFontAtlas atlas_;
    std::array<ImFont*, 4> fonts_{};
    Texture texture_;
};

} // namespace rankscope::app::timeline

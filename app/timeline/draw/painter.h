#pragma once

#include "app/session/palette.h"
#include "app/timeline/draw/font_atlas.h"
#include "app/timeline/draw/pattern_textures.h"

#include <imgui/imgui.h>

#include <string>
#include <string_view>
#include <vector>

namespace rankscope::app::timeline {

struct Rect {
    float x0 = 0;
    float y0 = 0;
    float x1 = 0;
    float y1 = 0;

    float width() const { return x1 - x0; }
    float height() const { return y1 - y0; }
};

/// What the timeline draws with: upright rectangles, hatches and text on an ImDrawList.
class Painter {
public:
    Painter(ImDrawList& list, const FontAtlas& fonts, const PatternTextures& patterns, Theme theme);

    Theme theme() const { return theme_; }
    const Roles& role() const { return roles(theme_); }

    void pushClip(Rect rect);
    void popClip();

    void fill(Rect rect, Color color, int alpha = 255);
    void frame(Rect rect, Color color, float width = 1); ///< inside the rectangle
    void dashedFrame(Rect rect, Color color);
    void dottedLine(float x0, float x1, float y, Color color);
    /// A leaf in its pattern, which moves with the content: phaseX is where its x = 0 lies, in px.
    void leaf(Rect rect, const LeafStyle& style, float phaseX);
    void downTriangle(float tipX, float tipY, float width, Color color);
    void rightTriangle(float tipX, float tipY, float height, Color color);

    float textWidth(TextSize size, std::string_view text) const;
    /// Text whose capitals are centred between top and bottom; x is its left edge.
    void text(float x, float top, float bottom, TextSize size, Color color, std::string_view text);
    /// The text, or as much of it as fits followed by an ellipsis; empty when not even that fits.
    std::string elided(TextSize size, std::string_view text, float width) const;
    /// The first that fits, or as much as fits of the last.
    std::string fitting(TextSize size, const std::vector<std::string>& wordings, float width) const;

private:
    ImDrawList& list_;
    const FontAtlas& fonts_;
    const PatternTextures& patterns_;
    Theme theme_;
};

} // namespace rankscope::app::timeline

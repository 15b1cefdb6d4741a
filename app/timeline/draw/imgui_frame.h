#pragma once

#include "app/timeline/draw/font_atlas.h"

#include <imgui/imgui.h>

#include <memory>

struct ImGuiContext;

namespace rankscope::app::timeline {

/// One ImGui context with our fonts; begin() gives the list to draw on, end() what a presenter wants. Several may live
/// in one process, on one thread.
class ImguiFrame {
public:
    explicit ImguiFrame(std::unique_ptr<FontAtlas> fonts);
    ~ImguiFrame();
    ImguiFrame(const ImguiFrame&) = delete;
    ImguiFrame& operator=(const ImguiFrame&) = delete;

    ImDrawList& begin(float width, float height, float pixelRatio);
    const ImDrawData& end(); ///< good until the next begin()
    const FontAtlas& fonts() const { return *fonts_; }

private:
    std::unique_ptr<FontAtlas> fonts_;
    ImGuiContext* context_;
};

} // namespace rankscope::app::timeline

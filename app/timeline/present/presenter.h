#pragma once

#include <imgui/imgui.h>

namespace rankscope::app::timeline {

/// Brings a frame of ImGui onto a target of its own: an image, or a GL surface. Texture ids are those of texture.h.
class Presenter {
public:
    virtual ~Presenter() = default;
    virtual void present(const ImDrawData& data) = 0;
};

} // namespace rankscope::app::timeline

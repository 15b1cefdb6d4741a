#pragma once

#include "app/timeline/core/scene.h"
#include "app/timeline/draw/imgui_frame.h"
#include "app/timeline/draw/pattern_textures.h"
#include "app/timeline/present/raster_presenter.h"

#include <QImage>

#include <memory>
#include <optional>

namespace rankscope::app::timeline {

/// Draws a scene into an image. Keeps fonts and buffers between frames.
class Canvas {
public:
    const QImage& draw(const Scene& scene, float pixelRatio);

private:
    PatternTextures patterns_;
    RasterPresenter presenter_;
    std::unique_ptr<ImguiFrame> frame_;
    float pixelRatio_ = 0;
};

} // namespace rankscope::app::timeline

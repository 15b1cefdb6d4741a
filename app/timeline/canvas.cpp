#include "app/timeline/canvas.h"

#include "app/session/fonts.h"
#include "app/timeline/draw/draw_timeline.h"

namespace rankscope::app::timeline {
namespace {

std::unique_ptr<FontAtlas> loadFonts(float pixelRatio)
{
    const QByteArray regular = regularFont();
    const QByteArray medium = mediumFont();
    return std::make_unique<FontAtlas>(std::span(regular.data(), static_cast<std::size_t>(regular.size())),
        std::span(medium.data(), static_cast<std::size_t>(medium.size())), pixelRatio);
}

} // namespace

const QImage& Canvas::draw(const Scene& scene, float pixelRatio)
{
    if (!frame_ || pixelRatio_ != pixelRatio) {
        frame_ = std::make_unique<ImguiFrame>(loadFonts(pixelRatio));
        pixelRatio_ = pixelRatio;
    }
    ImDrawList& list = frame_->begin(scene.width, scene.height, pixelRatio);
    Painter painter(list, frame_->fonts(), patterns_, scene.theme);
    drawTimeline(painter, scene);
    presenter_.present(frame_->end());
    return presenter_.image();
}

} // namespace rankscope::app::timeline

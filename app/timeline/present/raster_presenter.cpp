#include "app/timeline/present/raster_presenter.h"

#include "app/timeline/present/rasterizer.h"

namespace rankscope::app::timeline {

void RasterPresenter::present(const ImDrawData& data)
{
    const QSize size(
        qRound(data.DisplaySize.x * data.FramebufferScale.x), qRound(data.DisplaySize.y * data.FramebufferScale.y));
    if (image_.size() != size)
        image_ = QImage(size, QImage::Format_RGB32);
    if (image_.isNull())
        return;
    image_.setDevicePixelRatio(static_cast<qreal>(data.FramebufferScale.x));
    // bits() detaches from a painter that still holds the last frame.
    auto* pixels = reinterpret_cast<std::uint32_t*>(image_.bits());
    rasterize(data, { pixels, image_.width(), image_.height(), static_cast<int>(image_.bytesPerLine() / 4) });
}

} // namespace rankscope::app::timeline

#pragma once

#include "app/timeline/present/presenter.h"

#include <QImage>

namespace rankscope::app::timeline {

/// Fills a QImage; needs neither a display server nor GL.
class RasterPresenter final : public Presenter {
public:
    /// The image takes the size of the data's display times its framebuffer scale.
    void present(const ImDrawData& data) override;
    const QImage& image() const { return image_; }

private:
    QImage image_;
};

} // namespace rankscope::app::timeline

#pragma once

#include <QLabel>

namespace rankscope::app {

/// A line of text that ends in "…" where it does not fit; the whole text is its tool tip then.
class ElidedLabel : public QLabel {
    Q_OBJECT

public:
    explicit ElidedLabel(const QString& text = {}, QWidget* parent = nullptr);
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
};

} // namespace rankscope::app

#pragma once

#include "app/session/palette.h"

#include <QColor>
#include <QFont>
#include <QObject>

namespace rankscope::app {

inline QColor toQColor(Color color) { return QColor(color.r, color.g, color.b); }

/// Roboto in the sizes of LOOK section 2, in logical pixels.
QFont textFont(int pixels);
QFont mediumTextFont(int pixels);

/// The theme that all widgets draw with. One for the program, passed to whoever paints by hand.
class Look : public QObject {
    Q_OBJECT

public:
    explicit Look(Theme theme, QObject* parent = nullptr)
        : QObject(parent)
        , theme_(theme)
    {
    }

    Theme theme() const { return theme_; }
    const Roles& colors() const { return roles(theme_); }
    void setTheme(Theme theme);

signals:
    void themeChanged();

private:
    Theme theme_;
};

} // namespace rankscope::app

#pragma once

#include "app/session/palette.h"

#include <QApplication>
#include <QString>

namespace rankscope::app {

/// The style sheet with the theme's colours in it.
QString styleSheet(Theme theme);

/// Gives the whole program Roboto, the theme's palette and its style sheet. registerFonts() comes first.
void applyTheme(QApplication& application, Theme theme);

} // namespace rankscope::app

#pragma once

#include <QByteArray>

namespace rankscope::app {

/// Roboto from the program's own resources, so that a picture is the same on every machine.
QByteArray regularFont(); ///< the TrueType file
QByteArray mediumFont();

/// Makes "Roboto" known to Qt; call once after the application object exists.
void registerFonts();

} // namespace rankscope::app

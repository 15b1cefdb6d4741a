#pragma once

#include <QColor>
#include <QIcon>

namespace rankscope::app {

enum class RailSymbol { Welcome, Overview, Timeline, Ledger, Losses };

/// A line drawing of 20 x 20 in one colour for the rail.
QIcon railIcon(RailSymbol symbol, const QColor& color);

} // namespace rankscope::app

#pragma once

#include "app/models/leaf_bar.h"
#include "app/session/palette.h"

#include <QPainter>

#include <span>

namespace rankscope::app {

/// Fills a rectangle with a leaf's colour and pattern (LOOK, section 3); under 6 px either way with its plain colour.
void paintLeaf(QPainter& painter, const QRect& area, Leaf leaf, Theme theme);

/// A stacked bar: segments, 1 px of canvas between them, and the longest label that fits into each.
void paintBar(QPainter& painter, const QRect& area, std::span<const BarSegment> segments, Theme theme);

} // namespace rankscope::app

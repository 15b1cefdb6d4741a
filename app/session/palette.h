#pragma once

#include "tracing/model/kinds.h"

#include <cstdint>
#include <string_view>

namespace rankscope::app {

/// Colours, letters and patterns of every leaf (LOOK, section 3): the same in strip, timeline, ledger, grid and report.

enum class Theme { Dark, Light };

struct Color {
    std::uint8_t r = 0;
    std::uint8_t g = 0;
    std::uint8_t b = 0;

    bool operator==(const Color&) const = default;
};
constexpr Color rgb(std::uint32_t hex)
{
    return { static_cast<std::uint8_t>(hex >> 16), static_cast<std::uint8_t>(hex >> 8),
        static_cast<std::uint8_t>(hex) };
}

/// Colours that are no leaf: the canvas and what is written on it.
struct Roles {
    Color canvas;
    Color alternate; ///< every second rank
    Color panel; ///< panels, header, rail
    Color line; ///< lines, frames
    Color text; ///< also selection, late mark, entry mark
    Color dim; ///< hints, axes
    Color link; ///< links, focus ring, progress, live head
};
const Roles& roles(Theme theme);

enum class Pattern : std::uint8_t {
    Solid,
    Border, ///< border only
    Dashed, ///< dashed border, nothing inside
    Dotted, ///< nothing but a dotted base line
    VerticalLines,
    HorizontalLines,
    Slash,
    Backslash,
    Grid,
    Dots,
    Cross,
};

enum class Leaf : std::uint8_t {
    Unattributed,
    Compute,
    BelowRoofline,
    Recompute,
    Transfer,
    TransferExcess,
    Communication, ///< cannot be split in wait and transfer
    Wait,
    Bubble,
    Imbalance,
    Copy,
    Host,
    Launch,
    Descheduled,
    Data,
    Checkpoint,
    Lost,
    Start,
    NotRecorded,
};
inline constexpr int kLeafCount = 19;

struct LeafStyle {
    Leaf leaf;
    char letter; ///< ' ': none
    std::string_view word; ///< as on screen: "wait", "host late"
    Pattern pattern;
    int lineWidth; ///< px of the pattern's lines; dots: their size
    int pitchX; ///< px from line to line (along x for slanted ones)
    int pitchY; ///< differs from pitchX for dots only
    bool filled; ///< false: the canvas shows through
    Color fill;
    Color ink; ///< pattern and border; equals fill for solid leaves
};
const LeafStyle& leafStyle(Leaf leaf, Theme theme);

/// The one colour that stands for a leaf where there is no room for its pattern: folds, and under 6 px either way.
Color plainColor(const LeafStyle& style);

/// What the timeline can tell from a span alone.
Leaf leafOf(tracing::SpanClass spanClass);

/// Pipeline cells: forward, weight part (backward has the colour of compute). Heat ramp: 0 good .. 4 bad.
Color forwardColor(Theme theme);
Color weightColor(Theme theme);
inline constexpr int kHeatSteps = 5;
Color heatColor(int step, Theme theme);

/// WCAG 2 contrast, 1 to 21.
double contrast(Color a, Color b);
/// Black or white, whichever contrasts more with the fill.
Color inkOn(Color fill);

} // namespace rankscope::app

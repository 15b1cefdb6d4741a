#include "app/session/palette.h"

#include "tracing/model/check.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace rankscope::app {
namespace {

constexpr Color kBlack = rgb(0x000000);
constexpr Color kWhite = rgb(0xFFFFFF);

constexpr Roles kDarkRoles{ rgb(0x14171A), rgb(0x181C1F), rgb(0x1B1F23), rgb(0x2D343A), rgb(0xE6E9EC), rgb(0x9AA3AC),
    rgb(0x5AA9FF) };
constexpr Roles kLightRoles{ rgb(0xFFFFFF), rgb(0xF8F9FA), rgb(0xF3F5F7), rgb(0xD5DAE0), rgb(0x1A1D20), rgb(0x5A636C),
    rgb(0x0B62C4) };

constexpr LeafStyle solid(Leaf leaf, char letter, std::string_view word, std::uint32_t color)
{
    return { leaf, letter, word, Pattern::Solid, 0, 0, 0, true, rgb(color), rgb(color) };
}

constexpr LeafStyle lined(Leaf leaf, char letter, std::string_view word, Pattern pattern, int width, int pitch,
    std::uint32_t fill, std::uint32_t ink)
{
    return { leaf, letter, word, pattern, width, pitch, pitch, true, rgb(fill), rgb(ink) };
}

constexpr LeafStyle hollow(Leaf leaf, char letter, std::string_view word, Pattern pattern, Color ink)
{
    return { leaf, letter, word, pattern, 0, 0, 0, false, {}, ink };
}

constexpr LeafStyle dotted(std::uint32_t fill, std::uint32_t ink)
{
    return { Leaf::Descheduled, 'D', "descheduled", Pattern::Dots, 2, 6, 5, true, rgb(fill), rgb(ink) };
}

constexpr LeafStyle planned(const Roles& roles)
{
    return { Leaf::Start, 'S', "start, planned", Pattern::Border, 0, 0, 0, true, roles.panel, roles.dim };
}

// In the order of enum Leaf.
constexpr std::array<LeafStyle, kLeafCount> kDark{
    hollow(Leaf::Unattributed, '?', "unattributed", Pattern::Dashed, rgb(0xB9BEC4)),
    solid(Leaf::Compute, 'C', "compute", 0x449BEB),
    lined(Leaf::BelowRoofline, 'U', "below roofline", Pattern::Border, 0, 0, 0x1E3A57, 0x449BEB),
    lined(Leaf::Recompute, 'R', "recompute", Pattern::VerticalLines, 1, 6, 0x1E3A57, 0x449BEB),
    solid(Leaf::Transfer, 'T', "transfer", 0xA8E9C7),
    lined(Leaf::TransferExcess, 'E', "transfer, excess", Pattern::Slash, 1, 6, 0xA8E9C7, 0x000000),
    lined(Leaf::Communication, 'N', "communication, not split", Pattern::Grid, 1, 8, 0x23463A, 0xA8E9C7),
    solid(Leaf::Wait, 'W', "wait", 0xE0631F),
    lined(Leaf::Bubble, 'B', "bubble", Pattern::Slash, 1, 8, 0x3F2E0C, 0xFAAB1B),
    lined(Leaf::Imbalance, 'I', "imbalance", Pattern::Slash, 2, 6, 0x4A2010, 0xE0631F),
    solid(Leaf::Copy, 'Y', "copy", 0xB0569F),
    solid(Leaf::Host, 'H', "host late", 0x8F8680),
    solid(Leaf::Launch, 'L', "launch, gap", 0x6B645F),
    dotted(0x3A2436, 0xD99BC8),
    lined(Leaf::Data, 'A', "data stall", Pattern::HorizontalLines, 1, 4, 0x34331F, 0xCFC98A),
    lined(Leaf::Checkpoint, 'K', "checkpoint", Pattern::Backslash, 1, 7, 0x241E4A, 0x6F59E8),
    lined(Leaf::Lost, 'X', "lost", Pattern::Cross, 1, 8, 0x333333, 0xFFFFFF),
    planned(kDarkRoles),
    hollow(Leaf::NotRecorded, ' ', "not recorded", Pattern::Dotted, rgb(0x2D343A)),
};
constexpr std::array<LeafStyle, kLeafCount> kLight{
    hollow(Leaf::Unattributed, '?', "unattributed", Pattern::Dashed, rgb(0x5A636C)),
    solid(Leaf::Compute, 'C', "compute", 0x2467B8),
    lined(Leaf::BelowRoofline, 'U', "below roofline", Pattern::Border, 0, 0, 0xDCE8F6, 0x2467B8),
    lined(Leaf::Recompute, 'R', "recompute", Pattern::VerticalLines, 1, 6, 0xDCE8F6, 0x2467B8),
    solid(Leaf::Transfer, 'T', "transfer", 0x1F9F85),
    lined(Leaf::TransferExcess, 'E', "transfer, excess", Pattern::Slash, 1, 6, 0x1F9F85, 0x000000),
    lined(Leaf::Communication, 'N', "communication, not split", Pattern::Grid, 1, 8, 0xD8F0EA, 0x1F9F85),
    solid(Leaf::Wait, 'W', "wait", 0xB43506),
    lined(Leaf::Bubble, 'B', "bubble", Pattern::Slash, 1, 8, 0xFBE9BF, 0xA87E00),
    lined(Leaf::Imbalance, 'I', "imbalance", Pattern::Slash, 2, 6, 0xF6D6C8, 0xB43506),
    solid(Leaf::Copy, 'Y', "copy", 0x5A1A55),
    solid(Leaf::Host, 'H', "host late", 0x63605B),
    solid(Leaf::Launch, 'L', "launch, gap", 0x8E8A84),
    dotted(0xF4DCF2, 0xC569BE),
    lined(Leaf::Data, 'A', "data stall", Pattern::HorizontalLines, 1, 4, 0xE6EBD6, 0x5F6E3B),
    lined(Leaf::Checkpoint, 'K', "checkpoint", Pattern::Backslash, 1, 7, 0xDDD8FA, 0x3A22B5),
    lined(Leaf::Lost, 'X', "lost", Pattern::Cross, 1, 8, 0xD6D6D3, 0x292924),
    planned(kLightRoles),
    hollow(Leaf::NotRecorded, ' ', "not recorded", Pattern::Dotted, rgb(0xD5DAE0)),
};

constexpr std::array<std::uint32_t, kHeatSteps> kDarkHeat{ 0x1B1F23, 0x5A2A10, 0xA84413, 0xE0631F, 0xFFB48A };
constexpr std::array<std::uint32_t, kHeatSteps> kLightHeat{ 0xF3F5F7, 0xF2C3AE, 0xDD7B50, 0xB43506, 0x6E1D00 };

// Relative luminance, WCAG 2.2 definition.
double luminance(Color color)
{
    const auto linear = [](std::uint8_t channel) {
        const double v = channel / 255.0;
        return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(color.r) + 0.7152 * linear(color.g) + 0.0722 * linear(color.b);
}

} // namespace

const Roles& roles(Theme theme) { return theme == Theme::Dark ? kDarkRoles : kLightRoles; }

const LeafStyle& leafStyle(Leaf leaf, Theme theme)
{
    const auto& table = theme == Theme::Dark ? kDark : kLight;
    const LeafStyle& style = table[static_cast<std::size_t>(leaf)];
    RS_DCHECK(style.leaf == leaf, "the table is in the order of the enumeration");
    return style;
}

// Excess transfer is a solid fill with black lines: its fill tells more than its ink.
Color plainColor(const LeafStyle& style) { return style.leaf == Leaf::TransferExcess ? style.fill : style.ink; }

Leaf leafOf(tracing::SpanClass spanClass)
{
    using tracing::SpanClass;
    switch (spanClass) {
    case SpanClass::Unattributed:
        return Leaf::Unattributed;
    case SpanClass::Compute:
        return Leaf::Compute;
    case SpanClass::Transfer:
        return Leaf::Transfer;
    case SpanClass::Wait:
        return Leaf::Wait;
    case SpanClass::Communication:
        return Leaf::Communication;
    case SpanClass::Bubble:
        return Leaf::Bubble;
    case SpanClass::Copy:
        return Leaf::Copy;
    case SpanClass::Host:
        return Leaf::Host;
    case SpanClass::Launch:
        return Leaf::Launch;
    case SpanClass::Descheduled:
        return Leaf::Descheduled;
    case SpanClass::Data:
        return Leaf::Data;
    case SpanClass::Checkpoint:
        return Leaf::Checkpoint;
    case SpanClass::Lost:
        return Leaf::Lost;
    case SpanClass::Start:
        return Leaf::Start;
    case SpanClass::Recompute:
        return Leaf::Recompute;
    case SpanClass::Optimizer:
        return Leaf::Compute;
    case SpanClass::Imbalance:
        return Leaf::Imbalance;
    }
    return Leaf::Unattributed;
}

Color forwardColor(Theme theme) { return theme == Theme::Dark ? rgb(0x8FC3F5) : rgb(0x5F92D2); }
Color weightColor(Theme theme) { return theme == Theme::Dark ? rgb(0x2F6FAE) : rgb(0x163F73); }

Color heatColor(int step, Theme theme)
{
    const auto& ramp = theme == Theme::Dark ? kDarkHeat : kLightHeat;
    return rgb(ramp[static_cast<std::size_t>(std::clamp(step, 0, kHeatSteps - 1))]);
}

double contrast(Color a, Color b)
{
    const double la = luminance(a) + 0.05;
    const double lb = luminance(b) + 0.05;
    return la > lb ? la / lb : lb / la;
}

Color inkOn(Color fill) { return contrast(fill, kBlack) >= contrast(fill, kWhite) ? kBlack : kWhite; }

} // namespace rankscope::app

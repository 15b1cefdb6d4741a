#pragma once

#include <cstdint>

namespace rankscope::app::timeline {

/// Colour as the surface holds it, 0x00RRGGBB, beside its alpha, 0 to 255.
struct Ink {
    std::uint32_t rgb = 0;
    std::uint32_t alpha = 255;
};

/// ImGui packs 0xAABBGGRR.
inline Ink inkOf(std::uint32_t packed)
{
    return { ((packed & 0xffU) << 16) | (packed & 0xff00U) | ((packed >> 16) & 0xffU), packed >> 24 };
}

/// x / 255, rounded, for x up to 255 * 255.
inline std::uint32_t by255(std::uint32_t x) { return (x + 128 + ((x + 128) >> 8)) >> 8; }

/// Mixes two channels at a time: they stay 8 bits apart inside one word.
inline std::uint32_t blend(std::uint32_t under, std::uint32_t rgb, std::uint32_t alpha)
{
    const std::uint32_t rest = 255 - alpha;
    std::uint32_t redBlue = (rgb & 0xff00ffU) * alpha + (under & 0xff00ffU) * rest + 0x800080U;
    redBlue = ((redBlue + ((redBlue >> 8) & 0xff00ffU)) >> 8) & 0xff00ffU;
    std::uint32_t green = ((rgb >> 8) & 0xffU) * alpha + ((under >> 8) & 0xffU) * rest + 0x80U;
    green = (green + (green >> 8)) >> 8;
    return 0xff000000U | redBlue | (green << 8);
}

} // namespace rankscope::app::timeline

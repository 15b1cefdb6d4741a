#include "app/timeline/draw/painter.h"

#include <algorithm>
#include <cmath>

namespace rankscope::app::timeline {
namespace {

ImU32 packed(Color color, int alpha = 255) { return IM_COL32(color.r, color.g, color.b, alpha); }

constexpr float kBorderFromPx = 4; ///< a narrower hatch would be all border
constexpr float kHatchFromPx = 6; ///< below, a hatched leaf is a plain fill of its pattern colour
constexpr float kCapitalPerEm = 1456.0F / 2048.0F;
constexpr float kAscentPerEm = 1900.0F / 2048.0F;

} // namespace

Painter::Painter(ImDrawList& list, const FontAtlas& fonts, const PatternTextures& patterns, Theme theme)
    : list_(list)
    , fonts_(fonts)
    , patterns_(patterns)
    , theme_(theme)
{
}

void Painter::pushClip(Rect rect) { list_.PushClipRect(ImVec2(rect.x0, rect.y0), ImVec2(rect.x1, rect.y1), true); }
void Painter::popClip() { list_.PopClipRect(); }

void Painter::fill(Rect rect, Color color, int alpha)
{
    if (rect.x1 > rect.x0 && rect.y1 > rect.y0)
        list_.AddRectFilled(ImVec2(rect.x0, rect.y0), ImVec2(rect.x1, rect.y1), packed(color, alpha));
}

void Painter::frame(Rect rect, Color color, float width)
{
    const float w = std::min({ width, rect.width(), rect.height() });
    fill({ rect.x0, rect.y0, rect.x1, rect.y0 + w }, color);
    fill({ rect.x0, rect.y1 - w, rect.x1, rect.y1 }, color);
    fill({ rect.x0, rect.y0 + w, rect.x0 + w, rect.y1 - w }, color);
    fill({ rect.x1 - w, rect.y0 + w, rect.x1, rect.y1 - w }, color);
}

void Painter::dashedFrame(Rect rect, Color color)
{
    constexpr float dash = 4;
    constexpr float pitch = 7;
    for (float x = rect.x0; x < rect.x1; x += pitch) {
        const float end = std::min(x + dash, rect.x1);
        fill({ x, rect.y0, end, rect.y0 + 1 }, color);
        fill({ x, rect.y1 - 1, end, rect.y1 }, color);
    }
    for (float y = rect.y0; y < rect.y1; y += pitch) {
        const float end = std::min(y + dash, rect.y1);
        fill({ rect.x0, y, rect.x0 + 1, end }, color);
        fill({ rect.x1 - 1, y, rect.x1, end }, color);
    }
}

void Painter::dottedLine(float x0, float x1, float y, Color color)
{
    for (float x = x0; x < x1; x += 4)
        fill({ x, y, x + 1, y + 1 }, color);
}

void Painter::leaf(Rect rect, const LeafStyle& style, float phaseX)
{
    if (style.pattern == Pattern::Dotted) {
        dottedLine(rect.x0, rect.x1, rect.y1 - 1, style.ink);
        return;
    }
    if (style.pattern == Pattern::Solid) {
        fill(rect, style.fill);
        return;
    }
    if (std::min(rect.width(), rect.height()) < kHatchFromPx) {
        if (style.filled)
            fill(rect, plainColor(style));
        else
            frame({ rect.x0, rect.y1 - 1, rect.x1, rect.y1 }, style.ink);
        return;
    }
    if (style.filled)
        fill(rect, style.fill);
    if (const Texture* texture = patterns_.of(style)) {
        const auto width = static_cast<float>(texture->width);
        const auto height = static_cast<float>(texture->height);
        const ImVec2 from((rect.x0 - phaseX) / width, 0);
        const ImVec2 to((rect.x1 - phaseX) / width, rect.height() / height);
        list_.AddImage(
            textureId(*texture), ImVec2(rect.x0, rect.y0), ImVec2(rect.x1, rect.y1), from, to, packed(style.ink));
    }
    if (style.pattern == Pattern::Dashed)
        dashedFrame(rect, style.ink);
    else if (style.leaf != Leaf::TransferExcess && rect.width() >= kBorderFromPx)
        frame(rect, style.ink);
}

void Painter::downTriangle(float tipX, float tipY, float width, Color color)
{
    list_.AddTriangleFilled(ImVec2(tipX - width / 2, tipY - width * 0.75F),
        ImVec2(tipX + width / 2, tipY - width * 0.75F), ImVec2(tipX, tipY), packed(color));
}

void Painter::rightTriangle(float tipX, float tipY, float height, Color color)
{
    list_.AddTriangleFilled(ImVec2(tipX - height * 0.75F, tipY - height / 2), ImVec2(tipX, tipY),
        ImVec2(tipX - height * 0.75F, tipY + height / 2), packed(color));
}

float Painter::textWidth(TextSize size, std::string_view text) const
{
    return fonts_.font(size)
        ->CalcTextSizeA(FontAtlas::lineHeight(size), FLT_MAX, 0, text.data(), text.data() + text.size())
        .x;
}

void Painter::text(float x, float top, float bottom, TextSize size, Color color, std::string_view text)
{
    const float em = FontAtlas::emPx(size);
    const float baseline = (top + bottom + em * kCapitalPerEm) / 2;
    list_.AddText(fonts_.font(size), FontAtlas::lineHeight(size), ImVec2(x, std::round(baseline - em * kAscentPerEm)),
        packed(color), text.data(), text.data() + text.size());
}

std::string Painter::elided(TextSize size, std::string_view text, float width) const
{
    if (textWidth(size, text) <= width)
        return std::string(text);
    constexpr std::string_view ellipsis = "…";
    const float left = width - textWidth(size, ellipsis);
    if (left <= 0)
        return {};
    const char* fits = nullptr;
    fonts_.font(size)->CalcTextSizeA(
        FontAtlas::lineHeight(size), left, 0, text.data(), text.data() + text.size(), &fits);
    std::string cut(text.data(), fits);
    while (!cut.empty() && cut.back() == ' ')
        cut.pop_back();
    return cut.empty() ? cut : cut.append(ellipsis);
}

std::string Painter::fitting(TextSize size, const std::vector<std::string>& wordings, float width) const
{
    for (const std::string& text : wordings) {
        if (textWidth(size, text) <= width)
            return text;
    }
    return wordings.empty() ? std::string() : elided(size, wordings.back(), width);
}

} // namespace rankscope::app::timeline

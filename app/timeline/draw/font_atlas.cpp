#include "app/timeline/draw/font_atlas.h"

#include "tracing/model/check.h"

namespace rankscope::app::timeline {
namespace {

// Roboto's ascent plus descent in em: (1900 + 500) / 2048. ImGui sizes a font by it, everybody else by the em.
constexpr float kLinePerEm = 2400.0F / 2048.0F;
constexpr ImWchar kMissing = 0xFFFD;
constexpr ImWchar kRanges[] = { 0x20, 0x7E, 0xA0, 0x17F, 0x391, 0x3C9, 0x410, 0x44F, 0x2013, 0x2014, 0x2018, 0x201D,
    0x2022, 0x2026, 0x2212, 0x2212, 0x2260, 0x2265, 0 };

struct BoxGlyph {
    int rect = 0;
    int width = 0;
    int height = 0;
};

void drawFrame(ImFontAtlas& atlas, const BoxGlyph& box)
{
    const ImFontAtlasCustomRect* rect = atlas.GetCustomRectByIndex(box.rect);
    for (int y = 0; y < box.height; ++y) {
        for (int x = 0; x < box.width; ++x) {
            const bool edge = x == 0 || y == 0 || x == box.width - 1 || y == box.height - 1;
            atlas.TexPixelsAlpha8[(rect->Y + y) * atlas.TexWidth + rect->X + x] = edge ? 255 : 0;
        }
    }
}

} // namespace

float FontAtlas::emPx(TextSize size)
{
    constexpr std::array<float, 4> sizes{ 11, 12, 13, 14 };
    return sizes[static_cast<std::size_t>(size)];
}

float FontAtlas::lineHeight(TextSize size) { return emPx(size) * kLinePerEm; }

FontAtlas::FontAtlas(std::span<const char> regularFile, std::span<const char> mediumFile, float pixelRatio)
{
    std::array<BoxGlyph, 4> boxes;
    for (std::size_t i = 0; i < fonts_.size(); ++i) {
        const auto size = static_cast<TextSize>(i);
        const std::span<const char> file = size == TextSize::Title ? mediumFile : regularFile;
        ImFontConfig config;
        config.FontDataOwnedByAtlas = false; // read in Build() only
        config.OversampleH = 1;
        config.OversampleV = 1;
        config.PixelSnapH = true;
        const float px = lineHeight(size) * pixelRatio;
        fonts_[i] = atlas_.AddFontFromMemoryTTF(
            const_cast<char*>(file.data()), static_cast<int>(file.size()), px, &config, kRanges);
        RS_CHECK(fonts_[i] != nullptr, "the program's own fonts can be read");
        const float em = emPx(size) * pixelRatio;
        boxes[i].width = static_cast<int>(em * 0.55F);
        boxes[i].height = static_cast<int>(em * 0.72F);
        boxes[i].rect = atlas_.AddCustomRectFontGlyph(fonts_[i], kMissing, boxes[i].width, boxes[i].height,
            static_cast<float>(boxes[i].width + 1), ImVec2(0, em * 0.93F - static_cast<float>(boxes[i].height)));
    }
    const bool built = atlas_.Build();
    RS_CHECK(built, "the program's own fonts can be read");
    unsigned char* pixels = nullptr;
    atlas_.GetTexDataAsAlpha8(&pixels, &texture_.width, &texture_.height);
    for (const BoxGlyph& box : boxes)
        drawFrame(atlas_, box);
    texture_.coverage.assign(pixels, pixels + static_cast<std::ptrdiff_t>(texture_.width) * texture_.height);
    atlas_.SetTexID(textureId(texture_));
    atlas_.ClearInputData();
}

} // namespace rankscope::app::timeline

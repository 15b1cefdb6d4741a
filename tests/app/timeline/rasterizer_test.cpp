#include "app/timeline/present/rasterizer.h"

#include "app/timeline/draw/pattern_textures.h"
#include "app/timeline/present/texture.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rankscope::app::timeline {
namespace {

/// A draw list made by hand and the pixels it gives, 8 x 4 unless told otherwise; '.' is the ground, '#' full ink.
class RasterizerTest : public testing::Test {
protected:
    static constexpr std::uint32_t kGround = 0xff000000U;
    static constexpr ImU32 kRed = IM_COL32(255, 0, 0, 255);

    void addTriangle(ImDrawVert a, ImDrawVert b, ImDrawVert c) { add({ a, b, c }, { 0, 1, 2 }, nullptr); }

    void addRectangle(float x0, float y0, float x1, float y1, ImU32 color, const Texture* texture = nullptr,
        ImVec2 uv0 = {}, ImVec2 uv1 = {})
    {
        add({ { { x0, y0 }, uv0, color }, { { x1, y0 }, { uv1.x, uv0.y }, color }, { { x1, y1 }, uv1, color },
                { { x0, y1 }, { uv0.x, uv1.y }, color } },
            { 0, 1, 2, 0, 2, 3 }, texture);
    }

    void clip(float x0, float y0, float x1, float y1) { clip_ = { x0, y0, x1, y1 }; }

    void draw()
    {
        pixels_.assign(static_cast<std::size_t>(width_ * height_), kGround);
        ImDrawList* lists[] = { &list_ };
        ImDrawData data;
        data.Valid = true;
        data.CmdLists = lists;
        data.CmdListsCount = 1;
        data.DisplaySize = { static_cast<float>(width_), static_cast<float>(height_) };
        data.FramebufferScale = { 1, 1 };
        rasterize(data, { pixels_.data(), width_, height_, width_ });
    }

    std::string row(int y) const
    {
        std::string text;
        for (int x = 0; x < width_; ++x) {
            const std::uint32_t pixel = at(x, y);
            text += pixel == kGround ? '.' : pixel == 0xffff0000U ? '#' : '+';
        }
        return text;
    }
    std::uint32_t at(int x, int y) const { return pixels_[static_cast<std::size_t>(y * width_ + x)]; }

    int width_ = 8;
    int height_ = 4;

private:
    void add(const std::vector<ImDrawVert>& vertices, const std::vector<ImDrawIdx>& indices, const Texture* texture)
    {
        ImDrawCmd command;
        command.ClipRect = clip_;
        command.TextureId = texture == nullptr ? nullptr : textureId(*texture);
        command.VtxOffset = static_cast<unsigned>(list_.VtxBuffer.Size);
        command.IdxOffset = static_cast<unsigned>(list_.IdxBuffer.Size);
        command.ElemCount = static_cast<unsigned>(indices.size());
        for (const ImDrawVert& vertex : vertices)
            list_.VtxBuffer.push_back(vertex);
        for (const ImDrawIdx index : indices)
            list_.IdxBuffer.push_back(index);
        list_.CmdBuffer.push_back(command);
    }

    ImDrawListSharedData* none_ = nullptr;
    ImDrawList list_{ none_ };
    ImVec4 clip_{ 0, 0, 1000, 1000 };
    std::vector<std::uint32_t> pixels_;
};

TEST_F(RasterizerTest, FillsThePixelsWhoseCentresLieInside)
{
    addRectangle(1, 1, 4.4F, 3, kRed); // the centre of pixel 4 is at 4.5
    draw();
    EXPECT_EQ(row(0), "........");
    EXPECT_EQ(row(1), ".###....");
    EXPECT_EQ(row(2), ".###....");
    EXPECT_EQ(row(3), "........");
}

TEST_F(RasterizerTest, NeighboursShareNoPixelAndLeaveNoneOut)
{
    addRectangle(0, 0, 3.5F, 4, IM_COL32(255, 0, 0, 128));
    addRectangle(3.5F, 0, 8, 4, IM_COL32(255, 0, 0, 128));
    draw();
    EXPECT_EQ(row(1), "++++++++");
    for (int x = 1; x < 8; ++x)
        EXPECT_EQ(at(x, 1), at(0, 1));
}

TEST_F(RasterizerTest, ClipsAtTheClipRectangleAndAtTheSurface)
{
    clip(2, 1, 5, 100);
    addRectangle(-50, -50, 50, 50, kRed);
    draw();
    EXPECT_EQ(row(0), "........");
    EXPECT_EQ(row(1), "..###...");
    EXPECT_EQ(row(3), "..###...");
}

TEST_F(RasterizerTest, BlendsByAlpha)
{
    addRectangle(0, 0, 8, 4, IM_COL32(255, 255, 255, 255));
    addRectangle(0, 0, 1, 1, IM_COL32(255, 0, 0, 51)); // a fifth: 255 * 0.8 = 204 of the white is left
    draw();
    EXPECT_EQ(at(0, 0), 0xffffccccU);
}

TEST_F(RasterizerTest, CopiesGlyphsTexelByTexel)
{
    const Texture glyph{ 4, 2, false, { 0, 255, 128, 0, 255, 0, 0, 255 } };
    addRectangle(2, 1, 6, 3, kRed, &glyph, { 0, 0 }, { 1, 1 });
    draw();
    EXPECT_EQ(row(1), "...#+...");
    EXPECT_EQ(row(2), "..#..#..");
    EXPECT_EQ(at(4, 1), 0xff800000U);
}

TEST_F(RasterizerTest, RepeatsPatternsAndShiftsThemWithTheirPhase)
{
    const Texture stripe{ 3, 1, true, { 255, 0, 0 } };
    // The pattern begins at x = 1, and the rectangle at 0: one pixel to the left of it.
    addRectangle(0, 0, 8, 1, kRed, &stripe, { -1.0F / 3, 0 }, { 7.0F / 3, 1 });
    draw();
    EXPECT_EQ(row(0), ".#..#..#");
}

TEST_F(RasterizerTest, HatchesABubbleAsTheTableSays)
{
    // Slash, one pixel wide, pitch 8: ink where x + y is a multiple of 8.
    const PatternTextures patterns;
    const Texture* slash = patterns.of(leafStyle(Leaf::Bubble, Theme::Dark));
    ASSERT_NE(slash, nullptr);
    addRectangle(0, 0, 8, 4, kRed, slash, { 0, 0 }, { 1, 0.5F });
    draw();
    EXPECT_EQ(row(0), "#.......");
    EXPECT_EQ(row(1), ".......#");
    EXPECT_EQ(row(2), "......#.");
    EXPECT_EQ(row(3), ".....#..");
    EXPECT_EQ(patterns.of(leafStyle(Leaf::Compute, Theme::Dark)), nullptr);
}

TEST_F(RasterizerTest, DrawsBothHalvesOfASquareWithoutSeamOrOverlap)
{
    const ImU32 half = IM_COL32(255, 0, 0, 128);
    const ImDrawVert a{ { 0, 0 }, {}, half };
    const ImDrawVert b{ { 8, 0 }, {}, half };
    const ImDrawVert c{ { 8, 4 }, {}, half };
    const ImDrawVert d{ { 0, 4 }, {}, half };
    addTriangle(a, b, c);
    addTriangle(c, d, a);
    draw();
    for (int y = 0; y < 4; ++y) {
        for (int x = 0; x < 8; ++x)
            EXPECT_EQ(at(x, y), 0xff800000U) << x << ", " << y;
    }
}

TEST_F(RasterizerTest, DrawsATriangleByItsPixelCentres)
{
    // Tip down at (4, 4), 8 wide at the top: row y covers [y + 0.5, 7.5 - y] at its centre.
    addTriangle({ { 0, 0 }, {}, kRed }, { { 8, 0 }, {}, kRed }, { { 4, 4 }, {}, kRed });
    draw();
    EXPECT_EQ(row(0), "#######.");
    EXPECT_EQ(row(1), ".#####..");
    EXPECT_EQ(row(2), "..###...");
    EXPECT_EQ(row(3), "...#....");
}

TEST_F(RasterizerTest, InterpolatesColoursOverATriangle)
{
    // Red runs from 0 at x = 0 to 160 at x = 8: 10 in the centre of pixel 0, 30 in that of pixel 1.
    const ImU32 dark = IM_COL32(0, 0, 0, 255);
    const ImU32 light = IM_COL32(160, 0, 0, 255);
    addTriangle({ { 0, 0 }, {}, dark }, { { 8, 0 }, {}, light }, { { 0, 4 }, {}, dark });
    draw();
    EXPECT_EQ(at(0, 0), 0xff0a0000U);
    EXPECT_EQ(at(1, 0), 0xff1e0000U);
}

} // namespace
} // namespace rankscope::app::timeline

#include "app/session/palette.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace rankscope::app {
namespace {

constexpr Theme kThemes[] = { Theme::Dark, Theme::Light };

TEST(Palette, ContrastOfBlackOnWhiteIsTwentyOne)
{
    EXPECT_NEAR(contrast(rgb(0x000000), rgb(0xFFFFFF)), 21.0, 1e-9);
    EXPECT_NEAR(contrast(rgb(0x777777), rgb(0xFFFFFF)), 4.48, 0.005); // the well-known grey that just fails AA
}

TEST(Palette, EveryStrongColourIsThreeToOneAgainstItsCanvas)
{
    for (const Theme theme : kThemes) {
        for (int i = 0; i < kLeafCount; ++i) {
            const LeafStyle& style = leafStyle(static_cast<Leaf>(i), theme);
            if (style.leaf == Leaf::NotRecorded) // nothing ran there and nothing is claimed: a faint base line
                continue;
            EXPECT_GE(contrast(plainColor(style), roles(theme).canvas), 3.0) << style.word;
        }
    }
}

TEST(Palette, InkOnSolidFillsAndTextOnTheCanvasIsFourAndAHalfToOne)
{
    for (const Theme theme : kThemes) {
        for (int i = 0; i < kLeafCount; ++i) {
            const LeafStyle& style = leafStyle(static_cast<Leaf>(i), theme);
            if (style.pattern == Pattern::Solid) {
                EXPECT_GE(contrast(inkOn(style.fill), style.fill), 4.5) << style.word;
            }
        }
        const Roles& role = roles(theme);
        for (const Color ground : { role.canvas, role.alternate, role.panel }) {
            EXPECT_GE(contrast(role.text, ground), 4.5);
            EXPECT_GE(contrast(role.dim, ground), 4.5);
        }
    }
}

TEST(Palette, NoTwoLeavesShareALetterOrBothColourAndPattern)
{
    for (const Theme theme : kThemes) {
        std::set<char> letters;
        std::set<std::tuple<Pattern, int, int, int, int>> looks;
        for (int i = 0; i < kLeafCount; ++i) {
            const LeafStyle& style = leafStyle(static_cast<Leaf>(i), theme);
            EXPECT_EQ(static_cast<int>(style.leaf), i);
            EXPECT_TRUE(letters.insert(style.letter).second) << style.word;
            EXPECT_TRUE(looks.insert({ style.pattern, style.pitchX, style.ink.r, style.ink.g, style.ink.b }).second)
                << style.word;
        }
    }
}

TEST(Palette, SpansHaveTheColoursOfTheTable)
{
    const LeafStyle& bubble = leafStyle(leafOf(tracing::SpanClass::Bubble), Theme::Dark);
    EXPECT_EQ(bubble.letter, 'B');
    EXPECT_EQ(bubble.pattern, Pattern::Slash);
    EXPECT_EQ(bubble.pitchX, 8);
    EXPECT_EQ(bubble.fill, rgb(0x3F2E0C));
    EXPECT_EQ(bubble.ink, rgb(0xFAAB1B));
    EXPECT_EQ(leafOf(tracing::SpanClass::Optimizer), Leaf::Compute);
}

} // namespace
} // namespace rankscope::app

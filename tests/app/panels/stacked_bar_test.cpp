#include "app/panels/widgets/stacked_bar.h"

#include <QImage>

#include <gtest/gtest.h>

namespace rankscope::app {
namespace {

std::vector<BarSegment> halves()
{
    return { { Leaf::Compute, 50, { "C" }, "compute" }, { Leaf::Bubble, 50, { "B" }, "bubble" } };
}

TEST(StackedBar, KnowsWhichSegmentIsUnderAPixel)
{
    const Look look(Theme::Dark);
    StackedBar bar(look, 40);
    bar.resize(100, 40);
    bar.setSegments(halves());
    EXPECT_EQ(bar.segmentAt(0), 0);
    EXPECT_EQ(bar.segmentAt(49), 0);
    EXPECT_EQ(bar.segmentAt(50), 1);
    EXPECT_EQ(bar.segmentAt(100), -1);
}

TEST(StackedBar, DrawsSolidWorkSolidAndABubbleHatchedInBothThemes)
{
    Look look(Theme::Dark);
    StackedBar bar(look, 40);
    bar.resize(200, 40);
    bar.setSegments(halves());
    for (const Theme theme : { Theme::Dark, Theme::Light }) {
        look.setTheme(theme);
        const QImage image = bar.grab().toImage();
        EXPECT_EQ(image.pixelColor(60, 20), toQColor(leafStyle(Leaf::Compute, theme).fill));
        // Both colours of the hatch are there, right of the letter's plate.
        int ink = 0;
        int fill = 0;
        for (int x = 140; x < 198; ++x) {
            ink += image.pixelColor(x, 20) != toQColor(leafStyle(Leaf::Bubble, theme).fill);
            fill += image.pixelColor(x, 20) == toQColor(leafStyle(Leaf::Bubble, theme).fill);
        }
        EXPECT_GT(ink, 5);
        EXPECT_GT(fill, 20);
    }
}

} // namespace
} // namespace rankscope::app

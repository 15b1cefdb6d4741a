#include "app/timeline/render.h"

#include "tests/app/timeline/straggler_run.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

namespace rankscope::app {
namespace {

int countOf(const QImage& image, Color color)
{
    const QRgb wanted = qRgb(color.r, color.g, color.b);
    int count = 0;
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x)
            count += image.pixel(x, y) == wanted ? 1 : 0;
    }
    return count;
}

TEST(RenderTimeline, DrawsWaitsInTheirColourInBothThemes)
{
    const support::TemporaryDirectory folder;
    const auto file = folder / "run.rsdb";
    timeline::writeStragglerRun(file);
    for (const Theme theme : { Theme::Dark, Theme::Light }) {
        const auto image = renderTimeline(file.string(), { 1600, 900 }, std::nullopt, theme);
        ASSERT_TRUE(image) << image.error().message();
        ASSERT_EQ(image->size(), QSize(1600, 900));
        EXPECT_EQ(image->pixel(2, 899), qRgb(roles(theme).canvas.r, roles(theme).canvas.g, roles(theme).canvas.b));
        // Three ranks wait 0.4 of each second of 1424 px, 20 px high; labels take some of it.
        EXPECT_GT(countOf(*image, leafStyle(Leaf::Wait, theme).fill), 3 * 0.3 * 1424 * 20);
        if (const char* pictures = std::getenv("RANKSCOPE_PICTURES")) { // for a person's eye
            const QString name = theme == Theme::Dark ? "dark.png" : "light.png";
            image->save(QString::fromUtf8(pictures) + "/timeline_" + name);
        }
    }
}

TEST(RenderTimeline, SaysWhichFileCannotBeRead)
{
    const auto image = renderTimeline("/nowhere/run.rsdb", { 100, 100 }, std::nullopt, Theme::Dark);
    ASSERT_FALSE(image);
    EXPECT_NE(image.error().message().find("/nowhere/run.rsdb"), std::string::npos);
}

} // namespace
} // namespace rankscope::app

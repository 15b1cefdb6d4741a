#include "app/timeline/timeline_widget.h"

#include "app/session/look.h"
#include "tests/app/timeline/straggler_run.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/trace_builder.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QMouseEvent>
#include <QScrollBar>
#include <QWheelEvent>

#include <gtest/gtest.h>

#include <functional>
#include <thread>

namespace rankscope::app::timeline {
namespace {

/// Runs the event loop until the condition holds; false after ten seconds.
bool eventually(const std::function<bool()>& condition)
{
    QElapsedTimer timer;
    timer.start();
    while (!condition()) {
        if (timer.elapsed() > 10'000)
            return false;
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents | QEventLoop::AllEvents, 50);
    }
    return true;
}

class TimelineWidgetTest : public testing::Test {
protected:
    TimelineWidgetTest()
    {
        widget_.resize(1600, 900);
        widget_.show();
    }

    void open(const std::filesystem::path& file)
    {
        widget_.openFile(QString::fromStdString(file.string()));
        ASSERT_TRUE(eventually([&] { return widget_.settled(); }));
    }

    void press(int key, Qt::KeyboardModifiers modifiers = Qt::NoModifier)
    {
        QKeyEvent event(QEvent::KeyPress, key, modifiers);
        QApplication::sendEvent(&widget_, &event);
    }

    void mouse(QEvent::Type type, QPointF at, Qt::MouseButton button, Qt::KeyboardModifiers modifiers = Qt::NoModifier)
    {
        const bool held = type == QEvent::MouseButtonPress || type == QEvent::MouseMove;
        QMouseEvent event(type, at, widget_.mapToGlobal(at), button, held ? button : Qt::NoButton, modifiers);
        QApplication::sendEvent(&widget_, &event);
    }
    void click(QPointF at)
    {
        mouse(QEvent::MouseButtonPress, at, Qt::LeftButton);
        mouse(QEvent::MouseButtonRelease, at, Qt::LeftButton);
    }

    /// Middle of a time on a lane of a rank.
    QPointF place(std::int32_t rank, tracing::LaneKind kind, std::int64_t ns) const
    {
        const Scene& scene = widget_.scene();
        for (const Box& box : scene.layout.boxes()) {
            if (box.kind == Box::Kind::Lane && box.rank == rank && scene.laneKindOf(box) == kind) {
                const float y = scene.headerHeight() - scene.scroll + box.top + box.height / 2;
                return { scene.map.xOf(static_cast<double>(ns)), static_cast<double>(y) };
            }
        }
        ADD_FAILURE() << "no such lane";
        return {};
    }

    const support::TemporaryDirectory folder_;
    TimelineWidget widget_;
};

TEST_F(TimelineWidgetTest, ShowsWhatIsAppendedWhileTheFileGrows)
{
    const auto file = folder_ / "live.rsdb";
    support::TraceBuilder builder(file, 1);
    builder.kernel(0, { 0, 100'000'000 }, "first");
    open(file);
    EXPECT_EQ(widget_.scene().facts->window.endNs, 100'000'000);

    builder.kernel(0, { 200'000'000, 300'000'000 }, "second");
    const auto spans = [&] {
        std::size_t count = 0;
        for (const auto& [lane, content] : widget_.scene().contents)
            count += content->spans.size();
        return count;
    };
    EXPECT_TRUE(eventually([&] { return spans() == 2; }));
    EXPECT_EQ(widget_.scene().facts->window.endNs, 300'000'000);
    EXPECT_GE(widget_.visibleWindow().endNs, 300'000'000); // a run just opened is kept in view as a whole

    press(Qt::Key_W); // from now on its newest part
    widget_.setFollowing(true);
    builder.kernel(0, { 800'000'000, 900'000'000 }, "third");
    EXPECT_TRUE(eventually([&] { return widget_.visibleWindow().endNs > 900'000'000; }));
    EXPECT_GT(widget_.visibleWindow().beginNs, 0);

    std::thread collector([&] { builder.finish(); }); // waits until the readers let go
    EXPECT_TRUE(eventually([&] { return widget_.scene().facts->run.finished; }));
    collector.join();
}

TEST_F(TimelineWidgetTest, AClickOnACollectiveSelectsItOnAllRanksAndKnowsWhoWasLate)
{
    const auto file = folder_ / "run.rsdb";
    writeStragglerRun(file);
    open(file);
    click(place(0, tracing::LaneKind::Communication, 1'700'000'000)); // step 1's all-reduce waits here
    ASSERT_TRUE(eventually([&] { return !widget_.selection().parts.empty(); }));
    const Selection& selection = widget_.selection();
    ASSERT_EQ(selection.parts.size(), 4U);
    EXPECT_EQ(selection.parts[2].rank, 2);
    EXPECT_EQ(selection.parts[2].part.beginNs, 1'900'000'000);
    ASSERT_TRUE(selection.match);
    EXPECT_EQ(selection.match->lateRank, 2);
    EXPECT_EQ(selection.hit->span->splitNs, 1'900'000'000);
    if (const char* pictures = std::getenv("RANKSCOPE_PICTURES")) { // for a person's eye
        mouse(QEvent::MouseMove, place(3, tracing::LaneKind::Communication, 700'000'000), Qt::NoButton);
        widget_.grab().save(QString::fromUtf8(pictures) + "/timeline_selected.png");
    }

    press(Qt::Key_Escape);
    EXPECT_TRUE(widget_.selection().empty());
}

TEST_F(TimelineWidgetTest, KeysZoomPanResetAndWalkBackThroughTheViews)
{
    const auto file = folder_ / "run.rsdb";
    writeStragglerRun(file);
    open(file);
    const tracing::Window whole = widget_.visibleWindow();
    press(Qt::Key_W);
    EXPECT_LT(widget_.visibleWindow().durationNs(), whole.durationNs());
    const tracing::Window zoomed = widget_.visibleWindow();
    press(Qt::Key_D);
    EXPECT_GT(widget_.visibleWindow().beginNs, zoomed.beginNs);
    EXPECT_NEAR(static_cast<double>(widget_.visibleWindow().durationNs()), static_cast<double>(zoomed.durationNs()), 2);
    press(Qt::Key_Left, Qt::AltModifier);
    EXPECT_EQ(widget_.visibleWindow(), whole); // one gesture, one view
    press(Qt::Key_Right, Qt::AltModifier);
    press(Qt::Key_0);
    EXPECT_EQ(widget_.visibleWindow(), whole);
}

TEST_F(TimelineWidgetTest, FitsTheSelectionThenTheWholeRun)
{
    const auto file = folder_ / "run.rsdb";
    writeStragglerRun(file);
    open(file);
    const tracing::Window whole = widget_.visibleWindow();
    click(place(1, tracing::LaneKind::Compute, 1'020'000'000)); // a kernel of 49 ms
    ASSERT_TRUE(widget_.selection().hit && widget_.selection().hit->span);
    EXPECT_EQ(widget_.selection().name, "attention forward");
    press(Qt::Key_F);
    EXPECT_LE(widget_.visibleWindow().beginNs, 1'000'000'000);
    EXPECT_GE(widget_.visibleWindow().endNs, 1'049'000'000);
    EXPECT_LT(widget_.visibleWindow().durationNs(), 60'000'000);
    press(Qt::Key_F);
    EXPECT_EQ(widget_.visibleWindow(), whole);

    press(Qt::Key_Period);
    EXPECT_EQ(widget_.selection().hit->span->beginNs, 1'050'000'000);
    press(Qt::Key_Comma);
    EXPECT_EQ(widget_.selection().hit->span->beginNs, 1'000'000'000);
}

TEST_F(TimelineWidgetTest, TheWheelZoomsAtThePointerAndADragMarksAStretch)
{
    const auto file = folder_ / "run.rsdb";
    writeStragglerRun(file);
    open(file);
    const QPointF at(868, 400);
    const double under = widget_.scene().map.nsAt(at.x());
    QWheelEvent wheel(
        at, widget_.mapToGlobal(at), {}, { 0, 120 }, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QApplication::sendEvent(&widget_, &wheel);
    EXPECT_LT(widget_.scene().map.spanNs(), 3e9);
    EXPECT_NEAR(widget_.scene().map.nsAt(at.x()), under, 1);

    const auto from = static_cast<std::int64_t>(widget_.scene().map.nsAt(400));
    mouse(QEvent::MouseButtonPress, { 400, 400 }, Qt::LeftButton);
    mouse(QEvent::MouseMove, { 500, 400 }, Qt::LeftButton);
    mouse(QEvent::MouseButtonRelease, { 500, 400 }, Qt::LeftButton);
    ASSERT_TRUE(widget_.selection().area);
    EXPECT_NEAR(static_cast<double>(widget_.selection().area->beginNs), static_cast<double>(from), 1);
    EXPECT_NEAR(static_cast<double>(widget_.selection().area->durationNs()), 100 * widget_.scene().map.nsPerPx, 2);
}

TEST_F(TimelineWidgetTest, AClickOnARanksTitleFoldsIt)
{
    const auto file = folder_ / "run.rsdb";
    writeStragglerRun(file);
    open(file);
    const float before = widget_.scene().layout.height();
    const float y = widget_.scene().headerHeight() + 10; // rank 0's title row
    click({ 60, static_cast<double>(y) });
    EXPECT_LT(widget_.scene().layout.height(), before);
    EXPECT_EQ(widget_.scene().layout.boxes().front().kind, Box::Kind::FoldedRank);
    click({ 60, static_cast<double>(y) });
    EXPECT_EQ(widget_.scene().layout.height(), before);
}

TEST_F(TimelineWidgetTest, AShiftClickFoldsAllRanksAndUnfoldsThemAgain)
{
    const auto file = folder_ / "run.rsdb";
    writeStragglerRun(file);
    open(file);
    const float before = widget_.scene().layout.height();
    const QPointF title(60, static_cast<double>(widget_.scene().headerHeight() + 10));
    mouse(QEvent::MouseButtonPress, title, Qt::LeftButton, Qt::ShiftModifier);
    mouse(QEvent::MouseButtonRelease, title, Qt::LeftButton, Qt::ShiftModifier);
    EXPECT_EQ(widget_.scene().layout.boxes().size(), 4U);
    EXPECT_EQ(widget_.scene().layout.height(), 4 * kFoldedPitch);
    mouse(QEvent::MouseButtonPress, title, Qt::LeftButton, Qt::ShiftModifier);
    mouse(QEvent::MouseButtonRelease, title, Qt::LeftButton, Qt::ShiftModifier);
    EXPECT_EQ(widget_.scene().layout.height(), before);
}

TEST_F(TimelineWidgetTest, AScrollBarLeadsThroughTheLanesThatDoNotFit)
{
    const auto file = folder_ / "run.rsdb";
    writeStragglerRun(file);
    open(file);
    auto* bar = widget_.findChild<QScrollBar*>();
    widget_.resize(1600, 400);
    ASSERT_TRUE(bar->isVisible());
    const Scene& scene = widget_.scene();
    EXPECT_EQ(bar->maximum(), static_cast<int>(scene.layout.height() - (400 - scene.headerHeight())));
    EXPECT_EQ(bar->geometry().right(), 1599);
    EXPECT_EQ(bar->geometry().top(), static_cast<int>(scene.headerHeight()));
    // Nothing is drawn under it: rank 0's kernel of 2.000 to 2.049 s ends where the plot does.
    widget_.showWindow({ 1'000'000'000, 2'000'000'000 });
    ASSERT_TRUE(eventually([&] { return widget_.settled(); }));
    const auto y = static_cast<int>(place(0, tracing::LaneKind::Compute, 2'000'000'000).y());
    bar->hide();
    const QImage picture = widget_.grab().toImage();
    EXPECT_EQ(picture.pixelColor(1588, y), toQColor(leafStyle(Leaf::Compute, Theme::Dark).fill));
    EXPECT_EQ(picture.pixelColor(1596, y), toQColor(roles(Theme::Dark).canvas));
    bar->setValue(100);
    EXPECT_EQ(scene.scroll, 100);
    press(Qt::Key_PageDown);
    EXPECT_EQ(bar->value(), static_cast<int>(scene.scroll));
    widget_.resize(1600, 3000);
    EXPECT_FALSE(bar->isVisible());
    EXPECT_EQ(scene.scroll, 0);
}

TEST_F(TimelineWidgetTest, HundredsOfRanksBeginAsOneRowEach)
{
    const auto file = folder_ / "many.rsdb";
    support::TraceBuilder builder(file, 65);
    for (int rank = 0; rank < 65; ++rank)
        builder.kernel(rank, { 0, 100'000'000 }, "matmul");
    builder.finish();
    open(file);
    EXPECT_EQ(widget_.scene().layout.boxes().size(), 65U);
    EXPECT_EQ(widget_.scene().layout.boxes().front().kind, Box::Kind::FoldedRank);
}

TEST_F(TimelineWidgetTest, ShowsAWindowThatWasAskedForBeforeTheFileWasRead)
{
    const auto file = folder_ / "run.rsdb";
    writeStragglerRun(file);
    widget_.openFile(QString::fromStdString(file.string()));
    widget_.setFollowing(false);
    widget_.showWindow({ 1'000'000'000, 2'000'000'000 });
    ASSERT_TRUE(eventually([&] { return widget_.settled(); }));
    // A twenty-fifth on either side.
    EXPECT_EQ(widget_.visibleWindow(), (tracing::Window{ 960'000'000, 2'040'000'000 }));
}

TEST_F(TimelineWidgetTest, BringsARankToTheTopAndLetsOthersStandBack)
{
    const auto file = folder_ / "run.rsdb";
    writeStragglerRun(file);
    widget_.resize(1600, 480); // so that there is something to scroll
    widget_.openFile(QString::fromStdString(file.string()));
    widget_.showWindow({ 1'000'000'000, 2'000'000'000 }, { 1 }); // before anything was read
    ASSERT_TRUE(eventually([&] { return widget_.settled(); }));
    const Scene& scene = widget_.scene();
    EXPECT_EQ(scene.scroll, scene.layout.extentOf(1).first);
    EXPECT_EQ(widget_.visibleWindow(), (tracing::Window{ 960'000'000, 2'040'000'000 }));

    // Rank 2's kernels of 1.000 to 1.049 s, drawn with 35 % of their colour.
    const QPointF at = place(2, tracing::LaneKind::Compute, 1'040'000'000) + QPointF(0, 8);
    const QColor dimmed = widget_.grab().toImage().pixelColor(at.toPoint());
    press(Qt::Key_Escape);
    EXPECT_TRUE(scene.emphasis.empty());
    const QColor full = widget_.grab().toImage().pixelColor(at.toPoint());
    const Color ground = roles(Theme::Dark).canvas; // of ranks 0 and 2
    EXPECT_NEAR(dimmed.red(), 0.35 * full.red() + 0.65 * ground.r, 2);
    EXPECT_NEAR(dimmed.blue(), 0.35 * full.blue() + 0.65 * ground.b, 2);
    EXPECT_NE(dimmed, full);
}

TEST_F(TimelineWidgetTest, SaysWhyAFileCannotBeOpened)
{
    QString message;
    int times = 0;
    QObject::connect(&widget_, &TimelineWidget::failed, [&](const QString& text) {
        message = text;
        ++times;
    });
    widget_.openFile(QString::fromStdString((folder_ / "absent.rsdb").string()));
    EXPECT_TRUE(eventually([&] { return !message.isEmpty(); }));
    EXPECT_TRUE(message.contains("absent.rsdb")) << message.toStdString();
    QElapsedTimer timer;
    timer.start();
    eventually([&] { return timer.elapsed() > 300; }); // some polls later
    EXPECT_EQ(times, 1);
}

} // namespace
} // namespace rankscope::app::timeline

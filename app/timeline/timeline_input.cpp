#include "app/timeline/core/labels.h"
#include "app/timeline/scene_update.h"
#include "app/timeline/timeline_widget.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace rankscope::app::timeline {
namespace {

constexpr double kWheelZoom = 1.2; ///< a notch
constexpr double kKeyZoom = 1.25;
constexpr double kKeyPan = 0.15; ///< pages
constexpr double kNotch = 120;
constexpr double kDragFromPx = 4; ///< less is a click

} // namespace

void TimelineWidget::zoom(double factor)
{
    const QPointF at = mapFromGlobal(QCursor::pos());
    const double left = static_cast<double>(kTitleWidth);
    const bool inside = underMouse() && at.x() >= left;
    setView(scene_.map.zoomedAt(inside ? at.x() : left + plotWidth() / 2, factor), false);
}

void TimelineWidget::pan(double pages) { setView(scene_.map.pannedBy(pages * plotWidth()), false); }

std::optional<tracing::Window> TimelineWidget::selectedWindow() const
{
    const Selection& selection = scene_.selection;
    if (selection.area)
        return selection.area;
    if (!selection.hit)
        return std::nullopt;
    if (!selection.parts.empty()) {
        tracing::Window window{ selection.parts.front().part.beginNs, selection.parts.front().part.endNs };
        for (const SelectedPart& part : selection.parts)
            window = { std::min(window.beginNs, part.part.beginNs), std::max(window.endNs, part.part.endNs) };
        return window;
    }
    if (selection.hit->span)
        return tracing::Window{ selection.hit->span->beginNs, selection.hit->span->endNs };
    if (selection.hit->fold)
        return tracing::Window{ selection.hit->fold->beginNs, selection.hit->fold->endNs };
    return std::nullopt;
}

void TimelineWidget::fitSelection()
{
    const std::optional<tracing::Window> window = selectedWindow();
    const TimeMap before = scene_.map;
    if (window)
        showWindow(*window);
    if (!window || scene_.map == before)
        reset();
}

void TimelineWidget::reset()
{
    setView(TimeMap::fit(scene_.facts->window, static_cast<double>(kTitleWidth), plotWidth()), true);
    setScroll(0);
}

void TimelineWidget::historyBack()
{
    showsWhole_ = false;
    setFollowing(false);
    if (const auto view = history_.back(scene_.map))
        applyView(*view);
}

void TimelineWidget::historyForward()
{
    showsWhole_ = false;
    setFollowing(false);
    if (const auto view = history_.forward(scene_.map))
        applyView(*view);
}

void TimelineWidget::selectNext(int direction)
{
    const Selection& selection = scene_.selection;
    if (!selection.hit || !selection.hit->span)
        return;
    const auto found = scene_.contents.find(selection.hit->lane);
    if (found == scene_.contents.end())
        return;
    const SpanRecord& current = *selection.hit->span;
    const SpanRecord* next = nullptr;
    for (const SpanRecord& span : found->second->spans) {
        if (span.level != current.level)
            continue;
        if (direction > 0 ? span.beginNs > current.beginNs : span.beginNs < current.beginNs) {
            next = &span;
            if (direction > 0)
                break;
        }
    }
    if (next == nullptr)
        return;
    Hit hit = *selection.hit;
    hit.span = *next;
    const double left = scene_.map.xOf(static_cast<double>(next->beginNs));
    const double right = scene_.map.leftPx + scene_.map.widthPx;
    if (left < scene_.map.leftPx || left > right - 20)
        setView(scene_.map.pannedBy(left - scene_.map.leftPx - scene_.map.widthPx / 4), false);
    select(hit);
}

void TimelineWidget::selectionToArea()
{
    const std::optional<tracing::Window> window = selectedWindow();
    if (!window)
        return;
    scene_.selection.area = window;
    emit selectionChanged(scene_.selection);
    update();
}

void TimelineWidget::wheelEvent(QWheelEvent* event)
{
    const QPointF angle = event->angleDelta();
    const double notches = (angle.y() != 0 ? angle.y() : angle.x()) / kNotch;
    const bool sideways = (event->modifiers() & Qt::ShiftModifier) != 0 || (angle.y() == 0 && angle.x() != 0);
    const QPointF at = event->position();
    if (at.x() < static_cast<double>(kTitleWidth) || (event->modifiers() & Qt::AltModifier) != 0)
        setScroll(scene_.scroll - static_cast<float>(notches * 60));
    else if (sideways)
        setView(scene_.map.pannedBy(-notches * 0.1 * plotWidth()), false);
    else
        setView(scene_.map.zoomedAt(at.x(), std::pow(kWheelZoom, -notches)), false);
    updateHover(at);
    event->accept();
}

void TimelineWidget::centreMinimap(double x)
{
    const TimeMap whole = TimeMap::fit(scene_.facts->window, static_cast<double>(kTitleWidth), plotWidth());
    TimeMap map = scene_.map;
    map.beginNs = whole.nsAt(x) - map.spanNs() / 2;
    setView(map, false);
}

void TimelineWidget::mousePressEvent(QMouseEvent* event)
{
    dragFrom_ = dragLast_ = event->position();
    const bool inPlot = event->position().x() >= static_cast<double>(kTitleWidth);
    if (event->button() == Qt::RightButton || event->button() == Qt::MiddleButton) {
        drag_ = Drag::Pan;
        setCursor(Qt::ClosedHandCursor);
    } else if (event->button() == Qt::LeftButton && inPlot
        && event->position().y() < static_cast<double>(kMinimapHeight)) {
        drag_ = Drag::Minimap;
        centreMinimap(event->position().x());
    } else if (event->button() == Qt::LeftButton && inPlot) {
        drag_ = Drag::Area;
    }
    setFocus(Qt::MouseFocusReason);
}

void TimelineWidget::mouseMoveEvent(QMouseEvent* event)
{
    const QPointF at = event->position();
    const QPointF moved = at - dragLast_;
    dragLast_ = at;
    switch (drag_) {
    case Drag::Pan:
        setView(scene_.map.pannedBy(-moved.x()), false);
        setScroll(scene_.scroll - static_cast<float>(moved.y()));
        break;
    case Drag::Minimap:
        centreMinimap(at.x());
        break;
    case Drag::Area:
        if (scene_.area || std::abs(at.x() - dragFrom_.x()) >= kDragFromPx) {
            const double left = static_cast<double>(kTitleWidth);
            scene_.area = DragArea{ scene_.map.nsAt(dragFrom_.x()), scene_.map.nsAt(std::max(left, at.x())) };
            scene_.hover.reset();
            update();
        }
        break;
    case Drag::None:
        updateHover(at);
        break;
    }
}

void TimelineWidget::mouseReleaseEvent(QMouseEvent* event)
{
    const Drag drag = drag_;
    drag_ = Drag::None;
    unsetCursor();
    if (scene_.area) {
        const auto [from, to] = std::minmax(scene_.area->fromNs, scene_.area->toNs);
        scene_.area.reset();
        scene_.selection = Selection{};
        scene_.selection.area = tracing::Window{ std::llround(from), std::llround(to) };
        emit selectionChanged(scene_.selection);
        update();
    } else if (event->button() == Qt::LeftButton && drag != Drag::Minimap) {
        handleClick(event->position(), (event->modifiers() & Qt::ShiftModifier) != 0);
    }
}

void TimelineWidget::handleClick(QPointF at, bool all)
{
    if (at.y() < static_cast<double>(scene_.headerHeight()))
        return;
    if (at.x() < static_cast<double>(kTitleWidth)) {
        const float y = static_cast<float>(at.y()) - scene_.headerHeight() + scene_.scroll;
        if (const Box* box = scene_.layout.boxAt(y))
            toggleFold(*box, all);
        return;
    }
    if (const auto hit = hitTest(scene_, static_cast<float>(at.x()), static_cast<float>(at.y())))
        select(*hit);
    else if (!scene_.selection.empty())
        clearSelection();
}

void TimelineWidget::toggleFold(const Box& box, bool all)
{
    if (box.kind != Box::Kind::RankTitle && box.kind != Box::Kind::FoldedRank)
        return;
    const std::int32_t rank = box.rank; // the box goes with the old layout
    const bool fold = !folded_.contains(rank);
    for (const tracing::RankInfo& each : scene_.facts->ranks) {
        if (!all && each.rank != rank)
            continue;
        if (fold)
            folded_.insert(each.rank);
        else
            folded_.erase(each.rank);
    }
    layOutLanes();
    setScroll(all ? scene_.layout.extentOf(rank).first : scene_.scroll);
    requestPending_ = true;
    requestData();
    update();
}

void TimelineWidget::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    drag_ = Drag::Minimap; // the release that follows is no click
    const auto x = static_cast<float>(event->position().x());
    const auto y = static_cast<float>(event->position().y());
    if (const auto hit = hitTest(scene_, x, y)) {
        select(*hit);
        if (hit->span || hit->fold)
            fitSelection();
        return;
    }
    const float band = kMinimapHeight + kRulerHeight;
    if (x < kTitleWidth || y < band || y >= scene_.headerHeight())
        return;
    const auto atNs = static_cast<std::int64_t>(scene_.map.nsAt(static_cast<double>(x)));
    for (const tracing::Step& step : scene_.facts->steps) {
        if (atNs >= step.beginNs && atNs < step.endNs) {
            showWindow({ step.beginNs, step.endNs });
            return;
        }
    }
}

void TimelineWidget::updateHover(QPointF at)
{
    const bool had = scene_.hover.has_value();
    scene_.hoverX = static_cast<float>(at.x());
    scene_.hoverY = static_cast<float>(at.y());
    scene_.hover = hitTest(scene_, scene_.hoverX, scene_.hoverY);
    if (had || scene_.hover)
        update();
}

QString TimelineWidget::titleTip(QPointF at) const
{
    if (at.x() >= static_cast<double>(kTitleWidth) || at.y() < static_cast<double>(scene_.headerHeight()))
        return {};
    const Box* box = scene_.layout.boxAt(static_cast<float>(at.y()) - scene_.headerHeight() + scene_.scroll);
    if (box == nullptr)
        return {};
    if (box->kind == Box::Kind::Lane)
        return QString::fromStdString(laneTitle(scene_.facts->lanes[*box->lane]));
    if (box->kind == Box::Kind::Ledger)
        return tr("ledger: every nanosecond of the rank under its one label");
    const auto rank = std::ranges::find(scene_.facts->ranks, box->rank, &tracing::RankInfo::rank);
    if (rank == scene_.facts->ranks.end())
        return {};
    const auto late = scene_.lateCounts.find(box->rank);
    const std::string tags = rankTags(*rank, late == scene_.lateCounts.end() ? 0 : late->second).front();
    const std::string node = rank->node + (rank->device.empty() ? "" : ", " + rank->device);
    return QString::fromStdString(
        "rank " + std::to_string(box->rank) + (tags.empty() ? "" : "  " + tags) + (node.empty() ? "" : "\n" + node));
}

bool TimelineWidget::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), titleTip(help->pos()), this);
    return true;
}

void TimelineWidget::leaveEvent(QEvent*)
{
    if (scene_.hover) {
        scene_.hover.reset();
        update();
    }
}

bool TimelineWidget::handleViewKey(QKeyEvent* event)
{
    const float page = (scene_.height - scene_.headerHeight()) * 0.9F;
    const bool alt = (event->modifiers() & Qt::AltModifier) != 0;
    switch (event->key()) {
    case Qt::Key_W:
        zoom(1 / kKeyZoom);
        return true;
    case Qt::Key_S:
        zoom(kKeyZoom);
        return true;
    case Qt::Key_A:
        pan(-kKeyPan);
        return true;
    case Qt::Key_D:
        pan(kKeyPan);
        return true;
    case Qt::Key_Left:
        alt ? historyBack() : pan(-kKeyPan);
        return true;
    case Qt::Key_Right:
        alt ? historyForward() : pan(kKeyPan);
        return true;
    case Qt::Key_Up:
        setScroll(scene_.scroll - 60);
        return true;
    case Qt::Key_Down:
        setScroll(scene_.scroll + 60);
        return true;
    case Qt::Key_PageUp:
        setScroll(scene_.scroll - page);
        return true;
    case Qt::Key_PageDown:
        setScroll(scene_.scroll + page);
        return true;
    case Qt::Key_F:
        fitSelection();
        return true;
    case Qt::Key_0:
        reset();
        return true;
    default:
        return false;
    }
}

void TimelineWidget::keyPressEvent(QKeyEvent* event)
{
    const bool control = (event->modifiers() & Qt::ControlModifier) != 0;
    if (control && event->key() == Qt::Key_Z) {
        historyBack();
        return;
    }
    if (control && event->key() == Qt::Key_A) {
        scene_.selection.area = scene_.map.window();
        emit selectionChanged(scene_.selection);
        update();
        return;
    }
    if (!control && handleViewKey(event))
        return;
    switch (control ? 0 : event->key()) {
    case Qt::Key_Escape:
        clearSelection();
        setEmphasis({});
        return;
    case Qt::Key_Period:
        selectNext(1);
        return;
    case Qt::Key_Comma:
        selectNext(-1);
        return;
    case Qt::Key_R:
        selectionToArea();
        return;
    case Qt::Key_Space:
        setFollowing(!following_);
        return;
    default:
        QWidget::keyPressEvent(event);
    }
}

} // namespace rankscope::app::timeline

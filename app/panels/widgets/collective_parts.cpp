#include "app/panels/widgets/collective_parts.h"

#include "app/panels/widgets/leaf_painter.h"
#include "tracing/analysis/wording.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace rankscope::app {
namespace {

constexpr int kPitch = 26;
constexpr int kBarHeight = 18;
constexpr int kNameWidth = 104;
constexpr int kFiguresWidth = 300;
constexpr int kLeastWhiskerPx = 3;

} // namespace

CollectiveParts::CollectiveParts(const Look& look, QWidget* parent)
    : QWidget(parent)
    , look_(look)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setMinimumWidth(kNameWidth + kFiguresWidth + 120);
    connect(&look_, &Look::themeChanged, this, qOverload<>(&QWidget::update));
}

void CollectiveParts::setRows(std::vector<CollectivePartRow> rows)
{
    rows_ = std::move(rows);
    if (!rows_.empty()) {
        beginNs_ = rows_.front().beginNs;
        endNs_ = rows_.front().endNs;
        for (const auto& row : rows_) {
            beginNs_ = std::min(beginNs_, row.beginNs);
            endNs_ = std::max(endNs_, row.endNs);
        }
    }
    updateGeometry();
    update();
}

QSize CollectiveParts::sizeHint() const { return { 700, static_cast<int>(rows_.size()) * kPitch }; }

int CollectiveParts::xOf(std::int64_t timeNs) const
{
    const double all = static_cast<double>(std::max<std::int64_t>(1, endNs_ - beginNs_));
    const int width = this->width() - kNameWidth - kFiguresWidth;
    return kNameWidth + static_cast<int>(std::lround(static_cast<double>(timeNs - beginNs_) / all * width));
}

void CollectiveParts::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    int top = 0;
    for (const auto& row : rows_) {
        paintRow(painter, row, top);
        top += kPitch;
    }
}

void CollectiveParts::paintRow(QPainter& painter, const CollectivePartRow& row, int top) const
{
    const Roles& colors = look_.colors();
    painter.setFont(textFont(13));
    painter.setPen(toQColor(colors.text));
    painter.drawText(QRect(0, top, 60, kBarHeight), Qt::AlignVCenter, QStringLiteral("rank %1").arg(row.rank));
    if (row.isLate) {
        // The late mark has the text's colour and a shape of its own.
        painter.setBrush(toQColor(colors.text));
        painter.setPen(Qt::NoPen);
        const int left = 62;
        const std::array<QPoint, 3> mark{ QPoint(left, top + 5), QPoint(left + 10, top + 5),
            QPoint(left + 5, top + 13) };
        painter.drawPolygon(mark.data(), static_cast<int>(mark.size()));
        painter.setPen(toQColor(colors.text));
        painter.setFont(textFont(12));
        painter.drawText(QRect(left + 14, top, 30, kBarHeight), Qt::AlignVCenter, QStringLiteral("late"));
    }
    const auto segment = [&](Leaf leaf, std::int64_t from, std::int64_t to, const char* letter) {
        BarSegment part{ leaf, to - from, {}, {} };
        part.labels = { QLatin1String(letter) + " " + QString::fromStdString(tracing::timeText(to - from)),
            QLatin1String(letter) };
        const QRect area(xOf(from), top, std::max(1, xOf(to) - xOf(from)), kBarHeight);
        if (to > from)
            paintBar(painter, area, { &part, 1 }, look_.theme());
    };
    painter.setFont(textFont(12));
    if (row.isSplit) {
        segment(Leaf::Wait, row.beginNs, row.splitNs, "W");
        segment(Leaf::Transfer, row.splitNs, row.endNs, "T");
    } else {
        segment(Leaf::Communication, row.beginNs, row.endNs, "N");
    }
    paintWhisker(
        painter, xOf(row.beginNs), top + kBarHeight / 2, xOf(row.beginNs + row.clockErrorNs) - xOf(row.beginNs));
    painter.setFont(textFont(13));
    painter.setPen(toQColor(colors.text));
    painter.drawText(
        QRect(width() - kFiguresWidth + 16, top, kFiguresWidth - 16, kBarHeight), Qt::AlignVCenter, row.figures);
}

void CollectiveParts::paintWhisker(QPainter& painter, int x, int middle, int halfWidth) const
{
    if (halfWidth < kLeastWhiskerPx)
        return;
    painter.setPen(toQColor(look_.colors().text));
    painter.drawLine(x - halfWidth, middle, x + halfWidth, middle);
    painter.drawLine(x - halfWidth, middle - 2, x - halfWidth, middle + 2);
    painter.drawLine(x + halfWidth, middle - 2, x + halfWidth, middle + 2);
}

} // namespace rankscope::app

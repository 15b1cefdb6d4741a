#include "app/panels/widgets/finding_row.h"

#include "app/panels/widgets/elided_label.h"

#include <QHBoxLayout>
#include <QMouseEvent>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

namespace rankscope::app {
namespace {

constexpr int kHeight = 52;
constexpr int kAdviceHeight = 18; ///< a third line
constexpr int kCostWidth = 84;
constexpr int kCertaintyWidth = 92;
constexpr int kMark = 4;

Color markColor(tracing::Severity severity, Theme theme)
{
    switch (severity) {
    case tracing::Severity::Warning:
        return leafStyle(Leaf::Wait, theme).ink;
    case tracing::Severity::Notice:
        return leafStyle(Leaf::Bubble, theme).ink;
    case tracing::Severity::Info:
        break;
    }
    return leafStyle(Leaf::Compute, theme).ink;
}

} // namespace

FindingRow::FindingRow(const Look& look, FindingCard card, bool canShow, QWidget* parent)
    : QFrame(parent)
    , look_(look)
    , card_(std::move(card))
{
    setFixedHeight(kHeight + (card_.advice.isEmpty() ? 0 : kAdviceHeight));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(14 + kMark, 6, 16, 6);
    row->setSpacing(16);
    auto* words = new QVBoxLayout;
    words->setSpacing(2);
    auto* title = new ElidedLabel(card_.title);
    title->setProperty("look", "title");
    auto* text = new ElidedLabel(card_.text);
    text->setProperty("look", "hint");
    words->addWidget(title);
    words->addWidget(text);
    if (!card_.advice.isEmpty()) {
        auto* advice = new ElidedLabel(card_.advice);
        advice->setProperty("look", "advice");
        words->addWidget(advice);
    }
    row->addLayout(words, 1);
    auto* cost = new QLabel(card_.cost);
    cost->setProperty("look", "cost");
    cost->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    cost->setFixedWidth(kCostWidth);
    row->addWidget(cost);
    auto* certainty = new QLabel(card_.certainty);
    certainty->setProperty("look", "hint");
    certainty->setWordWrap(true);
    certainty->setToolTip(card_.certainty);
    certainty->setFixedWidth(kCertaintyWidth);
    row->addWidget(certainty);
    auto* show = new QPushButton(tr("Show"));
    show->setFixedSize(84, 26);
    leads_ = canShow && card_.evidence.durationNs() > 0;
    show->setVisible(leads_);
    if (leads_)
        setCursor(Qt::PointingHandCursor);
    QSizePolicy policy = show->sizePolicy();
    policy.setRetainSizeWhenHidden(canShow);
    show->setSizePolicy(policy);
    connect(show, &QPushButton::clicked, this, [this] { emit showRequested(card_); });
    row->addWidget(show);
}

void FindingRow::mouseReleaseEvent(QMouseEvent* event)
{
    if (leads_ && event->button() == Qt::LeftButton && rect().contains(event->pos()))
        emit showRequested(card_);
}

void FindingRow::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), toQColor(look_.colors().panel));
    painter.fillRect(QRect(0, 0, kMark, height()), toQColor(markColor(card_.severity, look_.theme())));
}

} // namespace rankscope::app

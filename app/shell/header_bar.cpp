#include "app/shell/header_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMenuBar>
#include <QStyle>

namespace rankscope::app {
namespace {

constexpr int kHeight = 44;
constexpr int kLongestName = 420;

} // namespace

HeaderBar::HeaderBar(QWidget* parent)
    : QWidget(parent)
    , name_(new QLabel)
    , chipRow_(new QHBoxLayout)
    , menuBar_(new QMenuBar)
{
    setObjectName(QStringLiteral("header"));
    setAttribute(Qt::WA_StyledBackground);
    setFixedHeight(kHeight);
    name_->setProperty("look", "run");
    name_->setTextFormat(Qt::PlainText);
    name_->setMaximumWidth(kLongestName);
    menuBar_->setNativeMenuBar(false);
    menuBar_->setSizePolicy(QSizePolicy::Minimum, QSizePolicy::Fixed);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(16, 0, 8, 0);
    row->setSpacing(14);
    row->addWidget(name_);
    chipRow_->setSpacing(6);
    row->addLayout(chipRow_);
    row->addStretch(1);
    row->addWidget(menuBar_);
}

void HeaderBar::setRun(const QString& name, const QVector<Chip>& chips)
{
    name_->setText(name);
    if (chips == chips_)
        return;
    chips_ = chips;
    while (chipLabels_.size() > chips.size())
        delete chipLabels_.takeLast();
    while (chipLabels_.size() < chips.size()) {
        auto* label = new QLabel;
        label->setTextFormat(Qt::PlainText);
        chipRow_->addWidget(label, 0, Qt::AlignVCenter);
        chipLabels_.push_back(label);
    }
    for (qsizetype i = 0; i < chips.size(); ++i) {
        chipLabels_[i]->setText(chips[i].text);
        chipLabels_[i]->setToolTip(chips[i].tip);
        const char* look = chips[i].isLive ? "liveChip" : "chip";
        if (chipLabels_[i]->property("look") != QLatin1String(look)) {
            chipLabels_[i]->setProperty("look", look);
            chipLabels_[i]->style()->unpolish(chipLabels_[i]);
            chipLabels_[i]->style()->polish(chipLabels_[i]);
        }
    }
    fitChips();
}

void HeaderBar::fitChips()
{
    int left = width() - 16 - 8 - name_->sizeHint().width() - menuBar_->sizeHint().width() - 3 * 14;
    // The live chip stands last and matters most: it keeps its place.
    for (qsizetype i = 0; i < chips_.size(); ++i) {
        if (chips_[i].isLive)
            left -= chipLabels_[i]->sizeHint().width() + 6;
    }
    for (qsizetype i = 0; i < chips_.size(); ++i) {
        if (chips_[i].isLive)
            continue;
        left -= chipLabels_[i]->sizeHint().width() + 6;
        chipLabels_[i]->setVisible(left >= 0);
    }
}

QStringList HeaderBar::chipTexts() const
{
    QStringList texts;
    for (const QLabel* label : chipLabels_) {
        if (!label->isHidden())
            texts.push_back(label->text());
    }
    return texts;
}

void HeaderBar::resizeEvent(QResizeEvent* event)
{
    fitChips();
    QWidget::resizeEvent(event);
}

} // namespace rankscope::app

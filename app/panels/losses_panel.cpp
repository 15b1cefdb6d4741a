#include "app/panels/losses_panel.h"

#include "tracing/analysis/wording.h"

#include <QHeaderView>
#include <QLabel>
#include <QStyledItemDelegate>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace rankscope::app {
namespace {

enum Column { Kind, Count, Detail, ColumnCount };

bool same(const tracing::Loss& a, const tracing::Loss& b)
{
    return a.kind == b.kind && a.count == b.count && a.detail == b.detail;
}

constexpr int kRowHeight = 24;

/// Words begin and end under the header's: the style pads the header's sections by 8, cells by 3.
class CellDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        QStyleOptionViewItem cell(option);
        cell.rect.adjust(kMorePadding, 0, -kMorePadding, 0);
        QStyledItemDelegate::paint(painter, cell, index);
    }
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const QSize size = QStyledItemDelegate::sizeHint(option, index);
        return { size.width() + 2 * kMorePadding, std::max(size.height(), kRowHeight) };
    }

private:
    static constexpr int kMorePadding = 5;
};

} // namespace

LossesPanel::LossesPanel(QWidget* parent)
    : QWidget(parent)
    , hint_(new QLabel)
    , nothing_(new QLabel(tr("Nothing was dropped, nothing was repaired, and everything was understood.")))
    , list_(new QTreeWidget)
{
    setObjectName(QStringLiteral("page"));
    auto* title = new QLabel(tr("Losses"));
    title->setProperty("look", "title");
    hint_->setProperty("look", "hint");
    hint_->setText(tr("What was dropped, repaired or not understood. Lost data is missing from every figure."));
    nothing_->setProperty("look", "cause");
    list_->setColumnCount(ColumnCount);
    list_->setHeaderLabels({ tr("what"), tr("how often"), tr("in detail") });
    list_->headerItem()->setTextAlignment(Count, Qt::AlignRight | Qt::AlignVCenter);
    list_->setRootIsDecorated(false);
    list_->setFrameShape(QFrame::NoFrame);
    list_->setItemDelegate(new CellDelegate(list_));
    list_->setWordWrap(true);
    list_->setTextElideMode(Qt::ElideRight);
    list_->setColumnWidth(Kind, 260);
    list_->setColumnWidth(Count, 110);
    list_->header()->setStretchLastSection(true);
    list_->setAccessibleName(tr("Losses"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 16, 16, 16);
    column->setSpacing(8);
    column->addWidget(title);
    column->addWidget(hint_);
    column->addWidget(nothing_);
    column->addWidget(list_, 1);
    column->addStretch();
    setLosses({});
}

void LossesPanel::setLosses(const std::vector<tracing::Loss>& losses)
{
    nothing_->setVisible(losses.empty());
    list_->setVisible(!losses.empty());
    if (std::equal(losses.begin(), losses.end(), losses_.begin(), losses_.end(), same))
        return; // a growing run asks again and again: the scroll position stays
    losses_ = losses;
    list_->clear();
    for (const tracing::Loss& loss : losses_) {
        auto* item = new QTreeWidgetItem(list_);
        item->setText(Kind, QString::fromStdString(loss.kind));
        item->setText(Count, QString::fromStdString(tracing::countText(loss.count)));
        item->setText(Detail, QString::fromStdString(loss.detail));
        item->setTextAlignment(Count, Qt::AlignRight | Qt::AlignVCenter);
        item->setToolTip(Detail, QString::fromStdString(loss.detail));
    }
}

QStringList LossesPanel::texts() const
{
    QStringList lines;
    for (const tracing::Loss& loss : losses_)
        lines << QStringLiteral("%1: %2, %3")
                     .arg(QString::fromStdString(loss.kind), QString::fromStdString(tracing::countText(loss.count)),
                         QString::fromStdString(loss.detail));
    return lines;
}

} // namespace rankscope::app

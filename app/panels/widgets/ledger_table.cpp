#include "app/panels/widgets/ledger_table.h"

#include "app/panels/widgets/leaf_painter.h"

#include <QHeaderView>
#include <QPainter>
#include <QResizeEvent>
#include <QStyle>
#include <QStyledItemDelegate>

#include <algorithm>

namespace rankscope::app {
namespace {

constexpr int kRowHeight = 24;
constexpr int kBarWidth = 256; ///< 240 and the padding
constexpr int kLeastBarWidth = 72;
constexpr int kLeastNameWidth = 120;
constexpr int kMostNameWidth = 200;
constexpr int kLeastWhoWidth = 90;
constexpr int kMostWhoWidth = 190;
constexpr int kLastPadding = 24; ///< of the last column: a scroll bar may lie over it
constexpr int kCellPadding = 8; ///< as of the header's words in the style sheet
constexpr int kNamePadding = 3; ///< beside the arrow
constexpr int kLineRole = Qt::UserRole; ///< index of the line; the sum has none

class LineDelegate : public QStyledItemDelegate {
public:
    LineDelegate(const Look& look, const std::vector<LedgerLine>& lines, QObject* parent)
        : QStyledItemDelegate(parent)
        , look_(look)
        , lines_(lines)
    {
    }

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        return { QStyledItemDelegate::sizeHint(option, index).width(), kRowHeight };
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        QStyleOptionViewItem plain(option);
        initStyleOption(&plain, index);
        const QString text = plain.text;
        plain.text.clear(); // the style would put it nearer to the edge than the header's word above it
        plain.widget->style()->drawControl(QStyle::CE_ItemViewItem, &plain, painter, plain.widget);
        paintText(*painter, option.rect, text, index);
        const QVariant line = index.siblingAtColumn(LedgerTable::Name).data(kLineRole);
        if (index.column() == LedgerTable::Bar && line.isValid())
            paintShare(*painter, option.rect, lines_[line.toULongLong()]);
        if (!line.isValid()) {
            painter->setPen(toQColor(look_.colors().line));
            painter->drawLine(option.rect.topLeft(), option.rect.topRight());
        }
    }

private:
    void paintText(QPainter& painter, QRect cell, const QString& text, const QModelIndex& index) const
    {
        cell.adjust(index.column() == LedgerTable::Name ? kNamePadding : kCellPadding, 0, -kCellPadding, 0);
        const QVariant alignment = index.data(Qt::TextAlignmentRole);
        painter.setFont(textFont(13));
        painter.setPen(toQColor(look_.colors().text));
        painter.drawText(cell, alignment.isValid() ? alignment.toInt() : int(Qt::AlignLeft | Qt::AlignVCenter),
            painter.fontMetrics().elidedText(text, Qt::ElideRight, cell.width()));
    }

    void paintShare(QPainter& painter, QRect cell, const LedgerLine& line) const
    {
        const int depthInset = line.depth == 0 ? 3 : 6;
        cell.adjust(kCellPadding, depthInset, -kCellPadding, -depthInset);
        const int width = static_cast<int>(line.share * cell.width() + 0.5);
        // What has any time is seen; what has none is no bar.
        paintLeaf(painter, QRect(cell.left(), cell.top(), std::max(line.share > 0 ? 1 : 0, width), cell.height()),
            line.look, look_.theme());
    }

    const Look& look_;
    const std::vector<LedgerLine>& lines_;
};

QString titleOf(const LedgerLine& line)
{
    if (line.depth > 0)
        return line.name;
    return QLatin1Char(leafStyle(line.look, Theme::Dark).letter) + QStringLiteral("  ") + line.name;
}

} // namespace

LedgerTable::LedgerTable(const Look& look, QWidget* parent)
    : QTreeWidget(parent)
    , look_(look)
{
    setColumnCount(ColumnCount);
    setItemDelegate(new LineDelegate(look, lines_, this));
    setUniformRowHeights(true);
    setRootIsDecorated(true);
    setIndentation(16);
    setFrameShape(QFrame::NoFrame);
    setAllColumnsShowFocus(true);
    setExpandsOnDoubleClick(false);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setAccessibleName(tr("Ledger"));
    header()->setSectionsMovable(false);
    header()->setStretchLastSection(true);
    header()->setTextElideMode(Qt::ElideRight);
    header()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    connect(&look_, &Look::themeChanged, viewport(), qOverload<>(&QWidget::update));
    connect(this, &QTreeWidget::itemSelectionChanged, this, [this] {
        if (!filling_)
            emit lineSelected();
    });
    connect(this, &QTreeWidget::itemActivated, this, &LedgerTable::lineActivated);
}

QTreeWidgetItem* LedgerTable::addLine(std::size_t index)
{
    const LedgerLine& line = lines_[index];
    QTreeWidgetItem* parent = nullptr;
    if (line.depth > 0 && topLevelItemCount() > 0)
        parent = topLevelItem(topLevelItemCount() - 1);
    auto* item = parent ? new QTreeWidgetItem(parent) : new QTreeWidgetItem(this);
    item->setText(Name, titleOf(line));
    item->setText(Amount, line.amount);
    item->setText(Own, line.own);
    item->setText(Who, line.who);
    item->setText(Fixed, line.fixed);
    item->setData(Name, kLineRole, static_cast<qulonglong>(index));
    for (const int column : { Amount, Own })
        item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
    for (const int column : { Name, Who, Fixed })
        item->setToolTip(column, item->text(column));
    if (parent)
        parent->setExpanded(true);
    return item;
}

void LedgerTable::addSum(const LedgerModel& model)
{
    auto* item = new QTreeWidgetItem(this);
    item->setFlags(Qt::ItemIsEnabled);
    item->setText(Name, tr("sum"));
    item->setText(Amount, model.sumAmount);
    item->setText(Own, model.sumOwn);
    item->setText(Who, model.residual);
    for (const int column : { Amount, Own })
        item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
}

void LedgerTable::setModel(const LedgerModel& model, const QString& amountWord)
{
    const auto selected = selectedLine();
    filling_ = true;
    clear();
    setHeaderLabels({ tr("leaf"), amountWord, tr("of %1").arg(model.denominator), tr("own"), tr("culprit, cause"),
        tr("if fixed (replay)") });
    for (const int column : { Amount, Own })
        headerItem()->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
    lines_ = model.lines;
    QTreeWidgetItem* again = nullptr;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
        QTreeWidgetItem* item = addLine(i);
        if (selected && lines_[i].choice == *selected)
            again = item;
    }
    addSum(model);
    if (again)
        setCurrentItem(again);
    filling_ = false;
    fitColumns();
    updateGeometry();
    if (selected && !again)
        emit lineSelected();
}

void LedgerTable::selectLine(std::size_t index)
{
    for (QTreeWidgetItemIterator item(this); *item; ++item) {
        const QVariant line = (*item)->data(Name, kLineRole);
        if (line.isValid() && line.toULongLong() == index)
            setCurrentItem(*item);
    }
}

std::optional<tracing::LeafChoice> LedgerTable::selectedLine() const
{
    const QList<QTreeWidgetItem*> items = selectedItems();
    if (items.isEmpty() || !items.front()->data(Name, kLineRole).isValid())
        return std::nullopt;
    return lines_[items.front()->data(Name, kLineRole).toULongLong()].choice;
}

QSize LedgerTable::sizeHint() const { return { 900, kRowHeight * (static_cast<int>(lines_.size()) + 3) }; }

/// The words that matter most, what fixing a leaf gives, are never cut for the length of a bar.
void LedgerTable::fitColumns()
{
    const auto content = [this](Column column) {
        return std::max(sizeHintForColumn(column) + 2 * kCellPadding, header()->sectionSizeHint(column));
    };
    const int name = std::clamp(content(Name), kLeastNameWidth, kMostNameWidth);
    const int amount = content(Amount);
    const int own = content(Own);
    const int who = std::clamp(content(Who), kLeastWhoWidth, kMostWhoWidth);
    const int left = viewport()->width() - name - amount - own - who - content(Fixed) - kLastPadding;
    setColumnWidth(Name, name);
    setColumnWidth(Amount, amount);
    setColumnWidth(Bar, std::clamp(left, kLeastBarWidth, kBarWidth));
    setColumnWidth(Own, own);
    setColumnWidth(Who, who);
}

void LedgerTable::resizeEvent(QResizeEvent* event)
{
    QTreeWidget::resizeEvent(event);
    fitColumns();
}

} // namespace rankscope::app

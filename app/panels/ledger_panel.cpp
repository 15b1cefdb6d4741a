#include "app/panels/ledger_panel.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QResizeEvent>
#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>

namespace rankscope::app {
namespace {

constexpr int kMargin = 16;
constexpr int kStackBelow = 1200; ///< narrower: the bars stand under the table
constexpr int kTwoLinesBelow = 860; ///< narrower: the choices take two lines

QLabel* label(const char* look, const QString& text = {})
{
    auto* made = new QLabel(text);
    made->setProperty("look", look);
    made->setTextFormat(Qt::PlainText);
    return made;
}

QString amountWord(LedgerUnit unit)
{
    switch (unit) {
    case LedgerUnit::Share:
        return QStringLiteral("share");
    case LedgerUnit::RankTime:
        return QStringLiteral("rank time");
    case LedgerUnit::GpuHours:
        return QStringLiteral("GPU-hours");
    }
    return {};
}

} // namespace

LedgerPanel::LedgerPanel(const Look& look, QWidget* parent)
    : QWidget(parent)
    , look_(look)
    , table_(new LedgerTable(look))
    , bars_(new GroupBars(look))
{
    setObjectName(QStringLiteral("ledgerPage"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(kMargin, kMargin, kMargin, kMargin);
    column->setSpacing(kMargin);
    column->addWidget(buildChoices());

    auto* left = new QVBoxLayout;
    left->setSpacing(8);
    left->addWidget(table_, 1);
    notes_ = label("hint");
    notes_->setWordWrap(true);
    left->addWidget(notes_);
    auto* markedRow = new QHBoxLayout;
    marked_ = label("hint");
    show_ = new QPushButton(tr("Show on the timeline"));
    connect(show_, &QPushButton::clicked, this, &LedgerPanel::timelineRequested);
    markedRow->addWidget(marked_, 1);
    markedRow->addWidget(show_);
    left->addLayout(markedRow);

    auto* right = new QVBoxLayout;
    right->setSpacing(8);
    auto* head = new QHBoxLayout;
    groupsTitle_ = label("title");
    groupsHint_ = label("hint");
    head->addWidget(groupsTitle_);
    head->addWidget(groupsHint_, 1, Qt::AlignBottom);
    right->addLayout(head);
    auto* scroll = new QScrollArea;
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* page = new QWidget;
    page->setObjectName(QStringLiteral("page"));
    auto* pageColumn = new QVBoxLayout(page);
    pageColumn->setContentsMargins(0, 0, 8, 0);
    pageColumn->addWidget(bars_);
    pageColumn->addStretch();
    scroll->setWidget(page);
    right->addWidget(scroll, 1);

    halves_ = new QHBoxLayout;
    halves_->setSpacing(32);
    halves_->addLayout(left, 68);
    halves_->addLayout(right, 32);
    column->addLayout(halves_, 1);

    connect(table_, &LedgerTable::lineSelected, this, &LedgerPanel::lineSelected);
    connect(table_, &LedgerTable::lineActivated, this, &LedgerPanel::timelineRequested);
    connect(bars_, &GroupBars::groupClicked, this, &LedgerPanel::groupRequested);
    setMarked({});
}

QButtonGroup* LedgerPanel::addSwitch(QBoxLayout* row, const QString& title, const QStringList& words)
{
    row->addWidget(label("dim", title));
    auto* group = new QButtonGroup(this);
    for (int i = 0; i < words.size(); ++i) {
        auto* button = new QPushButton(words[i]);
        button->setProperty("look", "switch");
        button->setCheckable(true);
        button->setChecked(i == 0);
        group->addButton(button, i);
        row->addWidget(button);
    }
    row->addSpacing(kMargin);
    return group;
}

QWidget* LedgerPanel::buildChoices()
{
    auto* choices = new QWidget;
    choices_ = new QBoxLayout(QBoxLayout::LeftToRight, choices);
    choices_->setContentsMargins(0, 0, 0, 0);
    choices_->setSpacing(6);
    const auto line = [this] {
        auto* made = new QHBoxLayout;
        made->setSpacing(6);
        choices_->addLayout(made);
        return made;
    };
    QHBoxLayout* first = line();
    by_ = addSwitch(first, tr("by"), { tr("rank"), tr("step"), tr("dimension"), tr("cause") });
    unit_ = addSwitch(first, tr("in"), { tr("%"), tr("rank-s"), tr("GPU-h") });
    first->addStretch();
    QHBoxLayout* row = line();
    row->addWidget(label("dim", tr("steps")));
    steps_ = new QLineEdit;
    steps_->setPlaceholderText(tr("all"));
    steps_->setToolTip(tr("One step, such as 5, or the first and the last, such as 4:6"));
    steps_->setFixedWidth(72);
    row->addWidget(steps_);
    row->addSpacing(kMargin);
    count_ = addSwitch(row, tr("count"), { tr("all"), tr("avoidable") });
    count_->button(1)->setToolTip(tr("Without compute, ideal transfers, start and planned time"));
    stepsProblem_ = label("fault");
    stepsProblem_->hide();
    row->addWidget(stepsProblem_);
    row->addStretch();
    choices_->addStretch(1);
    const auto take = [this] {
        LedgerChoice choice = choice_;
        choice.by = static_cast<LedgerBy>(by_->checkedId());
        choice.unit = static_cast<LedgerUnit>(unit_->checkedId());
        choice.avoidableOnly = count_->checkedId() == 1;
        setChoice(choice);
    };
    for (QButtonGroup* group : { by_, unit_, count_ })
        connect(group, &QButtonGroup::idClicked, this, take);
    connect(steps_, &QLineEdit::editingFinished, this, &LedgerPanel::takeSteps);
    return choices;
}

void LedgerPanel::takeSteps()
{
    LedgerChoice choice = choice_;
    choice.steps = parseStepRange(steps_->text());
    if (!choice.steps && !steps_->text().trimmed().isEmpty()) {
        stepsProblem_->setText(tr("One step, such as 5, or two, such as 4:6"));
        stepsProblem_->show();
        return;
    }
    setChoice(choice);
}

void LedgerPanel::setChoice(const LedgerChoice& choice)
{
    choice_ = choice;
    by_->button(static_cast<int>(choice.by))->setChecked(true);
    unit_->button(static_cast<int>(choice.unit))->setChecked(true);
    count_->button(choice.avoidableOnly ? 1 : 0)->setChecked(true);
    showModel();
}

void LedgerPanel::setLedger(std::shared_ptr<const tracing::RunLedger> ledger)
{
    ledger_ = std::move(ledger);
    showModel();
}

void LedgerPanel::showModel()
{
    if (!ledger_)
        return;
    LedgerModel model = ledgerModel(*ledger_, choice_);
    stepsProblem_->setText(model.problem);
    stepsProblem_->setVisible(!model.problem.isEmpty());
    if (!model.problem.isEmpty())
        return; // what was there stays
    model_ = std::move(model);
    table_->setModel(model_, amountWord(choice_.unit));
    notes_->setText(model_.notes);
    notes_->setVisible(!model_.notes.isEmpty());
    groupsTitle_->setText(tr("By %1").arg(by_->checkedButton()->text()));
    groupsHint_->setText(model_.groupsHint);
    bars_->setGroups(model_.groups);
}

void LedgerPanel::selectLeaf(Leaf leaf)
{
    const auto line = std::ranges::find(model_.lines, leaf, &LedgerLine::look);
    if (line != model_.lines.end())
        table_->selectLine(static_cast<std::size_t>(line - model_.lines.begin()));
    table_->setFocus();
}

void LedgerPanel::setMarked(const QString& words)
{
    marked_->setText(words.isEmpty() ? tr("Select a line to mark its time on the timeline") : words);
    show_->setEnabled(!words.isEmpty());
}

void LedgerPanel::setProblem(const QString& words) { marked_->setText(words); }

void LedgerPanel::resizeEvent(QResizeEvent* event)
{
    const auto direction = [width = event->size().width()](int stackBelow) {
        return width < stackBelow ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight;
    };
    halves_->setDirection(direction(kStackBelow));
    choices_->setDirection(direction(kTwoLinesBelow));
    QWidget::resizeEvent(event);
}

} // namespace rankscope::app

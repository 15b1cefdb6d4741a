#include "app/panels/overview_panel.h"

#include "app/panels/widgets/elided_label.h"
#include "app/panels/widgets/finding_row.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QResizeEvent>
#include <QStyle>
#include <QVBoxLayout>

#include <algorithm>

namespace rankscope::app {
namespace {

constexpr int kMargin = 24;
constexpr int kNarrowBelow = 1280; // window width under which the big number shrinks (LOOK, section 2)
constexpr int kRail = 72;
constexpr std::size_t kFirstAlerts = 2;
constexpr std::size_t kFirstFindings = 4; // more would push ranks and charts off the page

template <typename Label = QLabel> Label* label(const char* look)
{
    auto* made = new Label;
    made->setProperty("look", look);
    made->setTextFormat(Qt::PlainText);
    return made;
}

/// "Ranks  slowest first"
QWidget* sectionHead(const QString& title, QLabel* hint)
{
    auto* head = new QWidget;
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(16);
    auto* name = label("title");
    name->setText(title);
    row->addWidget(name);
    row->addWidget(hint, 1);
    return head;
}

void clear(QLayout& rows)
{
    while (QLayoutItem* item = rows.takeAt(0)) {
        delete item->widget();
        delete item;
    }
}

} // namespace

OverviewPanel::OverviewPanel(const Look& look, bool canShow, QWidget* parent)
    : QScrollArea(parent)
    , look_(look)
    , canShow_(canShow)
    , page_(new QWidget)
{
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    page_->setObjectName(QStringLiteral("overviewPage"));
    auto* column = new QVBoxLayout(page_);
    column->setContentsMargins(kMargin, 16, kMargin, 16);
    column->setSpacing(16);
    column->addWidget(buildTop());
    column->addWidget(buildAlerts());

    findingsHint_ = label("hint");
    findings_ = new QVBoxLayout;
    findings_->setSpacing(6);
    auto* findingsBlock = new QVBoxLayout;
    findingsBlock->setSpacing(8);
    findingsBlock->addWidget(sectionHead(tr("Findings"), findingsHint_));
    findingsBlock->addLayout(findings_);
    allFindings_ = new QPushButton;
    allFindings_->setCheckable(true);
    connect(allFindings_, &QPushButton::toggled, this, &OverviewPanel::fillFindings);
    findingsBlock->addWidget(allFindings_, 0, Qt::AlignLeft);
    allFindings_->hide();
    column->addLayout(findingsBlock);

    auto* lower = new QHBoxLayout;
    lower->setSpacing(32);
    lower->addWidget(buildRanks(), 57);
    lower->addWidget(buildCharts(), 43);
    column->addLayout(lower, 1);
    setWidget(page_);
}

QWidget* OverviewPanel::buildTop()
{
    auto* top = new QWidget;
    auto* row = new QHBoxLayout(top);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(16);

    numberColumn_ = new QWidget;
    auto* left = new QVBoxLayout(numberColumn_);
    left->setContentsMargins(0, 4, 0, 0);
    left->setSpacing(0);
    caption_ = label("dim");
    caption_->setWordWrap(true);
    number_ = label("number");
    hint_ = label("hint");
    hint_->setWordWrap(true);
    left->addWidget(caption_);
    left->addWidget(number_);
    left->addWidget(hint_);
    left->addStretch();
    row->addWidget(numberColumn_);

    auto* right = new QVBoxLayout;
    right->setSpacing(6);
    auto* headlineRow = new QHBoxLayout;
    headlineRow->setSpacing(8);
    sentence_ = label("headline");
    sentence_->setWordWrap(true);
    sentence_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    headlineRow->addWidget(sentence_, 1);
    auto* copy = new QPushButton(tr("Copy"));
    copy->setToolTip(tr("Copy this page as text of at most 20 lines"));
    auto* save = new QPushButton(tr("Save as…"));
    connect(copy, &QPushButton::clicked, this, &OverviewPanel::copyRequested);
    connect(save, &QPushButton::clicked, this, &OverviewPanel::saveRequested);
    headlineRow->addWidget(copy, 0, Qt::AlignTop);
    headlineRow->addWidget(save, 0, Qt::AlignTop);
    right->addLayout(headlineRow);
    cause_ = label("cause");
    cause_->setWordWrap(true);
    right->addWidget(cause_);
    gain_ = label("cause");
    gain_->setWordWrap(true);
    right->addWidget(gain_);
    strip_ = new StackedBar(look_, 40);
    connect(strip_, &StackedBar::segmentClicked, this,
        [this](int index) { emit leafRequested(strip_->segments()[static_cast<std::size_t>(index)].leaf); });
    right->addWidget(strip_);
    sumLine_ = label("hint");
    sumLine_->setWordWrap(true);
    right->addWidget(sumLine_);
    right->addStretch();
    row->addLayout(right, 1);
    return top;
}

QWidget* OverviewPanel::buildAlerts()
{
    alertsBlock_ = new QWidget;
    auto* column = new QVBoxLayout(alertsBlock_);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    alertsHint_ = label("hint");
    column->addWidget(sectionHead(tr("Alerts"), alertsHint_));
    alertRows_ = new QVBoxLayout;
    alertRows_->setSpacing(6);
    column->addLayout(alertRows_);
    allAlerts_ = new QPushButton;
    allAlerts_->setCheckable(true);
    connect(allAlerts_, &QPushButton::toggled, this, &OverviewPanel::fillAlerts);
    column->addWidget(allAlerts_, 0, Qt::AlignLeft);
    alertsBlock_->hide();
    return alertsBlock_;
}

QWidget* OverviewPanel::buildRanks()
{
    auto* block = new QWidget;
    auto* column = new QVBoxLayout(block);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    ranksHint_ = label<ElidedLabel>("hint");
    sharedCores_ = label("hint");
    auto* head = new QHBoxLayout;
    head->setSpacing(16);
    head->addWidget(sectionHead(tr("Ranks"), ranksHint_), 1);
    heatLeaf_ = new QComboBox;
    heatLeaf_->setAccessibleName(tr("What the heat map shows"));
    connect(heatLeaf_, &QComboBox::activated, this, &OverviewPanel::fillHeat);
    head->addWidget(heatLeaf_);
    column->addLayout(head);
    heat_ = new RankHeatMap(look_);
    connect(heat_, &RankHeatMap::rankClicked, this, &OverviewPanel::rankRequested);
    column->addWidget(heat_);
    ranks_ = new RankBars(look_, RankBars::Shows::Times);
    connect(ranks_, &RankBars::rankClicked, this, &OverviewPanel::rankRequested);
    column->addWidget(ranks_);
    column->addWidget(sharedCores_);
    column->addStretch();
    return block;
}

QWidget* OverviewPanel::buildCharts()
{
    auto* block = new QWidget;
    auto* column = new QVBoxLayout(block);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    stepHint_ = label<ElidedLabel>("hint");
    lossHint_ = label<ElidedLabel>("hint");
    stepChart_ = new StepChart(look_);
    lossChart_ = new LineChart(look_);
    connect(stepChart_, &StepChart::stepClicked, this, &OverviewPanel::stepRequested);
    auto* charts = new QHBoxLayout;
    charts->setSpacing(24);
    const auto add = [&](const QString& title, QLabel* hint, QWidget* chart) {
        auto* one = new QVBoxLayout;
        one->setSpacing(4);
        one->addWidget(sectionHead(title, hint));
        one->addWidget(chart, 1);
        charts->addLayout(one, 1);
    };
    add(tr("Step time"), stepHint_, stepChart_);
    add(tr("Loss"), lossHint_, lossChart_);
    column->addLayout(charts, 1);
    auto* overlapHint = label<ElidedLabel>("hint");
    overlapHint->setText(tr("bar = all communication of a rank · hidden = under its compute"));
    column->addWidget(sectionHead(tr("Overlap"), overlapHint));
    overlap_ = new RankBars(look_, RankBars::Shows::Communication);
    connect(overlap_, &RankBars::rankClicked, this, &OverviewPanel::rankRequested);
    column->addWidget(overlap_);
    return block;
}

void OverviewPanel::setModel(const OverviewModel& model)
{
    const bool sameFindings = model.findings == model_.findings;
    model_ = model;
    caption_->setText(model.bigCaption);
    number_->setText(model.bigNumber);
    number_->setEnabled(!model.isProvisional);
    sentence_->setEnabled(!model.isProvisional);
    hint_->setText(model.bigHint);
    sentence_->setText(model.sentence);
    cause_->setText(model.cause);
    cause_->setVisible(!model.cause.isEmpty());
    gain_->setText(model.gain);
    gain_->setVisible(!model.gain.isEmpty());
    strip_->setSegments(model.strip);
    sumLine_->setText(model.sumLine);
    findingsHint_->setText(model.findingsHint);
    if (!sameFindings)
        fillFindings();
    fillRanks();
    sharedCores_->setText(model.sharedCores);
    sharedCores_->setVisible(!model.sharedCores.isEmpty());
    stepHint_->setText(model.stepHint);
    stepChart_->setSteps(model.steps);
    lossHint_->setText(model.lossHint);
    lossChart_->setSeries(model.loss);
}

void OverviewPanel::fillRanks()
{
    const bool many = model_.ranks.size() > kMostRankBars;
    ranks_->setVisible(!many);
    heat_->setVisible(many);
    heatLeaf_->setVisible(many);
    ranks_->setRows(many ? std::vector<RankRow>() : model_.ranks);
    overlap_->setRows(many ? std::vector<RankRow>{ model_.allRanks } : model_.ranks);
    ranksHint_->setText(
        many ? tr("a cell a rank, in rows of nodes · share of the rank’s own window") : model_.ranksHint);
    if (!many)
        return;
    // What a person chose stays chosen while a run grows.
    const QVariant chosen = heatLeaf_->currentData();
    heatLeaf_->clear();
    for (const Leaf leaf : heatLeaves(model_.ranks))
        heatLeaf_->addItem(leafWord(leaf), static_cast<int>(leaf));
    heatLeaf_->setCurrentIndex(std::max(0, chosen.isValid() ? heatLeaf_->findData(chosen) : 0));
    fillHeat();
}

void OverviewPanel::fillHeat()
{
    heat_->setHeat(rankHeat(model_.ranks, static_cast<Leaf>(heatLeaf_->currentData().toInt())));
}

void OverviewPanel::setAlerts(const std::vector<FindingCard>& alerts)
{
    if (alerts == alerts_)
        return;
    alerts_ = alerts;
    fillAlerts();
}

void OverviewPanel::fillAlerts()
{
    clear(*alertRows_);
    const std::size_t all = alerts_.size();
    const bool whole = allAlerts_->isChecked() || all <= kFirstAlerts + 1;
    alertsBlock_->setVisible(all > 0);
    alertsHint_->setText(
        tr("%1, newest first · seen while the run went on, by the rules it was started with").arg(all));
    allAlerts_->setVisible(all > kFirstAlerts + 1);
    allAlerts_->setText(whole ? tr("Show the newest %1").arg(kFirstAlerts) : tr("Show all %1").arg(all));
    for (std::size_t i = 0; i < (whole ? all : kFirstAlerts); ++i) {
        auto* row = new FindingRow(look_, alerts_[i], canShow_);
        connect(row, &FindingRow::showRequested, this, &OverviewPanel::evidenceRequested);
        alertRows_->addWidget(row);
    }
}

void OverviewPanel::fillFindings()
{
    clear(*findings_);
    const std::size_t all = model_.findings.size();
    const bool whole = allFindings_->isChecked() || all <= kFirstFindings + 1;
    allFindings_->setVisible(all > kFirstFindings + 1);
    allFindings_->setText(whole ? tr("Show the first %1").arg(kFirstFindings) : tr("Show all %1").arg(all));
    for (std::size_t i = 0; i < (whole ? all : kFirstFindings); ++i) {
        auto* row = new FindingRow(look_, model_.findings[i], canShow_);
        connect(row, &FindingRow::showRequested, this, &OverviewPanel::evidenceRequested);
        findings_->addWidget(row);
    }
}

QPixmap OverviewPanel::picture() { return page_->grab(); }

void OverviewPanel::resizeEvent(QResizeEvent* event)
{
    const bool narrow = event->size().width() + kRail < kNarrowBelow;
    numberColumn_->setFixedWidth(narrow ? 220 : 344);
    number_->setProperty("look", narrow ? "numberSmall" : "number");
    // A style sheet looks at properties only when it is told to.
    number_->style()->unpolish(number_);
    number_->style()->polish(number_);
    QScrollArea::resizeEvent(event);
}

} // namespace rankscope::app

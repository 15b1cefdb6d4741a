#include "app/panels/ledger_panel.h"

#include <QLineEdit>
#include <QPushButton>

#include <gtest/gtest.h>

namespace rankscope::app {
namespace {

using LedgerLeaf = tracing::ledger::Leaf;

constexpr std::int64_t kMs = 1'000'000;

/// One rank, one step (3): 60 ms compute, 40 ms host.
std::shared_ptr<const tracing::RunLedger> oneRank()
{
    auto run = std::make_shared<tracing::RunLedger>();
    run->capacityNs = 100 * kMs;
    run->ranks = { { 0, 100 * kMs, {} } };
    run->steps.resize(1);
    run->steps[0].step = 3;
    std::vector<tracing::ledger::LedgerRow> rows;
    for (const auto& [leaf, ms] : { std::pair{ LedgerLeaf::Compute, 60 }, std::pair{ LedgerLeaf::Host, 40 } }) {
        tracing::ledger::LedgerRow row;
        row.leaf.leaf = leaf;
        row.step = 0;
        row.ns = row.low = row.high = ms * kMs;
        rows.push_back(row);
        run->totals.push_back({ row.leaf, row.ns, row.ns, row.ns });
    }
    run->rows = std::move(rows);
    return run;
}

class LedgerPanelTest : public testing::Test {
protected:
    LedgerPanelTest()
    {
        panel_.resize(1500, 700);
        panel_.show();
        panel_.setLedger(oneRank());
    }

    void click(const QString& text)
    {
        for (QPushButton* button : panel_.findChildren<QPushButton*>()) {
            if (button->text() == text)
                return button->click();
        }
        ADD_FAILURE() << "no button " << text.toStdString();
    }

    Look look_{ Theme::Dark };
    LedgerPanel panel_{ look_ };
};

TEST_F(LedgerPanelTest, ShowsALineALeafAndTheSumThatCannotBeSelected)
{
    LedgerTable& table = panel_.table();
    ASSERT_EQ(table.topLevelItemCount(), 4);
    EXPECT_EQ(table.topLevelItem(0)->text(LedgerTable::Name), "?  unattributed");
    EXPECT_EQ(table.topLevelItem(1)->text(LedgerTable::Name), "C  compute");
    EXPECT_EQ(table.topLevelItem(2)->text(LedgerTable::Amount), "40.0 %");
    EXPECT_EQ(table.topLevelItem(3)->text(LedgerTable::Who), "residual 0 ns");
    EXPECT_FALSE(table.topLevelItem(3)->flags() & Qt::ItemIsSelectable);
}

TEST_F(LedgerPanelTest, ASelectedLineSurvivesANewerLedger)
{
    int selected = 0;
    QObject::connect(&panel_, &LedgerPanel::lineSelected, [&] { ++selected; });
    panel_.selectLeaf(Leaf::Host);
    ASSERT_EQ(selected, 1);
    EXPECT_EQ(panel_.table().selectedLine()->leaf.leaf, LedgerLeaf::Host);
    panel_.setLedger(oneRank());
    EXPECT_EQ(panel_.table().selectedLine()->leaf.leaf, LedgerLeaf::Host);
    EXPECT_EQ(selected, 1); // nothing new to mark
    click("avoidable");
    EXPECT_EQ(panel_.table().topLevelItemCount(), 3); // unattributed, host, sum
    EXPECT_EQ(panel_.table().selectedLine()->leaf.leaf, LedgerLeaf::Host);
}

TEST_F(LedgerPanelTest, SwitchesGroupUnitAndSteps)
{
    click("step");
    EXPECT_EQ(panel_.bars().groups()[1].name, "step 3");
    click("rank-s");
    EXPECT_EQ(panel_.table().topLevelItem(1)->text(LedgerTable::Amount), "60.0 rank-ms");
    auto* steps = panel_.findChild<QLineEdit*>();
    steps->setText("9");
    emit steps->editingFinished();
    EXPECT_EQ(panel_.model().sumOwn, "100 ms"); // what was there stays
    steps->setText("3");
    emit steps->editingFinished();
    EXPECT_EQ(panel_.choice().steps, (tracing::StepRange{ 3, 3 }));
}

TEST_F(LedgerPanelTest, WhatFixingGivesIsNeverCutForABar)
{
    auto run = std::make_shared<tracing::RunLedger>(*oneRank());
    tracing::Saving saving;
    saving.leaf = tracing::ledger::LeafKey{ LedgerLeaf::Host };
    saving.prediction = { 100 * kMs, 60 * kMs, 55 * kMs, 70 * kMs };
    run->savings.push_back(saving);
    run->countedSteps = 1;
    panel_.resize(1208, 700); // of a window of 1280
    panel_.setLedger(run);
    LedgerTable& table = panel_.table();
    const QTreeWidgetItem* host = table.topLevelItem(2);
    const int needed = table.fontMetrics().horizontalAdvance(host->text(LedgerTable::Fixed));
    EXPECT_GT(table.columnWidth(LedgerTable::Fixed), needed) << host->text(LedgerTable::Fixed).toStdString();
}

TEST_F(LedgerPanelTest, NoChoiceIsCutInANarrowWindow)
{
    panel_.resize(728, 400); // of a window of 800
    panel_.grab(); // lays it out
    for (const QPushButton* button : panel_.findChildren<QPushButton*>())
        EXPECT_GE(button->width(), button->sizeHint().width()) << button->text().toStdString();
}

TEST_F(LedgerPanelTest, BarsLieAsLongAsTheirShare)
{
    const QImage picture = panel_.table().grab().toImage();
    QTreeWidgetItem* compute = panel_.table().topLevelItem(1);
    const QRect row = panel_.table().visualItemRect(compute);
    const int left = panel_.table().columnViewportPosition(LedgerTable::Bar);
    const int y = panel_.table().viewport()->y() + row.center().y();
    const QColor fill = toQColor(leafStyle(Leaf::Compute, Theme::Dark).fill);
    // 60 % of 240 px, 8 px into the column.
    EXPECT_EQ(picture.pixelColor(left + 8 + 142, y), fill);
    EXPECT_NE(picture.pixelColor(left + 8 + 145, y), fill);
}

} // namespace
} // namespace rankscope::app

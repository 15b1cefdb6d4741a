#include "app/panels/losses_panel.h"

#include <QLabel>
#include <QTreeWidget>

#include <gtest/gtest.h>

namespace rankscope::app {
namespace {

TEST(LossesPanelTest, ListsEachLossAndSaysSoWhereThereIsNone)
{
    LossesPanel panel;
    panel.show();
    auto* list = panel.findChild<QTreeWidget*>();
    EXPECT_FALSE(list->isVisible());
    panel.setLosses({ { "ring full", 1204, "rank 3 dropped events at 2.1 s" } });
    EXPECT_TRUE(list->isVisible());
    EXPECT_EQ(panel.texts(), QStringList{ "ring full: 1,204, rank 3 dropped events at 2.1 s" });
    ASSERT_EQ(list->topLevelItemCount(), 1);
    QTreeWidgetItem* first = list->topLevelItem(0);
    panel.setLosses({ { "ring full", 1204, "rank 3 dropped events at 2.1 s" } });
    EXPECT_EQ(list->topLevelItem(0), first); // unchanged: not filled anew
}

} // namespace
} // namespace rankscope::app

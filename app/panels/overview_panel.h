#pragma once

#include "app/models/overview_model.h"
#include "app/panels/widgets/line_chart.h"
#include "app/panels/widgets/rank_bars.h"
#include "app/panels/widgets/rank_heat_map.h"
#include "app/panels/widgets/stacked_bar.h"
#include "app/panels/widgets/step_chart.h"
#include "app/session/look.h"

#include <QScrollArea>

class QComboBox;
class QLabel;
class QPushButton;
class QVBoxLayout;

namespace rankscope::app {

/// The first answer: how much of the compute is useful, where the rest goes, who is to blame (LOOK, section 5).
class OverviewPanel : public QScrollArea {
    Q_OBJECT

public:
    /// `canShow`: there is a timeline that Show can lead to.
    OverviewPanel(const Look& look, bool canShow, QWidget* parent = nullptr);

    void setModel(const OverviewModel& model);
    /// What the run's rules have said until now; none: there is nothing about alerts on the page.
    void setAlerts(const std::vector<FindingCard>& alerts);
    const OverviewModel& model() const { return model_; }
    /// The whole page, also what is scrolled away.
    QPixmap picture();

signals:
    void copyRequested();
    void saveRequested();
    void evidenceRequested(const rankscope::app::FindingCard& card);
    void leafRequested(rankscope::app::Leaf leaf);
    void rankRequested(int rank);
    void stepRequested(std::int64_t step);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* buildTop();
    QWidget* buildAlerts();
    QWidget* buildRanks();
    QWidget* buildCharts();
    void fillFindings();
    void fillAlerts();
    void fillRanks();
    void fillHeat();

    const Look& look_;
    bool canShow_;
    OverviewModel model_;
    QWidget* page_;
    QWidget* numberColumn_;
    QLabel* caption_;
    QLabel* number_;
    QLabel* hint_;
    QLabel* sentence_;
    QLabel* cause_;
    QLabel* gain_;
    StackedBar* strip_;
    QLabel* sumLine_;
    QWidget* alertsBlock_;
    QLabel* alertsHint_;
    QVBoxLayout* alertRows_;
    QPushButton* allAlerts_;
    std::vector<FindingCard> alerts_;
    QLabel* findingsHint_;
    QVBoxLayout* findings_;
    QPushButton* allFindings_;
    QLabel* ranksHint_;
    QLabel* sharedCores_;
    RankBars* ranks_; ///< up to kMostRankBars of them
    RankHeatMap* heat_; ///< more
    QComboBox* heatLeaf_;
    QLabel* stepHint_;
    StepChart* stepChart_;
    QLabel* lossHint_;
    LineChart* lossChart_;
    RankBars* overlap_;
};

} // namespace rankscope::app

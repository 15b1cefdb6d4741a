#pragma once

#include "app/timeline/canvas.h"
#include "app/timeline/core/scene.h"
#include "app/timeline/core/view_history.h"
#include "app/timeline/loader.h"

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>

#include <memory>
#include <optional>
#include <set>

class QScrollBar;

namespace rankscope::app::timeline {

/// The timeline of one run: shows the file while it grows, answers to mouse and keys (UX.md), tells what is selected.
/// Reading happens on worker threads; until new data is there the last picture stays, moved and scaled with the view.
class TimelineWidget : public QWidget {
    Q_OBJECT

public:
    explicit TimelineWidget(QWidget* parent = nullptr);
    ~TimelineWidget() override;

    void openFile(const QString& path); ///< closes the one before
    void closeFile();
    void releaseReaders(); ///< lets the collector finish the file; reading goes on when it is next needed
    void setTheme(Theme theme);

    /// Zooms there, as soon as the file is read; the way back is in the history.
    void showWindow(tracing::Window window);
    /// The same with all ranks but these at 35 % (none given: no rank stands back), scrolled to the first of them.
    void showWindow(tracing::Window window, const std::set<std::int32_t>& ranks);
    /// Brings a rank to the top, as soon as the file is read, and keeps it there while lanes above it grow.
    void scrollToRank(std::int32_t rank);
    /// All that is not in `emphasis` is drawn at 35 %; Esc ends it, so does another file.
    void setEmphasis(Emphasis emphasis);
    /// The ledger as it was counted last; null: not yet. The ledger lanes are drawn from it.
    void setLedger(LedgerPtr ledger);
    /// How often each rank was the last to enter a collective: stands beside its name.
    void setLateCounts(std::map<std::int32_t, std::int64_t> counts);
    tracing::Window visibleWindow() const { return scene_.map.window(); }
    void select(const Hit& hit);
    void markArea(tracing::Window window); ///< selects a stretch of all lanes
    void clearSelection();
    const Selection& selection() const { return scene_.selection; }
    /// Keeps the head of a growing run in view: all of the run until a person zooms or pans, then its newest part.
    void setFollowing(bool follow);
    bool following() const { return following_; }

    const Scene& scene() const { return scene_; }
    bool settled() const; ///< the picture shows all that was asked for
    QSize minimumSizeHint() const override { return { 480, 240 }; }

public slots:
    // What the keys do, for menus.
    void zoom(double factor); ///< around the pointer, else the middle
    void pan(double pages); ///< by a share of the visible width
    void fitSelection(); ///< again: the whole run
    void reset();
    void historyBack();
    void historyForward();
    void selectNext(int direction); ///< next (1) or previous (-1) span of the lane
    void selectionToArea();

signals:
    void selectionChanged(const rankscope::app::timeline::Selection& selection);
    void viewChanged(rankscope::tracing::Window window);
    void followingChanged(bool following);
    void failed(const QString& message);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void leaveEvent(QEvent* event) override;
    bool event(QEvent* event) override;

private:
    enum class Drag { None, Area, Pan, Minimap };

    void takeFacts(const FactsPtr& facts);
    void takeContent(quint64 job, const ContentPtr& content);
    void takeLedger(quint64 job, std::int32_t rank, const ContentPtr& content);
    void countAnswer(quint64 job);
    void takeCollective(const CollectiveDetails& details);
    void followHead();
    void setView(const TimeMap& map, bool jump); ///< remembers the view before
    void applyView(const TimeMap& map);
    void setScroll(float scroll); ///< by a person: lets go of the rank at the top
    void placeScroll(float scroll);
    void updateScrollBar();
    void layOutLanes();
    void requestData();
    void requestMinimap();
    Loader::Request wanted() const; ///< visible lanes first
    double plotWidth() const;
    std::optional<tracing::Window> selectedWindow() const;
    void updateHover(QPointF at);
    void centreMinimap(double x);
    void toggleFold(const Box& box, bool all);
    QString titleTip(QPointF at) const; ///< what a title that may be cut says in full
    void handleClick(QPointF at, bool all);
    bool handleViewKey(QKeyEvent* event);

    Scene scene_;
    Canvas canvas_;
    std::unique_ptr<Loader> loader_;
    LedgerPtr ledger_;
    QScrollBar* scrollBar_; ///< beside the lanes, where there are more than fit
    ViewHistory history_;
    QTimer pollTimer_;
    QElapsedTimer clock_;
    std::set<std::int32_t> folded_;
    std::map<tracing::LaneId, quint64> shownJobs_;
    std::map<std::int32_t, quint64> shownLedgers_; ///< by rank
    quint64 job_ = 0;
    std::size_t answersMissing_ = 0; ///< of the current job
    tracing::Window requestedWindow_;
    double requestedNsPerPx_ = 0;
    std::set<std::int32_t> requestedLedgers_;
    bool requestPending_ = false; ///< facts changed while lanes were being read
    bool following_ = false;
    bool showsWhole_ = false; ///< a run just opened: nobody has zoomed or panned yet
    std::optional<tracing::Window> wantedWindow_; ///< asked for before the file was read
    std::optional<std::int32_t> topRank_; ///< held at the top
    QString lastFailure_;
    std::int64_t minimapVersion_ = -1;
    QElapsedTimer minimapAge_;
    Drag drag_ = Drag::None;
    QPointF dragFrom_;
    QPointF dragLast_;
};

} // namespace rankscope::app::timeline

#pragma once

#include "app/session/reader_thread.h"
#include "app/session/run_snapshot.h"
#include "app/session/selection.h"

#include <QObject>
#include <QString>
#include <QTimer>

#include <memory>
#include <optional>

namespace rankscope::app {

/// The open run: the only state that panels share. Everything that reads the file runs on its threads; what it hands
/// out is finished and immutable. Lives on the UI thread.
class RunSession : public QObject {
    Q_OBJECT

public:
    enum class State {
        Closed,
        Opening, ///< also: waiting for a file that a run is about to create
        Open,
        Failed,
    };
    /// How far the file has come.
    enum class Progress {
        Finished, ///< the recorder closed it
        Live, ///< grows
        Stalled, ///< not finished, and nothing was written for kStalledNs: the recorder is gone, or held up
    };
    static constexpr std::int64_t kStalledNs = 10'000'000'000;

    explicit RunSession(QObject* parent = nullptr);
    ~RunSession() override;

    void open(const QString& path);
    /// Opens the file as soon as it appears.
    void follow(const QString& path);
    void close();

    State state() const { return state_; }
    QString path() const { return path_; }
    QString error() const { return error_; } ///< one line; Failed only
    std::shared_ptr<const RunSnapshot> snapshot() const { return snapshot_; } ///< null until Open
    Progress progress() const;
    std::int64_t behindNs() const; ///< wall clock minus the newest end in the file; 0 when finished

    const Selection& selection() const { return selection_; }
    void select(const Selection& selection);
    /// The stretch of time that the timeline shows; none until somebody chose one: the whole run.
    std::optional<tracing::Window> window() const { return window_; }
    void setWindow(std::optional<tracing::Window> window);

    /// For analyses of the whole run: one at a time, apart from the reader of small things.
    ReaderThread& analysisThread() { return analysisThread_; }
    /// For the ledger of a run that grows, which must not wait for an analysis.
    ReaderThread& ledgerThread() { return ledgerThread_; }
    /// For small questions that must be answered while an analysis runs.
    ReaderThread& detailThread() { return detailThread_; }

signals:
    void stateChanged();
    void snapshotChanged(); ///< a first or a newer one
    void progressChanged();
    void fileReleased(); ///< the recorder wants the file for itself: close your readers, snapshotChanged follows
    void selectionChanged();
    void windowChanged();

private:
    void begin(const QString& path, bool wait);
    void poll();
    void takeSnapshot(tracing::Result<RunSnapshot> result);
    void setState(State state, const QString& error = {});
    void releaseFileForTheRecorder();
    void setThreads(const std::string& path);

    ReaderThread detailThread_;
    ReaderThread analysisThread_;
    ReaderThread ledgerThread_;
    JobSlot snapshotSlot_;
    QTimer timer_;
    State state_ = State::Closed;
    bool waitsForFile_ = false;
    bool pollRuns_ = false;
    QString path_;
    QString error_;
    std::shared_ptr<const RunSnapshot> snapshot_;
    std::int64_t lastGrowthUtcNs_ = 0;
    Selection selection_;
    std::optional<tracing::Window> window_;
};

} // namespace rankscope::app

#pragma once

#include "app/session/ledger_feed.h"
#include "app/session/recount_pace.h"
#include "app/session/run_session.h"
#include "tracing/analysis/run_analysis.h"

#include <QObject>

#include <memory>

namespace rankscope::app {

/// The analysis of the open run and its ledger, kept up to date while the run grows: overview, ledger and timeline show
/// the figures of one counting, but for the ledger of a growing run, which goes ahead step by step. Works on the
/// session's analysis thread; a growing run is analysed again as a whole, at most so often that this takes a quarter of
/// one core.
class AnalysisFeed : public QObject {
    Q_OBJECT

public:
    explicit AnalysisFeed(RunSession& session, QObject* parent = nullptr);

    /// What to count, from the next analysis on.
    void setOptions(const tracing::AnalysisOptions& options) { options_ = options; }

    // Null until the first one is done.
    std::shared_ptr<const tracing::RunAnalysis> result() const { return part(&tracing::AnalysedRun::analysis); }
    std::shared_ptr<const tracing::RunLedger> ledger() const;
    std::shared_ptr<const tracing::LedgerLanes> lanes() const { return part(&tracing::AnalysedRun::lanes); }
    QString error() const { return error_; } ///< why there is none, or no newer one
    bool isRunning() const { return pace_.isRunning(); }
    /// The result stands for everything that the file held when the session last looked.
    bool isComplete() const;

signals:
    void changed(); ///< a new result, an error, or none any more

private:
    void start();
    void take(tracing::Result<tracing::AnalysedRun> result);
    /// A part of the result that keeps the whole alive.
    template <typename T> std::shared_ptr<const T> part(T tracing::AnalysedRun::*member) const
    {
        return run_ ? std::shared_ptr<const T>(run_, &(run_.get()->*member)) : nullptr;
    }

    RunSession& session_;
    LedgerFeed live_;
    tracing::AnalysisOptions options_;
    JobSlot slot_;
    RecountPace pace_;
    std::shared_ptr<const tracing::AnalysedRun> run_;
    QString error_;
};

} // namespace rankscope::app

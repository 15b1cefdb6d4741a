#pragma once

#include "app/session/run_session.h"
#include "tracing/analysis/leaf_stretches.h"
#include "tracing/analysis/run_ledger.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include <memory>

namespace rankscope::app {

/// The waste ledger of the open run, while somebody wants it; kept up to date like the analysis (AnalysisFeed), on the
/// same thread. Also finds where on the timeline a line of it lies.
class LedgerFeed : public QObject {
    Q_OBJECT

public:
    explicit LedgerFeed(RunSession& session, QObject* parent = nullptr);

    /// Nothing is counted before the first true.
    void setWanted(bool wanted);

    std::shared_ptr<const tracing::RunLedger> result() const { return result_; } ///< null until the first one is done
    QString error() const { return error_; } ///< why there is none, or no newer one

    void findStretches(const tracing::LeafChoice& choice); ///< found() follows; replaces an earlier question
    void forgetStretches(); ///< no answer is wanted any more
    bool isFinding() const { return finding_; }

signals:
    void changed(); ///< a new result, an error, or none any more
    void found(const rankscope::tracing::LeafStretches& stretches);

private:
    void wake();
    void start();
    void take(tracing::Result<tracing::RunLedger> result);

    RunSession& session_;
    JobSlot slot_;
    JobSlot stretchSlot_;
    QTimer timer_;
    QElapsedTimer clock_;
    bool wanted_ = false;
    bool running_ = false;
    bool finding_ = false;
    std::int64_t startedVersion_ = -1;
    std::int64_t doneVersion_ = -1;
    std::shared_ptr<const tracing::RunLedger> result_;
    QString error_;
};

} // namespace rankscope::app

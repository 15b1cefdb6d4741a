#pragma once

#include "app/session/run_session.h"
#include "tracing/analysis/live_ledger.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include <memory>

namespace rankscope::app {

/// The ledger of a run that we record while it grows, counted step by step on a thread of its own: an analysis of the
/// whole run, which takes the longer the more there is, does not hold it up.
class LedgerFeed : public QObject {
    Q_OBJECT

public:
    explicit LedgerFeed(RunSession& session, QObject* parent = nullptr);

    /// The newest; null where the run does not grow, or before the first.
    std::shared_ptr<const tracing::RunLedger> ledger() const { return ledger_; }

signals:
    void changed(); ///< a newer one

private:
    void wake();
    void start();
    void take(tracing::Result<tracing::RunLedger> result);

    RunSession& session_;
    std::shared_ptr<tracing::LiveLedger> live_; ///< touched by the thread only
    JobSlot slot_;
    QTimer timer_;
    QElapsedTimer clock_;
    bool running_ = false;
    std::int64_t startedVersion_ = -1;
    std::int64_t doneVersion_ = -1;
    std::shared_ptr<const tracing::RunLedger> ledger_;
};

} // namespace rankscope::app

#pragma once

#include "app/session/recount_pace.h"
#include "app/session/run_session.h"
#include "tracing/analysis/live_ledger.h"

#include <QObject>

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
    void start();
    void take(tracing::Result<tracing::RunLedger> result);

    RunSession& session_;
    std::shared_ptr<tracing::LiveLedger> live_; ///< touched by the thread only
    JobSlot slot_;
    RecountPace pace_;
    std::shared_ptr<const tracing::RunLedger> ledger_;
};

} // namespace rankscope::app

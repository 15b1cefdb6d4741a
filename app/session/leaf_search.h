#pragma once

#include "app/session/run_session.h"
#include "tracing/analysis/leaf_stretches.h"

#include <QObject>

namespace rankscope::app {

/// Finds where on the timeline a line of the ledger lies, on the session's analysis thread.
class LeafSearch : public QObject {
    Q_OBJECT

public:
    explicit LeafSearch(RunSession& session, QObject* parent = nullptr);

    void find(const tracing::LeafChoice& choice); ///< found() or failed() follows; replaces an earlier question
    void forget(); ///< no answer is wanted any more
    bool isRunning() const { return running_; }

signals:
    void found(const rankscope::tracing::LeafStretches& stretches);
    void failed(const QString& message);

private:
    RunSession& session_;
    JobSlot slot_;
    bool running_ = false;
};

} // namespace rankscope::app

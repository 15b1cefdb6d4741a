#pragma once

#include "app/timeline/core/minimap.h"
#include "app/timeline/core/records.h"
#include "app/timeline/core/run_facts.h"
#include "app/timeline/core/selection.h"
#include "app/timeline/reader_pool.h"
#include "tracing/analysis/ledger_lane.h"

#include <QObject>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace rankscope::app::timeline {

using FactsPtr = std::shared_ptr<const RunFacts>;
using LedgerPtr = std::shared_ptr<const tracing::LedgerLanes>;
using ContentPtr = std::shared_ptr<const LaneContent>;

/// All parts of one collective.
struct CollectiveDetails {
    std::int64_t instance = -1;
    std::vector<SelectedPart> parts;
    std::optional<tracing::CollectiveMatch> match;
};
CollectiveDetails readCollective(tracing::TraceReader& reader, const RunFacts& facts, const SpanRecord& span);

/// The whole run's minimap from its compute and communication lanes.
Minimap readMinimap(tracing::TraceReader& reader, const RunFacts& facts, int columns);

/// Reads a run on worker threads and hands results to the thread it lives in. Each view request has a number; results
/// of a file that is no longer open never arrive.
class Loader : public QObject {
    Q_OBJECT

public:
    explicit Loader(const std::string& path, QObject* parent = nullptr);

    void poll(); ///< reads the facts anew if the file has changed; does nothing while an earlier poll runs
    /// What to read: lanes are indices into facts->lanes; ledgers are ranks. In the order in which they are wanted.
    struct Request {
        FactsPtr facts;
        LedgerPtr ledger; ///< as far as it has been counted; may be null
        std::vector<std::size_t> lanes;
        std::vector<std::int32_t> ledgers;
        tracing::Window window;
        double nsPerPx = 1;
    };
    /// Replaces what is still waiting.
    void requestLanes(std::uint64_t job, const Request& request);
    void requestCollective(FactsPtr facts, const SpanRecord& span);
    void requestMinimap(FactsPtr facts, int columns);
    bool lanesBusy() const { return !lanePool_.idle(); }
    void release(); ///< closes the readers until they are needed again

signals:
    void factsRead(const rankscope::app::timeline::FactsPtr& facts);
    void laneLoaded(quint64 job, const rankscope::app::timeline::ContentPtr& content);
    void ledgerLoaded(quint64 job, std::int32_t rank, const rankscope::app::timeline::ContentPtr& content);
    void collectiveRead(const rankscope::app::timeline::CollectiveDetails& details);
    void minimapRead(const std::shared_ptr<const rankscope::app::timeline::Minimap>& minimap);
    void failed(const QString& message);

private:
    /// Runs in this object's thread unless it is gone by then.
    template <typename Function> void deliver(Function function);
    template <typename Function> void deliverContent(tracing::Result<LaneContent> content, Function ready);
    void readFacts(tracing::TraceReader& reader);

    std::int64_t knownVersion_ = -1; ///< used on the facts thread only
    bool polling_ = false;
    // A data version means something to the connection that read it only: facts have one thread of their own.
    ReaderPool factsPool_;
    ReaderPool lanePool_;
};

} // namespace rankscope::app::timeline

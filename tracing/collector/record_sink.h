#pragma once

#include "tracing/collector/matcher.h"
#include "tracing/collector/process_facts.h"
#include "tracing/collector/row_batch.h"
#include "tracing/collector/run_clock.h"
#include "tracing/record/ring_layout.h"
#include "tracing/store/tile_builder.h"
#include "tracing/store/trace_writer.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>

namespace rankscope::tracing {

/// A lane with the place where its rows gather.
struct RingLane {
    LaneId id{};
    LaneRows* rows = nullptr; ///< null: not asked for yet
};

/// What one ring's records lead to: its rank's lanes, and signatures seen lately.
struct RingContext {
    std::int32_t rank = 0;
    std::uint32_t number = 0; ///< of the thread in its process
    std::int64_t earliestNs = INT64_MIN; ///< no record of it can be older
    RingLane compute;
    RingLane host;
    std::array<RingLane, 256> communication; ///< by Dimension
    std::unordered_map<std::uint32_t, RingLane> counters; ///< by local name

    struct CachedSignature {
        std::uint64_t shape[4] = {}; ///< the record's words that a signature is made of; all 0: empty
        SignatureId id{};
    };
    std::array<CachedSignature, 256> signatures;
};

/// Turns records into rows, matches and tiles. Nothing in a record is trusted.
class RecordSink {
public:
    RecordSink(TraceWriter& writer, const RunClock& clock, Matcher& matcher, TileBuilder& tiles)
        : writer_(writer)
        , clock_(clock)
        , matcher_(matcher)
        , tiles_(tiles)
    {
    }

    /// No record can be younger than this.
    void setLatestNs(std::int64_t ns) { latestNs_ = ns; }
    Status take(RingContext& ring, const ProcessFacts& facts, std::span<const Record> records);
    /// Rows, matches and tiles go to the writer's transaction.
    Status flush();

    std::uint64_t taken() const { return taken_; }
    /// Latest time seen: the head of the run.
    std::int64_t headNs() const { return headNs_; }
    void setHeadNs(std::int64_t ns) { headNs_ = ns; }

    /// "all-reduce dp #12", "matmul", "step 7": a span in the words of the field.
    static std::string describe(const Record& record, const ProcessFacts& facts);

private:
    Status takeOne(RingContext& ring, const ProcessFacts& facts, const Record& record, Window time);
    Status kernel(RingContext& ring, const ProcessFacts& facts, const Record& record, Window time);
    Status collective(RingContext& ring, const ProcessFacts& facts, const Record& record, Window time);
    Status bubble(RingContext& ring, const Record& record, Window time);
    Status range(RingContext& ring, const ProcessFacts& facts, const Record& record, Window time);
    Status counter(RingContext& ring, const ProcessFacts& facts, const Record& record, Window time);

    Result<RingLane> makeLane(const Lane& lane);
    Result<NameId> nameOf(const ProcessFacts& facts, std::uint32_t local, std::string_view otherwise);
    Result<SignatureId> signatureOf(RingContext& ring, const ProcessFacts& facts, const Record& record);
    Status lost(const RingContext& ring, std::string kind, std::string detail);

    TraceWriter& writer_;
    const RunClock& clock_;
    Matcher& matcher_;
    TileBuilder& tiles_;
    RowBatch rows_;
    std::uint64_t taken_ = 0;
    std::int64_t headNs_ = 0;
    std::int64_t latestNs_ = INT64_MAX;
};

/// Adds an instance's parts to the tiles of their lanes: to be called once each, when it is complete or given up.
void addTiles(TileBuilder& tiles, const Matcher::Instance& instance);
SpanClass classOf(Pass pass);
SpanClass classOf(RangeKind kind);

} // namespace rankscope::tracing

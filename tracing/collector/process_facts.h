#pragma once

#include "tracing/collector/run_clock.h"
#include "tracing/model/kinds.h"
#include "tracing/model/run.h"
#include "tracing/record/facts_file.h"
#include "tracing/store/trace_writer.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

namespace rankscope::tracing {

/// What is known of the run as a whole, gathered from all processes.
struct GatheredFacts {
    RunInfo run;
    std::map<std::int32_t, RankInfo> ranks;
};

/// One process's facts file, read as it grows: its local ids become the run's.
class ProcessFacts {
public:
    explicit ProcessFacts(std::string path)
        : path_(std::move(path))
    {
    }

    struct Name {
        NameId id{};
        std::string text;
    };
    struct Group {
        CommunicatorId id{};
        Dimension dimension = Dimension::None;
        std::int32_t members = 0; ///< 0: unknown
    };

    /// Reads what is new, inside the writer's transaction.
    Status update(TraceWriter& writer, const RunClock& clock, std::int32_t rank, GatheredFacts& run);

    /// Local id 0 is no name; none where the file does not tell (a full disk, a torn tail).
    const Name* name(std::uint32_t local) const;
    const Group* group(std::uint32_t local) const;
    /// Of the run, counted from 0, that the process belongs to.
    std::int32_t attempt() const { return attempt_; }

private:
    Status take(const Fact& fact, TraceWriter& writer, const RunClock& clock, std::int32_t rank, GatheredFacts& run);
    Status takeEvent(const Fact& fact, TraceWriter& writer, const RunClock& clock, std::int32_t rank);
    static Status putRank(TraceWriter& writer, GatheredFacts& run, std::int32_t rank);

    std::string path_;
    std::int64_t offset_ = 0;
    bool isCorrupt_ = false;
    std::int32_t attempt_ = 0;
    std::unordered_map<std::uint32_t, Name> names_{ { 0, {} } };
    std::unordered_map<std::uint32_t, Group> groups_;
};

/// Adds what a counter that only rises has gained since it was last counted, also over restarts of the collector.
Status countUpTo(TraceWriter& writer, const std::string& counter, std::uint64_t total, const Loss& each);

} // namespace rankscope::tracing

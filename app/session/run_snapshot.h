#pragma once

#include "tracing/model/result.h"
#include "tracing/model/rows.h"
#include "tracing/model/run.h"
#include "tracing/store/trace_reader.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace rankscope::app {

/// The small tables of a run at one moment. Never changes after it was made, so threads share it without a lock.
struct RunSnapshot {
    std::string path;
    std::int64_t dataVersion = 0;
    tracing::RunInfo run;
    std::vector<tracing::RankInfo> ranks;
    std::vector<tracing::Lane> lanes;
    std::vector<tracing::Loss> losses;
    std::vector<tracing::LiveAlert> alerts; ///< as they were raised
    std::map<std::string, std::string> provenance;
    tracing::Window window; ///< first begin to last end; while recording its end is the head

    /// Largest clock error of any rank, ns.
    std::int64_t clockErrorNs() const;
    const tracing::Lane* lane(tracing::LaneId id) const; ///< nullptr where the file has no such lane
};

/// Reads them in a few short transactions; the version is read first, so that a commit in between is seen again.
tracing::Result<RunSnapshot> readSnapshot(tracing::TraceReader& reader);

} // namespace rankscope::app

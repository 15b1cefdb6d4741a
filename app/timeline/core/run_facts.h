#pragma once

#include "tracing/model/result.h"
#include "tracing/model/rows.h"
#include "tracing/model/run.h"
#include "tracing/store/trace_reader.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace rankscope::app::timeline {

/// What the timeline knows about a run beside the rows of its lanes. Immutable once read; a growing file gives a new
/// one.
struct RunFacts {
    tracing::RunInfo run;
    std::vector<tracing::RankInfo> ranks; ///< by rank
    std::vector<tracing::Lane> lanes; ///< by rank, then kind
    std::vector<std::string> names;
    std::vector<tracing::KernelSignature> signatures;
    std::vector<tracing::Step> steps; ///< of all ranks together; the rank is the first that has any
    tracing::Window window;
    std::int64_t dataVersion = 0;

    std::map<std::int32_t, std::string> shortNames; ///< of kernels, where the short name is another; index as in names

    const std::string& name(std::int32_t index) const; ///< "" where it is not known (yet)
    const std::string& shortName(std::int32_t index) const; ///< for labels
};

tracing::Result<std::shared_ptr<const RunFacts>> readRunFacts(tracing::TraceReader& reader);

} // namespace rankscope::app::timeline

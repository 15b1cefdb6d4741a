#pragma once

#include "tracing/analysis/run_rows.h"

#include <cstdint>
#include <map>
#include <string>

namespace rankscope::tracing {

/// What a file holds, before any analysis.
struct FileInfo {
    RunFacts facts;
    std::map<std::string, std::int64_t> counts; ///< rows a table
    std::map<LaneId, std::int64_t> spansOfLane; ///< rows a lane, counters left out
};

std::string infoText(const FileInfo& info);
std::string infoJson(const FileInfo& info); ///< with the keys that scripts rely on, "schema": 1

} // namespace rankscope::tracing

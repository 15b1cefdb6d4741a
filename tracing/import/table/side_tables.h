#pragma once

#include "tracing/import/own_values.h"
#include "tracing/model/result.h"
#include "tracing/model/run.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace rankscope::tracing {

/// Whether a file that begins like this is one of those that `rankscope export --csv` lays beside spans.csv: run.csv,
/// ranks.csv, counters.csv.
bool isSideTableHeader(std::string_view firstBytes);

/// What they say, but for the counters.
struct SideTables {
    OwnValues values;
    std::map<std::int32_t, RankInfo> ranks;
};

struct SampleOfTable {
    std::int32_t rank = 0;
    std::string_view name, unit;
    std::int64_t timeNs = 0;
    double value = 0;
};

/// Reads run.csv and ranks.csv beside a table of spans; what is absent says nothing.
Result<SideTables> readSideTables(const std::string& spansPath);

/// Hands out the samples of counters.csv beside a table of spans; none where it is absent. Gives how many rows are not
/// understood.
Result<std::int64_t> readSamples(
    const std::string& spansPath, const std::function<void(const SampleOfTable&)>& visitor);

} // namespace rankscope::tracing

#pragma once

#include "tracing/import/json/json_trace_reader.h"
#include "tracing/import/source_trace.h"
#include "tracing/model/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

/// Whether a file that begins like this is a table of spans as `rankscope export --csv` writes it: its first line names
/// the columns, in any order, more of them do no harm.
bool isSpanTableHeader(std::string_view firstBytes);

/// Reads such a table (also .gz, .zst): a trace for each rank in it. What lies beside it under the export's names
/// (run.csv, ranks.csv, counters.csv) is read, too.
Result<std::vector<SourceTrace>> readSpanTable(const std::string& path, const ReadProgressCallback& progress = {});

} // namespace rankscope::tracing

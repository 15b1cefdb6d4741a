#pragma once

#include "tracing/import/json/json_trace_reader.h"
#include "tracing/import/source_trace.h"

#include <string>

namespace rankscope::tracing {

/// Reads one rank's dump of PyTorch's NCCL flight recorder (a pickle of plain data, see pickle.h): every entry becomes
/// a part with its group, number and bytes. What had not completed when the dump was written stays open to the last
/// moment that the dump knows, and is counted as such. The dump does not say its rank: its name does.
Result<SourceTrace> readFlightRecorder(const std::string& path, const ImportRules& rules = ImportRules::builtIn(),
    const ReadProgressCallback& progress = {});

} // namespace rankscope::tracing

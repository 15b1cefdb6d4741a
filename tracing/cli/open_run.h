#pragma once

#include "tracing/analysis/run_rows.h"
#include "tracing/model/result.h"
#include "tracing/store/trace_reader.h"

#include <string>
#include <vector>

namespace rankscope::tracing {

/// The run file for what people name: itself, or the import of a trace or a folder, in the import cache.
Result<std::string> runFileOf(const std::string& path);

/// The same for several: run files and folders are a run each, other tools' trace files together are one run, as a rank
/// a file is what such tools write.
Result<std::vector<std::string>> runFilesOf(const std::vector<std::string>& paths);

/// Opens a run file, or other tools' traces, for reading. What a crash left of its recording is drained into it first.
Result<TraceReader> openRun(const std::string& path);

/// A run that is open, with what the analyses know of it apart from rows.
struct OpenRun {
    TraceReader reader;
    RunFacts facts;
};
Result<OpenRun> openRunWithFacts(const std::string& path);

} // namespace rankscope::tracing

#pragma once

#include "tracing/import/json/json_trace_reader.h"
#include "tracing/import/source_trace.h"

#include <string>
#include <vector>

namespace rankscope::tracing {

/// Reads an Nsight Systems SQLite export of any schema: a trace for each rank in it, which is a device, or a process
/// where MPI's ranks are known. A damaged database gives what can be read and says so in `losses`; an error only where
/// nothing can be had.
Result<std::vector<SourceTrace>> readNsightExport(const std::string& path,
    const ImportRules& rules = ImportRules::builtIn(), const ReadProgressCallback& progress = {});

/// How to turn a report into what can be read: "nsys export ...". `path` is the report or a database exported from it.
std::string nsightExportCommand(const std::string& path);

} // namespace rankscope::tracing

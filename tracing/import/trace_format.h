#pragma once

#include "tracing/import/json/json_trace_reader.h"
#include "tracing/import/source_trace.h"

#include <string>
#include <vector>

namespace rankscope::tracing {

enum class TraceFormat : std::uint8_t {
    Unknown,
    Json,
    NsightReport,
    NsightUnfinished,
    NsightSqlite,
    RunFile,
    PipelineCsv,
    SpanTable,
    SideTable, ///< belongs to a span table beside it
    Pickle
};

/// Told by the first bytes (after decompression), never by the name alone.
Result<TraceFormat> detectFormat(const std::string& path);

/// Reads one file with the reader of its format: a trace for each rank in it.
Result<std::vector<SourceTrace>> readTraceFile(const std::string& path,
    const ImportRules& rules = ImportRules::builtIn(), const ReadProgressCallback& progress = {});

} // namespace rankscope::tracing

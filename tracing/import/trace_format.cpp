#include "tracing/import/trace_format.h"

#include "tracing/import/byte_source.h"
#include "tracing/import/flight_recorder/flight_recorder_reader.h"
#include "tracing/import/nsight/nsight_reader.h"
#include "tracing/import/pipeline/pipeline_reader.h"
#include "tracing/import/pipeline/pipeline_table.h"
#include "tracing/import/table/side_tables.h"
#include "tracing/import/table/span_table_reader.h"
#include "tracing/store/schema.h"

#include <algorithm>
#include <filesystem>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;

/// Bytes 68 to 71 of a database, big endian: whose it is.
std::uint32_t applicationId(const std::string& first)
{
    std::uint32_t id = 0;
    for (std::size_t i = 68; i < 72 && i < first.size(); ++i)
        id = id << 8 | static_cast<unsigned char>(first[i]);
    return id;
}

} // namespace

Result<TraceFormat> detectFormat(const std::string& path)
{
    const auto first = firstBytes(path, 4096);
    if (!first)
        return first.error();
    if (first->starts_with("SQLite format 3"))
        return applicationId(*first) == kApplicationId ? TraceFormat::RunFile : TraceFormat::NsightSqlite;
    const fs::path name(path);
    if (name.extension() == ".nsys-rep" || name.extension() == ".qdrep")
        return TraceFormat::NsightReport;
    if (name.extension() == ".sqlite" && first->find_first_not_of('\0') >= std::min<std::size_t>(first->size(), 16))
        return TraceFormat::NsightUnfinished;
    if (first->size() > 2 && (*first)[0] == '\x80' && (*first)[1] >= 2 && (*first)[1] <= 5)
        return TraceFormat::Pickle;
    if (isPipelineHeader(*first))
        return TraceFormat::PipelineCsv;
    if (isSpanTableHeader(*first))
        return TraceFormat::SpanTable;
    if (isSideTableHeader(*first))
        return TraceFormat::SideTable;
    const std::size_t at = first->find_first_not_of(" \t\r\n\xEF\xBB\xBF");
    if (at != std::string::npos && ((*first)[at] == '{' || (*first)[at] == '['))
        return TraceFormat::Json;
    return TraceFormat::Unknown;
}

Result<std::vector<SourceTrace>> readTraceFile(
    const std::string& path, const ImportRules& rules, const ReadProgressCallback& progress)
{
    const auto format = detectFormat(path);
    if (!format)
        return format.error();
    std::vector<SourceTrace> traces;
    switch (*format) {
    case TraceFormat::Json:
        return readJsonTraces(path, rules, progress);
    case TraceFormat::NsightSqlite:
        return readNsightExport(path, rules, progress);
    case TraceFormat::Pickle: {
        auto trace = readFlightRecorder(path, rules, progress);
        if (!trace)
            return trace.error();
        traces.push_back(std::move(*trace));
        return traces;
    }
    case TraceFormat::PipelineCsv:
        return readPipelineTimeline(path, progress);
    case TraceFormat::SpanTable:
        return readSpanTable(path, progress);
    case TraceFormat::SideTable:
        return Error("read " + path + ": holds no spans; it is read along with the spans.csv beside it");
    case TraceFormat::NsightReport:
        return Error("read " + path
            + ": only Nsight Systems itself can read its reports; export it with: " + nsightExportCommand(path));
    case TraceFormat::NsightUnfinished:
        return Error("read " + path
            + ": the export was ended before it was complete; make it again with: " + nsightExportCommand(path));
    default:
        return Error("read " + path
            + ": not a trace that this program knows (PyTorch, Chrome or MindStudio JSON, Nsight Systems SQLite, "
              "flight recorder, pipeline CSV, our own tables)");
    }
}

} // namespace rankscope::tracing

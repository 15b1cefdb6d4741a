#include "tracing/import/trace_format.h"

#include "tracing/import/byte_source.h"

#include <filesystem>

namespace rankscope::tracing {

Result<TraceFormat> detectFormat(const std::string& path)
{
    const auto first = firstBytes(path, 4096);
    if (!first)
        return first.error();
    if (first->starts_with("SQLite format 3"))
        return TraceFormat::NsightSqlite;
    const std::size_t at = first->find_first_not_of(" \t\r\n\xEF\xBB\xBF");
    if (at != std::string::npos && ((*first)[at] == '{' || (*first)[at] == '['))
        return TraceFormat::Json;
    if (std::filesystem::path(path).extension() == ".nsys-rep")
        return TraceFormat::NsightReport;
    return TraceFormat::Unknown;
}

Result<std::vector<SourceTrace>> readTraceFile(const std::string& path, const ReadProgressCallback& progress)
{
    const auto format = detectFormat(path);
    if (!format)
        return format.error();
    std::vector<SourceTrace> traces;
    switch (*format) {
    case TraceFormat::Json: {
        auto trace = readJsonTrace(path, progress);
        if (!trace)
            return trace.error();
        traces.push_back(std::move(*trace));
        return traces;
    }
    case TraceFormat::NsightReport:
        return Error("read " + path
            + ": Nsight Systems' own format can only be read by Nsight Systems; export it with: nsys export "
              "--type sqlite --lazy=false "
            + path);
    default:
        return Error("read " + path + ": not a trace that this program knows (PyTorch or Chrome JSON)");
    }
}

} // namespace rankscope::tracing

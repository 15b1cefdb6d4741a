#include "tests/fuzz/fuzz_input.h"

#include "tracing/import/clock_alignment.h"
#include "tracing/import/collective_matcher.h"
#include "tracing/import/flight_recorder/flight_recorder_reader.h"
#include "tracing/import/importer.h"
#include "tracing/import/nsight/nsight_reader.h"
#include "tracing/import/pipeline/pipeline_reader.h"
#include "tracing/import/table/span_table_reader.h"
#include "tracing/import/trace_format.h"

#include <cstdio>
#include <filesystem>
#include <string>

#include <unistd.h>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;

/// A file of our own in memory, where the system has a place for that.
std::string placeOf(const char* what)
{
    std::error_code error;
    const fs::path folder = fs::is_directory("/dev/shm", error) ? fs::path("/dev/shm") : fs::temp_directory_path();
    return (folder / ("rankscope-fuzz-" + std::to_string(getpid()) + what)).string();
}

void put(const std::string& path, const std::uint8_t* data, std::size_t size)
{
    if (std::FILE* file = std::fopen(path.c_str(), "wb")) {
        std::fwrite(data, 1, size, file);
        std::fclose(file);
    }
}

Result<std::vector<SourceTrace>> one(Result<SourceTrace> trace)
{
    if (!trace)
        return trace.error();
    std::vector<SourceTrace> traces;
    traces.push_back(std::move(*trace));
    return traces;
}

Result<std::vector<SourceTrace>> readAs(std::string_view format, const std::string& path)
{
    if (format == "json")
        return readJsonTraces(path);
    if (format == "nsight")
        return readNsightExport(path);
    if (format == "table")
        return readSpanTable(path);
    if (format == "pipeline")
        return readPipelineTimeline(path);
    return one(readFlightRecorder(path));
}

} // namespace

void readFuzzed(std::string_view format, const std::uint8_t* data, std::size_t size)
{
    const std::string path = placeOf(".input");
    put(path, data, size);
    if (format == "run_file") {
        const std::string out = placeOf(".out");
        static_cast<void>(importTraces({ path }, out));
        std::remove(out.c_str());
    } else if (auto traces = readAs(format, path)) {
        std::int32_t rank = 0;
        for (SourceTrace& trace : *traces) {
            trace.rank = trace.rank.value_or(rank++);
            findTimeBounds(trace);
        }
        const MatchResult matches = matchCollectives(*traces);
        static_cast<void>(alignClocks(*traces, matches));
    }
    std::remove(path.c_str());
}

} // namespace rankscope::tracing

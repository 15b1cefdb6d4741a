#include "tests/fuzz/fuzz_input.h"

#include "tracing/import/clock_alignment.h"
#include "tracing/import/collective_matcher.h"
#include "tracing/import/flight_recorder/flight_recorder_reader.h"
#include "tracing/import/importer.h"
#include "tracing/import/nsight/host_clock.h"
#include "tracing/import/nsight/nsight_reader.h"
#include "tracing/import/pipeline/pipeline_reader.h"
#include "tracing/import/rules/import_rules.h"
#include "tracing/import/table/span_table_reader.h"
#include "tracing/import/trace_format.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
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

/// Whatever a trace may be called: what the built-in rules know, and pieces of the input itself.
void askRules(const std::string& path, std::string_view text)
{
    const auto rules = ImportRules::load({ path });
    if (!rules)
        return;
    const auto ask = [&](std::string_view name) {
        static_cast<void>(rules->kernel(name));
        static_cast<void>(rules->operationOf(name));
        static_cast<void>(rules->dimensionOf(name));
        static_cast<void>(rules->annotation(name));
    };
    for (const char* name : { "", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "PP:2F0", "Forward 3", "mesh_tp",
             "ProfilerStep#99999999999999999999", "F-1@18446744073709551616" })
        ask(name);
    for (std::size_t at = 0; at < text.size(); at += 1 + text.size() / 16)
        ask(text.substr(at, 64));
}

/// Takes a number off the input; 0 where it ends.
template <typename Number> Number take(std::string_view& input)
{
    Number number{};
    const std::size_t size = std::min(sizeof number, input.size());
    std::memcpy(&number, input.data(), size);
    input.remove_prefix(size);
    return number;
}

/// Four ranks with the base, clock and collectives that the input tells; each collective takes a few bytes.
void matchAndAlign(std::string_view input)
{
    std::vector<SourceTrace> traces(4);
    for (std::size_t t = 0; t < traces.size(); ++t) {
        SourceTrace& trace = traces[t];
        const auto kind = take<std::uint8_t>(input);
        trace.rank = static_cast<std::int32_t>(t);
        trace.format = "nsight";
        trace.node = kind & 1 ? "a" : "";
        trace.clock = kind & 2 ? "b" : "";
        trace.baseNs = kind & 4 ? take<std::int64_t>(input) : 0;
        trace.metadata["system_clock_ns"] = std::to_string(kind & 8 ? take<std::int64_t>(input) : 0);
        trace.lanes.emplace_back();
        trace.groups.resize(2);
        trace.groups[1].size = take<std::int8_t>(input);
        trace.events = std::make_unique<EventSpool>();
    }
    while (!input.empty()) {
        const auto kind = take<std::uint8_t>(input);
        SourceTrace& trace = traces[kind % 4];
        SourcePart part;
        part.op = static_cast<CollectiveOp>(take<std::uint8_t>(input) % (static_cast<int>(CollectiveOp::Receive) + 1));
        part.beginNs = kind & 4 ? take<std::int64_t>(input) : trace.parts.empty() ? 0 : trace.parts.back().endNs;
        if (__builtin_add_overflow(part.beginNs, take<std::uint32_t>(input), &part.endNs))
            part.endNs = part.beginNs;
        part.group = kind >> 3 & 1;
        if (kind & 16)
            part.sequence = take<std::int16_t>(input);
        if (kind & 32)
            part.peer = take<std::int8_t>(input);
        trace.parts.push_back(part);
    }
    alignReportsOfHosts(traces);
    for (SourceTrace& trace : traces)
        findTimeBounds(trace);
    const MatchResult matches = matchCollectives(traces);
    static_cast<void>(alignClocks(traces, matches));
}

} // namespace

void readFuzzed(std::string_view format, const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (format == "clocks")
        return matchAndAlign(text);
    const std::string path = placeOf(".input");
    put(path, data, size);
    if (format == "rules") {
        askRules(path, text);
    } else if (format == "run_file" || format == "import") {
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

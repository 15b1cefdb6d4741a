#include "tracing/export/json_writer.h"
#include "tracing/export/traces/flow_id.h"
#include "tracing/export/traces/output_file.h"
#include "tracing/export/traces/run_values.h"
#include "tracing/export/traces/single_file.h"
#include "tracing/export/traces/span_source.h"
#include "tracing/export/traces/tally.h"
#include "tracing/export/traces/trace_export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>

namespace rankscope::tracing {

namespace {

/// Quoted; what is no UTF-8 becomes the replacement character, so that every reader takes the file.
std::string jsonText(std::string_view text)
{
    std::string out = "\"";
    for (const char letter : validUtf8(text)) {
        const auto byte = static_cast<unsigned char>(letter);
        if (letter == '"' || letter == '\\')
            out += { '\\', letter };
        else if (byte < 0x20)
            out += fmt::format("\\u{:04x}", byte);
        else
            out += letter;
    }
    return out + "\"";
}

/// ns as a decimal number of microseconds with exactly three digits behind the point, as PyTorch writes them.
void appendMicroseconds(std::string& text, std::int64_t ns)
{
    const std::uint64_t size = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
    fmt::format_to(std::back_inserter(text), "{}{}.{:03}", ns < 0 ? "-" : "", size / 1000, size % 1000);
}

/// As PyTorch's metadata and NCCL call them, so that other readers know them too.
std::string_view collectiveName(CollectiveOp op)
{
    switch (op) {
    case CollectiveOp::AllReduce:
        return "allreduce";
    case CollectiveOp::AllGather:
        return "all_gather";
    case CollectiveOp::ReduceScatter:
        return "reduce_scatter";
    case CollectiveOp::AllToAll:
        return "all_to_all";
    case CollectiveOp::Broadcast:
        return "broadcast";
    case CollectiveOp::Reduce:
        return "reduce";
    case CollectiveOp::Gather:
        return "gather";
    case CollectiveOp::Scatter:
        return "scatter";
    case CollectiveOp::Barrier:
        return "barrier";
    case CollectiveOp::Send:
        return "send";
    case CollectiveOp::Receive:
        return "recv";
    case CollectiveOp::Unknown:
        break;
    }
    return "unknown";
}

/// Words that tell a group's dimension, in PyTorch's way of describing meshes.
std::string groupDescription(Dimension dimension)
{
    switch (dimension) {
    case Dimension::None:
        return "undefined";
    case Dimension::World:
        return "default_pg";
    case Dimension::Embedding:
        return "embedding";
    default:
        return "mesh_" + std::string(toString(dimension));
    }
}

std::string_view categoryOf(const Lane& lane, const ExportedSpan& span)
{
    switch (span.kind) {
    case ExportKind::Kernel:
    case ExportKind::Collective:
        return "kernel";
    case ExportKind::Copy:
        return "gpu_memcpy";
    case ExportKind::HostCall:
        return "cuda_runtime";
    case ExportKind::Bubble:
        return "bubble";
    case ExportKind::Range:
        break;
    }
    return lane.kind == LaneKind::Copy ? "cuda_sync" : "user_annotation";
}

class ChromeWriter {
public:
    ChromeWriter(SpanSource& source, OutputFile& file, Tally& tally)
        : source_(source)
        , facts_(source.facts())
        , file_(file)
        , tally_(tally)
    {
        for (const Communicator& communicator : facts_.communicators)
            groups_[communicator.id] = groupArguments(communicator);
    }

    Status write()
    {
        writeHead();
        for (const RankInfo& rank : facts_.ranks)
            writeProcess(rank);
        for (const Lane& lane : facts_.lanes) {
            const Status done = lane.kind == LaneKind::Counter ? writeCounter(lane) : writeLane(lane);
            if (!done || tally_.isCancelled() || !file_.good())
                return done;
        }
        file_.write("\n]}\n");
        return Done{};
    }

private:
    /// The first key tells our importer that one file holds all ranks, a process each.
    void writeHead()
    {
        JsonWriter json;
        json.beginObject().member("world_size", facts_.run.worldSize).member("name", facts_.run.name);
        json.key("ranks").beginArray();
        for (const RankInfo& rank : facts_.ranks) {
            json.beginObject().member("rank", rank.rank).member("node", rank.node).member("device", rank.device);
            json.member("stage", rank.stage)
                .member("dp", rank.dp)
                .member("tp", rank.tp)
                .member("ep", rank.ep)
                .member("clock_error_ns", rank.clockErrorNs)
                .member("peak_flops", rank.peakFlops)
                .endObject();
        }
        json.endArray().key("run").beginObject();
        for (const auto& [key, value] : runValues(facts_))
            json.member(key.c_str(), value);
        json.endObject().endObject();
        std::string ranks = json.text();
        ranks.pop_back(); // its line break
        file_.write(fmt::format("{{\"rankscope\": {},\n\"baseTimeNanoseconds\": {},\n\"displayTimeUnit\": \"ns\",\n"
                                "\"traceEvents\": [",
            ranks, facts_.run.originUtcNs));
    }

    void writeProcess(const RankInfo& rank)
    {
        writeMetadata("process_name", rank.rank, 0, fmt::format("\"name\": \"rank {}\"", rank.rank));
        std::string labels = rank.node;
        if (!rank.device.empty())
            labels.append(labels.empty() ? "" : ", ").append(rank.device);
        writeMetadata("process_labels", rank.rank, 0, "\"labels\": " + jsonText(labels));
        writeMetadata("process_sort_index", rank.rank, 0, fmt::format("\"sort_index\": {}", rank.rank));
    }

    void writeMetadata(std::string_view what, std::int32_t rank, std::int32_t thread, std::string_view argument)
    {
        separate();
        fmt::format_to(std::back_inserter(text_),
            R"({{"ph": "M", "name": "{}", "pid": {}, "tid": {}, "args": {{{}}}}})", what, rank, thread, argument);
        file_.write(text_);
    }

    void separate()
    {
        text_ = isFirst_ ? "\n" : ",\n";
        isFirst_ = false;
    }

    Status writeCounter(const Lane& lane)
    {
        const std::string name = jsonText(lane.name);
        return source_.visitSamples(lane, [&](const CounterSample& sample) {
            separate();
            fmt::format_to(
                std::back_inserter(text_), R"({{"ph": "C", "name": {}, "pid": {}, "tid": 0, "ts": )", name, lane.rank);
            appendMicroseconds(text_, sample.timeNs);
            fmt::format_to(std::back_inserter(text_), R"(, "args": {{"value": {}}}}})", sample.value);
            file_.write(text_);
            return tally_.addSample(file_);
        });
    }

    Status writeLane(const Lane& lane)
    {
        const auto thread = static_cast<std::int32_t>(raw(lane.id));
        writeMetadata("thread_name", lane.rank, thread, "\"name\": " + jsonText(lane.name));
        writeMetadata("thread_sort_index", lane.rank, thread, fmt::format("\"sort_index\": {}", thread));
        for (std::size_t kind = 0; kind < kExportKindCount; ++kind) {
            const Status done = source_.visit(lane, static_cast<ExportKind>(kind), [&](const ExportedSpan& span) {
                writeSpan(lane, span);
                writeFlows(lane, span);
                return tally_.addSpan(file_);
            });
            if (!done || tally_.isCancelled() || !file_.good())
                return done;
        }
        return Done{};
    }

    std::string nameOf(const ExportedSpan& span) const
    {
        const bool isStep = span.kind == ExportKind::Range && span.range == RangeKind::Step && span.step;
        if (isStep && !span.name.starts_with("ProfilerStep#"))
            return fmt::format("ProfilerStep#{}", *span.step); // what readers of such files look for
        if (span.kind == ExportKind::Bubble)
            return fmt::format("bubble {}", toString(span.phase));
        return std::string(span.name);
    }

    void writeSpan(const Lane& lane, const ExportedSpan& span)
    {
        separate();
        fmt::format_to(std::back_inserter(text_),
            R"({{"ph": "X", "cat": "{}", "name": {}, "pid": {}, "tid": {}, "ts": )", categoryOf(lane, span),
            jsonText(nameOf(span)), lane.rank, raw(lane.id));
        appendMicroseconds(text_, span.when.beginNs);
        text_ += ", \"dur\": ";
        appendMicroseconds(text_, span.when.durationNs());
        hasArguments_ = false;
        writeArguments(span);
        text_ += hasArguments_ ? "}}" : "}";
        file_.write(text_);
    }

    void argument(std::string_view key)
    {
        text_ += hasArguments_ ? ", \"" : ", \"args\": {\"";
        text_ += key;
        text_ += "\": ";
        hasArguments_ = true;
    }
    template <typename T> void number(std::string_view key, const std::optional<T>& value)
    {
        if (!value)
            return;
        argument(key);
        fmt::format_to(std::back_inserter(text_), "{}", *value);
    }
    void word(std::string_view key, std::string_view value)
    {
        argument(key);
        fmt::format_to(std::back_inserter(text_), "\"{}\"", value);
    }

    void writeArguments(const ExportedSpan& span)
    {
        number("correlation", span.correlation);
        if (span.kind == ExportKind::Collective)
            writeCollective(span);
        else
            number("bytes", span.bytes);
        number("flop", span.flop);
        number("redundant_flop", span.redundantFlop);
        number("launch_group", span.launchGroup);
        if (span.threads != 1)
            number("threads", std::optional(span.threads));
        if (span.kind == ExportKind::Kernel && span.dtype != DataType::Unknown)
            word("dtype", toString(span.dtype));
        number("cpu_ns", span.cpuNs);
        number("work", span.work);
        number("step", span.step);
        number("micro_batch", span.microBatch);
        if (span.kind == ExportKind::Bubble) {
            number("awaited rank", span.peer);
            word("phase", toString(span.phase));
        }
        if (span.pass != Pass::None)
            word("pass", toString(span.pass));
        if (span.kind == ExportKind::Range && span.range != RangeKind::Annotation)
            word("kind", toString(span.range));
    }

    void writeCollective(const ExportedSpan& span)
    {
        word("Collective name", collectiveName(span.op));
        if (span.bytes) { // PyTorch knows elements only
            number("In msg nelems", span.bytes);
            number("Out msg nelems", span.bytes);
            word("dtype", "Byte");
        }
        number("Seq", span.sequence);
        if (isPointToPoint(span.op))
            number(span.op == CollectiveOp::Send ? "Dst Rank" : "Src Rank", placeOfPeer(span));
        else
            number("Root Rank", span.peer);
        if (!span.communicator)
            return;
        text_ += ", ";
        text_ += groups_[span.communicator->id];
    }

    /// PyTorch counts the ranks of a message within their group.
    static std::optional<std::int32_t> placeOfPeer(const ExportedSpan& span)
    {
        if (!span.peer || !span.communicator)
            return span.peer;
        const auto& members = span.communicator->members;
        const auto found = std::ranges::find(members, *span.peer);
        return found == members.end() ? span.peer : std::optional(static_cast<std::int32_t>(found - members.begin()));
    }

    static std::string groupArguments(const Communicator& communicator)
    {
        std::string text = "\"Process Group Name\": " + jsonText(communicator.name)
            + ", \"Process Group Description\": " + jsonText(groupDescription(communicator.dimension));
        if (!communicator.members.empty())
            text += fmt::format(R"(, "Group size": {}, "Process Group Ranks": "[{}]")", communicator.members.size(),
                fmt::join(communicator.members, ", "));
        return text;
    }

    /// From who came first to the others; from a host's call to what it launched.
    void writeFlows(const Lane& lane, const ExportedSpan& span)
    {
        if (span.partsPresent > 1)
            writeFlow(lane, span, "collective", span.isFirst, static_cast<std::uint64_t>(raw(span.instance)));
        if (span.correlation && span.kind != ExportKind::Range)
            writeFlow(lane, span, "ac2g", span.kind == ExportKind::HostCall, launchFlow(lane.rank, *span.correlation));
    }

    void writeFlow(
        const Lane& lane, const ExportedSpan& span, std::string_view category, bool isStart, std::uint64_t id)
    {
        separate();
        fmt::format_to(std::back_inserter(text_),
            R"({{"ph": "{}", "cat": "{}", "name": "{}", "id": {}, "pid": {}, "tid": {}, "ts": )", isStart ? "s" : "f",
            category, category, id, lane.rank, raw(lane.id));
        appendMicroseconds(text_, span.when.beginNs);
        text_ += isStart ? "}" : R"(, "bp": "e"})";
        file_.write(text_);
    }

    SpanSource& source_;
    const RunFacts& facts_;
    OutputFile& file_;
    Tally& tally_;
    std::map<CommunicatorId, std::string> groups_;
    std::string text_;
    bool isFirst_ = true;
    bool hasArguments_ = false;
};

} // namespace

ExportOutcome exportChrome(
    TraceReader& reader, const RunFacts& facts, const std::string& path, const ExportOptions& options)
{
    return exportToFile<ChromeWriter>(reader, facts, path, options);
}

} // namespace rankscope::tracing

#include "tracing/import/json/trace_event_mapper.h"

#include "tracing/import/json/decimal.h"
#include "tracing/import/kind_words.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <utility>

namespace rankscope::tracing {

namespace {

/// NVIDIA's, AMD's and Intel's; Habana's; Meta's.
bool isKernelCategory(std::string_view c)
{
    return c == "kernel" || c == "Kernel" || c == "hpu_op" || c == "mtia_ccp_events";
}
bool isCopyCategory(std::string_view c)
{
    return c == "gpu_memcpy" || c == "gpu_memset" || c == "Memcpy" || c == "Memset";
}
bool isCallCategory(std::string_view c)
{
    return c == "cuda_runtime" || c == "cuda_driver" || c == "Runtime" || c == "runtime" || c.ends_with("_runtime")
        || c.ends_with("_driver");
}
/// An argument that is a rank, a micro-batch or a number of threads.
std::optional<std::int32_t> smallNumber(const JsonEvent& event, std::string_view key)
{
    const auto number = event.number(key);
    return number && *number >= 0 && *number < INT32_MAX ? std::optional(static_cast<std::int32_t>(*number))
                                                         : std::nullopt;
}

KernelFacts factsOf(const JsonEvent& event)
{
    KernelFacts facts;
    facts.work = event.number("work");
    facts.flop = event.number("flop");
    facts.bytes = event.number("bytes");
    facts.redundantFlop = event.number("redundant_flop");
    facts.dtype = kindOfWord(event.argument("dtype"), DataType::Float8).value_or(DataType::Unknown);
    facts.threads = std::max(1, smallNumber(event, "threads").value_or(1));
    return facts;
}

bool isFlow(char phase) { return phase == 's' || phase == 't' || phase == 'f'; }

/// MindStudio and others without categories tell by the process' name what a lane is.
bool isHardwareProcess(std::string_view name)
{
    return name.find("Ascend Hardware") != std::string_view::npos || name.find("HCCL") != std::string_view::npos
        || name == "Communication";
}

} // namespace

TraceEventMapper::TraceEventMapper(const ImportRules& rules, SourceTrace& trace, bool isOwn)
    : rules_(rules)
    , trace_(trace)
    , isOwn_(isOwn)
    , linker_(rules, trace)
    , notes_(rules, trace)
{
    if (!trace_.events)
        trace_.events = std::make_unique<EventSpool>();
}

std::optional<TraceEventMapper::Times> TraceEventMapper::timesOf(const JsonEvent& event)
{
    const auto begin = microsecondsToNs(event.timestamp);
    if (!begin) {
        lose(event.timestamp.empty() ? "event without a time" : "time that is no number");
        return std::nullopt;
    }
    trace_.fractionalTimes = trace_.fractionalTimes || event.timestamp.find('.') != std::string_view::npos;
    std::int64_t duration = 0;
    if (!event.duration.empty()) {
        const auto parsed = microsecondsToNs(event.duration);
        if (!parsed)
            lose("duration that is no number");
        else if (*parsed < 0)
            lose("negative duration");
        else
            duration = *parsed;
    }
    std::int64_t end = 0;
    if (__builtin_add_overflow(*begin, duration, &end)) {
        lose("time beyond 64 bits");
        return std::nullopt;
    }
    lastNs_ = std::max(lastNs_, end);
    return Times{ *begin, end };
}

void TraceEventMapper::add(const JsonEvent& event)
{
    const char phase = event.phase;
    const bool isFirst = std::exchange(isFirst_, false);
    if (phase == 'M')
        return metadata(event);
    if (isFlow(phase))
        return; // the correlation ids of the two ends say the same
    if (phase == 0)
        return lose("event without a phase");
    const auto times = timesOf(event);
    if (!times)
        return;
    if (isFirst && phase == 'X' && !event.category.empty() && event.category != "Trace" && !event.duration.empty())
        trace_.metadata["first_event_ns"] = std::to_string(times->beginNs);
    switch (phase) {
    case 'X':
        return complete(event, *times);
    case 'B':
        return begin(event, times->beginNs);
    case 'E':
        return end(event, times->beginNs);
    case 'b':
    case 'e':
    case 'n':
        return async(event, times->beginNs);
    case 'C':
        return counter(event, times->beginNs);
    case 'i':
    case 'I':
    case 'R':
        return range(event, { times->beginNs, times->beginNs }, Role::Host);
    default:
        lose(std::string("phase ") + phase + " that is not read");
    }
}

void TraceEventMapper::complete(const JsonEvent& event, Times times)
{
    const std::string_view category = event.category;
    if (isKernelCategory(category))
        return kernel(event, times);
    if (isCopyCategory(category))
        return copy(event, times);
    if (isCallCategory(category))
        return hostCall(event, times);
    if (category == "Trace")
        return; // the profiler's own window
    if (category == "cuda_sync")
        return range(event, times, Role::Sync);
    if (category == "gpu_user_annotation")
        return range(event, times, Role::Device);
    if (isOwn_ && category == "bubble")
        return append(laneOf(event, Role::Compute), times, event, SourceKind::Bubble, SourceEvent::kNone);
    if (category.empty() && isHardwareProcess(processNames_[trace_.strings.intern(event.processId)])) {
        if (event.name.starts_with("MEMCPY") || event.name.starts_with("MEMSET"))
            return copy(event, times);
        return kernel(event, times);
    }
    const bool describes = event.name == "record_param_comms" || event.name.starts_with("nccl:")
        || !event.argument("Collective name").empty();
    if (describes)
        linker_.addDescription(threadOf(event), times.beginNs, times.endNs, event);
    range(event, times, Role::Host);
    note(event, times);
}

/// Our own export says itself what is a step, and its kernels say their pass.
void TraceEventMapper::note(const JsonEvent& event, Times times)
{
    if (!isOwn_)
        return notes_.note(trace_.strings.intern(event.name), times.beginNs, times.endNs);
    const auto number = event.argument("kind") == toString(RangeKind::Step) ? event.number("step") : std::nullopt;
    if (number)
        trace_.steps.push_back({ *number, times.beginNs, times.endNs });
}

/// Metadata first, then the name.
bool TraceEventMapper::communicates(const JsonEvent& event)
{
    if (!event.argument("Collective name").empty())
        return true;
    const std::uint32_t name = trace_.strings.intern(event.name);
    if (name >= communicates_.size())
        communicates_.resize(name + 1);
    if (!communicates_[name])
        communicates_[name] = rules_.kernel(event.name).communication;
    return *communicates_[name];
}

void TraceEventMapper::kernel(const JsonEvent& event, Times times)
{
    if (communicates(event)) {
        linker_.addKernel(laneOf(event, Role::Communication), times.beginNs, times.endNs, event);
        return isOwn_ ? readOwnArguments(event, trace_.parts.back()) : void();
    }
    append(laneOf(event, Role::Compute), times, event, SourceKind::Kernel, SourceEvent::kNone);
}

void TraceEventMapper::copy(const JsonEvent& event, Times times)
{
    append(
        laneOf(event, Role::Copy), times, event, SourceKind::Copy, event.number("bytes").value_or(SourceEvent::kNone));
}

void TraceEventMapper::hostCall(const JsonEvent& event, Times times)
{
    append(laneOf(event, Role::Host), times, event, SourceKind::HostCall, SourceEvent::kNone);
}

void TraceEventMapper::range(const JsonEvent& event, Times times, Role role)
{
    append(laneOf(event, role), times, event, SourceKind::Range, SourceEvent::kNone);
}

void TraceEventMapper::append(
    std::uint32_t lane, Times times, const JsonEvent& event, SourceKind kind, std::int64_t extra)
{
    SourceEvent out;
    out.beginNs = times.beginNs;
    out.endNs = times.endNs;
    out.lane = lane;
    out.name = trace_.strings.intern(event.name);
    out.kind = kind;
    out.extra = extra;
    if (kind != SourceKind::Range || trace_.lanes[lane].kind == LaneKind::Copy)
        out.correlation = event.number("correlation").value_or(SourceEvent::kNone);
    if (kind == SourceKind::Range)
        notes_.describe(out);
    if (isOwn_)
        readOwnArguments(event, out);
    trace_.events->append(out);
}

void TraceEventMapper::readOwnArguments(const JsonEvent& event, SourcePart& out)
{
    out.microBatch = smallNumber(event, "micro_batch");
    out.cpuNs = event.number("cpu_ns");
    out.launchGroup = event.number("launch_group");
}

void TraceEventMapper::readOwnArguments(const JsonEvent& event, SourceEvent& out)
{
    out.pass = kindOfWord(event.argument("pass"), Pass::Optimizer).value_or(Pass::None);
    out.microBatch = smallNumber(event, "micro_batch").value_or(-1);
    out.cpuNs = event.number("cpu_ns").value_or(SourceEvent::kNone);
    if (out.kind == SourceKind::Kernel)
        out.extra = trace_.kernelFacts.intern(factsOf(event));
    if (out.kind == SourceKind::Bubble) {
        out.name = trace_.strings.intern("bubble");
        out.phase = kindOfWord(event.argument("phase"), BubblePhase::Drain).value_or(BubblePhase::Fill);
        out.extra = smallNumber(event, "awaited rank").value_or(SourceEvent::kNone);
    }
    if (out.kind != SourceKind::Range)
        return;
    out.range = kindOfWord(event.argument("kind"), RangeKind::Recovery).value_or(RangeKind::Annotation);
    out.extra = event.number("step").value_or(SourceEvent::kNone);
}

std::uint64_t TraceEventMapper::threadOf(const JsonEvent& event)
{
    return std::uint64_t{ trace_.strings.intern(event.processId) } << 32 | trace_.strings.intern(event.threadId);
}

std::uint32_t TraceEventMapper::laneOf(const JsonEvent& event, Role role)
{
    const std::uint64_t thread = threadOf(event);
    const std::uint64_t key = thread * 8 + static_cast<std::uint64_t>(role); // process numbers stay far below 2^29
    const auto [it, isNew] = lanes_.try_emplace(key, static_cast<std::uint32_t>(trace_.lanes.size()));
    if (isNew) {
        SourceLane lane;
        lane.kind = role == Role::Compute              ? LaneKind::Compute
            : role == Role::Communication              ? LaneKind::Communication
            : role == Role::Copy || role == Role::Sync ? LaneKind::Copy
                                                       : LaneKind::Host;
        trace_.lanes.push_back(lane);
        origins_.push_back({ static_cast<std::uint32_t>(thread >> 32), static_cast<std::uint32_t>(thread), role });
    }
    return it->second;
}

void TraceEventMapper::begin(const JsonEvent& event, std::int64_t at)
{
    open_[threadOf(event)].push_back({ at, trace_.strings.intern(event.name) });
}

void TraceEventMapper::end(const JsonEvent& event, std::int64_t at)
{
    auto& stack = open_[threadOf(event)];
    if (stack.empty())
        return lose("end without a begin");
    const OpenSpan span = stack.back();
    stack.pop_back();
    SourceEvent out;
    out.beginNs = span.beginNs;
    out.endNs = std::max(span.beginNs, at);
    if (at < span.beginNs)
        lose("negative duration");
    out.lane = laneOf(event, Role::Host);
    out.name = span.name;
    notes_.describe(out);
    notes_.note(span.name, out.beginNs, out.endNs);
    trace_.events->append(out);
}

void TraceEventMapper::async(const JsonEvent& event, std::int64_t at)
{
    scratch_.assign(event.category).append("\n").append(event.id).append("\n").append(event.name);
    if (event.phase == 'b') {
        openAsync_[scratch_] = { at, trace_.strings.intern(event.name) };
        return;
    }
    const auto it = openAsync_.find(scratch_);
    if (event.phase == 'n' || it == openAsync_.end())
        return event.phase == 'n' ? range(event, { at, at }, Role::Async) : lose("end without a begin");
    SourceEvent out;
    out.beginNs = it->second.beginNs;
    out.endNs = std::max(it->second.beginNs, at);
    out.lane = laneOf(event, Role::Async);
    out.name = it->second.name;
    notes_.describe(out);
    trace_.events->append(out);
    openAsync_.erase(it);
}

void TraceEventMapper::counter(const JsonEvent& event, std::int64_t at)
{
    for (const JsonEvent::Argument& argument : event.arguments) {
        double value = 0;
        const auto [end, code]
            = std::from_chars(argument.value.data(), argument.value.data() + argument.value.size(), value);
        if (code != std::errc() || end != argument.value.data() + argument.value.size())
            continue;
        scratch_.assign(event.name);
        if (event.arguments.size() > 1 || (argument.key != "value" && argument.key != event.name))
            scratch_.append(" ").append(argument.key);
        const std::uint32_t name = trace_.strings.intern(scratch_);
        const std::uint64_t key = (std::uint64_t{ trace_.strings.intern(event.processId) } << 32 | name) * 8
            + static_cast<std::uint64_t>(Role::Counter);
        const auto [it, isNew] = lanes_.try_emplace(key, static_cast<std::uint32_t>(trace_.lanes.size()));
        if (isNew) {
            trace_.lanes.push_back({ LaneKind::Counter, Dimension::None, scratch_, "" });
            origins_.push_back({ static_cast<std::uint32_t>(key / 8 >> 32), name, Role::Counter });
        }
        SourceEvent out;
        out.beginNs = out.endNs = at;
        out.extra = std::bit_cast<std::int64_t>(value);
        out.lane = it->second;
        out.name = name;
        out.kind = SourceKind::Counter;
        trace_.events->append(out);
    }
}

void TraceEventMapper::metadata(const JsonEvent& event)
{
    const std::string_view name = event.argument("name");
    if (event.name == "process_name")
        processNames_[trace_.strings.intern(event.processId)] = name;
    else if (event.name == "thread_name")
        threadNames_[threadOf(event)] = name;
}

/// "all-to-all" where the lane holds nothing else, else "communication".
std::string TraceEventMapper::communicationName(std::size_t lane) const
{
    std::optional<CollectiveOp> only;
    for (const SourcePart& part : trace_.parts) {
        if (part.lane != lane || part.op == CollectiveOp::Unknown)
            continue;
        if (only && *only != part.op)
            return "communication";
        only = part.op;
    }
    return only ? std::string(toString(*only)) : "communication";
}

std::string TraceEventMapper::nameOf(std::size_t lane) const
{
    const LaneOrigin& origin = origins_[lane];
    const std::string& thread = trace_.strings[origin.thread];
    const std::string number = thread.starts_with("stream ") ? thread.substr(7) : thread;
    switch (origin.role) {
    case Role::Compute:
        return "stream " + number;
    case Role::Communication:
        return communicationName(lane) + " " + number;
    case Role::Copy:
        return "copy " + number;
    case Role::Sync:
        return "sync " + number;
    case Role::Device:
        return "annotation " + number;
    default:
        break;
    }
    const auto named = threadNames_.find(std::uint64_t{ origin.process } << 32 | origin.thread);
    const auto process = processNames_.find(origin.process);
    std::string name = thread.empty() ? "marks" : "thread " + thread;
    if (named != threadNames_.end() && !named->second.empty())
        name = named->second;
    else if (process != processNames_.end() && (thread.empty() || thread == "0"))
        name = process->second;
    return origin.role == Role::Async ? "async " + name : name;
}

void TraceEventMapper::nameLanes()
{
    std::map<std::string, std::size_t> uses;
    for (std::size_t i = 0; i < trace_.lanes.size(); ++i) {
        if (origins_[i].role != Role::Counter)
            trace_.lanes[i].name = nameOf(i);
        ++uses[trace_.lanes[i].name];
    }
    // Two devices or processes of one rank stay apart.
    for (std::size_t i = 0; i < trace_.lanes.size(); ++i) {
        if (uses[trace_.lanes[i].name] > 1)
            trace_.lanes[i].name += " · " + trace_.strings[origins_[i].process];
    }
}

Status TraceEventMapper::finish()
{
    for (auto& [thread, stack] : open_) {
        for (const OpenSpan& span : stack) {
            const auto lane = lanes_.find(thread * 8 + static_cast<std::uint64_t>(Role::Host));
            lose("span without an end");
            if (lane == lanes_.end())
                continue;
            SourceEvent out;
            out.beginNs = span.beginNs;
            out.endNs = std::max(span.beginNs, lastNs_);
            out.lane = lane->second;
            out.name = span.name;
            notes_.describe(out);
            notes_.note(span.name, out.beginNs, out.endNs);
            trace_.events->append(out);
        }
    }
    if (!openAsync_.empty())
        lose("span without an end", static_cast<std::int64_t>(openAsync_.size()));
    trace_.events->close();
    std::vector<std::uint64_t> threads;
    for (const LaneOrigin& origin : origins_)
        threads.push_back(std::uint64_t{ origin.process } << 32 | origin.thread);
    if (Status status = linker_.link(threads); !status)
        return status;
    notes_.finish();
    if (Status status = notes_.linkCalls(); !status)
        return status;
    nameLanes();
    for (const auto& [kind, count] : losses_)
        trace_.losses.push_back({ kind, count, trace_.path });
    return Done{};
}

} // namespace rankscope::tracing

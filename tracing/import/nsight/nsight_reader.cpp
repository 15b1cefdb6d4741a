#include "tracing/import/nsight/nsight_reader.h"

#include "tracing/import/annotation_notes.h"
#include "tracing/import/nsight/counter_tables.h"
#include "tracing/import/nsight/export_units.h"
#include "tracing/import/nsight/mpi_tables.h"
#include "tracing/import/nsight/nccl_linker.h"
#include "tracing/import/nsight/nvtx_payloads.h"
#include "tracing/import/part_rules.h"
#include "tracing/model/shell_quote.h"

#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>
#include <unordered_map>
#include <utility>

namespace rankscope::tracing {

namespace {

constexpr std::int64_t kRowsBetweenReports = 1 << 16;
// NVTX_EVENTS.eventType
constexpr std::int64_t kMark = 34, kThreadName = 39, kPushPop = 59, kStartEnd = 60;

std::string copyName(std::int64_t kind)
{
    static constexpr std::array<const char*, 12> kNames{ "Memcpy", "Memcpy HtoD", "Memcpy DtoH", "Memcpy HtoA",
        "Memcpy AtoH", "Memcpy AtoA", "Memcpy AtoD", "Memcpy DtoA", "Memcpy DtoD", "Memcpy HtoH", "Memcpy PtoP",
        "Memcpy unified" };
    return kNames[kind >= 0 && kind < static_cast<std::int64_t>(kNames.size()) ? static_cast<std::size_t>(kind) : 0];
}

class NsightReader {
public:
    NsightReader(ExportTables& tables, ExportUnits& units, const ImportRules& rules, std::string path,
        const ReadProgressCallback& progress)
        : tables_(tables)
        , units_(units)
        , rules_(rules)
        , path_(std::move(path))
        , progress_(progress)
        , linker_(rules)
        , launches_(units.all().size())
    {
        for (ExportUnit& unit : units.all())
            notes_.emplace_back(rules, unit.trace);
        std::error_code ignored;
        const auto size = std::filesystem::file_size(path_, ignored);
        fileBytes_ = ignored ? 0 : size;
    }

    Result<std::vector<SourceTrace>> read()
    {
        for (const auto step : { &NsightReader::readThreadNames, &NsightReader::readKernels, &NsightReader::readGraphs,
                 &NsightReader::readCopies, &NsightReader::readSynchronization, &NsightReader::readEvents,
                 &NsightReader::readRanges, &NsightReader::readCalls, &NsightReader::readOverhead,
                 &NsightReader::readMpi, &NsightReader::readCounters, &NsightReader::readDiagnostics }) {
            if (Status status = (this->*step)(); !status)
                return status.error();
        }
        finish();
        std::vector<SourceTrace> traces;
        for (ExportUnit& unit : units_.all())
            traces.push_back(std::move(unit.trace));
        return traces;
    }

private:
    struct Times {
        std::int64_t beginNs = 0, endNs = 0;
    };

    Status readThreadNames();
    Status readKernels();
    Status readGraphs();
    Status readCopies();
    Status readSynchronization();
    Status readEvents();
    Status readOverhead();
    Status readCalls();
    Status readRanges();
    Status readMpi();
    Status readCounters();
    Status readDiagnostics();
    void addLaunch(ExportUnit& unit, std::int64_t thread, std::int64_t beginNs, std::int64_t correlation);
    void finish();

    /// Counts the row, now and then tells the caller.
    Status tick()
    {
        if (++rows_ % kRowsBetweenReports == 0 && progress_ && !progress_({ fileBytes_ / 2, fileBytes_, rows_ }))
            return Error("read " + path_ + ": cancelled");
        return Done{};
    }
    void lose(const std::string& kind, std::int64_t count = 1) { losses_[kind] += count; }

    std::optional<Times> timesOf(const Statement& row)
    {
        if (row.isNull(0)) {
            lose("event without a time");
            return std::nullopt;
        }
        Times at{ row.integer(0), row.isNull(1) ? row.integer(0) : row.integer(1) };
        if (at.endNs < at.beginNs) {
            lose("negative duration");
            at.endNs = at.beginNs;
        }
        lastNs_ = std::max(lastNs_, at.endNs);
        return at;
    }

    void append(ExportUnit& unit, std::uint32_t lane, Times at, const std::string& name, SourceKind kind,
        std::int64_t correlation = SourceEvent::kNone, std::int64_t extra = SourceEvent::kNone)
    {
        SourceEvent event;
        event.beginNs = at.beginNs;
        event.endNs = at.endNs;
        event.correlation = correlation;
        event.extra = extra;
        event.lane = lane;
        event.name = unit.trace.strings.intern(name);
        event.kind = kind;
        if (kind == SourceKind::Range)
            notesOf(unit).describe(event);
        unit.trace.events->append(event);
    }
    std::size_t placeOf(const ExportUnit& unit) { return static_cast<std::size_t>(&unit - units_.all().data()); }
    AnnotationNotes& notesOf(const ExportUnit& unit) { return notes_[placeOf(unit)]; }

    std::uint32_t streamLane(
        ExportUnit& unit, LaneKind kind, const char* role, std::int64_t device, std::int64_t stream)
    {
        const std::string prefix = *role ? std::string(role) + " " : "";
        constexpr std::int64_t kNone = 0xFFFFFFFF; // CUPTI's word for "of no one stream"
        const std::string which = stream == kNone ? "all streams" : "stream " + std::to_string(stream);
        return unit.lane(
            kind, role, device << 32 | (stream & kNone), prefix + which + " · GPU " + std::to_string(device));
    }

    /// Streams have other numbers in every process; ranks that run one program use them in the same order, and that is
    /// what the name begins with: collectives are matched by it.
    std::uint32_t communicationLane(ExportUnit& unit, std::int64_t device, std::int64_t stream)
    {
        const std::int64_t key = device << 32 | (stream & 0xFFFFFFFF);
        const auto& known = unit.lanes;
        const auto before
            = std::ranges::count_if(known, [](const auto& lane) { return lane.first.first == "communication"; });
        const bool isNew = !known.contains({ "communication", key });
        const std::string ordinal = before > 0 ? " " + std::to_string(before + 1) : "";
        return unit.lane(LaneKind::Communication, "communication", key,
            !isNew ? ""
                   : "communication" + ordinal + " · stream " + std::to_string(stream) + " · GPU "
                    + std::to_string(device));
    }

    std::uint32_t threadLane(ExportUnit& unit, const char* role, std::int64_t globalTid)
    {
        const auto named = threadNames_.find(globalTid);
        std::string name = *role ? std::string(role) + " " : "";
        name += named != threadNames_.end() && !named->second.empty() ? named->second
                                                                      : "thread " + std::to_string(tidOf(globalTid));
        return unit.lane(LaneKind::Host, role, globalTid, name + " · " + std::to_string(tidOf(globalTid)));
    }

    ExportUnit* ofProcess(std::int64_t globalTid)
    {
        ExportUnit* unit = units_.ofProcess(globalTid);
        if (!unit)
            lose("event of a process without a device");
        return unit;
    }

    bool communicates(std::int64_t nameId, const std::string& name)
    {
        const auto [it, isNew] = communicates_.try_emplace(nameId, false);
        if (isNew)
            it->second = rules_.kernel(name).communication;
        return it->second;
    }

    std::string nameOfCopy(const Statement& row);
    void addRange(const Statement& row, ExportUnit& unit, std::int64_t type, std::int64_t thread, Times at);

    ExportTables& tables_;
    ExportUnits& units_;
    const ImportRules& rules_;
    std::string path_;
    const ReadProgressCallback& progress_;
    std::uint64_t fileBytes_ = 0;
    std::int64_t rows_ = 0;
    std::int64_t lastNs_ = 0;
    NcclLinker linker_;
    NvtxPayloads payloads_;
    std::vector<AnnotationNotes> notes_; ///< by unit
    std::vector<std::vector<AnnotationNotes::Launch>> launches_; ///< by unit: where annotations can tell about them
    std::map<std::int64_t, std::string> memoryKinds_;
    std::map<std::int64_t, std::string> threadNames_;
    struct OpenRange {
        ExportUnit* unit = nullptr;
        std::uint32_t lane = 0;
        std::int64_t beginNs = 0;
        std::string name;
    };
    std::vector<OpenRange> open_;
    std::unordered_map<std::int64_t, bool> communicates_; ///< by kernel name
    std::map<std::string, std::int64_t> losses_;
    std::map<std::string, std::int64_t> warnings_;
};

Status NsightReader::readThreadNames()
{
    return tables_.each("ThreadNames", { "globalTid", "nameId" }, [&](const Statement& row) -> Status {
        threadNames_.insert_or_assign(row.integer(0), tables_.string(row.integer(1)));
        return tick();
    });
}

Status NsightReader::readKernels()
{
    return tables_.each("CUPTI_ACTIVITY_KIND_KERNEL",
        { "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "demangledName", "shortName",
            "mangledName" },
        [&](const Statement& row) -> Status {
            const std::int64_t device = row.integer(2), process = processOf(row.integer(5));
            ExportUnit* unit = units_.ofDevice(process, device);
            const auto at = timesOf(row);
            if (!unit || !at)
                return tick();
            int column = 6; // the first that has a name
            while (column < 8 && tables_.string(row.integer(column)).empty())
                ++column;
            const std::string& name = tables_.string(row.integer(column));
            const auto correlation = row.optionalInteger(4);
            if (!communicates(row.integer(column), name)) {
                append(*unit, streamLane(*unit, LaneKind::Compute, "", device, row.integer(3)), *at, name,
                    SourceKind::Kernel, correlation.value_or(SourceEvent::kNone));
                return tick();
            }
            SourcePart part;
            part.beginNs = at->beginNs;
            part.endNs = at->endNs;
            part.lane = communicationLane(*unit, device, row.integer(3));
            part.name = unit->trace.strings.intern(name);
            part.correlation = correlation;
            unit->trace.parts.push_back(part);
            unit->partPids.push_back(process);
            if (correlation)
                linker_.want(process, *correlation);
            return tick();
        });
}

/// Where graphs are traced as a whole, which is Nsight's default, their kernels are not in the table of kernels.
Status NsightReader::readGraphs()
{
    return tables_.each("CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
        { "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "graphId" },
        [&](const Statement& row) -> Status {
            const std::int64_t device = row.integer(2);
            ExportUnit* unit = units_.ofDevice(row.integer(5), device);
            const auto at = timesOf(row);
            if (unit && at)
                append(*unit, streamLane(*unit, LaneKind::Compute, "", device, row.integer(3)), *at,
                    "CUDA graph " + std::to_string(row.integer(6)), SourceKind::Kernel,
                    row.optionalInteger(4).value_or(SourceEvent::kNone));
            return tick();
        });
}

/// "Memcpy HtoD (Pageable -> Device)", as PyTorch calls it, where the export says between what.
std::string NsightReader::nameOfCopy(const Statement& row)
{
    const auto from = memoryKinds_.find(row.integer(8)), to = memoryKinds_.find(row.integer(9));
    std::string name = copyName(row.integer(7));
    if (!row.isNull(8) && !row.isNull(9) && from != memoryKinds_.end() && to != memoryKinds_.end())
        name += " (" + from->second + " -> " + to->second + ")";
    return name;
}

Status NsightReader::readCopies()
{
    memoryKinds_ = tables_.labels("ENUM_CUDA_MEM_KIND");
    for (const char* table : { "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET" }) {
        const bool sets = std::string_view(table).ends_with("MEMSET");
        Status status = tables_.each(table,
            { "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "bytes", "copyKind", "srcKind",
                "dstKind" },
            [&](const Statement& row) -> Status {
                ExportUnit* unit = units_.ofDevice(row.integer(5), row.integer(2));
                const auto at = timesOf(row);
                if (unit && at)
                    append(*unit, streamLane(*unit, LaneKind::Copy, "copy", row.integer(2), row.integer(3)), *at,
                        sets ? "Memset" : nameOfCopy(row), SourceKind::Copy,
                        row.optionalInteger(4).value_or(SourceEvent::kNone),
                        row.optionalInteger(6).value_or(SourceEvent::kNone));
                return tick();
            });
        if (!status)
            return status;
    }
    return Done{};
}

Status NsightReader::readSynchronization()
{
    return tables_.each("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
        { "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "syncType" },
        [&](const Statement& row) -> Status {
            static constexpr std::array<const char*, 6> kTypes{ "Synchronization", "Event Sync", "Stream Wait Event",
                "Stream Sync", "Context Sync", "Synchronization" };
            ExportUnit* unit = units_.ofDevice(row.integer(5), row.integer(2));
            const auto at = timesOf(row);
            if (unit && at)
                append(*unit, streamLane(*unit, LaneKind::Copy, "sync", row.integer(2), row.integer(3)), *at,
                    kTypes[static_cast<std::size_t>(std::clamp<std::int64_t>(row.integer(6), 0, 5))], SourceKind::Range,
                    row.optionalInteger(4).value_or(SourceEvent::kNone));
            return tick();
        });
}

/// When the device reached an event: a mark beside the stream's synchronisations. 0 and NULL: nobody looked.
Status NsightReader::readEvents()
{
    return tables_.each("CUPTI_ACTIVITY_KIND_CUDA_EVENT",
        { "timestamp", "deviceId", "streamId", "correlationId", "globalPid", "eventId" },
        [&](const Statement& row) -> Status {
            ExportUnit* unit = row.integer(0) != 0 ? units_.ofDevice(row.integer(4), row.integer(1)) : nullptr;
            if (unit)
                append(*unit, streamLane(*unit, LaneKind::Copy, "sync", row.integer(1), row.integer(2)),
                    { row.integer(0), row.integer(0) }, "Event " + std::to_string(row.integer(5)), SourceKind::Range,
                    row.optionalInteger(3).value_or(SourceEvent::kNone));
            return tick();
        });
}

/// What the profiler and the driver themselves took, and the making of graphs: ranges of their own, which are no calls
/// that launch.
Status NsightReader::readOverhead()
{
    struct Source {
        const char *table, *role;
    };
    const auto kinds = tables_.labels("ENUM_CUPTI_OVERHEAD_TYPE");
    for (const Source& source :
        { Source{ "CUPTI_ACTIVITY_KIND_OVERHEAD", "overhead in" }, { "PROFILER_OVERHEAD", "overhead in" },
            { "CUDA_GRAPH_NODE_EVENTS", "CUDA graphs of" }, { "CUDA_GRAPH_EVENTS", "CUDA graphs of" } }) {
        Status status = tables_.each(source.table, { "start", "end", "globalTid", "nameId", "overheadType" },
            [&](const Statement& row) -> Status {
                const auto at = timesOf(row);
                ExportUnit* unit = at ? ofProcess(row.integer(2)) : nullptr;
                if (!unit)
                    return tick();
                const auto kind = kinds.find(row.integer(4));
                const bool isNamed = !row.isNull(4) && kind != kinds.end();
                append(*unit, threadLane(*unit, source.role, row.integer(2)), *at,
                    isNamed ? kind->second : tables_.string(row.integer(3)), SourceKind::Range);
                return tick();
            });
        if (!status)
            return status;
    }
    return Done{};
}

void NsightReader::addLaunch(ExportUnit& unit, std::int64_t thread, std::int64_t beginNs, std::int64_t correlation)
{
    linker_.addCall(thread, beginNs, correlation);
    // Numbers repeat across processes: a device that several share has its annotations from the first.
    if (unit.trace.actions.empty() || processOf(thread) != unit.globalPid)
        return;
    launches_[placeOf(unit)].push_back({ correlation, beginNs });
}

/// Calls of runtime and driver stay rows of their own: kernels are never joined with them, so that a number with
/// several calls cannot multiply a kernel.
Status NsightReader::readCalls()
{
    for (const char* table : { "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER" }) {
        Status status = tables_.each(
            table, { "start", "end", "globalTid", "correlationId", "nameId" }, [&](const Statement& row) -> Status {
                const std::int64_t thread = row.integer(2);
                const auto at = timesOf(row);
                ExportUnit* unit = at ? ofProcess(thread) : nullptr;
                if (!unit)
                    return tick();
                const auto correlation = row.optionalInteger(3);
                append(*unit, threadLane(*unit, "CUDA calls of", thread), *at, tables_.string(row.integer(4)),
                    SourceKind::HostCall, correlation.value_or(SourceEvent::kNone));
                if (correlation)
                    addLaunch(*unit, thread, at->beginNs, *correlation);
                return tick();
            });
        if (!status)
            return status;
    }
    return Done{};
}

void NsightReader::addRange(const Statement& row, ExportUnit& unit, std::int64_t type, std::int64_t thread, Times at)
{
    std::string name = tables_.textOf(row, 4, 5);
    // Ranges that were started and ended need not nest.
    const std::uint32_t lane = threadLane(unit, type == kStartEnd ? "ranges of" : "", thread);
    if (NcclLinker::describes(name)) {
        std::string payload = tables_.textOf(row, 6, 7);
        if (payload.empty() && !row.isNull(8))
            payload = payloads_.json(row.text(8));
        linker_.addRange(thread, at.beginNs, at.endNs, name, payload);
    }
    if (type != kMark)
        notesOf(unit).note(unit.trace.strings.intern(name), at.beginNs, at.endNs);
    if (type != kMark && row.isNull(1))
        open_.push_back({ &unit, lane, at.beginNs, std::move(name) });
    else
        append(unit, lane, at, name, SourceKind::Range);
}

Status NsightReader::readRanges()
{
    if (Status status = payloads_.load(tables_); !status)
        return status;
    return tables_.each("NVTX_EVENTS",
        { "start", "end", "eventType", "globalTid", "text", "textId", "jsonText", "jsonTextId", "binaryData" },
        [&](const Statement& row) -> Status {
            const std::int64_t type = row.integer(2), thread = row.integer(3);
            if (type == kThreadName)
                threadNames_.try_emplace(thread, tables_.textOf(row, 4, 5));
            if (type != kMark && type != kPushPop && type != kStartEnd)
                return tick();
            const auto at = timesOf(row);
            if (ExportUnit* unit = at ? ofProcess(thread) : nullptr)
                addRange(row, *unit, type, thread, *at);
            return tick();
        });
}

Status NsightReader::readMpi()
{
    MpiTables mpi(tables_);
    return mpi.each([&](const MpiCall& call) -> Status {
        ExportUnit* unit = ofProcess(call.globalTid);
        if (!unit)
            return tick();
        lastNs_ = std::max(lastNs_, call.endNs);
        const bool hasNccl = !unit->partPids.empty();
        if (call.op == CollectiveOp::Unknown || hasNccl) {
            append(*unit, threadLane(*unit, "", call.globalTid), { call.beginNs, call.endNs }, call.name,
                SourceKind::Range);
            return tick();
        }
        SourcePart part;
        part.beginNs = call.beginNs;
        part.endNs = call.endNs;
        part.lane = unit->lane(
            LaneKind::Communication, "MPI", call.globalTid, "MPI thread · " + std::to_string(tidOf(call.globalTid)));
        part.name = unit->trace.strings.intern(call.name);
        part.op = call.op;
        part.bytes = call.bytes;
        part.peer = call.peer;
        if (call.communicator > 0) {
            while (unit->trace.groups.size() <= static_cast<std::size_t>(call.communicator)) {
                const auto number = static_cast<int>(unit->trace.groups.size());
                MpiCommunicator known = mpi.communicatorOf(call.globalTid, number);
                if (known.name.empty())
                    known.name = "MPI communicator " + std::to_string(number);
                unit->trace.groups.push_back(
                    { std::move(known.name), "", std::move(known.members), known.size, Dimension::None });
            }
            part.group = static_cast<std::uint32_t>(call.communicator);
        }
        unit->trace.parts.push_back(part);
        return tick();
    });
}

/// Network cards belong to the machine: they stand with its first rank.
Status NsightReader::readCounters()
{
    std::int64_t unnamed = 0;
    const auto add = [&](const char* role, const CounterOfExport& sample, std::size_t place) -> Status {
        ExportUnit& unit = units_.all()[place];
        const std::uint32_t lane = unit.lane(LaneKind::Counter, role, sample.lane, sample.name);
        unit.trace.lanes[lane].unit = sample.unit;
        append(unit, lane, { sample.timeNs, sample.timeNs }, sample.name, SourceKind::Counter, SourceEvent::kNone,
            std::bit_cast<std::int64_t>(sample.value));
        return tick();
    };
    const auto placeOf = [&](auto isOwner) {
        return static_cast<std::size_t>(std::ranges::find_if(units_.all(), isOwner) - units_.all().begin());
    };
    const auto addOfDevice = [&](const CounterOfExport& sample) -> Status {
        const std::size_t place
            = placeOf([&](const ExportUnit& unit) { return unit.hasDevice && unit.device == sample.owner; });
        return place < units_.all().size() ? add("counter", sample, place) : tick();
    };
    const auto addOfMachine = [&](const CounterOfExport& sample) -> Status {
        const std::size_t place
            = placeOf([&](const ExportUnit& unit) { return machineOf(unit.globalPid) == sample.owner; });
        return add("network", sample, place < units_.all().size() ? place : 0);
    };
    Status status = eachDeviceCounter(tables_, addOfDevice, unnamed);
    if (status)
        status = eachNetworkCounter(tables_, addOfMachine, unnamed);
    if (unnamed > 0)
        lose("metric without a name", unnamed);
    return status;
}

/// What Nsight itself says went wrong while it recorded.
Status NsightReader::readDiagnostics()
{
    const auto severities = tables_.labels("ENUM_DIAGNOSTIC_SEVERITY_LEVEL");
    return tables_.each("DIAGNOSTIC_EVENT", { "severity", "text" }, [&](const Statement& row) -> Status {
        const auto level = severities.find(row.integer(0));
        const std::string word = level == severities.end() ? "" : level->second;
        const bool harmless = word.starts_with("Info") || word.starts_with("Verbose") || word.starts_with("Debug");
        std::string text = row.text(1).substr(0, 300);
        std::ranges::replace(text, '\n', ' ');
        if (!harmless && warnings_.size() < 64)
            ++warnings_[text];
        return tick();
    });
}

void NsightReader::finish()
{
    for (const OpenRange& range : open_)
        append(*range.unit, range.lane, { range.beginNs, std::max(range.beginNs, lastNs_) }, range.name,
            SourceKind::Range);
    if (!open_.empty())
        lose("span without an end", static_cast<std::int64_t>(open_.size()));
    linker_.sort();
    for (ExportUnit& unit : units_.all()) {
        for (std::size_t i = 0; i < unit.partPids.size(); ++i)
            linker_.describe(unit.trace, unit.trace.parts[i], unit.partPids[i]);
        for (std::size_t i = 0; i < unit.partPids.size(); ++i)
            completeByRules(rules_, unit.trace, unit.trace.parts[i]);
        notesOf(unit).finish();
        notesOf(unit).linkLaunches(launches_[placeOf(unit)]);
        if (const auto place = linker_.placeOf(unit.globalPid); place && place->size > 1) {
            unit.trace.worldSize = place->size;
            unit.trace.rank = unit.trace.rank ? unit.trace.rank : place->rank;
        }
        unit.trace.events->close();
    }
    units_.numberRanks();
    std::vector<Loss>& losses = units_.all().front().trace.losses;
    for (const auto& [kind, count] : losses_)
        losses.push_back({ kind, count, path_ });
    for (const auto& [text, count] : warnings_)
        losses.push_back({ "capture warning", count, text });
    for (const auto& [table, what] : tables_.damaged())
        losses.push_back({ "damaged table", 1, path_ + ": " + table + " ends early: " + what });
    for (const auto& [table, what] : { std::pair("OSRT_API", "calls of the operating system's library"),
             { "SCHED_EVENTS", "the scheduler's switches of threads" },
             { "GENERIC_EVENTS", "events of plugins and of the kernel's tracing" } }) {
        if (const std::int64_t left = tables_.rowsOf(table); left > 0)
            losses.push_back({ "left out", left, path_ + ": " + what + " (" + table + ") are not imported" });
    }
}

} // namespace

std::string nsightExportCommand(const std::string& path)
{
    const std::string stem = std::filesystem::path(path).replace_extension().string();
    return "nsys export --type sqlite --lazy=false --include-json true --force-overwrite true -o "
        + shellQuoted(stem + ".sqlite") + " " + shellQuoted(stem + ".nsys-rep");
}

Result<std::vector<SourceTrace>> readNsightExport(
    const std::string& path, const ImportRules& rules, const ReadProgressCallback& progress)
{
    auto tables = ExportTables::open(path);
    if (!tables)
        return tables.error().in(
            "read " + path + ": a damaged export; make it again with: " + nsightExportCommand(path));
    const std::array<const char*, 3> known{ "CUPTI_ACTIVITY_KIND_KERNEL", "NVTX_EVENTS",
        "CUPTI_ACTIVITY_KIND_RUNTIME" };
    if (!tables->has("StringIds") && std::ranges::none_of(known, [&](const char* table) { return tables->has(table); }))
        return Error("read " + path + ": a database, but no Nsight Systems export and no run file");
    auto units = ExportUnits::find(*tables, path);
    if (!units)
        return units.error().in("read " + path);
    auto traces = NsightReader(*tables, *units, rules, path, progress).read();
    if (!traces)
        return traces;
    for (const SourceTrace& trace : *traces) {
        if (trace.events->error())
            return trace.events->error()->in("read " + path);
    }
    return traces;
}

} // namespace rankscope::tracing

#include "tracing/import/nsight/export_units.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace rankscope::tracing {

namespace {

constexpr std::size_t kMemoryOfAllUnits = 96u << 20;
/// More ranks than one machine can have in one report: a damaged or forged file.
constexpr std::size_t kMostUnits = 4096;
constexpr std::int64_t kKnownSchema = 3; ///< its minor versions rename and add; a higher one may change anything

std::int32_t small(std::int64_t number)
{
    return number >= 0 && number < (1 << 24) ? static_cast<std::int32_t>(number) : 0;
}

} // namespace

std::uint32_t ExportUnit::lane(LaneKind kind, const std::string& role, std::int64_t key, const std::string& name)
{
    const auto [it, isNew] = lanes.try_emplace({ role, key }, static_cast<std::uint32_t>(trace.lanes.size()));
    if (isNew)
        trace.lanes.push_back({ kind, Dimension::None, name, "" });
    return it->second;
}

Result<ExportUnits> ExportUnits::find(ExportTables& tables, const std::string& path)
{
    ExportUnits units;
    units.readMpiRanks(tables);
    const Status cudaDevices
        = tables.each("TARGET_INFO_CUDA_DEVICE", { "pid", "cudaId", "gpuId" }, [&](const Statement& row) -> Status {
              if (!row.isNull(0) && !row.isNull(1) && !row.isNull(2))
                  units.physical_[{ row.integer32(0), row.integer(1) }] = row.integer32(2);
              return Done{};
          });
    if (!cudaDevices)
        return cudaDevices.error();
    units.addDevices(tables);
    units.addProcesses(tables);
    if (units.units_.empty())
        return Error("no device and no process has events in it");
    if (units.units_.size() > kMostUnits)
        return Error("more than " + std::to_string(kMostUnits) + " devices in one report");
    units.describe(tables, path);
    return units;
}

/// MPI_RANKS, before that table the name that Nsight gave to a rank's main thread.
void ExportUnits::readMpiRanks(ExportTables& tables)
{
    const auto add = [&](const Statement& row) -> Status {
        if (!row.isNull(0) && !row.isNull(1))
            mpiRanks_.try_emplace(processOf(row.integer(0)), small(row.integer(1)));
        return Done{};
    };
    static_cast<void>(
        tables.each("MPI_RANKS", { tables.has("MPI_RANKS", "globalTid") ? "globalTid" : "globalPid", "rank" }, add));
    if (!mpiRanks_.empty())
        return;
    const auto fromName = [&](const Statement& row) -> Status {
        constexpr std::string_view kName = "MPI Rank ";
        const std::string name = row.integer(0) == 39 && !row.isNull(1) ? tables.textOf(row, 2, 3) : "";
        std::int32_t rank = 0;
        if (name.starts_with(kName)
            && std::from_chars(name.data() + kName.size(), name.data() + name.size(), rank).ec == std::errc())
            mpiRanks_.try_emplace(processOf(row.integer(1)), rank);
        return Done{};
    };
    static_cast<void>(tables.each("NVTX_EVENTS", { "eventType", "globalTid", "text", "textId" }, fromName));
}

std::size_t ExportUnits::unitAt(
    const std::pair<std::int64_t, std::int64_t>& key, std::int64_t globalPid, std::int32_t device)
{
    const auto [it, isNew] = byKey_.try_emplace(key, units_.size());
    if (isNew && units_.size() <= kMostUnits) {
        units_.emplace_back();
        units_.back().globalPid = globalPid;
        units_.back().device = device;
    }
    return std::min(it->second, units_.size() - 1);
}

void ExportUnits::addDevices(ExportTables& tables)
{
    std::set<std::pair<std::int64_t, std::int64_t>> used; // device, process: units come in order of device
    for (const char* table : { "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET",
             "CUPTI_ACTIVITY_KIND_GRAPH_TRACE" }) {
        static_cast<void>(tables.each(table, { "deviceId", "globalPid" }, [&](const Statement& row) -> Status {
            if (used.size() <= kMostUnits)
                used.emplace(row.integer(0), processOf(row.integer(1)));
            return Done{};
        }));
    }
    for (const auto& [device, process] : used) {
        std::pair<std::int64_t, std::int64_t> key{ process, device };
        std::int32_t number = small(device);
        const auto physical = physical_.find({ pidOf(process), device });
        if (mpiRanks_.contains(process)) {
            key = { process, -1 };
        } else if (physical != physical_.end()) {
            number = physical->second;
            key = { machineOf(process), number }; // processes that share a device are one rank
        }
        const std::size_t unit = unitAt(key, process, number);
        units_[unit].hasDevice = true;
        byDevice_[{ process, device }] = unit;
        const auto [it, isNew] = byProcess_.try_emplace(process, unit);
        if (!isNew && units_[unit].device < units_[it->second].device)
            it->second = unit;
    }
}

/// MPI ranks without a device; and where no device was recorded at all, every process with rows.
void ExportUnits::addProcesses(ExportTables& tables)
{
    for (const auto& [process, rank] : mpiRanks_) {
        if (!byProcess_.contains(process))
            byProcess_[process] = unitAt({ process, -1 }, process, 0);
    }
    if (!units_.empty())
        return;
    for (const char* table : { "NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME" }) {
        static_cast<void>(tables.each(table, { "globalTid" }, [&](const Statement& row) -> Status {
            const std::int64_t process = processOf(row.integer(0));
            if (!byProcess_.contains(process))
                byProcess_[process] = unitAt({ process, -1 }, process, 0);
            return Done{};
        }));
    }
}

void ExportUnits::describe(ExportTables& tables, const std::string& path)
{
    std::map<std::int32_t, std::string> devices;
    static_cast<void>(tables.each("TARGET_INFO_GPU", { "id", "name" }, [&](const Statement& row) -> Status {
        devices.try_emplace(row.integer32(0), row.text(1));
        return Done{};
    }));
    std::string host;
    static_cast<void>(tables.each("TARGET_INFO_SYSTEM_ENV", { "name", "value" }, [&](const Statement& row) -> Status {
        if (row.text(0) == "Hostname")
            host = row.text(1);
        return Done{};
    }));
    std::int64_t baseNs = 0;
    std::map<std::string, std::string> facts;
    static_cast<void>(tables.each(
        "TARGET_INFO_SESSION_START_TIME", { "utcEpochNs", "systemClockNs" }, [&](const Statement& row) -> Status {
            baseNs = row.integer(0);
            if (!row.isNull(1))
                facts["system_clock_ns"] = row.text(1);
            return Done{};
        }));
    bool isNewer = false;
    for (const char* table : { "META_DATA_EXPORT", "EXPORT_META_DATA" }) {
        static_cast<void>(tables.each(table, { "name", "value" }, [&](const Statement& row) -> Status {
            if (row.text(0) == "EXPORT_SCHEMA_VERSION" || row.text(0) == "EXPORT_PRODUCT_VERSION")
                facts[row.text(0) == "EXPORT_SCHEMA_VERSION" ? "schema" : "nsight"] = row.text(1);
            isNewer = isNewer || (row.text(0) == "EXPORT_SCHEMA_VERSION_MAJOR" && row.integer(1) > kKnownSchema);
            return Done{};
        }));
    }
    std::map<std::int64_t, std::string> programs;
    static_cast<void>(tables.each("PROCESSES", { "globalPid", "name" }, [&](const Statement& row) -> Status {
        programs[processOf(row.integer(0))] = row.text(1);
        return Done{};
    }));
    for (ExportUnit& unit : units_) {
        SourceTrace& trace = unit.trace;
        trace.path = path;
        trace.format = "nsight";
        trace.node = host;
        trace.clock = host.empty() ? path : host;
        trace.baseNs = baseNs;
        trace.metadata = facts;
        trace.groups.emplace_back();
        trace.events = std::make_unique<EventSpool>(kMemoryOfAllUnits / units_.size());
        if (const auto name = devices.find(unit.device); unit.hasDevice && name != devices.end())
            trace.device = name->second;
        if (const auto program = programs.find(unit.globalPid); program != programs.end() && !program->second.empty())
            trace.metadata["program"] = program->second;
        if (const auto rank = mpiRanks_.find(unit.globalPid); rank != mpiRanks_.end())
            trace.rank = rank->second;
    }
    if (isNewer)
        units_.front().trace.losses.push_back({ "newer schema", 1,
            path + ": the export's schema is newer than " + std::to_string(kKnownSchema)
                + "; what was renamed in it is not read" });
}

void ExportUnits::numberRanks()
{
    std::set<std::int32_t> taken;
    bool distinct = true;
    for (const ExportUnit& unit : units_)
        distinct = distinct && unit.trace.rank && taken.insert(*unit.trace.rank).second;
    if (distinct)
        return;
    std::vector<ExportUnit*> order;
    for (ExportUnit& unit : units_)
        order.push_back(&unit);
    std::ranges::sort(order, {},
        [](const ExportUnit* unit) { return std::tuple(machineOf(unit->globalPid), unit->device, unit->globalPid); });
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i]->trace.rank.reset();
        if (order.size() > 1) {
            order[i]->trace.rank = static_cast<std::int32_t>(i);
            order[i]->trace.rankIsLocal = true;
        }
    }
}

ExportUnit* ExportUnits::ofDevice(std::int64_t globalPid, std::int64_t device)
{
    const auto it = byDevice_.find({ processOf(globalPid), device });
    return it == byDevice_.end() ? nullptr : &units_[it->second];
}

ExportUnit* ExportUnits::ofProcess(std::int64_t globalPid)
{
    const auto it = byProcess_.find(processOf(globalPid));
    if (it != byProcess_.end())
        return &units_[it->second];
    return units_.size() == 1 ? &units_.front() : nullptr;
}

} // namespace rankscope::tracing

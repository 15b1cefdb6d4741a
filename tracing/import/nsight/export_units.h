#pragma once

#include "tracing/import/nsight/export_tables.h"
#include "tracing/import/source_trace.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace rankscope::tracing {

/// What becomes one rank: a device of a process, or a whole process where MPI says that processes are the ranks.
struct ExportUnit {
    std::int64_t globalPid = 0; ///< the first process that used it
    std::int32_t device = 0; ///< physical number where the export tells, else the process' own
    SourceTrace trace;
    std::vector<std::int64_t> partPids; ///< process of each of trace.parts
    std::map<std::pair<std::string, std::int64_t>, std::uint32_t> lanes; ///< by kind and stream or thread
    bool hasDevice = false;

    std::uint32_t lane(LaneKind kind, const std::string& role, std::int64_t key, const std::string& name);
};

/// Finds the ranks of an export and whose rows are whose.
class ExportUnits {
public:
    /// Looks at every table with devices and processes; `path` goes into the traces.
    static Result<ExportUnits> find(ExportTables& tables, const std::string& path);

    std::vector<ExportUnit>& all() { return units_; }
    /// Of a device row; null: a process and device that no table named before.
    ExportUnit* ofDevice(std::int64_t globalPid, std::int64_t device);
    /// Of a host row: the process' first device. Null: the process has none.
    ExportUnit* ofProcess(std::int64_t globalPid);

    /// Numbers the ranks where MPI has not: in order of machine, device and process, local to this file.
    void numberRanks();

private:
    void addDevices(ExportTables& tables);
    void addProcesses(ExportTables& tables);
    void readMpiRanks(ExportTables& tables);
    void describe(ExportTables& tables, const std::string& path);
    std::size_t unitAt(const std::pair<std::int64_t, std::int64_t>& key, std::int64_t globalPid, std::int32_t device);

    std::vector<ExportUnit> units_;
    std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> byDevice_; ///< process, its own device number
    std::map<std::int64_t, std::size_t> byProcess_;
    std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> byKey_;
    std::map<std::pair<std::int32_t, std::int64_t>, std::int32_t>
        physical_; ///< pid and its device number: the machine's
    std::map<std::int64_t, std::int32_t> mpiRanks_; ///< by process
};

} // namespace rankscope::tracing

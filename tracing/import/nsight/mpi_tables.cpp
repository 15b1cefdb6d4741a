#include "tracing/import/nsight/mpi_tables.h"

#include "tracing/import/rules/import_rules.h"

#include <algorithm>

namespace rankscope::tracing {

namespace {

constexpr int kMostCommunicators = 4096;

/// S of METRICS 4.1 from what the call was given: one rank's part for all-gather and reduce-scatter is all that is
/// known.
CollectiveOp operationOf(const std::string& name)
{
    if (name.find("Sendrecv") != std::string::npos || !name.starts_with("MPI_"))
        return CollectiveOp::Unknown;
    return ImportRules::builtIn().operationOf(name.substr(4)); // MPI's names are its standard's
}

} // namespace

Status MpiTables::numberCommunicators()
{
    for (const char* table : { "MPI_COLLECTIVES_EVENTS", "MPI_P2P_EVENTS" }) {
        Status status = tables_.each(table, { "globalTid", "commHandle" }, [&](const Statement& row) -> Status {
            auto& handles = communicators_[processOf(row.integer(0))];
            if (!row.isNull(1) && handles.size() < kMostCommunicators)
                handles.try_emplace(row.integer(1), static_cast<int>(handles.size()) + 1);
            return Done{};
        });
        if (!status)
            return status;
    }
    return Done{};
}

Status MpiTables::each(const std::function<Status(const MpiCall&)>& visitor)
{
    if (Status status = numberCommunicators(); !status)
        return status;
    for (const char* table :
        { "MPI_P2P_EVENTS", "MPI_COLLECTIVES_EVENTS", "MPI_START_WAIT_EVENTS", "MPI_OTHER_EVENTS" }) {
        const bool moves
            = std::string_view(table) == "MPI_P2P_EVENTS" || std::string_view(table) == "MPI_COLLECTIVES_EVENTS";
        Status status = tables_.each(table,
            { "start", "end", "globalTid", "textId", "commHandle", "remoteRank", "rootRank", "size" },
            [&](const Statement& row) -> Status {
                if (row.isNull(0))
                    return Done{};
                MpiCall call;
                call.beginNs = row.integer(0);
                call.endNs = std::max(call.beginNs, row.integer(1));
                call.globalTid = row.integer(2);
                call.name = tables_.string(row.integer(3));
                call.op = moves ? operationOf(call.name) : CollectiveOp::Unknown;
                call.peer = row.isNull(5) ? row.optionalInteger32(6) : row.optionalInteger32(5);
                if (call.peer && *call.peer < 0) // MPI_ANY_SOURCE, MPI_PROC_NULL
                    call.peer.reset();
                call.bytes = std::max<std::int64_t>(0, row.integer(7));
                const auto& handles = communicators_[processOf(call.globalTid)];
                const auto handle = handles.find(row.integer(4));
                call.communicator = handles.size() > 1 && handle != handles.end() ? handle->second : 0;
                return visitor(call);
            });
        if (!status)
            return status;
    }
    return Done{};
}

} // namespace rankscope::tracing

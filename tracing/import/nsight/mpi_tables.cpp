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

bool spansAllRanks(CollectiveOp op)
{
    return op == CollectiveOp::AllGather || op == CollectiveOp::Gather || op == CollectiveOp::ReduceScatter
        || op == CollectiveOp::Scatter;
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

/// A row a rank and communicator: where all members are in the report, so are the group's ranks.
Status MpiTables::readCommunicators()
{
    const char* process = tables_.has("MPI_RANKS", "globalTid") ? "globalTid" : "globalPid";
    Status status = tables_.each("MPI_RANKS", { process, "rank" }, [&](const Statement& row) -> Status {
        ranks_.try_emplace(processOf(row.integer(0)), row.integer32(1));
        return Done{};
    });
    if (!status)
        return status;
    return tables_.each("MPI_COMMUNICATORS", { "rank", "commHandle", "localRank", "size", "commUid" },
        [&](const Statement& row) -> Status {
            if (row.isNull(0) || row.isNull(1) || row.isNull(4)
                || uids_.size() >= std::size_t{ kMostCommunicators } * 64)
                return Done{};
            uids_[{ row.integer32(0), row.integer(1) }] = row.integer(4);
            Group& group = groups_[row.integer(4)];
            group.size = std::max(group.size, row.integer32(3));
            if (!row.isNull(2) && row.integer32(2) >= 0)
                group.ranks[row.integer32(2)] = row.integer32(0);
            return Done{};
        });
}

MpiCommunicator MpiTables::communicatorOf(std::int64_t globalTid, int number) const
{
    const auto rank = ranks_.find(processOf(globalTid));
    const auto handles = communicators_.find(processOf(globalTid));
    if (rank == ranks_.end() || handles == communicators_.end())
        return {};
    const auto handle = std::ranges::find_if(handles->second, [&](const auto& h) { return h.second == number; });
    if (handle == handles->second.end())
        return {};
    const auto uid = uids_.find({ rank->second, handle->first });
    if (uid == uids_.end())
        return {};
    const Group& group = groups_.at(uid->second);
    MpiCommunicator out{ "MPI communicator " + std::to_string(uid->second), group.size, {} };
    for (const auto& [place, worldRank] : group.ranks) {
        if (place != std::ssize(out.members))
            return { out.name, group.size, {} };
        out.members.push_back(worldRank);
    }
    if (std::ssize(out.members) != group.size)
        out.members.clear();
    return out;
}

Status MpiTables::each(const std::function<Status(const MpiCall&)>& visitor)
{
    if (Status status = numberCommunicators(); !status)
        return status;
    if (Status status = readCommunicators(); !status)
        return status;
    for (const char* table :
        { "MPI_P2P_EVENTS", "MPI_COLLECTIVES_EVENTS", "MPI_START_WAIT_EVENTS", "MPI_OTHER_EVENTS" }) {
        const bool moves
            = std::string_view(table) == "MPI_P2P_EVENTS" || std::string_view(table) == "MPI_COLLECTIVES_EVENTS";
        Status status = tables_.each(table,
            { "start", "end", "globalTid", "textId", "commHandle", "remoteRank", "rootRank", "size", "recvSize" },
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
                if (spansAllRanks(call.op)) // what is sent or what is received, whichever is of all
                    call.bytes = std::max(call.bytes, row.integer(8));
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

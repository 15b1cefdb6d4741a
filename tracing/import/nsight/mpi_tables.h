#pragma once

#include "tracing/import/nsight/export_tables.h"
#include "tracing/model/kinds.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rankscope::tracing {

/// A call of MPI as Nsight's tables have it.
struct MpiCall {
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
    std::int64_t globalTid = 0;
    std::string name;
    CollectiveOp op = CollectiveOp::Unknown; ///< Unknown: waits, set-up, send and receive in one
    std::int64_t bytes = 0;
    std::optional<std::int32_t> peer; ///< point-to-point: the other rank; rooted: the root
    /// 0: the process used one communicator only, so all ranks; else numbered in the order in which the process first
    /// used them: handles are addresses and differ from process to process.
    int communicator = 0;
};

/// What MPI_COMMUNICATORS says of one; all empty where it says nothing.
struct MpiCommunicator {
    std::string name; ///< the same in all processes
    std::int32_t size = 0;
    std::vector<std::int32_t> members; ///< world ranks in the group's order, where the export tells
};

/// MPI_P2P_EVENTS, MPI_COLLECTIVES_EVENTS, MPI_START_WAIT_EVENTS and MPI_OTHER_EVENTS, as far as they are there.
class MpiTables {
public:
    explicit MpiTables(ExportTables& tables)
        : tables_(tables)
    {
    }

    Status each(const std::function<Status(const MpiCall&)>& visitor);
    /// Of a call with a communicator's number. After each() has begun.
    MpiCommunicator communicatorOf(std::int64_t globalTid, int number) const;

private:
    Status numberCommunicators();
    Status readCommunicators();

    ExportTables& tables_;
    std::map<std::int64_t, std::map<std::int64_t, int>> communicators_; ///< by process: number of each handle, from 1
    std::map<std::int64_t, std::int32_t> ranks_; ///< by process
    std::map<std::pair<std::int32_t, std::int64_t>, std::int64_t> uids_; ///< of a rank's handle
    struct Group {
        std::int32_t size = 0;
        std::map<std::int32_t, std::int32_t> ranks; ///< world rank of each place that some rank reported
    };
    std::map<std::int64_t, Group> groups_; ///< by uid
};

} // namespace rankscope::tracing

#pragma once

#include "tracing/import/nsight/export_tables.h"

#include <cstdint>
#include <functional>
#include <string>

namespace rankscope::tracing {

/// A value of a counter.
struct CounterOfExport {
    std::int64_t owner = 0; ///< of the device's counters its number, of the network's the machine, see machineOf()
    std::int64_t lane = 0; ///< the same for all values of one counter
    std::string name; ///< "SMs Active [Throughput %]", "IB: Bytes sent · mlx5_0 port 1"
    std::string unit;
    std::int64_t timeNs = 0; ///< end of what the value is of
    double value = 0;
};
using CounterVisitor = std::function<Status(const CounterOfExport&)>;

/// Hands out GPU_METRICS and NET_NIC_METRIC, with the names of metrics and cards. What has no name is counted in
/// `unnamed`, not handed out.
Status eachDeviceCounter(ExportTables& tables, const CounterVisitor& visitor, std::int64_t& unnamed);
Status eachNetworkCounter(ExportTables& tables, const CounterVisitor& visitor, std::int64_t& unnamed);

} // namespace rankscope::tracing

#pragma once

#include "tracing/model/ids.h"
#include "tracing/model/kinds.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

inline constexpr std::string_view kOwnSource = "rankscope"; ///< of runs that our own recorder saw from their start

/// A whole run: one a file.
struct RunInfo {
    std::string name;
    std::string source; ///< who recorded it: "rankscope", "pytorch", "nsight", ...
    std::int64_t originUtcNs = 0; ///< UTC of time 0 of the run's clock, ns since 1970
    std::int32_t worldSize = 0; ///< ranks of the job, also those without a recording
    std::optional<std::int32_t> coresPerNode; ///< cores its ranks may use; fewer than ranks: they share
    bool finished = false; ///< false while recording, and after a crash
};

/// Coordinates of a rank in the mesh; absent where a trace does not say.
struct RankInfo {
    std::int32_t rank = 0;
    std::string node;
    std::string device;
    std::optional<std::int32_t> stage; ///< place in the pipeline (pp coordinate)
    std::optional<std::int32_t> dp, tp, ep;
    std::int64_t clockErrorNs = 0; ///< bound of |this rank's clock - the run's clock|
    std::optional<double> peakFlops; ///< declared peak, FLOP/s
    std::int32_t processId = 0;
};

struct Lane {
    LaneId id{};
    std::int32_t rank = 0;
    LaneKind kind = LaneKind::Compute;
    Dimension dimension = Dimension::None; ///< communication lanes: one a dimension
    std::string name; ///< "compute", "all-reduce dp", "host", or a counter's name
    std::string unit; ///< counters only
};

struct Communicator {
    CommunicatorId id{};
    std::string name;
    Dimension dimension = Dimension::None;
    std::vector<std::int32_t> members; ///< world ranks; empty: unknown
};

} // namespace rankscope::tracing

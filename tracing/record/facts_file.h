#pragma once

#include "tracing/model/kinds.h"
#include "tracing/model/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rankscope::tracing {

// What a process says once: names, process groups, provenance, its place in the mesh, what befell the run. An
// append-only file a process, beside its rings; each entry has a length and a checksum, so that a torn tail is seen and
// left out.

struct NameFact {
    std::uint32_t id = 0;
    std::string text;
};
struct CommunicatorFact {
    std::uint32_t id = 0;
    std::string name;
    Dimension dimension = Dimension::None;
    std::vector<std::int32_t> members;
};
struct ProvenanceFact {
    std::string key;
    std::string value;
};
struct ProcessFact {
    std::int32_t rank = 0;
    std::int32_t worldSize = 0;
    std::int32_t processId = 0;
    std::int32_t cores = 0; ///< cores of this node that are usable
    std::uint64_t processStart = 0;
    std::string node;
};
struct RankFact {
    std::optional<std::int32_t> dp, tp, pp, ep;
    std::optional<double> peakFlops;
    std::string device;
    std::int32_t threads = 1;
};
/// This process belongs to a later attempt of the run. Without it: to the first, 0.
struct AttemptFact {
    std::int32_t attempt = 0;
    std::uint64_t startTicks = 0; ///< its ranks found each other
};
/// One rank's part of a checkpoint that was published.
struct CheckpointFact {
    std::int64_t step = 0;
    std::uint64_t beginTicks = 0;
    std::uint64_t endTicks = 0;
    std::int64_t blockedNs = 0;
    std::int64_t bytes = 0;
    std::string path;
};
/// The attempt goes on from the state after that step.
struct RestoredFact {
    std::int64_t step = 0;
};
/// Why an attempt ended; said by whoever supervises the job.
struct FailureFact {
    std::int32_t attempt = 0;
    std::uint64_t detectedTicks = 0;
    std::string reason;
    std::vector<std::int32_t> ranks; ///< that failed; empty: unknown
};
/// The truth about a fault that was injected.
struct FaultFact {
    std::string kind;
    std::optional<std::int32_t> rank;
    std::optional<std::int64_t> step;
    std::uint64_t beginTicks = 0;
    std::uint64_t endTicks = 0; ///< 0: it did not end
    std::string detail;
};
/// How fast this rank's messages get to another one, measured at the start.
struct LinkFact {
    std::int32_t to = 0;
    std::int64_t latencyNs = 0;
    std::int64_t bytesPerSecond = 0;
};
/// What a detector saw while the run goes on; times on the run's clock.
struct AlertFact {
    std::string title;
    std::string text;
    std::vector<std::int32_t> ranks;
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
};
using Fact = std::variant<NameFact, CommunicatorFact, ProvenanceFact, ProcessFact, RankFact, AttemptFact,
    CheckpointFact, RestoredFact, FailureFact, FaultFact, LinkFact, AlertFact>;

std::string encodeFact(const Fact& fact);

/// Where the job's supervisor, which is no rank, says its facts.
std::string jobFactsPath(const std::string& sessionDir);
Status appendJobFact(const std::string& sessionDir, const Fact& fact);

/// Takes complete entries from the front of `bytes`; what is left is a torn or unfinished tail. An entry of an unknown
/// kind is skipped and counted; a wrong checksum ends the reading for good.
struct FactsRead {
    std::vector<Fact> facts;
    std::size_t consumed = 0;
    int unknown = 0;
    bool corrupt = false;
};
FactsRead decodeFacts(std::string_view bytes);

} // namespace rankscope::tracing

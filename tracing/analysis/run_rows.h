#pragma once

#include "tracing/model/rows.h"
#include "tracing/model/run.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace rankscope::tracing {

/// What the analyses know about a run apart from the rows of single lanes.
struct RunFacts {
    RunInfo run;
    std::vector<RankInfo> ranks;
    std::vector<Lane> lanes;
    std::vector<Communicator> communicators;
    std::vector<std::string> names; ///< index = raw(NameId)
    std::vector<KernelSignature> signatures; ///< index = raw(SignatureId)
    std::vector<Step> steps;
    std::vector<CheckpointPart> checkpoints; ///< by step
    std::vector<AttemptFailure> failures; ///< by attempt
    std::vector<LiveAlert> alerts; ///< of detectors, while the run went on
    std::vector<LinkSpeed> links; ///< by sender, then receiver
    std::vector<Loss> losses;
    std::map<std::string, std::string> provenance;
    Window window; ///< of the whole run
};

/// One rank's part of a collective, split at the entry of the last rank it depends on (METRICS 5.3, collective split).
/// Exactly: wait [beginNs, splitNs), transfer [splitNs, endNs); their sum is the part's duration.
struct SplitPart {
    std::int32_t rank = 0;
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
    std::int64_t splitNs = 0;
    bool isSplit = false; ///< false: no partner is known (yet); all of it is communication.unsplit
    CollectiveOp op = CollectiveOp::Unknown;
    Dimension dimension = Dimension::None;
    InstanceId instance{};
    std::int64_t bytes = 0;
    std::optional<std::int32_t> lateRank; ///< whom it waited for

    std::int64_t waitNs() const { return isSplit ? splitNs - beginNs : 0; }
    std::int64_t transferNs() const { return isSplit ? endNs - splitNs : 0; }
};

/// The rows of one rank that touch a window, each vector ordered by begin.
struct RankRows {
    std::int32_t rank = 0;
    std::vector<Kernel> kernels;
    std::vector<Copy> copies;
    std::vector<Bubble> bubbles;
    std::vector<Range> ranges;
    std::vector<SplitPart> parts;
};

/// A rank's part before it is split.
struct RankPart {
    std::int32_t rank = 0;
    Dimension dimension = Dimension::None;
    CollectivePart part;
};

/// Splits the parts of any number of ranks. Who depends on whom: symmetric operations on every member, rooted ones by
/// their direction, a send and its receive on each other; a sender that leaves before its receiver enters is all
/// transfer; a part that leaves before the last entry is otherwise all wait. Parts whose instance has fewer than two
/// known parts (of more than one expected) are not split. `matches` gives the entries of parts that are not among
/// `parts` (for rooted operations the root's part must be among them).
std::vector<SplitPart> splitParts(const std::vector<RankPart>& parts, const std::vector<CollectiveMatch>& matches);

} // namespace rankscope::tracing

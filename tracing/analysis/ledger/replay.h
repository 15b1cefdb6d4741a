#pragma once

#include "tracing/analysis/ledger/ledger_result.h"
#include "tracing/analysis/ledger/replay_graph.h"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace rankscope::tracing::ledger {

/// A ratio of integers, so that replays are exact.
struct Ratio {
    std::int64_t numerator = 1;
    std::int64_t denominator = 1;
};

/// Of one stretch of recorded time.
struct StretchRatio {
    Ns begin = 0;
    Ns end = 0;
    Ratio ratio{};
};

/// Some kernels of a rank.
struct ChosenKernels {
    std::vector<bool> chosen; ///< by index; those behind its end are not
    Ratio ratio{};
};

/// What is changed before a run is replayed. Everything may be combined.
struct ReplayChange {
    std::set<std::pair<std::int32_t, AnnotationKind>> dropped; ///< gaps under these annotations of a rank vanish
    std::set<std::int32_t> hostGapsDropped; ///< ranks whose gaps without any annotation vanish
    /// Gaps of a rank by their label in the ledger (host, launch, data, ...): what stays of them, stretch by stretch of
    /// recorded time; other stretches stay. Not together with the two above.
    std::map<std::pair<std::int32_t, Label>, std::vector<StretchRatio>> gapTimes;
    std::map<std::int32_t, Ratio> computeTimes; ///< duration of a rank's kernels; the optimizer's stay
    std::map<std::int32_t, std::vector<Ratio>> kernelTimes; ///< of each of a rank's kernels, by index
    std::map<std::int32_t, ChosenKernels> chosenKernels; ///< duration of some of a rank's kernels
    std::optional<Ratio> recomputed; ///< what stays of kernels that compute again what was not kept
    std::map<std::int32_t, Ratio> transferOfRank; ///< transfer part of a rank's communication
    std::map<Dimension, Ratio> transferOfDimension;
    std::vector<Ratio> transferOfInstance; ///< by index; those behind its end are not changed
    std::optional<Ns> kernelsWithWork; ///< kernels with work (experts' tokens) last this long
    bool onCpu = false; ///< kernels last their CPU time over their threads: a core for each
};

struct ReplayedOp {
    Ns begin = 0;
    Ns end = 0;
};

struct ReplayResult {
    Ns begin = 0;
    Ns end = 0; ///< last end of any operation
    std::vector<ReplayedOp> ops; ///< as the graph numbers them
    std::vector<ReplayGraph::Place> places; ///< of the ranks in ops
    std::vector<std::vector<Ns>> waits; ///< new wait of every part, by rank index

    // As the input's of a rank.
    std::span<const ReplayedOp> compute(std::size_t r) const { return between(places[r].compute, places[r].copies); }
    std::span<const ReplayedOp> copies(std::size_t r) const { return between(places[r].copies, places[r].parts); }
    std::span<const ReplayedOp> parts(std::size_t r) const { return between(places[r].parts, places[r].end); }

private:
    std::span<const ReplayedOp> between(ReplayGraph::Op first, ReplayGraph::Op behind) const
    {
        return std::span(ops).subspan(first, behind - first);
    }
};

/// Replays the run that the graph is of: an operation begins when the local operations that ended last before it have
/// ended, plus the recorded gap; a part of a collective leaves its own transfer time after the latest entry it depends
/// on. Without a change the recorded times come out.
ReplayResult replay(const ReplayGraph& graph, const ReplayChange& change);

/// A stretch of the critical path: what the run's length rests on, from its begin to its end.
struct PathSegment {
    std::int32_t rank = 0; ///< index
    Ns begin = 0;
    Ns end = 0;
    Label label = Label::Unattributed;
    std::int32_t part = -1;
};

/// Walks back from the last end: a wait hops to the late rank at its entry, anything else is on the path. Segments are
/// ordered, touch each other and sum to window's length exactly. Needs the segments before bubbles are relabelled, or
/// after: bubbles made of a wait hop too.
std::vector<PathSegment> criticalPath(const LedgerResult& ledger, Ns begin, Ns end);

} // namespace rankscope::tracing::ledger

#pragma once

#include "tracing/import/clock_map.h"
#include "tracing/import/event_spool.h"
#include "tracing/model/rows.h"
#include "tracing/model/run.h"

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rankscope::tracing {

// What a file holds for one rank, before ranks are matched, aligned and written. Times are ns on the file's own clock.

/// Strings by number, each once. 0 is "".
class StringTable {
public:
    StringTable();
    std::uint32_t intern(std::string_view text);
    const std::string& operator[](std::uint32_t id) const { return *texts_[id]; }
    std::size_t size() const { return texts_.size(); }

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
    };
    std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> ids_;
    std::vector<const std::string*> texts_;
};

/// What a file of ours says about a kernel beside its name and times.
struct KernelFacts {
    std::optional<std::int64_t> work, flop, bytes, redundantFlop;
    DataType dtype = DataType::Unknown;
    std::int32_t threads = 1;

    auto operator<=>(const KernelFacts&) const = default;
};

/// Such facts by number, each once.
class KernelFactTable {
public:
    /// SourceEvent::kNone where nothing is known.
    std::int64_t intern(const KernelFacts& facts);
    /// Nothing known for SourceEvent::kNone.
    const KernelFacts& operator[](std::int64_t id) const;

private:
    std::map<KernelFacts, std::int64_t> ids_;
    std::vector<const KernelFacts*> facts_;
};

struct SourceLane {
    LaneKind kind = LaneKind::Host;
    Dimension dimension = Dimension::None;
    std::string name;
    std::string unit;
};

/// A process group as the file describes it.
struct SourceGroup {
    std::string name; ///< "0", "default_pg", a communicator's hash; empty: unknown
    std::string description; ///< "mesh_tp", ...: tells the dimension
    std::vector<std::int32_t> ranks; ///< world ranks; empty: not in the file
    std::int32_t size = 0; ///< 0: unknown
    Dimension dimension = Dimension::None;
};

/// One rank's part of a collective or message.
struct SourcePart {
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
    std::uint32_t lane = 0;
    std::uint32_t name = 0; ///< full kernel name
    CollectiveOp op = CollectiveOp::Unknown;
    std::uint32_t group = 0; ///< index into SourceTrace::groups
    std::optional<std::int64_t> sequence; ///< as the file gives it
    std::int64_t bytes = 0; ///< METRICS 4.1, column S; 0: unknown
    std::optional<std::int32_t> peer; ///< point-to-point: the other world rank; rooted: the root
    std::optional<std::int64_t> correlation;
    std::optional<std::int64_t> launchGroup;
    std::optional<std::int32_t> microBatch;
    std::optional<std::int64_t> cpuNs;
    std::int64_t instance = 0; ///< given by the matcher, from 1 on; 0: not matched yet
};

struct SourceStep {
    std::int64_t step = 0;
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
};

/// What the host works on for a while: one pass of one micro-batch.
struct SourceAction {
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
    Pass pass = Pass::None;
    bool counted = false; ///< its number is its place in the step
    std::int32_t microBatch = -1; ///< -1: not known
    std::int32_t stage = -1;
};

/// Launches that belong to an action: those of `count` correlations from the first one on.
struct ActionLaunches {
    std::int64_t correlation = 0;
    std::uint32_t count = 0;
    std::uint32_t action = 0; ///< index into SourceTrace::actions
};

struct SourceTrace {
    std::string path;
    std::string format; ///< "pytorch", "chrome", "nsight", "mindstudio", "pipeline", "flight recorder", "rankscope"
    std::optional<std::int32_t> rank; ///< as the file itself says, or given later from its name
    bool rankFromName = false;
    bool rankIsLocal
        = false; ///< the rank only counts within its file (devices of a report): files lie one behind another
    std::optional<std::int32_t> worldSize;
    std::string node;
    std::string device;
    std::string clock; ///< traces with the same word were timed by one clock; empty: the node's
    std::optional<std::int32_t> stage, dp, tp, ep; ///< coordinates, where the file says
    std::optional<double> peakFlops; ///< declared, FLOP/s
    std::string recorder; ///< who recorded what an export of ours holds; empty: whose format it is
    std::optional<std::int32_t> coresPerNode;
    std::vector<LinkSpeed> links; ///< of the whole job
    std::int64_t baseNs = 0; ///< added to every time gives UTC ns; 0: times are UTC already, or on a clock of their own
    bool fractionalTimes = false; ///< the file's times had fractions of a microsecond (HTA rounds such files)
    StringTable strings;
    KernelFactTable kernelFacts;
    std::vector<SourceLane> lanes;
    std::unique_ptr<EventSpool> events;
    std::vector<SourceGroup> groups; ///< 0 is "unknown group"
    std::vector<SourcePart> parts;
    std::vector<SourceStep> steps; ///< the rank's own, by begin
    std::vector<SourceAction> actions; ///< by begin
    std::vector<ActionLaunches> actionLaunches; ///< by correlation, none twice
    std::vector<Loss> losses;
    std::map<std::string, std::string> runFacts; ///< into the run's provenance as they are: "config.parallel.pp", ...
    std::map<std::string, std::string> metadata; ///< into the run's provenance under "file.<rank>."

    /// Begins outside are a writer's mistake (0, or a day off) and are left out. Set by findTimeBounds().
    std::int64_t lowestNs = std::numeric_limits<std::int64_t>::min();
    std::int64_t highestNs = std::numeric_limits<std::int64_t>::max();

    // Given by the alignment.
    ClockMap clockMap; ///< of times after baseNs onto the run's clock
    std::int64_t clockResidualNs = 0; ///< median of what it leaves
    std::int64_t clockErrorNs = 0;

    /// A time of this file on the run's clock, which begins at originNs (UTC).
    std::int64_t onRun(std::int64_t ns, std::int64_t originNs) const { return clockMap(ns + baseNs) - originNs; }
};

/// The action in which the correlation's launch was; none: in none, or not known.
const SourceAction* actionOf(const SourceTrace& trace, std::optional<std::int64_t> correlation);

/// Gives a kernel the pass and micro-batch of the action that launched it; an optimizer's kernel stays without.
void applyAction(const SourceTrace& trace, SourceEvent& kernel);

/// Sets the bounds from the bulk of the trace's begins: sixteen times its length and an hour to both sides.
void findTimeBounds(SourceTrace& trace);

} // namespace rankscope::tracing

#pragma once

#include "tracing/analysis/run_rows.h"
#include "tracing/model/result.h"
#include "tracing/store/trace_reader.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rankscope::tracing {

enum class ExportKind : std::uint8_t { Kernel, Copy, HostCall, Collective, Bubble, Range };
inline constexpr std::size_t kExportKindCount = 6;
std::string_view toString(ExportKind kind); ///< "kernel", "copy", "host call", "collective", "bubble", "range"

/// A span of any table, as the writers of other formats want it. What its kind does not have is absent.
struct ExportedSpan {
    ExportKind kind = ExportKind::Range;
    Window when;
    std::string_view name;
    std::optional<std::int64_t> correlation{};
    std::optional<std::int64_t> bytes{};
    std::optional<std::int64_t> flop{};
    std::optional<std::int64_t> cpuNs{};
    std::optional<std::int64_t> work{};
    std::optional<std::int64_t> redundantFlop{};
    std::optional<std::int64_t> launchGroup{};
    std::int32_t threads = 1;
    DataType dtype = DataType::Unknown;
    std::optional<std::int64_t> step{};
    std::optional<std::int32_t> microBatch{};
    std::optional<std::int32_t> peer{}; ///< world rank: of a message, of a rooted collective, awaited in a bubble
    std::optional<std::int32_t> stage{};
    Pass pass = Pass::None;
    RangeKind range = RangeKind::Annotation;
    BubblePhase phase = BubblePhase::Fill;
    std::int32_t depth = 0;

    // Collectives and messages:
    CollectiveOp op = CollectiveOp::Unknown;
    InstanceId instance{};
    const Communicator* communicator = nullptr;
    std::optional<std::int64_t> sequence{};
    std::int32_t partsPresent = 0;
    bool isFirst = false; ///< entered first of the parts in the file
};

/// The spans of a run lane by lane, in bounded memory: some rows at a time, and a few words for each collective.
class SpanSource {
public:
    /// Both must outlive it.
    static Result<SpanSource> open(TraceReader& reader, const RunFacts& facts);

    const RunFacts& facts() const { return facts_; }
    /// One lane's spans of a kind in order of begin, longer first where begins are equal, until visitor returns false.
    Status visit(const Lane& lane, ExportKind kind, const std::function<bool(const ExportedSpan&)>& visitor);
    Status visitSamples(const Lane& lane, const std::function<bool(const CounterSample&)>& visitor);

private:
    struct Instance {
        std::int64_t sequence = 0;
        std::int64_t firstEntryNs = 0;
        std::int32_t communicator = -1; ///< index into facts_.communicators
        std::int32_t partsPresent = 0;
    };
    SpanSource(TraceReader& reader, const RunFacts& facts);
    Status loadInstances();
    std::string_view nameOf(NameId id) const;
    template <typename Row> Status visitRows(const Lane& lane, const std::function<bool(const ExportedSpan&)>& visitor);
    ExportedSpan spanOf(const Kernel& row) const;
    ExportedSpan spanOf(const Copy& row) const;
    ExportedSpan spanOf(const HostCall& row) const;
    ExportedSpan spanOf(const CollectivePart& row) const;
    ExportedSpan spanOf(const Bubble& row) const;
    ExportedSpan spanOf(const Range& row) const;

    TraceReader& reader_;
    const RunFacts& facts_;
    std::unordered_map<std::int64_t, Instance> instances_;
};

} // namespace rankscope::tracing

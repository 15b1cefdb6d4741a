#include "tracing/import/run_assembly.h"

#include "tracing/store/tile_builder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <map>
#include <tuple>

namespace rankscope::tracing {

namespace {

constexpr std::size_t kSpansAFlush = 1u << 16;

/// All of one rank's rows, from the file's numbers to the run's.
class RankWriter {
public:
    RankWriter(SourceTrace& trace, std::int64_t originNs, const std::vector<Dimension>& dimensionOfGroup,
        const std::map<std::int64_t, const CollectiveMatch*>& matches, TraceWriter& writer)
        : trace_(trace)
        , rank_(trace.rank.value_or(0))
        , originNs_(originNs)
        , dimensionOfGroup_(dimensionOfGroup)
        , matches_(matches)
        , writer_(writer)
        , tiles_([&writer](LaneId lane, int level, Window window) { return writer.tiles(lane, level, window); })
        , names_(trace.strings.size())
    {
    }

    Status write()
    {
        for (const SourceLane& lane : trace_.lanes)
            ++uses_[{ lane.kind, lane.name }];
        if (Status status = writeParts(); !status)
            return status;
        for (std::uint32_t lane = 0; lane < trace_.lanes.size(); ++lane) {
            if (Status status = writeLane(lane); !status)
                return status;
        }
        if (Status status = flushTiles(); !status)
            return status;
        if (farOff_ > 0) {
            const Loss loss{ "time far from all others", farOff_, trace_.path };
            if (Status status = writer_.addLoss(loss); !status)
                return status;
        }
        for (const SourceStep& step : trace_.steps) {
            if (Status status = writer_.putStep({ rank_, step.step, 0, onRun(step.beginNs), onRun(step.endNs) });
                !status)
                return status;
        }
        return Done{};
    }

private:
    Result<NameId> name(std::uint32_t id)
    {
        if (!names_[id]) {
            const auto stored = writer_.name(trace_.strings[id]);
            if (!stored)
                return stored;
            names_[id] = *stored;
        }
        return *names_[id];
    }

    Result<SignatureId> signature(std::uint32_t id, Pass pass)
    {
        auto& known = signatures_[static_cast<std::size_t>(pass) % signatures_.size()];
        known.resize(names_.size());
        if (known[id])
            return *known[id];
        const auto stored = store(id, pass, {});
        if (stored)
            known[id] = *stored;
        return stored;
    }

    /// Of a kernel of which more is known than its name and pass.
    Result<SignatureId> signature(const SourceEvent& kernel)
    {
        if (kernel.extra == SourceEvent::kNone)
            return signature(kernel.name, kernel.pass);
        const std::tuple key(kernel.name, kernel.pass, kernel.extra);
        if (const auto known = describedSignatures_.find(key); known != describedSignatures_.end())
            return known->second;
        const auto stored = store(kernel.name, kernel.pass, trace_.kernelFacts[kernel.extra]);
        if (stored)
            describedSignatures_[key] = *stored;
        return stored;
    }

    Result<SignatureId> store(std::uint32_t id, Pass pass, const KernelFacts& facts)
    {
        const auto text = name(id);
        if (!text)
            return text.error();
        return writer_.signature(
            { *text, pass, facts.dtype, facts.threads, facts.flop, facts.bytes, facts.redundantFlop });
    }

    Result<LaneId> lane(std::uint32_t source, Dimension dimension = Dimension::None)
    {
        const SourceLane& from = trace_.lanes[source];
        Lane lane;
        lane.rank = rank_;
        lane.kind = from.kind;
        lane.dimension = dimension == Dimension::None ? from.dimension : dimension;
        lane.name = from.name;
        lane.unit = from.unit;
        return writer_.lane(lane);
    }

    Status writeParts();
    Status writeLane(std::uint32_t source);
    Status flushTiles();
    Status writeChunk(LaneId lane, std::span<const SourceEvent> events);
    std::int32_t depthOf(const SourceEvent& event);
    std::int64_t onRun(std::int64_t ns) const { return trace_.onRun(ns, originNs_); }
    static std::optional<std::int64_t> known(std::int64_t value)
    {
        return value == SourceEvent::kNone ? std::nullopt : std::optional(value);
    }

    static std::optional<std::int32_t> knownMicroBatch(std::int32_t number)
    {
        return number >= 0 ? std::optional(number) : std::nullopt;
    }
    /// Of a range whose name may lack the number that its place tells.
    std::int32_t microBatchOf(const SourceEvent& range) const
    {
        if (range.microBatch >= 0 || range.pass == Pass::None)
            return range.microBatch;
        auto action = std::ranges::lower_bound(trace_.actions, range.beginNs, {}, &SourceAction::beginNs);
        for (; action != trace_.actions.end() && action->beginNs == range.beginNs; ++action) {
            if (action->endNs == range.endNs)
                return action->microBatch;
        }
        return -1;
    }

    SourceTrace& trace_;
    const std::int32_t rank_;
    const std::int64_t originNs_;
    const std::vector<Dimension>& dimensionOfGroup_;
    const std::map<std::int64_t, const CollectiveMatch*>& matches_;
    TraceWriter& writer_;
    TileBuilder tiles_;
    std::size_t unflushed_ = 0; ///< spans among the tiles
    std::map<std::pair<LaneKind, std::string>, int> uses_; ///< lanes of the file that become one
    std::vector<std::optional<NameId>> names_;
    std::array<std::vector<std::optional<SignatureId>>, 6> signatures_; ///< by pass, then name
    std::map<std::tuple<std::uint32_t, Pass, std::int64_t>, SignatureId> describedSignatures_; ///< by facts, too
    std::vector<std::int64_t> openEnds_; ///< ranges open at the sweep's place, by depth
    std::int64_t farOff_ = 0;
    std::vector<Kernel> kernels_;
    std::vector<Copy> copies_;
    std::vector<HostCall> calls_;
    std::vector<Range> ranges_;
    std::vector<Bubble> bubbles_;
    std::vector<CounterSample> counters_;
};

Status RankWriter::writeParts()
{
    std::map<std::pair<std::uint32_t, Dimension>, std::vector<CollectivePart>> byLane;
    for (const SourcePart& part : trace_.parts) {
        if (part.beginNs < trace_.lowestNs || part.beginNs > trace_.highestNs) {
            ++farOff_;
            continue;
        }
        const Dimension dimension
            = part.group < dimensionOfGroup_.size() ? dimensionOfGroup_[part.group] : Dimension::None;
        const auto text = name(part.name);
        if (!text)
            return text.error();
        CollectivePart row;
        row.beginNs = onRun(part.beginNs);
        row.endNs = onRun(part.endNs);
        row.name = *text;
        row.op = part.op;
        row.instance = static_cast<InstanceId>(part.instance);
        row.bytes = part.bytes;
        row.peer = part.peer;
        row.launchGroup = part.launchGroup;
        row.microBatch = part.microBatch;
        row.cpuNs = part.cpuNs;
        row.correlation = part.correlation;
        byLane[{ part.lane, dimension }].push_back(row);
    }
    for (auto& [key, rows] : byLane) {
        const auto id = lane(key.first, key.second);
        if (!id)
            return id.error();
        std::ranges::sort(rows, {}, &CollectivePart::beginNs);
        for (const CollectivePart& row : rows) {
            const auto match = matches_.find(raw(row.instance));
            const Window whole{ row.beginNs, row.endNs };
            if (match == matches_.end() || match->second->partsPresent < 2) {
                tiles_.add(*id, whole, SpanClass::Communication);
                continue;
            }
            const std::int64_t split = std::clamp(match->second->lastEntryNs, row.beginNs, row.endNs);
            const TileBuilder::Part parts[]
                = { { { row.beginNs, split }, SpanClass::Wait }, { { split, row.endNs }, SpanClass::Transfer } };
            tiles_.add(*id, whole, SpanClass::Transfer, parts);
        }
        if (Status status = writer_.append(*id, rows); !status)
            return status;
    }
    return Done{};
}

Status RankWriter::writeLane(std::uint32_t source)
{
    std::optional<LaneId> id;
    openEnds_.clear();
    const Status visited = trace_.events->visit(source, [&](std::span<const SourceEvent> events) -> Status {
        if (!id) {
            const auto made = lane(source);
            if (!made)
                return made.error();
            id = *made;
        }
        if (Status status = writeChunk(*id, events); !status)
            return status;
        unflushed_ += events.size();
        return unflushed_ < kSpansAFlush ? Status(Done{}) : flushTiles();
    });
    if (!visited || !id)
        return visited;
    if (Status status = flushTiles(); !status)
        return status;
    const SourceLane& from = trace_.lanes[source];
    if (uses_[{ from.kind, from.name }] == 1)
        tiles_.close(*id);
    return Done{};
}

/// Spans come by begin: what is behind them is hardly met again, and need not stay in memory.
Status RankWriter::flushTiles()
{
    unflushed_ = 0;
    const Status flushed = tiles_.flush([&](std::span<const Tile> row) { return writer_.putTileRow(row); });
    tiles_.trim();
    return flushed;
}

/// Events come by begin, longer first: depth is how many of the earlier ones are still open.
std::int32_t RankWriter::depthOf(const SourceEvent& event)
{
    std::size_t depth = 0;
    while (depth < openEnds_.size() && openEnds_[depth] > event.beginNs)
        ++depth;
    openEnds_.resize(depth);
    openEnds_.push_back(event.endNs);
    return static_cast<std::int32_t>(depth);
}

Status RankWriter::writeChunk(LaneId id, std::span<const SourceEvent> events)
{
    kernels_.clear();
    copies_.clear();
    calls_.clear();
    ranges_.clear();
    bubbles_.clear();
    counters_.clear();
    for (const SourceEvent& event : events) {
        if (event.beginNs < trace_.lowestNs || event.beginNs > trace_.highestNs) {
            ++farOff_;
            continue;
        }
        const Window at{ onRun(event.beginNs), onRun(event.endNs) };
        if (event.kind == SourceKind::Kernel) {
            SourceEvent kernel = event;
            applyAction(trace_, kernel);
            const auto s = signature(kernel);
            if (!s)
                return s.error();
            kernels_.push_back({ id, at.beginNs, at.endNs, *s, known(kernel.cpuNs), knownMicroBatch(kernel.microBatch),
                trace_.kernelFacts[kernel.extra].work, known(kernel.correlation) });
            tiles_.add(id, at, SpanClass::Compute);
            continue;
        }
        if (event.kind == SourceKind::Bubble) {
            std::optional<std::int32_t> awaited;
            if (event.extra != SourceEvent::kNone)
                awaited = static_cast<std::int32_t>(event.extra);
            bubbles_.push_back({ id, at.beginNs, at.endNs, event.phase, trace_.stage.value_or(0),
                knownMicroBatch(event.microBatch), awaited, event.pass });
            tiles_.add(id, at, SpanClass::Bubble);
            continue;
        }
        if (event.kind == SourceKind::Counter) {
            counters_.push_back({ id, at.beginNs, std::bit_cast<double>(event.extra) });
            continue;
        }
        const auto text = name(event.name);
        if (!text)
            return text.error();
        if (event.kind == SourceKind::Copy) {
            copies_.push_back({ id, at.beginNs, at.endNs, *text, known(event.extra), known(event.correlation) });
            tiles_.add(id, at, SpanClass::Copy);
        } else if (event.kind == SourceKind::HostCall) {
            calls_.push_back({ id, at.beginNs, at.endNs, *text, known(event.correlation) });
            tiles_.add(id, at, SpanClass::Host);
        } else {
            ranges_.push_back({ id, at.beginNs, at.endNs, *text, event.range, depthOf(event), known(event.extra),
                knownMicroBatch(microBatchOf(event)), known(event.cpuNs) });
            const SpanClass shown = event.range == RangeKind::Data ? SpanClass::Data
                : event.range == RangeKind::Checkpoint             ? SpanClass::Checkpoint
                                                                   : SpanClass::Host;
            tiles_.add(id, at, shown);
        }
    }
    const auto append = [&](const auto& rows) -> Status {
        return rows.empty() ? Status(Done{}) : writer_.append(id, std::span(rows));
    };
    for (const Status& status :
        { append(kernels_), append(copies_), append(calls_), append(ranges_), append(bubbles_), append(counters_) }) {
        if (!status)
            return status;
    }
    return Done{};
}

class RunAssembly {
public:
    RunAssembly(std::span<SourceTrace> traces, const MatchResult& matches, TraceWriter& writer)
        : traces_(traces)
        , matches_(matches)
        , writer_(writer)
    {
    }

    Result<AssemblyReport> write(const Alignment& alignment, const std::string& name)
    {
        report_.alignment = alignment;
        originNs_ = firstEvent();
        if (Status status = writeAll(name); !status)
            return status.error();
        return report_;
    }

private:
    std::int64_t firstEvent() const
    {
        std::int64_t first = std::numeric_limits<std::int64_t>::max();
        for (const SourceTrace& trace : traces_) {
            for (const SourcePart& part : trace.parts) {
                if (part.beginNs >= trace.lowestNs && part.beginNs <= trace.highestNs)
                    first = std::min(first, trace.onRun(part.beginNs, 0));
            }
            if (const auto extent = trace.events->extent(trace.lowestNs, trace.highestNs))
                first = std::min(first, trace.onRun(extent->first, 0));
        }
        return first == std::numeric_limits<std::int64_t>::max() ? 0 : first;
    }

    Status writeAll(const std::string& name)
    {
        if (Status status = writer_.begin(); !status)
            return status;
        if (Status status = writeFacts(name); !status)
            return status;
        if (Status status = writeMatches(); !status)
            return status;
        for (SourceTrace& trace : traces_) {
            const std::vector<Dimension> dimensions = dimensionsOf(trace);
            if (Status status = RankWriter(trace, originNs_, dimensions, matchById_, writer_).write(); !status)
                return status;
            report_.events += static_cast<std::int64_t>(trace.events->count());
            report_.parts += static_cast<std::int64_t>(trace.parts.size());
            trace.events.reset(); // its memory is for the next
        }
        return writer_.commit();
    }

    std::vector<Dimension> dimensionsOf(const SourceTrace& trace) const
    {
        std::vector<Dimension> dimensions;
        for (const SourceGroup& group : trace.groups) {
            Dimension dimension = group.dimension;
            // The group of all ranks, in a job that names no other: data parallel is what such jobs do.
            if (dimension == Dimension::World && trace.groups.size() <= 2)
                dimension = Dimension::Data;
            dimensions.push_back(dimension);
        }
        return dimensions;
    }

    Status writeFacts(const std::string& name);
    Status writeMatches();
    Status writeCommunicators();

    std::span<SourceTrace> traces_;
    const MatchResult& matches_;
    TraceWriter& writer_;
    AssemblyReport report_;
    std::int64_t originNs_ = 0;
    std::vector<CommunicatorId> communicators_;
    std::vector<CollectiveMatch> matchRows_;
    std::map<std::int64_t, const CollectiveMatch*> matchById_;
};

Status RunAssembly::writeFacts(const std::string& name)
{
    RunInfo run;
    run.name = name;
    run.source = traces_.front().recorder.empty() ? traces_.front().format : traces_.front().recorder;
    run.coresPerNode = traces_.front().coresPerNode;
    run.originUtcNs = originNs_;
    for (const SourceTrace& trace : traces_)
        run.worldSize = std::max({ run.worldSize, trace.worldSize.value_or(0), trace.rank.value_or(0) + 1 });
    report_.worldSize = run.worldSize;
    report_.ranks = static_cast<std::int32_t>(traces_.size());
    if (Status status = writer_.setRun(run); !status)
        return status;
    for (const SourceTrace& trace : traces_) {
        RankInfo rank;
        rank.rank = trace.rank.value_or(0);
        rank.node = trace.node;
        rank.device = trace.device;
        rank.stage = trace.stage;
        rank.dp = trace.dp;
        rank.tp = trace.tp;
        rank.ep = trace.ep;
        rank.clockErrorNs = trace.clockErrorNs;
        rank.peakFlops = trace.peakFlops;
        if (Status status = writer_.putRank(rank); !status)
            return status;
        const std::string prefix = "file." + std::to_string(rank.rank) + ".";
        std::map<std::string, std::string> facts = trace.metadata;
        facts["path"] = trace.path;
        facts["format"] = trace.format;
        facts["fractional_times"] = trace.fractionalTimes ? "true" : "false";
        facts["base_ns"] = std::to_string(trace.baseNs);
        facts["shift_ns"] = std::to_string(trace.onRun(0, originNs_)); // added to the file's times
        if (trace.clockMap.drift != 0)
            facts["clock_drift_ppm"] = std::to_string(trace.clockMap.drift * 1e6);
        facts["clock_residual_ns"] = std::to_string(trace.clockResidualNs);
        facts["clock_error_ns"] = std::to_string(trace.clockErrorNs);
        for (const auto& [key, value] : facts) {
            if (Status status = writer_.setProvenance(prefix + key, value); !status)
                return status;
        }
        for (const auto& [key, value] : trace.runFacts) {
            if (Status status = writer_.setProvenance(key, value); !status)
                return status;
        }
        for (const Loss& loss : trace.losses) {
            if (Status status = writer_.addLoss(loss); !status)
                return status;
        }
        for (const LinkSpeed& link : trace.links) {
            if (Status status = writer_.putLink(link); !status)
                return status;
        }
    }
    for (const Loss& note : matches_.notes) {
        if (Status status = writer_.addLoss(note); !status)
            return status;
    }
    if (!matches_.how.empty()) {
        if (Status status = writer_.setProvenance("collectives.matching", matches_.how); !status)
            return status;
    }
    if (!report_.alignment.note.empty()) {
        if (Status status = writer_.setProvenance("clock.alignment", report_.alignment.note); !status)
            return status;
    }
    return writeCommunicators();
}

Status RunAssembly::writeCommunicators()
{
    for (const SourceGroup& group : matches_.groups) {
        Communicator communicator;
        communicator.name = group.name.empty() ? "all ranks" : group.name;
        communicator.dimension = group.dimension;
        communicator.members = group.ranks;
        const auto id = writer_.communicator(communicator);
        if (!id)
            return id.error();
        communicators_.push_back(*id);
    }
    return Done{};
}

Status RunAssembly::writeMatches()
{
    matchRows_ = matchRowsOf(traces_, matches_, communicators_, originNs_);
    for (const CollectiveMatch& row : matchRows_) {
        matchById_[raw(row.id)] = &row;
        if (Status status = writer_.putMatch(row); !status)
            return status;
    }
    return Done{};
}

} // namespace

std::vector<CollectiveMatch> matchRowsOf(std::span<const SourceTrace> traces, const MatchResult& matches,
    std::span<const CommunicatorId> communicators, std::int64_t originNs)
{
    std::vector<CollectiveMatch> rows;
    for (const SourceInstance& instance : matches.instances) {
        CollectiveMatch row;
        row.id = static_cast<InstanceId>(instance.id);
        row.communicator = communicators[instance.group];
        row.op = instance.op;
        row.sequence = instance.sequence;
        row.partsPresent = static_cast<std::int32_t>(instance.members.size());
        row.partsExpected = std::max(instance.expected, row.partsPresent);
        row.firstEntryNs = std::numeric_limits<std::int64_t>::max();
        row.lastEntryNs = row.lastExitNs = std::numeric_limits<std::int64_t>::min();
        for (const auto& member : instance.members) {
            const SourceTrace& trace = traces[member.trace];
            const SourcePart& part = trace.parts[member.part];
            const std::int64_t entry = trace.onRun(part.beginNs, originNs), exit = trace.onRun(part.endNs, originNs);
            if (entry > row.lastEntryNs) {
                row.lastEntryNs = entry;
                row.lateRank = trace.rank;
            }
            row.firstEntryNs = std::min(row.firstEntryNs, entry);
            row.lastExitNs = std::max(row.lastExitNs, exit);
        }
        if (row.partsPresent < 2)
            row.lateRank.reset();
        rows.push_back(row);
    }
    return rows;
}

Result<AssemblyReport> writeRun(std::span<SourceTrace> traces, const MatchResult& matches, const Alignment& alignment,
    const std::string& name, TraceWriter& writer)
{
    if (traces.empty())
        return Error("nothing to write: no rank was read");
    return RunAssembly(traces, matches, writer).write(alignment, name);
}

} // namespace rankscope::tracing

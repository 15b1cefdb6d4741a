#include "tracing/import/run_file/run_merge.h"

#include "tracing/import/clock_alignment.h"
#include "tracing/import/partial_file.h"
#include "tracing/import/rank_assignment.h"
#include "tracing/import/run_assembly.h"
#include "tracing/store/tile_builder.h"
#include "tracing/store/trace_reader.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace rankscope::tracing {

namespace {

constexpr Window kAlways{ INT64_MIN / 4, INT64_MAX / 4 };

SpanClass classOf(Pass pass)
{
    return pass == Pass::Recompute ? SpanClass::Recompute
        : pass == Pass::Optimizer  ? SpanClass::Optimizer
                                   : SpanClass::Compute;
}

SpanClass classOf(RangeKind kind)
{
    return kind == RangeKind::Data      ? SpanClass::Data
        : kind == RangeKind::Checkpoint ? SpanClass::Checkpoint
        : kind == RangeKind::Start      ? SpanClass::Start
                                        : SpanClass::Host;
}

/// A file that is open, with what its rows point to.
struct Source {
    explicit Source(TraceReader opened)
        : reader(std::move(opened))
    {
    }

    TraceReader reader;
    RunInfo run;
    std::vector<RankInfo> ranks;
    std::vector<Lane> lanes;
    std::vector<Communicator> communicators;
    std::vector<std::string> names;
    std::vector<KernelSignature> signatures;
    std::map<std::int64_t, CollectiveMatch> matches;
};

template <typename T> Status take(T& into, Result<T> read)
{
    if (!read)
        return read.error();
    into = std::move(*read);
    return Done{};
}

class RunMerge {
public:
    RunMerge(const std::vector<std::string>& files, const ImportOptions& options)
        : files_(files)
        , options_(options)
    {
    }

    Status read()
    {
        for (const std::string& file : files_) {
            auto reader = TraceReader::open(file);
            if (!reader)
                return reader.error();
            Source& source = sources_.emplace_back(std::move(*reader));
            if (Status status = readFacts(source); !status)
                return status.error().in("read " + file);
        }
        originNs_ = sources_.front().run.originUtcNs;
        for (const Source& source : sources_)
            originNs_ = std::min(originNs_, source.run.originUtcNs);
        for (std::size_t s = 0; s < sources_.size(); ++s) {
            if (Status status = readRanks(s); !status)
                return status;
        }
        matches_ = matchCollectives(traces_);
        const std::vector<Loss> absent = rankLosses(traces_);
        matches_.notes.insert(matches_.notes.end(), absent.begin(), absent.end());
        alignment_ = alignClocks(traces_, matches_);
        return Done{};
    }

    Status write(const std::string& name, TraceWriter& writer)
    {
        writer_ = &writer;
        if (Status status = writer.begin(); !status)
            return status;
        for (const auto step :
            { &RunMerge::writeRanks, &RunMerge::writeMatches, &RunMerge::writeProvenance, &RunMerge::writeLosses }) {
            if (Status status = (this->*step)(); !status)
                return status;
        }
        RunInfo run = sources_.front().run;
        run.name = name;
        run.originUtcNs = originNs_;
        for (const SourceTrace& trace : traces_)
            run.worldSize = std::max({ run.worldSize, trace.worldSize.value_or(0), *trace.rank + 1 });
        worldSize_ = run.worldSize;
        if (Status status = writer.setRun(run); !status)
            return status;
        for (std::size_t t = 0; t < traces_.size(); ++t) {
            if (Status status = copyRank(t); !status)
                return status;
        }
        return writer.commit();
    }

    void describe(ImportReport& report) const
    {
        report.ranks = static_cast<std::int32_t>(traces_.size());
        report.worldSize = worldSize_;
        report.events = rows_;
        report.clocks = alignment_.note;
        report.losses = matches_.notes;
        for (std::size_t t = 0; t < traces_.size(); ++t)
            report.files.push_back({ files_[sourceOf_[t]], "rankscope", *traces_[t].rank, false, false, "" });
    }

private:
    Status readFacts(Source& source)
    {
        TraceReader& reader = source.reader;
        for (const Status& status : { take(source.run, reader.run()), take(source.ranks, reader.ranks()),
                 take(source.lanes, reader.lanes()), take(source.communicators, reader.communicators()),
                 take(source.names, reader.names()), take(source.signatures, reader.signatures()) }) {
            if (!status)
                return status;
        }
        const auto matches = reader.matches(kAlways);
        if (!matches)
            return matches.error();
        for (const CollectiveMatch& match : *matches)
            source.matches[raw(match.id)] = match;
        return Done{};
    }

    /// The ranks' communication, as much as matching and alignment need.
    Status readRanks(std::size_t s)
    {
        Source& source = sources_[s];
        for (const RankInfo& info : source.ranks) {
            if (const auto [it, isNew] = owners_.try_emplace(info.rank, s); !isNew)
                return Error("merge: " + files_[it->second] + " and " + files_[s] + " both hold rank "
                    + std::to_string(info.rank));
            SourceTrace& trace = traces_.emplace_back();
            sourceOf_.push_back(s);
            trace.path = files_[s];
            trace.format = "rankscope";
            trace.rank = info.rank;
            trace.worldSize = source.run.worldSize > 0 ? std::optional(source.run.worldSize) : std::nullopt;
            trace.node = info.node;
            trace.clock = info.node.empty() ? files_[s] : info.node;
            trace.baseNs = source.run.originUtcNs;
            trace.events = std::make_unique<EventSpool>(1);
            trace.lanes.emplace_back();
            readGroups(source, trace);
            for (const Lane& lane : source.lanes) {
                if (lane.rank != info.rank || lane.kind != LaneKind::Communication)
                    continue;
                Status status
                    = source.reader.visit<CollectivePart>(lane.id, kAlways, [&](std::span<const CollectivePart> parts) {
                          for (const CollectivePart& part : parts)
                              trace.parts.push_back(sourcePart(source, trace, part));
                          return true;
                      });
                if (!status)
                    return status;
            }
        }
        return Done{};
    }

    static void readGroups(const Source& source, SourceTrace& trace)
    {
        trace.groups.emplace_back();
        for (const Communicator& communicator : source.communicators) {
            SourceGroup group;
            group.name = communicator.name;
            group.dimension = communicator.dimension;
            group.ranks = communicator.members;
            group.size = static_cast<std::int32_t>(communicator.members.size());
            trace.groups.push_back(std::move(group));
        }
    }

    static SourcePart sourcePart(const Source& source, const SourceTrace& trace, const CollectivePart& row)
    {
        SourcePart part;
        part.beginNs = row.beginNs;
        part.endNs = row.endNs;
        part.op = row.op;
        part.peer = row.peer;
        const auto match = source.matches.find(raw(row.instance));
        if (match == source.matches.end())
            return part;
        part.sequence = match->second.sequence;
        const auto at = std::ranges::find(source.communicators, match->second.communicator, &Communicator::id);
        if (at == source.communicators.end())
            return part;
        part.group = static_cast<std::uint32_t>(at - source.communicators.begin()) + 1;
        // The matcher wants a peer's place in its group.
        const auto& members = trace.groups[part.group].ranks;
        const auto place = part.peer ? std::ranges::find(members, *part.peer) : members.end();
        if (place != members.end())
            part.peer = static_cast<std::int32_t>(place - members.begin());
        return part;
    }

    Status writeRanks()
    {
        for (std::size_t t = 0; t < traces_.size(); ++t) {
            const Source& source = sources_[sourceOf_[t]];
            RankInfo info = *std::ranges::find(source.ranks, *traces_[t].rank, &RankInfo::rank);
            info.clockErrorNs = std::max(info.clockErrorNs, traces_[t].clockErrorNs);
            if (Status status = writer_->putRank(info); !status)
                return status;
        }
        return Done{};
    }

    Status writeMatches()
    {
        std::vector<CommunicatorId> communicators;
        for (const SourceGroup& group : matches_.groups) {
            const auto id = writer_->communicator(
                { {}, group.name.empty() ? "all ranks" : group.name, group.dimension, group.ranks });
            if (!id)
                return id.error();
            communicators.push_back(*id);
        }
        for (const CollectiveMatch& row : matchRowsOf(traces_, matches_, communicators, originNs_)) {
            matchById_[raw(row.id)] = row;
            if (Status status = writer_->putMatch(row); !status)
                return status;
        }
        return Done{};
    }

    /// The first file's word stands; where another one differs, its own stands beside.
    Status writeProvenance()
    {
        std::map<std::string, std::string> all;
        for (std::size_t s = 0; s < sources_.size(); ++s) {
            const auto facts = sources_[s].reader.provenance();
            if (!facts)
                return facts.error();
            for (const auto& [key, value] : *facts) {
                const auto [it, isNew] = all.try_emplace(key, value);
                if (!isNew && it->second != value)
                    all.try_emplace("merged." + std::to_string(s) + "." + key, value);
            }
            all["merged." + std::to_string(s) + ".path"] = files_[s];
        }
        if (!alignment_.note.empty())
            all["clock.alignment"] = alignment_.note;
        for (const auto& [key, value] : all) {
            if (Status status = writer_->setProvenance(key, value); !status)
                return status;
        }
        return Done{};
    }

    Status writeLosses()
    {
        std::vector<Loss> losses = matches_.notes;
        for (std::size_t s = 0; s < sources_.size(); ++s) {
            const auto own = sources_[s].reader.losses();
            if (!own)
                return own.error();
            losses.insert(losses.end(), own->begin(), own->end());
            if (!sources_[s].run.finished)
                losses.push_back({ "run not finished", 1, files_[s] });
        }
        for (const Loss& loss : losses) {
            if (Status status = writer_->addLoss(loss); !status)
                return status;
        }
        return Done{};
    }

    Status copyRank(std::size_t t)
    {
        const SourceTrace& trace = traces_[t];
        Source& source = sources_[sourceOf_[t]];
        current_ = &trace;
        nextPart_ = 0;
        TileBuilder tiles([](LaneId, int, Window) { return Result<std::vector<Tile>>(std::vector<Tile>{}); });
        for (const Lane& lane : source.lanes) {
            if (lane.rank != *trace.rank)
                continue;
            const auto id = writer_->lane(lane);
            if (!id)
                return id.error();
            if (Status status = copyLane(source, trace, lane.id, *id, tiles); !status)
                return status;
        }
        const auto steps = source.reader.steps();
        if (!steps)
            return steps.error();
        for (Step step : *steps) {
            if (step.rank != *trace.rank)
                continue;
            step.beginNs = trace.onRun(step.beginNs, originNs_);
            step.endNs = trace.onRun(step.endNs, originNs_);
            if (Status status = writer_->putStep(step); !status)
                return status;
        }
        if (options_.progress && !options_.progress({ t + 1, traces_.size(), t + 1, traces_.size(), rows_, true }))
            return Error("import: cancelled");
        return tiles.flush([&](std::span<const Tile> made) { return writer_->putTiles(made); });
    }

    Status copyLane(Source& source, const SourceTrace& trace, LaneId from, LaneId to, TileBuilder& tiles)
    {
        Status status = copyRows<Kernel>(source, from, to, [&](Kernel& row) -> Status {
            const auto at = static_cast<std::size_t>(raw(row.signature));
            KernelSignature signature = at < source.signatures.size() ? source.signatures[at] : KernelSignature{};
            if (Status named = rename(source, signature.name); !named)
                return named;
            const auto id = writer_->signature(signature);
            if (!id)
                return id.error();
            row.signature = *id;
            tiles.add(to, { row.beginNs, row.endNs }, classOf(signature.pass));
            return Done{};
        });
        if (status)
            status = copyRows<Copy>(source, from, to, [&](Copy& row) -> Status {
                tiles.add(to, { row.beginNs, row.endNs }, SpanClass::Copy);
                return rename(source, row.name);
            });
        if (status)
            status = copyRows<HostCall>(source, from, to, [&](HostCall& row) -> Status {
                tiles.add(to, { row.beginNs, row.endNs }, SpanClass::Host);
                return rename(source, row.name);
            });
        if (status)
            status = copyRows<CollectivePart>(source, from, to, [&](CollectivePart& row) -> Status {
                row.instance
                    = static_cast<InstanceId>(nextPart_ < trace.parts.size() ? trace.parts[nextPart_].instance : 0);
                ++nextPart_;
                addPartTiles(row, to, tiles);
                return rename(source, row.name);
            });
        if (status)
            status = copyRows<Bubble>(source, from, to, [&](Bubble& row) -> Status {
                tiles.add(to, { row.beginNs, row.endNs }, SpanClass::Bubble);
                return Done{};
            });
        if (status)
            status = copyRows<Range>(source, from, to, [&](Range& row) -> Status {
                tiles.add(to, { row.beginNs, row.endNs }, classOf(row.kind));
                return rename(source, row.name);
            });
        return status ? copyCounters(source, from, to) : status;
    }

    void addPartTiles(const CollectivePart& row, LaneId lane, TileBuilder& tiles) const
    {
        const auto match = matchById_.find(raw(row.instance));
        const Window whole{ row.beginNs, row.endNs };
        if (match == matchById_.end() || match->second.partsPresent < 2)
            return tiles.add(lane, whole, SpanClass::Communication);
        const std::int64_t split = std::clamp(match->second.lastEntryNs, row.beginNs, row.endNs);
        const TileBuilder::Part parts[]
            = { { { row.beginNs, split }, SpanClass::Wait }, { { split, row.endNs }, SpanClass::Transfer } };
        tiles.add(lane, whole, SpanClass::Transfer, parts);
    }

    template <typename Row, typename Change>
    Status copyRows(Source& source, LaneId from, LaneId to, const Change& change)
    {
        Status failed = Done{};
        Status status = source.reader.visit<Row>(from, kAlways, [&](std::span<const Row> rows) {
            std::vector<Row> changed(rows.begin(), rows.end());
            for (Row& row : changed) {
                row.beginNs = current_->onRun(row.beginNs, originNs_);
                row.endNs = current_->onRun(row.endNs, originNs_);
                if (failed = change(row); !failed)
                    return false;
            }
            rows_ += static_cast<std::int64_t>(changed.size());
            failed = writer_->append(to, std::span<const Row>(changed));
            return failed.has_value();
        });
        return failed ? status : failed;
    }

    Status copyCounters(Source& source, LaneId from, LaneId to)
    {
        Status failed = Done{};
        Status status = source.reader.visit<CounterSample>(from, kAlways, [&](std::span<const CounterSample> rows) {
            std::vector<CounterSample> changed(rows.begin(), rows.end());
            for (CounterSample& row : changed)
                row.timeNs = current_->onRun(row.timeNs, originNs_);
            rows_ += static_cast<std::int64_t>(changed.size());
            failed = writer_->append(to, std::span<const CounterSample>(changed));
            return failed.has_value();
        });
        return failed ? status : failed;
    }

    Status rename(const Source& source, NameId& name)
    {
        const auto at = static_cast<std::size_t>(raw(name));
        const auto id = writer_->name(at < source.names.size() ? source.names[at] : "");
        if (!id)
            return id.error();
        name = *id;
        return Done{};
    }

    const std::vector<std::string>& files_;
    const ImportOptions& options_;
    std::vector<Source> sources_;
    std::int64_t originNs_ = 0;
    std::map<std::int32_t, std::size_t> owners_; ///< file of a rank
    std::vector<SourceTrace> traces_; ///< a rank each, parts only
    std::vector<std::size_t> sourceOf_; ///< file of a trace
    MatchResult matches_;
    Alignment alignment_;
    TraceWriter* writer_ = nullptr;
    std::map<std::int64_t, CollectiveMatch> matchById_;
    const SourceTrace* current_ = nullptr; ///< of the rank being copied
    std::size_t nextPart_ = 0; ///< of the rank being copied: parts come in the order in which they were read
    std::int64_t rows_ = 0;
    std::int32_t worldSize_ = 0;
};

} // namespace

Result<ImportReport> mergeRuns(const std::vector<std::string>& files, const std::string& out, const std::string& name,
    const ImportOptions& options)
{
    RunMerge merge(files, options);
    if (Status status = merge.read(); !status)
        return status.error();
    auto partial = PartialFile::create(out);
    if (!partial)
        return partial.error();
    const auto written = [&]() -> Status {
        auto writer = TraceWriter::open(partial->path(), TraceWriter::Mode::CreateNew);
        if (!writer)
            return writer.error();
        if (Status status = merge.write(name, *writer); !status)
            return status;
        return writer->finish();
    }();
    if (!written)
        return written.error();
    if (Status status = partial->putInPlace(); !status)
        return status.error();
    ImportReport report;
    report.out = out;
    merge.describe(report);
    return report;
}

} // namespace rankscope::tracing

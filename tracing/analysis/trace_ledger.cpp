#include "tracing/analysis/trace_ledger.h"

#include "tracing/analysis/launch_times.h"
#include "tracing/analysis/link_calibration.h"
#include "tracing/analysis/off_core_gaps.h"
#include <algorithm>
#include <charconv>
#include <set>
#include <unordered_map>

namespace rankscope::tracing {

namespace {

constexpr Window kAlways{ INT64_MIN / 4, INT64_MAX / 4 };
/// A file that declares more is damaged: its schedule would not fit in memory.
constexpr std::int64_t kMostStages = 1000, kMostMicroBatches = 65535;

std::optional<std::int64_t> number(const RunFacts& facts, const std::string& key)
{
    const auto it = facts.provenance.find(key);
    std::int64_t value = 0;
    if (it == facts.provenance.end()
        || std::from_chars(it->second.data(), it->second.data() + it->second.size(), value).ec != std::errc())
        return std::nullopt;
    return value;
}

std::string text(const RunFacts& facts, const std::string& key)
{
    const auto it = facts.provenance.find(key);
    if (it == facts.provenance.end())
        return "";
    // Values of a configuration stand as in TOML.
    return it->second.size() > 1 && it->second.front() == '"' ? it->second.substr(1, it->second.size() - 2)
                                                              : it->second;
}

class SourceReader {
public:
    SourceReader(TraceReader& reader, const RunFacts& facts, Window window)
        : reader_(reader)
        , facts_(facts)
        , recorded_(facts.run.source == kOwnSource)
        , window_(window)
        , isPart_(window.beginNs > kAlways.beginNs)
    {
    }

    Result<LedgerSource> run()
    {
        if (Status status = readMatches(); !status)
            return status.error();
        for (const RankInfo& info : facts_.ranks) {
            if (Status status = readRank(info); !status)
                return status.error();
        }
        if (isPart_)
            passIncomplete();
        fillMessages();
        setCalibration();
        setWindows();
        setLifecycle();
        setPipeline();
        const auto present = static_cast<std::int32_t>(facts_.ranks.size());
        source_.ranksAbsent = std::max(0, facts_.run.worldSize - present);
        return std::move(source_);
    }

private:
    ledger::LedgerInput& input() { return source_.input; }

    Status readMatches()
    {
        const auto matches = reader_.matches(window_);
        if (!matches)
            return matches.error();
        std::map<CommunicatorId, const Communicator*> communicators;
        for (const Communicator& communicator : facts_.communicators)
            communicators[communicator.id] = &communicator;
        if (isPart_)
            source_.matches = *matches;
        for (const CollectiveMatch& match : *matches) {
            ledger::Instance instance;
            instance.communicator = raw(match.communicator);
            instance.sequence = match.sequence;
            instance.op = match.op;
            if (const auto it = communicators.find(match.communicator); it != communicators.end()) {
                instance.dimension = it->second->dimension;
                if (!isPointToPoint(match.op))
                    instance.members = it->second->members;
            }
            if (instance.members.empty() && !isPointToPoint(match.op))
                absent_.push_back({ input().instances.size(), match.partsExpected - match.partsPresent });
            instanceOf_[raw(match.id)] = input().instances.size();
            input().instances.push_back(std::move(instance));
        }
        return Done{};
    }

    Status readRank(const RankInfo& info)
    {
        ledger::RankInput rank;
        rank.rank = info.rank;
        rank.stage = info.stage;
        rank.clockError = info.clockErrorNs;
        if (info.clockErrorNs == 0)
            rank.clock = clockOf(info.node);
        if (info.peakFlops && *info.peakFlops > 0) {
            rank.peak.flopPerSecond = static_cast<std::int64_t>(*info.peakFlops);
            source_.flopsKnown = true;
        }
        launches_ = {};
        work_.clear();
        for (const Lane& lane : facts_.lanes) {
            if (lane.rank != info.rank)
                continue;
            if (Status status = readHost(lane, rank); !status)
                return status;
        }
        launches_.finish();
        source_.gpuTime = source_.gpuTime || !launches_.empty() || !recorded_;
        source_.signatures.emplace_back();
        for (const Lane& lane : facts_.lanes) {
            if (lane.rank != info.rank)
                continue;
            if (Status status = readDevice(lane, rank); !status)
                return status;
        }
        if (recorded_ && launches_.empty())
            addOffCoreGaps(rank, work_);
        if (isPart_)
            passCut(rank);
        input().ranks.push_back(std::move(rank));
        return Done{};
    }

    /// What begins before the cut or is of the first group launch, of which some may be left out, is not to be trusted;
    /// the gap after it neither, whose begin may be unknown.
    void passCut(const ledger::RankInput& rank)
    {
        std::int64_t passed = window_.beginNs;
        std::int64_t firstGroup = INT64_MAX;
        for (const ledger::PartOp& part : rank.parts)
            firstGroup = std::min(firstGroup, part.launchGroup.value_or(INT64_MAX));
        const auto pass = [&](std::int64_t begin, std::int64_t end, bool isCut) {
            if (begin < window_.beginNs || isCut)
                passed = std::max(passed, end);
        };
        visitOps(rank, [&](const auto& op) { pass(op.begin, op.end, false); });
        for (const Range& range : work_)
            pass(range.beginNs, range.endNs, false);
        for (const ledger::PartOp& part : rank.parts)
            pass(part.begin, part.end, part.launchGroup && *part.launchGroup == firstGroup);
        std::int64_t next = INT64_MAX;
        visitOps(rank, [&](const auto& op) {
            if (op.begin >= passed)
                next = std::min(next, op.begin);
        });
        // Without a next operation all that follows is the same gap, to the end.
        source_.firmNs = std::max(source_.firmNs, next == INT64_MAX ? passed : next);
    }

    template <typename Visitor> static void visitOps(const ledger::RankInput& rank, Visitor visitor)
    {
        for (const ledger::ComputeOp& op : rank.compute)
            visitor(op);
        for (const ledger::PartOp& part : rank.parts)
            visitor(part);
        for (const ledger::CopyOp& copy : rank.copies)
            visitor(copy);
    }

    /// Nor is a collective of which a part was left out, nor what happened while it went on.
    void passIncomplete()
    {
        std::vector<std::int32_t> present(input().instances.size(), 0);
        std::vector<std::int64_t> ends(present.size(), INT64_MIN);
        for (const ledger::RankInput& rank : input().ranks) {
            for (const ledger::PartOp& part : rank.parts) {
                ++present[part.instance];
                ends[part.instance] = std::max(ends[part.instance], part.end);
            }
        }
        for (std::size_t i = 0; i < present.size(); ++i) {
            const CollectiveMatch& match = source_.matches[i];
            if (present[i] > 0 && present[i] < match.partsPresent)
                source_.firmNs = std::max({ source_.firmNs, ends[i], match.lastEntryNs });
        }
    }

    std::int32_t clockOf(const std::string& node)
    {
        return clocks_.try_emplace(node, static_cast<std::int32_t>(clocks_.size())).first->second;
    }

    Status readHost(const Lane& lane, ledger::RankInput& rank)
    {
        if (lane.kind != LaneKind::Host)
            return Done{};
        Status status = reader_.visitLaunches(lane.id, window_, [&](std::span<const TraceReader::Launch> calls) {
            for (const TraceReader::Launch& call : calls)
                launches_.add(call.correlation, call.beginNs);
        });
        if (!status)
            return status;
        const auto ranges = isPart_ ? reader_.ranges(lane.id, window_) : reader_.markedRanges(lane.id);
        if (!ranges)
            return ranges.error();
        for (const Range& range : *ranges) {
            addAnnotation(range, rank);
            const bool isWork = range.kind == RangeKind::Forward || range.kind == RangeKind::Backward
                || range.kind == RangeKind::Optimizer;
            if (isWork && range.cpuNs && range.endNs > range.beginNs)
                work_.push_back(range);
        }
        return Done{};
    }

    void addAnnotation(const Range& range, ledger::RankInput& rank)
    {
        const auto add = [&](ledger::AnnotationKind kind) {
            rank.annotations.push_back({ kind, range.beginNs, range.endNs });
        };
        switch (range.kind) {
        case RangeKind::Data:
            // The host loads data while the device works; a device waits for data only on a CPU rank.
            return recorded_ ? add(ledger::AnnotationKind::Data) : void();
        case RangeKind::Checkpoint:
            return add(ledger::AnnotationKind::Checkpoint);
        case RangeKind::Validation:
            return add(ledger::AnnotationKind::Planned);
        default:
            return;
        }
    }

    /// A CPU rank's span is its own launch (METRICS 5.3); a device's is its host call, where that is known.
    std::optional<ledger::Ns> launchOf(std::int64_t begin, const std::optional<std::int64_t>& correlation)
    {
        if (recorded_ && launches_.empty())
            return begin;
        if (!correlation)
            return std::nullopt;
        return launches_.find(*correlation);
    }

    Status readDevice(const Lane& lane, ledger::RankInput& rank)
    {
        switch (lane.kind) {
        case LaneKind::Compute:
            return reader_.visit<Kernel>(lane.id, window_, [&](std::span<const Kernel> rows) {
                for (const Kernel& row : rows)
                    addKernel(row, lane, rank);
                return true;
            });
        case LaneKind::Communication:
            return reader_.visit<CollectivePart>(lane.id, window_, [&](std::span<const CollectivePart> rows) {
                for (const CollectivePart& row : rows)
                    addPart(row, rank);
                return true;
            });
        case LaneKind::Copy:
            return reader_.visit<Copy>(lane.id, window_, [&](std::span<const Copy> rows) {
                for (const Copy& row : rows)
                    rank.copies.push_back({ row.beginNs, row.endNs, launchOf(row.beginNs, row.correlation) });
                return true;
            });
        default:
            return Done{};
        }
    }

    void addKernel(const Kernel& row, const Lane& lane, ledger::RankInput& rank)
    {
        ledger::ComputeOp op;
        op.begin = row.beginNs;
        op.end = row.endNs;
        op.lane = raw(lane.id);
        op.microBatch = row.microBatch;
        op.cpu = row.cpuNs;
        op.work = row.work;
        op.launch = launchOf(row.beginNs, row.correlation);
        const auto signature = static_cast<std::size_t>(raw(row.signature));
        if (signature < facts_.signatures.size()) {
            const KernelSignature& s = facts_.signatures[signature];
            op.pass = s.pass;
            op.dtype = s.dtype;
            op.threads = s.threads;
            op.flop = s.flop;
            op.bytes = s.bytes;
            op.redundantFlop = s.redundantFlop.value_or(0);
        }
        rank.compute.push_back(op);
        source_.signatures.back().push_back(row.signature);
    }

    void addPart(const CollectivePart& row, ledger::RankInput& rank)
    {
        const auto it = instanceOf_.find(raw(row.instance));
        if (it == instanceOf_.end())
            return; // its collective is not closed yet: the collector has not written it
        ledger::Instance& instance = input().instances[it->second];
        instance.size = std::max(instance.size, row.bytes);
        ledger::PartOp part;
        part.begin = row.beginNs;
        part.end = row.endNs;
        part.instance = it->second;
        part.launchGroup = row.launchGroup;
        part.launch = launchOf(row.beginNs, row.correlation);
        if (isPointToPoint(row.op) && row.peer) {
            const bool sends = row.op == CollectiveOp::Send;
            instance.source = sends ? rank.rank : *row.peer;
            instance.destination = sends ? *row.peer : rank.rank;
        } else if (row.peer) {
            instance.root = *row.peer;
        }
        rank.parts.push_back(part);
    }

    void fillMessages()
    {
        fillUnknownMembers();
        for (ledger::Instance& instance : input().instances) {
            if (instance.source && instance.destination && instance.members.empty())
                instance.members = { *instance.source, *instance.destination };
        }
    }

    void setCalibration()
    {
        LinkCalibration links(facts_.links);
        for (ledger::Instance& instance : input().instances)
            instance.calibration = links.of(instance);
    }

    /// Where a group's members are not in the file but some of its parts are missing, numbers beyond the world stand
    /// for the absent: without them what is there would pass for everybody.
    void fillUnknownMembers()
    {
        for (const Absent& absent : absent_) {
            std::vector<std::int32_t>& members = input().instances[absent.instance].members;
            for (std::int32_t i = 0; i < std::min(absent.parts, facts_.run.worldSize + 1); ++i)
                members.push_back(facts_.run.worldSize + i);
        }
        if (absent_.empty())
            return;
        std::set<std::size_t> unknown;
        for (const Absent& absent : absent_)
            unknown.insert(absent.instance);
        for (const ledger::RankInput& rank : input().ranks) {
            for (const ledger::PartOp& part : rank.parts) {
                if (unknown.contains(part.instance))
                    input().instances[part.instance].members.push_back(rank.rank);
            }
        }
    }

    void setWindows()
    {
        for (ledger::RankInput& rank : input().ranks) {
            if (!recorded_) {
                for (const Step& step : facts_.steps) {
                    if (step.rank == rank.rank && step.endNs > step.beginNs)
                        rank.stretches.push_back({ step.beginNs, step.endNs, step.step });
                }
                // Steps that overlap are a damaged file's: cut them where the next one begins.
                std::ranges::sort(rank.stretches, {}, &ledger::Stretch::begin);
                for (std::size_t i = 0; i + 1 < rank.stretches.size(); ++i)
                    rank.stretches[i].end = std::min(rank.stretches[i].end, rank.stretches[i + 1].begin);
            }
            const std::int64_t beginNs = std::max(facts_.window.beginNs, window_.beginNs);
            if (rank.stretches.empty() && facts_.window.endNs > beginNs)
                rank.stretches.push_back({ beginNs, facts_.window.endNs, std::nullopt });
            std::int64_t inside = 0;
            for (const ledger::Stretch& stretch : rank.stretches)
                inside += stretch.end - stretch.begin;
            source_.notRecordedNs += facts_.window.durationNs() - inside;
        }
    }

    void setLifecycle()
    {
        if (!recorded_ || facts_.steps.empty())
            return;
        ledger::Lifecycle lifecycle;
        std::map<std::pair<std::int32_t, std::int64_t>, ledger::StepMark> marks; // by attempt and step
        std::int64_t lastEnd = facts_.window.beginNs;
        for (const Step& step : facts_.steps) {
            ledger::StepMark& mark = marks[{ step.attempt, step.step }];
            mark.step = step.step;
            mark.begin[step.rank] = step.beginNs;
            lastEnd = std::max(lastEnd, step.endNs);
        }
        for (auto& [key, mark] : marks) {
            const auto attempt = static_cast<std::size_t>(std::max(0, key.first));
            if (lifecycle.attempts.size() <= attempt)
                lifecycle.attempts.resize(attempt + 1);
            lifecycle.attempts[attempt].steps.push_back(std::move(mark));
        }
        for (const auto& failure : facts_.failures)
            addFailure(failure, lifecycle);
        for (const CheckpointPart& part : facts_.checkpoints) {
            // The last part's word counts: published is published for all.
            if (lifecycle.checkpoints.empty() || lifecycle.checkpoints.back().step != part.step)
                lifecycle.checkpoints.push_back({ part.step, part.endNs });
            lifecycle.checkpoints.back().published = std::max(lifecycle.checkpoints.back().published, part.endNs);
        }
        lifecycle.live = !facts_.run.finished;
        // An attempt that failed without another one after it has no final state.
        lifecycle.finalStateAccepted = facts_.run.finished && lifecycle.failures.size() < lifecycle.attempts.size();
        if (facts_.run.finished)
            lifecycle.shutdown = lastEnd;
        input().lifecycle = std::move(lifecycle);
    }

    /// Failure i ends attempt i: without a detection its attempts could not be told apart, and none is counted.
    static void addFailure(const AttemptFailure& failure, ledger::Lifecycle& lifecycle)
    {
        if (!failure.detectedNs || failure.attempt != std::ssize(lifecycle.failures))
            return;
        lifecycle.failures.push_back({ .faulty = failure.ranks,
            .detected = *failure.detectedNs,
            .reformed = failure.reformedNs,
            .restoredStep = failure.restoredStep.value_or(0) });
    }

    void setPipeline()
    {
        const auto stages = number(facts_, "config.parallel.pp");
        const auto microBatches = number(facts_, "config.batch.micro_batches");
        if (!stages || *stages < 2 || *stages > kMostStages || !microBatches || *microBatches > kMostMicroBatches)
            return;
        const std::string schedule = text(facts_, "config.parallel.schedule");
        const auto chunks = number(facts_, "config.parallel.chunks");
        if (schedule == "interleaved" && (!chunks || *chunks < 1 || *chunks > kMostStages))
            return;
        input().pipeline = scheduleByName(
            schedule, static_cast<int>(*stages), static_cast<int>(*microBatches), static_cast<int>(chunks.value_or(1)));
    }

    TraceReader& reader_;
    const RunFacts& facts_;
    const bool recorded_;
    const Window window_; ///< of the rows that are read
    const bool isPart_;
    LedgerSource source_;
    std::unordered_map<std::int64_t, std::size_t> instanceOf_;
    struct Absent {
        std::size_t instance = 0;
        std::int32_t parts = 0;
    };
    std::vector<Absent> absent_; ///< of collectives whose members are not known
    LaunchTimes launches_; ///< of the rank being read
    std::vector<Range> work_; ///< of the rank being read: forward, backward and optimizer ranges with their CPU time
    std::map<std::string, std::int32_t> clocks_;
};

} // namespace

Result<LedgerSource> readLedgerSource(TraceReader& reader, const RunFacts& facts)
{
    return SourceReader(reader, facts, kAlways).run();
}

Result<LedgerSource> readLedgerSource(TraceReader& reader, const RunFacts& facts, std::int64_t fromNs)
{
    return SourceReader(reader, facts, { fromNs, kAlways.endNs }).run();
}

} // namespace rankscope::tracing

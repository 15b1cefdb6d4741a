#include "tracing/analysis/hta.h"

#include "tracing/model/interval.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <unordered_set>

namespace rankscope::tracing {

namespace {

constexpr Window kAlways{ INT64_MIN / 4, INT64_MAX / 4 };
constexpr std::int64_t kMicrosecond = 1000;

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool startsWithAny(std::string_view text, std::initializer_list<std::string_view> heads)
{
    return std::any_of(heads.begin(), heads.end(), [&](std::string_view head) { return text.starts_with(head); });
}

std::int64_t lengthOf(const std::vector<Window>& groups)
{
    std::int64_t sum = 0;
    for (const Window& group : groups)
        sum += group.durationNs();
    return sum;
}

std::int64_t numberOf(const RunFacts& facts, const std::string& key)
{
    const auto it = facts.provenance.find(key);
    std::int64_t value = 0;
    if (it != facts.provenance.end())
        std::from_chars(it->second.data(), it->second.data() + it->second.size(), value);
    return value;
}

/// The number in "stream 7", "all-to-all 7", "copy 7 · 0".
std::int64_t streamOf(std::string_view laneName)
{
    const std::string_view name = laneName.substr(0, laneName.find(" · "));
    const std::size_t blank = name.find_last_of(' ');
    std::int64_t stream = 0;
    if (blank != std::string_view::npos)
        std::from_chars(name.data() + blank + 1, name.data() + name.size(), stream);
    return stream;
}

/// HTA's times are doubles in microseconds. Since 1970 that is more than 2^50: they fall on a grid of 250 ns.
double microseconds(std::int64_t ns) { return static_cast<double>(static_cast<long double>(ns) / kMicrosecond); }

class RankRowsForHta {
public:
    RankRowsForHta(TraceReader& reader, const RunFacts& facts, std::int32_t rank, bool dropLastStep, bool rounds)
        : reader_(reader)
        , facts_(facts)
        , rank_(rank)
        , dropLastStep_(dropLastStep)
        , rounds_(rounds)
        , shiftNs_(numberOf(facts, "file." + std::to_string(rank) + ".shift_ns"))
    {
    }

    Result<HtaTrace> run()
    {
        if (const Status status = findLastStep(); !status)
            return status.error();
        for (const auto read : { &RankRowsForHta::readHost, &RankRowsForHta::readDevice }) {
            for (const Lane& lane : facts_.lanes) {
                if (lane.rank != rank_)
                    continue;
                if (const Status status = (this->*read)(lane); !status)
                    return status.error();
            }
        }
        std::ranges::stable_sort(trace_.spans, {}, &HtaSpan::beginNs);
        std::ranges::stable_sort(trace_.calls, {}, &HtaCall::beginNs);
        trace_.rank = rank_;
        for (const Step& step : facts_.steps) {
            if (step.rank == rank_ && beforeLastStep(step.beginNs))
                trace_.steps.push_back(step.step);
        }
        const std::string first = "file." + std::to_string(rank_) + ".first_event_ns";
        if (facts_.provenance.contains(first))
            trace_.firstEventNs = beginOf(numberOf(facts_, first) + shiftNs_);
        return std::move(trace_);
    }

private:
    /// A begin as HTA holds it, ns of the file's clock.
    std::int64_t beginOf(std::int64_t ns) const
    {
        const double begin = microseconds(ns - shiftNs_);
        return rounds_ ? kMicrosecond * static_cast<std::int64_t>(std::ceil(begin))
                       : std::llround(static_cast<long double>(begin) * kMicrosecond);
    }
    /// Rounded, the end is that of the sum on the grid; else the duration is kept.
    std::int64_t endOf(std::int64_t beginNs, std::int64_t endNs) const
    {
        if (!rounds_)
            return beginOf(beginNs) + endNs - beginNs;
        const double end = microseconds(beginNs - shiftNs_) + microseconds(endNs - beginNs);
        return kMicrosecond * static_cast<std::int64_t>(std::floor(end));
    }

    /// The steps that the device annotates count too: HTA takes what has no stream for the host's. A rank without steps
    /// of its own keeps nothing: HTA compares with a number that is none.
    Status findLastStep()
    {
        const auto raise
            = [&](std::int64_t beginNs) { lastStep_ = std::max(lastStep_.value_or(INT64_MIN), beginOf(beginNs)); };
        for (const Step& step : facts_.steps) {
            if (step.rank == rank_)
                raise(step.beginNs);
        }
        for (const Lane& lane : facts_.lanes) {
            if (lane.rank != rank_ || lane.kind != LaneKind::Host || !lane.name.starts_with("annotation "))
                continue;
            const Status status = reader_.visit<Range>(lane.id, kAlways, [&](std::span<const Range> ranges) {
                for (const Range& range : ranges) {
                    if (nameOf(range.name).find("ProfilerStep") != std::string_view::npos)
                        raise(range.beginNs);
                }
                return true;
            });
            if (!status)
                return status;
        }
        return Done{};
    }

    std::string_view nameOf(NameId name) const
    {
        const auto index = static_cast<std::size_t>(raw(name));
        return index < facts_.names.size() ? std::string_view(facts_.names[index]) : std::string_view();
    }

    bool beforeLastStep(std::int64_t beginNs) const
    {
        return !dropLastStep_ || (lastStep_ && beginOf(beginNs) < *lastStep_);
    }

    Status readHost(const Lane& lane)
    {
        if (lane.kind != LaneKind::Host)
            return Done{};
        return reader_.visit<HostCall>(lane.id, kAlways, [&](std::span<const HostCall> calls) {
            for (const HostCall& call : calls) {
                if (!call.correlation || !beforeLastStep(call.beginNs))
                    continue;
                launched_.insert(*call.correlation);
                trace_.calls.push_back(
                    { beginOf(call.beginNs), endOf(call.beginNs, call.endNs), *call.correlation, nameOf(call.name) });
            }
            return true;
        });
    }

    void add(const Lane& lane, const auto& row, NameId name, std::optional<std::int64_t> correlation)
    {
        const std::string_view text = nameOf(name);
        trace_.spans.push_back({ beginOf(row.beginNs), endOf(row.beginNs, row.endNs), htaClassOf(text),
            streamOf(lane.name), correlation, text });
    }

    /// Rows without a correlation are no device rows to HTA.
    template <typename Row> Status addRows(const Lane& lane)
    {
        return reader_.visit<Row>(lane.id, kAlways, [&](std::span<const Row> rows) {
            for (const Row& row : rows) {
                if (!row.correlation || (dropLastStep_ && !launched_.contains(*row.correlation)))
                    continue;
                if constexpr (std::is_same_v<Row, Kernel>) {
                    const auto signature = static_cast<std::size_t>(raw(row.signature));
                    add(lane, row, signature < facts_.signatures.size() ? facts_.signatures[signature].name : NameId{},
                        row.correlation);
                } else {
                    add(lane, row, row.name, row.correlation);
                }
            }
            return true;
        });
    }

    /// Synchronisations stand on lanes of their own; their calls are not kept, they begin at about the same time.
    Status addSyncs(const Lane& lane)
    {
        return reader_.visit<Range>(lane.id, kAlways, [&](std::span<const Range> rows) {
            for (const Range& row : rows) {
                if (beforeLastStep(row.beginNs))
                    add(lane, row, row.name, std::nullopt);
            }
            return true;
        });
    }

    Status readDevice(const Lane& lane)
    {
        switch (lane.kind) {
        case LaneKind::Compute:
            return addRows<Kernel>(lane);
        case LaneKind::Communication:
            return addRows<CollectivePart>(lane);
        case LaneKind::Copy:
            return lane.name.starts_with("sync ") ? addSyncs(lane) : addRows<Copy>(lane);
        default:
            return Done{};
        }
    }

    TraceReader& reader_;
    const RunFacts& facts_;
    const std::int32_t rank_;
    const bool dropLastStep_;
    const bool rounds_;
    const std::int64_t shiftNs_; ///< from the file's times to the run's
    std::optional<std::int64_t> lastStep_;
    std::unordered_set<std::int64_t> launched_;
    HtaTrace trace_;
};

} // namespace

HtaClass htaClassOf(std::string_view name)
{
    if (startsWithAny(name, { "nccl", "hip", "hccl" }) || has(name, "ncclKernel"))
        return HtaClass::Communication;
    if (startsWithAny(name, { "Memcpy", "Memset", "dma" }))
        return HtaClass::Memory;
    static constexpr std::array<std::string_view, 4> kNowhere{ "Memcpy", "Memset", "dma", "Sync" };
    const bool excluded
        = std::any_of(kNowhere.begin(), kNowhere.end(), [&](std::string_view part) { return has(name, part); })
        || startsWithAny(name,
            { "Stream Wait Event", "runFunction", "job_exe", "packet", "pe_exe", "cpum_exe_subgraph",
                "collective_subgraph_execution" })
        || (name.starts_with("cuda") && has(name, "LaunchKernel"));
    return excluded ? HtaClass::Other : HtaClass::Computation;
}

std::vector<Window> htaMerged(const std::vector<HtaSpan>& byBegin, std::optional<HtaClass> type)
{
    std::vector<Window> groups;
    for (const HtaSpan& span : byBegin) {
        if (type && span.type != *type)
            continue;
        if (groups.empty() || span.beginNs > groups.back().endNs)
            groups.push_back({ span.beginNs, span.endNs });
        else
            groups.back().endNs = std::max(groups.back().endNs, span.endNs);
    }
    return groups;
}

HtaRow htaRowOf(const std::vector<HtaSpan>& spans)
{
    HtaRow row;
    if (spans.empty())
        return row;
    const std::vector<Window> all = htaMerged(spans);
    const std::vector<Window> computation = htaMerged(spans, HtaClass::Computation);
    const std::vector<Window> communication = htaMerged(spans, HtaClass::Communication);
    row.kernelNs = all.back().endNs - all.front().beginNs;
    row.idleNs = row.kernelNs - lengthOf(all);
    row.computeNs = lengthOf(computation);
    row.nonComputeNs = row.kernelNs - row.computeNs - row.idleNs;
    if (const std::int64_t communicationNs = lengthOf(communication); communicationNs > 0) {
        const std::int64_t both = totalNs(intersection(unionOf(computation), unionOf(communication)));
        row.overlapPercent = std::round(1e4 * static_cast<double>(both) / static_cast<double>(communicationNs)) / 100;
    }
    return row;
}

std::vector<HtaRow> htaBreakdown(const std::vector<HtaTrace>& traces)
{
    std::vector<HtaRow> rows;
    for (const HtaTrace& trace : traces) {
        rows.push_back(htaRowOf(trace.spans));
        rows.back().rank = trace.rank;
    }
    return rows;
}

Result<std::vector<HtaTrace>> htaTraces(TraceReader& reader, const RunFacts& facts, HtaRounding rounding)
{
    std::set<std::int64_t> steps;
    for (const Step& step : facts.steps)
        steps.insert(step.step);
    std::vector<HtaTrace> traces;
    for (const RankInfo& rank : facts.ranks) {
        const auto fractional = facts.provenance.find("file." + std::to_string(rank.rank) + ".fractional_times");
        const bool rounds
            = rounding == HtaRounding::AsHta && fractional != facts.provenance.end() && fractional->second == "true";
        auto trace = RankRowsForHta(reader, facts, rank.rank, steps.size() >= 2, rounds).run();
        if (!trace)
            return trace.error();
        traces.push_back(std::move(*trace));
    }
    return traces;
}

} // namespace rankscope::tracing

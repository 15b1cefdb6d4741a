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

/// HTA's merge: a row that begins after everything before it has ended opens a new group. Group lengths may be
/// negative.
std::vector<Window> merged(const std::vector<HtaSpan>& byBegin)
{
    std::vector<Window> groups;
    for (const HtaSpan& span : byBegin) {
        if (groups.empty() || span.beginNs > groups.back().endNs)
            groups.push_back({ span.beginNs, span.endNs });
        else
            groups.back().endNs = std::max(groups.back().endNs, span.endNs);
    }
    return groups;
}

std::int64_t lengthOf(const std::vector<Window>& groups)
{
    std::int64_t sum = 0;
    for (const Window& group : groups)
        sum += group.durationNs();
    return sum;
}

std::vector<Window> mergedOf(const std::vector<HtaSpan>& byBegin, HtaClass type)
{
    std::vector<HtaSpan> own;
    std::copy_if(byBegin.begin(), byBegin.end(), std::back_inserter(own),
        [&](const HtaSpan& span) { return span.type == type; });
    return merged(own);
}

std::int64_t numberOf(const RunFacts& facts, const std::string& key)
{
    const auto it = facts.provenance.find(key);
    std::int64_t value = 0;
    if (it != facts.provenance.end())
        std::from_chars(it->second.data(), it->second.data() + it->second.size(), value);
    return value;
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

    Result<HtaRow> run()
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
        HtaRow row = htaRowOf(std::move(spans_));
        row.rank = rank_;
        return row;
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
        if (lane.kind != LaneKind::Host || !dropLastStep_)
            return Done{};
        return reader_.visit<HostCall>(lane.id, kAlways, [&](std::span<const HostCall> calls) {
            for (const HostCall& call : calls) {
                if (call.correlation && beforeLastStep(call.beginNs))
                    launched_.insert(*call.correlation);
            }
            return true;
        });
    }

    void add(std::int64_t beginNs, std::int64_t endNs, NameId name)
    {
        spans_.push_back({ beginOf(beginNs), endOf(beginNs, endNs), htaClassOf(nameOf(name)) });
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
                    add(row.beginNs, row.endNs,
                        signature < facts_.signatures.size() ? facts_.signatures[signature].name : NameId{});
                } else {
                    add(row.beginNs, row.endNs, row.name);
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
                    add(row.beginNs, row.endNs, row.name);
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
    std::vector<HtaSpan> spans_;
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

HtaRow htaRowOf(std::vector<HtaSpan> spans)
{
    HtaRow row;
    if (spans.empty())
        return row;
    std::stable_sort(
        spans.begin(), spans.end(), [](const HtaSpan& a, const HtaSpan& b) { return a.beginNs < b.beginNs; });
    const std::vector<Window> all = merged(spans);
    const std::vector<Window> computation = mergedOf(spans, HtaClass::Computation);
    const std::vector<Window> communication = mergedOf(spans, HtaClass::Communication);
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

Result<std::vector<HtaRow>> htaBreakdown(TraceReader& reader, const RunFacts& facts, HtaRounding rounding)
{
    std::set<std::int64_t> steps;
    for (const Step& step : facts.steps)
        steps.insert(step.step);
    std::vector<HtaRow> rows;
    for (const RankInfo& rank : facts.ranks) {
        const auto fractional = facts.provenance.find("file." + std::to_string(rank.rank) + ".fractional_times");
        const bool rounds
            = rounding == HtaRounding::AsHta && fractional != facts.provenance.end() && fractional->second == "true";
        const auto row = RankRowsForHta(reader, facts, rank.rank, steps.size() >= 2, rounds).run();
        if (!row)
            return row.error();
        rows.push_back(*row);
    }
    return rows;
}

} // namespace rankscope::tracing

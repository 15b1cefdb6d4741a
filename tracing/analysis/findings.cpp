#include "tracing/analysis/findings.h"

#include "tracing/analysis/run_analysis.h"
#include "tracing/analysis/waste.h"
#include "tracing/analysis/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace rankscope::tracing {

namespace {

constexpr double kWorthSaying = 0.01;
constexpr double kWarning = 0.1;
constexpr double kNetworkIsFine = 0.02;

/// Longest stretch with that label on any rank, or the whole window.
Window evidenceOf(const RunAnalysis& run, SpanClass label)
{
    const LabelledInterval* longest = nullptr;
    for (const RankAnalysis& rank : run.ranks) {
        const LabelledInterval& own = rank.longest[static_cast<std::size_t>(label)];
        if (own.durationNs() > 0 && (!longest || own.durationNs() > longest->durationNs()))
            longest = &own;
    }
    return longest ? Window{ longest->beginNs, longest->endNs } : run.window;
}

/// Ranks that lose at least the mean in the given part.
template <typename Part> std::vector<std::int32_t> ranksAbove(const RunAnalysis& run, Part part)
{
    std::int64_t sum = 0;
    for (const RankAnalysis& rank : run.ranks)
        sum += part(rank);
    std::vector<std::int32_t> ranks;
    for (const RankAnalysis& rank : run.ranks) {
        if (sum > 0 && part(rank) * std::ssize(run.ranks) >= sum)
            ranks.push_back(rank.info.rank);
    }
    return ranks;
}

std::string rankSeconds(std::int64_t ns)
{
    const std::string text = timeText(ns);
    const auto space = text.find(' ');
    return text.substr(0, space) + " rank-" + (text.substr(space + 1) == "s" ? "seconds" : text.substr(space + 1));
}

std::string ofAll(const RunAnalysis& run, std::int64_t ns)
{
    return fmt::format("{} of {}", rankSeconds(ns), rankSeconds(run.capacityNs()));
}

/// The collective in which the others wait longest for that rank.
const CollectiveRow* worstCollective(const RunAnalysis& run, std::int32_t rank)
{
    const CollectiveRow* worst = nullptr;
    for (const CollectiveRow& row : run.collectives) {
        if (row.lateRank == rank && (!worst || row.waitForLateNs > worst->waitForLateNs))
            worst = &row;
    }
    return worst;
}

std::string collectiveName(const CollectiveRow& row)
{
    return row.dimension == Dimension::None ? std::string(toString(row.op))
                                            : fmt::format("{} in {}", toString(row.op), toString(row.dimension));
}

Finding lateRank(const RunAnalysis& run, const Waste& waste)
{
    Finding finding;
    const std::int32_t late = *waste.rank;
    const CollectiveRow* row = worstCollective(run, late);
    finding.title = !row               ? fmt::format("Others wait for rank {}", late)
        : row->lateCount == row->count ? fmt::format("Rank {} is late to every {}", late, collectiveName(*row))
                                       : fmt::format("Rank {} is late to {} of {} {}", late, countText(row->lateCount),
                                           countText(row->count), collectiveName(*row));
    std::vector<std::int32_t> waiting;
    for (const RankAnalysis& rank : run.ranks) {
        if (static_cast<std::size_t>(late) < rank.waitForRankNs.size()
            && rank.waitForRankNs[static_cast<std::size_t>(late)] > 0)
            waiting.push_back(rank.info.rank);
    }
    finding.text
        = fmt::format("{} {} {}", ranksText(waiting), waiting.size() == 1 ? "waits" : "wait", ofAll(run, waste.ns));
    if (const std::string why = causeOfLateness(run, late); !why.empty())
        finding.text += " · " + why;
    finding.ranks = { late };
    finding.evidence = evidenceOf(run, SpanClass::Wait);
    return finding;
}

int pipelineStages(const RunAnalysis& run)
{
    int stages = 0;
    for (const RankAnalysis& rank : run.ranks)
        stages = std::max(stages, rank.info.stage.value_or(0) + 1);
    return stages;
}

/// What a balanced pipeline costs by its schedule alone: (p-1)/(m+p-1) of the step (METRICS 4.4).
std::string scheduleText(const RunAnalysis& run)
{
    const auto found = run.facts.provenance.find("config.batch.micro_batches");
    int microBatches = 0;
    if (found != run.facts.provenance.end())
        std::from_chars(found->second.data(), found->second.data() + found->second.size(), microBatches);
    const int stages = pipelineStages(run);
    if (microBatches <= 0 || stages < 2)
        return {};
    return fmt::format(" · {} stages and {} micro-batches cost {} of a balanced step by themselves", stages,
        microBatches, shareText(static_cast<double>(stages - 1) / (microBatches + stages - 1)));
}

Finding bubbles(const RunAnalysis& run, const Waste& waste)
{
    Finding finding;
    finding.title = "Ranks idle in the pipeline's bubbles";
    finding.text = fmt::format("{}", ofAll(run, waste.ns));
    for (int phase = 0; phase < kBubblePhaseCount; ++phase) {
        finding.text += fmt::format("{} {} {}", phase ? "," : " ·", toString(static_cast<BubblePhase>(phase)),
            shareText(run.shareOf(run.total.bubbleByPhaseNs[static_cast<std::size_t>(phase)])));
    }
    finding.text += scheduleText(run);
    finding.ranks = ranksAbove(run, [](const RankAnalysis& rank) { return rank.split.bubbleNs(); });
    finding.evidence = evidenceOf(run, SpanClass::Bubble);
    return finding;
}

Finding transfer(const RunAnalysis& run, const Waste& waste)
{
    std::size_t worst = 0;
    for (std::size_t i = 1; i < run.total.transferByDimensionNs.size(); ++i) {
        if (run.total.transferByDimensionNs[i] > run.total.transferByDimensionNs[worst])
            worst = i;
    }
    Finding finding;
    finding.title = "Transfers are not hidden under compute";
    finding.text = fmt::format("{}, most of it in {} ({})", ofAll(run, waste.ns),
        toString(static_cast<Dimension>(worst)), shareText(run.shareOf(run.total.transferByDimensionNs[worst])));
    std::int64_t communicationNs = 0;
    for (const RankAnalysis& rank : run.ranks)
        communicationNs += rank.overlap.communicationNs;
    if (communicationNs > 0) {
        finding.text += fmt::format(" · {} of communication is hidden",
            shareText(static_cast<double>(run.total.hiddenNs) / static_cast<double>(communicationNs)));
    }
    finding.ranks = ranksAbove(run, [](const RankAnalysis& rank) { return rank.split.transferNs; });
    finding.evidence = evidenceOf(run, SpanClass::Transfer);
    return finding;
}

/// Findings that need no more than a title, the sum, and who has most of it.
Finding plain(
    const RunAnalysis& run, const Waste& waste, const char* title, SpanClass label, std::int64_t TimeSplit::*part)
{
    Finding finding;
    finding.title = title;
    finding.ranks = ranksAbove(run, [&](const RankAnalysis& rank) { return rank.split.*part; });
    finding.text = fmt::format("{} · most on {}", ofAll(run, waste.ns), ranksText(finding.ranks));
    finding.evidence = evidenceOf(run, label);
    return finding;
}

Finding findingOf(const RunAnalysis& run, const Waste& waste)
{
    switch (waste.kind) {
    case Waste::Kind::WaitForRank:
        return lateRank(run, waste);
    case Waste::Kind::Bubble:
        return bubbles(run, waste);
    case Waste::Kind::Transfer:
        return transfer(run, waste);
    case Waste::Kind::Wait:
        return plain(run, waste, "Ranks wait for others", SpanClass::Wait, &TimeSplit::waitNs);
    case Waste::Kind::Unsplit:
        return plain(run, waste, "Who was late cannot be told: partners are missing", SpanClass::Communication,
            &TimeSplit::unsplitNs);
    case Waste::Kind::Copy:
        return plain(run, waste, "Copies run while nothing computes", SpanClass::Copy, &TimeSplit::copyNs);
    case Waste::Kind::Data:
        return plain(run, waste, "Ranks wait for data", SpanClass::Data, &TimeSplit::dataNs);
    case Waste::Kind::Checkpoint:
        return plain(run, waste, "Ranks stop to write checkpoints", SpanClass::Checkpoint, &TimeSplit::checkpointNs);
    case Waste::Kind::Descheduled:
        return plain(run, waste, "Kernels run without a core: something else uses the machine", SpanClass::Compute,
            &TimeSplit::descheduledNs);
    case Waste::Kind::Gaps:
        return plain(run, waste, "Short gaps between kernels add up", SpanClass::Launch, &TimeSplit::kernelGapNs);
    case Waste::Kind::Idle:
        break;
    }
    return plain(run, waste, "Time in which nothing was recorded", SpanClass::Unattributed, &TimeSplit::idleNs);
}

/// "ring full: 1,204, rank 0", "unterminated file: trace.json"
std::string lossText(const Loss& loss)
{
    const std::string count = loss.count != 1 || loss.detail.empty() ? countText(loss.count) : std::string();
    const char* space = count.empty() || loss.detail.empty() ? "" : ", ";
    return fmt::format("{}: {}{}{}", loss.kind, count, space, loss.detail);
}

void addLosses(std::vector<Finding>& result, const RunAnalysis& run)
{
    std::string text;
    for (const Loss& loss : run.facts.losses) {
        if (loss.count == 0)
            continue;
        // A rank's death is the finding; the rest is about the recording.
        if (loss.kind == "rank died")
            result.push_back({ Severity::Warning, "A rank died", loss.detail, {}, run.window, std::nullopt });
        else
            text += (text.empty() ? "" : " · ") + lossText(loss);
    }
    if (!text.empty())
        result.push_back({ Severity::Warning, "The recording is not complete", text, {}, run.window, std::nullopt });
}

void addSharedCores(std::vector<Finding>& result, const RunAnalysis& run)
{
    const auto cores = run.sharedCores();
    if (!cores)
        return;
    const double share = static_cast<double>(run.total.descheduledNs) / static_cast<double>(run.total.windowNs);
    result.push_back(
        { Severity::Notice, fmt::format("{} share {}", plural(std::ssize(run.ranks), "rank"), plural(*cores, "core")),
            fmt::format("kernels have no core for {} of all {}; it stands outside the other shares", shareText(share),
                run.capacityWord()),
            {}, run.window, std::nullopt });
}

void addWhatIsFine(std::vector<Finding>& result, const RunAnalysis& run)
{
    const double transferShare = run.shareOf(run.total.transferNs);
    const bool communicates = std::any_of(
        run.ranks.begin(), run.ranks.end(), [](const RankAnalysis& rank) { return rank.overlap.communicationNs > 0; });
    // Where partners are missing, nothing may be said about the network.
    if (communicates && transferShare < kNetworkIsFine && run.total.unsplitNs == 0) {
        result.push_back({ Severity::Info, "The network is not the problem",
            fmt::format("transfer is {} of {}", shareText(transferShare), run.capacityWord()), {}, run.window,
            std::nullopt });
    }
    if (run.total.dataNs > 0 && run.shareOf(run.total.dataNs) < kWorthSaying) {
        result.push_back({ Severity::Info, "Data loading is not the problem",
            fmt::format("it takes {} of {}", shareText(run.shareOf(run.total.dataNs)), run.capacityWord()), {},
            run.window, std::nullopt });
    }
}

} // namespace

std::string_view toString(Severity severity)
{
    switch (severity) {
    case Severity::Info:
        return "info";
    case Severity::Notice:
        return "notice";
    case Severity::Warning:
        break;
    }
    return "warning";
}

std::vector<Finding> findings(const RunAnalysis& run)
{
    std::vector<Finding> result;
    addLosses(result, run);
    bool hasCost = false;
    for (const Waste& waste : wastesOf(run)) {
        const double share = run.shareOf(waste.ns);
        if (share < kWorthSaying || (waste.kind == Waste::Kind::Transfer && share < kNetworkIsFine))
            continue;
        Finding finding = findingOf(run, waste);
        finding.severity = share >= kWarning ? Severity::Warning : Severity::Notice;
        finding.costShare = share;
        result.push_back(std::move(finding));
        hasCost = true;
    }
    if (!hasCost) {
        const std::string title = run.total.windowNs == 0
            ? std::string("No finding: nothing was recorded.")
            : fmt::format("No finding: nothing costs more than 1 % of {}.", run.capacityWord());
        result.push_back({ Severity::Info, title, {}, {}, run.window, std::nullopt });
    }
    addSharedCores(result, run);
    addWhatIsFine(result, run);
    return result;
}

} // namespace rankscope::tracing

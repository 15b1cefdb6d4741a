#include "tracing/analysis/run_analysis.h"

#include "tracing/analysis/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

namespace rankscope::tracing {

namespace {

/// Which time counts: what was asked for, else the counted steps, else the whole run.
Result<Done> chooseWindow(RunAnalysis& run, const AnalysisOptions& options)
{
    run.allSteps = tiledSteps(run.facts.steps);
    if (options.window) {
        run.window = *options.window;
        for (const StepSpan& step : run.allSteps) {
            if (step.window.beginNs >= run.window.beginNs && step.window.endNs <= run.window.endNs)
                run.steps.push_back(step);
        }
        return Done{};
    }
    run.counted = options.steps ? options.steps : countedSteps(run.allSteps, run.facts.run.finished);
    run.window = run.facts.window;
    if (!run.counted)
        return Done{};
    run.steps = stepsIn(run.allSteps, *run.counted);
    if (run.steps.empty()) {
        if (run.allSteps.empty())
            return Error("steps: this file has none; leave out --steps");
        return Error(fmt::format("steps {}:{}: the file has steps {} to {}", run.counted->first, run.counted->last,
            run.allSteps.front().step, run.allSteps.back().step));
    }
    run.window = { run.steps.front().window.beginNs, run.steps.back().window.endNs };
    return Done{};
}

std::vector<std::int64_t> stepCuts(const std::vector<StepSpan>& steps)
{
    std::set<std::int64_t> cuts;
    for (const StepSpan& step : steps) {
        cuts.insert(step.window.beginNs);
        cuts.insert(step.window.endNs);
    }
    return { cuts.begin(), cuts.end() };
}

/// From the first step to the last one's end; while the run goes on the next step is under way.
std::optional<Window> lifecycleOf(const std::vector<StepSpan>& steps, bool runFinished)
{
    if (steps.empty())
        return std::nullopt;
    const std::int64_t endNs = runFinished ? steps.back().window.endNs : std::numeric_limits<std::int64_t>::max();
    return Window{ steps.front().window.beginNs, endNs };
}

void keepLongest(RankAnalysis& rank, const LabelledInterval& interval)
{
    const auto index = std::min(static_cast<std::size_t>(interval.label), rank.longest.size() - 1);
    if (interval.durationNs() > rank.longest[index].durationNs())
        rank.longest[index] = interval;
}

RankAnalysis analyseRank(const RankInfo& info, const RankRows& rows, const RunAnalysis& run)
{
    const std::vector<std::int64_t> cuts = stepCuts(run.steps);
    const std::vector<LabelledInterval> intervals = labelledIntervals(
        { rows, run.facts.signatures, run.window, cuts, lifecycleOf(run.allSteps, run.facts.run.finished) });
    RankAnalysis rank;
    rank.info = info;
    rank.split = timeSplit(intervals, run.window);
    rank.overlap = overlapSummary(rows, run.window);
    for (const StepSpan& step : run.steps)
        rank.bySteps.push_back(timeSplit(intervals, step.window));
    const auto worldSize = static_cast<std::size_t>(std::max(0, run.facts.run.worldSize));
    rank.waitForRankNs.assign(worldSize, 0);
    rank.bubbleForRankNs.assign(worldSize, 0);
    for (const LabelledInterval& interval : intervals) {
        keepLongest(rank, interval);
        const auto awaited = static_cast<std::size_t>(interval.awaitedRank.value_or(-1));
        if (awaited >= worldSize)
            continue;
        const bool isBubble = interval.label == SpanClass::Bubble;
        (isBubble ? rank.bubbleForRankNs : rank.waitForRankNs)[awaited] += interval.durationNs();
    }
    return rank;
}

/// Model FLOPs of the kernels that begin in the window; recomputed ones and the optimizer's are no model FLOPs.
class UsefulFlops {
public:
    void add(const RankRows& rows, const std::vector<KernelSignature>& signatures, Window window)
    {
        for (const Kernel& kernel : rows.kernels) {
            const auto index = static_cast<std::size_t>(raw(kernel.signature));
            if (kernel.beginNs < window.beginNs || kernel.beginNs >= window.endNs || index >= signatures.size())
                continue;
            const KernelSignature& signature = signatures[index];
            if (signature.pass == Pass::Optimizer || signature.pass == Pass::Recompute)
                continue;
            (signature.flop ? knownNs_ : unknownNs_) += kernel.endNs - kernel.beginNs;
            flop_ += static_cast<double>(signature.flop.value_or(0));
        }
    }

    /// Kernels that do little arithmetic may go without FLOPs; known means: for most of the compute time.
    std::optional<double> total() const
    {
        if (knownNs_ == 0 || unknownNs_ > knownNs_)
            return std::nullopt;
        return flop_;
    }

private:
    double flop_ = 0;
    std::int64_t knownNs_ = 0;
    std::int64_t unknownNs_ = 0;
};

std::optional<double> capacityFlops(const RunAnalysis& run)
{
    double flop = 0;
    for (const RankAnalysis& rank : run.ranks) {
        if (!rank.info.peakFlops)
            return std::nullopt;
        flop += *rank.info.peakFlops * static_cast<double>(run.window.durationNs()) / 1e9;
    }
    return flop > 0 ? std::optional(flop) : std::nullopt;
}

/// Loads and counts rank after rank, so that one rank's rows are in memory at a time.
Result<Done> analyseRanks(TraceReader& reader, const AnalysisOptions& options, RunAnalysis& run)
{
    const auto communication = loadCommunication(reader, run.facts, run.window);
    if (!communication)
        return communication.error();
    run.collectives = collectiveTable(communication->parts, communication->matches, run.window);

    KernelTable kernels(run.facts.names, run.facts.signatures);
    UsefulFlops useful;
    for (const RankInfo& info : run.facts.ranks) {
        const auto rows = loadRank(reader, run.facts, *communication, info.rank, run.window);
        if (!rows)
            return rows.error();
        run.ranks.push_back(analyseRank(info, *rows, run));
        run.total += run.ranks.back().split;
        kernels.add(rows->kernels, run.window);
        useful.add(*rows, run.facts.signatures, run.window);
        const int done = static_cast<int>(run.ranks.size());
        if (options.progress && !options.progress(done, static_cast<int>(run.facts.ranks.size())))
            return Error("stopped");
    }
    run.kernels = kernels.rows();
    run.usefulFlops = useful.total();
    run.capacityFlops = capacityFlops(run);
    return Done{};
}

} // namespace

Result<RunAnalysis> analyse(TraceReader& reader, const AnalysisOptions& options)
{
    auto facts = loadFacts(reader);
    if (!facts)
        return facts.error();
    RunAnalysis run;
    run.facts = std::move(*facts);
    if (const auto chosen = chooseWindow(run, options); !chosen)
        return chosen.error();
    run.stepStats = stepStats(run.steps);
    if (const auto counted = analyseRanks(reader, options, run); !counted)
        return counted.error();
    auto series = loadSeries(reader, run.facts);
    if (!series)
        return series.error();
    run.series = std::move(*series);
    run.findings = findings(run);
    run.headline = headline(run);
    return run;
}

Result<std::vector<LabelledInterval>> ledgerLane(TraceReader& reader, std::int32_t rank, Window window)
{
    const auto facts = loadFacts(reader);
    if (!facts)
        return facts.error();
    const auto communication = loadCommunication(reader, *facts, window);
    if (!communication)
        return communication.error();
    const auto rows = loadRank(reader, *facts, *communication, rank, window);
    if (!rows)
        return rows.error();
    return labelledIntervals(
        { *rows, facts->signatures, window, {}, lifecycleOf(tiledSteps(facts->steps), facts->run.finished) });
}

} // namespace rankscope::tracing

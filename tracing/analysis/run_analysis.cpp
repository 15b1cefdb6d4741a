#include "tracing/analysis/run_analysis.h"

#include "tracing/analysis/diagnosis_findings.h"
#include "tracing/analysis/ledger/compute_share.h"
#include "tracing/analysis/ledger/ledger.h"
#include "tracing/analysis/ledger/ledger_rows.h"
#include "tracing/analysis/load.h"
#include "tracing/analysis/run_analysis_pack.h"
#include "tracing/model/interval.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

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
    run.counted = options.steps ? options.steps : countedSteps(run.allSteps, run.facts.run);
    run.window = run.facts.window;
    if (!run.counted)
        return Done{};
    auto steps = stepsAskedFor(run.allSteps, *run.counted);
    if (!steps)
        return steps.error();
    run.steps = std::move(*steps);
    run.window = { run.steps.front().window.beginNs, run.steps.back().window.endNs };
    return Done{};
}

void keepLongest(RankAnalysis& rank, const ledger::Segment& segment)
{
    Window& longest = rank.longest[static_cast<std::size_t>(spanClassOf(segment.label))];
    if (segment.end - segment.begin > longest.durationNs())
        longest = { segment.begin, segment.end };
}

/// What of the ledger counts, for one analysis.
class Counted {
public:
    Counted(const RunAnalysis& run, const LedgerRun& ledger)
        : run_(run)
        , ledger_(ledger)
    {
        for (const ledger::StepInfo& step : ledger.result.steps)
            steps_.push_back(!run.counted || (step.step >= run.counted->first && step.step <= run.counted->last));
    }

    /// By the index of the ledger's steps; empty: all time counts, also outside of steps.
    std::vector<bool> steps() const { return run_.counted ? steps_ : std::vector<bool>(); }

    bool counts(std::int32_t step) const
    {
        return !run_.counted || (step >= 0 && steps_[static_cast<std::size_t>(step)]);
    }

    /// The segments that count, cut at the window.
    template <typename Visitor> void visitSegments(std::size_t rank, Visitor visitor) const
    {
        for (ledger::Segment segment : ledger_.result.ranks[rank].segments) {
            if (!run_.counted) {
                segment.begin = std::max(segment.begin, run_.window.beginNs);
                segment.end = std::min(segment.end, run_.window.endNs);
            }
            if (counts(segment.step) && segment.begin < segment.end)
                visitor(segment);
        }
    }

    Intervals stretches(std::size_t rank) const
    {
        std::vector<Window> all;
        visitSegments(rank, [&](const ledger::Segment& segment) { all.push_back({ segment.begin, segment.end }); });
        return unionOf(std::move(all));
    }

    /// Exact for whole steps and whole runs: sums the ledger's rows. A window is summed from what is labelled in it.
    TimeSplit split(std::size_t rank, bool isWindow) const
    {
        TimeSplit split;
        if (isWindow)
            return windowSplit(rank);
        for (const ledger::LedgerRow& row : ledger_.result.rows) {
            if (row.rank == ledger_.result.ranks[rank].rank && counts(row.step))
                addLeaf(split, row.leaf, row.ns);
        }
        return split;
    }

private:
    TimeSplit windowSplit(std::size_t rank) const
    {
        TimeSplit split;
        const ledger::RankInput& input = ledger_.source.input.ranks[rank];
        if (input.stretches.empty())
            return split;
        const ledger::ComputeShare share(input);
        visitSegments(rank, [&](const ledger::Segment& segment) {
            const std::int64_t ns = segment.end - segment.begin;
            const ledger::LeafKey leaf = ledger::leafOf(ledger_.source.input, ledger_.result, rank, segment);
            if (leaf.leaf != ledger::Leaf::Compute)
                return addLeaf(split, leaf, ns);
            const std::int64_t off = share.descheduledUpTo(segment.end) - share.descheduledUpTo(segment.begin);
            addLeaf(split, { ledger::Leaf::Descheduled, Dimension::None }, off);
            addLeaf(split, leaf, ns - off);
        });
        return split;
    }

    const RunAnalysis& run_;
    const LedgerRun& ledger_;
    std::vector<bool> steps_;
};

void addRowsOfRank(RankAnalysis& rank, const LedgerRun& ledger, const Counted& counted, const RunAnalysis& run)
{
    const auto worldSize = static_cast<std::size_t>(std::max(0, run.facts.run.worldSize));
    rank.bySteps.resize(run.steps.size());
    rank.waitForRankNs.assign(worldSize, 0);
    rank.bubbleForRankNs.assign(worldSize, 0);
    for (const ledger::LedgerRow& row : ledger.result.rows) {
        if (row.rank != rank.info.rank || row.step < 0)
            continue;
        const ledger::StepInfo& step = ledger.result.steps[static_cast<std::size_t>(row.step)];
        const auto same = std::ranges::find_if(run.steps,
            [&](const StepSpan& span) { return span.step == step.step && span.attempt == step.attempt - 1; });
        if (same != run.steps.end())
            addLeaf(rank.bySteps[static_cast<std::size_t>(same - run.steps.begin())], row.leaf, row.ns);
        const auto culprit = static_cast<std::size_t>(row.culprit.value_or(-1));
        if (!counted.counts(row.step) || culprit >= worldSize)
            continue;
        if (row.leaf.leaf == ledger::Leaf::Wait)
            rank.waitForRankNs[culprit] += row.ns;
        else if (row.leaf.leaf == ledger::Leaf::BubbleImbalance)
            rank.bubbleForRankNs[culprit] += row.ns;
    }
}

/// The ledger has read the rank's kernels and copies: they need not be read again.
OverlapSummary overlapOf(
    const LedgerSource& source, std::size_t index, const Communication& communication, const Intervals& stretches)
{
    const ledger::RankInput& rank = source.input.ranks[index];
    const auto windows = [](const auto& ops) {
        std::vector<Window> all;
        all.reserve(ops.size());
        for (const auto& op : ops)
            all.push_back({ op.begin, op.end });
        return all;
    };
    std::vector<Window> parts;
    for (const SplitPart& part : communication.parts) {
        if (part.rank == rank.rank)
            parts.push_back({ part.beginNs, part.endNs });
    }
    return overlapSummary(windows(source.kernelsOf(index)), std::move(parts), windows(rank.copies), stretches);
}

RankAnalysis analyseRank(std::size_t index, const Communication& communication, const LedgerRun& ledger,
    const Counted& counted, const RunAnalysis& run)
{
    RankAnalysis rank;
    rank.info = run.facts.ranks[index];
    rank.split = counted.split(index, !run.counted && run.window != run.facts.window);
    const Intervals stretches = counted.stretches(index);
    rank.overlap = overlapOf(ledger.source, index, communication, stretches);
    rank.split.hiddenNs = rank.overlap.overlapNs;
    addRowsOfRank(rank, ledger, counted, run);
    counted.visitSegments(index, [&](const ledger::Segment& segment) { keepLongest(rank, segment); });
    return rank;
}

/// Model FLOPs, and what the ranks could have done: with shared cores only what had a core. Kernels that do little
/// arithmetic may go without FLOPs; known means: for most of the compute time.
void countFlops(RunAnalysis& run, const LedgerRun& ledger, const Counted& counted)
{
    double useful = 0, capacity = 0;
    std::int64_t knownNs = 0, unknownNs = 0;
    for (const ledger::LedgerRow& row : ledger.result.rows) {
        if (!counted.counts(row.step))
            continue;
        const auto flop = ledger.summary.flopOf(row.rank, row.ns);
        if (!flop)
            return;
        if (row.leaf.leaf != ledger::Leaf::Descheduled || !run.sharedCores())
            capacity += *flop;
        if (row.leaf.leaf == ledger::Leaf::Useful)
            useful += *flop;
        if (row.leaf.leaf == ledger::Leaf::Compute)
            unknownNs += row.ns;
        else if (row.leaf.leaf <= ledger::Leaf::BelowRoofline)
            knownNs += row.ns;
    }
    if (knownNs > 0 && knownNs >= unknownNs)
        run.usefulFlops = useful;
    if (capacity > 0)
        run.capacityFlops = capacity;
}

/// Those that begin in the window.
void addKernels(KernelTable& table, const LedgerSource& source, std::size_t rank, Window window)
{
    const std::span<const ledger::ComputeOp> kernels = source.kernelsOf(rank);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        if (kernels[i].begin >= window.beginNs && kernels[i].begin < window.endNs)
            table.add(source.signatures[rank][i], { kernels[i].begin, kernels[i].end });
    }
}

/// Counts rank after rank. Gives the ledger that it counted from.
Result<LedgerRun> analyseRanks(TraceReader& reader, const AnalysisOptions& options, RunAnalysis& run)
{
    const auto communication = loadCommunication(reader, run.facts, run.window);
    if (!communication)
        return communication.error();
    run.collectives = collectiveTable(communication->parts, communication->matches, run.window);

    auto ledger = computeRunLedger(reader, run.facts);
    if (!ledger)
        return ledger.error();
    const Counted counted(run, *ledger);
    KernelTable kernels(run.facts.names, run.facts.signatures);
    for (std::size_t r = 0; r < run.facts.ranks.size(); ++r) {
        run.ranks.push_back(analyseRank(r, *communication, *ledger, counted, run));
        run.total += run.ranks.back().split;
        addKernels(kernels, ledger->source, r, run.window);
        const int done = static_cast<int>(run.ranks.size());
        if (options.progress && !options.progress(done, static_cast<int>(run.facts.ranks.size())))
            return Error("stopped");
    }
    run.kernels = kernels.rows();
    countFlops(run, *ledger, counted);
    auto late = latenessOf(reader, run.facts, ledger->source, ledger->result, counted.steps(), run.window);
    if (!late)
        return late.error();
    run.late = std::move(*late);
    run.gpuTime = ledger->source.gpuTime;
    run.savings = ledger->summary.savings;
    if (!options.window && run.counted == ledger->summary.counted)
        run.pop = ledger->summary.pop;
    run.path = pathShares(
        ledger->source, ledger->result, run.steps.empty() ? std::vector<Window>{ run.window } : stretchesOf(run.steps));
    run.savingSteps = ledger->summary.countedSteps;
    return ledger;
}

/// What is known before any row is read.
Status begin(RunAnalysis& run, TraceReader& reader, const AnalysisOptions& options)
{
    auto facts = loadFacts(reader);
    if (!facts)
        return facts.error();
    run.facts = std::move(*facts);
    if (const auto chosen = chooseWindow(run, options); !chosen)
        return chosen.error();
    run.stepStats = stepStats(run.steps);
    return Done{};
}

/// What is made of the figures.
Status finish(RunAnalysis& run, TraceReader& reader)
{
    if (const auto diagnosed = addDiagnoses(reader, run); !diagnosed)
        return diagnosed.error();
    auto series = loadSeries(reader, run.facts);
    if (!series)
        return series.error();
    run.series = std::move(*series);
    run.findings = findings(run);
    run.headline = headline(run);
    return Done{};
}

constexpr std::string_view kName = "report";
constexpr int kVersion = 1000 * ledger::kLedgerVersion + kAnalysisVersion;

std::string keyOf(const RunAnalysis& run)
{
    return run.counted ? fmt::format("steps {}:{}", run.counted->first, run.counted->last) : std::string("run");
}

/// The figures as they were kept when the same was asked for before; of a finished run only.
Status countOrRecall(RunAnalysis& run, TraceReader& reader, const AnalysisOptions& options)
{
    // Windows are dragged by the hundred: they are not worth their place in the file.
    const bool isFinal = run.facts.run.finished && !options.window;
    if (isFinal) {
        const auto before = reader.kept(kName, kVersion, keyOf(run));
        if (before && unpackFigures(*before, run))
            return Done{};
    }
    const auto ledger = analyseRanks(reader, options, run);
    if (!ledger)
        return ledger.error();
    if (isFinal)
        reader.keep(kName, kVersion, keyOf(run), packedFigures(run));
    return Done{};
}

} // namespace

Result<RunAnalysis> analyse(TraceReader& reader, const AnalysisOptions& options)
{
    RunAnalysis run;
    if (const Status begun = begin(run, reader, options); !begun)
        return begun.error();
    if (const Status counted = countOrRecall(run, reader, options); !counted)
        return counted.error();
    if (const Status finished = finish(run, reader); !finished)
        return finished.error();
    return run;
}

Result<AnalysedRun> analyseWithLedger(TraceReader& reader, const AnalysisOptions& options)
{
    AnalysedRun run;
    if (const Status begun = begin(run.analysis, reader, options); !begun)
        return begun.error();
    auto ledger = analyseRanks(reader, options, run.analysis);
    if (!ledger)
        return ledger.error();
    if (const Status finished = finish(run.analysis, reader); !finished)
        return finished.error();
    run.lanes = ledgerLanes(*ledger, run.analysis.facts.window);
    run.ledger = std::move(ledger->summary);
    return run;
}

} // namespace rankscope::tracing

#include "tracing/analysis/run_ledger.h"

#include "tracing/analysis/ledger/ledger.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <thread>
#include <tuple>

namespace rankscope::tracing {

namespace {

using ledger::Leaf;
using ledger::LeafKey;

constexpr std::size_t kCulpritsReplayed = 4;
constexpr std::string_view kName = "ledger";

std::optional<RunLedger> kept(TraceReader& reader)
{
    const auto text = reader.kept(kName, ledger::kLedgerVersion, "");
    return text ? unpacked(*text) : std::nullopt;
}

bool isCaused(Leaf leaf) { return leaf == Leaf::Wait || leaf == Leaf::BubbleImbalance; }

/// What is left of transfers where each is as fast as its links were measured to be, on average.
ledger::Ratio idealShare(Dimension dimension, const std::vector<ledger::LedgerTotal>& totals)
{
    std::int64_t ideal = 0, all = 0;
    for (const ledger::LedgerTotal& total : totals) {
        const bool isIdeal = total.leaf.leaf == Leaf::TransferIdeal;
        if (total.leaf.dimension != dimension || (!isIdeal && total.leaf.leaf != Leaf::TransferExcess))
            continue;
        ideal += isIdeal ? total.ns : 0;
        all += total.ns;
    }
    return { ideal, std::max<std::int64_t>(1, all) };
}

std::optional<Prediction> savingOfLeaf(
    const LeafKey& leaf, const std::vector<ledger::LedgerTotal>& totals, const Remedies& remedies)
{
    switch (leaf.leaf) {
    case Leaf::Transfer:
    case Leaf::TransferIdeal: // goes with the whole transfer only
        return remedies.withTransfer(leaf.dimension, { 0, 1 });
    case Leaf::TransferExcess:
        return remedies.withTransfer(leaf.dimension, idealShare(leaf.dimension, totals));
    case Leaf::Host:
        return remedies.withoutGaps(ledger::Label::Host);
    case Leaf::Launch:
        return remedies.withoutGaps(ledger::Label::Launch);
    case Leaf::KernelGap:
        return remedies.withoutGaps(ledger::Label::KernelGap);
    case Leaf::Data:
        return remedies.withoutGaps(ledger::Label::Data);
    case Leaf::Checkpoint:
        return remedies.withoutGaps(ledger::Label::Checkpoint);
    case Leaf::Descheduled:
        return remedies.withCores();
    default:
        return std::nullopt;
    }
}

/// Replays know nothing of each other: some run at once, few enough that their graphs fit in memory.
std::vector<std::optional<Prediction>> predictedTogether(
    const std::vector<Saving>& wanted, const std::vector<ledger::LedgerTotal>& totals, const Remedies& remedies)
{
    constexpr unsigned kAtOnce = 4;
    std::vector<std::optional<Prediction>> predictions(wanted.size());
    std::atomic<std::size_t> next{ 0 };
    const auto work = [&] {
        for (std::size_t i = 0; (i = next.fetch_add(1)) < wanted.size();) {
            predictions[i] = wanted[i].leaf ? savingOfLeaf(*wanted[i].leaf, totals, remedies)
                                            : remedies.withoutCause(*wanted[i].culprit, wanted[i].cause);
        }
    };
    std::vector<std::thread> helpers;
    for (unsigned i = 1; i < std::min(kAtOnce, std::thread::hardware_concurrency()); ++i)
        helpers.emplace_back(work);
    work();
    for (std::thread& helper : helpers)
        helper.join();
    return predictions;
}

/// Who makes others wait, by what, most first.
std::vector<std::pair<std::int64_t, std::pair<std::int32_t, std::string>>> culpritsOf(const RunLedger& run)
{
    std::map<std::pair<std::int32_t, std::string>, std::int64_t> sums;
    for (const ledger::LedgerRow& row : run.rows) {
        if (isCaused(row.leaf.leaf) && row.culprit && !row.cause.empty())
            sums[{ *row.culprit, row.cause }] += row.ns;
    }
    std::vector<std::pair<std::int64_t, std::pair<std::int32_t, std::string>>> sorted;
    for (const auto& [who, ns] : sums)
        sorted.emplace_back(ns, who);
    std::ranges::stable_sort(sorted, std::ranges::greater(), [](const auto& entry) { return entry.first; });
    return sorted;
}

bool isCompute(Leaf leaf) { return leaf <= Leaf::Optimizer; }

void addPop(RunLedger& run, const Remedies& remedies)
{
    const auto network = remedies.withoutTransfers();
    if (!network)
        return;
    const std::optional<RunLedger> counted = run.counted ? onlySteps(run, *run.counted) : run;
    std::map<std::int32_t, std::int64_t> compute;
    for (const ledger::LedgerRow& row : counted ? counted->rows : run.rows)
        compute[row.rank] += isCompute(row.leaf.leaf) ? row.ns : 0;
    PopTimes pop;
    pop.ranks = std::ssize(run.ranks);
    for (const auto& [rank, ns] : compute) {
        pop.computeNs += ns;
        pop.mostComputeNs = std::max(pop.mostComputeNs, ns);
    }
    pop.elapsedNs = network->baselineNs;
    pop.withoutTransferNs = network->predictedNs;
    run.pop = pop;
}

} // namespace

std::optional<double> RunLedger::capacityFlop() const
{
    double sum = 0;
    for (const Rank& rank : ranks) {
        if (!rank.peakFlops)
            return std::nullopt;
        sum += static_cast<double>(*rank.peakFlops) * static_cast<double>(rank.windowNs) / 1e9;
    }
    return ranks.empty() ? std::nullopt : std::optional(sum);
}

std::optional<double> RunLedger::flopOf(std::int32_t rank, std::int64_t ns) const
{
    const auto found = std::ranges::find(ranks, rank, &Rank::rank);
    if (found == ranks.end() || !found->peakFlops)
        return std::nullopt;
    return static_cast<double>(*found->peakFlops) * static_cast<double>(ns) / 1e9;
}

std::int64_t RunLedger::residualNs() const
{
    std::int64_t left = capacityNs;
    const SharedRows::Piece all = summedRows(*this);
    for (const ledger::LedgerRow& row : *all)
        left -= row.ns;
    return left;
}

SharedRows::Piece summedRows(const RunLedger& run)
{
    if (run.sums)
        return run.sums;
    using Key = std::tuple<LeafKey, std::int32_t, std::optional<std::int32_t>, std::string_view>;
    std::map<Key, ledger::LedgerRow> sums;
    for (const ledger::LedgerRow& row : run.rows) {
        ledger::LedgerRow& sum = sums[{ row.leaf, row.rank, row.culprit, row.cause }];
        sum.ns += row.ns;
        sum.low += row.low;
        sum.high += row.high;
    }
    std::vector<ledger::LedgerRow> rows;
    for (auto& [key, sum] : sums) {
        std::tie(sum.leaf, sum.rank, sum.culprit, std::ignore) = key;
        sum.cause = std::get<3>(key);
        rows.push_back(std::move(sum));
    }
    return std::make_shared<const std::vector<ledger::LedgerRow>>(std::move(rows));
}

const Saving* RunLedger::savingOf(const LeafKey& leaf) const
{
    const auto found = std::ranges::find(savings, std::optional(leaf), &Saving::leaf);
    return found == savings.end() ? nullptr : &*found;
}

const Saving* RunLedger::savingOf(std::optional<std::int32_t> culprit, std::string_view cause) const
{
    const auto found = std::ranges::find_if(savings,
        [&](const Saving& saving) { return !saving.leaf && saving.culprit == culprit && saving.cause == cause; });
    return found == savings.end() ? nullptr : &*found;
}

RunLedger summarised(const LedgerSource& source, const ledger::LedgerResult& result)
{
    RunLedger run;
    run.gpuTime = source.gpuTime;
    run.capacityNs = result.capacity;
    run.notRecordedNs = source.notRecordedNs;
    run.ranksAbsent = source.ranksAbsent;
    for (std::size_t r = 0; r < result.ranks.size(); ++r)
        run.ranks.push_back({ result.ranks[r].rank, result.ranks[r].window, source.input.ranks[r].peak.flopPerSecond });
    run.steps = result.steps;
    run.rows = result.rows;
    run.totals = result.totals;
    run.goodput = result.goodput;
    run.orderViolations = result.orderViolations;
    run.violationsBeyondError = result.violationsBeyondError;
    run.flopViolations = result.flopViolations;
    run.eagerSends = result.eagerSends;
    return run;
}

void addSavings(RunLedger& run, const Remedies& remedies)
{
    if (!remedies.canReplay())
        return;
    std::vector<Saving> wanted;
    for (const ledger::LedgerTotal& total : run.totals) {
        if (total.ns > 0)
            wanted.push_back({ total.leaf, std::nullopt, "", {} });
    }
    std::size_t culprits = 0;
    for (const auto& [ns, who] : culpritsOf(run)) {
        if (culprits++ == kCulpritsReplayed || 100 * ns < run.capacityNs)
            break;
        wanted.push_back({ std::nullopt, who.first, who.second, {} });
    }
    const auto predictions = predictedTogether(wanted, run.totals, remedies);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (!predictions[i])
            continue;
        wanted[i].prediction = *predictions[i];
        run.savings.push_back(std::move(wanted[i]));
    }
    addPop(run, remedies);
}

std::vector<Window> countedStretches(const RunFacts& facts)
{
    const std::vector<StepSpan> all = tiledSteps(facts.steps);
    const auto range = countedSteps(all, facts.run);
    return range ? stretchesOf(stepsIn(all, *range)) : std::vector<Window>();
}

std::optional<RunLedger> onlySteps(const RunLedger& run, StepRange steps)
{
    std::vector<bool> chosen;
    for (const ledger::StepInfo& step : run.steps)
        chosen.push_back(step.step >= steps.first && step.step <= steps.last);
    if (std::ranges::find(chosen, true) == chosen.end())
        return std::nullopt;
    RunLedger part = run;
    if (run.counted != steps) {
        part.savings.clear();
        part.pop.reset();
    }
    part.rows = run.rows.where(
        [&](const ledger::LedgerRow& row) { return row.step >= 0 && chosen[static_cast<std::size_t>(row.step)]; });
    part.sums.reset();
    std::map<LeafKey, ledger::LedgerTotal> totals;
    for (RunLedger::Rank& rank : part.ranks)
        rank.windowNs = 0;
    part.capacityNs = 0;
    for (const ledger::LedgerRow& row : part.rows) {
        ledger::LedgerTotal& total = totals[row.leaf];
        total.leaf = row.leaf;
        total.ns += row.ns;
        total.low += row.low;
        total.high += row.high;
        part.capacityNs += row.ns;
        const auto rank = std::ranges::find(part.ranks, row.rank, &RunLedger::Rank::rank);
        if (rank != part.ranks.end())
            rank->windowNs += row.ns;
    }
    part.totals.clear();
    for (const auto& [leaf, total] : totals)
        part.totals.push_back(total);
    return part;
}

Result<LedgerRun> computeRunLedger(TraceReader& reader, const RunFacts& facts)
{
    auto source = readLedgerSource(reader, facts);
    if (!source)
        return source.error();
    LedgerRun run;
    run.source = std::move(*source);
    run.result = ledger::computeLedger(run.source.input);
    run.summary = summarised(run.source, run.result);
    const std::vector<StepSpan> steps = tiledSteps(facts.steps);
    run.summary.counted = countedSteps(steps, facts.run);
    if (run.summary.counted)
        run.summary.countedSteps = std::ssize(stepsIn(steps, *run.summary.counted));
    if (!facts.run.finished)
        return run; // savings would be out of date before they are computed
    if (const auto before = kept(reader)) {
        run.summary.savings = before->savings;
        run.summary.pop = before->pop;
        return run;
    }
    addSavings(run.summary, Remedies(run.source.input, run.result, countedStretches(facts)));
    reader.keep(kName, ledger::kLedgerVersion, "", packed(run.summary));
    return run;
}

Result<RunLedger> runLedger(TraceReader& reader, const RunFacts& facts)
{
    if (facts.run.finished) {
        if (auto before = kept(reader))
            return std::move(*before);
    }
    auto run = computeRunLedger(reader, facts);
    if (!run)
        return run.error();
    return std::move(run->summary);
}

} // namespace rankscope::tracing

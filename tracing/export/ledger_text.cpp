#include "tracing/export/ledger_text.h"

#include "tracing/analysis/wording.h"
#include "tracing/export/pop_report.h"
#include "tracing/export/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace rankscope::tracing {

namespace {

using ledger::Leaf;
using ledger::LeafKey;
using ledger::LedgerRow;
using Align = TextTable::Align;

constexpr std::size_t kBarWidth = 20;
constexpr double kWorthALine = 0.0005;
constexpr std::size_t kColumns = 7;

double shareOf(const RunLedger& run, std::int64_t ns)
{
    return run.capacityNs > 0 ? static_cast<double>(ns) / static_cast<double>(run.capacityNs) : 0;
}

std::string barText(double share)
{
    return std::string(static_cast<std::size_t>(share * static_cast<double>(kBarWidth) + 0.5), '#');
}

/// Unattributed first, never hidden.
std::vector<ledger::LedgerTotal> inOrder(const RunLedger& run)
{
    std::vector<ledger::LedgerTotal> totals = run.totals;
    std::stable_partition(totals.begin(), totals.end(),
        [](const ledger::LedgerTotal& total) { return total.leaf.leaf == Leaf::Unattributed; });
    return totals;
}

std::string savingText(const RunLedger& run, const Saving* saving)
{
    if (!saving)
        return "-";
    const Prediction& p = saving->prediction;
    const std::int64_t steps = std::max<std::int64_t>(1, run.countedSteps);
    const std::string before = timeText(p.baselineNs / steps), after = timeText(p.predictedNs / steps);
    if (p.savedShare() < kWorthALine || before == after)
        return "no gain";
    const bool exact = timeText(p.lowNs / steps) == timeText(p.highNs / steps);
    return fmt::format("{} {} -> {}{}", run.countedSteps > 0 ? "step" : "run", before, after,
        exact ? "" : fmt::format(" ({})", rangeText(p.lowNs / steps, p.highNs / steps)));
}

std::string whoText(const LedgerRow& row)
{
    const std::string who = row.culprit ? fmt::format("rank {}", *row.culprit) : std::string("nobody named");
    return row.cause.empty() ? who : fmt::format("{}: {}", who, row.cause);
}

/// Culprits and causes of one leaf over all ranks and steps, most first.
std::vector<LedgerRow> causesOf(const std::vector<LedgerRow>& byLeaf, const LeafKey& leaf)
{
    std::vector<LedgerRow> rows;
    for (const LedgerRow& row : byLeaf) {
        if (row.leaf == leaf && (row.culprit || !row.cause.empty()))
            rows.push_back(row);
    }
    std::ranges::stable_sort(rows, std::ranges::greater(), &LedgerRow::ns);
    return rows;
}

/// Shares of the counted steps beside those of the whole run, so that the ledger and the report can be laid side by
/// side.
class LeafTable {
public:
    LeafTable(const RunLedger& run, const std::optional<RunLedger>& counted)
        : run_(run)
        , counted_(counted)
        , table_(columns(run, counted))
    {
    }

    std::string text()
    {
        const std::vector<LedgerRow> byLeaf = grouped(run_, { .rank = false, .step = false, .leaf = true });
        for (const ledger::LedgerTotal& total : inOrder(run_)) {
            add(ledger::leafName(total.leaf), total.ns, countedShare(total.leaf), "",
                savingText(run_, run_.savingOf(total.leaf)));
            for (const LedgerRow& row : causesOf(byLeaf, total.leaf)) {
                if (shareOf(run_, row.ns) < kWorthALine)
                    break;
                add("", row.ns, "", whoText(row), savingText(run_, run_.savingOf(row.culprit, row.cause)));
            }
        }
        add("sum", run_.capacityNs, counted_ ? shareText(1) : "", fmt::format("residual {} ns", run_.residualNs()), "");
        return table_.text(60);
    }

private:
    static std::vector<TextTable::Column> columns(const RunLedger& run, const std::optional<RunLedger>& counted)
    {
        std::vector<TextTable::Column> columns{ { "leaf", Align::Left }, { "share" }, { "own" } };
        if (counted)
            columns.push_back({ fmt::format("steps {}-{}", run.counted->first, run.counted->last) });
        columns.insert(columns.end(),
            { { "", Align::Left }, { "culprit, cause", Align::Left }, { "if fixed (replay)", Align::Left } });
        return columns;
    }

    std::string countedShare(const LeafKey& leaf) const
    {
        if (!counted_)
            return "";
        const auto found = std::ranges::find(counted_->totals, leaf, &ledger::LedgerTotal::leaf);
        return found == counted_->totals.end() ? "-" : shareText(shareOf(*counted_, found->ns));
    }

    void add(const std::string& leaf, std::int64_t ns, const std::string& counted, const std::string& who,
        const std::string& saving)
    {
        const double share = shareOf(run_, ns);
        std::vector<std::string> cells{ leaf, shareText(share), timeText(ns) };
        if (counted_)
            cells.push_back(counted);
        cells.insert(cells.end(), { leaf == "sum" ? "" : barText(share), who, saving });
        table_.add(std::move(cells));
    }

    const RunLedger& run_;
    const std::optional<RunLedger>& counted_;
    TextTable table_;
};

/// Which time the shares are of.
std::string headText(const RunLedger& run, std::optional<StepRange> steps, bool hasCounted)
{
    const std::string_view time = run.gpuTime ? "GPU time" : "rank time";
    if (steps)
        return fmt::format("Ledger: shares of {} in steps {}-{}\n", time, steps->first, steps->last);
    if (run.steps.empty() || !run.counted)
        return fmt::format("Ledger: shares of {}, the whole run\n", time);
    const std::string all = fmt::format("{}-{}", run.steps.front().step, run.steps.back().step);
    if (!hasCounted)
        return fmt::format("Ledger: shares of {}, the whole run: steps {}\n", time, all);
    return fmt::format(
        "Ledger: shares of {}, the whole run: steps {} and what lies outside of steps\n"
        "steps {}-{}: shares of their time alone, as rankscope report counts; replays are of these steps\n",
        time, all, run.counted->first, run.counted->last);
}

/// One line a rank, a step, or a rank's step; columns are the leaves that cost most.
std::string groupTable(const RunLedger& run, LedgerGrouping by)
{
    std::vector<ledger::LedgerTotal> totals = run.totals;
    std::ranges::stable_sort(totals, std::ranges::greater(), &ledger::LedgerTotal::ns);
    totals.resize(std::min(totals.size(), kColumns));
    std::vector<TextTable::Column> columns;
    if (by.rank)
        columns.push_back({ "rank" });
    if (by.step)
        columns.push_back({ "step" });
    columns.push_back({ "own" });
    for (const ledger::LedgerTotal& total : totals)
        columns.push_back({ ledger::leafName(total.leaf) });
    TextTable table(columns);
    std::map<std::pair<std::int32_t, std::int32_t>, std::map<LeafKey, std::int64_t>> groups;
    for (const LedgerRow& row : grouped(run, { by.rank, by.step, true }))
        groups[{ row.rank, row.step }][row.leaf] += row.ns;
    for (const auto& [key, leaves] : groups) {
        std::int64_t sum = 0;
        for (const auto& [leaf, ns] : leaves)
            sum += ns;
        std::vector<std::string> cells;
        if (by.rank)
            cells.push_back(fmt::format("{}", key.first));
        if (by.step && key.second >= 0) {
            const ledger::StepInfo& step = run.steps[static_cast<std::size_t>(key.second)];
            cells.push_back(fmt::format("{}/{}", step.step, step.attempt));
        } else if (by.step) {
            cells.push_back("-");
        }
        cells.push_back(timeText(sum));
        for (const ledger::LedgerTotal& total : totals) {
            const auto found = leaves.find(total.leaf);
            const std::int64_t ns = found == leaves.end() ? 0 : found->second;
            cells.push_back(sum > 0 && ns > 0 ? shareText(static_cast<double>(ns) / static_cast<double>(sum)) : "-");
        }
        table.add(cells);
    }
    return table.text();
}

std::string notes(const RunLedger& run)
{
    std::string text;
    for (const ledger::LedgerTotal& total : run.totals) {
        if (total.leaf.leaf == Leaf::Wait && total.low < total.high) {
            text += fmt::format("{} with the clocks' error: {} to {}\n", ledger::leafName(total.leaf),
                shareText(shareOf(run, total.low)), shareText(shareOf(run, total.high)));
        }
    }
    if (run.notRecordedNs > 0)
        text += fmt::format("not recorded, outside the 100 %: {} of rank time\n", timeText(run.notRecordedNs));
    if (run.ranksAbsent > 0)
        text += fmt::format("{} not in this file: waits for them are not known\n", plural(run.ranksAbsent, "rank"));
    if (run.orderViolations > 0)
        text += fmt::format("{} left a collective before the last rank entered it ({} beyond the clocks' error)\n",
            plural(run.orderViolations, "part"), run.violationsBeyondError);
    return text;
}

} // namespace

std::string ledgerText(const RunLedger& run, LedgerGrouping by, std::optional<StepRange> steps)
{
    const bool isGrouped = by.rank || by.step;
    std::optional<RunLedger> counted;
    if (!steps && run.counted && !isGrouped)
        counted = onlySteps(run, *run.counted);
    if (counted && counted->capacityNs == run.capacityNs)
        counted.reset();
    return headText(run, steps, counted.has_value())
        + (isGrouped ? groupTable(run, by) : LeafTable(run, counted).text()) + notes(run) + popText(run.pop);
}

} // namespace rankscope::tracing

#include "tracing/export/ledger_text.h"

#include "tracing/analysis/wording.h"
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

std::int64_t lengthOfSteps(const RunLedger& run)
{
    return run.steps.empty() ? 0 : static_cast<std::int64_t>(run.steps.size());
}

std::string savingText(const RunLedger& run, const Saving* saving)
{
    if (!saving)
        return "-";
    const Prediction& p = saving->prediction;
    if (p.savedShare() < kWorthALine)
        return "no gain";
    const std::int64_t steps = std::max<std::int64_t>(1, lengthOfSteps(run));
    const std::string low = timeText(p.lowNs / steps), high = timeText(p.highNs / steps);
    return fmt::format("{} {} -> {}{}", lengthOfSteps(run) > 0 ? "step" : "run", timeText(p.baselineNs / steps),
        timeText(p.predictedNs / steps), low == high ? "" : fmt::format(" ({} to {})", low, high));
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

std::string leafTable(const RunLedger& run)
{
    TextTable table({ { "leaf", Align::Left }, { "share" }, { "own" }, { "", Align::Left },
        { "culprit, cause", Align::Left }, { "if fixed (replay)", Align::Left } });
    const std::vector<LedgerRow> byLeaf = grouped(run, { .rank = false, .step = false, .leaf = true });
    for (const ledger::LedgerTotal& total : inOrder(run)) {
        const double share = shareOf(run, total.ns);
        table.add({ ledger::leafName(total.leaf), shareText(share), timeText(total.ns), barText(share), "",
            savingText(run, run.savingOf(total.leaf)) });
        for (const LedgerRow& row : causesOf(byLeaf, total.leaf)) {
            if (shareOf(run, row.ns) < kWorthALine)
                break;
            table.add({ "", shareText(shareOf(run, row.ns)), timeText(row.ns), barText(shareOf(run, row.ns)),
                whoText(row), savingText(run, run.savingOf(row.culprit, row.cause)) });
        }
    }
    table.add({ "sum", shareText(run.capacityNs > 0 ? 1 : 0), timeText(run.capacityNs), "",
        fmt::format("residual {} ns", run.residualNs()), "" });
    return table.text(60);
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

std::string ledgerText(const RunLedger& run, LedgerGrouping by)
{
    const std::string head = fmt::format("Ledger: shares of {}\n", run.gpuTime ? "GPU time" : "rank time");
    const std::string table = by.rank || by.step ? groupTable(run, by) : leafTable(run);
    return head + table + notes(run);
}

} // namespace rankscope::tracing

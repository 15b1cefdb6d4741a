#include "tracing/analysis/run_ledger.h"

#include "tracing/analysis/pack.h"

namespace rankscope::tracing {

namespace {

constexpr auto kRank = [](auto& pack, auto& rank) {
    put(pack, rank.rank);
    put(pack, rank.windowNs);
    putOptional(pack, rank.peakFlops);
};

constexpr auto kStep = [](auto& pack, auto& step) {
    put(pack, step.step);
    put(pack, step.attempt);
    put(pack, step.state);
    put(pack, step.begin);
    put(pack, step.end);
};

constexpr auto kRow = [](auto& pack, auto& row) {
    kLeaf(pack, row.leaf);
    put(pack, row.rank);
    put(pack, row.step);
    put(pack, row.ns);
    put(pack, row.low);
    put(pack, row.high);
    putOptional(pack, row.culprit);
    pack.word(row.cause);
    putAll(pack, row.culprits, [](auto& p, auto& rank) { put(p, rank); });
};

constexpr auto kTotal = [](auto& pack, auto& total) {
    kLeaf(pack, total.leaf);
    put(pack, total.ns);
    put(pack, total.low);
    put(pack, total.high);
};

void putCounted(Packer& pack, const RunLedger& run)
{
    putOptional(pack, run.counted ? std::optional(run.counted->first) : std::nullopt);
    putOptional(pack, run.counted ? std::optional(run.counted->last) : std::nullopt);
}
void putCounted(Unpacker& pack, RunLedger& run)
{
    std::optional<std::int64_t> first, last;
    putOptional(pack, first);
    putOptional(pack, last);
    if (first && last)
        run.counted = StepRange{ *first, *last };
}

void putRows(Packer& pack, const RunLedger& run)
{
    put(pack, run.rows.size());
    for (const ledger::LedgerRow& row : run.rows)
        kRow(pack, row);
}
void putRows(Unpacker& pack, RunLedger& run)
{
    std::vector<ledger::LedgerRow> rows;
    putAll(pack, rows, kRow);
    run.rows = SharedRows(std::move(rows));
}

template <typename Pack, typename Run> void putRun(Pack& pack, Run& run)
{
    for (auto* number :
        { &run.capacityNs, &run.notRecordedNs, &run.orderViolations, &run.violationsBeyondError, &run.flopViolations,
            &run.eagerSends, &run.goodput.total, &run.goodput.start, &run.goodput.committed, &run.goodput.provisional,
            &run.goodput.lost, &run.goodput.down, &run.goodput.ettrPpm, &run.goodput.ettrFirmPpm })
        put(pack, *number);
    put(pack, run.gpuTime);
    put(pack, run.ranksAbsent);
    put(pack, run.countedSteps);
    putCounted(pack, run);
    putAll(pack, run.ranks, kRank);
    putAll(pack, run.steps, kStep);
    putRows(pack, run);
    putAll(pack, run.totals, kTotal);
    putAll(pack, run.savings, kSaving);
    putPop(pack, run.pop);
}

} // namespace

std::string packed(const RunLedger& run)
{
    Packer pack;
    putRun(pack, run);
    return std::move(pack.text);
}

std::optional<RunLedger> unpacked(std::string_view text)
{
    Unpacker pack(text);
    RunLedger run;
    putRun(pack, run);
    if (!pack.good() || pack.left() != 0)
        return std::nullopt;
    return run;
}

} // namespace rankscope::tracing

#include "tracing/export/ledger_json.h"

#include "tracing/export/json_writer.h"
#include "tracing/export/pop_report.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace rankscope::tracing {

namespace {

double shareOf(const RunLedger& run, std::int64_t ns)
{
    return run.capacityNs > 0 ? static_cast<double>(ns) / static_cast<double>(run.capacityNs) : 0;
}

std::string_view stateWord(ledger::StepState state)
{
    switch (state) {
    case ledger::StepState::Committed:
        return "committed";
    case ledger::StepState::Provisional:
        return "provisional";
    case ledger::StepState::Lost:
        break;
    }
    return "lost";
}

/// FLOPs of all rows that go into a group; none where one is unknown.
using FlopSums = std::vector<std::optional<double>>;

void writePrediction(JsonWriter& json, const Saving* saving)
{
    json.member("saving_share", saving ? std::optional(saving->prediction.savedShare()) : std::nullopt);
    json.member("saving_ns", saving ? std::optional(saving->prediction.savedNs()) : std::nullopt);
    json.member("saving_low_ns",
        saving ? std::optional(saving->prediction.baselineNs - saving->prediction.highNs) : std::nullopt);
    json.member("saving_high_ns",
        saving ? std::optional(saving->prediction.baselineNs - saving->prediction.lowNs) : std::nullopt);
}

void writeLeaf(JsonWriter& json, const RunLedger& run, const ledger::LedgerRow& row, LedgerGrouping by,
    const std::optional<double>& flop)
{
    const ledger::StepInfo* step = by.step && row.step >= 0 ? &run.steps[static_cast<std::size_t>(row.step)] : nullptr;
    json.beginObject();
    if (by.leaf)
        json.member("leaf", ledger::leafName(row.leaf));
    if (by.rank)
        json.member("rank", row.rank);
    if (by.step) {
        json.member("step", step ? std::optional(step->step) : std::nullopt);
        json.member("attempt", step ? std::optional(step->attempt) : std::nullopt);
        json.key("state");
        step ? json.value(stateWord(step->state)) : json.null();
    }
    json.member("ns", row.ns);
    json.member("flop", flop);
    json.member("low_ns", row.low);
    json.member("high_ns", row.high);
    if (by.leaf) {
        json.member("culprit", row.culprit);
        json.list("culprits", row.culprits);
        json.key("cause");
        row.cause.empty() ? json.null() : json.value(row.cause);
    }
    json.endObject();
}

struct Group {
    std::vector<ledger::LedgerRow> rows;
    FlopSums flops;
};

Group groupedWithFlops(const RunLedger& run, LedgerGrouping by)
{
    using Key = std::tuple<ledger::LeafKey, std::int32_t, std::int32_t, std::int32_t, std::string>;
    Group group;
    std::map<Key, std::size_t> places;
    for (const ledger::LedgerRow& from : run.rows) {
        ledger::LedgerRow row = from;
        if (!by.rank)
            row.rank = 0;
        if (!by.step)
            row.step = -1;
        if (!by.leaf) {
            row.leaf = {};
            row.culprit.reset();
            row.cause.clear();
            row.culprits.clear();
        }
        const std::optional<double> flop = run.flopOf(from.rank, from.ns);
        const auto [place, isNew] = places.try_emplace(
            Key{ row.leaf, row.rank, row.step, row.culprit.value_or(-1), row.cause }, group.rows.size());
        if (isNew) {
            group.rows.push_back(std::move(row));
            group.flops.push_back(flop);
            continue;
        }
        ledger::LedgerRow& sum = group.rows[place->second];
        sum.ns += row.ns;
        sum.low += row.low;
        sum.high += row.high;
        for (const std::int32_t culprit : row.culprits) {
            if (std::ranges::find(sum.culprits, culprit) == sum.culprits.end())
                sum.culprits.push_back(culprit);
        }
        auto& flops = group.flops[place->second];
        flops = flops && flop ? std::optional(*flops + *flop) : std::nullopt;
    }
    return group;
}

void writeTotals(JsonWriter& json, const RunLedger& run)
{
    const Group byLeafAndRank = groupedWithFlops(run, { .rank = true, .step = false, .leaf = true });
    json.key("totals").beginArray();
    for (const ledger::LedgerTotal& total : run.totals) {
        std::optional<double> flop = 0.0;
        for (std::size_t i = 0; i < byLeafAndRank.rows.size(); ++i) {
            const auto& own = byLeafAndRank.flops[i];
            if (byLeafAndRank.rows[i].leaf == total.leaf)
                flop = flop && own ? std::optional(*flop + *own) : std::nullopt;
        }
        json.beginObject();
        json.member("leaf", ledger::leafName(total.leaf));
        json.member("ns", total.ns);
        json.member("flop", flop);
        json.member("share", shareOf(run, total.ns));
        json.member("low_share", shareOf(run, total.low));
        json.member("high_share", shareOf(run, total.high));
        writePrediction(json, run.savingOf(total.leaf));
        json.endObject();
    }
    json.endArray();
}

void writeCulprits(JsonWriter& json, const RunLedger& run)
{
    json.key("remedies").beginArray();
    for (const Saving& saving : run.savings) {
        if (saving.leaf)
            continue;
        json.beginObject();
        json.member("culprit", saving.culprit);
        json.member("cause", saving.cause);
        writePrediction(json, &saving);
        json.endObject();
    }
    json.endArray();
}

/// The steps that the run has, and those that reports count: savings are of these.
void writeSteps(JsonWriter& json, const RunLedger& run)
{
    const bool any = !run.steps.empty() && run.counted;
    json.key("steps").beginObject();
    json.member("first_step", any ? std::optional(run.steps.front().step) : std::nullopt);
    json.member("last_step", any ? std::optional(run.steps.back().step) : std::nullopt);
    json.member("counted_first_step", run.counted ? std::optional(run.counted->first) : std::nullopt);
    json.member("counted_last_step", run.counted ? std::optional(run.counted->last) : std::nullopt);
    json.member("counted", run.countedSteps);
    json.endObject();
}

void writeGoodput(JsonWriter& json, const RunLedger& run)
{
    json.key("goodput").beginObject();
    json.member("total_ns", run.goodput.total);
    json.member("start_ns", run.goodput.start);
    json.member("committed_ns", run.goodput.committed);
    json.member("provisional_ns", run.goodput.provisional);
    json.member("lost_ns", run.goodput.lost);
    json.member("down_ns", run.goodput.down);
    json.member("ettr", static_cast<double>(run.goodput.ettrPpm) / 1e6);
    json.member("ettr_without_provisional", static_cast<double>(run.goodput.ettrFirmPpm) / 1e6);
    json.endObject();
}

} // namespace

std::vector<ledger::LedgerRow> grouped(const RunLedger& run, LedgerGrouping by)
{
    return groupedWithFlops(run, by).rows;
}

std::string ledgerJson(const RunLedger& run, LedgerGrouping by)
{
    JsonWriter json;
    json.beginObject();
    json.member("schema", 1);
    json.key("capacity").beginObject();
    json.member("ns", run.capacityNs);
    json.member("flop", run.capacityFlop());
    json.endObject();
    json.member("residual_ns", run.residualNs());
    writeSteps(json, run);
    json.member("not_recorded_ns", run.notRecordedNs);
    json.member("ranks_absent", run.ranksAbsent);
    json.member("order_violations", run.orderViolations);
    json.member("violations_beyond_clock_error", run.violationsBeyondError);
    json.member("flop_model_violations", run.flopViolations);
    json.member("eager_sends", run.eagerSends);
    writeGoodput(json, run);
    const Group group = groupedWithFlops(run, by);
    json.key("leaves").beginArray();
    for (std::size_t i = 0; i < group.rows.size(); ++i)
        writeLeaf(json, run, group.rows[i], by, group.flops[i]);
    json.endArray();
    writeTotals(json, run);
    writeCulprits(json, run);
    writePop(json, run.pop);
    json.endObject();
    return json.text();
}

} // namespace rankscope::tracing

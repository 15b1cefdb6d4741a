#include "tracing/export/info.h"

#include "tracing/analysis/wording.h"
#include "tracing/export/json_writer.h"
#include "tracing/export/text_table.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace rankscope::tracing {

namespace {

struct RankTotals {
    std::int64_t lanes = 0;
    std::int64_t spans = 0;
};

RankTotals totalsOf(const FileInfo& info, std::int32_t rank)
{
    RankTotals totals;
    for (const Lane& lane : info.facts.lanes) {
        if (lane.rank != rank)
            continue;
        ++totals.lanes;
        const auto spans = info.spansOfLane.find(lane.id);
        if (spans != info.spansOfLane.end())
            totals.spans += spans->second;
    }
    return totals;
}

/// ISO 8601, to the second: "2026-01-31T08:15:00Z". Empty where the trace does not say.
std::string utcText(std::int64_t utcNs)
{
    if (utcNs <= 0)
        return {};
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(utcNs / 1'000'000'000)));
}

std::string optionalText(const std::optional<std::int32_t>& value)
{
    return value ? fmt::format("{}", *value) : std::string("-");
}

std::string rankRows(const FileInfo& info)
{
    TextTable table({ { "rank" }, { "node", TextTable::Align::Left }, { "device", TextTable::Align::Left }, { "stage" },
        { "dp" }, { "tp" }, { "ep" }, { "lanes" }, { "spans" }, { "clock error" } });
    for (const RankInfo& rank : info.facts.ranks) {
        const RankTotals totals = totalsOf(info, rank.rank);
        table.add({ fmt::format("{}", rank.rank), rank.node, rank.device, optionalText(rank.stage),
            optionalText(rank.dp), optionalText(rank.tp), optionalText(rank.ep), countText(totals.lanes),
            countText(totals.spans), "±" + timeText(rank.clockErrorNs) });
    }
    return table.text();
}

} // namespace

std::string infoText(const FileInfo& info)
{
    const RunInfo& run = info.facts.run;
    std::string text = fmt::format("{}: {} of {}, {}, recorded by {}{}{}\n\n", run.name, info.facts.ranks.size(),
        plural(run.worldSize, "rank"), timeText(info.facts.window.durationNs()), sourceName(run.source),
        run.originUtcNs > 0 ? ", begun " + utcText(run.originUtcNs) : std::string(),
        run.finished ? "" : ", not finished (it still runs, or was cut off)");
    text += rankRows(info) + "\nRows\n";
    for (const auto& [table, rows] : info.counts) {
        if (rows > 0)
            text += fmt::format("  {:<20} {:>14}\n", table, countText(rows));
    }
    text += info.facts.losses.empty() ? "\nLosses: none\n" : "\nLosses\n";
    for (const Loss& loss : info.facts.losses)
        text += fmt::format("  {}: {} {}\n", loss.kind, countText(loss.count), loss.detail);
    if (!info.facts.provenance.empty())
        text += "\nProvenance\n";
    std::size_t width = 28;
    for (const auto& [key, value] : info.facts.provenance)
        width = std::max(width, textWidth(key));
    for (const auto& [key, value] : info.facts.provenance)
        text += fmt::format("  {:<{}} {}\n", key, width, cutToWidth(value, 90));
    return text;
}

std::string infoJson(const FileInfo& info)
{
    JsonWriter json;
    json.beginObject().member("schema", 1);
    json.key("run").beginObject();
    json.member("name", info.facts.run.name).member("start_utc", utcText(info.facts.run.originUtcNs));
    json.member("world_size", info.facts.run.worldSize).member("source", info.facts.run.source);
    json.member("finished", info.facts.run.finished).member("cores_per_node", info.facts.run.coresPerNode);
    json.endObject();
    json.key("ranks").beginArray();
    for (const RankInfo& rank : info.facts.ranks) {
        const RankTotals totals = totalsOf(info, rank.rank);
        json.beginObject();
        json.member("rank", rank.rank).member("node", rank.node).member("device", rank.device);
        json.member("stage", rank.stage).member("dp", rank.dp).member("tp", rank.tp).member("ep", rank.ep);
        json.member("lanes", totals.lanes).member("spans", totals.spans).member("clock_error_ns", rank.clockErrorNs);
        json.member("peak_flop_per_s", rank.peakFlops);
        json.endObject();
    }
    json.endArray();
    json.key("counts").beginObject();
    for (const auto& [table, rows] : info.counts)
        json.member(table, rows);
    json.endObject();
    json.member("window_ns", info.facts.window.durationNs());
    json.key("losses").beginArray();
    for (const Loss& loss : info.facts.losses) {
        json.beginObject();
        json.member("kind", loss.kind).member("count", loss.count).member("detail", loss.detail);
        json.endObject();
    }
    json.endArray();
    json.key("provenance").beginObject();
    for (const auto& [key, value] : info.facts.provenance)
        json.member(key, value);
    json.endObject();
    json.endObject();
    return json.text();
}

} // namespace rankscope::tracing

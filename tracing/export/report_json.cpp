#include "tracing/export/report_json.h"

#include "tracing/export/json_writer.h"
#include "tracing/export/leaves.h"
#include "tracing/export/path_report.h"
#include "tracing/export/pop_report.h"

namespace rankscope::tracing {

namespace {

void writeRun(JsonWriter& json, const RunAnalysis& run)
{
    json.key("run").beginObject();
    json.member("name", run.facts.run.name);
    json.member("source", run.facts.run.source);
    json.member("world_size", run.facts.run.worldSize);
    json.member("finished", run.facts.run.finished);
    json.endObject();

    json.key("window").beginObject();
    json.member("begin_ns", run.window.beginNs);
    json.member("end_ns", run.window.endNs);
    json.member("first_step", run.counted ? std::optional(run.counted->first) : std::nullopt);
    json.member("last_step", run.counted ? std::optional(run.counted->last) : std::nullopt);
    json.endObject();

    json.key("headline").beginObject();
    json.member("share", run.headline.bigShare);
    json.member("caption", run.headline.bigCaption);
    json.member("hint", run.headline.bigHint);
    json.member("sentence", run.headline.sentence);
    json.member("cause", run.headline.cause);
    json.member("gain", run.headline.gain);
    json.endObject();

    json.key("steps").beginObject();
    json.member("count", run.stepStats.count);
    json.member("mean_ns", run.stepStats.meanNs);
    json.member("p95_ns", run.stepStats.p95Ns);
    json.member("worst_ns", run.stepStats.worstNs);
    json.member("worst_step", run.stepStats.worstStep);
    json.endObject();
}

void writeSplit(JsonWriter& json, const TimeSplit& split)
{
    json.key("split_ns").beginObject();
    for (const Leaf& leaf : leavesOf(split))
        json.member(leaf.name, leaf.ns);
    json.endObject();
}

void writeRanks(JsonWriter& json, const RunAnalysis& run)
{
    json.key("ranks").beginArray();
    for (const RankAnalysis& rank : run.ranks) {
        json.beginObject();
        json.member("rank", rank.info.rank);
        json.member("stage", rank.info.stage);
        json.member("window_ns", rank.overlap.windowNs);
        json.member("compute_ns", rank.overlap.computeNs);
        json.member("communication_ns", rank.overlap.communicationNs);
        json.member("overlap_ns", rank.overlap.overlapNs);
        json.member("exposed_communication_ns", rank.overlap.exposedNs);
        json.member("copy_ns", rank.overlap.copyNs);
        json.member("idle_ns", rank.overlap.idleNs);
        json.member("overlap_share", rank.overlap.overlapShare());
        writeSplit(json, rank.split);
        json.endObject();
    }
    json.endArray();

    json.key("total").beginObject();
    json.member("rank_time_ns", run.total.windowNs);
    json.member("capacity_ns", run.capacityNs());
    json.member("capacity", run.capacityWord());
    json.member("shared_cores", run.sharedCores());
    json.member("useful_flop", run.usefulFlops);
    json.member("capacity_flop", run.capacityFlops);
    writeSplit(json, run.total);
    json.endObject();
}

void writeCollectives(JsonWriter& json, const RunAnalysis& run)
{
    json.key("collectives").beginArray();
    for (const CollectiveRow& row : run.collectives) {
        json.beginObject();
        json.member("op", toString(row.op));
        json.member("dimension", toString(row.dimension));
        json.member("count", row.count);
        json.member("bytes", row.bytes);
        json.member("wait_ns", row.waitNs);
        json.member("transfer_ns", row.transferNs);
        json.member("unsplit_ns", row.unsplitNs);
        json.member("wire_ns", row.wireNs);
        json.member("algbw_gb_s", row.algbwGBps);
        json.member("busbw_gb_s", row.busbwGBps);
        json.member("late_rank", row.lateRank);
        json.member("late_count", row.lateCount);
        json.endObject();
    }
    json.endArray();
}

void writeKernels(JsonWriter& json, const RunAnalysis& run)
{
    json.key("kernels").beginArray();
    for (const KernelRow& row : run.kernels) {
        json.beginObject();
        json.member("name", row.name);
        json.member("short_name", row.shortName);
        json.member("family", toString(row.family));
        json.member("count", row.count);
        json.member("total_ns", row.totalNs);
        json.member("share", row.share);
        json.member("flop_per_s", row.flops);
        json.member("bytes_per_s", row.bytesPerSecond);
        json.endObject();
    }
    json.endArray();
}

/// Of the detectors, while the run went on.
void writeAlerts(JsonWriter& json, const RunAnalysis& run)
{
    json.key("alerts").beginArray();
    for (const LiveAlert& alert : run.facts.alerts) {
        json.beginObject().member("title", alert.title).member("text", alert.text).list("ranks", alert.ranks);
        json.member("begin_ns", alert.window.beginNs).member("end_ns", alert.window.endNs).endObject();
    }
    json.endArray();
}

void writeFindings(JsonWriter& json, const RunAnalysis& run)
{
    json.key("findings").beginArray();
    for (const Finding& finding : run.findings) {
        json.beginObject();
        json.member("severity", toString(finding.severity));
        json.member("title", finding.title);
        json.member("text", finding.text);
        json.list("ranks", finding.ranks);
        json.member("begin_ns", finding.evidence.beginNs);
        json.member("end_ns", finding.evidence.endNs);
        json.member("cost_share", finding.costShare);
        json.member("cause", finding.cause);
        json.member("stage", finding.stage);
        json.member("action", finding.action);
        json.member("gain", finding.gain);
        json.member("certainty", finding.certainty);
        json.endObject();
    }
    json.endArray();
}

} // namespace

std::string reportJson(const RunAnalysis& run)
{
    JsonWriter json;
    json.beginObject();
    json.member("schema", 1);
    writeRun(json, run);
    writeRanks(json, run);
    writePop(json, run.pop);
    writePath(json, run);
    writeCollectives(json, run);
    writeKernels(json, run);
    writeAlerts(json, run);
    writeFindings(json, run);
    json.endObject();
    return json.text();
}

} // namespace rankscope::tracing

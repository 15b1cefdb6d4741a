#include "tracing/export/hta_report.h"

#include "tracing/export/json_writer.h"
#include "tracing/export/text_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace rankscope::tracing {

namespace {

bool isWhole(std::int64_t ns) { return ns % 1000 == 0; }

std::string microseconds(std::int64_t ns)
{
    return isWhole(ns) ? fmt::format("{}", ns / 1000) : fmt::format("{:.3f}", static_cast<double>(ns) / 1000);
}

void write(JsonWriter& json, const char* key, std::int64_t ns)
{
    if (isWhole(ns))
        json.member(key, ns / 1000);
    else
        json.member(key, static_cast<double>(ns) / 1000);
}

void write(JsonWriter& json, const HtaStatistics& numbers)
{
    json.member("count", numbers.count).member("mean", numbers.mean).member("std", numbers.deviation);
    json.member("min", numbers.min).member("25%", numbers.q25).member("50%", numbers.q50);
    json.member("75%", numbers.q75).member("max", numbers.max);
}

void writeStreams(JsonWriter& json, const HtaTrace& trace)
{
    json.key("idle").beginArray();
    for (const HtaIdleRow& row : htaIdleOf(trace)) {
        json.beginObject().member("stream", row.stream).member("idle_category", toString(row.category));
        json.member("idle_time_us", row.us.sum).member("idle_time_ratio", row.share);
        write(json, row.us);
        json.endObject();
    }
    json.endArray().key("queue_length").beginArray();
    for (const HtaQueueRow& row : htaQueuesOf(trace)) {
        json.beginObject().member("stream", row.stream);
        write(json, row.length);
        json.endObject();
    }
    json.endArray();
}

} // namespace

std::string htaText(const std::vector<HtaTrace>& traces)
{
    TextTable table({ { "rank" }, { "idle_time_us" }, { "compute_time_us" }, { "non_compute_time_us" },
        { "kernel_time_us" }, { "comm_comp_overlap_pct" } });
    for (const HtaRow& row : htaBreakdown(traces)) {
        table.add({ fmt::format("{}", row.rank), microseconds(row.idleNs), microseconds(row.computeNs),
            microseconds(row.nonComputeNs), microseconds(row.kernelNs),
            row.overlapPercent ? fmt::format("{:.2f}", *row.overlapPercent) : "-" });
    }
    TextTable idle({ { "rank" }, { "stream" }, { "idle_category" }, { "idle_time_us" }, { "idle_time_ratio" },
        { "count" }, { "queue_length_mean" } });
    for (const HtaTrace& trace : traces) {
        const auto queues = htaQueuesOf(trace);
        for (const HtaIdleRow& row : htaIdleOf(trace)) {
            const auto queue = std::ranges::find(queues, row.stream, &HtaQueueRow::stream);
            idle.add({ fmt::format("{}", trace.rank), fmt::format("{}", row.stream),
                std::string(toString(row.category)), fmt::format("{:.2f}", row.us.sum),
                fmt::format("{:.2f}", row.share), fmt::format("{}", row.us.count),
                queue == queues.end() ? "-" : fmt::format("{:.2f}", queue->length.mean) });
        }
    }
    return "By the rules of Holistic Trace Analysis: of several steps the last is left out\n" + table.text()
        + "\nIdle time of each stream by what it waited for\n" + idle.text();
}

std::string htaJson(const std::vector<HtaTrace>& traces)
{
    JsonWriter json;
    json.beginObject();
    json.member("schema", 1);
    json.key("ranks").beginArray();
    for (const HtaTrace& trace : traces) {
        HtaRow row = htaRowOf(trace.spans);
        row.rank = trace.rank;
        json.beginObject();
        json.member("rank", row.rank);
        write(json, "idle_time_us", row.idleNs);
        write(json, "compute_time_us", row.computeNs);
        write(json, "non_compute_time_us", row.nonComputeNs);
        write(json, "kernel_time_us", row.kernelNs);
        json.member("comm_comp_overlap_pct", row.overlapPercent);
        writeStreams(json, trace);
        json.endObject();
    }
    json.endArray();
    json.endObject();
    return json.text();
}

} // namespace rankscope::tracing

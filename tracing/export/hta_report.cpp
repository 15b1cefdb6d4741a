#include "tracing/export/hta_report.h"

#include "tracing/export/json_writer.h"
#include "tracing/export/text_table.h"

#include <fmt/format.h>

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

} // namespace

std::string htaText(const std::vector<HtaRow>& rows)
{
    TextTable table({ { "rank" }, { "idle_time_us" }, { "compute_time_us" }, { "non_compute_time_us" },
        { "kernel_time_us" }, { "comm_comp_overlap_pct" } });
    for (const HtaRow& row : rows) {
        table.add({ fmt::format("{}", row.rank), microseconds(row.idleNs), microseconds(row.computeNs),
            microseconds(row.nonComputeNs), microseconds(row.kernelNs),
            row.overlapPercent ? fmt::format("{:.2f}", *row.overlapPercent) : "-" });
    }
    return "By the rules of Holistic Trace Analysis: of several steps the last is left out\n" + table.text();
}

std::string htaJson(const std::vector<HtaRow>& rows)
{
    JsonWriter json;
    json.beginObject();
    json.member("schema", 1);
    json.key("ranks").beginArray();
    for (const HtaRow& row : rows) {
        json.beginObject();
        json.member("rank", row.rank);
        write(json, "idle_time_us", row.idleNs);
        write(json, "compute_time_us", row.computeNs);
        write(json, "non_compute_time_us", row.nonComputeNs);
        write(json, "kernel_time_us", row.kernelNs);
        json.member("comm_comp_overlap_pct", row.overlapPercent);
        json.endObject();
    }
    json.endArray();
    json.endObject();
    return json.text();
}

} // namespace rankscope::tracing

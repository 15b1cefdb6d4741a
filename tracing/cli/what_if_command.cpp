#include "tracing/analysis/scenario/published_rules.h"
#include "tracing/analysis/what_if.h"
#include "tracing/analysis/wording.h"
#include "tracing/cli/commands.h"
#include "tracing/cli/open_run.h"
#include "tracing/cli/terminal.h"
#include "tracing/export/json_writer.h"

#include <fmt/format.h>

#include <algorithm>

namespace rankscope::tracing {

namespace {

std::string asJson(const WhatIf& result)
{
    JsonWriter json;
    json.beginObject();
    json.member("schema", 1);
    json.member("steps", result.steps);
    json.member("first_step", result.counted ? std::optional(result.counted->first) : std::nullopt);
    json.member("last_step", result.counted ? std::optional(result.counted->last) : std::nullopt);
    json.member("baseline_step_ns", result.baselineStepNs);
    json.member("predicted_step_ns", result.predictedStepNs);
    json.member("low_ns", result.lowNs);
    json.member("high_ns", result.highNs);
    json.list("changes", result.changes);
    json.endObject();
    return json.text();
}

std::string asText(const WhatIf& result)
{
    std::string text;
    for (const std::string& change : result.changes)
        text += (text.empty() ? "" : ", ") + change;
    const std::string what = result.counted ? fmt::format("a step takes {} instead of {}",
                                 timeText(result.predictedStepNs), timeText(result.baselineStepNs))
                                            : fmt::format("the run takes {} instead of {}",
                                                timeText(result.predictedStepNs), timeText(result.baselineStepNs));
    const std::string counted = result.counted ? fmt::format("; mean of {} ({}-{}), as rankscope report counts them",
                                    plural(result.steps, "step"), result.counted->first, result.counted->last)
                                               : std::string();
    return fmt::format("With {} {} ({}), {}{}\n", text, what, rangeText(result.lowNs, result.highNs),
        changeText(static_cast<double>(result.predictedStepNs), static_cast<double>(result.baselineStepNs)), counted);
}

using scenario::Explained;
using scenario::PublishedSlowdown;
using Parts = std::vector<std::pair<std::string, double>>;

void addExplained(JsonWriter& json, const char* key, const Explained& explained)
{
    json.key(key).beginObject();
    json.member("removed_s", explained.removedSeconds);
    json.member("added_s", explained.addedSeconds);
    json.member("removed_share", explained.removedShare);
    json.member("added_share", explained.addedShare);
    json.endObject();
}

void addParts(JsonWriter& json, const char* key, const Parts& parts)
{
    json.key(key).beginObject();
    for (const auto& [name, slowdown] : parts)
        json.member(name, slowdown);
    json.endObject();
}

std::string asJson(const PublishedSlowdown& result)
{
    JsonWriter json;
    json.beginObject();
    json.member("schema", 1);
    json.member("rules", "StragglerAnalysis");
    json.member("steps", result.steps);
    json.member("recorded_step_s", result.recordedSeconds);
    json.member("no_delay_step_s", result.withoutDelaysSeconds);
    json.member("ideal_step_s", result.idealSeconds);
    json.member("slowdown", result.slowdown());
    json.member("wasted_share", result.wastedShare());
    json.member("discrepancy", result.discrepancy());
    json.member("m_w", result.worst.removedShare);
    json.member("m_s", result.lastStage.removedShare);
    json.list("worst_ranks", result.worstRanks);
    addExplained(json, "worst_workers", result.worst);
    addExplained(json, "last_stage", result.lastStage);
    addParts(json, "by_dp", result.byReplica);
    addParts(json, "by_stage", result.byStage);
    addParts(json, "by_operation", result.byOperation);
    json.endObject();
    return json.text();
}

std::string lineOf(const char* head, Parts parts)
{
    std::ranges::stable_sort(parts, {}, [](const auto& part) { return -part.second; });
    std::string line = fmt::format("{:<16}", head);
    for (std::size_t i = 0; i < std::min<std::size_t>(parts.size(), 5); ++i)
        line += fmt::format("{}{} {:.3f}", i > 0 ? ", " : "", parts[i].first, parts[i].second);
    return line + "\n";
}

std::string asText(const PublishedSlowdown& result)
{
    std::string ranks;
    for (const std::int32_t rank : result.worstRanks)
        ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
    std::string text = fmt::format("By the published rules of StragglerAnalysis, mean of {}:\n"
                                   "recorded {:.4f} s, without launch delays {:.4f} s ({:+.3f} %), ideal {:.4f} s\n",
        plural(result.steps, "step"), result.recordedSeconds, result.withoutDelaysSeconds, 100 * result.discrepancy(),
        result.idealSeconds);
    text += fmt::format(
        "slowdown S      {:.3f}; {:.1f} % of the time is wasted\n", result.slowdown(), 100 * result.wastedShare());
    text += fmt::format("M_W             {:.4f} of it is explained by the slowest 3 % of ranks ({})\n",
        result.worst.removedShare, ranks);
    text += fmt::format("M_S             {:.4f} of it is explained by the last stage\n", result.lastStage.removedShare);
    text += "Slowdown of an ideal job with the real times of one\n";
    return text + lineOf("replica", result.byReplica) + lineOf("stage", result.byStage)
        + lineOf("operation", result.byOperation);
}

int publishedCommand(const WhatIfArguments& arguments)
{
    auto run = openRunWithFacts(arguments.file);
    const auto source = run ? readLedgerSource(run->reader, run->facts) : run.error();
    const auto result = source ? scenario::publishedSlowdown(source->input) : source.error();
    if (!result) {
        sayError(result.error().message());
        return kUnreadableInput;
    }
    writeOut(arguments.json ? asJson(*result) : asText(*result));
    return kGood;
}

} // namespace

int whatIfCommand(const WhatIfArguments& arguments)
{
    if (arguments.published)
        return publishedCommand(arguments);
    auto run = openRunWithFacts(arguments.file);
    const auto ledger = run ? computeRunLedger(run->reader, run->facts) : run.error();
    if (!ledger) {
        sayError(ledger.error().message());
        return kUnreadableInput;
    }
    const auto result = whatIf(*ledger, run->facts, arguments.changes);
    if (!result) {
        sayError(result.error().message());
        return kWrongUsage;
    }
    writeOut(arguments.json ? asJson(*result) : asText(*result));
    return kGood;
}

} // namespace rankscope::tracing

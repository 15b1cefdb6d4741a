#include "tracing/analysis/what_if.h"
#include "tracing/analysis/wording.h"
#include "tracing/cli/commands.h"
#include "tracing/cli/open_run.h"
#include "tracing/cli/terminal.h"
#include "tracing/export/json_writer.h"

#include <fmt/format.h>

namespace rankscope::tracing {

namespace {

std::string asJson(const WhatIf& result)
{
    JsonWriter json;
    json.beginObject();
    json.member("schema", 1);
    json.member("steps", result.steps);
    json.member("baseline_step_ns", result.baselineStepNs);
    json.member("predicted_step_ns", result.predictedStepNs);
    json.member("low_ns", result.lowNs);
    json.member("high_ns", result.highNs);
    json.key("changes").beginArray();
    for (const std::string& change : result.changes)
        json.value(change);
    json.endArray();
    json.endObject();
    return json.text();
}

std::string asText(const WhatIf& result)
{
    std::string text;
    for (const std::string& change : result.changes)
        text += (text.empty() ? "" : ", ") + change;
    const char* what = result.steps > 0 ? "a step takes" : "the run takes";
    const double saved = result.baselineStepNs > 0
        ? 1 - static_cast<double>(result.predictedStepNs) / static_cast<double>(result.baselineStepNs)
        : 0;
    return fmt::format("With {} {} {} instead of {} ({} to {}), {:+.1f} %\n", text, what,
        timeText(result.predictedStepNs), timeText(result.baselineStepNs), timeText(result.lowNs),
        timeText(result.highNs), -100 * saved);
}

Result<LedgerRun> loadRun(const std::string& path)
{
    auto run = openRunWithFacts(path);
    if (!run)
        return run.error();
    return computeRunLedger(run->reader, run->facts);
}

} // namespace

int whatIfCommand(const WhatIfArguments& arguments)
{
    const auto run = loadRun(arguments.file);
    if (!run) {
        sayError(run.error().message());
        return kUnreadableInput;
    }
    const auto result = whatIf(*run, arguments.changes);
    if (!result) {
        sayError(result.error().message());
        return kWrongUsage;
    }
    writeOut(arguments.json ? asJson(*result) : asText(*result));
    return kGood;
}

} // namespace rankscope::tracing

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
    json.member("first_step", result.counted ? std::optional(result.counted->first) : std::nullopt);
    json.member("last_step", result.counted ? std::optional(result.counted->last) : std::nullopt);
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
    const std::string what = result.counted ? fmt::format("a step takes {} instead of {}",
                                 timeText(result.predictedStepNs), timeText(result.baselineStepNs))
                                            : fmt::format("the run takes {} instead of {}",
                                                timeText(result.predictedStepNs), timeText(result.baselineStepNs));
    const std::string counted = result.counted ? fmt::format("; mean of {} ({}-{}), as rankscope report counts them",
                                    plural(result.steps, "step"), result.counted->first, result.counted->last)
                                               : std::string();
    return fmt::format("With {} {} ({} to {}), {}{}\n", text, what, timeText(result.lowNs), timeText(result.highNs),
        changeText(static_cast<double>(result.predictedStepNs), static_cast<double>(result.baselineStepNs)), counted);
}

} // namespace

int whatIfCommand(const WhatIfArguments& arguments)
{
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

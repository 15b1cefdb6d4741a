#include "tracing/analysis/run_ledger.h"
#include "tracing/cli/commands.h"
#include "tracing/cli/open_run.h"
#include "tracing/cli/steps.h"
#include "tracing/cli/terminal.h"
#include "tracing/export/ledger_json.h"
#include "tracing/export/ledger_text.h"

#include <fmt/format.h>

namespace rankscope::tracing {

namespace {

/// "rank,step,leaf" in any order and choice.
Result<LedgerGrouping> parseGrouping(const std::string& text)
{
    LedgerGrouping by;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t comma = std::min(text.find(',', begin), text.size());
        const std::string_view word = std::string_view(text).substr(begin, comma - begin);
        if (word == "rank")
            by.rank = true;
        else if (word == "step")
            by.step = true;
        else if (word == "leaf")
            by.leaf = true;
        else
            return Error(fmt::format("--by {}: \"{}\" is none of rank, step, leaf", text, word));
        begin = comma + 1;
    }
    return by;
}

Result<RunLedger> loadLedger(const std::string& path)
{
    auto run = openRunWithFacts(path);
    if (!run)
        return run.error();
    return runLedger(run->reader, run->facts);
}

} // namespace

int ledgerCommand(const LedgerArguments& arguments)
{
    LedgerGrouping by{ .rank = arguments.json, .step = arguments.json, .leaf = true };
    if (!arguments.by.empty()) {
        const auto parsed = parseGrouping(arguments.by);
        if (!parsed) {
            sayError(parsed.error().message());
            return kWrongUsage;
        }
        by = *parsed;
    }
    std::optional<StepRange> steps;
    if (!arguments.steps.empty()) {
        const auto parsed = parseSteps(arguments.steps);
        if (!parsed) {
            sayError(parsed.error().message());
            return kWrongUsage;
        }
        steps = *parsed;
    }
    const auto whole = loadLedger(arguments.file);
    if (!whole) {
        sayError(whole.error().message());
        return kUnreadableInput;
    }
    std::optional<RunLedger> run = steps ? onlySteps(*whole, *steps) : *whole;
    if (!run) {
        sayError(whole->steps.empty()
                ? fmt::format("{}: it has no steps; leave out --steps", arguments.file)
                : fmt::format("{}: steps {}:{}: the file has steps {} to {}", arguments.file, steps->first, steps->last,
                    whole->steps.front().step, whole->steps.back().step));
        return kWrongUsage;
    }
    writeOut(arguments.json ? ledgerJson(*run, by) : ledgerText(*run, by, steps));
    return kGood;
}

} // namespace rankscope::tracing

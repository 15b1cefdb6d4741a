#include "tracing/analysis/check/check.h"
#include "tracing/cli/commands.h"
#include "tracing/cli/open_run.h"
#include "tracing/cli/terminal.h"
#include "tracing/export/check_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <vector>

namespace rankscope::tracing {

namespace {

bool writeFile(const std::string& path, const std::string& text)
{
    if (path.empty())
        return true;
    std::ofstream file(path, std::ios::binary);
    if (file << text && file.flush())
        return true;
    sayError(fmt::format("{}: cannot be written", path));
    return false;
}

} // namespace

int checkCommand(const CheckArguments& arguments)
{
    const auto rules = readRules(arguments.rules);
    if (!rules) {
        sayError(rules.error().message());
        return kWrongUsage;
    }
    std::vector<CheckResult> results;
    for (const std::string& file : arguments.files) {
        auto reader = openRun(file);
        if (!reader) {
            sayError(reader.error().message());
            return kUnreadableInput;
        }
        auto result = checkRun(*reader, *rules);
        if (!result) {
            sayError(result.error().in(file).message());
            return kUnreadableInput;
        }
        results.push_back(std::move(*result));
    }
    for (CheckResult& missing : missingRuns(results, *rules))
        results.push_back(std::move(missing));
    std::string markdown;
    for (const CheckResult& result : results) {
        writeOut((&result == &results.front() ? "" : "\n") + checkText(result));
        markdown += (markdown.empty() ? "" : "\n") + checkMarkdown(result);
    }
    if (!writeFile(arguments.junit, checkJunit(results)) || !writeFile(arguments.markdown, markdown))
        return kOwnFault;
    return std::ranges::all_of(results, &CheckResult::isGood) ? kGood : kCheckSaidNo;
}

} // namespace rankscope::tracing

#include "tracing/analysis/check/check.h"
#include "tracing/cli/commands.h"
#include "tracing/cli/open_run.h"
#include "tracing/cli/terminal.h"
#include "tracing/export/check_report.h"

#include <fmt/format.h>

#include <fstream>

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
    auto reader = openRun(arguments.file);
    if (!reader) {
        sayError(reader.error().message());
        return kUnreadableInput;
    }
    const auto result = checkRun(*reader, *rules);
    if (!result) {
        sayError(result.error().in(arguments.file).message());
        return kUnreadableInput;
    }
    writeOut(checkText(*result));
    if (!writeFile(arguments.junit, checkJunit(*result)) || !writeFile(arguments.markdown, checkMarkdown(*result)))
        return kOwnFault;
    return result->isGood() ? kGood : kCheckSaidNo;
}

} // namespace rankscope::tracing

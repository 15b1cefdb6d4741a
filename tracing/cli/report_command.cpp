#include "tracing/analysis/hta.h"
#include "tracing/analysis/run_analysis.h"
#include "tracing/cli/commands.h"
#include "tracing/cli/open_run.h"
#include "tracing/cli/steps.h"
#include "tracing/cli/terminal.h"
#include "tracing/export/difference.h"
#include "tracing/export/hta_report.h"
#include "tracing/export/report_json.h"
#include "tracing/export/report_text.h"
#include "tracing/model/shell_quote.h"

#include <fmt/format.h>
#include <unistd.h>

namespace rankscope::tracing {

namespace {

/// A run as it was analysed, or the exit code that says why not.
struct Analysed {
    std::optional<RunAnalysis> run;
    int exitCode = kGood;
};

Analysed analyseFile(const std::string& path, const AnalysisOptions& options)
{
    auto reader = openRun(path);
    if (!reader) {
        sayError(reader.error().message());
        return { std::nullopt, kUnreadableInput };
    }
    if (options.steps) {
        const auto steps = reader->steps();
        const auto chosen = steps ? stepsAskedFor(tiledSteps(*steps), *options.steps) : steps.error();
        if (!chosen) {
            sayError(chosen.error().in(path).message());
            return { std::nullopt, steps ? kWrongUsage : kUnreadableInput };
        }
    }
    auto run = analyse(*reader, options);
    if (!run) {
        sayError(run.error().in(path).message());
        return { std::nullopt, kUnreadableInput };
    }
    return { std::move(*run), kGood };
}

std::string quotedFiles(const ReportArguments& arguments)
{
    std::string words;
    for (const std::string& file : arguments.files)
        words += (words.empty() ? "" : " ") + shellQuoted(file);
    return words;
}

std::string written(const ReportArguments& arguments, const std::vector<RunAnalysis>& runs)
{
    if (runs.size() == 2)
        return arguments.json ? differenceJson(runs[0], runs[1])
            : arguments.brief ? differenceBrief(runs[0], runs[1])
                              : differenceText(runs[0], runs[1]);
    if (arguments.json)
        return reportJson(runs[0]);
    return arguments.brief ? briefText(runs[0], quotedFiles(arguments)) : reportText(runs[0]);
}

int htaCommand(const ReportArguments& arguments)
{
    const auto runs = runFilesOf(arguments.files);
    if (!runs) {
        sayError(runs.error().message());
        return kUnreadableInput;
    }
    if (runs->size() != 1 || !arguments.steps.empty() || arguments.brief) {
        sayError("report --hta: takes one file, without --steps and --text; HTA knows neither");
        return kWrongUsage;
    }
    const std::string& path = runs->front();
    auto run = openRunWithFacts(path);
    if (!run) {
        sayError(run.error().message());
        return kUnreadableInput;
    }
    const auto traces
        = htaTraces(run->reader, run->facts, arguments.hta == "unrounded" ? HtaRounding::Off : HtaRounding::AsHta);
    if (!traces) {
        sayError(traces.error().in("read " + path).message());
        return kUnreadableInput;
    }
    writeOut(arguments.json ? htaJson(*traces) : htaText(*traces));
    return kGood;
}

} // namespace

int reportCommand(const ReportArguments& arguments)
{
    if (!arguments.hta.empty())
        return htaCommand(arguments);
    AnalysisOptions options;
    if (!arguments.steps.empty()) {
        const auto steps = parseSteps(arguments.steps);
        if (!steps) {
            sayError(steps.error().message());
            return kWrongUsage;
        }
        options.steps = *steps;
    }
    StatusLine status(STDERR_FILENO);
    options.progress = [&](int done, int ranks) {
        if (done < ranks)
            status.show(fmt::format("{} of {} ranks", done, ranks));
        return true;
    };
    const auto files = runFilesOf(arguments.files);
    if (!files || files->size() > 2) {
        sayError(files ? fmt::format("report: {} runs are named; give one, or two to compare", files->size())
                       : files.error().message());
        return files ? kWrongUsage : kUnreadableInput;
    }
    std::vector<RunAnalysis> runs;
    for (const std::string& file : *files) {
        Analysed analysed = analyseFile(file, options);
        status.clear();
        if (!analysed.run)
            return analysed.exitCode;
        runs.push_back(std::move(*analysed.run));
    }
    writeOut(written(arguments, runs));
    return kGood;
}

} // namespace rankscope::tracing

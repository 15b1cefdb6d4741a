#include "tracing/analysis/wording.h"
#include "tracing/cli/commands.h"
#include "tracing/cli/import_progress.h"
#include "tracing/cli/open_run.h"
#include "tracing/cli/output_path.h"
#include "tracing/cli/terminal.h"
#include "tracing/export/traces/trace_export.h"

#include <fmt/format.h>

#include <csignal>
#include <filesystem>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;

using Exporter = ExportOutcome (*)(TraceReader&, const RunFacts&, const std::string&, const ExportOptions&);

struct Wanted {
    const char* option;
    std::string path;
    Exporter exporter;
};

/// Files must not take the run's own place.
Status checkTarget(const Wanted& wanted, const std::string& input)
{
    std::error_code error;
    if (fs::equivalent(wanted.path, input, error))
        return Error(fmt::format("{} {} is the input; give another name", wanted.option, wanted.path));
    if (wanted.exporter != exportCsv)
        return checkOutput(wanted.option, wanted.path);
    if (fs::exists(wanted.path, error) && !fs::is_directory(wanted.path, error))
        return Error(fmt::format("{} {}: exists and is no folder; give another name", wanted.option, wanted.path));
    return checkOutput(wanted.option,
        (fs::is_directory(wanted.path, error)          ? fs::path(wanted.path) / "spans.csv"
                : fs::path(wanted.path).has_filename() ? fs::path(wanted.path)
                                                       : fs::path(wanted.path).parent_path())
            .string());
}

int exitCodeOf(ExportOutcome::Fault fault)
{
    switch (fault) {
    case ExportOutcome::Fault::None:
        return kGood;
    case ExportOutcome::Fault::Run:
        return kUnreadableInput;
    case ExportOutcome::Fault::Output:
        return kOwnFault;
    case ExportOutcome::Fault::Cancelled:
        break;
    }
    return 128 + SIGINT;
}

std::int64_t rowsOf(TraceReader& reader)
{
    const auto rows = reader.rowsOfLanes();
    std::int64_t sum = 0;
    for (const auto& [lane, count] : rows ? *rows : std::map<LaneId, std::int64_t>())
        sum += count;
    return sum;
}

int exportOne(OpenRun& run, const Wanted& wanted, std::int64_t rows)
{
    ImportProgressLine line;
    ExportOptions options;
    options.progress = [&](std::int64_t done) {
        return line.show(fmt::format("{}: {} of {} rows", wanted.path, countText(done), countText(rows)));
    };
    const ExportOutcome outcome = wanted.exporter(run.reader, run.facts, wanted.path, options);
    line.clear();
    if (outcome.fault != ExportOutcome::Fault::None) {
        sayError(fmt::format("export {}: {}", wanted.path, outcome.message));
        return exitCodeOf(outcome.fault);
    }
    writeOut(fmt::format(
        "{}: {}, {}\n", wanted.path, plural(outcome.spans, "span"), plural(outcome.samples, "counter value")));
    return kGood;
}

} // namespace

int exportCommand(const ExportArguments& arguments)
{
    std::vector<Wanted> wanted;
    for (const Wanted& one : { Wanted{ "--perfetto", arguments.perfetto, exportPerfetto },
             Wanted{ "--chrome", arguments.chrome, exportChrome }, Wanted{ "--csv", arguments.csv, exportCsv } }) {
        if (!one.path.empty())
            wanted.push_back(one);
    }
    for (const Wanted& one : wanted) {
        if (const Status good = checkTarget(one, arguments.file); !good) {
            sayError(good.error().message());
            return kWrongUsage;
        }
    }
    auto run = openRunWithFacts(arguments.file);
    if (!run) {
        sayError(run.error().message());
        return kUnreadableInput;
    }
    const std::int64_t rows = rowsOf(run->reader);
    for (const Wanted& one : wanted) {
        if (const int code = exportOne(*run, one, rows); code != kGood)
            return code;
    }
    return kGood;
}

} // namespace rankscope::tracing

#include "tracing/analysis/wording.h"
#include "tracing/cli/commands.h"
#include "tracing/cli/import_progress.h"
#include "tracing/cli/output_path.h"
#include "tracing/cli/terminal.h"
#include "tracing/import/import_cache.h"
#include "tracing/import/importer.h"
#include "tracing/import/rules/import_rules.h"
#include "tracing/model/shell_quote.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLines = 20; ///< of a kind; the file holds them all

std::string firstFreeName()
{
    std::error_code error;
    for (int i = 1;; ++i) {
        std::string name = i == 1 ? "run.rsdb" : fmt::format("run-{}.rsdb", i);
        if (!fs::exists(name, error))
            return name;
    }
}

/// Nothing that is not a run file is written over, and no input.
std::string refusal(const ImportArguments& arguments, const std::string& out)
{
    std::error_code error;
    for (const std::string& input : arguments.inputs) {
        if (fs::equivalent(input, out, error))
            return fmt::format("--out {} is an input; give another name", out);
    }
    if (const Status good = checkOutput("--out", out); !good)
        return good.error().message();
    if (fs::exists(out, error) && fs::file_size(out, error) > 0 && !isRunFile(out))
        return fmt::format("--out {} exists and is no run file; give another name", out);
    return "";
}

/// Without the path, which the line begins with.
std::string reasonOf(const ImportedFile& file)
{
    const std::string lead = "read " + file.path + ": ";
    return file.leftOut.starts_with(lead) ? file.leftOut.substr(lead.size()) : file.leftOut;
}

std::string filesText(const ImportReport& report)
{
    std::string text;
    std::size_t lines = 0, leftOut = 0;
    for (const ImportedFile& file : report.files) {
        const bool out = file.format.empty();
        leftOut += out ? 1 : 0;
        if (!out && !file.rankFromName && !file.rankGuessed)
            continue;
        if (++lines > kMostLines)
            continue;
        if (out)
            text += fmt::format("  left out {}: {}\n", file.path, reasonOf(file));
        else
            text += fmt::format("  {} is rank {}: {}\n", file.path, file.rank,
                file.rankFromName ? "its name says so, the file does not" : "taken, neither file nor name say");
    }
    if (lines > kMostLines)
        text += fmt::format("  ... and {} more files, {} left out in all\n", lines - kMostLines, leftOut);
    return text;
}

std::string lossesText(const ImportReport& report)
{
    if (report.losses.empty())
        return "  nothing was dropped or repaired\n";
    std::string text;
    for (std::size_t i = 0; i < std::min(kMostLines, report.losses.size()); ++i)
        text += fmt::format("  {} x {}: {}\n", report.losses[i].count, report.losses[i].kind, report.losses[i].detail);
    if (report.losses.size() > kMostLines)
        text += fmt::format("  ... and {} more; rankscope info {} lists them\n", report.losses.size() - kMostLines,
            shellQuoted(report.out));
    return text;
}

} // namespace

int importCommand(const ImportArguments& arguments)
{
    if (arguments.printRules) {
        writeOut(std::string(ImportRules::builtInText()));
        return kGood;
    }
    const std::string out = arguments.out.empty() ? firstFreeName() : arguments.out;
    if (const std::string why = refusal(arguments, out); !why.empty()) {
        sayError(why);
        return kWrongUsage;
    }
    ImportProgressLine progress;
    ImportOptions options;
    options.progress = progress.callback();
    options.ruleFiles = arguments.rules;
    const auto report = importTraces(arguments.inputs, out, options);
    progress.clear();
    if (!report) {
        sayError(report.error().message());
        return kUnreadableInput;
    }
    std::string text = fmt::format("{}: {} of {}, {}\n", report->out, report->ranks, plural(report->worldSize, "rank"),
        plural(report->events, "event"));
    text += filesText(*report);
    if (!report->clocks.empty())
        text += fmt::format("  {}\n", report->clocks);
    text += lossesText(*report);
    writeOut(text);
    return kGood;
}

} // namespace rankscope::tracing

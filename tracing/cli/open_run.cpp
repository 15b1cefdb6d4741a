#include "tracing/cli/open_run.h"
#include "tracing/analysis/wording.h"

#include "tracing/analysis/load.h"
#include "tracing/cli/import_progress.h"
#include "tracing/cli/terminal.h"
#include "tracing/collector/collector.h"
#include "tracing/import/import_cache.h"
#include "tracing/import/trace_format.h"
#include "tracing/model/shell_quote.h"

#include <fmt/format.h>

#include <filesystem>

namespace rankscope::tracing {

namespace {

/// Whether an import can be of help: a folder, or a file that is not a run file.
bool isForeign(const std::string& path)
{
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
        return true;
    const auto format = detectFormat(path);
    return format && *format != TraceFormat::RunFile && *format != TraceFormat::Unknown;
}

Result<std::string> imported(const std::vector<std::string>& paths)
{
    ImportProgressLine progress;
    ImportOptions options;
    options.progress = progress.callback();
    auto cached = importCached(paths, options);
    progress.clear();
    if (!cached)
        return cached.error();
    if (cached->imported) {
        const std::string path
            = paths.size() == 1 ? paths.front() : fmt::format("{} and {} more", paths.front(), paths.size() - 1);
        std::int64_t lost = 0;
        for (const Loss& loss : cached->report.losses)
            lost += loss.count;
        sayNote(fmt::format("{}: imported {} of {}, {}; {}", path, cached->report.ranks,
            plural(cached->report.worldSize, "rank"), plural(cached->report.events, "event"),
            lost > 0 ? fmt::format("rankscope info {} lists what was lost or repaired",
                shellQuoted(paths.size() == 1 ? paths.front() : cached->path))
                     : "nothing was lost"));
    }
    return cached->path;
}

} // namespace

Result<std::string> runFileOf(const std::string& path)
{
    return isForeign(path) ? imported({ path }) : Result<std::string>(path);
}

Result<std::vector<std::string>> runFilesOf(const std::vector<std::string>& paths)
{
    std::vector<std::string> runs, traces;
    for (const std::string& path : paths) {
        std::error_code error;
        const bool isTrace = isForeign(path) && !std::filesystem::is_directory(path, error);
        (isTrace ? traces : runs).push_back(path);
    }
    for (std::string& run : runs) {
        auto file = runFileOf(run);
        if (!file)
            return file.error();
        run = *file;
    }
    if (!traces.empty()) {
        auto file = imported(traces);
        if (!file)
            return file.error();
        runs.push_back(*file);
    }
    return runs;
}

Result<TraceReader> openRun(const std::string& path)
{
    const auto file = runFileOf(path);
    if (!file)
        return file.error();
    auto reader = TraceReader::open(*file);
    if (!reader)
        return reader;
    const auto run = reader->run();
    if (!run || run->finished)
        return reader;
    const auto drained = drainLeftover(*file);
    // What is in the file can be read all the same.
    if (!drained)
        sayNote(
            fmt::format("{}: what was left of its recording could not be read: {}", path, drained.error().message()));
    else if (*drained)
        sayNote(fmt::format("{}: took in what was left of its recording", path));
    return TraceReader::open(*file);
}

Result<OpenRun> openRunWithFacts(const std::string& path)
{
    auto reader = openRun(path);
    if (!reader)
        return reader.error();
    auto facts = loadFacts(*reader);
    if (!facts)
        return facts.error().in("read " + path);
    return OpenRun{ std::move(*reader), std::move(*facts) };
}

} // namespace rankscope::tracing

#include "tracing/import/importer.h"

#include "tracing/import/input_files.h"
#include "tracing/import/nsight/host_clock.h"
#include "tracing/import/partial_file.h"
#include "tracing/import/pipeline_facts.h"
#include "tracing/import/rank_assignment.h"
#include "tracing/import/run_assembly.h"
#include "tracing/import/run_file/run_merge.h"
#include "tracing/import/trace_format.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostInMemory = 96u << 20;

class Import {
public:
    Import(const ImportOptions& options, ImportRules rules, std::vector<std::string> files)
        : options_(options)
        , rules_(std::move(rules))
        , files_(std::move(files))
        , results_(files_.size())
        , bytesRead_(files_.size())
    {
        progress_.files = files_.size();
        for (const std::string& file : files_) {
            std::error_code error;
            const auto size = fs::file_size(file, error);
            progress_.bytes += error ? 0 : size;
        }
    }

    Result<ImportReport> run(const std::string& out, const std::string& name)
    {
        readAll();
        if (cancelled_)
            return Error("import: cancelled");
        ImportReport report;
        report.out = out;
        if (Status status = collect(report); !status)
            return status.error();
        if (Status status = write(report, out, name); !status)
            return status.error();
        return report;
    }

private:
    /// Two files at once where there are two: each reader also cuts its file up on a thread of its own.
    void readAll()
    {
        std::atomic<std::size_t> next{ 0 };
        const auto work = [&] {
            for (std::size_t i = next++; i < files_.size() && !cancelled_; i = next++)
                readOne(i);
        };
        const std::size_t threads
            = std::min<std::size_t>(files_.size(), std::max(1u, std::thread::hardware_concurrency()));
        std::vector<std::jthread> workers;
        for (std::size_t t = 1; t < threads; ++t)
            workers.emplace_back(work);
        work();
    }

    void readOne(std::size_t i)
    {
        auto read = readTraceFile(files_[i], rules_, [&](const ReadProgress& p) { return report(i, p); });
        const std::lock_guard lock(mutex_);
        if (read)
            keep(results_[i], std::move(*read));
        else
            errors_.insert_or_assign(i, read.error());
        ++progress_.filesDone;
    }

    /// All files together hold few events in memory, however many they are.
    void keep(std::vector<SourceTrace>& place, std::vector<SourceTrace> traces)
    {
        for (SourceTrace& trace : traces) {
            if (!trace.events)
                continue;
            if (bytesInMemory_ + trace.events->bytesInMemory() > kMostInMemory)
                trace.events->moveToFile();
            bytesInMemory_ += trace.events->bytesInMemory();
        }
        place = std::move(traces);
    }

    bool report(std::size_t i, const ReadProgress& p)
    {
        const std::lock_guard lock(mutex_);
        progress_.bytesRead += p.fileBytesRead - bytesRead_[i];
        bytesRead_[i] = p.fileBytesRead;
        if (options_.progress && !options_.progress(progress_))
            cancelled_ = true;
        return !cancelled_;
    }

    Status collect(ImportReport& report)
    {
        std::vector<AssignedTrace> found;
        for (std::size_t i = 0; i < files_.size(); ++i) {
            if (const auto error = errors_.find(i); error != errors_.end()) {
                if (files_.size() == 1)
                    return error->second;
                report.files.push_back({ files_[i], "", 0, false, false, error->second.message() });
                continue;
            }
            for (SourceTrace& trace : results_[i]) {
                findTimeBounds(trace);
                report.files.push_back({ files_[i], trace.format, 0, false, false, "" });
                found.push_back({ std::move(trace), { report.files.size() - 1 } });
            }
        }
        if (found.empty())
            return Error("import: none of " + std::to_string(files_.size())
                + " files is a trace; the first says: " + errors_.begin()->second.message());
        if (Status status = assignRanks(found, report.files); !status)
            return status;
        for (AssignedTrace& assigned : found)
            traces_.push_back(std::move(assigned.trace));
        alignReportsOfHosts(traces_);
        findPipeline(traces_);
        return Done{};
    }

    Status write(ImportReport& report, const std::string& out, const std::string& name)
    {
        MatchResult matches = matchCollectives(traces_);
        const std::vector<Loss> ranks = rankLosses(traces_);
        matches.notes.insert(matches.notes.end(), ranks.begin(), ranks.end());
        const Alignment alignment = alignClocks(traces_, matches);
        for (const SourceTrace& trace : traces_)
            report.losses.insert(report.losses.end(), trace.losses.begin(), trace.losses.end());
        report.losses.insert(report.losses.end(), matches.notes.begin(), matches.notes.end());
        progress_.writing = true;
        if (options_.progress && !options_.progress(progress_))
            return Error("import: cancelled");

        auto partial = PartialFile::create(out);
        if (!partial)
            return partial.error();
        const auto written = writeTo(partial->path(), matches, alignment, name);
        if (!written)
            return written.error();
        if (Status status = partial->putInPlace(); !status)
            return status;
        report.ranks = written->ranks;
        report.worldSize = written->worldSize;
        report.events = written->events + written->parts;
        report.clocks = alignment.note;
        return Done{};
    }

    Result<AssemblyReport> writeTo(
        const std::string& path, const MatchResult& matches, const Alignment& alignment, const std::string& name)
    {
        auto writer = TraceWriter::open(path, TraceWriter::Mode::CreateNew);
        if (!writer)
            return writer.error();
        auto written = writeRun(traces_, matches, alignment, name, *writer);
        if (!written)
            return written;
        if (Status status = writer->finish(); !status)
            return status.error();
        return written;
    }

    const ImportOptions& options_;
    const ImportRules rules_;
    std::vector<std::string> files_;
    std::vector<std::vector<SourceTrace>> results_;
    std::map<std::size_t, Error> errors_;
    std::vector<std::uint64_t> bytesRead_;
    std::size_t bytesInMemory_ = 0;
    std::vector<SourceTrace> traces_;
    ImportProgress progress_;
    std::mutex mutex_;
    std::atomic<bool> cancelled_{ false };
};

/// Tables that are read along with the spans beside them are no traces of their own.
void leaveOutSideTables(std::vector<std::string>& files, const std::map<std::string, TraceFormat>& formats)
{
    std::set<fs::path> folders;
    for (const auto& [file, format] : formats) {
        if (format == TraceFormat::SpanTable)
            folders.insert(fs::path(file).parent_path());
    }
    std::erase_if(files, [&](const std::string& file) {
        const auto format = formats.find(file);
        return format != formats.end() && format->second == TraceFormat::SideTable
            && folders.contains(fs::path(file).parent_path());
    });
}

/// Takes our own run files out of the list. They are merged with their like alone: a trace that has still to be matched
/// and one that has been would not make one run.
Result<std::vector<std::string>> takeRunFiles(std::vector<std::string>& files)
{
    std::vector<std::string> runs;
    std::map<std::string, TraceFormat> formats;
    std::string trace;
    for (const std::string& file : files) {
        const auto format = detectFormat(file);
        if (format)
            formats.emplace(file, *format);
        if (format && *format == TraceFormat::RunFile)
            runs.push_back(file);
        else if (format && *format != TraceFormat::Unknown)
            trace = file;
    }
    if (!runs.empty() && !trace.empty())
        return Error("import: " + runs.front() + " is a run file and " + trace
            + " is not; name only run files, or only other tools' traces");
    leaveOutSideTables(files, formats);
    std::erase_if(files, [&](const std::string& file) { return std::ranges::find(runs, file) != runs.end(); });
    return runs;
}

} // namespace

Result<ImportReport> importTraces(
    const std::vector<std::string>& inputs, const std::string& out, const ImportOptions& options)
{
    if (inputs.empty())
        return Error("import: no file or folder named");
    auto rules = ImportRules::load(options.ruleFiles);
    if (!rules)
        return rules.error();
    auto files = inputFiles(inputs);
    if (!files)
        return files.error();
    std::string name = options.name;
    if (name.empty()) {
        // Several files are called after their folder.
        fs::path first = fs::absolute(inputs.front()).lexically_normal();
        if (!first.has_filename() || inputs.size() > 1)
            first = first.parent_path();
        name = first.filename().string();
    }
    auto runs = takeRunFiles(*files);
    if (!runs)
        return runs.error();
    if (!runs->empty()) {
        auto report = mergeRuns(*runs, out, name, options);
        for (std::size_t i = 0; report && i < files->size(); ++i)
            report->files.push_back({ (*files)[i], "", 0, false, false, "not a run file" });
        return report;
    }
    return Import(options, std::move(*rules), std::move(*files)).run(out, name);
}

} // namespace rankscope::tracing

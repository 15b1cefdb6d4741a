#include "tracing/import/importer.h"

#include "tracing/import/run_assembly.h"
#include "tracing/import/trace_format.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <regex>
#include <thread>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;

/// A file, or the files of a folder and its sub-folders in order of name.
Result<std::vector<std::string>> filesOf(const std::vector<std::string>& inputs)
{
    std::vector<std::string> files;
    for (const std::string& input : inputs) {
        std::error_code error;
        const fs::file_status status = fs::status(input, error);
        if (!fs::exists(status))
            return Error("open " + input + ": no such file or folder");
        if (!fs::is_directory(status)) {
            files.push_back(input);
            continue;
        }
        std::vector<std::string> found;
        for (fs::recursive_directory_iterator it(input, fs::directory_options::skip_permission_denied, error), end;
             it != end; it.increment(error)) {
            if (error)
                break;
            if (it->is_regular_file(error) && it->path().filename().string().front() != '.')
                found.push_back(it->path().string());
        }
        std::ranges::sort(found);
        files.insert(files.end(), found.begin(), found.end());
    }
    if (files.empty())
        return Error("open " + inputs.front() + ": the folder is empty");
    return files;
}

/// "rank3", "rank_3", "rank-3", "worker3" in a file's or its folder's name.
std::optional<std::int32_t> rankFromName(const std::string& path)
{
    static const std::regex kPattern(
        R"((?:^|[^a-zA-Z])(?:rank|worker|gpu|device)[_\-]?([0-9]{1,6})(?![0-9]))", std::regex::icase);
    std::smatch match;
    for (const std::string& name :
        { fs::path(path).filename().string(), fs::path(path).parent_path().filename().string() }) {
        if (std::regex_search(name, match, kPattern))
            return std::stoi(match[1]);
    }
    return std::nullopt;
}

class Import {
public:
    Import(const ImportOptions& options, std::vector<std::string> files)
        : options_(options)
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
        if (Status status = assignRanks(report); !status)
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
        auto read = readTraceFile(files_[i], [&](const ReadProgress& p) { return report(i, p); });
        const std::lock_guard lock(mutex_);
        if (read)
            results_[i] = std::move(*read);
        else
            errors_.insert_or_assign(i, read.error());
        ++progress_.filesDone;
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
        for (std::size_t i = 0; i < files_.size(); ++i) {
            if (const auto error = errors_.find(i); error != errors_.end()) {
                if (files_.size() == 1)
                    return error->second;
                report.files.push_back({ files_[i], "", 0, false, false, error->second.message() });
                continue;
            }
            for (SourceTrace& trace : results_[i]) {
                report.files.push_back({ files_[i], trace.format, 0, false, false, "" });
                traceFile_.push_back(report.files.size() - 1);
                traces_.push_back(std::move(trace));
            }
        }
        if (traces_.empty())
            return Error("import: none of " + std::to_string(files_.size())
                + " files is a trace; the first says: " + errors_.begin()->second.message());
        return Done{};
    }

    Status assignRanks(ImportReport& report)
    {
        layLocalRanks(report);
        std::map<std::int32_t, std::size_t> owner;
        for (std::size_t t = 0; t < traces_.size(); ++t) {
            SourceTrace& trace = traces_[t];
            if (!trace.rank) {
                trace.rank = rankFromName(trace.path);
                trace.rankFromName = trace.rank.has_value();
                report.files[traceFile_[t]].rankFromName = trace.rankFromName;
            }
            if (!trace.rank)
                continue;
            const auto [it, isNew] = owner.try_emplace(*trace.rank, t);
            if (!isNew)
                return Error("import: " + traces_[it->second].path + " and " + trace.path + " are both rank "
                    + std::to_string(*trace.rank) + "; import them apart, or leave one out");
        }
        std::int32_t free = 0;
        for (std::size_t t = 0; t < traces_.size(); ++t) {
            SourceTrace& trace = traces_[t];
            while (!trace.rank && owner.contains(free))
                ++free;
            if (!trace.rank) {
                trace.rank = free;
                owner[free] = t;
                trace.losses.push_back(
                    { "rank not in the file", 1, trace.path + ": taken as rank " + std::to_string(free) });
                report.files[traceFile_[t]].rankGuessed = true;
            }
            report.files[traceFile_[t]].rank = *trace.rank;
        }
        sortByRank();
        return Done{};
    }

    /// Reports that number their devices themselves lie one behind another, in order of their names.
    void layLocalRanks(ImportReport& report)
    {
        std::map<std::string, std::int32_t> ranksOfFile;
        for (const SourceTrace& trace : traces_) {
            if (trace.rankIsLocal)
                ranksOfFile[trace.path] = std::max(ranksOfFile[trace.path], trace.rank.value_or(0) + 1);
        }
        std::map<std::string, std::int32_t> first;
        std::int32_t next = 0;
        for (const auto& [path, ranks] : ranksOfFile) {
            first[path] = next;
            next += ranks;
        }
        for (std::size_t t = 0; t < traces_.size(); ++t) {
            SourceTrace& trace = traces_[t];
            if (!trace.rankIsLocal)
                continue;
            trace.rank = first[trace.path] + trace.rank.value_or(0);
            report.files[traceFile_[t]].rankGuessed = true;
        }
    }

    void sortByRank()
    {
        std::ranges::sort(traces_, {}, [](const SourceTrace& trace) { return *trace.rank; });
    }

    Status write(ImportReport& report, const std::string& out, const std::string& name)
    {
        for (SourceTrace& trace : traces_)
            findTimeBounds(trace);
        const MatchResult matches = matchCollectives(traces_);
        const Alignment alignment = alignClocks(traces_, matches);
        for (const SourceTrace& trace : traces_)
            report.losses.insert(report.losses.end(), trace.losses.begin(), trace.losses.end());
        report.losses.insert(report.losses.end(), matches.notes.begin(), matches.notes.end());
        progress_.writing = true;
        if (options_.progress && !options_.progress(progress_))
            return Error("import: cancelled");

        const std::string partial = out + ".importing";
        const auto removePartial = [&] {
            for (const char* suffix : { "", "-wal", "-shm", "-journal" })
                std::remove((partial + suffix).c_str());
        };
        removePartial();
        const auto written = writeTo(partial, matches, alignment, name);
        if (!written) {
            removePartial();
            return written.error();
        }
        if (std::rename(partial.c_str(), out.c_str()) != 0) {
            removePartial();
            return Error("write " + out + ": cannot be put in place");
        }
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
    std::vector<std::string> files_;
    std::vector<std::vector<SourceTrace>> results_;
    std::map<std::size_t, Error> errors_;
    std::vector<std::uint64_t> bytesRead_;
    std::vector<SourceTrace> traces_;
    std::vector<std::size_t> traceFile_; ///< index into ImportReport::files
    ImportProgress progress_;
    std::mutex mutex_;
    std::atomic<bool> cancelled_{ false };
};

} // namespace

Result<ImportReport> importTraces(
    const std::vector<std::string>& inputs, const std::string& out, const ImportOptions& options)
{
    if (inputs.empty())
        return Error("import: no file or folder named");
    auto files = filesOf(inputs);
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
    return Import(options, std::move(*files)).run(out, name);
}

} // namespace rankscope::tracing

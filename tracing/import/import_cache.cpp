#include "tracing/import/import_cache.h"

#include "tracing/import/input_files.h"
#include "tracing/import/partial_file.h"
#include "tracing/import/rules/import_rules.h"
#include "tracing/import/trace_format.h"
#include "tracing/store/trace_reader.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include <sys/stat.h>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;

/// What an import makes of the same files; rises when it makes something else.
constexpr int kImporterVersion = 12;

std::string hash(std::string_view text)
{
    std::uint64_t value = 0xcbf29ce484222325; // FNV-1a, 64 bits
    for (const char c : text)
        value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    std::array<char, 17> hex{};
    std::snprintf(hex.data(), hex.size(), "%016llx", static_cast<unsigned long long>(value));
    return hex.data();
}

/// What an import depends on: path, size and time of each file, and the rules.
std::string stateOf(const std::vector<std::string>& files, const ImportRules& rules)
{
    std::string state = "importer " + std::to_string(kImporterVersion) + "\n";
    state += "rules " + std::to_string(rules.fingerprint()) + "\n";
    for (const std::string& file : files) {
        struct stat info { };
        if (::stat(file.c_str(), &info) == 0)
            state += file + "\n" + std::to_string(info.st_size) + " " + std::to_string(info.st_mtim.tv_sec) + "."
                + std::to_string(info.st_mtim.tv_nsec) + "\n";
    }
    return state;
}

/// A file name of the first input's name, without what a file system may not like.
std::string readable(const std::string& input)
{
    const fs::path path(input);
    std::string name = path.has_filename() ? path.filename().string() : path.parent_path().filename().string();
    name.resize(std::min<std::size_t>(name.size(), 48));
    for (char& c : name) {
        const bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.'
            || c == '-' || c == '_';
        c = fine ? c : '_';
    }
    return name;
}

void removeOlder(const fs::path& folder, const std::string& stem, const fs::path& keep)
{
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; it != end; it.increment(error)) {
        if (error)
            return;
        const std::string name = it->path().filename().string();
        if (name.starts_with(stem) && name.ends_with(".rsdb") && it->path() != keep)
            fs::remove(it->path(), error);
    }
}

/// Removes what was not used for longest until the limit is kept.
void keepLimit(const fs::path& folder, const fs::path& keep)
{
    struct Entry {
        fs::file_time_type used;
        std::uintmax_t bytes = 0;
        fs::path path;
    };
    std::vector<Entry> entries;
    std::uintmax_t sum = 0;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        std::error_code gone; // another process may tidy up, too
        Entry entry{ it->last_write_time(gone), it->file_size(gone), it->path() };
        if (gone)
            continue;
        if (entry.path.extension() == ".rsdb") {
            sum += entry.bytes;
            entries.push_back(std::move(entry));
        }
    }
    std::ranges::sort(entries, {}, &Entry::used);
    const std::uint64_t limit = cacheLimitBytes(folder.string());
    for (const Entry& entry : entries) {
        if (sum <= limit)
            return;
        if (entry.path != keep && fs::remove(entry.path, error))
            sum -= entry.bytes;
    }
}

bool isComplete(const std::string& path)
{
    auto reader = TraceReader::open(path);
    if (!reader)
        return false;
    const auto run = reader->run();
    return run && run->finished;
}

} // namespace

std::uint64_t cacheLimitBytes(const std::string& folder)
{
    constexpr std::uint64_t kGiB = 1u << 30, kDefault = 20;
    if (const char* set = std::getenv("RANKSCOPE_CACHE_GIB"); set && *set) {
        char* end = nullptr;
        const double gib = std::strtod(set, &end);
        if (*end == '\0' && gib >= 0 && gib < 1e9)
            return static_cast<std::uint64_t>(gib * static_cast<double>(kGiB));
    }
    std::error_code error;
    const fs::space_info disk = fs::space(folder, error);
    return error ? kDefault * kGiB : std::min<std::uint64_t>(kDefault * kGiB, disk.capacity / 10);
}

std::string importCacheFolder()
{
    const char* cache = std::getenv("XDG_CACHE_HOME");
    if (cache && *cache == '/') // the specification wants an absolute path
        return std::string(cache) + "/rankscope/imports";
    const char* home = std::getenv("HOME");
    return home && *home ? std::string(home) + "/.cache/rankscope/imports" : "";
}

bool isRunFile(const std::string& path)
{
    std::error_code error;
    if (fs::is_directory(path, error))
        return false;
    const auto format = detectFormat(path);
    return format && *format == TraceFormat::RunFile;
}

Result<CachedRun> importCached(const std::vector<std::string>& inputs, const ImportOptions& options)
{
    if (inputs.empty())
        return Error("open: no file or folder named");
    if (inputs.size() == 1 && isRunFile(inputs.front()))
        return CachedRun{ inputs.front(), false, {} };
    std::vector<std::string> absolute;
    for (const std::string& input : inputs) {
        std::error_code error;
        const fs::path path = fs::weakly_canonical(input, error);
        absolute.push_back(error ? input : path.string());
    }
    auto files = inputFiles(absolute);
    if (!files)
        return files.error();
    const auto rules = ImportRules::load(options.ruleFiles);
    if (!rules)
        return rules.error();
    const std::string folder = importCacheFolder();
    if (folder.empty())
        return Error("open " + inputs.front() + ": set XDG_CACHE_HOME or HOME to have a place for its import");
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
        return Error(
            "make " + folder + ": " + error.message() + "; set XDG_CACHE_HOME to a folder that can be written");
    std::string names;
    for (const std::string& input : absolute)
        names += input + "\n";
    const std::string stem = readable(absolute.front()) + "-" + hash(names) + "-";
    const fs::path path = fs::path(folder) / (stem + hash(stateOf(*files, *rules)) + ".rsdb");
    if (fs::exists(path, error) && isComplete(path.string())) {
        fs::last_write_time(path, fs::file_time_type::clock::now(), error); // used: others go before it
        return CachedRun{ path.string(), false, {} };
    }
    fs::remove(path, error);
    removeLeftovers(folder);
    auto report = importTraces(absolute, path.string(), options);
    if (!report)
        return report.error();
    removeOlder(folder, stem, path);
    keepLimit(folder, path);
    return CachedRun{ path.string(), true, std::move(*report) };
}

} // namespace rankscope::tracing

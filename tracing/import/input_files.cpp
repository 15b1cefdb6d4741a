#include "tracing/import/input_files.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <regex>
#include <set>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostStretches = 24;
constexpr std::size_t kLongestName = 512; ///< of a folder or file that is looked at

std::optional<std::int64_t> numberOf(const std::string& text)
{
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    return code == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> rankIn(const std::string& name)
{
    static const std::regex kPattern(
        R"((?:^|[^a-zA-Z])(?:rank|worker|gpu|device)[_\-]?([0-9]{1,6})(?![0-9]))", std::regex::icase);
    std::smatch match;
    return std::regex_search(name, match, kPattern) ? numberOf(match[1]) : std::nullopt;
}

std::optional<std::int64_t> cycleIn(const std::string& name)
{
    static const std::regex kPattern(
        R"((?:^|[^a-zA-Z])(?:iteration|iter|cycle|window)[_\-]?([0-9]{1,18})(?![0-9]))", std::regex::icase);
    std::smatch match;
    return std::regex_search(name, match, kPattern) ? numberOf(match[1]) : std::nullopt;
}

bool isNode(const std::string& name)
{
    static const std::regex kPattern(R"((?:node|host)[_\-]?[0-9]{1,6})", std::regex::icase);
    return std::regex_match(name, kPattern);
}

std::string shortened(const fs::path& name) { return name.string().substr(0, kLongestName); }

} // namespace

Result<std::vector<std::string>> inputFiles(const std::vector<std::string>& inputs)
{
    std::vector<std::string> files;
    std::set<std::string> known;
    const auto add = [&](const std::string& path) {
        if (known.insert(path).second)
            files.push_back(path);
    };
    for (const std::string& input : inputs) {
        std::error_code error;
        const fs::file_status status = fs::status(input, error);
        if (!fs::exists(status))
            return Error("open " + input + ": no such file or folder");
        if (!fs::is_directory(status)) {
            add(input);
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
        if (found.empty())
            return Error("open " + input + ": no file in this folder");
        std::ranges::sort(found);
        std::ranges::for_each(found, add);
    }
    return files;
}

NameFacts nameFacts(const std::string& path)
{
    static const std::regex kProfilerName(R"(^(.+_[0-9]+)\.([0-9]{10,19})\.pt\.trace\.json.*$)");
    NameFacts facts;
    const std::string file = shortened(fs::path(path).filename());
    fs::path folder = fs::path(path).parent_path();
    std::smatch match;
    if (std::regex_match(file, match, kProfilerName)) {
        facts.process = match[1];
        facts.cycle = numberOf(match[2]);
    }
    std::vector<std::string> names{ file, shortened(folder.filename()) };
    if (cycleIn(names.back())) // rank3/iteration_2/trace.json
        names.push_back(shortened(folder.parent_path().filename()));
    for (const std::string& name : names) {
        if (const auto rank = rankIn(name); rank && !facts.rank)
            facts.rank = static_cast<std::int32_t>(*rank);
        if (!facts.cycle)
            facts.cycle = cycleIn(name);
    }
    for (std::string name = shortened(folder.filename()); rankIn(name) || cycleIn(name) || isNode(name);
         name = shortened(folder.filename()))
        folder = folder.parent_path();
    facts.jobFolder = folder.empty() ? "." : folder.string();
    return facts;
}

std::string asStretches(const std::vector<std::int32_t>& sorted)
{
    std::string text;
    std::size_t stretches = 0;
    for (std::size_t i = 0; i < sorted.size();) {
        std::size_t last = i;
        while (last + 1 < sorted.size() && sorted[last + 1] == sorted[last] + 1)
            ++last;
        if (++stretches > kMostStretches)
            return text + ", ...";
        text += (text.empty() ? "" : ", ") + std::to_string(sorted[i]);
        if (last > i)
            text += "-" + std::to_string(sorted[last]);
        i = last + 1;
    }
    return text;
}

} // namespace rankscope::tracing

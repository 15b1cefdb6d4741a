#include "tests/arch/tree.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

namespace fs = std::filesystem;

namespace rankscope::arch {
namespace {

std::vector<std::string> split(std::string_view text, char separator)
{
    std::vector<std::string> parts;
    while (!text.empty()) {
        const auto end = std::min(text.find(separator), text.size());
        parts.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

std::string_view trimLeft(std::string_view text)
{
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    return text;
}

/// "#include <path>" or "#include "path"" as an include, anything else as one without a path.
Include parseInclude(std::string_view line)
{
    line = trimLeft(line);
    if (!line.starts_with('#'))
        return {};
    line = trimLeft(line.substr(1));
    if (!line.starts_with("include"))
        return {};
    line = trimLeft(line.substr(7));
    if (line.empty() || (line.front() != '"' && line.front() != '<'))
        return {};
    const bool quoted = line.front() == '"';
    const auto end = line.find(quoted ? '"' : '>', 1);
    if (end == std::string_view::npos)
        return {};
    return { 0, quoted, std::string(line.substr(1, end - 1)) };
}

bool isSource(const fs::path& path)
{
    static constexpr std::array<std::string_view, 7> kExtensions{ ".h", ".cpp", ".cu", ".cuh", ".hpp", ".cc", ".c" };
    return std::find(kExtensions.begin(), kExtensions.end(), path.extension().string()) != kExtensions.end();
}

/// The path of a source from the root; empty when it lies elsewhere.
std::string fromRoot(const std::string& source, const std::string& folder, const fs::path& root)
{
    const fs::path path(source);
    const fs::path relative
        = path.is_absolute() ? path.lexically_relative(root) : (fs::path(folder) / path).lexically_normal();
    return relative.empty() || *relative.begin() == ".." ? std::string() : relative.generic_string();
}

} // namespace

std::string readText(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::vector<Target> parseTargets(std::string_view text, const fs::path& root)
{
    std::vector<Target> targets;
    for (const auto& line : split(text, '\n')) {
        auto fields = split(line, '|');
        fields.resize(5);
        if (fields[0].empty())
            continue;
        Target target{ fields[0], fields[1], split(fields[3], ','), {} };
        for (const auto& source : split(fields[4], ',')) {
            if (auto path = fromRoot(source, target.folder, root); !path.empty())
                target.sources.push_back(std::move(path));
        }
        targets.push_back(std::move(target));
    }
    return targets;
}

SourceFile parseSource(std::string path, std::string_view text)
{
    SourceFile file{ std::move(path), 0, {} };
    for (const auto& line : split(text, '\n')) {
        ++file.lines;
        if (auto include = parseInclude(line); !include.path.empty()) {
            include.line = file.lines;
            file.includes.push_back(std::move(include));
        }
    }
    return file;
}

std::vector<SourceFile> readTree(const fs::path& root)
{
    std::vector<SourceFile> files;
    for (const char* top : { "app", "backend", "tracing", "kernels", "tests" }) {
        std::error_code error;
        for (fs::recursive_directory_iterator entry(root / top, error), end; entry != end; entry.increment(error)) {
            if (entry->is_regular_file(error) && isSource(entry->path()))
                files.push_back(
                    parseSource(entry->path().lexically_relative(root).generic_string(), readText(entry->path())));
        }
    }
    std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
    return files;
}

} // namespace rankscope::arch

#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// The checker of STYLE's include rules. It knows two things: the targets as CMake wrote them down, and the files.
namespace rankscope::arch {

/// One CMake target of ours. Sources are paths from the root of the repository.
struct Target {
    std::string name;
    std::string folder;
    std::vector<std::string> deps;
    std::vector<std::string> sources;
};

struct Include {
    int line = 0;
    bool quoted = false;
    std::string path;
};

/// One source file, its path from the root of the repository.
struct SourceFile {
    std::string path;
    int lines = 0;
    std::vector<Include> includes;
};

/// Reads what resources/setup/targets.cmake writes: one target a line, "name|folder|kind|deps|sources", lists with
/// commas. Sources outside the root (made by the build) are left out.
std::vector<Target> parseTargets(std::string_view text, const std::filesystem::path& root);

/// The include lines of a C++ or CUDA source, and its length. Includes in comments of several lines count too.
SourceFile parseSource(std::string path, std::string_view text);

/// Every C++ and CUDA file under the folders that hold code (app, backend, tracing, kernels, tests), sorted by path.
std::vector<SourceFile> readTree(const std::filesystem::path& root);

/// The whole file, or an empty text when it cannot be read.
std::string readText(const std::filesystem::path& path);

} // namespace rankscope::arch

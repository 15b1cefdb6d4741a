#include "tests/arch/rules.h"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

namespace rankscope::arch {
namespace {

/// The calls of packages.cmake that name a package, and which argument it is.
struct Finder {
    std::string_view call;
    int argument;
};
constexpr std::array<Finder, 3> kFinders{ { { "rs_missing(", 0 }, { "rs_find_library(", 3 },
    { "rs_find_headers(", 2 } } };

std::vector<std::string> wordsOf(std::string_view text)
{
    std::istringstream stream{ std::string(text) };
    std::vector<std::string> words;
    for (std::string word; stream >> word;)
        words.push_back(word);
    return words;
}

/// The packages that CMake looks for. Calls inside the helper functions pass "${package}" on and name none.
std::set<std::string> packagesLookedFor(std::string_view cmake)
{
    std::set<std::string> packages;
    std::istringstream lines{ std::string(cmake) };
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with('#'))
            continue;
        for (const auto& finder : kFinders) {
            const auto call = line.find(finder.call);
            if (call == std::string::npos)
                continue;
            const auto begin = call + finder.call.size();
            const auto arguments = wordsOf(std::string_view(line).substr(begin, line.find(')', begin) - begin));
            const auto index = static_cast<std::size_t>(finder.argument);
            if (index < arguments.size() && !arguments[index].starts_with('$'))
                packages.insert(arguments[index]);
        }
    }
    return packages;
}

} // namespace

Faults checkPackages(std::string_view packagesCmake, std::string_view debianPackages)
{
    static const std::set<std::string> kGroups{ "build", "run", "app", "sample", "test", "bench" };
    Faults faults;
    std::set<std::string> listed;
    std::istringstream lines{ std::string(debianPackages) };
    for (std::string line; std::getline(lines, line);) {
        const auto words = wordsOf(line);
        if (words.empty() || words[0].starts_with('#'))
            continue;
        if (words.size() < 3 || !kGroups.contains(words[0]))
            faults.push_back({ "debian-packages.txt", "'" + line + "' is not: group, package, purpose" });
        else if (!listed.insert(words[1]).second)
            faults.push_back({ "debian-packages.txt", words[1] + " stands there twice" });
    }
    for (const auto& package : packagesLookedFor(packagesCmake)) {
        if (!listed.contains(package))
            faults.push_back({ "packages.cmake", package + " is not in debian-packages.txt" });
    }
    return faults;
}

} // namespace rankscope::arch

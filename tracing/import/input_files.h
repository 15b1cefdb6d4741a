#pragma once

#include "tracing/model/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope::tracing {

/// The named files, and the files of the named folders and their sub-folders in order of name; each once. An error: a
/// name that is not there, a folder without a file.
Result<std::vector<std::string>> inputFiles(const std::vector<std::string>& inputs);

/// What a file's name says about it.
struct NameFacts {
    std::optional<std::int32_t> rank; ///< "rank3", "rank_3", "worker3" in the file's or its folder's name
    std::string process; ///< "host_4711" of host_4711.1700000000000000000.pt.trace.json; empty: no such name
    std::optional<std::int64_t> cycle; ///< the time in such a name, or N of iteration_N in the file's or its folder's
    std::string jobFolder; ///< its folder without parts that only tell rank, node or cycle
};
NameFacts nameFacts(const std::string& path);

/// "2-7, 9" of 2, 3, 4, 5, 6, 7, 9; at most some dozens of stretches.
std::string asStretches(const std::vector<std::int32_t>& sorted);

} // namespace rankscope::tracing

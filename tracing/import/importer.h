#pragma once

#include "tracing/model/result.h"
#include "tracing/model/rows.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace rankscope::tracing {

struct ImportProgress {
    std::size_t filesDone = 0;
    std::size_t files = 0;
    std::uint64_t bytesRead = 0; ///< as on disk
    std::uint64_t bytes = 0;
    std::int64_t events = 0;
    bool writing = false; ///< all files are read
};

struct ImportOptions {
    std::string name; ///< of the run; empty: after the first input
    std::vector<std::string> ruleFiles{}; ///< what names mean, before the rules of the user's folder and our own
    std::function<bool(const ImportProgress&)> progress{}; ///< some times a second; false cancels
};

struct ImportedFile {
    std::string path;
    std::string format; ///< empty: left out
    std::int32_t rank = 0;
    bool rankFromName = false; ///< the file itself does not say
    bool rankGuessed = false; ///< neither does its name: the next free number
    std::string leftOut; ///< why it was not read
};

struct ImportReport {
    std::string out;
    std::int32_t ranks = 0;
    std::int32_t worldSize = 0;
    std::int64_t events = 0;
    std::string clocks; ///< one sentence about the alignment; empty: nothing to align
    std::vector<ImportedFile> files;
    std::vector<Loss> losses;
};

/// Turns other tools' traces (files, or folders of them) into one run file with all ranks on one timeline. The file
/// appears under its name only when it is complete. An error: no input could be read, two files claim the same rank at
/// the same time, a file of rules is wrong, or the output cannot be written.
Result<ImportReport> importTraces(
    const std::vector<std::string>& inputs, const std::string& out, const ImportOptions& options = {});

} // namespace rankscope::tracing

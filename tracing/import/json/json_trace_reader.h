#pragma once

#include "tracing/import/rules/import_rules.h"
#include "tracing/import/source_trace.h"
#include "tracing/model/result.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace rankscope::tracing {

struct ReadProgress {
    std::uint64_t fileBytesRead = 0;
    std::uint64_t fileBytes = 0;
    std::int64_t events = 0;
};
/// Called now and then while a file is read; false ends the reading with an error.
using ReadProgressCallback = std::function<bool(const ReadProgress&)>;

/// Reads a trace-event JSON file (PyTorch, Chrome, MindStudio; plain, .gz or .zst) into one rank's trace; what
/// `rankscope export --chrome` wrote into one for each of its ranks. Gives all that can be had of a damaged file and
/// says in `losses` what was lost; an error only where nothing at all is an event.
Result<std::vector<SourceTrace>> readJsonTraces(const std::string& path,
    const ImportRules& rules = ImportRules::builtIn(), const ReadProgressCallback& progress = {});

} // namespace rankscope::tracing

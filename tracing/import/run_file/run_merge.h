#pragma once

#include "tracing/import/importer.h"

#include <string>
#include <vector>

namespace rankscope::tracing {

/// Makes one run of the run files of a job's nodes or ranks: every row is kept as it is, times move by the difference
/// of the files' origins and by what the ends of shared collectives tell about the nodes' clocks; collectives and
/// messages are matched anew over all files. An error: two files hold the same rank, a file cannot be read or `out` not
/// written; nothing is left under `out` then.
Result<ImportReport> mergeRuns(const std::vector<std::string>& files, const std::string& out, const std::string& name,
    const ImportOptions& options = {});

} // namespace rankscope::tracing

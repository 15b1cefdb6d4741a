#pragma once

#include "tracing/import/importer.h"
#include "tracing/import/source_trace.h"

#include <vector>

namespace rankscope::tracing {

/// A trace and the files that it came from, as places in ImportReport::files.
struct AssignedTrace {
    SourceTrace trace;
    std::vector<std::size_t> files;
};

/// Gives every trace its rank: what the file itself says, else its name, else the next free number. Traces of one rank
/// that lie one after another are its profiling cycles and become one trace. An error where two files are one rank at
/// the same time, or where the files are several jobs: then it names them. Ends in order of rank; writes ranks into
/// `files`. After findTimeBounds().
Status assignRanks(std::vector<AssignedTrace>& traces, std::vector<ImportedFile>& files);

/// Which ranks of the job have no file, and whose rank is beyond the job: a loss each.
std::vector<Loss> rankLosses(const std::vector<SourceTrace>& traces);

} // namespace rankscope::tracing

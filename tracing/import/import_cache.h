#pragma once

#include "tracing/import/importer.h"

#include <string>
#include <vector>

namespace rankscope::tracing {

struct CachedRun {
    std::string path; ///< a run file
    bool imported = false; ///< just now; false: the input is a run file itself, or was imported before
    ImportReport report; ///< where imported
};

/// Makes a run file of what people name, to be opened: a run file stays where it is; traces and folders are imported
/// into
/// `$XDG_CACHE_HOME/rankscope/imports` (else `~/.cache/...`), never beside the source. The next call with the same
/// files of the same size and time gives the same run at once; what was imported of an older state is removed, and
/// beyond cacheLimitBytes() what was not used for longest.
Result<CachedRun> importCached(const std::vector<std::string>& inputs, const ImportOptions& options = {});

/// Whether the path is a run file, which needs no import.
bool isRunFile(const std::string& path);

/// What all imports together may take: RANKSCOPE_CACHE_GIB, else 20 GiB or a tenth of the disk, whichever is less.
std::uint64_t cacheLimitBytes(const std::string& folder);

/// Where imports are kept; empty: neither XDG_CACHE_HOME nor HOME is set.
std::string importCacheFolder();

} // namespace rankscope::tracing

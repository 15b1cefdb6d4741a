#pragma once

#include "tracing/cli/terminal.h"
#include "tracing/import/importer.h"

#include <functional>

namespace rankscope::tracing {

/// Shows on a terminal how far an import is, and ends it on Ctrl-C so that it leaves nothing behind.
class ImportProgressLine {
public:
    ImportProgressLine();
    ImportProgressLine(const ImportProgressLine&) = delete;
    ImportProgressLine& operator=(const ImportProgressLine&) = delete;
    ~ImportProgressLine(); ///< gives the signals back

    std::function<bool(const ImportProgress&)> callback();
    void clear() { line_.clear(); }

private:
    StatusLine line_;
};

} // namespace rankscope::tracing

#pragma once

#include "tracing/cli/terminal.h"
#include "tracing/import/importer.h"

#include <functional>
#include <string>

namespace rankscope::tracing {

/// Shows on a terminal how far an import or an export is, and ends it on Ctrl-C so that it leaves nothing behind.
class ImportProgressLine {
public:
    ImportProgressLine();
    ImportProgressLine(const ImportProgressLine&) = delete;
    ImportProgressLine& operator=(const ImportProgressLine&) = delete;
    ~ImportProgressLine(); ///< gives the signals back

    std::function<bool(const ImportProgress&)> callback();
    /// The same for other work that Ctrl-C may end: false, once it shall.
    bool show(const std::string& text);
    void clear() { line_.clear(); }

private:
    StatusLine line_;
};

} // namespace rankscope::tracing

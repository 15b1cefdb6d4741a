#include "tracing/cli/open_run.h"

#include "tracing/cli/terminal.h"
#include "tracing/collector/collector.h"

#include <fmt/format.h>

namespace rankscope::tracing {

Result<TraceReader> openRun(const std::string& path)
{
    auto reader = TraceReader::open(path);
    if (!reader)
        return reader;
    const auto run = reader->run();
    if (!run || run->finished)
        return reader;
    const auto drained = drainLeftover(path);
    // What is in the file can be read all the same.
    if (!drained)
        sayNote(
            fmt::format("{}: what was left of its recording could not be read: {}", path, drained.error().message()));
    else if (*drained)
        sayNote(fmt::format("{}: took in what was left of its recording", path));
    return TraceReader::open(path);
}

} // namespace rankscope::tracing

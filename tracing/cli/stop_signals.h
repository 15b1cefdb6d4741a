#pragma once

#include <atomic>

namespace rankscope::tracing {

/// From now on SIGINT and SIGTERM no longer end this process: they set what is returned, which lives as long as the
/// process does.
const std::atomic<bool>& stopOnSignals();

} // namespace rankscope::tracing

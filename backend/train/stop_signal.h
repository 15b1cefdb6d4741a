#pragma once

namespace rankscope::backend {

/// From now on SIGINT and SIGTERM ask the run to end after the step under way; a second one ends the process at once.
void installStopSignals();
bool stopWasAsked();

} // namespace rankscope::backend

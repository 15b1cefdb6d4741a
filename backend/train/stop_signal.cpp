#include "backend/train/stop_signal.h"

#include <csignal>

namespace rankscope::backend {

namespace {

volatile std::sig_atomic_t asked = 0;

extern "C" void onStopSignal(int signal)
{
    asked = 1;
    // Who asks twice does not want to wait for the step.
    std::signal(signal, SIG_DFL);
}

} // namespace

void installStopSignals()
{
    std::signal(SIGINT, onStopSignal);
    std::signal(SIGTERM, onStopSignal);
}

bool stopWasAsked() { return asked != 0; }

} // namespace rankscope::backend

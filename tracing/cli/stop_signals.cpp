#include "tracing/cli/stop_signals.h"

#include <csignal>

namespace rankscope::tracing {

namespace {

std::atomic<bool> stopAsked{ false };

extern "C" void askToStop(int) { stopAsked.store(true); }

} // namespace

const std::atomic<bool>& stopOnSignals()
{
    struct sigaction action { };
    action.sa_handler = askToStop;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    return stopAsked;
}

} // namespace rankscope::tracing

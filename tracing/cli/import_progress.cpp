#include "tracing/cli/import_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include <unistd.h>

namespace rankscope::tracing {

namespace {

volatile std::sig_atomic_t interrupted = 0;
struct sigaction previousInterrupt, previousTerminate;

void interrupt(int) { interrupted = 1; }

} // namespace

ImportProgressLine::ImportProgressLine()
    : line_(STDERR_FILENO)
{
    interrupted = 0;
    struct sigaction action { };
    action.sa_handler = interrupt;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &previousInterrupt);
    sigaction(SIGTERM, &action, &previousTerminate);
}

ImportProgressLine::~ImportProgressLine()
{
    line_.clear();
    sigaction(SIGINT, &previousInterrupt, nullptr);
    sigaction(SIGTERM, &previousTerminate, nullptr);
}

bool ImportProgressLine::show(const std::string& text)
{
    line_.show(text);
    return interrupted == 0;
}

std::function<bool(const ImportProgress&)> ImportProgressLine::callback()
{
    return [this](const ImportProgress& progress) {
        if (progress.writing)
            line_.show("import: writing");
        else if (progress.bytes > 0)
            line_.show(fmt::format("import: {} of {} files, {} %", progress.filesDone, progress.files,
                std::min<std::uint64_t>(100, 100 * progress.bytesRead / progress.bytes)));
        return interrupted == 0;
    };
}

} // namespace rankscope::tracing

#include "tracing/cli/terminal.h"

#include "tracing/export/text_table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace rankscope::tracing {

namespace {

int outputError = 0; ///< errno of the first write to standard output that failed

bool writeAll(int descriptor, std::string_view text)
{
    while (!text.empty()) {
        const ssize_t written = write(descriptor, text.data(), text.size());
        if (written < 0 && errno != EINTR)
            return false;
        text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(0, written)));
    }
    return true;
}

std::size_t columnsOf(int descriptor)
{
    winsize size{};
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

} // namespace

void sayError(std::string_view message) { writeAll(STDERR_FILENO, fmt::format("rankscope: {}\n", message)); }

void sayNote(std::string_view message) { writeAll(STDERR_FILENO, fmt::format("{}\n", message)); }

bool writeOut(std::string_view text)
{
    if (outputError == 0 && !writeAll(STDOUT_FILENO, text))
        outputError = errno;
    return outputError == 0;
}

bool sayWhetherOutputFailed()
{
    if (outputError != 0)
        sayError(fmt::format("write to standard output: {}", std::strerror(outputError)));
    return outputError != 0;
}

StatusLine::StatusLine(int descriptor)
    : descriptor_(descriptor)
    , isTerminal_(isatty(descriptor) == 1)
{
}

void StatusLine::show(std::string_view text)
{
    if (!isTerminal_)
        return;
    writeAll(descriptor_, fmt::format("\r{}\033[K", cutToWidth(text, columnsOf(descriptor_) - 1)));
    isShown_ = true;
}

void StatusLine::clear()
{
    if (isShown_)
        writeAll(descriptor_, "\r\033[K");
    isShown_ = false;
}

} // namespace rankscope::tracing

#include "tracing/cli/launch/session_directory.h"

#include <fmt/format.h>

#include <stdlib.h> // mkdtemp
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace rankscope::tracing {

Result<std::filesystem::path> makeSessionDirectory()
{
    std::error_code ignored;
    std::string tried;
    for (const std::filesystem::path& parent :
        { std::filesystem::path("/dev/shm"), std::filesystem::temp_directory_path(ignored) }) {
        std::string path = (parent / fmt::format("rankscope-{}-XXXXXX", getpid())).string();
        if (!parent.empty() && mkdtemp(path.data()))
            return std::filesystem::path(path);
        tried += fmt::format("{}{}: {}", tried.empty() ? "" : "; ", path, std::strerror(errno));
    }
    return Error(fmt::format("no place for the recording's rings ({}); set TMPDIR to a writable directory", tried));
}

} // namespace rankscope::tracing

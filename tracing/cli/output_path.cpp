#include "tracing/cli/output_path.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;

/// Permissions do not tell everything (/proc, read-only mounts): makes a file beside it and takes it away again.
int errorOfMaking(const fs::path& folder)
{
    std::string name = (folder / ".rankscope-XXXXXX").string();
    const int descriptor = mkstemp(name.data());
    if (descriptor < 0)
        return errno;
    close(descriptor);
    unlink(name.c_str());
    return 0;
}

} // namespace

Status checkOutput(const std::string& option, const std::string& path)
{
    const std::string what = option.empty() ? path : fmt::format("{} {}", option, path);
    std::error_code error;
    if (fs::is_directory(path, error))
        return Error(fmt::format("{}: is a folder; name a file in it", what));
    if (fs::exists(path, error) && !fs::is_regular_file(path, error))
        return Error(fmt::format("{}: exists and is no file; give another name", what));
    const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
    if (!fs::is_directory(folder, error))
        return Error(fmt::format("{}: there is no folder {}", what, folder.string()));
    if (const int code = errorOfMaking(folder); code != 0)
        return Error(fmt::format(
            "{}: no file can be made in {}: {}; choose another folder", what, folder.string(), std::strerror(code)));
    return Done{};
}

} // namespace rankscope::tracing

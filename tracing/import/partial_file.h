#pragma once

#include "tracing/model/result.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace rankscope::tracing {

/// A run file while it is written: beside the result under a name of its own, which begins with the result's. A lock
/// beside it, held by the writer, tells the others that it is alive.
class PartialFile {
public:
    /// Removes what writers of the same result left behind that are gone. An error: the folder cannot be written.
    static Result<PartialFile> create(const std::string& out);
    PartialFile(PartialFile&& other) noexcept;
    PartialFile& operator=(PartialFile&&) = delete;
    ~PartialFile(); ///< removes what was not put in place

    const std::string& path() const { return path_; } ///< where to write; nothing is there yet
    /// Gives the finished file the result's name.
    Status putInPlace();

private:
    PartialFile(std::string out, std::string path, int lock)
        : out_(std::move(out))
        , path_(std::move(path))
        , lock_(lock)
    {
    }

    std::string out_;
    std::string path_;
    int lock_ = -1; ///< descriptor; -1: moved from
};

/// Removes the folder's partial files whose names begin so and whose writers are gone: nobody holds their lock. Another
/// machine's must also lie untouched for a day, for not every shared folder carries locks from one to the other.
void removeLeftovers(const std::filesystem::path& folder, std::string_view head = {});

} // namespace rankscope::tracing

#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace rankscope::support {

/// A new empty directory; removed with all that is in it when this goes.
class TemporaryDirectory {
public:
    /// Made under `parent`; empty means the system's place for temporary files. Aborts the test if it cannot be made.
    explicit TemporaryDirectory(const std::filesystem::path& parent = {});
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    ~TemporaryDirectory();

    const std::filesystem::path& path() const { return path_; }
    /// A path inside it; nothing is created.
    std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
    /// Writes a file inside it and gives its path.
    std::filesystem::path write(std::string_view name, std::string_view text) const;

private:
    std::filesystem::path path_;
};

/// The whole file, or an empty text when it cannot be read.
std::string readText(const std::filesystem::path& path);

} // namespace rankscope::support

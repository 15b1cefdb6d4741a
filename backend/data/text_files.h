#pragma once

#include "tracing/model/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::backend {

/// The text of a file, or of all text files under a folder, one behind the other in the order of their paths.
struct Text {
    std::string bytes; ///< UTF-8
    std::vector<std::filesystem::path> files; ///< that make it up
    std::vector<std::filesystem::path> skipped; ///< in the folder, but not UTF-8 text
};

/// Reads plain and gzip files (told by their first bytes, not by their name). A single file must be UTF-8; in a folder,
/// what is not is skipped and listed. An error if nothing can be read or nothing is in it.
tracing::Result<Text> readText(const std::filesystem::path& path);

/// Well-formed UTF-8 without NUL: text, not a program or a picture.
bool isUtf8Text(std::string_view bytes);

/// FNV-1a, 64 bits: the same text on all ranks, and in the provenance.
std::uint64_t fingerprint(std::string_view bytes);

} // namespace rankscope::backend

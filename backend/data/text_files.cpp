#include "backend/data/text_files.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <memory>
#include <system_error>

namespace rankscope::backend {

using tracing::Error;
using tracing::Result;

namespace fs = std::filesystem;

namespace {

/// Bytes of the sequence that `lead` begins, 0 if none does.
std::size_t sequenceLength(unsigned char lead)
{
    if (lead < 0x80)
        return 1;
    if (lead >= 0xc2 && lead < 0xe0)
        return 2;
    if (lead >= 0xe0 && lead < 0xf0)
        return 3;
    return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

/// The second byte's range excludes overlong forms, surrogates and what lies beyond U+10FFFF (Unicode, table 3-7).
bool isSecondByte(unsigned char lead, unsigned char second)
{
    const unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    return second >= low && second <= high;
}

Result<std::string> readFile(const fs::path& path)
{
    // gzread passes files that are not compressed through as they are.
    const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
    if (!file)
        return Error(path.string() + ": cannot be read; check the path and its permissions");
    std::string bytes;
    std::array<char, 1 << 16> buffer;
    int count = 0;
    while ((count = gzread(file.get(), buffer.data(), static_cast<unsigned>(buffer.size()))) > 0)
        bytes.append(buffer.data(), static_cast<std::size_t>(count));
    int code = Z_OK;
    const char* why = gzerror(file.get(), &code);
    if (count < 0 || code != Z_OK)
        return Error(path.string() + ": cannot be read to its end (" + why + "); is the file damaged?");
    return bytes;
}

Result<std::vector<fs::path>> filesUnder(const fs::path& folder)
{
    std::error_code code;
    std::vector<fs::path> files;
    for (fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, code), end;
         !code && at != end; at.increment(code)) {
        if (at->is_regular_file(code))
            files.push_back(at->path());
        code.clear(); // a dangling link is no text
    }
    if (code)
        return Error(folder.string() + ": cannot be listed: " + code.message());
    std::ranges::sort(files);
    return files;
}

Result<Text> readFolder(const fs::path& folder)
{
    auto files = filesUnder(folder);
    if (!files)
        return files.error();
    Text text;
    for (const fs::path& file : *files) {
        const auto bytes = readFile(file);
        if (!bytes || bytes->empty() || !isUtf8Text(*bytes)) {
            text.skipped.push_back(file);
            continue;
        }
        text.bytes += *bytes;
        text.files.push_back(file);
    }
    if (text.bytes.empty())
        return Error(folder.string() + ": no UTF-8 text in this folder");
    return text;
}

} // namespace

bool isUtf8Text(std::string_view bytes)
{
    for (std::size_t at = 0; at < bytes.size();) {
        const auto lead = static_cast<unsigned char>(bytes[at]);
        const std::size_t length = lead == 0 ? 0 : sequenceLength(lead);
        if (length == 0 || at + length > bytes.size())
            return false;
        for (std::size_t i = 1; i < length; ++i) {
            const auto byte = static_cast<unsigned char>(bytes[at + i]);
            if (i == 1 ? !isSecondByte(lead, byte) : (byte & 0xc0) != 0x80)
                return false;
        }
        at += length;
    }
    return true;
}

std::uint64_t fingerprint(std::string_view bytes)
{
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const char byte : bytes)
        hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
    return hash;
}

Result<Text> readText(const fs::path& path)
{
    std::error_code code;
    if (!fs::exists(path, code))
        return Error(path.string() + ": no such file or folder");
    if (fs::is_directory(path, code))
        return readFolder(path);
    auto bytes = readFile(path);
    if (!bytes)
        return bytes.error();
    if (bytes->empty())
        return Error(path.string() + ": the file is empty");
    if (!isUtf8Text(*bytes))
        return Error(path.string() + ": not UTF-8 text; convert it, for example with iconv -t UTF-8");
    return Text{ .bytes = std::move(*bytes), .files = { path }, .skipped = {} };
}

} // namespace rankscope::backend

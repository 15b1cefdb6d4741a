#include "backend/checkpoint/shard_file.h"

#include <array>
#include <cstring>
#include <fstream>

namespace rankscope::backend {

using tracing::Error;
using tracing::Result;
using tracing::Status;

namespace {

constexpr std::array<char, 8> kMagic{ 'R', 'S', 'S', 'H', 'A', 'R', 'D', '1' };
/// A file that says more is none of ours; so no length in a damaged file can ask for the whole memory.
constexpr std::uint64_t kMostSlices = 1u << 24;
constexpr std::uint64_t kLongestName = 4096;

void append(std::string& bytes, std::uint64_t number)
{
    std::array<char, sizeof number> raw;
    std::memcpy(raw.data(), &number, sizeof number);
    bytes.append(raw.data(), raw.size());
}

std::string headOf(const std::vector<StateSlice>& slices)
{
    std::string head(kMagic.data(), kMagic.size());
    append(head, slices.size());
    for (const StateSlice& slice : slices) {
        append(head, slice.name.size());
        head += slice.name;
        append(head, slice.begin);
        append(head, slice.data.size());
    }
    return head;
}

bool readNumber(std::istream& file, std::uint64_t& number)
{
    return static_cast<bool>(file.read(reinterpret_cast<char*>(&number), sizeof number));
}

bool readEntry(std::istream& file, ShardEntry& entry)
{
    std::uint64_t length = 0;
    if (!readNumber(file, length) || length > kLongestName)
        return false;
    entry.name.resize(length);
    return file.read(entry.name.data(), static_cast<std::streamsize>(length)) && readNumber(file, entry.begin)
        && readNumber(file, entry.floats);
}

} // namespace

Result<FileSum> writeShard(const std::string& path, const std::vector<StateSlice>& slices, const ShardHooks& hooks)
{
    auto file = DurableFile::create(hooks.place ? hooks.place(path) : path);
    if (!file)
        return file.error();
    const std::string head = headOf(slices);
    if (const Status written = file->write(std::as_bytes(std::span(head))); !written)
        return written.error();
    for (std::size_t i = 0; i < slices.size(); ++i) {
        if (hooks.halfWay && i == slices.size() / 2)
            hooks.halfWay();
        if (const Status written = file->write(std::as_bytes(slices[i].data)); !written)
            return written.error();
    }
    if (const Status closed = file->close(); !closed)
        return closed.error();
    if (hooks.written)
        hooks.written(path);
    return FileSum{ file->bytes(), file->checksum() };
}

Result<std::vector<ShardEntry>> readShardIndex(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    std::array<char, kMagic.size()> magic{};
    std::uint64_t slices = 0;
    if (!file.read(magic.data(), magic.size()) || magic != kMagic || !readNumber(file, slices) || slices > kMostSlices)
        return Error(path + ": no shard of a checkpoint");
    std::vector<ShardEntry> entries;
    for (std::uint64_t i = 0; i < slices; ++i) {
        ShardEntry entry;
        if (!readEntry(file, entry))
            return Error(path + ": its list of tensors is cut off");
        entries.push_back(std::move(entry));
    }
    auto offset = static_cast<std::uint64_t>(file.tellg());
    for (ShardEntry& entry : entries) {
        entry.offset = offset;
        offset += entry.floats * sizeof(float);
    }
    return entries;
}

bool readFloats(std::istream& file, std::uint64_t offset, std::span<float> into)
{
    file.seekg(static_cast<std::streamoff>(offset));
    return static_cast<bool>(
        file.read(reinterpret_cast<char*>(into.data()), static_cast<std::streamsize>(into.size_bytes())));
}

} // namespace rankscope::backend

#pragma once

#include "backend/checkpoint/durable_file.h"
#include "backend/checkpoint/state.h"
#include "tracing/model/result.h"

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace rankscope::backend {

// One rank's file of a checkpoint, in this machine's byte order: magic, u64 number of slices; of each slice u64 length
// of the name, name, u64 first float, u64 floats; then the floats of all slices in that order.

/// What an injected fault does while a shard is written; each may be empty.
struct ShardHooks {
    std::function<std::string(const std::string& path)> place; ///< where the bytes go instead
    std::function<void()> halfWay; ///< half of the slices are in the file
    std::function<void(const std::string& path)> written; ///< it is on storage and summed up
};

/// Writes the file and its bytes to storage. Gives its size and checksum.
tracing::Result<FileSum> writeShard(
    const std::string& path, const std::vector<StateSlice>& slices, const ShardHooks& hooks = {});

/// Where a slice lies in a shard.
struct ShardEntry {
    std::string name;
    std::uint64_t begin = 0;
    std::uint64_t floats = 0;
    std::uint64_t offset = 0; ///< bytes from the file's start
};
tracing::Result<std::vector<ShardEntry>> readShardIndex(const std::string& path);

/// Floats of an open shard from a byte offset on. False: they are not there.
bool readFloats(std::istream& file, std::uint64_t offset, std::span<float> into);

} // namespace rankscope::backend

#include "backend/checkpoint/checkpoint_folder.h"

#include "backend/checkpoint/shard_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <tuple>

namespace rankscope::backend {

namespace fs = std::filesystem;
using tracing::Done;
using tracing::Error;
using tracing::Result;
using tracing::Status;

namespace {

constexpr const char* kSuffix = ".manifest";
constexpr const char* kDamaged = ".damaged";

/// "step-00000020.1.manifest": step 20, attempt 1. Without meaning in other names, which sort last.
std::pair<std::int64_t, int> orderOf(const fs::path& path)
{
    long long step = -1;
    int attempt = -1;
    if (std::sscanf(path.filename().c_str(), "step-%lld.%d.manifest", &step, &attempt) != 2)
        return { -1, -1 };
    return { step, attempt };
}

std::vector<fs::path> manifestsIn(const fs::path& folder)
{
    std::vector<fs::path> found;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        if (at->path().extension() == kSuffix && orderOf(at->path()).first > 0)
            found.push_back(at->path());
    }
    std::ranges::sort(found, std::ranges::greater(), orderOf);
    return found;
}

/// The manifest goes first: what has none is no checkpoint, whatever else is left of it.
void removeCheckpoint(const fs::path& manifest)
{
    std::error_code ignored;
    fs::remove(manifest, ignored);
    fs::remove_all(fs::path(manifest).replace_extension(), ignored);
}

} // namespace

std::string CheckpointFolder::nameOf(std::int64_t step, int attempt) const
{
    return fmt::format("step-{:08}.{}", step, attempt);
}

std::string CheckpointFolder::shardFile(std::int64_t step, int attempt, int rank) const
{
    return fmt::format("{}/rank-{}.shard", nameOf(step, attempt), rank);
}

std::string CheckpointFolder::pathOf(const std::string& fileInRun) const { return runDir() + "/" + fileInRun; }

std::string CheckpointFolder::manifestPath(std::int64_t step, int attempt) const
{
    return pathOf(nameOf(step, attempt) + kSuffix);
}

Status CheckpointFolder::makeShardFolder(std::int64_t step, int attempt) const
{
    std::error_code error;
    const std::string path = pathOf(nameOf(step, attempt));
    fs::create_directories(path, error);
    if (error)
        return Error("make " + path + ": " + error.message());
    return Done{};
}

Status CheckpointFolder::publish(const Manifest& manifest, int keep) const
{
    // The shards are on storage; their names have to be as well before the manifest's.
    for (const std::string& folder : { pathOf(nameOf(manifest.step, manifest.attempt)), runDir(), dir_ }) {
        if (const Status synced = syncFolder(folder); !synced)
            return synced;
    }
    const std::string path = manifestPath(manifest.step, manifest.attempt);
    if (const Status replaced = replaceFile(path, manifestJson(manifest)); !replaced)
        return replaced;
    removeOld(manifest.step, manifest.attempt, keep);
    return Done{};
}

void CheckpointFolder::removeOld(std::int64_t step, int attempt, int keep) const
{
    for (int earlier = 0; earlier < attempt; ++earlier) {
        std::error_code ignored;
        fs::remove(manifestPath(step, earlier) + kDamaged, ignored);
        removeCheckpoint(manifestPath(step, earlier));
    }
    const std::vector<fs::path> all = manifestsIn(runDir());
    for (std::size_t i = static_cast<std::size_t>(keep); i < all.size(); ++i)
        removeCheckpoint(all[i]);
}

void CheckpointFolder::removeUnfinished(int attempt) const
{
    std::error_code error;
    std::vector<fs::path> unfinished;
    for (fs::directory_iterator at(runDir(), error), end; !error && at != end; at.increment(error)) {
        const fs::path manifest = at->path().string() + kSuffix;
        const int of = orderOf(manifest).second;
        if (at->is_directory() && of >= 0 && of < attempt && !fs::exists(manifest)
            && !fs::exists(manifest.string() + kDamaged))
            unfinished.push_back(at->path());
    }
    for (const fs::path& path : unfinished)
        fs::remove_all(path, error);
}

std::vector<std::string> CheckpointFolder::candidates(bool others) const
{
    std::vector<std::string> paths;
    for (const fs::path& path : manifestsIn(runDir()))
        paths.push_back(path.string());
    if (!others)
        return paths;
    std::vector<std::pair<fs::file_time_type, fs::path>> foreign;
    std::error_code error;
    for (fs::directory_iterator at(dir_, error), end; !error && at != end; at.increment(error)) {
        if (!at->is_directory() || at->path().filename() == run_)
            continue;
        for (const fs::path& path : manifestsIn(at->path())) {
            std::error_code ignored;
            foreign.emplace_back(fs::last_write_time(path, ignored), path);
        }
    }
    std::ranges::sort(foreign, [](const auto& a, const auto& b) {
        return std::tuple(a.first, orderOf(a.second)) > std::tuple(b.first, orderOf(b.second));
    });
    for (const auto& [time, path] : foreign)
        paths.push_back(path.string());
    return paths;
}

void CheckpointFolder::setAside(const std::string& manifestPath)
{
    std::error_code ignored;
    fs::rename(manifestPath, manifestPath + kDamaged, ignored);
}

Status checkShard(const std::string& manifestPath, const Manifest& manifest, std::size_t shard)
{
    const Manifest::Shard& expected = manifest.shards[shard];
    const std::string path = (fs::path(manifestPath).parent_path() / expected.file).string();
    const auto sum = sumOfFile(path);
    if (!sum)
        return sum.error();
    if (sum->bytes != expected.sum.bytes)
        return Error(fmt::format("{}: {} of {} bytes are there", path, sum->bytes, expected.sum.bytes));
    if (*sum != expected.sum)
        return Error(fmt::format("{}: checksum {:08x} instead of {:08x}", path, sum->checksum, expected.sum.checksum));
    return Done{};
}

Result<StateSource> StateSource::locate(
    const std::string& manifestPath, const Manifest& manifest, const std::vector<StateSlice>& slices)
{
    std::map<std::string, std::vector<std::pair<std::string, ShardEntry>>> entries; // by tensor, then by first float
    for (const Manifest::Shard& shard : manifest.shards) {
        const std::string path = (fs::path(manifestPath).parent_path() / shard.file).string();
        auto index = readShardIndex(path);
        if (!index)
            return index.error();
        for (ShardEntry& entry : *index)
            entries[entry.name].emplace_back(path, std::move(entry));
    }
    const auto beginOf = [](const auto& entry) { return entry.second.begin; };
    for (auto& [name, of] : entries)
        std::ranges::sort(of, {}, beginOf);
    StateSource source;
    for (const StateSlice& slice : slices) {
        const auto& of = entries[slice.name];
        const std::size_t end = slice.begin + slice.data.size();
        std::size_t found = slice.begin;
        auto at = std::ranges::upper_bound(of, slice.begin, {}, beginOf);
        if (at != of.begin())
            --at; // it may reach into the slice
        for (; at != of.end() && at->second.begin <= found && found < end; ++at) {
            const ShardEntry& entry = at->second;
            const std::size_t last = std::min<std::size_t>(end, entry.begin + entry.floats);
            if (last <= found)
                continue;
            source.pieces_.push_back({ at->first, entry.offset + (found - entry.begin) * sizeof(float),
                slice.data.subspan(found - slice.begin, last - found) });
            found = last;
        }
        if (found != end)
            return Error(fmt::format(
                "{}: holds {} of {} numbers of {}", manifestPath, found - slice.begin, slice.data.size(), slice.name));
    }
    return source;
}

Status StateSource::read() const
{
    std::map<std::string, std::ifstream> files;
    for (const Piece& piece : pieces_) {
        auto [at, isNew] = files.try_emplace(piece.path);
        if (isNew)
            at->second.open(piece.path, std::ios::binary);
        if (!readFloats(at->second, piece.offset, piece.into))
            return Error(piece.path + ": ends too early");
    }
    return Done{};
}

} // namespace rankscope::backend

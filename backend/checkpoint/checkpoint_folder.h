#pragma once

#include "backend/checkpoint/manifest.h"
#include "backend/checkpoint/state.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rankscope::backend {

/// The checkpoints of a run: DIR/RUN/step-00000020.0.manifest and its shards in DIR/RUN/step-00000020.0/, where 0 is
/// the attempt. A published checkpoint is never written to again.
class CheckpointFolder {
public:
    CheckpointFolder(std::string dir, std::string run)
        : dir_(std::move(dir))
        , run_(std::move(run))
    {
    }

    /// Makes the folder of a checkpoint's shards. Every rank may.
    tracing::Status makeShardFolder(std::int64_t step, int attempt) const;
    std::string shardFile(std::int64_t step, int attempt, int rank) const; ///< as in the manifest
    std::string pathOf(const std::string& fileInRun) const;
    std::string manifestPath(std::int64_t step, int attempt) const;

    /// Publishes the checkpoint, then removes older attempts at its step and all but the newest `keep`.
    tracing::Status publish(const Manifest& manifest, int keep) const;

    /// Manifests' paths, best first: this run's by step and attempt, then, if `others`, those of other runs, the latest
    /// published first.
    std::vector<std::string> candidates(bool others) const;

    /// Puts a checkpoint that turned out damaged aside, so that it neither is tried again nor counts as kept.
    static void setAside(const std::string& manifestPath);

    /// Removes what earlier attempts wrote and never published.
    void removeUnfinished(int attempt) const;

private:
    std::string runDir() const { return dir_ + "/" + run_; }
    std::string nameOf(std::int64_t step, int attempt) const;
    void removeOld(std::int64_t step, int attempt, int keep) const;

    std::string dir_;
    std::string run_;
};

/// Whether shard number `shard` is as the manifest says: size and checksum of all its bytes. The error names the file.
tracing::Status checkShard(const std::string& manifestPath, const Manifest& manifest, std::size_t shard);

/// Where to find each slice's floats in the shards of a checkpoint.
class StateSource {
public:
    /// Looks the slices up; an error names a tensor that the checkpoint does not hold whole.
    static tracing::Result<StateSource> locate(
        const std::string& manifestPath, const Manifest& manifest, const std::vector<StateSlice>& slices);
    tracing::Status read() const;

private:
    struct Piece {
        std::string path;
        std::uint64_t offset = 0;
        std::span<float> into;
    };
    std::vector<Piece> pieces_;
};

} // namespace rankscope::backend

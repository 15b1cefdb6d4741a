#pragma once

#include "backend/checkpoint/durable_file.h"
#include "tracing/model/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rankscope::backend {

/// What makes a checkpoint whole: the list of its shards with their sums. Its file, renamed into place when all shards
/// are on storage, is the publication; a checkpoint without it does not exist.
struct Manifest {
    struct Shard {
        std::string file; ///< in the run's folder: "step-00000020.0/rank-1.shard"
        FileSum sum;
    };

    std::int64_t step = 0; ///< updates done; the data's position is that of the next one
    int attempt = 0;
    std::string identity; ///< of the model and its seeds; only the same one can take the state
    std::string layout; ///< that wrote it: "dp 2 x tp 1 x pp 1"
    std::vector<Shard> shards;
};

std::string manifestJson(const Manifest& manifest);
/// The error says what is wrong with the file.
tracing::Result<Manifest> readManifest(const std::string& path);

} // namespace rankscope::backend

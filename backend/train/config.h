#pragma once

#include "backend/comm/link.h"
#include "backend/comm/mesh.h"
#include "backend/fault/fault.h"
#include "backend/model/gpt_config.h"
#include "tracing/model/result.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rankscope::backend {

/// What a run is asked to be. The keys, their meaning and what is allowed stand in config_keys.cpp.
struct Config {
    GptConfig model{ .layers = 4, .width = 128, .heads = 4, .vocab = 256, .sequence = 128 };
    struct Parallel {
        int dp = 1, tp = 1, pp = 1, ep = 1;
        std::string schedule = "1f1b";
        int chunks = 2; ///< see chunksPerStage()
        int bucketKb = 1024;
        int zero = 0;
        std::string comm = "overlapped";
        bool sequenceParallel = false;
    } parallel;
    struct Batch {
        int microBatch = 4;
        int microBatches = 4;
    } batch;
    struct Optimizer {
        double lr = 1e-3;
        std::vector<double> betas{ 0.9, 0.95 };
        double weightDecay = 0.1;
        double clip = 1;
        int warmup = 20;
        double finalLr = 0.1;
    } optimizer;
    struct Train {
        int steps = 100;
        int seed = 1;
        std::string dtype = "fp32";
        std::string recompute = "none";
        std::string device = "auto";
        int threads = 0;
        int validateEvery = 50;
        int validateBatches = 8;
        double maxSeconds = 0;
        double peakGflops = 0;
    } train;
    struct Data {
        std::string path;
        std::string tokenizer = "byte";
        double holdout = 0.1;
    } data;
    struct Checkpoint {
        std::string dir;
        int every = 0;
        int keep = 2;
        bool async = false;
        bool resume = false;
    } checkpoint;
    /// For the launcher, which reads them from the plan.
    struct Recovery {
        int restarts = 0;
        double hangSeconds = 0;
        bool elastic = false;
    } recovery;
    std::vector<Link> links;
    std::vector<Fault> faults;

    TensorPart tensorPart(int index = 0) const { return { parallel.tp, index, parallel.sequenceParallel }; }
    MeshSizes meshSizes() const { return { parallel.dp, parallel.tp, parallel.pp, parallel.ep }; }
    int chunksPerStage() const { return parallel.schedule == "interleaved" ? parallel.chunks : 1; }
    /// Sequences of one update over all replicas.
    int globalBatch() const { return batch.microBatch * batch.microBatches * parallel.dp; }
    std::int64_t tokensPerStep() const { return static_cast<std::int64_t>(globalBatch()) * model.sequence; }
};

/// Defaults, then the TOML file (empty: none), then `overrides` ("parallel.pp=2", "link.0.gbit_s=1"). A path in the
/// file is relative to the file's folder. The error is one line that names the key and what is allowed.
tracing::Result<Config> loadConfig(const std::string& tomlPath, const std::vector<std::string>& overrides);

/// The key's value as it would be written in TOML, for all keys and links: ("model.layers", "4").
std::vector<std::pair<std::string, std::string>> configValues(const Config& config);

} // namespace rankscope::backend

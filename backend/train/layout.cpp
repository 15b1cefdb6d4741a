#include "backend/train/layout.h"

#include "backend/tensor/device.h"
#include "kernels/bf16.h"
#include "tracing/model/check.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>

namespace rankscope::backend {

namespace {

std::string divisorsOf(int number)
{
    std::string text;
    for (int divisor = 1; divisor <= number; ++divisor) {
        if (number % divisor == 0)
            text += (text.empty() ? "" : ", ") + std::to_string(divisor);
    }
    return text;
}

void checkSequenceParallel(const Config& config, std::vector<std::string>& problems)
{
    const int rows = config.batch.microBatch * config.model.sequence, tp = config.parallel.tp;
    if (!config.parallel.sequenceParallel)
        return;
    if (tp == 1)
        problems.emplace_back(
            "parallel.sequence_parallel = true: goes with split tensors; allowed with parallel.tp = 1 is false");
    else if (rows % tp != 0)
        problems.push_back(fmt::format("parallel.sequence_parallel = true: parallel.tp = {} must divide "
                                       "batch.micro_batch x model.sequence = {} x {}; allowed is false",
            tp, config.batch.microBatch, config.model.sequence));
}

void checkExperts(const Config& config, std::vector<std::string>& problems)
{
    const int experts = config.model.experts, ep = config.parallel.ep, dp = config.parallel.dp;
    if (experts == 0 && ep > 1)
        problems.push_back(fmt::format("parallel.ep = {}: divides experts; allowed with model.experts = 0 is 1", ep));
    else if (experts % ep != 0 && dp % ep == 0)
        problems.push_back(fmt::format("parallel.ep = {}: must divide model.experts = {} and parallel.dp = {}; allowed "
                                       "is {}",
            ep, experts, dp, divisorsOf(std::gcd(experts, dp))));
    if (experts > 0 && config.model.topK > experts)
        problems.push_back(fmt::format(
            "model.top_k = {}: there are model.experts = {}; allowed is 1 to {}", config.model.topK, experts, experts));
}

void checkModel(const Config& config, std::vector<std::string>& problems)
{
    const GptConfig& model = config.model;
    if (const int perStage = model.layers / config.parallel.pp;
        model.layers % config.parallel.pp == 0 && perStage % config.chunksPerStage() != 0)
        problems.push_back(fmt::format("parallel.chunks = {}: must divide the {} layers of a stage; allowed is {}",
            config.parallel.chunks, perStage, divisorsOf(perStage)));
    if (model.layers % config.parallel.pp != 0)
        problems.push_back(fmt::format("parallel.pp = {}: must divide model.layers = {}; allowed is {}",
            config.parallel.pp, model.layers, divisorsOf(model.layers)));
    if (model.width % model.heads != 0)
        problems.push_back(fmt::format("model.heads = {}: must divide model.width = {}; allowed is {}", model.heads,
            model.width, divisorsOf(model.width)));
    if (const int both = std::gcd(model.heads, model.vocab); both % config.parallel.tp != 0)
        problems.push_back(
            fmt::format("parallel.tp = {}: must divide model.heads = {} and model.vocab = {}; allowed is {}",
                config.parallel.tp, model.heads, model.vocab, divisorsOf(both)));
    checkSequenceParallel(config, problems);
    checkExperts(config, problems);
    if (config.train.validateEvery > 0 && config.data.holdout == 0)
        problems.emplace_back("train.validate_every: needs a held-out part; set data.holdout above 0, or this to 0");
}

void checkDevice(const Config& config, std::vector<std::string>& problems)
{
    if (config.train.device == "cuda")
        problems.push_back(fmt::format("train.device = cuda: {}; allowed here is auto, cpu", whyNoGpu()));
}

void checkZero(const Config& config, std::vector<std::string>& problems)
{
    if (config.parallel.zero > 0 && config.parallel.comm == "naive")
        problems.emplace_back(
            "parallel.zero = 1: shares are cut from buckets; allowed with parallel.comm = naive is 0");
}

void checkSchedule(const Config& config, std::vector<std::string>& problems)
{
    if (config.parallel.schedule == "zb-h1" && config.train.recompute != "none")
        problems.push_back(
            fmt::format("train.recompute = {}: weight gradients that wait need what it drops; allowed with "
                        "parallel.schedule = zb-h1 is none",
                config.train.recompute));
    if (config.parallel.schedule != "interleaved")
        return;
    const int pp = config.parallel.pp, microBatches = config.batch.microBatches;
    if (pp == 1)
        problems.emplace_back(
            "parallel.schedule = interleaved: needs stages; allowed with parallel.pp = 1 is 1f1b, gpipe, "
            "zb-h1");
    else if (microBatches % pp != 0)
        problems.push_back(
            fmt::format("batch.micro_batches = {}: must be a multiple of parallel.pp with the interleaved "
                        "schedule; allowed is {}, {}, {} and so on",
                microBatches, pp, 2 * pp, 3 * pp));
}

void checkCheckpoints(const Config& config, std::vector<std::string>& problems)
{
    if (config.checkpoint.dir.empty() && (config.checkpoint.every > 0 || config.checkpoint.resume))
        problems.emplace_back("checkpoint.dir is not set: name a folder, or set checkpoint.every to 0 and "
                              "checkpoint.resume to false");
}

void checkRecovery(const Config& config, std::vector<std::string>& problems)
{
    if (config.recovery.elastic && config.recovery.restarts == 0)
        problems.emplace_back("recovery.elastic = true: needs restarts; set recovery.restarts to 1 or more");
    if (config.recovery.elastic && config.checkpoint.dir.empty())
        problems.emplace_back("recovery.elastic = true: needs checkpoints to go on from; set checkpoint.dir");
}

void checkFaults(const Config& config, std::vector<std::string>& problems)
{
    const int world = config.meshSizes().worldSize();
    for (std::size_t i = 0; i < config.faults.size(); ++i) {
        const Fault& fault = config.faults[i];
        if (fault.kind.empty())
            problems.push_back(fmt::format("fault.{}.kind is not set", i));
        if (fault.rank >= world)
            problems.push_back(fmt::format("fault.{}.rank = {}: allowed is 0 to {}", i, fault.rank, world - 1));
        if (fault.kind == "slow_link" && (fault.to >= world || fault.to == fault.rank))
            problems.push_back(
                fmt::format("fault.{}.to = {}: allowed is another rank, 0 to {}", i, fault.to, world - 1));
        if (fault.kind == "hot_expert" && config.model.experts < 2)
            problems.push_back(
                fmt::format("fault.{}.kind = hot_expert: needs experts; set model.experts to 2 or more", i));
        if (needsMs(fault) && fault.ms == 0)
            problems.push_back(fmt::format("fault.{}.ms is not set: {} needs a time", i, fault.kind));
    }
}

void checkLinks(const Config& config, std::vector<std::string>& problems)
{
    const int world = config.meshSizes().worldSize();
    for (std::size_t i = 0; i < config.links.size(); ++i) {
        const Link& link = config.links[i];
        for (const auto& [key, rank] : { std::pair("from", link.from), std::pair("to", link.to) }) {
            if (rank >= world)
                problems.push_back(fmt::format("link.{}.{} = {}: allowed is 0 to {}", i, key, rank, world - 1));
        }
        if (link.from == link.to)
            problems.push_back(fmt::format("link.{}.to = {}: must differ from link.{}.from", i, link.to, i));
    }
}

void checkDataPath(const Config& config, std::vector<std::string>& problems)
{
    namespace fs = std::filesystem;
    const std::string& path = config.data.path;
    std::error_code code;
    if (path.empty()) {
        problems.emplace_back("data.path is not set: name a UTF-8 text file or a folder of them, plain or .gz");
        return;
    }
    const fs::file_status status = fs::status(path, code);
    const bool folder = fs::is_directory(status);
    const bool readable = folder ? (fs::directory_iterator(path, code), !code) : std::ifstream(path).good();
    if (!fs::exists(status))
        problems.push_back(fmt::format("data.path = {}: no such file or folder", path));
    else if (!readable)
        problems.push_back(fmt::format("data.path = {}: cannot be read; check its permissions", path));
    else if (!folder && fs::file_size(path, code) == 0)
        problems.push_back(fmt::format("data.path = {}: the file is empty", path));
}

} // namespace

std::vector<std::string> problemsOf(const Config& config)
{
    std::vector<std::string> problems;
    if (const auto mesh = Mesh::create(config.meshSizes()); !mesh)
        problems.push_back(mesh.error().message());
    checkModel(config, problems);
    checkZero(config, problems);
    checkSchedule(config, problems);
    checkLinks(config, problems);
    checkFaults(config, problems);
    checkDevice(config, problems);
    checkCheckpoints(config, problems);
    checkRecovery(config, problems);
    checkDataPath(config, problems);
    return problems;
}

std::vector<Smaller> smallerLayouts(const Config& config)
{
    std::vector<Smaller> layouts;
    const int all = config.parallel.dp * config.batch.microBatches;
    for (int dp = config.parallel.dp - 1; dp > 0; --dp) {
        if (all % dp != 0)
            continue;
        Config smaller = config;
        smaller.parallel.dp = dp;
        smaller.batch.microBatches = all / dp;
        forgetMissingRanks(smaller);
        if (problemsOf(smaller).empty())
            layouts.push_back({ smaller.meshSizes().worldSize(), dp, all / dp });
    }
    return layouts;
}

void forgetMissingRanks(Config& config)
{
    const int world = config.meshSizes().worldSize();
    std::erase_if(config.faults,
        [&](const Fault& fault) { return fault.rank >= world || (fault.kind == "slow_link" && fault.to >= world); });
    std::erase_if(config.links, [&](const Link& link) { return link.from >= world || link.to >= world; });
}

Recompute recomputeOf(const Config& config)
{
    if (config.train.recompute == "full")
        return Recompute::Full;
    return config.train.recompute == "selective" ? Recompute::Selective : Recompute::None;
}

Numbers numbersOf(const Config& config) { return config.train.dtype == "bf16" ? Numbers::Bf16 : Numbers::Fp32; }

Schedule scheduleOf(const Config& config)
{
    auto schedule = tracing::scheduleByName(
        config.parallel.schedule, config.parallel.pp, config.batch.microBatches, config.chunksPerStage());
    RS_CHECK(schedule, "a configuration without problems has a schedule");
    return *schedule;
}

std::vector<GptStage::Options::Chunk> chunksOf(const Config& config, const Schedule& schedule, int stage)
{
    std::vector<GptStage::Options::Chunk> chunks;
    for (int chunk = 0; chunk < schedule.chunks; ++chunk)
        chunks.push_back(
            { .slice = sliceOf(config.model, chunk * schedule.stages + stage, schedule.stages * schedule.chunks),
                .slots = std::max(1, peakActivations(schedule, stage, chunk)) });
    return chunks;
}

Layout layOut(const Config& config)
{
    Layout layout{ .mesh = *Mesh::create(config.meshSizes()),
        .schedule = scheduleOf(config),
        .ranks = {},
        .parameters = static_cast<std::int64_t>(parameterCount(config.model, wholeModel(config.model))) };
    for (int rank = 0; rank < config.meshSizes().worldSize(); ++rank) {
        const MeshPlace place = layout.mesh.placeOf(rank);
        RankPlan plan{ .rank = rank, .place = place, .chunks = chunksOf(config, layout.schedule, place.pp) };
        for (const auto& [slice, slots] : plan.chunks) {
            plan.parameters += static_cast<std::int64_t>(
                parameterCount(config.model, slice, config.parallel.tp, config.parallel.ep));
            const int sequences = config.batch.microBatch;
            const TensorPart part = config.tensorPart();
            const Recompute recompute = recomputeOf(config);
            const Numbers numbers = numbersOf(config);
            std::size_t kept = activationBytes(config.model, slice, sequences, part, recompute, numbers);
            if (splitsBackward(layout.schedule))
                kept += deferredBytes(config.model, slice, sequences, part, numbers);
            plan.activationBytes += static_cast<std::int64_t>(kept) * slots
                + static_cast<std::int64_t>(recomputeBytes(config.model, sequences, part, recompute, numbers));
        }
        plan.weightBytes = (numbersOf(config) == Numbers::Bf16 ? 10 : 8) * plan.parameters;
        // To within a few bytes: each bucket of gradients is divided for itself.
        plan.optimizerBytes = 8 * plan.parameters / (config.parallel.zero > 0 ? config.parallel.dp : 1);
        layout.ranks.push_back(std::move(plan));
    }
    return layout;
}

int availableCores()
{
    // A launcher that binds each rank to some cores says how many there are for all.
    if (const char* cores = std::getenv("RANKSCOPE_CORES"); cores && std::atoi(cores) > 0)
        return std::atoi(cores);
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

int threadsOf(const Config& config, int ranksOnNode)
{
    if (config.train.threads > 0)
        return config.train.threads;
    // A launcher that binds ranks to their own cores says so here: then the cores that a rank sees are its own already.
    if (const char* told = std::getenv("OMP_NUM_THREADS")) {
        if (const int threads = std::atoi(told); threads > 0)
            return threads;
    }
    return std::max(1, availableCores() / std::max(1, ranksOnNode));
}

std::vector<std::string> warningsOf(const Config& config)
{
    std::vector<std::string> warnings;
    if (const int ranks = config.meshSizes().worldSize(), cores = availableCores(); ranks > cores)
        warnings.push_back(fmt::format(
            "{} ranks share {} core{}: they wait for each other's turn", ranks, cores, cores == 1 ? "" : "s"));
    if (numbersOf(config) == Numbers::Bf16 && !kernels::cpu::hasBf16())
        warnings.emplace_back(
            "this processor has no bf16 instructions (AVX512_BF16): products take longer than in fp32");
    return warnings;
}

} // namespace rankscope::backend

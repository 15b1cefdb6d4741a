#include "tests/system/training_run.h"

#include "tests/support/sql.h"
#include "tracing/store/trace_reader.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>
#include <unistd.h>

namespace fs = std::filesystem;

namespace rankscope::system {
namespace {

constexpr const char* kText = "/usr/share/doc/jargon-text/jargon.txt.gz";
constexpr const char* kTag = "RANKSCOPE_TEST_RUN";

constexpr const char* kConfiguration = R"([model]
layers = 2
width = 64
heads = 2
sequence = 64
[parallel]
pp = 2
[batch]
micro_batch = 2
micro_batches = 4
[train]
steps = 100000
threads = 1
validate_every = 0
peak_gflops = 10
[data]
path = ")";

} // namespace

std::string program(const std::string& name) { return std::string(RS_BIN_DIR) + "/" + name; }

std::string reasonToSkipTraining()
{
    if (access(kText, R_OK) != 0)
        return std::string("there is no text to train on: ") + kText + " (package jargon-text)";
    if (support::run({ { "mpirun", "--version" } }).exitCode != 0)
        return "there is no mpirun (package openmpi-bin)";
    return {};
}

TrainingRun::TrainingRun(std::vector<std::string> settings, fs::path file)
    : configuration_(directory_.write("small.toml", std::string(kConfiguration) + kText + "\"\n"))
    , file_(file.empty() ? directory_ / "run.rsdb" : std::move(file))
    , settings_(std::move(settings))
    , tag_(directory_.path().filename())
{
}

TrainingRun::~TrainingRun()
{
    for (const auto& process : everyone())
        kill(process.pid, SIGKILL);
}

void TrainingRun::start()
{
    support::Command command;
    command.words = { program("rankscope"), "train", "--config", configuration_.string(), "--out", file_.string() };
    command.words.insert(command.words.end(), settings_.begin(), settings_.end());
    command.environment = { { kTag, tag_ } };
    command.directory = directory_.path();
    launcher_ = std::make_unique<support::ChildProcess>(command);
}

void TrainingRun::startUnrecorded()
{
    support::Command command;
    command.words = { "mpirun", "-n", "2", "--oversubscribe", program("rankscope-train"), configuration_.string() };
    command.words.insert(command.words.end(), settings_.begin(), settings_.end());
    command.environment = { { kTag, tag_ }, { "OMPI_ALLOW_RUN_AS_ROOT", "1" },
        { "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1" }, { "OMP_NUM_THREADS", "1" } };
    command.directory = directory_.path();
    launcher_ = std::make_unique<support::ChildProcess>(command);
}

std::vector<support::ProcessInfo> TrainingRun::everyone() { return support::processesWithEnvironment(kTag, tag_); }

std::map<int, pid_t> TrainingRun::ranks()
{
    std::map<int, pid_t> ranks;
    for (const auto& process : everyone()) {
        const auto rank = support::environmentOf(process.pid, "OMPI_COMM_WORLD_RANK");
        if (rank && process.name == "rankscope-train")
            ranks[std::atoi(rank->c_str())] = process.pid;
    }
    return ranks;
}

std::optional<pid_t> TrainingRun::find(const std::string& name, const std::string& firstWord)
{
    for (const auto& process : everyone()) {
        if (process.name == name && process.words.size() > 1 && (firstWord.empty() || process.words[1] == firstWord))
            return process.pid;
    }
    return std::nullopt;
}

std::optional<pid_t> TrainingRun::collector() { return find("rankscope", "collect"); }

std::optional<pid_t> TrainingRun::mpirun() { return find("mpirun", ""); }

fs::path TrainingRun::session()
{
    support::waitUntil([&] { return !ranks().empty() || !launcher_->isRunning(); }, std::chrono::seconds(30));
    const auto living = ranks();
    if (living.empty())
        return {};
    return support::environmentOf(living.begin()->second, "RANKSCOPE_SESSION").value_or("");
}

bool TrainingRun::waitForStep(std::int64_t step)
{
    const auto arrived = [&] {
        auto reader = tracing::TraceReader::open(file_.string());
        const auto steps = reader ? reader->steps() : reader.error();
        std::set<int> there;
        for (const auto& row : steps ? *steps : std::vector<tracing::Step>()) {
            if (row.step >= step)
                there.insert(row.rank);
        }
        return there.size() == 2;
    };
    return support::waitUntil([&] { return arrived() || !launcher_->isRunning(); }, std::chrono::seconds(60))
        && arrived();
}

FileState readState(const fs::path& file)
{
    FileState state;
    auto reader = tracing::TraceReader::open(file.string());
    if (!reader) {
        state.error = reader.error().message();
        return state;
    }
    const auto run = reader->run();
    const auto lanes = reader->lanes();
    const auto steps = reader->steps();
    const auto losses = reader->losses();
    const auto ends = reader->latestEnds();
    if (!run || !lanes || !steps || !losses || !ends) {
        state.error = "a table could not be read";
        return state;
    }
    state.finished = run->finished;
    for (const auto& step : *steps)
        ++state.steps[step.rank];
    for (const auto& loss : *losses)
        state.losses[loss.kind] += loss.count;
    for (const auto& lane : *lanes) {
        if (const auto end = ends->find(lane.id); end != ends->end()) {
            auto& last = state.lastEndUtcNs[lane.rank];
            last = std::max(last, run->originUtcNs + end->second);
        }
        if (lane.kind != tracing::LaneKind::Host)
            continue;
        const auto ranges = reader->ranges(lane.id, { 0, INT64_MAX });
        if (!ranges) {
            state.error = ranges.error().message();
            return state;
        }
        state.stepRanges[lane.rank] += std::count_if(ranges->begin(), ranges->end(),
            [](const tracing::Range& range) { return range.kind == tracing::RangeKind::Step; });
    }
    state.integrity = support::sql(file, "PRAGMA integrity_check");
    return state;
}

std::uint64_t seedOfThisTest()
{
    const char* given = std::getenv("RS_SEED");
    const std::uint64_t seed = given ? std::strtoull(given, nullptr, 10) : std::random_device()();
    std::printf("RS_SEED=%llu repeats this\n", static_cast<unsigned long long>(seed));
    return seed;
}

} // namespace rankscope::system

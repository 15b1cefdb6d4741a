#include "backend/train/rank_main.h"

#include "backend/comm/link_speed.h"
#include "backend/comm/message_communicator.h"
#include "backend/comm/mpi_transport.h"
#include "backend/train/provenance.h"
#include "backend/train/report_lines.h"
#include "backend/train/stop_signal.h"

#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <utility>

namespace rankscope::backend {

using tracing::Done;
using tracing::Error;
using tracing::Result;
using tracing::Status;

namespace {

struct Prepared {
    Config config;
    Mesh mesh;
    Text text;
    Dataset dataset;
};

/// Counts the launcher's restarts.
int attemptOfRun()
{
    const char* attempt = std::getenv("RANKSCOPE_ATTEMPT");
    return attempt ? std::max(0, std::atoi(attempt)) : 0;
}

/// All that can be refused before ranks compute.
Result<Prepared> prepare(const CommandLine& line, int worldSize)
{
    auto config = loadConfig(line.configPath, line.overrides);
    if (!config)
        return config.error();
    if (attemptOfRun() > 0)
        forgetMissingRanks(*config);
    if (const auto problems = problemsOf(*config); !problems.empty())
        return Error(problems.front());
    if (const MeshSizes sizes = config->meshSizes(); sizes.worldSize() != worldSize)
        return Error(fmt::format(
            "parallel.dp, tp, pp = {}, {}, {}: need {} ranks, but {} run; start mpirun -n {}, or change them", sizes.dp,
            sizes.tp, sizes.pp, sizes.worldSize(), worldSize, sizes.worldSize()));
    auto text = readText(config->data.path);
    if (!text)
        return text.error().in("data.path");
    auto dataset = Dataset::create(
        text->bytes, config->data.holdout, config->model.sequence, static_cast<std::uint64_t>(config->train.seed));
    if (!dataset)
        return dataset.error().in("data.path");
    return Prepared{ .config = *config,
        .mesh = *Mesh::create(config->meshSizes()),
        .text = std::move(*text),
        .dataset = std::move(*dataset) };
}

int ranksOnThisNode(int worldSize)
{
    // Open MPI tells before MPI_Init; without it all ranks are taken to share the node, as with a launcher on one
    // machine.
    const char* local = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    const int ranks = local ? std::atoi(local) : worldSize;
    return ranks > 0 ? ranks : worldSize;
}

void describe(tracing::Recorder& recorder, const MeshPlace& place, const Peak& peak, int threads)
{
    recorder.describeRank({ .dp = place.dp,
        .tp = place.tp,
        .pp = place.pp,
        .ep = place.ep,
        .peakFlops = peak.flops,
        .device = fmt::format("CPU, {} thread{}", threads, threads == 1 ? "" : "s"),
        .threads = threads });
}

void say(const std::string& line)
{
    std::printf("%s\n", line.c_str());
    std::fflush(stdout); // a pipe reads it live
}

class RankRun {
public:
    RankRun(Prepared prepared, Communicator& communicator, ShapedTransport& transport, GroupId world,
        tracing::Recorder& recorder, int threads)
        : prepared_(std::move(prepared))
        , communicator_(communicator)
        , transport_(transport)
        , world_(world)
        , recorder_(recorder)
        , threads_(threads)
    {
    }

    int run()
    {
        Peak total;
        const auto trainer = setUp(total);
        if (!trainer) {
            if (communicator_.rank() == 0)
                std::fprintf(stderr, "rankscope-train: %s\n", trainer.error().message().c_str());
            return kOwnFault;
        }
        const bool speaks = communicator_.rank() == 0;
        if (speaks)
            say(startLine(communicator_.worldSize(), threads_,
                static_cast<std::int64_t>(parameterCount(prepared_.config.model, wholeModel(prepared_.config.model))),
                total.flops, total.source));
        Trainer::Hooks hooks;
        if (speaks) {
            hooks.step = [](const StepReport& report) { say(stepLine(report)); };
            hooks.validation = [](const ValidationReport& report) { say(validationLine(report)); };
        }
        hooks.shouldStop = [this] { return shouldStop(); };
        hooks.shouldSave = [this] { return std::exchange(save_, false); };
        const RunEnd end = (*trainer)->run(hooks);
        if (speaks)
            say(endLine(end));
        communicator_.wait(communicator_.barrier(world_));
        return end == RunEnd::NotANumber ? kNotANumber : kGood;
    }

private:
    Result<std::unique_ptr<Trainer>> setUp(Peak& total)
    {
        const tracing::OpenSpan span
            = recorder_.range({ .name = recorder_.name("start"), .kind = tracing::RangeKind::Start });
        const int rank = communicator_.rank();
        communicator_.wait(communicator_.barrier(world_)); // so that all measure at once
        const Peak peak = peakOf(prepared_.config);
        describe(recorder_, prepared_.mesh.placeOf(rank), peak, threads_);
        writeProvenance(
            recorder_, prepared_.config, rank, prepared_.text, peak, threads_, MpiTransport::libraryVersion());
        for (const MeasuredLink& link : measureLinks(transport_))
            recorder_.link(link.to, link.latency.count(), static_cast<std::int64_t>(link.bytesPerSecond));
        std::vector<double> sum{ peak.flops };
        communicator_.wait(communicator_.allReduce(std::span(sum), world_, "peak"));
        total = { .flops = sum[0], .source = peak.source };
        const RankGroups groups = addGroups(prepared_.mesh, communicator_);
        auto trainer = std::make_unique<Trainer>(
            prepared_.config, prepared_.mesh, communicator_, groups, prepared_.dataset, recorder_, sum[0]);
        if (const Status restored = setUpCheckpoints(*trainer); !restored)
            return restored.error();
        trainer->injectFaults(attemptOfRun(), [this](const Link& link) { shape(link); });
        return trainer;
    }

    /// A link that is not slow any more is as the configuration has it.
    void shape(const Link& link)
    {
        Link shaped = link;
        for (const Link& configured : prepared_.config.links) {
            if (link.gbitPerSecond == 0 && link.delayUs == 0 && configured.from == link.from
                && configured.to == link.to)
                shaped = configured;
        }
        transport_.shape(shaped);
    }

    Status setUpCheckpoints(Trainer& trainer)
    {
        const Config::Checkpoint& wanted = prepared_.config.checkpoint;
        if (wanted.dir.empty())
            return Done{};
        const int attempt = attemptOfRun();
        trainer.keepCheckpoints(nameOfRun(), attempt, [](const CheckpointEvent& event) { say(checkpointLine(event)); });
        if (attempt == 0 && !wanted.resume)
            return Done{};
        const auto steps = trainer.restore();
        if (!steps)
            return steps.error();
        if (communicator_.rank() == 0)
            recorder_.restored(*steps);
        return Done{};
    }

    /// The launcher names the run, so that its attempts find each other's checkpoints; else rank 0 does.
    std::string nameOfRun()
    {
        if (const char* named = std::getenv("RANKSCOPE_RUN"); named && *named)
            return named;
        std::int64_t parts[2] = { std::time(nullptr), getpid() };
        communicator_.wait(
            communicator_.broadcast(std::as_writable_bytes(std::span(parts)), 0, world_, "name of the run"));
        return fmt::format("run-{}-{}", parts[0], parts[1]);
    }

    bool shouldStop()
    {
        while (const auto command = recorder_.pollCommand()) {
            stop_ = stop_ || *command == "stop";
            save_ = save_ || *command == "checkpoint";
        }
        return stop_ || stopWasAsked();
    }

    Prepared prepared_;
    Communicator& communicator_;
    ShapedTransport& transport_;
    GroupId world_;
    tracing::Recorder& recorder_;
    int threads_;
    bool stop_ = false;
    bool save_ = false;
};

} // namespace

int runRank(const CommandLine& line)
{
    auto transport = MpiTransport::start();
    if (!transport) {
        std::fprintf(stderr, "rankscope-train: %s\n", transport.error().message().c_str());
        return kOwnFault;
    }
    const int rank = (*transport)->rank();
    const int worldSize = (*transport)->worldSize();
    auto prepared = prepare(line, worldSize);
    const auto recorder = tracing::Recorder::open(tracing::Recorder::optionsFromEnvironment(rank, worldSize));
    const std::vector<Link> links = prepared ? prepared->config.links : std::vector<Link>();
    auto shapedTransport = std::make_unique<ShapedTransport>(std::move(*transport), links);
    ShapedTransport& shaped = *shapedTransport;
    MessageCommunicator communicator(std::move(shapedTransport), *recorder);
    const GroupId world = communicator.addGroup(Mesh::create({ .dp = worldSize })->worldGroup(rank));
    if (const auto refuses = firstRefusal(communicator, world, prepared.has_value())) {
        if (*refuses == rank)
            std::fprintf(stderr, "rankscope-train: %s\n", prepared.error().message().c_str());
        return kWrongUsage;
    }
    const int threads = threadsOf(prepared->config, ranksOnThisNode(worldSize));
    omp_set_num_threads(threads);
    installStopSignals();
    try {
        return RankRun(std::move(*prepared), communicator, shaped, world, *recorder, threads).run();
    } catch (const std::exception& error) {
        MpiTransport::abortJob(error.what()); // such as no memory: the other ranks would wait for ever
    }
}

} // namespace rankscope::backend

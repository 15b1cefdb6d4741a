#include "tests/tracing/collector/job.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <sys/wait.h>
#include <unistd.h>

namespace rankscope::tracing {

JobFolder::JobFolder()
{
    std::string pattern = (std::filesystem::temp_directory_path() / "rankscope-job-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
    std::filesystem::create_directory(session());
}

JobFolder::~JobFolder() { std::filesystem::remove_all(root_); }

pid_t inChild(const std::function<void()>& work)
{
    const pid_t child = fork();
    if (child == 0) {
        work();
        _exit(0);
    }
    return child;
}

bool joined(pid_t child)
{
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void killed(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
}

void SmallRank::record() const
{
    record([](Recorder&) {});
}

void SmallRank::record(const std::function<void(Recorder&)>& atTheEnd) const
{
    Recorder::Options options;
    options.sessionDir = session;
    options.rank = rank;
    options.worldSize = worldSize;
    options.ringBytes = ringBytes;
    options.attempt = attempt;
    const auto recorder = Recorder::open(options);
    recorder->provenance("seed", "7");
    recorder->describeRank({ .dp = rank, .tp = 0, .pp = 0, .device = "1 core" });
    std::vector<std::int32_t> members(static_cast<std::size_t>(worldSize));
    std::iota(members.begin(), members.end(), 0);
    const auto world = recorder->communicator("dp 0", Dimension::Data, members);
    const auto pipe = recorder->communicator("pp 0", Dimension::Pipeline, { 0, 1 });
    const LocalName matmul = recorder->name("matmul"), loss = recorder->name("loss [nats]");
    for (std::uint32_t i = firstStep; i < firstStep + steps; ++i) {
        auto step = recorder->range({ .kind = RangeKind::Step, .step = i });
        recorder->kernel({ .name = matmul, .pass = Pass::Forward, .flop = 1e6, .bytes = 1e3, .work = i + 1 }).end();
        recorder->kernel({ .name = matmul, .pass = Pass::Backward, .flop = 2e6, .bytes = 1e3, .work = i + 1 }).end();
        if (rank < 2) {
            const auto op = rank == 0 ? CollectiveOp::Send : CollectiveOp::Receive;
            recorder->collective({ .op = op, .communicator = pipe, .sequence = i, .bytes = 64, .peer = 1 - rank })
                .end();
        }
        if (rank == 1)
            recorder->bubble({ .phase = BubblePhase::Steady, .next = Pass::Forward, .stage = 1, .awaitedRank = 0 })
                .end();
        recorder->collective({ .op = CollectiveOp::AllReduce, .communicator = world, .sequence = i, .bytes = 4096 })
            .end();
        recorder->counter(loss, 5.0 - i);
        step.end();
        if (pauseUs > 0)
            usleep(static_cast<useconds_t>(pauseUs));
    }
    atTheEnd(*recorder);
}

Result<CollectSummary> collectAll(const JobFolder& folder)
{
    CollectOptions options;
    options.sessionDir = folder.session();
    options.out = folder.runFile();
    options.runName = "small";
    if (const Status told = announceJobOver(options.sessionDir); !told)
        return told.error();
    return collect(options);
}

std::string valueOf(TraceReader& reader, const std::string& sql)
{
    std::string value = "no row";
    const Status done = reader.sql(sql,
        { [](const auto&) {},
            [&value](const std::vector<std::string>& values, const auto&) {
                value = values.at(0);
                return false;
            } });
    return done ? value : done.error().message();
}

std::string whatIsWrong(const std::string& runFile, int ranks, int steps)
{
    auto reader = TraceReader::open(runFile);
    if (!reader)
        return reader.error().message();
    std::string wrong;
    const auto expect = [&](const std::string& sql, std::int64_t expected) {
        const std::string value = valueOf(*reader, sql);
        if (value != std::to_string(expected))
            wrong += sql + " gives " + value + ", not " + std::to_string(expected) + "; ";
    };
    if (const std::string integrity = valueOf(*reader, "PRAGMA integrity_check"); integrity != "ok")
        wrong += "integrity_check: " + integrity + "; ";
    expect("SELECT count(*) FROM kernel", 2L * ranks * steps);
    expect("SELECT count(DISTINCT lane * 1000000 + work) FROM kernel", static_cast<std::int64_t>(ranks) * steps);
    expect("SELECT count(*) FROM range", static_cast<std::int64_t>(ranks) * steps);
    expect("SELECT count(*) FROM step", static_cast<std::int64_t>(ranks) * steps);
    expect("SELECT count(*) FROM counter", static_cast<std::int64_t>(ranks) * steps);
    expect("SELECT count(*) FROM bubble", ranks > 1 ? steps : 0);
    expect("SELECT count(*) FROM collective", (static_cast<std::int64_t>(ranks) + 2) * steps);
    expect("SELECT count(*) FROM collective_match", 2L * steps);
    expect("SELECT count(*) FROM collective_match WHERE parts_present = parts_expected", 2L * steps);
    expect("SELECT count(*) FROM loss_report", 0);
    return wrong;
}

} // namespace rankscope::tracing

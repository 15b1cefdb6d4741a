#include "tests/support/trace_builder.h"

#include "tests/support/must.h"

#include <algorithm>
#include <numeric>
#include <string>

using namespace rankscope::tracing;

namespace rankscope::support {

TraceBuilder::TraceBuilder(const std::filesystem::path& file, int worldSize)
    : writer_(must(TraceWriter::open(file.string(), TraceWriter::Mode::CreateNew)))
    , worldSize_(worldSize)
{
    run_.name = file.stem().string();
    run_.source = "rankscope";
    run_.worldSize = worldSize;
    must(writer_.setRun(run_));
    for (int rank = 0; rank < worldSize; ++rank) {
        RankInfo info;
        info.rank = rank;
        info.node = "node0";
        info.stage = rank;
        describe(info);
    }
}

TraceBuilder& TraceBuilder::describe(const RankInfo& rank)
{
    must(writer_.putRank(rank));
    return *this;
}

TraceBuilder& TraceBuilder::link(const LinkSpeed& link)
{
    must(writer_.putLink(link));
    return *this;
}

TraceBuilder& TraceBuilder::startedAt(std::int64_t utcNs)
{
    run_.originUtcNs = utcNs;
    must(writer_.setRun(run_));
    return *this;
}

TraceBuilder& TraceBuilder::provenance(std::string_view key, std::string_view value)
{
    must(writer_.setProvenance(key, value));
    return *this;
}

LaneId TraceBuilder::lane(int rank, LaneKind kind, Dimension dimension, std::string_view name, std::string_view unit)
{
    return must(writer_.lane({ {}, rank, kind, dimension, std::string(name), std::string(unit) }));
}

TraceBuilder& TraceBuilder::kernel(int rank, Window when, std::string_view name, const Work& work)
{
    KernelSignature signature;
    signature.name = must(writer_.name(name));
    signature.pass = work.pass;
    signature.dtype = DataType::Float32;
    signature.flop = work.flop;
    signature.bytes = work.bytes;
    Kernel row;
    row.beginNs = when.beginNs;
    row.endNs = when.endNs;
    row.signature = must(writer_.signature(signature));
    row.cpuNs = work.cpuNs;
    must(writer_.append(lane(rank, LaneKind::Compute, Dimension::None, "compute"), one(row)));
    return *this;
}

TraceBuilder& TraceBuilder::bubble(int rank, Window when, BubblePhase phase, std::optional<int> awaitedRank)
{
    Bubble row;
    row.beginNs = when.beginNs;
    row.endNs = when.endNs;
    row.phase = phase;
    row.stage = rank;
    row.awaitedRank = awaitedRank;
    row.pass = Pass::Forward;
    must(writer_.append(lane(rank, LaneKind::Compute, Dimension::None, "compute"), one(row)));
    return *this;
}

TraceBuilder& TraceBuilder::range(int rank, Window when, RangeKind kind, std::optional<std::int64_t> step, int depth,
    std::optional<std::int64_t> cpuNs)
{
    Range row;
    row.beginNs = when.beginNs;
    row.endNs = when.endNs;
    row.name = must(writer_.name(toString(kind)));
    row.kind = kind;
    row.depth = depth;
    row.step = step;
    row.cpuNs = cpuNs;
    must(writer_.append(lane(rank, LaneKind::Host, Dimension::None, "host"), one(row)));
    return *this;
}

TraceBuilder& TraceBuilder::step(int rank, std::int64_t step, Window when, int attempt)
{
    must(writer_.putStep({ rank, step, attempt, when.beginNs, when.endNs }));
    return range(rank, when, RangeKind::Step, step);
}

TraceBuilder& TraceBuilder::failure(const AttemptFailure& failure)
{
    must(writer_.putFailure(failure));
    return *this;
}

TraceBuilder& TraceBuilder::alert(const LiveAlert& alert)
{
    must(writer_.addAlert(alert));
    return *this;
}

TraceBuilder& TraceBuilder::counter(
    int rank, std::string_view name, std::string_view unit, std::int64_t timeNs, double value)
{
    const CounterSample row{ {}, timeNs, value };
    must(writer_.append(lane(rank, LaneKind::Counter, Dimension::None, name, unit), one(row)));
    return *this;
}

TraceBuilder& TraceBuilder::loss(std::string_view kind, std::int64_t count, std::string_view detail)
{
    must(writer_.addLoss({ std::string(kind), count, std::string(detail) }));
    return *this;
}

TraceBuilder& TraceBuilder::collective(
    CollectiveOp op, Dimension dimension, std::int64_t bytes, const std::vector<Window>& parts)
{
    Communicator group;
    group.name = std::string(toString(dimension));
    group.dimension = dimension;
    group.members.resize(static_cast<std::size_t>(worldSize_));
    std::iota(group.members.begin(), group.members.end(), 0);

    CollectiveMatch match;
    match.id = must(writer_.nextInstance());
    match.communicator = must(writer_.communicator(group));
    match.op = op;
    match.sequence = sequence_++;
    match.partsPresent = static_cast<std::int32_t>(parts.size());
    match.partsExpected = worldSize_;
    match.firstEntryNs = parts.front().beginNs;
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
        match.firstEntryNs = std::min(match.firstEntryNs, parts[rank].beginNs);
        match.lastExitNs = std::max(match.lastExitNs, parts[rank].endNs);
        if (rank == 0 || parts[rank].beginNs > match.lastEntryNs) {
            match.lastEntryNs = parts[rank].beginNs;
            if (parts.size() > 1)
                match.lateRank = static_cast<std::int32_t>(rank);
        }

        CollectivePart row;
        row.beginNs = parts[rank].beginNs;
        row.endNs = parts[rank].endNs;
        row.name = must(writer_.name(toString(op)));
        row.op = op;
        row.instance = match.id;
        row.bytes = bytes;
        must(writer_.append(lane(static_cast<int>(rank), LaneKind::Communication, dimension,
                                std::string(toString(op)) + " " + group.name),
            one(row)));
    }
    must(writer_.putMatch(match));
    return *this;
}

void TraceBuilder::finish() { must(writer_.finish()); }

} // namespace rankscope::support

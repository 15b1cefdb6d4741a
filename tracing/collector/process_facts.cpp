#include "tracing/collector/process_facts.h"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace rankscope::tracing {

namespace {

std::string readFrom(const std::string& path, std::int64_t offset)
{
    std::string bytes;
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0)
        return bytes;
    char chunk[16384];
    for (;;) {
        const ssize_t got = pread(file, chunk, sizeof chunk, offset + static_cast<std::int64_t>(bytes.size()));
        if (got <= 0)
            break;
        bytes.append(chunk, static_cast<std::size_t>(got));
    }
    close(file);
    return bytes;
}

} // namespace

Status countUpTo(TraceWriter& writer, const std::string& counter, std::uint64_t total, const Loss& each)
{
    auto counted = writer.ringPosition(counter);
    if (!counted)
        return counted.error();
    if (total <= *counted)
        return Done{};
    Loss loss = each;
    loss.count = static_cast<std::int64_t>(total - *counted);
    if (const Status added = writer.addLoss(loss); !added)
        return added;
    return writer.setRingPosition(counter, total);
}

Status ProcessFacts::update(TraceWriter& writer, const RunClock& clock, std::int32_t rank, GatheredFacts& run)
{
    if (isCorrupt_)
        return Done{};
    const std::string bytes = readFrom(path_, offset_);
    const FactsRead read = decodeFacts(bytes);
    for (const Fact& fact : read.facts) {
        if (const Status taken = take(fact, writer, clock, rank, run); !taken)
            return taken;
    }
    offset_ += static_cast<std::int64_t>(read.consumed);
    isCorrupt_ = read.corrupt;
    const std::string file = path_.substr(path_.rfind('/') + 1);
    if (read.corrupt)
        return countUpTo(writer, file + "#corrupt", 1,
            { "damaged names", 1, "rank " + std::to_string(rank) + ": the end of its file of names cannot be read" });
    if (read.unknown > 0)
        return countUpTo(writer, file + "#unknown", static_cast<std::uint64_t>(read.unknown),
            { "unknown fact", 1, "rank " + std::to_string(rank) + ": written by a newer recorder" });
    return Done{};
}

Status ProcessFacts::putRank(TraceWriter& writer, GatheredFacts& run, std::int32_t rank)
{
    RankInfo& info = run.ranks[rank];
    info.rank = rank;
    return writer.putRank(info);
}

Status ProcessFacts::take(
    const Fact& fact, TraceWriter& writer, const RunClock& clock, std::int32_t rank, GatheredFacts& run)
{
    if (const auto* name = std::get_if<NameFact>(&fact)) {
        auto id = writer.name(name->text);
        if (!id)
            return id.error();
        names_[name->id] = { *id, name->text };
    } else if (const auto* group = std::get_if<CommunicatorFact>(&fact)) {
        auto id = writer.communicator({ {}, group->name, group->dimension, group->members });
        if (!id)
            return id.error();
        groups_[group->id] = { *id, group->dimension, static_cast<std::int32_t>(group->members.size()) };
    } else if (const auto* provenance = std::get_if<ProvenanceFact>(&fact)) {
        const std::string own = rank == 0 ? "" : "rank." + std::to_string(rank) + ".";
        return writer.setProvenance(own + provenance->key, provenance->value);
    } else if (const auto* process = std::get_if<ProcessFact>(&fact)) {
        run.run.worldSize = std::max(run.run.worldSize, process->worldSize);
        run.run.coresPerNode = std::max(run.run.coresPerNode.value_or(0), process->cores);
        RankInfo& info = run.ranks[rank];
        info.node = process->node;
        info.processId = process->processId;
        if (const Status put = writer.setRun(run.run); !put)
            return put;
        return putRank(writer, run, rank);
    } else if (const auto* place = std::get_if<RankFact>(&fact)) {
        RankInfo& info = run.ranks[rank];
        info.device = place->device;
        info.dp = place->dp;
        info.tp = place->tp;
        info.ep = place->ep;
        info.stage = place->pp;
        info.peakFlops = place->peakFlops;
        return putRank(writer, run, rank);
    }
    return takeEvent(fact, writer, clock, rank);
}

/// What befell the run: times that cannot be of it count as unknown.
Status ProcessFacts::takeEvent(const Fact& fact, TraceWriter& writer, const RunClock& clock, std::int32_t rank)
{
    if (const auto* attempt = std::get_if<AttemptFact>(&fact)) {
        attempt_ = attempt->attempt;
        return writer.putFailure({ attempt_ - 1, std::nullopt, "", {}, clock.toNs(attempt->startTicks), std::nullopt });
    }
    if (const auto* restored = std::get_if<RestoredFact>(&fact)) {
        if (attempt_ == 0)
            return Done{}; // another run's state, no failure
        return writer.putFailure({ attempt_ - 1, std::nullopt, "", {}, std::nullopt, restored->step });
    }
    if (const auto* failure = std::get_if<FailureFact>(&fact))
        return writer.putFailure({ failure->attempt, clock.toNs(failure->detectedTicks), failure->reason,
            failure->ranks, std::nullopt, std::nullopt });
    if (const auto* link = std::get_if<LinkFact>(&fact))
        return writer.putLink({ rank, link->to, link->latencyNs, link->bytesPerSecond });
    if (const auto* checkpoint = std::get_if<CheckpointFact>(&fact)) {
        const auto beginNs = clock.toNs(checkpoint->beginTicks), endNs = clock.toNs(checkpoint->endTicks);
        if (beginNs && endNs)
            return writer.putCheckpoint({ rank, checkpoint->step, *beginNs, *endNs, checkpoint->blockedNs,
                checkpoint->bytes, checkpoint->path });
    }
    if (const auto* alert = std::get_if<AlertFact>(&fact))
        return writer.addAlert({ alert->title, alert->text, alert->ranks, { alert->beginNs, alert->endNs } });
    if (const auto* fault = std::get_if<FaultFact>(&fact)) {
        const auto beginNs = clock.toNs(fault->beginTicks);
        const auto endNs = fault->endTicks == 0 ? std::nullopt : clock.toNs(fault->endTicks);
        if (beginNs)
            return writer.addFault(
                { fault->kind, fault->rank, fault->step, *beginNs, endNs.value_or(INT64_MAX), fault->detail });
    }
    return Done{};
}

const ProcessFacts::Name* ProcessFacts::name(std::uint32_t local) const
{
    const auto at = names_.find(local);
    return at == names_.end() ? nullptr : &at->second;
}

const ProcessFacts::Group* ProcessFacts::group(std::uint32_t local) const
{
    const auto at = groups_.find(local);
    return at == groups_.end() ? nullptr : &at->second;
}

} // namespace rankscope::tracing

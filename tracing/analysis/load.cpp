#include "tracing/analysis/load.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace rankscope::tracing {

namespace {

/// Moves a result's value to `target`; on failure keeps the first error.
class Loader {
public:
    template <typename T> void operator()(T& target, Result<T> result)
    {
        if (result)
            target = std::move(*result);
        else
            keep(result.error());
    }

    template <typename Row> void append(std::vector<Row>& target, Result<std::vector<Row>> result)
    {
        if (result)
            target.insert(target.end(), result->begin(), result->end());
        else
            keep(result.error());
    }

    template <typename T> Result<T> finish(T value)
    {
        if (error_)
            return *error_;
        return value;
    }

private:
    void keep(const Error& error)
    {
        if (!error_)
            error_ = error;
    }

    std::optional<Error> error_;
};

template <typename Row> void sortByBegin(std::vector<Row>& rows)
{
    std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.beginNs < b.beginNs; });
}

} // namespace

Result<RunFacts> loadFacts(TraceReader& reader)
{
    auto facts = loadFactsWithoutSteps(reader);
    auto steps = reader.steps();
    if (!facts || !steps)
        return facts ? steps.error() : facts.error();
    facts->steps = std::move(*steps);
    return facts;
}

Result<RunFacts> loadFactsWithoutSteps(TraceReader& reader)
{
    RunFacts facts;
    Loader load;
    load(facts.run, reader.run());
    load(facts.ranks, reader.ranks());
    load(facts.lanes, reader.lanes());
    load(facts.communicators, reader.communicators());
    load(facts.names, reader.names());
    load(facts.signatures, reader.signatures());
    load(facts.checkpoints, reader.checkpoints());
    load(facts.failures, reader.failures());
    load(facts.alerts, reader.alerts());
    load(facts.links, reader.links());
    load(facts.losses, reader.losses());
    load(facts.provenance, reader.provenance());
    load(facts.window, reader.window());
    std::sort(
        facts.ranks.begin(), facts.ranks.end(), [](const RankInfo& a, const RankInfo& b) { return a.rank < b.rank; });
    return load.finish(std::move(facts));
}

Result<Communication> loadCommunication(TraceReader& reader, const RunFacts& facts, Window window)
{
    Loader load;
    Communication communication;
    load(communication.matches, reader.matches(window));
    std::vector<RankPart> parts;
    for (const Lane& lane : facts.lanes) {
        if (lane.kind != LaneKind::Communication)
            continue;
        std::vector<CollectivePart> rows;
        load(rows, reader.collectives(lane.id, window));
        for (const CollectivePart& row : rows)
            parts.push_back({ lane.rank, lane.dimension, row });
    }
    communication.parts = splitParts(parts, communication.matches);
    sortByBegin(communication.parts);
    return load.finish(std::move(communication));
}

Result<RankRows> loadRank(TraceReader& reader, const RunFacts& facts, const Communication& communication,
    std::int32_t rank, Window window, HostRows hostRows)
{
    Loader load;
    RankRows rows;
    rows.rank = rank;
    for (const Lane& lane : facts.lanes) {
        if (lane.rank != rank || lane.kind == LaneKind::Counter)
            continue;
        if (lane.kind == LaneKind::Compute) {
            load.append(rows.kernels, reader.kernels(lane.id, window));
            if (hostRows == HostRows::With)
                load.append(rows.bubbles, reader.bubbles(lane.id, window));
        }
        if (lane.kind == LaneKind::Copy || lane.kind == LaneKind::Compute)
            load.append(rows.copies, reader.copies(lane.id, window));
        if (hostRows == HostRows::With)
            load.append(rows.ranges, reader.ranges(lane.id, window));
    }
    std::copy_if(communication.parts.begin(), communication.parts.end(), std::back_inserter(rows.parts),
        [&](const SplitPart& part) { return part.rank == rank; });
    sortByBegin(rows.kernels);
    sortByBegin(rows.bubbles);
    sortByBegin(rows.copies);
    sortByBegin(rows.ranges);
    return load.finish(std::move(rows));
}

Result<std::vector<Series>> loadSeries(TraceReader& reader, const RunFacts& facts)
{
    Loader load;
    std::vector<Series> series;
    for (const Lane& lane : facts.lanes) {
        if (lane.kind != LaneKind::Counter)
            continue;
        Series next{ lane.name, lane.unit, lane.rank, {} };
        load(next.samples, reader.counters(lane.id, facts.window));
        series.push_back(std::move(next));
    }
    return load.finish(std::move(series));
}

} // namespace rankscope::tracing

#include "app/session/run_snapshot.h"

#include <algorithm>

namespace rankscope::app {

std::int64_t RunSnapshot::clockErrorNs() const
{
    std::int64_t worst = 0;
    for (const auto& rank : ranks)
        worst = std::max(worst, rank.clockErrorNs);
    return worst;
}

const tracing::Lane* RunSnapshot::lane(tracing::LaneId id) const
{
    const auto found
        = std::find_if(lanes.begin(), lanes.end(), [id](const tracing::Lane& each) { return each.id == id; });
    return found == lanes.end() ? nullptr : &*found;
}

namespace {

/// Moves a table into its place, or remembers the first failure.
template <typename T> void take(tracing::Result<T> table, T& place, std::optional<tracing::Error>& failure)
{
    if (table)
        place = std::move(*table);
    else if (!failure)
        failure = table.error();
}

} // namespace

tracing::Result<RunSnapshot> readSnapshot(tracing::TraceReader& reader)
{
    RunSnapshot snapshot;
    std::optional<tracing::Error> failure;
    snapshot.path = reader.path();
    take(reader.dataVersion(), snapshot.dataVersion, failure);
    take(reader.run(), snapshot.run, failure);
    take(reader.ranks(), snapshot.ranks, failure);
    take(reader.lanes(), snapshot.lanes, failure);
    take(reader.losses(), snapshot.losses, failure);
    take(reader.alerts(), snapshot.alerts, failure);
    take(reader.provenance(), snapshot.provenance, failure);
    take(reader.window(), snapshot.window, failure);
    if (failure)
        return *failure;
    return snapshot;
}

} // namespace rankscope::app

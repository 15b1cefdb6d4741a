#pragma once

#include "tracing/store/trace_writer.h"

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace rankscope::support {

/// Writes a run file span by span, for tests that need a small run with known times. Names, lanes and communicators are
/// made as they are first used: lanes "compute", "communication" with its dimension, "host", and one a counter. Any
/// failure aborts the test with the store's words. Without finish() the file reads as a run that still records.
class TraceBuilder {
public:
    /// `worldSize` ranks are entered, rank r with stage r; describe() overwrites one.
    TraceBuilder(const std::filesystem::path& file, int worldSize);

    TraceBuilder& describe(const tracing::RankInfo& rank);
    TraceBuilder& link(const tracing::LinkSpeed& link);
    TraceBuilder& startedAt(std::int64_t utcNs); ///< what 0 of the run's clock is; 1970 unless said
    TraceBuilder& provenance(std::string_view key, std::string_view value);

    struct Work {
        std::optional<std::int64_t> flop{};
        std::optional<std::int64_t> bytes{};
        std::optional<std::int64_t> cpuNs{};
        tracing::Pass pass = tracing::Pass::Forward;
    };
    TraceBuilder& kernel(int rank, tracing::Window when, std::string_view name, const Work& work);
    TraceBuilder& kernel(int rank, tracing::Window when, std::string_view name = "matmul")
    {
        return kernel(rank, when, name, {});
    }
    TraceBuilder& bubble(
        int rank, tracing::Window when, tracing::BubblePhase phase, std::optional<int> awaitedRank = {});
    TraceBuilder& range(int rank, tracing::Window when, tracing::RangeKind kind, std::optional<std::int64_t> step = {},
        int depth = 0, std::optional<std::int64_t> cpuNs = {});
    /// Enters the step and its range.
    TraceBuilder& step(int rank, std::int64_t step, tracing::Window when, int attempt = 0);
    TraceBuilder& failure(const tracing::AttemptFailure& failure);
    TraceBuilder& alert(const tracing::LiveAlert& alert);
    TraceBuilder& counter(int rank, std::string_view name, std::string_view unit, std::int64_t timeNs, double value);
    TraceBuilder& loss(std::string_view kind, std::int64_t count, std::string_view detail);

    /// One collective over all ranks: `parts[r]` is rank r's stretch. Its match is entered with it.
    TraceBuilder& collective(tracing::CollectiveOp op, tracing::Dimension dimension, std::int64_t bytes,
        const std::vector<tracing::Window>& parts);

    void finish();

private:
    tracing::LaneId lane(int rank, tracing::LaneKind kind, tracing::Dimension dimension, std::string_view name,
        std::string_view unit = {});

    tracing::TraceWriter writer_;
    tracing::RunInfo run_;
    int worldSize_;
    std::int64_t sequence_ = 0;
};

} // namespace rankscope::support

#pragma once

#include "tracing/store/trace_writer.h"

#include <array>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace rankscope::support {

/// A made-up run of two pipeline stages times two replicas (ranks 0 and 1 are the first stage) with random times. It is
/// played step by step; its rows go into the file as a collector writes them: each rank's in the order of their ends
/// and somewhat behind it, a step after the rows in it, a match again with each part that comes.
class GrowingRun {
public:
    struct Traits {
        unsigned seed = 1;
        std::int64_t clockErrorNs = 0; ///< of each rank, which is then a node of its own
        int clipEvery = 1; ///< steps between two collectives of all ranks; 0: never any
        int outerEvery = 0; ///< steps between two averagings that go on under the next steps; 0: never any
        int losesEvery = 0; ///< of so many messages one loses its receiving part; 0: none does
        int lateEvery = 0; ///< of so many messages one is received four steps later; 0: none is
    };
    GrowingRun(const std::filesystem::path& file, const Traits& traits);

    void play(std::int64_t steps);
    /// The last step's attempt ends; the next one goes on after `restored`.
    void fail(std::int64_t restored);
    void publishCheckpoint(); ///< of the last step
    void write(std::size_t records); ///< in one transaction; all where there are fewer
    std::size_t left() const { return records_.size(); } ///< played, not written
    void finish(); ///< writes what is left

private:
    using Put = std::function<void(tracing::TraceWriter&)>;
    struct Record {
        std::int64_t atNs = 0;
        Put put;
    };
    struct Entry {
        int rank = 0;
        std::int64_t beginNs = 0;
        std::int64_t endNs = 0;
        bool receives = false;
    };

    std::int64_t between(std::int64_t least, std::int64_t most);
    void kernel(int rank, tracing::Pass pass, int microBatch, std::int64_t lengthNs);
    void range(int rank, tracing::RangeKind kind, std::int64_t beginNs, std::int64_t endNs, bool hasCpuTime);
    void message(int from, int to);
    void collective(tracing::CommunicatorId group, tracing::Dimension dimension, const std::vector<int>& ranks);
    void average();
    tracing::CollectiveMatch newMatch(
        tracing::CollectiveOp op, tracing::CommunicatorId group, std::int32_t expected, int source);
    void part(const tracing::CollectiveMatch& match, tracing::Dimension dimension, const Entry& entry,
        std::optional<int> peer);
    void playStep(std::int64_t step);
    void forward(int microBatch);
    void backward(int microBatch);
    void compute(int rank, tracing::Pass pass, int microBatch);
    void queue(int rank, std::int64_t endNs, Put put);
    void endStep(int rank, std::int64_t step, std::int64_t beginNs);
    tracing::LaneId lane(int rank, tracing::LaneKind kind, tracing::Dimension dimension);

    static constexpr int kRanks = 4;
    tracing::TraceWriter writer_;
    tracing::RunInfo run_;
    Traits traits_;
    std::mt19937_64 random_;
    std::array<std::int64_t, kRanks> now_{};
    std::int64_t next_ = 0; ///< step
    std::int32_t attempt_ = 0;
    std::int64_t messages_ = 0;
    std::vector<std::pair<std::int64_t, std::function<void()>>> later_; ///< by step
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> sequences_;
    std::int64_t instances_ = 0;
    std::map<std::int64_t, tracing::CollectiveMatch> matches_; ///< as far as written
    std::array<std::vector<Record>, kRanks> open_; ///< by end
    std::array<std::int64_t, kRanks> arrived_{};
    std::deque<Record> records_; ///< by arrival
    std::vector<tracing::CommunicatorId> replicas_; ///< groups of a stage
    tracing::CommunicatorId world_{};
    tracing::CommunicatorId pipeline_{};
};

} // namespace rankscope::support

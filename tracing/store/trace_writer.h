#pragma once

#include "tracing/model/result.h"
#include "tracing/model/rows.h"
#include "tracing/model/run.h"
#include "tracing/store/tile.h"

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

/// Writes one run file (SQLite, WAL while it grows). Rows of a lane are appended in runs, ordered by begin inside a
/// run; the block table remembers where each run lies, so that a window query needs no index. Not thread safe: one
/// writer, one thread. Everything between begin() and commit() appears to readers at once; a call outside is a
/// transaction of its own. After an error (a full disk) the writer stays unusable and gives the same error again; what
/// was committed stays readable. A writer destroyed without commit() rolls back, without finish() leaves a file that
/// reads as unfinished.
class TraceWriter {
public:
    /// CreateNew refuses an existing file; Replace removes one, if it is a run file or empty; Resume goes on with one,
    /// or creates it.
    enum class Mode { CreateNew, Replace, Resume };
    static Result<TraceWriter> open(const std::string& path, Mode mode);
    TraceWriter(TraceWriter&&) noexcept;
    TraceWriter& operator=(TraceWriter&&) noexcept;
    ~TraceWriter();

    Status begin();
    Status commit();

    Status setRun(const RunInfo& run);
    Status putRank(const RankInfo& rank); ///< inserts or replaces
    Status setProvenance(std::string_view key, std::string_view value);

    // Dictionaries: the same content gives the same id, also after Resume. Name 0 is "", signature 0 names nothing.
    Result<NameId> name(std::string_view text);
    Result<SignatureId> signature(const KernelSignature& signature);
    Result<LaneId> lane(const Lane& lane); ///< id ignored; same rank, kind, dimension and name: same lane
    Result<CommunicatorId> communicator(const Communicator& communicator); ///< same name and members: same communicator

    // The rows' own lane is ignored. An end before its begin is stored as a row of no length.
    Status append(LaneId lane, std::span<const Kernel> rows);
    Status append(LaneId lane, std::span<const Copy> rows);
    Status append(LaneId lane, std::span<const HostCall> rows);
    Status append(LaneId lane, std::span<const CollectivePart> rows);
    Status append(LaneId lane, std::span<const Bubble> rows);
    Status append(LaneId lane, std::span<const Range> rows);
    Status append(LaneId lane, std::span<const CounterSample> rows);
    Status putMatch(const CollectiveMatch& match); ///< inserts or replaces by id
    Result<InstanceId> nextInstance(); ///< one more than the greatest id in the file; 1 in a new one
    Result<std::vector<CollectiveMatch>>
    incompleteMatches(); ///< fewer parts present than expected, to go on after Resume
    Status putStep(const Step& step); ///< inserts or replaces by (rank, step, attempt)
    Status addLoss(const Loss& loss); ///< adds to the count of the same kind and detail
    Status putTiles(std::span<const Tile> tiles); ///< inserts or replaces by (lane, level, index)
    /// All cells of one of the file's rows, 32 neighbours of a lane and level, ordered by index: replaces the row,
    /// which is cheaper than to find out what else it holds. What TileBuilder hands out.
    Status putTileRow(std::span<const Tile> cells);
    /// Cells of a window, ordered by index, with all that was put, also what is not committed yet.
    Result<std::vector<Tile>> tiles(LaneId lane, int level, Window window);

    Status putCheckpoint(const CheckpointPart& part); ///< inserts or replaces by (rank, step)
    /// By attempt: what is absent here stays as it was; the latest reformedNs counts.
    Status putFailure(const AttemptFailure& failure);
    Status putLink(const LinkSpeed& link); ///< inserts or replaces by (from, to)
    /// Into the table of findings; the same one again changes nothing.
    Status addAlert(const LiveAlert& alert);
    /// The truth about an injected fault; analyses cannot read it. The same one again tells its end.
    Status addFault(const FaultInjection& fault);

    /// The collector's place in a ring, in the same transaction as the rows it led to.
    Status setRingPosition(std::string_view ring, std::uint64_t position);
    Result<std::uint64_t> ringPosition(std::string_view ring); ///< 0 for a ring never seen

    /// Last act: marks the run finished, folds the WAL in and leaves a single file that can be mailed. Waits up to
    /// `patience` for readers to let go; if one does not, the file stays in WAL mode with an empty WAL, which is as
    /// good but for the two files beside it while somebody reads.
    /// The writer lets go of the file and is of no further use.
    Status finish(std::chrono::milliseconds patience = std::chrono::seconds(5));

private:
    struct Impl;
    explicit TraceWriter(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace rankscope::tracing

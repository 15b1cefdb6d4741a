#pragma once

#include "tracing/model/result.h"
#include "tracing/model/rows.h"
#include "tracing/model/run.h"
#include "tracing/store/tile.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

/// Reads a run file while it grows or afterwards. Read only: finished files on read-only media open with immutable=1.
/// Each call is one short transaction. One reader a thread. Rows of other tables than asked are never loaded.
/// A row touches a window if they share a moment; a row of no length counts where it stands.
/// The injected faults are out of reach, also for sql(): see fault_truth.h.
class TraceReader {
public:
    /// Refuses what is no run file, and a schema newer than this program's, by name.
    static Result<TraceReader> open(const std::string& path);
    TraceReader(TraceReader&&) noexcept;
    TraceReader& operator=(TraceReader&&) noexcept;
    ~TraceReader();

    const std::string& path() const;

    /// Lets go of the file until the next call. A reader that is asked from time to time does so by itself when the run
    /// finishes, so that the writer can make one file of it; this is for readers that rest.
    void release();

    Result<RunInfo> run();
    Result<std::vector<RankInfo>> ranks();
    Result<std::vector<Lane>> lanes(); ///< by rank, then kind
    Result<std::vector<Communicator>> communicators();
    Result<std::vector<std::string>> names(); ///< index = raw(NameId)
    Result<std::vector<KernelSignature>> signatures(); ///< index = raw(SignatureId)
    Result<std::vector<Step>> steps(); ///< by rank, then begin
    /// A rank's steps of one attempt after that number, in order, `most` at most: costs what it gives.
    Result<std::vector<Step>> steps(std::int32_t rank, std::int32_t attempt, std::int64_t after, std::int64_t most);
    Result<std::vector<CheckpointPart>> checkpoints(); ///< by step, then rank
    Result<std::vector<AttemptFailure>> failures(); ///< by attempt
    Result<std::vector<LiveAlert>> alerts(); ///< as they were raised
    Result<std::vector<LinkSpeed>> links(); ///< by sender, then receiver
    Result<std::vector<Loss>> losses();
    Result<std::map<std::string, std::string>> provenance();
    Result<std::map<std::string, std::int64_t>> counts(); ///< rows a table
    Result<std::map<LaneId, std::int64_t>> rowsOfLanes(); ///< spans or samples a lane; lanes without rows: absent
    Result<Window> window(); ///< first begin to last end over all lanes; empty run: {0, 0}
    Result<std::map<LaneId, std::int64_t>>
    latestEnds(); ///< greatest end a lane, where its rows reach to; lanes without rows: absent

    // Rows of a lane that touch the window, ordered by begin.
    Result<std::vector<Kernel>> kernels(LaneId lane, Window window);
    Result<std::vector<Copy>> copies(LaneId lane, Window window);
    Result<std::vector<HostCall>> hostCalls(LaneId lane, Window window);
    Result<std::vector<CollectivePart>> collectives(LaneId lane, Window window);
    Result<std::vector<Bubble>> bubbles(LaneId lane, Window window);
    Result<std::vector<Range>> ranges(LaneId lane, Window window);
    /// Ranges that say more than a name, of the whole run: all kinds but annotations, which may be a hundred times as
    /// many.
    Result<std::vector<Range>> markedRanges(LaneId lane);
    Result<std::vector<CounterSample>> counters(LaneId lane, Window window);
    Result<std::vector<CollectiveMatch>> matches(Window window);
    Result<std::vector<CollectivePart>> partsOf(InstanceId instance); ///< all ranks' parts
    Result<std::vector<Tile>> tiles(LaneId lane, int level, Window window); ///< only cells that hold something

    /// Hands out the lane's rows that touch the window in order of begin, some thousands a call, until visitor returns
    /// false. Memory is that of a few chunks, plus the rows that overlap with a row written long after them (a step's
    /// range). Many short transactions: rows never change, so the writer's checkpoints are not held up. Row: Kernel,
    /// Copy, HostCall, CollectivePart, Bubble, Range or CounterSample.
    template <typename Row>
    Status visit(LaneId lane, Window window, const std::function<bool(std::span<const Row>)>& visitor);

    /// A call of the host that may have launched something.
    struct Launch {
        std::int64_t correlation = 0;
        std::int64_t beginNs = 0;
    };
    /// Hands out the begins of a lane's calls that touch the window and have a correlation, in the order of their rows,
    /// some hundred a call; for those who need no more of them: it costs half of visit<HostCall>().
    Status visitLaunches(LaneId lane, Window window, const std::function<void(std::span<const Launch>)>& visitor);

    /// Rises when a writer has committed; cheap enough for every frame.
    Result<std::int64_t> dataVersion();

    /// Runs a person's SELECT and hands out rows as text, a blob as SQL writes it (X'00FF'); anything that writes is
    /// refused. `types` has each value's own type: SQLite's columns have none.
    enum class SqlType { Null, Integer, Real, Text, Blob };
    struct SqlSink {
        std::function<void(const std::vector<std::string>& columns)> header;
        std::function<bool(const std::vector<std::string>& values, const std::vector<SqlType>& types)>
            row; ///< false: stop
    };
    Status sql(const std::string& text, const SqlSink& sink);
    /// Whether the last sql() failed because of the file (damaged, gone), not because of the query.
    bool sqlFailedOnFile() const;

    /// Results of an analysis, kept in the file under its name, its version and a key of its parameters. keep() does
    /// nothing where the file cannot be written: losing a cached result costs time only.
    std::optional<std::string> kept(std::string_view analysis, int version, std::string_view key);
    void keep(std::string_view analysis, int version, std::string_view key, std::string_view result);

private:
    struct Impl;
    explicit TraceReader(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace rankscope::tracing

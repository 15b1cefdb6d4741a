#pragma once

#include "tracing/collector/record_sink.h"
#include "tracing/collector/ring_reader.h"
#include "tracing/collector/run_clock.h"
#include "tracing/store/trace_reader.h"
#include "tracing/store/trace_writer.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rankscope::tracing {

/// One session being written into one run file: everything between finding a ring and committing its rows. Knows
/// nothing of waiting, signals and other files.
class RunSession {
public:
    struct Settings {
        std::string sessionDir;
        std::string file; ///< where SQLite writes
        std::string runName;
        bool resume = false; ///< go on with the file
    };
    static Result<std::unique_ptr<RunSession>> open(const Settings& settings, const RunClock& clock);

    /// A ring that is no ring file is counted among the losses and left alone.
    Status addRing(const std::string& path);

    struct PassResult {
        std::uint64_t records = 0;
        double fill = 0; ///< greatest share of a ring's room that the pass found taken
        bool isAnyNearlyFull = false; ///< come back at once
        bool isMoreLeft = false; ///< of writers that are gone
    };
    /// Takes what is in the rings, one transaction. Nothing is committed where nothing came.
    Result<PassResult> pass();

    /// The next pass asks the system which writers live, however recently it was asked.
    void checkWritersNow() { nextLivenessNs_ = 0; }
    std::size_t writersLeft() const; ///< rings whose writers live, or that are not drained yet
    std::uint64_t taken() const { return sink_.taken(); }
    std::uint64_t dropped() const;
    std::size_t ringCount() const { return rings_.size(); }

    /// No further record will come. Closes the file in a form that can be mailed.
    Status finish();
    /// Files of the session that are in the run file now.
    std::vector<std::string> sessionFiles() const;

private:
    struct Ring {
        explicit Ring(RingReader opened)
            : reader(std::move(opened))
        {
        }
        RingReader reader;
        RingContext context;
        ProcessFacts* facts = nullptr;
        std::uint64_t droppedCounted = 0;
        bool isGone = false; ///< its writer has left; what is in it now is all
        bool isDone = false; ///< drained to the end, and its open spans told
    };

    RunSession(const Settings& settings, TraceWriter writer, const RunClock& clock);
    Status start();
    Status resume();
    Status rememberSpans(TraceReader& reader);
    Status restoreMatches(TraceReader& reader);
    Result<std::vector<Tile>> loadTiles(LaneId lane, int level, Window window);
    Result<TraceReader*> reader();

    void lookForTheDead();
    bool hasNews() const;
    Result<PassResult> takeAll();
    Status takeFrom(Ring& ring, PassResult& result);
    Status endOf(Ring& ring);
    Status tellOpenSpans(Ring& ring);
    Status storeGivenUp();

    Settings settings_;
    TraceWriter writer_;
    std::optional<TraceReader> reader_;
    RunClock clock_;
    GatheredFacts facts_;
    TileBuilder tiles_;
    Matcher matcher_;
    RecordSink sink_;
    ProcessFacts job_; ///< what the job's supervisor says
    std::map<std::string, std::unique_ptr<ProcessFacts>> processes_; ///< by recorder key and directory
    std::vector<std::unique_ptr<Ring>> rings_;
    std::vector<std::string> badRings_;
    std::vector<Record> buffer_;
    std::int64_t nextLivenessNs_ = 0;
    std::int64_t givenUpStored_ = 0;
};

} // namespace rankscope::tracing

#include "tracing/store/schema.h"

#include "tracing/model/kinds.h"

#include <string_view>

namespace rankscope::tracing {

namespace {

constexpr std::string_view kTables
    = R"sql(-- A Rankscope run file. Times are integer nanoseconds on the run's clock, 0 = run.origin_utc_ns; intervals are half
-- open, [begin_ns, begin_ns + duration_ns). NULL = unknown or not applicable. Numbers of op, pass, ... are words in the views.

CREATE TABLE run ( -- one row
    id INTEGER PRIMARY KEY CHECK (id = 1),
    name TEXT NOT NULL,
    source TEXT NOT NULL, -- who recorded it: rankscope, pytorch, nsight, ...
    origin_utc_ns INTEGER NOT NULL, -- UTC of time 0, ns since 1970
    world_size INTEGER NOT NULL, -- ranks of the job, also those without a recording
    cores_per_node INTEGER, -- cores that the ranks of a node may use
    finished INTEGER NOT NULL -- 0 while recording and after a crash
);
CREATE TABLE rank ( -- one process of the job and its place in the mesh
    rank INTEGER PRIMARY KEY, -- 0 .. world_size - 1
    node TEXT NOT NULL, -- host name
    device TEXT NOT NULL, -- what computes, as the vendor names it
    stage INTEGER, -- place in the pipeline
    dp INTEGER, -- data-parallel coordinate
    tp INTEGER, -- tensor-parallel coordinate
    ep INTEGER, -- expert-parallel coordinate
    clock_error_ns INTEGER NOT NULL, -- bound of |this rank's clock - the run's clock|
    peak_flops REAL, -- declared peak, FLOP/s
    process_id INTEGER NOT NULL
);
CREATE TABLE lane ( -- a row that is drawn: one stream, thread or counter of a rank
    id INTEGER PRIMARY KEY,
    rank INTEGER NOT NULL,
    kind INTEGER NOT NULL, -- see view lanes
    dimension INTEGER NOT NULL, -- process group of a communication lane; see view communicators
    name TEXT NOT NULL,
    unit TEXT NOT NULL, -- counters only, else ''
    begin_ns INTEGER, -- least begin of its rows
    end_ns INTEGER -- greatest end of its rows
);
CREATE TABLE name ( -- interned texts; 0 is ''
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL
);
CREATE TABLE signature ( -- what all launches of one kernel share; 0 names nothing
    id INTEGER PRIMARY KEY,
    name INTEGER NOT NULL, -- name.id
    pass INTEGER NOT NULL, -- see view kernels
    dtype INTEGER NOT NULL, -- see view kernels
    threads INTEGER NOT NULL, -- CPU threads that worked on it
    flop INTEGER, -- arithmetic of one launch (model FLOPs, not instructions)
    bytes INTEGER, -- memory traffic of one launch at least
    redundant_flop INTEGER -- of flop what other ranks count, as they do the same
);
CREATE TABLE communicator ( -- a process group
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    dimension INTEGER NOT NULL, -- see view communicators
    members TEXT NOT NULL -- world ranks with commas between; '' = unknown
);

CREATE TABLE kernel ( -- a piece of arithmetic on a device or on the threads of a CPU
    id INTEGER PRIMARY KEY,
    lane INTEGER NOT NULL, -- lane.id
    begin_ns INTEGER NOT NULL,
    duration_ns INTEGER NOT NULL,
    signature INTEGER NOT NULL, -- signature.id
    cpu_ns INTEGER, -- CPU time of all its threads; long CPU kernels only
    micro_batch INTEGER,
    work INTEGER, -- tokens or samples
    correlation INTEGER -- host_call.correlation of the call that launched it
);
CREATE TABLE copy ( -- memory moved between host and device or within one
    id INTEGER PRIMARY KEY,
    lane INTEGER NOT NULL, -- lane.id
    begin_ns INTEGER NOT NULL,
    duration_ns INTEGER NOT NULL,
    name INTEGER NOT NULL, -- name.id
    bytes INTEGER,
    correlation INTEGER -- host_call.correlation
);
CREATE TABLE host_call ( -- a call into a runtime or driver, on the thread that made it
    id INTEGER PRIMARY KEY,
    lane INTEGER NOT NULL, -- lane.id
    begin_ns INTEGER NOT NULL,
    duration_ns INTEGER NOT NULL,
    name INTEGER NOT NULL, -- name.id
    correlation INTEGER -- ties it to what it launched
);
CREATE TABLE collective ( -- one rank's part of a collective or of a message between two ranks
    id INTEGER PRIMARY KEY,
    lane INTEGER NOT NULL, -- lane.id
    begin_ns INTEGER NOT NULL, -- entered
    duration_ns INTEGER NOT NULL, -- until left
    name INTEGER NOT NULL, -- name.id
    op INTEGER NOT NULL, -- see view collectives
    instance INTEGER NOT NULL, -- collective_match.id, the same for all parts
    bytes INTEGER NOT NULL, -- whole buffer (all-gather and reduce-scatter: the one that spans all ranks)
    peer INTEGER, -- message: the other world rank; rooted collective: the root
    micro_batch INTEGER,
    cpu_ns INTEGER, -- CPU time of the thread inside
    launch_group INTEGER, -- parts of a rank that one group launch started share a number
    correlation INTEGER -- host_call.correlation
);
CREATE TABLE collective_match ( -- one collective over all its ranks
    id INTEGER PRIMARY KEY,
    communicator INTEGER NOT NULL, -- communicator.id
    op INTEGER NOT NULL, -- as in collective; send for messages
    sequence INTEGER NOT NULL, -- counts per communicator and op; messages: per source and destination
    parts_present INTEGER NOT NULL, -- ranks whose part is in the file
    parts_expected INTEGER NOT NULL,
    first_entry_ns INTEGER NOT NULL,
    last_entry_ns INTEGER NOT NULL, -- before it nobody can have finished
    last_exit_ns INTEGER NOT NULL,
    late_rank INTEGER -- rank of the last entry, once two parts are known
);
CREATE TABLE bubble ( -- the pipeline's schedule makes a rank wait for a peer
    id INTEGER PRIMARY KEY,
    lane INTEGER NOT NULL, -- lane.id of the compute lane
    begin_ns INTEGER NOT NULL,
    duration_ns INTEGER NOT NULL,
    phase INTEGER NOT NULL, -- see view bubbles
    stage INTEGER NOT NULL, -- that waits
    micro_batch INTEGER, -- it waits for
    awaited_rank INTEGER, -- world rank it waits for
    pass INTEGER NOT NULL -- what runs next
);
CREATE TABLE range ( -- a named stretch of a thread; ranges nest
    id INTEGER PRIMARY KEY,
    lane INTEGER NOT NULL, -- lane.id
    begin_ns INTEGER NOT NULL,
    duration_ns INTEGER NOT NULL,
    name INTEGER NOT NULL, -- name.id
    kind INTEGER NOT NULL, -- see view ranges
    depth INTEGER NOT NULL, -- nesting on its lane, 0 outermost
    step INTEGER,
    micro_batch INTEGER,
    cpu_ns INTEGER -- CPU time of its thread
);
CREATE TABLE counter ( -- a sample; the lane says of what, and its unit
    id INTEGER PRIMARY KEY,
    lane INTEGER NOT NULL, -- lane.id
    time_ns INTEGER NOT NULL,
    value REAL -- in lane.unit; NULL = not a number
);
CREATE TABLE step ( -- one rank's stretch of one optimiser update
    rank INTEGER NOT NULL,
    step INTEGER NOT NULL,
    attempt INTEGER NOT NULL, -- counts restarts
    begin_ns INTEGER NOT NULL,
    duration_ns INTEGER NOT NULL,
    PRIMARY KEY (rank, step, attempt)
) WITHOUT ROWID;
CREATE TABLE checkpoint ( -- one rank's part of a saved state
    rank INTEGER NOT NULL,
    step INTEGER NOT NULL,
    begin_ns INTEGER NOT NULL,
    duration_ns INTEGER NOT NULL, -- until it was safe on storage
    blocked_ns INTEGER NOT NULL, -- of it the training stood still
    bytes INTEGER, -- written
    path TEXT NOT NULL,
    PRIMARY KEY (rank, step)
) WITHOUT ROWID;
CREATE TABLE link ( -- how fast messages get from rank to rank, measured at the start of the run
    sender INTEGER NOT NULL,
    receiver INTEGER NOT NULL,
    latency_ns INTEGER NOT NULL, -- of a message without content
    bytes_per_second INTEGER NOT NULL,
    PRIMARY KEY (sender, receiver)
) WITHOUT ROWID;
CREATE TABLE failure ( -- an attempt of the run that ended before its time, and how the next one went on
    attempt INTEGER PRIMARY KEY, -- as in step.attempt
    detected_ns INTEGER, -- by whoever supervises the job
    reason TEXT, -- a sentence
    ranks TEXT, -- that failed, with commas between; '' = unknown
    reformed_ns INTEGER, -- the last rank of the next attempt was there
    restored_step INTEGER -- updates that the next attempt began with
);

CREATE TABLE finding ( -- what an analysis has to say
    id INTEGER PRIMARY KEY,
    severity TEXT NOT NULL, -- alert: of a detector, while the run went on
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    ranks TEXT NOT NULL, -- world ranks with commas between
    begin_ns INTEGER NOT NULL, -- where to look
    end_ns INTEGER NOT NULL,
    cost_share REAL -- of the capacity, 0 to 1
);
CREATE TABLE ledger ( -- kept results of analyses; safe to delete
    analysis TEXT NOT NULL, -- which
    key TEXT NOT NULL, -- its parameters
    version INTEGER NOT NULL, -- of the analysis; another one's result is not used
    result BLOB NOT NULL, -- in the analysis's own format
    PRIMARY KEY (analysis, key)
);
CREATE TABLE loss_report ( -- what was dropped, repaired or not understood
    kind TEXT NOT NULL, -- stable word: ring full, unterminated file, ...
    detail TEXT NOT NULL, -- a sentence
    count INTEGER NOT NULL,
    PRIMARY KEY (kind, detail)
);
CREATE TABLE provenance ( -- where the run comes from: configuration, code version, hashes, seeds, hardware, libraries
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE fault_injection ( -- the truth about injected faults; Rankscope's analyses are not allowed to read it
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    rank INTEGER,
    step INTEGER, -- first step concerned
    begin_ns INTEGER NOT NULL,
    end_ns INTEGER NOT NULL,
    detail TEXT NOT NULL -- settings as key=value
);

CREATE TABLE tile ( -- level of detail for drawing: cells of a lane, 32 neighbours a row
    id INTEGER PRIMARY KEY,
    lane INTEGER NOT NULL, -- lane.id
    level INTEGER NOT NULL, -- a cell lasts 1048576 ns * 4^level
    first_cell INTEGER NOT NULL, -- cell i covers [i, i + 1) times that; a multiple of 32
    cells BLOB NOT NULL, -- encoding: tracing/store/tile_codec.h
    UNIQUE (lane, level, first_cell)
);
CREATE TABLE block ( -- where the rows of a lane lie: window queries need no index on the tables above
    lane INTEGER NOT NULL, -- lane.id; 0 for collective_match
    kind INTEGER NOT NULL, -- 1 kernel, 2 copy, 3 host_call, 4 collective, 5 bubble, 6 range, 7 counter, 8 collective_match
    first_row INTEGER NOT NULL, -- id of the first row; rows of other lanes may lie between
    last_row INTEGER NOT NULL,
    rows INTEGER NOT NULL, -- of this lane
    begin_ns INTEGER NOT NULL, -- least begin
    end_ns INTEGER NOT NULL, -- greatest end
    PRIMARY KEY (lane, kind, first_row)
) WITHOUT ROWID;
CREATE TABLE ring_position ( -- how far the collector has drained each ring, in the same transaction as its rows
    ring TEXT PRIMARY KEY,
    position INTEGER NOT NULL -- records
) WITHOUT ROWID;
)sql";

constexpr std::string_view kFirstRows = R"sql(
INSERT INTO name VALUES (0, '');
INSERT INTO signature VALUES (0, 0, 0, 0, 1, NULL, NULL, NULL);
)sql";

/// CASE column WHEN 0 THEN 'word' ... END, for the enum's values 0 .. last.
template <typename Enum> std::string word(std::string_view column, Enum last)
{
    std::string text = "CASE " + std::string(column);
    for (int i = 0; i <= static_cast<int>(last); ++i)
        text.append(" WHEN ")
            .append(std::to_string(i))
            .append(" THEN '")
            .append(toString(static_cast<Enum>(i)))
            .append("'");
    return text + " END";
}

/// A view over an event table with rank, end and words instead of numbers.
std::string eventView(
    std::string_view view, std::string_view table, std::string_view columns, std::string_view joins = {})
{
    std::string text = "CREATE VIEW ";
    text.append(view).append(" AS SELECT e.id, l.rank, l.name AS lane, ").append(columns);
    text.append(" FROM ").append(table).append(" e JOIN lane l ON l.id = e.lane ").append(joins).append(";\n");
    return text;
}

std::string views()
{
    const std::string span = "e.begin_ns, e.begin_ns + e.duration_ns AS end_ns, e.duration_ns, ";
    const std::string named = "LEFT JOIN name n ON n.id = e.name";
    std::string text = "\n-- For people: words, names, ranks and ends.\n";
    text += "CREATE VIEW losses AS SELECT kind, count, detail FROM loss_report;\n";
    text += "CREATE VIEW lanes AS SELECT id, rank, " + word("kind", LaneKind::Counter) + " AS kind, "
        + word("dimension", Dimension::World) + " AS dimension, name, unit, begin_ns, end_ns FROM lane;\n";
    text += "CREATE VIEW communicators AS SELECT id, name, " + word("dimension", Dimension::World)
        + " AS dimension, members FROM communicator;\n";
    text += eventView("kernels", "kernel",
        span + "n.text AS name, " + word("s.pass", Pass::Optimizer) + " AS pass, " + word("s.dtype", DataType::Float8)
            + " AS dtype, s.threads, s.flop, s.bytes, e.cpu_ns, e.micro_batch, e.work, e.correlation",
        "LEFT JOIN signature s ON s.id = e.signature LEFT JOIN name n ON n.id = s.name");
    text += eventView("copies", "copy", span + "n.text AS name, e.bytes, e.correlation", named);
    text += eventView("host_calls", "host_call", span + "n.text AS name, e.correlation", named);
    text += eventView("collectives", "collective",
        span + "n.text AS name, " + word("e.op", CollectiveOp::Receive) + " AS op, "
            + word("l.dimension", Dimension::World)
            + " AS dimension, e.instance, e.bytes, e.peer, e.micro_batch, e.cpu_ns, e.launch_group, e.correlation",
        named);
    text += eventView("bubbles", "bubble",
        span + word("e.phase", BubblePhase::Drain) + " AS phase, e.stage, e.micro_batch, e.awaited_rank, "
            + word("e.pass", Pass::Optimizer) + " AS pass");
    text += eventView("ranges", "range",
        span + "n.text AS name, " + word("e.kind", RangeKind::Recovery)
            + " AS kind, e.depth, e.step, e.micro_batch, e.cpu_ns",
        named);
    text += eventView("counters", "counter", "e.time_ns, e.value, l.unit");
    text += "CREATE VIEW steps AS SELECT rank, step, attempt, begin_ns, begin_ns + duration_ns AS end_ns, duration_ns "
            "FROM step;\n";
    text += "CREATE VIEW matches AS SELECT m.id, c.name AS communicator, " + word("c.dimension", Dimension::World)
        + " AS dimension, " + word("m.op", CollectiveOp::Receive)
        + " AS op, m.sequence, m.parts_present, m.parts_expected, m.first_entry_ns, m.last_entry_ns, m.last_exit_ns, "
          "m.late_rank"
          " FROM collective_match m LEFT JOIN communicator c ON c.id = m.communicator;\n";
    return text;
}

} // namespace

std::string schemaText() { return std::string(kTables) + views(); }

std::string firstRowsText() { return std::string(kFirstRows); }

} // namespace rankscope::tracing

#include "tracing/store/trace_reader.h"

#include "tracing/store/reader_impl.h"
#include "tracing/store/run_file.h"
#include "tracing/store/tile_codec.h"
#include "tracing/store/writer_dictionaries.h"

#include <algorithm>
#include <array>

namespace rankscope::tracing {

namespace {

/// How long a reader keeps out of the way of a writer that finishes; a little longer than the writer's patience.
constexpr auto kSettleTime = std::chrono::seconds(6);

/// Tables with rows of lanes, in the order of BlockKind.
constexpr std::array<const char*, 7> kEventTables{ "kernel", "copy", "host_call", "collective", "bubble", "range",
    "counter" };
constexpr std::array<const char*, 13> kOtherTables{ "rank", "lane", "name", "signature", "communicator",
    "collective_match", "step", "checkpoint", "finding", "ledger", "loss_report", "provenance", "tile" };

Step stepOf(const Statement& row)
{
    return { row.integer32(0), row.integer(1), row.integer32(2), row.integer(3), row.integer(4) };
}

} // namespace

Status TraceReader::Impl::connect()
{
    auto opened = openForReading(path);
    if (!opened)
        return opened.error();
    database = std::move(*opened);
    guard(database, permission);
    seenVersion = 0;
    ++version;
    if (settlesUntil) {
        auto mode = database.text("PRAGMA journal_mode");
        if (mode && *mode != "wal")
            settlesUntil.reset();
    }
    return Done{};
}

void TraceReader::Impl::disconnect()
{
    statements.clear();
    database = Database();
}

Result<Statement*> TraceReader::Impl::statement(std::string_view sql) { return prepareOnce(database, statements, sql); }

Status TraceReader::Impl::beginSnapshot()
{
    if (!database) {
        if (auto connected = connect(); !connected)
            return error(connected.error());
    }
    auto begin = statement("BEGIN");
    if (!begin)
        return error(begin.error());
    if (auto begun = (*begin)->run(); !begun)
        return error(begun.error());
    if (auto noted = noteVersion(); !noted) {
        endSnapshot();
        return error(noted.error());
    }
    return Done{};
}

void TraceReader::Impl::endSnapshot()
{
    // A query that failed half way, or was not read to its end, would keep the transaction open.
    for (auto& [sql, query] : statements) {
        if (query)
            query.reset();
    }
    if (database.inTransaction())
        static_cast<void>(database.execute("COMMIT"));
    if (settlesUntil && std::chrono::steady_clock::now() < *settlesUntil)
        disconnect();
}

/// Sees whether a writer has committed since the last snapshot. First read of a snapshot: it fixes what is seen.
Status TraceReader::Impl::noteVersion()
{
    auto query = statement("PRAGMA data_version");
    if (!query)
        return query.error();
    auto row = (*query)->reset().step();
    if (!row)
        return row.error();
    const std::int64_t seen = (*query)->integer(0);
    (*query)->reset();
    if (seen == seenVersion)
        return Done{};
    if (seenVersion != 0)
        ++version;
    seenVersion = seen;
    return noteFinish();
}

/// A connection to a file in WAL mode holds a lock even at rest, and the switch to a single file needs all of them
/// gone.
Status TraceReader::Impl::noteFinish()
{
    if (settlesUntil)
        return Done{};
    auto finished = database.integer("SELECT finished FROM run");
    if (!finished)
        return finished.error();
    if (*finished == 0)
        return Done{};
    auto mode = database.text("PRAGMA journal_mode");
    if (!mode)
        return mode.error();
    if (*mode == "wal")
        settlesUntil = std::chrono::steady_clock::now() + kSettleTime;
    return Done{};
}

Result<const BlockIndex*> TraceReader::Impl::index(LaneId lane, BlockKind kind)
{
    CachedIndex& cached = indexes[{ raw(lane), kind }];
    if (cached.version == version)
        return &cached.index;
    auto query = statement("SELECT first_row, last_row, rows, begin_ns, end_ns FROM block"
                           " WHERE lane = ? AND kind = ? AND first_row >= ? ORDER BY first_row");
    if (!query)
        return query.error();
    // Only the last block of a lane grows; those of matches may all have changed.
    if (kind == BlockKind::Match)
        cached.index.clear();
    const std::int64_t from = cached.index.empty() ? INT64_MIN : cached.index.blocks().back().firstRow;
    (*query)->reset().bind(1, raw(lane)).bind(2, static_cast<std::int32_t>(kind)).bind(3, from);
    auto blocks = restOf<Block>(**query, [&](const Statement& row) {
        return Block{ raw(lane), kind, row.integer(0), row.integer(1), row.integer(2), row.integer(3), row.integer(4) };
    });
    if (!blocks)
        return blocks.error();
    for (const Block& block : *blocks)
        cached.index.put(block);
    cached.version = version;
    return &cached.index;
}

TraceReader::TraceReader(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl))
{
}
TraceReader::TraceReader(TraceReader&&) noexcept = default;
TraceReader& TraceReader::operator=(TraceReader&&) noexcept = default;
TraceReader::~TraceReader() = default;

Result<TraceReader> TraceReader::open(const std::string& path)
{
    auto impl = std::make_unique<Impl>(path);
    if (auto connected = impl->connect(); !connected)
        return connected.error().in("open " + path);
    return TraceReader(std::move(impl));
}

const std::string& TraceReader::path() const { return impl_->path; }

void TraceReader::release() { impl_->disconnect(); }

Result<RunInfo> TraceReader::run()
{
    auto runs = impl_->list<RunInfo>(
        "SELECT name, source, origin_utc_ns, world_size, cores_per_node, finished FROM run", [](const Statement& row) {
            return RunInfo{ row.text(0), row.text(1), row.integer(2), row.integer32(3), row.optionalInteger32(4),
                row.integer(5) != 0 };
        });
    if (!runs)
        return runs.error();
    return runs->empty() ? RunInfo{} : runs->front();
}

Result<std::vector<RankInfo>> TraceReader::ranks()
{
    return impl_->list<RankInfo>(
        "SELECT rank, node, device, stage, dp, tp, ep, clock_error_ns, peak_flops, process_id FROM rank ORDER BY rank",
        [](const Statement& row) {
            RankInfo rank;
            rank.rank = row.integer32(0);
            rank.node = row.text(1);
            rank.device = row.text(2);
            rank.stage = row.optionalInteger32(3);
            rank.dp = row.optionalInteger32(4);
            rank.tp = row.optionalInteger32(5);
            rank.ep = row.optionalInteger32(6);
            rank.clockErrorNs = row.integer(7);
            if (!row.isNull(8))
                rank.peakFlops = row.real(8);
            rank.processId = row.integer32(9);
            return rank;
        });
}

Result<std::vector<Lane>> TraceReader::lanes()
{
    return impl_->list<Lane>(
        "SELECT id, rank, kind, dimension, name, unit FROM lane ORDER BY rank, kind, id", [](const Statement& row) {
            return Lane{ LaneId{ row.integer32(0) }, row.integer32(1), row.word(2, LaneKind::Counter),
                row.word(3, Dimension::World), row.text(4), row.text(5) };
        });
}

Result<std::vector<Communicator>> TraceReader::communicators()
{
    return impl_->list<Communicator>(
        "SELECT id, name, dimension, members FROM communicator ORDER BY id", [](const Statement& row) {
            return Communicator{ CommunicatorId{ row.integer32(0) }, row.text(1), row.word(2, Dimension::World),
                splitRanks(row.text(3)) };
        });
}

namespace {

/// Ids count from 0 without a gap, so a place in the list is an id.
template <typename T>
Result<std::vector<T>> withoutIds(Result<std::vector<std::pair<std::int64_t, T>>> rows, const char* table)
{
    if (!rows)
        return rows.error();
    std::vector<T> values;
    for (auto& [id, value] : *rows) {
        if (id != static_cast<std::int64_t>(values.size()))
            return Error(
                std::string("table ") + table + " lacks id " + std::to_string(values.size()) + "; the file is damaged");
        values.push_back(std::move(value));
    }
    return values;
}

} // namespace

Result<std::vector<std::string>> TraceReader::names()
{
    using Named = std::pair<std::int64_t, std::string>;
    return withoutIds<std::string>(impl_->list<Named>("SELECT id, text FROM name ORDER BY id",
                                       [](const Statement& row) { return Named(row.integer(0), row.text(1)); }),
        "name");
}

Result<std::vector<KernelSignature>> TraceReader::signatures()
{
    using Signed = std::pair<std::int64_t, KernelSignature>;
    return withoutIds<KernelSignature>(
        impl_->list<Signed>(
            "SELECT id, name, pass, dtype, threads, flop, bytes, redundant_flop FROM signature ORDER BY id",
            [](const Statement& row) {
                return Signed(row.integer(0),
                    { NameId{ row.integer32(1) }, row.word(2, Pass::Optimizer), row.word(3, DataType::Float8),
                        row.integer32(4), row.optionalInteger(5), row.optionalInteger(6), row.optionalInteger(7) });
            }),
        "signature");
}

Result<std::vector<Step>> TraceReader::steps()
{
    return impl_->list<Step>(
        "SELECT rank, step, attempt, begin_ns, begin_ns + duration_ns FROM step ORDER BY rank, begin_ns", stepOf);
}

Result<std::vector<Step>> TraceReader::steps(
    std::int32_t rank, std::int32_t attempt, std::int64_t after, std::int64_t most)
{
    return impl_->inSnapshot<std::vector<Step>>([&]() -> Result<std::vector<Step>> {
        auto query = impl_->statement("SELECT rank, step, attempt, begin_ns, begin_ns + duration_ns FROM step"
                                      " WHERE rank = ? AND step > ? AND attempt = ? ORDER BY step LIMIT ?");
        if (!query)
            return query.error();
        (*query)->reset().bind(1, rank).bind(2, after).bind(3, attempt).bind(4, most);
        return Impl::restOf<Step>(**query, stepOf);
    });
}

Result<std::vector<CheckpointPart>> TraceReader::checkpoints()
{
    return impl_->list<CheckpointPart>("SELECT rank, step, begin_ns, begin_ns + duration_ns, blocked_ns, bytes, path"
                                       " FROM checkpoint ORDER BY step, rank",
        [](const Statement& row) {
            return CheckpointPart{ row.integer32(0), row.integer(1), row.integer(2), row.integer(3), row.integer(4),
                row.optionalInteger(5), row.text(6) };
        });
}

Result<std::vector<AttemptFailure>> TraceReader::failures()
{
    return impl_->list<AttemptFailure>("SELECT attempt, detected_ns, coalesce(reason, ''), coalesce(ranks, ''),"
                                       " reformed_ns, restored_step FROM failure ORDER BY attempt",
        [](const Statement& row) {
            return AttemptFailure{ row.integer32(0), row.optionalInteger(1), row.text(2), splitRanks(row.text(3)),
                row.optionalInteger(4), row.optionalInteger(5) };
        });
}

Result<std::vector<LiveAlert>> TraceReader::alerts()
{
    return impl_->list<LiveAlert>(
        "SELECT title, text, ranks, begin_ns, end_ns FROM finding WHERE severity = 'alert' ORDER BY id",
        [](const Statement& row) {
            return LiveAlert{ row.text(0), row.text(1), splitRanks(row.text(2)), { row.integer(3), row.integer(4) } };
        });
}

Result<std::vector<LinkSpeed>> TraceReader::links()
{
    return impl_->list<LinkSpeed>(
        "SELECT sender, receiver, latency_ns, bytes_per_second FROM link ORDER BY sender, receiver",
        [](const Statement& row) {
            return LinkSpeed{ row.integer32(0), row.integer32(1), row.integer(2), row.integer(3) };
        });
}

Result<std::vector<Loss>> TraceReader::losses()
{
    return impl_->list<Loss>(
        "SELECT kind, count, detail FROM loss_report ORDER BY kind, detail", [](const Statement& row) {
            return Loss{ row.text(0), row.integer(1), row.text(2) };
        });
}

Result<std::map<std::string, std::string>> TraceReader::provenance()
{
    using Entry = std::pair<std::string, std::string>;
    auto entries = impl_->list<Entry>(
        "SELECT key, value FROM provenance", [](const Statement& row) { return Entry(row.text(0), row.text(1)); });
    if (!entries)
        return entries.error();
    return std::map<std::string, std::string>(entries->begin(), entries->end());
}

Result<std::map<std::string, std::int64_t>> TraceReader::counts()
{
    using Counts = std::map<std::string, std::int64_t>;
    return impl_->inSnapshot<Counts>([&]() -> Result<Counts> {
        Counts counts;
        for (const char* table : kEventTables)
            counts[table] = 0;
        using Entry = std::pair<std::int64_t, std::int64_t>;
        auto entries = impl_->rows<Entry>("SELECT kind, sum(rows) FROM block GROUP BY kind",
            [](const Statement& row) { return Entry(row.integer(0), row.integer(1)); });
        if (!entries)
            return entries.error();
        for (const auto& [kind, rows] : *entries) {
            if (kind >= 1 && kind <= static_cast<std::int64_t>(kEventTables.size()))
                counts[kEventTables[static_cast<std::size_t>(kind - 1)]] = rows;
        }
        for (const char* table : kOtherTables) {
            auto rows = impl_->database.integer(std::string("SELECT count(*) FROM ") + table);
            if (!rows)
                return rows.error();
            counts[table] = *rows;
        }
        return counts;
    });
}

Result<std::map<LaneId, std::int64_t>> TraceReader::rowsOfLanes()
{
    using Entry = std::pair<LaneId, std::int64_t>;
    auto rows = impl_->list<Entry>("SELECT lane, sum(rows) FROM block WHERE lane > 0 GROUP BY lane",
        [](const Statement& row) { return Entry(LaneId{ row.integer32(0) }, row.integer(1)); });
    if (!rows)
        return rows.error();
    return std::map<LaneId, std::int64_t>(rows->begin(), rows->end());
}

Result<Window> TraceReader::window()
{
    auto windows = impl_->list<Window>("SELECT min(begin_ns), max(end_ns) FROM lane", [](const Statement& row) {
        return Window{ row.integer(0), row.integer(1) };
    });
    if (!windows)
        return windows.error();
    return windows->empty() ? Window{} : windows->front();
}

Result<std::map<LaneId, std::int64_t>> TraceReader::latestEnds()
{
    using Entry = std::pair<LaneId, std::int64_t>;
    auto ends = impl_->list<Entry>("SELECT id, end_ns FROM lane WHERE end_ns IS NOT NULL",
        [](const Statement& row) { return Entry(LaneId{ row.integer32(0) }, row.integer(1)); });
    if (!ends)
        return ends.error();
    return std::map<LaneId, std::int64_t>(ends->begin(), ends->end());
}

Result<std::vector<Tile>> TraceReader::tiles(LaneId lane, int level, Window window)
{
    RS_CHECK(level >= 0 && level < kTileLevels, "a tile's level is one of kTileLevels");
    if (window.endNs <= window.beginNs)
        return std::vector<Tile>{};
    // Cells are as wide as a power of two, so a shift divides and rounds down, also below zero.
    const int shift = kTileBaseShift + kTileLevelShift * level;
    const std::int64_t firstCell = window.beginNs >> shift;
    const std::int64_t lastCell = (window.endNs - 1) >> shift;
    return impl_->inSnapshot<std::vector<Tile>>([&]() -> Result<std::vector<Tile>> {
        auto query = impl_->statement("SELECT first_cell, cells FROM tile WHERE lane = ? AND level = ?"
                                      " AND first_cell BETWEEN ? AND ? ORDER BY first_cell");
        if (!query)
            return query.error();
        (*query)->reset().bind(1, raw(lane)).bind(2, level);
        (*query)->bind(3, firstCellOf(tileChunkOf(firstCell))).bind(4, lastCell);
        std::vector<Tile> tiles;
        for (;;) {
            auto row = (*query)->step();
            if (!row)
                return row.error();
            if (!*row)
                return tiles;
            auto cells = decodeTiles(lane, level, (*query)->integer(0), (*query)->text(1));
            if (!cells)
                return cells.error();
            std::copy_if(cells->begin(), cells->end(), std::back_inserter(tiles),
                [&](const Tile& tile) { return tile.index >= firstCell && tile.index <= lastCell; });
        }
    });
}

Result<std::int64_t> TraceReader::dataVersion()
{
    return impl_->inSnapshot<std::int64_t>([&]() -> Result<std::int64_t> { return impl_->version; });
}

} // namespace rankscope::tracing

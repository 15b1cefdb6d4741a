#include "tracing/store/trace_writer.h"

#include "tracing/store/blocks.h"
#include "tracing/store/event_tables.h"
#include "tracing/store/row_source.h"
#include "tracing/store/run_file.h"
#include "tracing/store/tile_store.h"
#include "tracing/store/writer_dictionaries.h"

#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <thread>

namespace rankscope::tracing {

namespace {

/// Matches that share a block: instances 256 k .. 256 k + 255.
constexpr int kMatchBlockShift = 8;

/// Pages in the WAL at which it is folded into the file (16 MiB), and at which the writer waits for readers to let it
/// begin anew (256 MiB).
constexpr int kFoldPages = 2048;
constexpr int kRestartPages = 32768;

/// After each commit; a fold that fails for a reader, or a full disk, is tried again at the next.
int foldWal(void*, sqlite3* database, const char* schema, int pages)
{
    if (pages >= kFoldPages) {
        const int mode = pages >= kRestartPages ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_PASSIVE;
        sqlite3_wal_checkpoint_v2(database, schema, mode, nullptr, nullptr);
    }
    return SQLITE_OK;
}

} // namespace

struct TraceWriter::Impl {
    Impl(std::string filePath, Database opened)
        : path(std::move(filePath))
        , database(std::move(opened))
        , dictionaries(database)
        , tiles(database)
    {
    }

    std::string path;
    std::unique_ptr<RowSource> rows; ///< before database: the connection may not outlive it
    Database database;
    Dictionaries dictionaries;
    TileStore tiles;
    BlockBuilder blocks;
    std::map<std::int64_t, Block> matchBlocks; ///< touched since the last commit
    StatementCache statements; ///< by their text, a literal
    std::map<std::pair<BlockKind, std::uint32_t>, Statement> insertions; ///< of rows, by the columns that they lack
    std::optional<Error> failure;

    Status start();
    Result<Statement*> statement(std::string_view sql);
    Status flush();
    Status writeBlock(const Block& block);
    Error failed(const Error& error);
    Status commitNow();
    Status noteMatch(const CollectiveMatch& match);
    Status foldInto(std::chrono::milliseconds patience);

    /// Runs change inside the open transaction, or in one of its own.
    template <typename Change> Status write(Change change)
    {
        if (failure)
            return *failure;
        const bool own = !database.inTransaction();
        if (own) {
            if (auto begun = database.execute("BEGIN IMMEDIATE"); !begun)
                return failed(begun.error());
        }
        if (Status changed = change(); !changed)
            return failed(changed.error());
        return own ? commitNow() : Status(Done{});
    }

    /// The same for a change that gives a value.
    template <typename T, typename Change> Result<T> writeFor(Change change)
    {
        std::optional<T> value;
        const Status written = write([&]() -> Status {
            auto result = change();
            if (!result)
                return result.error();
            value = *result;
            return Done{};
        });
        if (!written)
            return written.error();
        return *value;
    }

    template <typename Bind> Status runBound(std::string_view sql, Bind bind)
    {
        return write([&]() -> Status {
            auto prepared = statement(sql);
            if (!prepared)
                return prepared.error();
            bind((*prepared)->reset());
            return (*prepared)->run();
        });
    }

    template <typename Row> Result<Statement*> insertion(std::uint32_t absent);
    template <typename Row> Status append(LaneId lane, std::span<const Row> added);
};

Status TraceWriter::Impl::start()
{
    sqlite3_wal_hook(database.handle(), foldWal, nullptr);
    auto source = RowSource::attach(database);
    if (!source)
        return source.error();
    rows = std::move(*source);
    return dictionaries.load();
}

Result<Statement*> TraceWriter::Impl::statement(std::string_view sql) { return prepareOnce(database, statements, sql); }

Error TraceWriter::Impl::failed(const Error& error)
{
    failure = error.in("write " + path);
    if (database.inTransaction())
        static_cast<void>(database.execute("ROLLBACK"));
    return *failure;
}

Status TraceWriter::Impl::writeBlock(const Block& block)
{
    auto prepared = statement("INSERT OR REPLACE INTO block VALUES (?, ?, ?, ?, ?, ?, ?)");
    if (!prepared)
        return prepared.error();
    Statement& row = (*prepared)->reset();
    row.bind(1, block.lane).bind(2, static_cast<std::int32_t>(block.kind)).bind(3, block.firstRow);
    row.bind(4, block.lastRow).bind(5, block.rows).bind(6, block.beginNs).bind(7, block.endNs);
    return row.run();
}

/// Writes what is gathered in memory until a commit.
Status TraceWriter::Impl::flush()
{
    for (const Block& block : blocks.takeChanged()) {
        if (auto written = writeBlock(block); !written)
            return written;
    }
    for (const auto& [number, block] : matchBlocks) {
        if (auto written = writeBlock(block); !written)
            return written;
    }
    matchBlocks.clear();
    if (auto written = dictionaries.flush(); !written)
        return written;
    return tiles.flush();
}

Status TraceWriter::Impl::commitNow()
{
    if (auto flushed = flush(); !flushed)
        return failed(flushed.error());
    if (auto committed = database.execute("COMMIT"); !committed)
        return failed(committed.error());
    return Done{};
}

template <typename Row> Result<Statement*> TraceWriter::Impl::insertion(std::uint32_t absent)
{
    using Table = EventTable<Row>;
    Statement& kept = insertions[{ Table::kind, absent }];
    if (!kept) {
        auto prepared = database.prepare(RowSource::insertText(Table::table, Table::columns, absent));
        if (!prepared)
            return prepared.error();
        kept = std::move(*prepared);
    }
    return &kept;
}

template <typename Row> Status TraceWriter::Impl::append(LaneId lane, std::span<const Row> added)
{
    RS_CHECK(dictionaries.hasLane(lane), "rows go to a lane that lane() gave");
    if (added.empty())
        return Done{};
    return write([&]() -> Status {
        auto prepared = insertion<Row>(EventTable<Row>::absent(added));
        if (!prepared)
            return prepared.error();
        rows->set(added);
        if (auto inserted = (*prepared)->bind(1, raw(lane)).run(); !inserted)
            return inserted;
        Window reach{ beginOf(added.front()), endOf(added.front()) };
        for (const Row& row : added)
            reach = { std::min(reach.beginNs, beginOf(row)), std::max(reach.endNs, endOf(row)) };
        dictionaries.extend(lane, reach);
        blocks.add(lane, database.lastRow() - static_cast<std::int64_t>(added.size()) + 1, added);
        return Done{};
    });
}

Status TraceWriter::Impl::noteMatch(const CollectiveMatch& match)
{
    const std::int64_t number = raw(match.id) >> kMatchBlockShift;
    auto known = matchBlocks.find(number);
    if (known == matchBlocks.end()) {
        const std::int64_t first = number * (std::int64_t{ 1 } << kMatchBlockShift);
        Block block{ 0, BlockKind::Match, first, first + (std::int64_t{ 1 } << kMatchBlockShift) - 1, 0,
            match.firstEntryNs, match.lastExitNs };
        auto prepared = statement("SELECT begin_ns, end_ns FROM block WHERE lane = 0 AND kind = 8 AND first_row = ?");
        if (!prepared)
            return prepared.error();
        auto row = (*prepared)->reset().bind(1, first).step();
        if (!row)
            return row.error();
        if (*row) {
            block.beginNs = (*prepared)->integer(0);
            block.endNs = (*prepared)->integer(1);
        }
        (*prepared)->reset();
        known = matchBlocks.emplace(number, block).first;
    }
    known->second.beginNs = std::min(known->second.beginNs, match.firstEntryNs);
    known->second.endNs = std::max(known->second.endNs, match.lastExitNs);
    return Done{};
}

/// Folds the WAL into the file and leaves WAL mode, trying again while readers are in the way.
Status TraceWriter::Impl::foldInto(std::chrono::milliseconds patience)
{
    const auto deadline = std::chrono::steady_clock::now() + patience;
    sqlite3_busy_timeout(database.handle(), 20);
    for (;;) {
        // Answers with the mode it is in now; the switch needs to be alone and folds the WAL in first.
        auto mode = database.text("PRAGMA journal_mode = DELETE");
        if (mode && *mode == "delete")
            return Done{};
        const int code = database.lastCode() & 0xff;
        if (!mode && code != SQLITE_BUSY && code != SQLITE_LOCKED)
            return failed(mode.error());
        if (std::chrono::steady_clock::now() >= deadline)
            break;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    sqlite3_busy_timeout(database.handle(), 500);
    sqlite3_wal_checkpoint_v2(database.handle(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
    return Done{};
}

TraceWriter::TraceWriter(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl))
{
}
TraceWriter::TraceWriter(TraceWriter&&) noexcept = default;
TraceWriter& TraceWriter::operator=(TraceWriter&&) noexcept = default;
TraceWriter::~TraceWriter() = default;

Result<TraceWriter> TraceWriter::open(const std::string& path, Mode mode)
{
    const std::string doing = "write " + path;
    std::error_code ignored;
    const bool exists = std::filesystem::exists(path, ignored);
    if (exists && mode == Mode::CreateNew)
        return Error(doing + ": the file exists; remove it or choose another name");
    if (exists && mode == Mode::Replace) {
        if (auto removed = removeRunFile(path); !removed)
            return removed.error().in(doing);
    }
    const bool resumes = exists && mode == Mode::Resume;
    auto database = resumes ? openForWriting(path) : createRunFile(path);
    if (!database)
        return database.error().in(doing);
    auto impl = std::make_unique<Impl>(path, std::move(*database));
    auto started = impl->start();
    if (started && resumes)
        started = impl->database.execute("UPDATE run SET finished = 0 WHERE finished <> 0");
    if (!started)
        return started.error().in(doing);
    return TraceWriter(std::move(impl));
}

Status TraceWriter::begin()
{
    if (impl_->failure)
        return *impl_->failure;
    RS_CHECK(!impl_->database.inTransaction(), "begin() and commit() come in pairs");
    if (auto begun = impl_->database.execute("BEGIN IMMEDIATE"); !begun)
        return impl_->failed(begun.error());
    return Done{};
}

Status TraceWriter::commit()
{
    if (impl_->failure)
        return *impl_->failure;
    RS_CHECK(impl_->database.inTransaction(), "begin() and commit() come in pairs");
    return impl_->commitNow();
}

Status TraceWriter::setRun(const RunInfo& run)
{
    return impl_->runBound("INSERT OR REPLACE INTO run VALUES (1, ?, ?, ?, ?, ?, ?)", [&](Statement& row) {
        row.bind(1, run.name).bind(2, run.source).bind(3, run.originUtcNs).bind(4, run.worldSize);
        row.bind(5, run.coresPerNode).bind(6, run.finished ? 1 : 0);
    });
}

Status TraceWriter::putRank(const RankInfo& rank)
{
    return impl_->runBound("INSERT OR REPLACE INTO rank VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", [&](Statement& row) {
        row.bind(1, rank.rank).bind(2, rank.node).bind(3, rank.device).bind(4, rank.stage).bind(5, rank.dp);
        row.bind(6, rank.tp)
            .bind(7, rank.ep)
            .bind(8, rank.clockErrorNs)
            .bind(9, rank.peakFlops)
            .bind(10, rank.processId);
    });
}

Status TraceWriter::setProvenance(std::string_view key, std::string_view value)
{
    return impl_->runBound(
        "INSERT OR REPLACE INTO provenance VALUES (?, ?)", [&](Statement& row) { row.bind(1, key).bind(2, value); });
}

Result<NameId> TraceWriter::name(std::string_view text)
{
    return impl_->writeFor<NameId>([&] { return impl_->dictionaries.name(text); });
}

Result<SignatureId> TraceWriter::signature(const KernelSignature& signature)
{
    return impl_->writeFor<SignatureId>([&] { return impl_->dictionaries.signature(signature); });
}

Result<LaneId> TraceWriter::lane(const Lane& lane)
{
    return impl_->writeFor<LaneId>([&] { return impl_->dictionaries.lane(lane); });
}

Result<CommunicatorId> TraceWriter::communicator(const Communicator& communicator)
{
    return impl_->writeFor<CommunicatorId>([&] { return impl_->dictionaries.communicator(communicator); });
}

Status TraceWriter::append(LaneId lane, std::span<const Kernel> rows) { return impl_->append(lane, rows); }
Status TraceWriter::append(LaneId lane, std::span<const Copy> rows) { return impl_->append(lane, rows); }
Status TraceWriter::append(LaneId lane, std::span<const HostCall> rows) { return impl_->append(lane, rows); }
Status TraceWriter::append(LaneId lane, std::span<const CollectivePart> rows) { return impl_->append(lane, rows); }
Status TraceWriter::append(LaneId lane, std::span<const Bubble> rows) { return impl_->append(lane, rows); }
Status TraceWriter::append(LaneId lane, std::span<const Range> rows) { return impl_->append(lane, rows); }
Status TraceWriter::append(LaneId lane, std::span<const CounterSample> rows) { return impl_->append(lane, rows); }

Status TraceWriter::putMatch(const CollectiveMatch& match)
{
    return impl_->write([&]() -> Status {
        if (auto noted = impl_->noteMatch(match); !noted)
            return noted;
        return impl_->runBound(
            "INSERT OR REPLACE INTO collective_match VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", [&](Statement& row) {
                row.bind(1, raw(match.id))
                    .bind(2, raw(match.communicator))
                    .bind(3, static_cast<std::int32_t>(match.op));
                row.bind(4, match.sequence).bind(5, match.partsPresent).bind(6, match.partsExpected);
                row.bind(7, match.firstEntryNs)
                    .bind(8, match.lastEntryNs)
                    .bind(9, match.lastExitNs)
                    .bind(10, match.lateRank);
            });
    });
}

Status TraceWriter::putStep(const Step& step)
{
    return impl_->runBound("INSERT OR REPLACE INTO step VALUES (?, ?, ?, ?, ?)", [&](Statement& row) {
        row.bind(1, step.rank).bind(2, step.step).bind(3, step.attempt).bind(4, step.beginNs);
        row.bind(5, std::max<std::int64_t>(0, step.endNs - step.beginNs));
    });
}

Status TraceWriter::addLoss(const Loss& loss)
{
    return impl_->runBound("INSERT INTO loss_report(kind, count, detail) VALUES (?, ?, ?)"
                           " ON CONFLICT(kind, detail) DO UPDATE SET count = count + excluded.count",
        [&](Statement& row) { row.bind(1, loss.kind).bind(2, loss.count).bind(3, loss.detail); });
}

Status TraceWriter::putTiles(std::span<const Tile> tiles)
{
    return impl_->write([&] { return impl_->tiles.put(tiles); });
}

Status TraceWriter::putTileRow(std::span<const Tile> cells)
{
    return impl_->write([&] { return impl_->tiles.putRow(cells); });
}

Result<std::vector<Tile>> TraceWriter::tiles(LaneId lane, int level, Window window)
{
    return impl_->writeFor<std::vector<Tile>>([&] { return impl_->tiles.cells(lane, level, window); });
}

Status TraceWriter::putCheckpoint(const CheckpointPart& part)
{
    return impl_->runBound("INSERT OR REPLACE INTO checkpoint VALUES (?, ?, ?, ?, ?, ?, ?)", [&](Statement& row) {
        row.bind(1, part.rank).bind(2, part.step).bind(3, part.beginNs);
        row.bind(4, std::max<std::int64_t>(0, part.endNs - part.beginNs));
        row.bind(5, part.blockedNs).bind(6, part.bytes).bind(7, part.path);
    });
}

Status TraceWriter::putFailure(const AttemptFailure& failure)
{
    return impl_->runBound(
        "INSERT INTO failure VALUES (?, ?, nullif(?, ''), nullif(?, ''), ?, ?) ON CONFLICT(attempt) DO UPDATE SET"
        " detected_ns = coalesce(excluded.detected_ns, detected_ns), reason = coalesce(excluded.reason, reason),"
        " ranks = coalesce(excluded.ranks, ranks),"
        " reformed_ns = max(coalesce(excluded.reformed_ns, reformed_ns), coalesce(reformed_ns, excluded.reformed_ns)),"
        " restored_step = coalesce(excluded.restored_step, restored_step)",
        [&](Statement& row) {
            row.bind(1, failure.attempt).bind(2, failure.detectedNs).bind(3, failure.reason);
            row.bind(4, joinRanks(failure.ranks)).bind(5, failure.reformedNs).bind(6, failure.restoredStep);
        });
}

Status TraceWriter::putLink(const LinkSpeed& link)
{
    return impl_->runBound("INSERT OR REPLACE INTO link VALUES (?, ?, ?, ?)", [&](Statement& row) {
        row.bind(1, link.from).bind(2, link.to).bind(3, link.latencyNs).bind(4, link.bytesPerSecond);
    });
}

Status TraceWriter::addAlert(const LiveAlert& alert)
{
    return impl_->runBound(
        "INSERT INTO finding(severity, title, text, ranks, begin_ns, end_ns) SELECT 'alert', ?1, ?2, ?3, ?4, ?5"
        " WHERE NOT EXISTS (SELECT 1 FROM finding WHERE title = ?1 AND begin_ns = ?4)",
        [&](Statement& row) {
            row.bind(1, alert.title).bind(2, alert.text).bind(3, joinRanks(alert.ranks));
            row.bind(4, alert.window.beginNs).bind(5, alert.window.endNs);
        });
}

Status TraceWriter::addFault(const FaultInjection& fault)
{
    const Status ended = impl_->runBound(
        "UPDATE fault_injection SET end_ns = ? WHERE kind = ? AND rank IS ? AND step IS ? AND begin_ns = ?",
        [&](Statement& row) {
            row.bind(1, fault.endNs).bind(2, fault.kind).bind(3, fault.rank).bind(4, fault.step);
            row.bind(5, fault.beginNs);
        });
    if (!ended)
        return ended;
    return impl_->runBound(
        "INSERT INTO fault_injection(kind, rank, step, begin_ns, end_ns, detail) SELECT ?1, ?2, ?3, ?4, ?5, ?6"
        " WHERE NOT EXISTS (SELECT 1 FROM fault_injection WHERE kind = ?1 AND rank IS ?2 AND step IS ?3"
        " AND begin_ns = ?4)",
        [&](Statement& row) {
            row.bind(1, fault.kind).bind(2, fault.rank).bind(3, fault.step).bind(4, fault.beginNs);
            row.bind(5, fault.endNs).bind(6, fault.detail);
        });
}

Status TraceWriter::setRingPosition(std::string_view ring, std::uint64_t position)
{
    return impl_->runBound("INSERT OR REPLACE INTO ring_position VALUES (?, ?)",
        [&](Statement& row) { row.bind(1, ring).bind(2, static_cast<std::int64_t>(position)); });
}

Result<std::uint64_t> TraceWriter::ringPosition(std::string_view ring)
{
    if (impl_->failure)
        return *impl_->failure;
    auto prepared = impl_->statement("SELECT position FROM ring_position WHERE ring = ?");
    if (!prepared)
        return prepared.error();
    auto row = (*prepared)->reset().bind(1, ring).step();
    if (!row)
        return row.error();
    const auto position = *row ? static_cast<std::uint64_t>((*prepared)->integer(0)) : 0;
    (*prepared)->reset();
    return position;
}

Result<InstanceId> TraceWriter::nextInstance()
{
    if (impl_->failure)
        return *impl_->failure;
    auto greatest = impl_->database.integer("SELECT max(id) FROM collective_match");
    if (!greatest)
        return greatest.error();
    return InstanceId{ *greatest + 1 };
}

Result<std::vector<CollectiveMatch>> TraceWriter::incompleteMatches()
{
    if (impl_->failure)
        return *impl_->failure;
    std::string sql("SELECT ");
    sql.append(kMatchColumns).append(" FROM collective_match WHERE parts_present < parts_expected ORDER BY id");
    auto prepared = impl_->database.prepare(sql);
    if (!prepared)
        return prepared.error();
    std::vector<CollectiveMatch> matches;
    for (;;) {
        auto row = prepared->step();
        if (!row)
            return row.error();
        if (!*row)
            return matches;
        matches.push_back(readMatch(*prepared));
    }
}

Status TraceWriter::finish(std::chrono::milliseconds patience)
{
    if (impl_->failure)
        return *impl_->failure;
    if (!impl_->database.inTransaction()) {
        if (auto begun = begin(); !begun)
            return begun;
    }
    auto marked = impl_->runBound("INSERT INTO run VALUES (1, '', '', 0, 0, NULL, 1)"
                                  " ON CONFLICT(id) DO UPDATE SET finished = 1",
        [](Statement&) {});
    if (!marked)
        return marked;
    if (auto committed = commit(); !committed)
        return committed;
    if (auto folded = impl_->foldInto(patience); !folded)
        return folded;
    const std::string path = impl_->path;
    impl_ = std::make_unique<Impl>(path, Database());
    impl_->failure = Error("write " + path + ": the run is finished");
    return Done{};
}

} // namespace rankscope::tracing

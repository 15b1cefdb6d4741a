#include "tracing/collector/run_session.h"

#include "tracing/record/session.h"

#include <algorithm>
#include <utility>

namespace rankscope::tracing {

namespace {

constexpr std::size_t kMostAtOnce = 32768; ///< records of one ring in one transaction
constexpr std::int64_t kLivenessEveryNs = 200'000'000;
constexpr const char* kGivenUp = "#collectives given up below";

/// Spans this long before the end of a lane may still overlap with one to come. Ranges, which nest, are remembered
/// whole.
constexpr std::int64_t kRememberNs = 2'000'000'000;

/// Now, with a second to spare; unbounded for a session from before a reboot, whose counter began anew.
std::int64_t latestNs(const RunClock& clock)
{
    constexpr std::int64_t kSpareNs = 1'000'000'000;
    const auto nowNs = clock.toNs(readTicks(clock.kind()));
    return nowNs && *nowNs >= 0 ? *nowNs + kSpareNs : INT64_MAX;
}

} // namespace

RunSession::RunSession(const Settings& settings, TraceWriter writer, const RunClock& clock)
    : settings_(settings)
    , writer_(std::move(writer))
    , clock_(clock)
    , tiles_([this](LaneId lane, int level, Window window) { return loadTiles(lane, level, window); })
    , matcher_([this](const Matcher::Instance& instance) { addTiles(tiles_, instance); })
    , sink_(writer_, clock_, matcher_, tiles_)
    , job_(jobFactsPath(settings.sessionDir))
{
}

Result<std::unique_ptr<RunSession>> RunSession::open(const Settings& settings, const RunClock& clock)
{
    auto writer
        = TraceWriter::open(settings.file, settings.resume ? TraceWriter::Mode::Resume : TraceWriter::Mode::Replace);
    if (!writer)
        return writer.error();
    std::unique_ptr<RunSession> session(new RunSession(settings, std::move(*writer), clock));
    if (const Status started = session->start(); !started)
        return started.error().in("record to " + settings.file);
    return session;
}

Status RunSession::start()
{
    facts_.run.name = settings_.runName;
    facts_.run.source = kOwnSource;
    facts_.run.originUtcNs = clock_.originUtcNs();
    if (settings_.resume) {
        if (const Status resumed = resume(); !resumed)
            return resumed;
    }
    auto next = writer_.nextInstance();
    if (!next)
        return next.error();
    matcher_.setNextInstance(*next);
    if (const Status begun = writer_.begin(); !begun)
        return begun;
    if (const Status set = writer_.setRun(facts_.run); !set)
        return set;
    if (const Status set = writer_.setProvenance("recording.session", settings_.sessionDir); !set)
        return set;
    const char* clock = clock_.kind() == ClockKind::Tsc ? "time stamp counter" : "CLOCK_MONOTONIC";
    if (const Status set = writer_.setProvenance("recording.clock", clock); !set)
        return set;
    return writer_.commit();
}

Result<TraceReader*> RunSession::reader()
{
    if (!reader_) {
        auto opened = TraceReader::open(settings_.file);
        if (!opened)
            return opened.error();
        reader_.emplace(std::move(*opened));
    }
    return &*reader_;
}

Result<std::vector<Tile>> RunSession::loadTiles(LaneId lane, int level, Window window)
{
    auto file = reader();
    if (!file)
        return file.error();
    return (*file)->tiles(lane, level, window);
}

// --- after a restart

Status RunSession::resume()
{
    auto file = reader();
    if (!file)
        return file.error();
    auto run = (*file)->run();
    auto ranks = (*file)->ranks();
    if (!run || !ranks)
        return run ? ranks.error() : run.error();
    facts_.run = *run;
    facts_.run.finished = false;
    for (const RankInfo& rank : *ranks)
        facts_.ranks[rank.rank] = rank;
    if (const Status remembered = rememberSpans(**file); !remembered)
        return remembered;
    return restoreMatches(**file);
}

Status RunSession::rememberSpans(TraceReader& file)
{
    auto lanes = file.lanes();
    auto ends = file.latestEnds();
    if (!lanes || !ends)
        return lanes ? ends.error() : lanes.error();
    for (const Lane& lane : *lanes) {
        const auto end = ends->find(lane.id);
        if (end == ends->end())
            continue;
        tiles_.setKnownEnd(lane.id, end->second);
        sink_.setHeadNs(std::max(sink_.headNs(), end->second));
        const Window recent{ end->second - kRememberNs, end->second + 1 };
        const auto remember = [&](const auto& rows) {
            for (const auto& row : rows)
                tiles_.remember(lane.id, { row.beginNs, row.endNs });
            return true;
        };
        Status done = Done{};
        if (lane.kind == LaneKind::Host)
            done = file.visit<Range>(lane.id, { INT64_MIN / 2, INT64_MAX / 2 }, remember);
        else if (lane.kind == LaneKind::Compute)
            done = file.visit<Kernel>(lane.id, recent, remember);
        if (done && lane.kind == LaneKind::Compute)
            done = file.visit<Bubble>(lane.id, recent, remember);
        if (!done)
            return done;
    }
    return Done{};
}

/// Parts whose instance is complete or given up are in the tiles; those of the others are still to come.
Status RunSession::restoreMatches(TraceReader& file)
{
    auto lanes = file.lanes();
    auto incomplete = writer_.incompleteMatches();
    auto givenUp = writer_.ringPosition(kGivenUp);
    auto steps = file.steps();
    if (!lanes || !steps || !incomplete || !givenUp)
        return !lanes ? lanes.error() : !steps ? steps.error() : incomplete ? givenUp.error() : incomplete.error();
    givenUpStored_ = static_cast<std::int64_t>(*givenUp);
    matcher_.setGivenUpBelow(InstanceId{ givenUpStored_ });
    std::map<LaneId, std::int32_t> rankOf;
    for (const Lane& lane : *lanes)
        rankOf[lane.id] = lane.rank;
    std::int32_t attempt = 0; // parts of earlier attempts will not be completed any more
    for (const Step& step : *steps)
        attempt = std::max(attempt, step.attempt);
    for (const CollectiveMatch& match : *incomplete) {
        if (raw(match.id) < givenUpStored_)
            continue;
        auto rows = file.partsOf(match.id);
        if (!rows)
            return rows.error();
        std::vector<MatchPart> parts;
        for (const CollectivePart& row : *rows)
            parts.push_back({ rankOf[row.lane], row.lane, { row.beginNs, row.endNs }, row.op, row.peer, attempt });
        matcher_.restore(match, std::move(parts));
    }
    for (const Lane& lane : *lanes) {
        if (lane.kind != LaneKind::Communication)
            continue;
        // What is still to come into the tiles must not count as covered.
        const Status done = file.visit<CollectivePart>(
            lane.id, { INT64_MIN / 2, INT64_MAX / 2 }, [&](std::span<const CollectivePart> rows) {
                for (const CollectivePart& row : rows) {
                    if (!matcher_.isOpen(row.instance))
                        tiles_.remember(lane.id, { row.beginNs, row.endNs });
                }
                return true;
            });
        if (!done)
            return done;
    }
    return Done{};
}

// --- rings

Status RunSession::addRing(const std::string& path)
{
    auto opened = RingReader::open(path);
    if (!opened) {
        badRings_.push_back(path);
        const std::string name = path.substr(path.rfind('/') + 1);
        return countUpTo(writer_, name + "#bad", 1, { "unreadable ring", 1, opened.error().message() });
    }
    auto ring = std::make_unique<Ring>(std::move(*opened));
    RingReader& reader = ring->reader;
    auto position = writer_.ringPosition(reader.name());
    auto done = writer_.ringPosition(reader.name() + "#done");
    if (!position || !done)
        return position ? done.error() : position.error();
    reader.seek(*position);
    ring->isDone = *done != 0;
    ring->isGone = ring->isDone;
    ring->context.rank = reader.rank();
    ring->context.number = reader.number();
    ring->context.earliestNs = clock_.toNs(reader.openedTicks()).value_or(INT64_MIN);
    const std::string facts = path.substr(0, path.rfind('/') + 1) + reader.recorderKey() + kFactsSuffix;
    auto& process = processes_[reader.recorderKey()];
    if (!process)
        process = std::make_unique<ProcessFacts>(settings_.sessionDir + facts.substr(facts.rfind('/')));
    ring->facts = process.get();
    if (!facts_.ranks.contains(reader.rank())) {
        RankInfo& rank = facts_.ranks[reader.rank()];
        rank.rank = reader.rank();
        rank.processId = reader.process().processId;
        if (const Status put = writer_.putRank(rank); !put)
            return put;
    }
    facts_.run.worldSize = std::max(facts_.run.worldSize, reader.worldSize());
    rings_.push_back(std::move(ring));
    return Done{};
}

std::size_t RunSession::writersLeft() const
{
    return static_cast<std::size_t>(
        std::count_if(rings_.begin(), rings_.end(), [](const auto& ring) { return !ring->isDone; }));
}

std::uint64_t RunSession::dropped() const
{
    std::uint64_t sum = 0;
    for (const auto& ring : rings_)
        sum += ring->droppedCounted;
    return sum;
}

/// Seen before the ring is read: what the writer left behind is complete when the reading comes to its end.
void RunSession::lookForTheDead()
{
    const std::int64_t nowNs = clockNs(CLOCK_MONOTONIC);
    const bool isTime = nowNs >= nextLivenessNs_;
    if (isTime)
        nextLivenessNs_ = nowNs + kLivenessEveryNs;
    for (auto& ring : rings_) {
        if (!ring->isGone)
            ring->isGone = ring->reader.isClosed() || (isTime && !isAlive(ring->reader.process()));
    }
}

bool RunSession::hasNews() const
{
    return std::any_of(rings_.begin(), rings_.end(), [](const auto& ring) {
        return !ring->isDone
            && (ring->isGone || ring->reader.waiting() > 0 || ring->reader.dropped() != ring->droppedCounted);
    });
}

Result<RunSession::PassResult> RunSession::pass()
{
    lookForTheDead();
    if (!hasNews())
        return PassResult{};
    if (const Status begun = writer_.begin(); !begun)
        return begun.error();
    auto result = takeAll();
    if (!result)
        return result;
    if (const Status committed = writer_.commit(); !committed)
        return committed.error();
    for (auto& ring : rings_) {
        if (!ring->isDone)
            ring->reader.release();
    }
    tiles_.trim();
    return result;
}

Result<RunSession::PassResult> RunSession::takeAll()
{
    PassResult result;
    sink_.setLatestNs(latestNs(clock_));
    for (auto& ring : rings_) {
        if (ring->isDone)
            continue;
        if (const Status taken = takeFrom(*ring, result); !taken)
            return taken.error();
    }
    for (auto& ring : rings_) {
        if (ring->isDone || !ring->isGone || ring->reader.waiting() > 0)
            continue;
        if (const Status ended = endOf(*ring); !ended)
            return ended.error();
    }
    if (const Status told = job_.update(writer_, clock_, 0, facts_); !told)
        return told.error();
    // Once a transaction: tiles put before it was committed cannot be read back.
    if (const Status flushed = sink_.flush(); !flushed)
        return flushed.error();
    if (const Status stored = storeGivenUp(); !stored)
        return stored.error();
    return result;
}

Status RunSession::takeFrom(Ring& ring, PassResult& result)
{
    RingReader& reader = ring.reader;
    const std::string& name = reader.name();
    const std::string who = "rank " + std::to_string(reader.rank());
    buffer_.clear();
    const std::uint64_t skipped = reader.read(buffer_, kMostAtOnce);
    // Read after the records, so that every name they use is there.
    if (const Status updated = ring.facts->update(writer_, clock_, reader.rank(), facts_); !updated)
        return updated;
    if (skipped > 0) {
        const Loss loss{ "damaged ring", static_cast<std::int64_t>(std::min<std::uint64_t>(skipped, INT64_MAX)),
            who + ": the place of its newest record makes no sense" };
        if (const Status counted = writer_.addLoss(loss); !counted)
            return counted;
    }
    if (const Status taken = sink_.take(ring.context, *ring.facts, buffer_); !taken)
        return taken;
    const std::uint64_t dropped = reader.dropped();
    const Loss full{ "ring full", 0, who + ": records that found the ring full" };
    if (dropped != ring.droppedCounted) {
        if (const Status counted = countUpTo(writer_, name + "#dropped", dropped, full); !counted)
            return counted;
    }
    ring.droppedCounted = dropped;
    result.records += buffer_.size();
    result.isMoreLeft = result.isMoreLeft || (ring.isGone && reader.waiting() > 0);
    result.fill = std::max(result.fill, static_cast<double>(buffer_.size()) / static_cast<double>(reader.capacity()));
    result.isAnyNearlyFull = result.isAnyNearlyFull || reader.waiting() > reader.capacity() / 4;
    return writer_.setRingPosition(name, reader.position());
}

Status RunSession::endOf(Ring& ring)
{
    ring.isDone = true;
    if (!ring.reader.isClosed()) {
        if (const Status told = tellOpenSpans(ring); !told)
            return told;
    }
    return writer_.setRingPosition(ring.reader.name() + "#done", 1);
}

/// The writer was killed: what it had open lasts to the end of what is known, and the loss names the innermost
/// exchange, or else the innermost span.
Status RunSession::tellOpenSpans(Ring& ring)
{
    std::vector<Record> open = ring.reader.openSpans();
    const std::string who = "rank " + std::to_string(ring.reader.rank());
    if (open.empty() && ring.context.number != 0)
        return Done{};
    std::uint64_t headTicks = clock_.toTicks(sink_.headNs());
    for (const Record& record : open)
        headTicks = std::max(headTicks, record.beginTicks);
    for (Record& record : open)
        record.endTicks = headTicks;
    std::string where = "outside of any span";
    for (const Record& record : open)
        where = "in " + RecordSink::describe(record, *ring.facts);
    for (const Record& record : open) {
        if (record.kind == static_cast<std::uint8_t>(RecordKind::Collective))
            where = "in " + RecordSink::describe(record, *ring.facts);
    }
    if (const Status taken = sink_.take(ring.context, *ring.facts, open); !taken)
        return taken;
    return writer_.addLoss({ "rank died", 1, who + " died " + where });
}

Status RunSession::storeGivenUp()
{
    if (raw(matcher_.givenUpBelow()) == givenUpStored_)
        return Done{};
    givenUpStored_ = raw(matcher_.givenUpBelow());
    return writer_.setRingPosition(kGivenUp, static_cast<std::uint64_t>(givenUpStored_));
}

Status RunSession::finish()
{
    if (const Status begun = writer_.begin(); !begun)
        return begun;
    if (const Status told = job_.update(writer_, clock_, 0, facts_); !told)
        return told;
    matcher_.finish();
    if (const Status flushed = sink_.flush(); !flushed)
        return flushed;
    if (const Status stored = storeGivenUp(); !stored)
        return stored;
    facts_.run.finished = true;
    if (const Status set = writer_.setRun(facts_.run); !set)
        return set;
    if (const Status committed = writer_.commit(); !committed)
        return committed;
    reader_.reset();
    return writer_.finish();
}

std::vector<std::string> RunSession::sessionFiles() const
{
    std::vector<std::string> files;
    for (const auto& ring : rings_)
        files.push_back(ring->reader.path());
    for (const auto& [key, facts] : processes_)
        files.push_back(settings_.sessionDir + "/" + key + kFactsSuffix);
    files.push_back(jobFactsPath(settings_.sessionDir));
    return files;
}

} // namespace rankscope::tracing

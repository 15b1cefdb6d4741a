#include "tracing/collector/record_sink.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace rankscope::tracing {

namespace {

std::optional<std::int32_t> microBatchOf(const Record& record)
{
    return record.flags & kHasMicroBatch ? std::optional<std::int32_t>(record.microBatch) : std::nullopt;
}

std::int64_t clamped(std::uint64_t value)
{
    return static_cast<std::int64_t>(std::min<std::uint64_t>(value, std::numeric_limits<std::int64_t>::max()));
}

std::optional<std::int64_t> cpuOf(const Record& record, std::uint64_t cpuNs)
{
    return record.flags & kHasCpu ? std::optional(clamped(cpuNs)) : std::nullopt;
}

/// 0 and what is no count at all (negative, NaN, beyond 64 bits) are unknown.
std::optional<std::int64_t> countOf(double value)
{
    return value >= 1 && value < 9e18 ? std::optional(static_cast<std::int64_t>(value)) : std::nullopt;
}

/// "loss [nats]" is the counter loss in nats.
std::pair<std::string, std::string> nameAndUnit(const std::string& text)
{
    const std::size_t open = text.rfind(" [");
    if (open == std::string::npos || text.back() != ']')
        return { text, "" };
    return { text.substr(0, open), text.substr(open + 2, text.size() - open - 3) };
}

} // namespace

SpanClass classOf(Pass pass)
{
    switch (pass) {
    case Pass::Recompute:
        return SpanClass::Recompute;
    case Pass::Optimizer:
        return SpanClass::Optimizer;
    default:
        return SpanClass::Compute;
    }
}

SpanClass classOf(RangeKind kind)
{
    switch (kind) {
    case RangeKind::Data:
        return SpanClass::Data;
    case RangeKind::Checkpoint:
        return SpanClass::Checkpoint;
    case RangeKind::Start:
        return SpanClass::Start;
    default:
        return SpanClass::Host;
    }
}

void addTiles(TileBuilder& tiles, const Matcher::Instance& instance)
{
    for (const MatchPart& part : instance.parts) {
        const PartSplit split = splitOf(part, instance.parts);
        if (!split.known) {
            tiles.add(part.lane, part.window, SpanClass::Communication);
            continue;
        }
        const Window wait{ part.window.beginNs, split.transferBeginNs };
        const Window transfer{ split.transferBeginNs, part.window.endNs };
        const TileBuilder::Part parts[]{ { wait, SpanClass::Wait }, { transfer, SpanClass::Transfer } };
        const bool mostlyWaits = wait.durationNs() > transfer.durationNs();
        tiles.add(part.lane, part.window, mostlyWaits ? SpanClass::Wait : SpanClass::Transfer, parts);
    }
}

Status RecordSink::take(RingContext& ring, const ProcessFacts& facts, std::span<const Record> records)
{
    for (const Record& record : records) {
        const auto beginNs = clock_.toNs(record.beginTicks);
        const auto endNs = clock_.toNs(record.endTicks);
        if (!beginNs || !endNs || *endNs < *beginNs || *beginNs < ring.earliestNs || *endNs > latestNs_) {
            if (const Status counted = lost(ring, "unreadable record", "its times cannot be of this run"); !counted)
                return counted;
            continue;
        }
        headNs_ = std::max(headNs_, *endNs);
        if (const Status taken = takeOne(ring, facts, record, { *beginNs, *endNs }); !taken)
            return taken;
    }
    taken_ += records.size();
    return Done{};
}

Status RecordSink::takeOne(RingContext& ring, const ProcessFacts& facts, const Record& record, Window time)
{
    switch (static_cast<RecordKind>(record.kind)) {
    case RecordKind::Kernel:
        return kernel(ring, facts, record, time);
    case RecordKind::Collective:
        return collective(ring, facts, record, time);
    case RecordKind::Bubble:
        return bubble(ring, record, time);
    case RecordKind::Range:
        return range(ring, facts, record, time);
    case RecordKind::Counter:
        return counter(ring, facts, record, time);
    case RecordKind::Empty:
        break;
    }
    return lost(ring, "unknown record", "kind " + std::to_string(record.kind) + ", written by a newer recorder");
}

Status RecordSink::flush()
{
    if (const Status done = rows_.flush(writer_); !done)
        return done;
    for (const CollectiveMatch& match : matcher_.changes()) {
        if (const Status done = writer_.putMatch(match); !done)
            return done;
    }
    return tiles_.flush([this](std::span<const Tile> cells) { return writer_.putTileRow(cells); });
}

Status RecordSink::lost(const RingContext& ring, std::string kind, std::string detail)
{
    return writer_.addLoss({ std::move(kind), 1, "rank " + std::to_string(ring.rank) + ": " + detail });
}

Result<RingLane> RecordSink::makeLane(const Lane& lane)
{
    auto id = writer_.lane(lane);
    if (!id)
        return id.error();
    return RingLane{ *id, &rows_.of(*id) };
}

Result<NameId> RecordSink::nameOf(const ProcessFacts& facts, std::uint32_t local, std::string_view otherwise)
{
    const ProcessFacts::Name* name = facts.name(local);
    if (name && !name->text.empty())
        return name->id;
    return writer_.name(name ? std::string(otherwise) : "name " + std::to_string(local) + " (lost)");
}

Result<SignatureId> RecordSink::signatureOf(RingContext& ring, const ProcessFacts& facts, const Record& record)
{
    std::uint64_t shape[4];
    const std::uint64_t looks = std::uint64_t{ record.detail } | std::uint64_t{ record.dtype } << 8
        | std::uint64_t{ record.threads } << 16 | std::uint64_t{ record.kernel.copies } << 32;
    shape[0] = record.name | std::uint64_t{ 1 } << 63;
    shape[1] = looks;
    std::memcpy(&shape[2], &record.kernel.flop, sizeof(double));
    std::memcpy(&shape[3], &record.kernel.bytes, sizeof(double));
    const std::uint64_t hash = (shape[0] * 31 + looks) * 0x9e3779b97f4a7c15u ^ shape[2] >> 7 ^ shape[3] >> 13;
    auto& cached = ring.signatures[(hash ^ hash >> 32 ^ hash >> 16) % ring.signatures.size()];
    if (std::memcmp(cached.shape, shape, sizeof shape) == 0)
        return cached.id;
    auto name = nameOf(facts, record.name, "kernel");
    if (!name)
        return name.error();
    const auto flop = countOf(record.kernel.flop);
    // Each of those that do the same counts its share of it once.
    const std::optional<std::int64_t> redundant
        = flop && record.kernel.copies > 1 ? std::optional(*flop - *flop / record.kernel.copies) : std::nullopt;
    auto id = writer_.signature({ *name, static_cast<Pass>(record.detail), static_cast<DataType>(record.dtype),
        record.threads, flop, countOf(record.kernel.bytes), redundant });
    if (!id)
        return id;
    // A lost name may still come: only what is known for good is kept.
    if (facts.name(record.name)) {
        std::memcpy(cached.shape, shape, sizeof shape);
        cached.id = *id;
    }
    return id;
}

Status RecordSink::kernel(RingContext& ring, const ProcessFacts& facts, const Record& record, Window time)
{
    if (!ring.compute.rows) {
        auto lane = makeLane({ {}, ring.rank, LaneKind::Compute, Dimension::None, "compute", "" });
        if (!lane)
            return lane.error();
        ring.compute = *lane;
    }
    auto signature = signatureOf(ring, facts, record);
    if (!signature)
        return signature.error();
    Kernel row{ ring.compute.id, time.beginNs, time.endNs, *signature, cpuOf(record, record.kernel.cpuNs),
        microBatchOf(record), std::nullopt, std::nullopt };
    if (record.kernel.work != 0)
        row.work = record.kernel.work;
    ring.compute.rows->kernels.push_back(row);
    tiles_.add(ring.compute.id, time, classOf(static_cast<Pass>(record.detail)));
    return Done{};
}

Status RecordSink::collective(RingContext& ring, const ProcessFacts& facts, const Record& record, Window time)
{
    const ProcessFacts::Group* group = facts.group(record.collective.communicator);
    const ProcessFacts::Group unknown;
    if (!group) {
        if (const Status counted = lost(ring, "unknown process group", "its members were not recorded"); !counted)
            return counted;
        group = &unknown;
    }
    RingLane& lane = ring.communication[static_cast<std::uint8_t>(group->dimension)];
    if (!lane.rows) {
        auto made = makeLane({ {}, ring.rank, LaneKind::Communication, group->dimension,
            "communication " + std::string(toString(group->dimension)), "" });
        if (!made)
            return made.error();
        lane = *made;
    }
    const auto op = static_cast<CollectiveOp>(record.detail);
    auto name = nameOf(facts, record.name, toString(op));
    if (!name)
        return name.error();
    CollectivePart row;
    row.lane = lane.id;
    row.beginNs = time.beginNs;
    row.endNs = time.endNs;
    row.name = *name;
    row.op = op;
    row.bytes = clamped(record.collective.bytes);
    row.microBatch = microBatchOf(record);
    row.cpuNs = cpuOf(record, record.collective.cpuNs);
    if (record.flags & kHasPeer)
        row.peer = record.collective.peer;
    const std::int32_t expected = isPointToPoint(op) ? 2 : std::max(group->members, 1);
    row.instance = matcher_.add(
        group->id, record.collective.sequence, expected, { ring.rank, lane.id, time, op, row.peer, facts.attempt() });
    lane.rows->collectives.push_back(row);
    return Done{};
}

Status RecordSink::bubble(RingContext& ring, const Record& record, Window time)
{
    if (!ring.compute.rows) {
        auto lane = makeLane({ {}, ring.rank, LaneKind::Compute, Dimension::None, "compute", "" });
        if (!lane)
            return lane.error();
        ring.compute = *lane;
    }
    Bubble row;
    row.lane = ring.compute.id;
    row.beginNs = time.beginNs;
    row.endNs = time.endNs;
    row.phase = static_cast<BubblePhase>(record.detail);
    row.stage = record.bubble.stage;
    row.microBatch = microBatchOf(record);
    if (record.flags & kHasPeer)
        row.awaitedRank = record.bubble.awaitedRank;
    row.pass = static_cast<Pass>(record.bubble.next);
    ring.compute.rows->bubbles.push_back(row);
    tiles_.add(ring.compute.id, time, SpanClass::Bubble);
    return Done{};
}

Status RecordSink::range(RingContext& ring, const ProcessFacts& facts, const Record& record, Window time)
{
    if (!ring.host.rows) {
        const std::string name = ring.number == 0 ? "host" : "host thread " + std::to_string(ring.number);
        auto lane = makeLane({ {}, ring.rank, LaneKind::Host, Dimension::None, name, "" });
        if (!lane)
            return lane.error();
        ring.host = *lane;
    }
    const auto kind = static_cast<RangeKind>(record.detail);
    auto name = nameOf(facts, record.name, toString(kind));
    if (!name)
        return name.error();
    Range row;
    row.lane = ring.host.id;
    row.beginNs = time.beginNs;
    row.endNs = time.endNs;
    row.name = *name;
    row.kind = kind;
    row.depth = static_cast<std::int32_t>(std::min(record.range.depth, 63u));
    row.microBatch = microBatchOf(record);
    row.cpuNs = cpuOf(record, record.range.cpuNs);
    if (record.flags & kHasStep)
        row.step = record.range.step;
    ring.host.rows->ranges.push_back(row);
    tiles_.add(ring.host.id, time, classOf(kind));
    if (kind == RangeKind::Step && row.step)
        return writer_.putStep({ ring.rank, *row.step, facts.attempt(), time.beginNs, time.endNs });
    return Done{};
}

Status RecordSink::counter(RingContext& ring, const ProcessFacts& facts, const Record& record, Window time)
{
    RingLane& lane = ring.counters[record.name];
    if (!lane.rows) {
        const ProcessFacts::Name* known = facts.name(record.name);
        const auto [name, unit]
            = nameAndUnit(known ? known->text : "counter " + std::to_string(record.name) + " (lost)");
        auto made = makeLane({ {}, ring.rank, LaneKind::Counter, Dimension::None, name, unit });
        if (!made)
            return made.error();
        lane = *made;
    }
    lane.rows->counters.push_back({ lane.id, time.beginNs, record.counter.value });
    return Done{};
}

std::string RecordSink::describe(const Record& record, const ProcessFacts& facts)
{
    const ProcessFacts::Name* name = facts.name(record.name);
    const bool isNamed = name && !name->text.empty();
    switch (static_cast<RecordKind>(record.kind)) {
    case RecordKind::Collective: {
        const ProcessFacts::Group* group = facts.group(record.collective.communicator);
        std::string text(toString(static_cast<CollectiveOp>(record.detail)));
        if (group)
            text.append(" ").append(toString(group->dimension));
        return text.append(" #").append(std::to_string(record.collective.sequence));
    }
    case RecordKind::Bubble:
        return "bubble";
    case RecordKind::Range: {
        std::string text = isNamed ? name->text : std::string(toString(static_cast<RangeKind>(record.detail)));
        return record.flags & kHasStep ? text.append(" ").append(std::to_string(record.range.step)) : text;
    }
    default:
        return isNamed ? name->text : "a kernel";
    }
}

} // namespace rankscope::tracing

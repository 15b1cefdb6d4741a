#include "tracing/export/traces/flow_id.h"
#include "tracing/export/traces/output_file.h"
#include "tracing/export/traces/protobuf_writer.h"
#include "tracing/export/traces/single_file.h"
#include "tracing/export/traces/span_source.h"
#include "tracing/export/traces/tally.h"
#include "tracing/export/traces/trace_export.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace rankscope::tracing {

namespace {

// Numbers of fields: protos/perfetto/trace of google/perfetto.
namespace packet {
constexpr int kInTrace = 1, kClockSnapshot = 6, kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInterned = 12,
              kSequenceFlags = 13, kTrackDescriptor = 60;
constexpr std::uint64_t kStateCleared = 1, kNeedsState = 2;
} // namespace packet
namespace event {
constexpr int kCategory = 3, kAnnotation = 4, kType = 9, kName = 10, kTrack = 11, kCounter = 44, kFlow = 47;
constexpr std::uint64_t kBegin = 1, kEnd = 2, kCounterType = 4;
} // namespace event
namespace track {
constexpr int kUuid = 1, kName = 2, kProcess = 3, kParent = 5, kCounter = 8, kChildOrdering = 11, kOrder = 12;
constexpr std::uint64_t kExplicitOrder = 3;
} // namespace track
namespace interned {
constexpr int kCategories = 1, kNames = 2, kAnnotationNames = 3;
}
constexpr std::uint64_t kBootTime = 6, kRealTime = 1; ///< builtin clocks; the first is what timestamps are of

/// Numbers for texts; those that are new go into the packet that first needs them.
class Interner {
public:
    explicit Interner(int field)
        : field_(field)
    {
    }

    std::uint64_t number(std::string_view text, ProtobufWriter& data)
    {
        const auto found = numbers_.find(text);
        if (found != numbers_.end())
            return found->second;
        const std::uint64_t next = numbers_.size() + 1;
        numbers_.emplace(text, next);
        ProtobufWriter entry;
        entry.varint(1, next);
        entry.text(2, text);
        data.message(field_, entry);
        return next;
    }

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
    };
    int field_;
    std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>> numbers_;
};

class PerfettoWriter {
public:
    PerfettoWriter(SpanSource& source, OutputFile& file, Tally& tally)
        : source_(source)
        , facts_(source.facts())
        , file_(file)
        , tally_(tally)
        , zeroNs_(std::min<std::int64_t>(0, source.facts().window.beginNs))
    {
    }

    Status write()
    {
        writeClocks();
        for (const RankInfo& rank : facts_.ranks)
            writeProcess(rank);
        for (const Lane& lane : facts_.lanes) {
            const Status done = lane.kind == LaneKind::Counter ? writeCounter(lane) : writeLane(lane);
            if (!done || tally_.isCancelled() || !file_.good())
                return done;
        }
        return Done{};
    }

private:
    /// Spans of a track must lie inside each other: those that cut one another go to a track beside it.
    struct Row {
        std::uint64_t uuid = 0;
        std::vector<std::int64_t> open; ///< ends, outermost first
    };

    std::uint64_t stamp(std::int64_t ns) const { return static_cast<std::uint64_t>(ns - zeroNs_); }
    std::uint64_t processUuid(std::int32_t rank) const { return static_cast<std::uint64_t>(rank) + 1; }

    void writePacket(const ProtobufWriter& content)
    {
        frame_.clear();
        frame_.message(packet::kInTrace, content);
        file_.write(frame_.bytes());
    }

    /// Places the run's time 0 in UTC.
    void writeClocks()
    {
        ProtobufWriter snapshot;
        const std::pair<std::uint64_t, std::int64_t> clocks[]
            = { { kBootTime, 0 }, { kRealTime, std::max<std::int64_t>(0, facts_.run.originUtcNs + zeroNs_) } };
        for (const auto& [clock, ns] : clocks) {
            ProtobufWriter entry;
            entry.varint(1, clock);
            entry.varint(2, static_cast<std::uint64_t>(ns));
            snapshot.message(1, entry);
        }
        snapshot.varint(2, kBootTime); // primary_trace_clock
        ProtobufWriter content;
        content.varint(packet::kTimestamp, 0);
        content.varint(packet::kSequence, 1);
        content.varint(packet::kSequenceFlags, packet::kStateCleared);
        content.message(packet::kClockSnapshot, snapshot);
        writePacket(content);
    }

    void writeProcess(const RankInfo& rank)
    {
        ProtobufWriter process;
        process.varint(1, processUuid(rank.rank)); // pid: unique over nodes, and 0 is special
        process.text(6, "rank " + std::to_string(rank.rank));
        for (const std::string& label : { rank.node, rank.device }) {
            if (!label.empty())
                process.text(8, label);
        }
        ProtobufWriter descriptor;
        descriptor.varint(track::kUuid, processUuid(rank.rank));
        descriptor.message(track::kProcess, process);
        descriptor.varint(track::kChildOrdering, track::kExplicitOrder);
        descriptor.varint(track::kOrder, static_cast<std::uint64_t>(rank.rank));
        writeDescriptor(descriptor);
    }

    void writeDescriptor(const ProtobufWriter& descriptor)
    {
        ProtobufWriter content;
        content.varint(packet::kSequence, 1);
        content.message(packet::kTrackDescriptor, descriptor);
        writePacket(content);
    }

    std::uint64_t writeTrack(const Lane& lane, const ProtobufWriter& counter)
    {
        const std::uint64_t uuid = (1ULL << 32U) + ++tracks_;
        ProtobufWriter descriptor;
        descriptor.varint(track::kUuid, uuid);
        descriptor.varint(track::kParent, processUuid(lane.rank));
        descriptor.text(track::kName, lane.name);
        descriptor.varint(track::kOrder, static_cast<std::uint64_t>(lane.kind) << 16U | (tracks_ & 0xffffU));
        if (lane.kind == LaneKind::Counter)
            descriptor.message(track::kCounter, counter);
        writeDescriptor(descriptor);
        return uuid;
    }

    Status writeCounter(const Lane& lane)
    {
        ProtobufWriter counter;
        if (!lane.unit.empty())
            counter.text(6, lane.unit);
        const std::uint64_t uuid = writeTrack(lane, counter);
        return source_.visitSamples(lane, [&](const CounterSample& sample) {
            event_.clear();
            event_.varint(event::kType, event::kCounterType);
            event_.varint(event::kTrack, uuid);
            event_.real(event::kCounter, sample.value);
            writeEvent(sample.timeNs, false);
            return tally_.addSample(file_);
        });
    }

    Status writeLane(const Lane& lane)
    {
        for (std::size_t kind = 0; kind < kExportKindCount; ++kind) {
            std::vector<Row> rows;
            const Status done = source_.visit(lane, static_cast<ExportKind>(kind), [&](const ExportedSpan& span) {
                write(lane, span, rows);
                return tally_.addSpan(file_);
            });
            for (Row& row : rows)
                endUpTo(row, std::numeric_limits<std::int64_t>::max());
            if (!done || tally_.isCancelled() || !file_.good())
                return done;
        }
        return Done{};
    }

    void write(const Lane& lane, const ExportedSpan& span, std::vector<Row>& rows)
    {
        Row* place = nullptr;
        for (Row& row : rows) {
            endUpTo(row, span.when.beginNs);
            if (!place && (row.open.empty() || row.open.back() >= span.when.endNs))
                place = &row;
        }
        if (!place)
            place = &rows.emplace_back(Row{ writeTrack(lane, {}), {} });
        place->open.push_back(span.when.endNs);
        writeBegin(lane, span, place->uuid);
    }

    void endUpTo(Row& row, std::int64_t ns)
    {
        while (!row.open.empty() && row.open.back() <= ns) {
            event_.clear();
            event_.varint(event::kType, event::kEnd);
            event_.varint(event::kTrack, row.uuid);
            writeEvent(row.open.back(), false);
            row.open.pop_back();
        }
    }

    void writeBegin(const Lane& lane, const ExportedSpan& span, std::uint64_t uuid)
    {
        data_.clear();
        event_.clear();
        event_.varint(event::kType, event::kBegin);
        event_.varint(event::kTrack, uuid);
        event_.varint(event::kCategory, categories_.number(toString(span.kind), data_));
        event_.varint(event::kName, names_.number(span.name, data_));
        annotate(span);
        if (span.partsPresent > 1)
            event_.fixed64(event::kFlow, static_cast<std::uint64_t>(raw(span.instance)));
        if (span.correlation)
            event_.fixed64(event::kFlow, launchFlow(lane.rank, *span.correlation));
        writeEvent(span.when.beginNs, true);
    }

    void annotate(const ExportedSpan& span)
    {
        number("bytes", span.bytes);
        number("flop", span.flop);
        number("cpu ns", span.cpuNs);
        number("work", span.work);
        number("correlation", span.correlation);
        number("step", span.step);
        number("micro-batch", span.microBatch);
        number("peer", span.peer);
        number("stage", span.stage);
        number("sequence", span.sequence);
        if (span.pass != Pass::None)
            word("pass", toString(span.pass));
        if (span.kind == ExportKind::Range && span.range != RangeKind::Annotation)
            word("kind", toString(span.range));
        if (span.kind == ExportKind::Bubble)
            word("phase", toString(span.phase));
        if (span.kind == ExportKind::Collective) {
            word("operation", toString(span.op));
            number("instance", std::optional(raw(span.instance)));
        }
        if (span.communicator) {
            word("communicator", span.communicator->name);
            if (span.communicator->dimension != Dimension::None)
                word("dimension", toString(span.communicator->dimension));
        }
    }

    template <typename T> void number(std::string_view key, const std::optional<T>& value)
    {
        if (!value)
            return;
        annotation_.clear();
        annotation_.varint(1, annotationNames_.number(key, data_));
        annotation_.varint(4, static_cast<std::uint64_t>(static_cast<std::int64_t>(*value)));
        event_.message(event::kAnnotation, annotation_);
    }
    void word(std::string_view key, std::string_view value)
    {
        annotation_.clear();
        annotation_.varint(1, annotationNames_.number(key, data_));
        annotation_.text(6, value);
        event_.message(event::kAnnotation, annotation_);
    }

    void writeEvent(std::int64_t ns, bool usesNumbers)
    {
        content_.clear();
        content_.varint(packet::kTimestamp, stamp(ns));
        content_.varint(packet::kSequence, 1);
        if (usesNumbers) {
            content_.varint(packet::kSequenceFlags, packet::kNeedsState);
            if (!data_.empty())
                content_.message(packet::kInterned, data_);
        }
        content_.message(packet::kTrackEvent, event_);
        writePacket(content_);
    }

    SpanSource& source_;
    const RunFacts& facts_;
    OutputFile& file_;
    Tally& tally_;
    const std::int64_t zeroNs_; ///< Perfetto's times are unsigned
    std::uint64_t tracks_ = 0;
    Interner categories_{ interned::kCategories };
    Interner names_{ interned::kNames };
    Interner annotationNames_{ interned::kAnnotationNames };
    ProtobufWriter frame_, content_, event_, data_, annotation_; ///< kept for their memory
};

} // namespace

ExportOutcome exportPerfetto(
    TraceReader& reader, const RunFacts& facts, const std::string& path, const ExportOptions& options)
{
    return exportToFile<PerfettoWriter>(reader, facts, path, options);
}

} // namespace rankscope::tracing

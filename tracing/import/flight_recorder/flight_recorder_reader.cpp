#include "tracing/import/flight_recorder/flight_recorder_reader.h"

#include "tracing/import/byte_source.h"
#include "tracing/import/flight_recorder/pickle.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>

namespace rankscope::tracing {

namespace {

constexpr std::size_t kMostBytes = 128u << 20; ///< a dump holds some thousand entries of a few KiB
constexpr std::size_t kMostUnfinishedNamed = 8;
// A pickle may point to one value a million times; these keep the work in proportion to the file.
constexpr std::size_t kMostEntries = 1'000'000;
constexpr std::size_t kMostKeys = 128; ///< of an entry
constexpr std::size_t kLongestText = 4096;
constexpr std::size_t kMostDimensions = 16;
constexpr std::int64_t kMostSteps = 100'000'000; ///< over all lists of sizes and of ranks

Result<std::string> wholeFile(const std::string& path, const ReadProgressCallback& progress)
{
    auto source = ByteSource::open(path);
    if (!source)
        return source.error();
    std::string bytes;
    for (;;) {
        const std::size_t have = bytes.size();
        bytes.resize(have + (1u << 16));
        const auto n = (*source)->read({ bytes.data() + have, bytes.size() - have });
        if (!n)
            return n.error();
        bytes.resize(have + *n);
        if (*n == 0)
            return bytes;
        if (bytes.size() > kMostBytes)
            return Error("larger than " + std::to_string(kMostBytes >> 20) + " MiB: no flight recorder's dump");
        if (progress && !progress({ (*source)->fileBytesRead(), (*source)->fileBytes(), 0 }))
            return Error("cancelled");
    }
}

class FlightRecorderReader {
public:
    FlightRecorderReader(const Pickle& pickle, const ImportRules& rules, const std::string& path)
        : pickle_(pickle)
        , rules_(rules)
    {
        trace_.path = path;
        trace_.format = "flight recorder";
        trace_.events = std::make_unique<EventSpool>();
        trace_.groups.emplace_back();
    }

    Result<SourceTrace> read()
    {
        const auto entries = pickle_.find(pickle_.root(), "entries");
        if (!entries || pickle_.kind(*entries) != Pickle::Kind::List)
            return Error("a pickle without a list of entries: no flight recorder's dump");
        readGroups();
        const auto& all = pickle_.items(*entries);
        for (std::size_t i = 0; i < std::min(all.size(), kMostEntries); ++i)
            add(all[i]);
        if (all.size() > kMostEntries)
            trace_.losses.push_back({ "left out", static_cast<std::int64_t>(all.size() - kMostEntries),
                trace_.path + ": entries after the first " + std::to_string(kMostEntries) });
        if (trace_.parts.empty())
            return Error("a flight recorder's dump without an entry that has a time");
        finish();
        return std::move(trace_);
    }

private:
    using Value = Pickle::Value;

    std::optional<Value> find(Value entry, std::string_view key) const { return pickle_.find(entry, key, kMostKeys); }
    std::optional<std::int64_t> integer(Value entry, std::string_view key) const
    {
        const auto value = find(entry, key);
        return value ? pickle_.integer(*value) : std::nullopt;
    }
    std::string text(Value entry, std::string_view key) const
    {
        const auto value = find(entry, key);
        return value ? std::string(pickle_.text(*value).value_or("").substr(0, kLongestText)) : "";
    }

    /// "[0, 1, 2]"; PyTorch cuts long ones off with "..."
    std::vector<std::int32_t> ranksOf(Value group)
    {
        std::vector<std::int32_t> ranks;
        const auto value = find(group, "ranks");
        const std::string_view list = value ? pickle_.text(*value).value_or("") : "";
        steps_ += static_cast<std::int64_t>(list.size());
        if (steps_ > kMostSteps || list.find("...") != std::string_view::npos)
            return ranks;
        for (std::size_t i = 0; i < list.size() && ranks.size() < (1 << 20);) {
            std::int32_t rank = 0;
            const auto [end, error] = std::from_chars(list.data() + i, list.data() + list.size(), rank);
            if (error == std::errc() && rank >= 0)
                ranks.push_back(rank);
            i = std::max<std::size_t>(i + 1, static_cast<std::size_t>(end - list.data()));
        }
        return ranks;
    }

    void readGroups()
    {
        for (const char* key : { "version", "nccl_version" }) {
            if (const std::string value = text(pickle_.root(), key); !value.empty())
                trace_.metadata[key] = value;
        }
        const auto config = pickle_.find(pickle_.root(), "pg_config");
        if (!config || pickle_.kind(*config) != Pickle::Kind::Dict)
            return;
        const auto& all = pickle_.items(*config);
        for (std::size_t i = 0; i + 1 < all.size(); i += 2) {
            SourceGroup group;
            group.name = text(all[i + 1], "name");
            group.description = text(all[i + 1], "desc");
            group.ranks = ranksOf(all[i + 1]);
            group.size = static_cast<std::int32_t>(group.ranks.size());
            for (const std::int32_t rank : group.ranks)
                trace_.worldSize = std::max(trace_.worldSize.value_or(0), rank + 1);
            addGroup(std::move(group));
        }
    }

    std::uint32_t addGroup(SourceGroup group)
    {
        const auto [known, isNew] = groupIds_.try_emplace(group.name, static_cast<std::uint32_t>(trace_.groups.size()));
        if (!isNew)
            return known->second;
        for (const std::string& said : { group.description, group.name }) {
            const auto dimension = rules_.dimensionOf(said);
            if (dimension && group.dimension == Dimension::None)
                group.dimension = *dimension;
        }
        trace_.groups.push_back(std::move(group));
        return known->second;
    }

    std::uint32_t groupOf(Value entry)
    {
        const auto value = find(entry, "process_group");
        if (!value || pickle_.items(*value).empty())
            return 0;
        const auto& names = pickle_.items(*value);
        SourceGroup group;
        group.name = std::string(pickle_.text(names[0]).value_or("").substr(0, kLongestText));
        if (names.size() > 1)
            group.description = std::string(pickle_.text(names[1]).value_or("").substr(0, kLongestText));
        return group.name.empty() ? 0 : addGroup(std::move(group));
    }

    std::uint32_t laneOf(std::uint32_t group)
    {
        const SourceGroup& g = trace_.groups[group];
        const std::string name = "group "
            + (g.description.empty() ? (g.name.empty() ? "unknown" : g.name) : g.description + " (" + g.name + ")");
        const auto [known, isNew] = laneIds_.try_emplace(group, static_cast<std::uint32_t>(trace_.lanes.size()));
        if (isNew)
            trace_.lanes.push_back({ LaneKind::Communication, Dimension::None, name, "" });
        return known->second;
    }

    /// Bytes of a list of tensors: their sizes and their types side by side.
    std::int64_t bytesOf(Value entry, std::string_view sizesKey, std::string_view typesKey)
    {
        const auto sizes = find(entry, sizesKey), types = find(entry, typesKey);
        if (!sizes || !types)
            return 0;
        std::int64_t sum = 0;
        const auto& tensors = pickle_.items(*sizes);
        const auto& names = pickle_.items(*types);
        for (std::size_t i = 0; i < tensors.size() && !names.empty(); ++i) {
            const auto& dimensions = pickle_.items(tensors[i]);
            if (++steps_ > kMostSteps || dimensions.size() > kMostDimensions)
                return 0;
            const auto type = pickle_.text(names[std::min(i, names.size() - 1)]).value_or("");
            std::int64_t bytes = bytesOfType(type.substr(0, 64));
            for (const Value dimension : dimensions) {
                if (__builtin_mul_overflow(bytes, pickle_.integer(dimension).value_or(0), &bytes))
                    return 0;
            }
            if (bytes < 0 || __builtin_add_overflow(sum, bytes, &sum))
                return 0;
        }
        return sum;
    }

    /// "nccl:send 0->1", "nccl:recv 1<-0": the number behind the arrow is the peer's place in the group.
    static std::optional<std::int32_t> peerOf(std::string_view name)
    {
        const std::size_t arrow = std::min(name.find("->"), name.find("<-"));
        std::int32_t peer = 0;
        if (arrow == std::string_view::npos
            || std::from_chars(name.data() + arrow + 2, name.data() + name.size(), peer).ec != std::errc() || peer < 0)
            return std::nullopt;
        return peer;
    }

    void add(Value entry)
    {
        const std::string name = text(entry, "profiling_name"), state = text(entry, "state");
        const auto created = integer(entry, "time_created_ns"), started = integer(entry, "time_discovered_started_ns"),
                   completed = integer(entry, "time_discovered_completed_ns");
        if (!created && !started) {
            ++withoutTime_;
            return;
        }
        SourcePart part;
        part.beginNs = started.value_or(created.value_or(0));
        part.endNs = std::max(part.beginNs, completed.value_or(part.beginNs));
        // Measured by events on the device; the times are when a watchdog looked.
        const auto duration = find(entry, "duration_ms");
        const double ms = duration ? pickle_.real(*duration).value_or(0) : 0;
        if (completed && ms > 0 && ms < 1e9)
            part.beginNs = *completed - std::llround(ms * 1e6);
        part.group = groupOf(entry);
        part.lane = laneOf(part.group);
        part.name = trace_.strings.intern(name);
        part.op = rules_.operationOf(name);
        const bool message = isPointToPoint(part.op);
        if (message)
            part.peer = peerOf(name);
        part.sequence = integer(entry, message ? "p2p_seq_id" : "collective_seq_id");
        if (!part.sequence)
            part.sequence = integer(entry, "seq_id");
        const bool whole = part.op == CollectiveOp::AllGather;
        part.bytes = bytesOf(entry, whole ? "output_sizes" : "input_sizes", whole ? "output_dtypes" : "input_dtypes");
        lastNs_ = std::max({ lastNs_, part.endNs, created.value_or(part.beginNs) });
        if (state != "completed" && !completed) {
            unfinished_.push_back(trace_.parts.size());
            if (unfinished_.size() <= kMostUnfinishedNamed)
                unfinishedNames_ += (unfinishedNames_.empty() ? "" : ", ") + name + " number "
                    + std::to_string(part.sequence.value_or(-1)) + " of group " + trace_.groups[part.group].name + " ("
                    + state + ")";
        }
        trace_.parts.push_back(part);
    }

    void finish()
    {
        for (const std::size_t part : unfinished_)
            trace_.parts[part].endNs = std::max(trace_.parts[part].beginNs, lastNs_);
        if (!unfinished_.empty())
            trace_.losses.push_back({ "collective not completed", static_cast<std::int64_t>(unfinished_.size()),
                trace_.path + ": " + unfinishedNames_ + (unfinished_.size() > kMostUnfinishedNamed ? ", ..." : "") });
        if (withoutTime_ > 0)
            trace_.losses.push_back({ "event without a time", withoutTime_, trace_.path });
        trace_.events->close();
    }

    const Pickle& pickle_;
    const ImportRules& rules_;
    SourceTrace trace_;
    std::vector<std::size_t> unfinished_;
    std::string unfinishedNames_;
    std::unordered_map<std::string, std::uint32_t> groupIds_{ { "", 0 } };
    std::unordered_map<std::uint32_t, std::uint32_t> laneIds_; ///< by group
    std::int64_t steps_ = 0;
    std::int64_t withoutTime_ = 0;
    std::int64_t lastNs_ = 0;
};

} // namespace

Result<SourceTrace> readFlightRecorder(
    const std::string& path, const ImportRules& rules, const ReadProgressCallback& progress)
{
    auto bytes = wholeFile(path, progress);
    if (!bytes)
        return bytes.error().in("read " + path);
    const auto pickle = Pickle::parse(std::move(*bytes));
    if (!pickle)
        return pickle.error().in("read " + path + ": the pickle");
    auto trace = FlightRecorderReader(*pickle, rules, path).read();
    if (!trace)
        return trace.error().in("read " + path);
    return trace;
}

} // namespace rankscope::tracing

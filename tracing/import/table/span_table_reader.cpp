#include "tracing/import/table/span_table_reader.h"

#include "tracing/import/kind_words.h"
#include "tracing/import/table/csv_file.h"
#include "tracing/import/table/csv_rows.h"
#include "tracing/import/table/side_tables.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <map>
#include <tuple>

namespace rankscope::tracing {

namespace {

constexpr std::size_t kMemoryOfARank = 12u << 20; ///< beyond it events wait in a file
constexpr std::int32_t kMostRanks = 1 << 16;

enum Column : std::size_t {
    Rank,
    LaneName,
    LaneWord,
    KindWord,
    Name,
    Begin,
    End,
    Op,
    DimensionWord,
    Group,
    Members,
    Sequence,
    Bytes,
    Peer,
    PassWord,
    MicroBatch,
    StepNumber,
    Phase,
    Work,
    Correlation,
    kFirstOptional, ///< tables of older exports lack the rest
    Flop = kFirstOptional,
    CpuNs,
    Threads,
    TypeWord,
    RedundantFlop,
    LaunchGroup,
    kColumns
};
constexpr std::array<std::string_view, kColumns> kNames{ "rank", "lane", "lane_kind", "kind", "name", "begin_ns",
    "end_ns", "op", "dimension", "communicator", "members", "sequence", "bytes", "peer", "pass", "micro_batch", "step",
    "phase", "work", "correlation", "flop", "cpu_ns", "threads", "dtype", "redundant_flop", "launch_group" };

using Places = std::array<std::size_t, kColumns>;
using Cells = std::array<std::string_view, kColumns>;

std::optional<Places> placesOf(const std::vector<std::string_view>& header)
{
    Places places{};
    for (std::size_t column = 0; column < kColumns; ++column) {
        const auto found = std::ranges::find(header, kNames[column]);
        if (found == header.end() && column < kFirstOptional)
            return std::nullopt;
        places[column] = static_cast<std::size_t>(found - header.begin());
    }
    return places;
}

template <typename Number> std::optional<Number> numberOf(std::string_view text)
{
    Number value{};
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size() || text.empty())
        return std::nullopt;
    return value;
}

std::vector<std::int32_t> membersOf(std::string_view text)
{
    std::vector<std::int32_t> members;
    while (!text.empty()) {
        const std::size_t blank = std::min(text.find(' '), text.size());
        if (const auto rank = numberOf<std::int32_t>(text.substr(0, blank)))
            members.push_back(*rank);
        text.remove_prefix(std::min(blank + 1, text.size()));
    }
    return members;
}

class TableReader {
public:
    TableReader(std::string path, SideTables sides)
        : path_(std::move(path))
        , sides_(std::move(sides))
    {
    }

    void addRow(const std::vector<std::string_view>& row)
    {
        if (!places_) {
            places_ = placesOf(row);
            isTable_ = places_.has_value();
            places_ = places_.value_or(Places{});
            return;
        }
        if (row.size() <= 1 || !isTable_)
            return;
        Cells cells;
        for (std::size_t column = 0; column < kColumns; ++column) {
            if ((*places_)[column] < row.size())
                cells[column] = row[(*places_)[column]];
        }
        addSpan(cells) ? ++rows_ : ++broken_;
    }

    void addSample(const SampleOfTable& sample)
    {
        RankOfTable& rank = rankOf(sample.rank);
        SourceEvent event;
        event.beginNs = event.endNs = sample.timeNs;
        event.kind = SourceKind::Counter;
        event.extra = std::bit_cast<std::int64_t>(sample.value);
        event.lane = laneOf(rank, std::string(sample.name), LaneKind::Counter, Dimension::None);
        event.name = rank.trace.strings.intern(sample.name);
        rank.trace.lanes[event.lane].unit = sample.unit;
        rank.trace.events->append(event);
    }
    void addBroken(std::int64_t rows) { broken_ += rows; }

    std::int64_t rows() const { return rows_; }
    bool isTable() const { return isTable_; }

    Result<std::vector<SourceTrace>> finish(bool isTruncated)
    {
        std::vector<SourceTrace> traces;
        std::int32_t worldSize = 0;
        for (const auto& [rank, from] : ranks_)
            worldSize = std::max({ worldSize, rank + 1, from.greatestMember + 1 });
        for (auto& [rank, from] : ranks_) {
            from.trace.worldSize = worldSize;
            from.trace.events->close();
            if (from.trace.events->error())
                return from.trace.events->error()->in("read " + path_);
            std::ranges::sort(from.trace.steps, {}, &SourceStep::beginNs);
            traces.push_back(std::move(from.trace));
        }
        if (broken_ > 0)
            traces.front().losses.push_back({ "row that is not understood", broken_, path_ });
        sides_.values.applyTo(traces);
        if (isTruncated)
            traces.front().losses.push_back({ "compressed data cut off", 1, path_ });
        return traces;
    }

private:
    struct RankOfTable {
        SourceTrace trace;
        std::map<std::tuple<std::string, LaneKind, Dimension>, std::uint32_t, std::less<>> lanes;
        std::map<std::string, std::uint32_t, std::less<>> groups; ///< by name and members
        std::int32_t greatestMember = -1;
    };

    RankOfTable& rankOf(std::int32_t rank)
    {
        const auto [place, isNew] = ranks_.try_emplace(rank);
        SourceTrace& trace = place->second.trace;
        if (isNew) {
            trace.path = path_;
            trace.format = "table";
            trace.rank = rank;
            trace.clock = path_;
            trace.groups.emplace_back();
            trace.events = std::make_unique<EventSpool>(kMemoryOfARank);
            if (const auto described = sides_.ranks.find(rank); described != sides_.ranks.end())
                describe(described->second, trace);
        }
        return place->second;
    }

    static void describe(const RankInfo& rank, SourceTrace& trace)
    {
        trace.node = rank.node;
        trace.device = rank.device;
        trace.stage = rank.stage;
        trace.dp = rank.dp;
        trace.tp = rank.tp;
        trace.ep = rank.ep;
        trace.clockErrorNs = rank.clockErrorNs;
        trace.peakFlops = rank.peakFlops;
    }

    static std::uint32_t laneOf(RankOfTable& rank, std::string name, LaneKind kind, Dimension dimension)
    {
        const auto next = static_cast<std::uint32_t>(rank.trace.lanes.size());
        const auto [place, isNew] = rank.lanes.try_emplace({ std::move(name), kind, dimension }, next);
        if (isNew)
            rank.trace.lanes.push_back({ kind, dimension, std::get<0>(place->first), "" });
        return place->second;
    }

    static std::uint32_t groupOf(RankOfTable& rank, const Cells& cells, Dimension dimension)
    {
        if (cells[Group].empty() && cells[Members].empty())
            return 0;
        const std::string key = std::string(cells[Group]) + "\n" + std::string(cells[Members]);
        const auto next = static_cast<std::uint32_t>(rank.trace.groups.size());
        const auto [place, isNew] = rank.groups.try_emplace(key, next);
        if (isNew) {
            SourceGroup group;
            group.name = cells[Group];
            group.ranks = membersOf(cells[Members]);
            group.size = static_cast<std::int32_t>(group.ranks.size());
            group.dimension = dimension;
            for (const std::int32_t member : group.ranks)
                rank.greatestMember = std::max(rank.greatestMember, std::min(member, kMostRanks));
            rank.trace.groups.push_back(std::move(group));
        }
        return place->second;
    }

    bool addSpan(const Cells& cells)
    {
        const auto number = numberOf<std::int32_t>(cells[Rank]);
        const auto begin = numberOf<std::int64_t>(cells[Begin]), end = numberOf<std::int64_t>(cells[End]);
        const auto laneKind = kindOfWord(cells[LaneWord], LaneKind::Host);
        if (!number || *number < 0 || *number >= kMostRanks || !begin || !end || *end < *begin || !laneKind)
            return false;
        RankOfTable& rank = rankOf(*number);
        const Dimension dimension = kindOfWord(cells[DimensionWord], Dimension::World).value_or(Dimension::None);
        if (cells[KindWord] == "collective")
            return addPart(rank, cells, { *begin, *end }, dimension);
        SourceEvent event;
        event.beginNs = *begin;
        event.endNs = *end;
        event.correlation = numberOf<std::int64_t>(cells[Correlation]).value_or(SourceEvent::kNone);
        event.cpuNs = numberOf<std::int64_t>(cells[CpuNs]).value_or(SourceEvent::kNone);
        event.microBatch = numberOf<std::int32_t>(cells[MicroBatch]).value_or(-1);
        event.pass = kindOfWord(cells[PassWord], Pass::Optimizer).value_or(Pass::None);
        return addEvent(rank, cells, event, *laneKind, dimension);
    }

    static KernelFacts factsOf(const Cells& cells)
    {
        KernelFacts facts;
        facts.work = numberOf<std::int64_t>(cells[Work]);
        facts.flop = numberOf<std::int64_t>(cells[Flop]);
        facts.bytes = numberOf<std::int64_t>(cells[Bytes]);
        facts.redundantFlop = numberOf<std::int64_t>(cells[RedundantFlop]);
        facts.dtype = kindOfWord(cells[TypeWord], DataType::Float8).value_or(DataType::Unknown);
        facts.threads = std::max(1, numberOf<std::int32_t>(cells[Threads]).value_or(1));
        return facts;
    }

    static bool addEvent(
        RankOfTable& rank, const Cells& cells, SourceEvent event, LaneKind laneKind, Dimension dimension)
    {
        if (cells[KindWord] == "kernel") {
            event.kind = SourceKind::Kernel;
            event.extra = rank.trace.kernelFacts.intern(factsOf(cells));
        } else if (cells[KindWord] == "copy") {
            event.kind = SourceKind::Copy;
            event.extra = numberOf<std::int64_t>(cells[Bytes]).value_or(SourceEvent::kNone);
        } else if (cells[KindWord] == "host call") {
            event.kind = SourceKind::HostCall;
        } else if (cells[KindWord] == "bubble") {
            event.kind = SourceKind::Bubble;
            event.phase = kindOfWord(cells[Phase], BubblePhase::Drain).value_or(BubblePhase::Fill);
            event.extra = numberOf<std::int32_t>(cells[Peer]).value_or(SourceEvent::kNone);
        } else {
            const auto range = kindOfWord(cells[KindWord], RangeKind::Recovery);
            if (!range)
                return false;
            event.range = *range;
            event.extra = numberOf<std::int64_t>(cells[StepNumber]).value_or(SourceEvent::kNone);
            if (*range == RangeKind::Step && event.extra != SourceEvent::kNone)
                rank.trace.steps.push_back({ event.extra, event.beginNs, event.endNs });
        }
        event.lane = laneOf(rank, std::string(cells[LaneName]), laneKind, dimension);
        event.name = rank.trace.strings.intern(cells[Name]);
        rank.trace.events->append(event);
        return true;
    }

    static bool addPart(RankOfTable& rank, const Cells& cells, Window when, Dimension dimension)
    {
        SourcePart part;
        part.beginNs = when.beginNs;
        part.endNs = when.endNs;
        part.lane = laneOf(rank, std::string(cells[LaneName]), LaneKind::Communication, dimension);
        part.name = rank.trace.strings.intern(cells[Name]);
        part.op = parseCollectiveOp(cells[Op]).value_or(CollectiveOp::Unknown);
        part.group = groupOf(rank, cells, dimension);
        part.sequence = numberOf<std::int64_t>(cells[Sequence]);
        part.bytes = numberOf<std::int64_t>(cells[Bytes]).value_or(0);
        part.peer = numberOf<std::int32_t>(cells[Peer]);
        part.correlation = numberOf<std::int64_t>(cells[Correlation]);
        part.microBatch = numberOf<std::int32_t>(cells[MicroBatch]);
        part.cpuNs = numberOf<std::int64_t>(cells[CpuNs]);
        part.launchGroup = numberOf<std::int64_t>(cells[LaunchGroup]);
        if (part.peer && isPointToPoint(part.op)) { // the matcher counts within the group
            const auto& members = rank.trace.groups[part.group].ranks;
            const auto found = std::ranges::find(members, *part.peer);
            if (found != members.end())
                part.peer = static_cast<std::int32_t>(found - members.begin());
        }
        rank.trace.parts.push_back(part);
        return true;
    }

    std::string path_;
    SideTables sides_;
    std::optional<Places> places_;
    bool isTable_ = false;
    std::map<std::int32_t, RankOfTable> ranks_;
    std::int64_t rows_ = 0, broken_ = 0;
};

} // namespace

bool isSpanTableHeader(std::string_view firstBytes)
{
    CsvRows rows;
    std::optional<Places> places;
    rows.add(firstBytes.substr(0, std::min(firstBytes.size(), firstBytes.find('\n') + 1)),
        [&](const std::vector<std::string_view>& cells) { places = placesOf(cells); });
    return places.has_value();
}

Result<std::vector<SourceTrace>> readSpanTable(const std::string& path, const ReadProgressCallback& progress)
{
    auto sides = readSideTables(path);
    if (!sides)
        return sides.error();
    TableReader reader(path, std::move(*sides));
    const auto read = readCsvFile(
        path, [&](const std::vector<std::string_view>& cells) { reader.addRow(cells); },
        [&](const ByteSource& source) {
            return !progress || progress({ source.fileBytesRead(), source.fileBytes(), reader.rows() });
        });
    if (!read)
        return read.error();
    if (!reader.isTable())
        return Error("read " + path + ": the first line does not name the columns of a table of spans");
    if (reader.rows() == 0)
        return Error("read " + path + ": no row of the table is understood");
    const auto brokenSamples = readSamples(path, [&](const SampleOfTable& sample) { reader.addSample(sample); });
    if (!brokenSamples)
        return brokenSamples.error();
    reader.addBroken(*brokenSamples);
    return reader.finish(*read);
}

} // namespace rankscope::tracing

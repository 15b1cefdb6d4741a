#include "tracing/store/event_tables.h"
#include "tracing/store/reader_impl.h"
#include "tracing/store/writer_dictionaries.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace rankscope::tracing {

namespace {

/// Blocks that one transaction of a visit reads: 16 thousand rows, a few milliseconds.
constexpr std::size_t kBlocksAtOnce = 64;
constexpr std::size_t kVisitRows = 8192;

template <typename Row> constexpr std::string_view windowCondition()
{
    return " AND begin_ns < ?5 AND (begin_ns >= ?4 OR begin_ns + duration_ns > ?4)";
}
template <> constexpr std::string_view windowCondition<CounterSample>()
{
    return " AND time_ns >= ?4 AND time_ns < ?5";
}

/// Rows of a lane (?3) in a block (?1 to ?2) that touch a window (?4 to ?5).
template <typename Row> std::string windowText(std::string_view also)
{
    std::string text = "SELECT ";
    text.append(EventTable<Row>::columns).append(" FROM ").append(EventTable<Row>::table);
    text.append(" WHERE id BETWEEN ?1 AND ?2 AND lane = ?3").append(windowCondition<Row>());
    return text.append(also);
}

/// Rows of a lane (?3) in a block (?1 to ?2). Where the block lies in the window with all its rows, or holds no row of
/// another lane, the rows need not be looked at for it.
template <typename Row> std::string blockText(bool isWhole, bool isDense)
{
    std::string text = "SELECT ?3";
    text.append(EventTable<Row>::columns.substr(std::string_view("lane").size()));
    text.append(" FROM ").append(EventTable<Row>::table).append(" WHERE id BETWEEN ?1 AND ?2");
    text.append(isDense ? "" : " AND lane = ?3");
    return isWhole ? text : text.append(windowCondition<Row>());
}

/// Unsigned: a damaged file may say anything.
bool isDense(const Block& block)
{
    return static_cast<std::uint64_t>(block.lastRow) - static_cast<std::uint64_t>(block.firstRow) + 1
        == static_cast<std::uint64_t>(block.rows);
}

template <typename Row> void sortRows(std::vector<Row>& rows)
{
    if (!std::is_sorted(rows.begin(), rows.end(), earlier<Row>))
        std::stable_sort(rows.begin(), rows.end(), earlier<Row>);
}

} // namespace

template <typename Row>
Status TraceReader::Impl::readBlocks(std::span<const Block> blocks, Window window, std::vector<Row>& out)
{
    static const std::array texts{ blockText<Row>(false, false), blockText<Row>(false, true),
        blockText<Row>(true, false), blockText<Row>(true, true) };
    for (const Block& block : blocks) {
        const bool whole
            = block.beginNs >= window.beginNs && block.beginNs < window.endNs && block.endNs < window.endNs;
        const bool dense = isDense(block);
        auto query = statement(texts[(whole ? 2u : 0u) + (dense ? 1u : 0u)]);
        if (!query)
            return query.error();
        Statement& rows = (*query)->reset().bind(1, block.firstRow).bind(2, block.lastRow).bind(3, block.lane);
        if (!whole)
            rows.bind(4, window.beginNs).bind(5, window.endNs);
        for (;;) {
            auto row = rows.step();
            if (!row)
                return row.error();
            if (!*row)
                break;
            out.push_back(EventTable<Row>::read(rows));
        }
        rows.reset();
    }
    return Done{};
}

template <typename Row> Result<std::vector<Row>> TraceReader::Impl::rowsOf(LaneId lane, Window window)
{
    return inSnapshot<std::vector<Row>>([&]() -> Result<std::vector<Row>> {
        auto blocks = index(lane, EventTable<Row>::kind);
        if (!blocks)
            return blocks.error();
        std::vector<Row> rows;
        if (auto read = readBlocks((*blocks)->touching(window), window, rows); !read)
            return read.error();
        sortRows(rows);
        return rows;
    });
}

template <typename Row>
Status TraceReader::Impl::visit(LaneId lane, Window window, const std::function<bool(std::span<const Row>)>& visitor)
{
    auto touching = inSnapshot<std::vector<Block>>([&]() -> Result<std::vector<Block>> {
        auto blocks = index(lane, EventTable<Row>::kind);
        if (!blocks)
            return blocks.error();
        return (*blocks)->touching(window);
    });
    if (!touching)
        return touching.error();
    const std::vector<Block>& blocks = *touching;
    const std::vector<std::int64_t> leastAfter = BlockIndex::leastBeginAfter(blocks);
    std::vector<Row> waiting; // read, but a later block may hold a row that begins earlier
    std::size_t enough = kVisitRows;
    for (std::size_t next = 0; next < blocks.size();) {
        const std::size_t count = std::min(kBlocksAtOnce, blocks.size() - next);
        auto read
            = inSnapshot<Done>([&] { return readBlocks(std::span(blocks).subspan(next, count), window, waiting); });
        if (!read)
            return read;
        next += count;
        if (next < blocks.size() && waiting.size() < enough)
            continue;
        sortRows(waiting);
        const auto ready = next == blocks.size()
            ? waiting.end()
            : std::partition_point(waiting.begin(), waiting.end(),
                [least = leastAfter[next - 1]](const Row& row) { return beginOf(row) < least; });
        if (ready != waiting.begin() && !visitor(std::span<const Row>(waiting.begin(), ready)))
            return Done{};
        waiting.erase(waiting.begin(), ready);
        enough = std::max(kVisitRows, 2 * waiting.size());
    }
    return Done{};
}

Result<std::vector<LaneId>> TraceReader::Impl::lanesOfMembers(std::string_view members)
{
    const std::vector<std::int32_t> ranks = splitRanks(members);
    using RankLane = std::pair<std::int32_t, LaneId>;
    auto lanes = rows<RankLane>("SELECT rank, id FROM lane ORDER BY rank, id",
        [](const Statement& row) { return RankLane(row.integer32(0), LaneId{ row.integer32(1) }); });
    if (!lanes)
        return lanes.error();
    std::vector<LaneId> found;
    for (const auto& [rank, lane] : *lanes) {
        if (ranks.empty() || std::find(ranks.begin(), ranks.end(), rank) != ranks.end())
            found.push_back(lane);
    }
    return found;
}

/// The match says when its parts were and which ranks have them; without it every collective is looked at.
Result<std::vector<CollectivePart>> TraceReader::Impl::partsOf(InstanceId instance)
{
    const auto readPart = [](const Statement& row) { return EventTable<CollectivePart>::read(row); };
    auto match = statement("SELECT m.first_entry_ns, m.last_exit_ns, c.members FROM collective_match m"
                           " LEFT JOIN communicator c ON c.id = m.communicator WHERE m.id = ?");
    if (!match)
        return match.error();
    auto known = (*match)->reset().bind(1, raw(instance)).step();
    if (!known)
        return known.error();
    if (!*known) {
        static const std::string everyText = "SELECT " + std::string(EventTable<CollectivePart>::columns)
            + " FROM collective WHERE instance = ? ORDER BY lane, begin_ns";
        auto query = statement(everyText);
        if (!query)
            return query.error();
        return restOf<CollectivePart>((*query)->reset().bind(1, raw(instance)), readPart);
    }
    const std::int64_t end = (*match)->integer(1);
    const Window window{ (*match)->integer(0), end < std::numeric_limits<std::int64_t>::max() ? end + 1 : end };
    auto lanes = lanesOfMembers((*match)->text(2));
    if (!lanes)
        return lanes.error();
    static const std::string partText = windowText<CollectivePart>(" AND instance = ?6");
    auto query = statement(partText);
    if (!query)
        return query.error();
    std::vector<CollectivePart> parts;
    for (const LaneId lane : *lanes) {
        auto blocks = index(lane, BlockKind::Collective);
        if (!blocks)
            return blocks.error();
        for (const Block& block : (*blocks)->touching(window)) {
            Statement& rows = (*query)->reset().bind(1, block.firstRow).bind(2, block.lastRow).bind(3, raw(lane));
            rows.bind(4, window.beginNs).bind(5, window.endNs).bind(6, raw(instance));
            auto found = restOf<CollectivePart>(rows, readPart);
            if (!found)
                return found.error();
            parts.insert(parts.end(), found->begin(), found->end());
        }
    }
    return parts;
}

Result<std::vector<Kernel>> TraceReader::kernels(LaneId lane, Window window)
{
    return impl_->rowsOf<Kernel>(lane, window);
}
Result<std::vector<Copy>> TraceReader::copies(LaneId lane, Window window) { return impl_->rowsOf<Copy>(lane, window); }
Result<std::vector<HostCall>> TraceReader::hostCalls(LaneId lane, Window window)
{
    return impl_->rowsOf<HostCall>(lane, window);
}
Result<std::vector<CollectivePart>> TraceReader::collectives(LaneId lane, Window window)
{
    return impl_->rowsOf<CollectivePart>(lane, window);
}
Result<std::vector<Bubble>> TraceReader::bubbles(LaneId lane, Window window)
{
    return impl_->rowsOf<Bubble>(lane, window);
}
Result<std::vector<Range>> TraceReader::ranges(LaneId lane, Window window)
{
    return impl_->rowsOf<Range>(lane, window);
}
Result<std::vector<Range>> TraceReader::markedRanges(LaneId lane)
{
    static_assert(static_cast<int>(RangeKind::Annotation) == 0);
    static const std::string text = blockText<Range>(true, false) + " AND kind <> 0";
    return impl_->inSnapshot<std::vector<Range>>([&]() -> Result<std::vector<Range>> {
        auto blocks = impl_->index(lane, EventTable<Range>::kind);
        auto query = impl_->statement(text);
        if (!blocks || !query)
            return blocks ? query.error() : blocks.error();
        std::vector<Range> marked;
        constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min(),
                               kMost = std::numeric_limits<std::int64_t>::max();
        for (const Block& block : (*blocks)->touching({ kLeast, kMost })) {
            (*query)->reset().bind(1, block.firstRow).bind(2, block.lastRow).bind(3, block.lane);
            auto rows = Impl::restOf<Range>(**query, [](const Statement& row) { return EventTable<Range>::read(row); });
            if (!rows)
                return rows;
            marked.insert(marked.end(), rows->begin(), rows->end());
        }
        sortRows(marked);
        return marked;
    });
}

Status TraceReader::visitLaunches(
    LaneId lane, Window window, const std::function<void(std::span<const Launch>)>& visitor)
{
    static const std::string text = std::string("SELECT correlation, begin_ns FROM host_call WHERE id BETWEEN ?1 AND ?2"
                                                " AND lane = ?3 AND correlation NOT NULL")
                                        .append(windowCondition<HostCall>());
    auto touching = impl_->inSnapshot<std::vector<Block>>([&]() -> Result<std::vector<Block>> {
        auto blocks = impl_->index(lane, BlockKind::HostCall);
        if (!blocks)
            return blocks.error();
        return (*blocks)->touching(window);
    });
    if (!touching)
        return touching.error();
    const auto readLaunch = [](const Statement& row) { return Launch{ row.integer(0), row.integer(1) }; };
    for (std::size_t next = 0; next < touching->size(); next += kBlocksAtOnce) {
        const auto blocks = std::span(*touching).subspan(next, std::min(kBlocksAtOnce, touching->size() - next));
        auto read = impl_->inSnapshot<Done>([&]() -> Status {
            auto query = impl_->statement(text);
            if (!query)
                return query.error();
            for (const Block& block : blocks) {
                (*query)->reset().bind(1, block.firstRow).bind(2, block.lastRow).bind(3, block.lane);
                (*query)->bind(4, window.beginNs).bind(5, window.endNs);
                auto launches = Impl::restOf<Launch>(**query, readLaunch);
                if (!launches)
                    return launches.error();
                visitor(*launches);
            }
            return Done{};
        });
        if (!read)
            return read;
    }
    return Done{};
}

Result<std::vector<CounterSample>> TraceReader::counters(LaneId lane, Window window)
{
    return impl_->rowsOf<CounterSample>(lane, window);
}

Result<std::vector<CollectiveMatch>> TraceReader::matches(Window window)
{
    return impl_->inSnapshot<std::vector<CollectiveMatch>>([&]() -> Result<std::vector<CollectiveMatch>> {
        auto blocks = impl_->index(LaneId{ 0 }, BlockKind::Match);
        if (!blocks)
            return blocks.error();
        static const std::string text = "SELECT " + std::string(kMatchColumns)
            + " FROM collective_match WHERE id BETWEEN ?1 AND ?2 AND first_entry_ns < ?4 AND (first_entry_ns >= ?3 OR "
              "last_exit_ns > ?3)";
        auto query = impl_->statement(text);
        if (!query)
            return query.error();
        std::vector<CollectiveMatch> matches;
        for (const Block& block : (*blocks)->touching(window)) {
            (*query)
                ->reset()
                .bind(1, block.firstRow)
                .bind(2, block.lastRow)
                .bind(3, window.beginNs)
                .bind(4, window.endNs);
            auto found = Impl::restOf<CollectiveMatch>(**query, readMatch);
            if (!found)
                return found.error();
            matches.insert(matches.end(), found->begin(), found->end());
        }
        std::stable_sort(matches.begin(), matches.end(),
            [](const CollectiveMatch& a, const CollectiveMatch& b) { return a.firstEntryNs < b.firstEntryNs; });
        return matches;
    });
}

Result<std::vector<CollectivePart>> TraceReader::partsOf(InstanceId instance)
{
    return impl_->inSnapshot<std::vector<CollectivePart>>([&] { return impl_->partsOf(instance); });
}

template <typename Row>
Status TraceReader::visit(LaneId lane, Window window, const std::function<bool(std::span<const Row>)>& visitor)
{
    return impl_->visit<Row>(lane, window, visitor);
}

#define RS_VISIT(Row)                                                                                                  \
    template Status TraceReader::visit<Row>(LaneId, Window, const std::function<bool(std::span<const Row>)>&)
RS_VISIT(Kernel);
RS_VISIT(Copy);
RS_VISIT(HostCall);
RS_VISIT(CollectivePart);
RS_VISIT(Bubble);
RS_VISIT(Range);
RS_VISIT(CounterSample);
#undef RS_VISIT

} // namespace rankscope::tracing

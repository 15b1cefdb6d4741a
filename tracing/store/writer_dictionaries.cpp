#include "tracing/store/writer_dictionaries.h"

#include <algorithm>
#include <charconv>

namespace rankscope::tracing {

std::string joinRanks(const std::vector<std::int32_t>& ranks)
{
    std::string text;
    for (const std::int32_t rank : ranks)
        text.append(text.empty() ? "" : ",").append(std::to_string(rank));
    return text;
}

std::vector<std::int32_t> splitRanks(std::string_view text)
{
    std::vector<std::int32_t> ranks;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        std::int32_t rank = 0;
        if (std::from_chars(text.data(), text.data() + comma, rank).ec == std::errc())
            ranks.push_back(rank);
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return ranks;
}

Dictionaries::SignatureKey Dictionaries::keyOf(const KernelSignature& signature)
{
    return { raw(signature.name), static_cast<int>(signature.pass), static_cast<int>(signature.dtype),
        signature.threads, signature.flop, signature.bytes, signature.redundantFlop };
}

Dictionaries::LaneKey Dictionaries::keyOf(const Lane& lane)
{
    return { lane.rank, static_cast<int>(lane.kind), static_cast<int>(lane.dimension), lane.name };
}

namespace {

/// Calls visit with each row of a query.
template <typename Visit> Status forEachRow(const Database& database, std::string_view sql, Visit visit)
{
    auto statement = database.prepare(sql);
    if (!statement)
        return statement.error();
    for (;;) {
        auto row = statement->step();
        if (!row)
            return row.error();
        if (!*row)
            return Done{};
        visit(*statement);
    }
}

Status runOnce(const Database& database, std::string_view sql, const std::function<void(Statement&)>& bind)
{
    auto statement = database.prepare(sql);
    if (!statement)
        return statement.error();
    bind(*statement);
    return statement->run();
}

} // namespace

Status Dictionaries::load()
{
    auto read = forEachRow(database_, "SELECT id, text FROM name",
        [&](const Statement& row) { names_.emplace(row.text(1), NameId{ row.integer32(0) }); });
    if (!read)
        return read;
    read = forEachRow(database_, "SELECT id, name, pass, dtype, threads, flop, bytes, redundant_flop FROM signature",
        [&](const Statement& row) {
            const SignatureKey key{ row.integer32(1), row.integer32(2), row.integer32(3), row.integer32(4),
                row.optionalInteger(5), row.optionalInteger(6), row.optionalInteger(7) };
            signatures_.emplace(key, SignatureId{ row.integer32(0) });
        });
    if (!read)
        return read;
    read = forEachRow(database_, "SELECT id, name, members FROM communicator", [&](const Statement& row) {
        communicators_.emplace(std::pair(row.text(1), row.text(2)), CommunicatorId{ row.integer32(0) });
    });
    return read ? loadLanes() : read;
}

Status Dictionaries::loadLanes()
{
    return forEachRow(database_, "SELECT id, rank, kind, dimension, name, begin_ns, end_ns FROM lane ORDER BY id",
        [&](const Statement& row) {
            lanes_.emplace(LaneKey{ row.integer32(1), row.integer32(2), row.integer32(3), row.text(4) },
                LaneId{ row.integer32(0) });
            extents_.push_back({ { row.integer(5), row.integer(6) }, row.isNull(5), false });
        });
}

Result<NameId> Dictionaries::name(std::string_view text)
{
    if (const auto known = names_.find(text); known != names_.end())
        return known->second;
    const auto id = static_cast<std::int32_t>(names_.size());
    auto inserted
        = runOnce(database_, "INSERT INTO name VALUES (?, ?)", [&](Statement& row) { row.bind(1, id).bind(2, text); });
    if (!inserted)
        return inserted.error();
    return names_.emplace(text, NameId{ id }).first->second;
}

Result<SignatureId> Dictionaries::signature(const KernelSignature& signature)
{
    const SignatureKey key = keyOf(signature);
    if (const auto known = signatures_.find(key); known != signatures_.end())
        return known->second;
    const auto id = static_cast<std::int32_t>(signatures_.size());
    auto inserted = runOnce(database_, "INSERT INTO signature VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [&](Statement& row) {
        row.bind(1, id).bind(2, raw(signature.name)).bind(3, static_cast<int>(signature.pass));
        row.bind(4, static_cast<int>(signature.dtype)).bind(5, signature.threads).bind(6, signature.flop);
        row.bind(7, signature.bytes).bind(8, signature.redundantFlop);
    });
    if (!inserted)
        return inserted.error();
    return signatures_.emplace(key, SignatureId{ id }).first->second;
}

Result<LaneId> Dictionaries::lane(const Lane& lane)
{
    const LaneKey key = keyOf(lane);
    if (const auto known = lanes_.find(key); known != lanes_.end())
        return known->second;
    const auto id = static_cast<std::int32_t>(extents_.size() + 1);
    auto inserted = runOnce(database_, "INSERT INTO lane VALUES (?, ?, ?, ?, ?, ?, NULL, NULL)", [&](Statement& row) {
        row.bind(1, id)
            .bind(2, lane.rank)
            .bind(3, static_cast<int>(lane.kind))
            .bind(4, static_cast<int>(lane.dimension));
        row.bind(5, lane.name).bind(6, lane.unit);
    });
    if (!inserted)
        return inserted.error();
    extents_.push_back({});
    return lanes_.emplace(key, LaneId{ id }).first->second;
}

Result<CommunicatorId> Dictionaries::communicator(const Communicator& communicator)
{
    const std::pair key(communicator.name, joinRanks(communicator.members));
    if (const auto known = communicators_.find(key); known != communicators_.end())
        return known->second;
    const auto id = static_cast<std::int32_t>(communicators_.size() + 1);
    auto inserted = runOnce(database_, "INSERT INTO communicator VALUES (?, ?, ?, ?)", [&](Statement& row) {
        row.bind(1, id).bind(2, key.first).bind(3, static_cast<int>(communicator.dimension)).bind(4, key.second);
    });
    if (!inserted)
        return inserted.error();
    return communicators_.emplace(key, CommunicatorId{ id }).first->second;
}

void Dictionaries::extend(LaneId lane, Window rows)
{
    Extent& extent = extents_[static_cast<std::size_t>(raw(lane)) - 1];
    const Window before = extent.rows;
    if (extent.empty)
        extent.rows = rows;
    else
        extent.rows = { std::min(before.beginNs, rows.beginNs), std::max(before.endNs, rows.endNs) };
    extent.changed = extent.changed || extent.empty || !(extent.rows == before);
    extent.empty = false;
}

Status Dictionaries::flush()
{
    if (!extend_) {
        auto prepared = database_.prepare("UPDATE lane SET begin_ns = ?, end_ns = ? WHERE id = ?");
        if (!prepared)
            return prepared.error();
        extend_ = std::move(*prepared);
    }
    for (std::size_t i = 0; i < extents_.size(); ++i) {
        Extent& extent = extents_[i];
        if (!extent.changed)
            continue;
        extend_.reset()
            .bind(1, extent.rows.beginNs)
            .bind(2, extent.rows.endNs)
            .bind(3, static_cast<std::int64_t>(i + 1));
        if (auto written = extend_.run(); !written)
            return written;
        extent.changed = false;
    }
    return Done{};
}

} // namespace rankscope::tracing

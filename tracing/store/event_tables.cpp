#include "tracing/store/event_tables.h"

#include <sqlite3.h>

#include <bit>
#include <limits>
#include <type_traits>

namespace rankscope::tracing {

namespace {

template <typename T> void give(sqlite3_context* out, T value)
{
    if constexpr (std::is_enum_v<T>)
        sqlite3_result_int64(out, static_cast<std::int64_t>(value));
    else if constexpr (std::is_floating_point_v<T>)
        sqlite3_result_double(out, value);
    else
        sqlite3_result_int64(out, value);
}

// An unset result is NULL.
template <typename T> void give(sqlite3_context* out, const std::optional<T>& value)
{
    if (value)
        give(out, *value);
}

template <typename Row> Row readSpan(const Statement& statement)
{
    Row row;
    row.lane = LaneId{ statement.integer32(0) };
    row.beginNs = statement.integer(1);
    // A damaged file may hold anything; adding must not overflow.
    if (__builtin_add_overflow(row.beginNs, statement.integer(2), &row.endNs) || row.endNs < row.beginNs)
        row.endNs = row.beginNs;
    return row;
}

NameId nameAt(const Statement& statement, int column) { return NameId{ statement.integer32(column) }; }

// takeColumn() calls take with the value of one column. Column 1 and 2 of every span; the others are its own.
#define RS_SPAN                                                                                                        \
    case 1:                                                                                                            \
        return take(row.beginNs);                                                                                      \
    case 2:                                                                                                            \
        return take(endOf(row) - row.beginNs)
#define RS_COLUMN(column, value)                                                                                       \
    case column:                                                                                                       \
        return take(row.value)

template <typename Take> void takeColumn(const Kernel& row, int column, Take take)
{
    switch (column) {
        RS_SPAN;
        RS_COLUMN(3, signature);
        RS_COLUMN(4, cpuNs);
        RS_COLUMN(5, microBatch);
        RS_COLUMN(6, work);
        RS_COLUMN(7, correlation);
    }
}

template <typename Take> void takeColumn(const Copy& row, int column, Take take)
{
    switch (column) {
        RS_SPAN;
        RS_COLUMN(3, name);
        RS_COLUMN(4, bytes);
        RS_COLUMN(5, correlation);
    }
}

template <typename Take> void takeColumn(const HostCall& row, int column, Take take)
{
    switch (column) {
        RS_SPAN;
        RS_COLUMN(3, name);
        RS_COLUMN(4, correlation);
    }
}

template <typename Take> void takeColumn(const CollectivePart& row, int column, Take take)
{
    switch (column) {
        RS_SPAN;
        RS_COLUMN(3, name);
        RS_COLUMN(4, op);
        RS_COLUMN(5, instance);
        RS_COLUMN(6, bytes);
        RS_COLUMN(7, peer);
        RS_COLUMN(8, microBatch);
        RS_COLUMN(9, cpuNs);
        RS_COLUMN(10, launchGroup);
        RS_COLUMN(11, correlation);
    }
}

template <typename Take> void takeColumn(const Bubble& row, int column, Take take)
{
    switch (column) {
        RS_SPAN;
        RS_COLUMN(3, phase);
        RS_COLUMN(4, stage);
        RS_COLUMN(5, microBatch);
        RS_COLUMN(6, awaitedRank);
        RS_COLUMN(7, pass);
    }
}

template <typename Take> void takeColumn(const Range& row, int column, Take take)
{
    switch (column) {
        RS_SPAN;
        RS_COLUMN(3, name);
        RS_COLUMN(4, kind);
        RS_COLUMN(5, depth);
        RS_COLUMN(6, step);
        RS_COLUMN(7, microBatch);
        RS_COLUMN(8, cpuNs);
    }
}

template <typename Take> void takeColumn(const CounterSample& row, int column, Take take)
{
    switch (column) {
        RS_COLUMN(1, timeNs);
        RS_COLUMN(2, value);
    }
}

#undef RS_SPAN
#undef RS_COLUMN

template <typename T> constexpr bool isEmpty(const T&) { return false; }
template <typename T> constexpr bool isEmpty(const std::optional<T>& value) { return !value; }

template <typename Row> std::uint32_t absentIn(std::span<const Row> rows)
{
    std::uint32_t absent = (1u << columnCount(EventTable<Row>::columns)) - 1;
    for (const Row& row : rows) {
        // The columns that are still in question; few rows have an empty one, and soon none is left.
        for (std::uint32_t left = absent; left != 0; left &= left - 1) {
            const int column = std::countr_zero(left);
            bool empty = false;
            takeColumn(row, column, [&](const auto& value) { empty = isEmpty(value); });
            absent &= empty ? ~0u : ~(1u << column);
        }
        if (absent == 0)
            break;
    }
    return absent;
}

} // namespace

#define RS_EVENT_TABLE(Row)                                                                                            \
    void EventTable<Row>::emit(const Row& row, int column, sqlite3_context* out)                                       \
    {                                                                                                                  \
        takeColumn(row, column, [out](const auto& value) { give(out, value); });                                       \
    }                                                                                                                  \
    std::uint32_t EventTable<Row>::absent(std::span<const Row> rows) { return absentIn(rows); }

RS_EVENT_TABLE(Kernel)
RS_EVENT_TABLE(Copy)
RS_EVENT_TABLE(HostCall)
RS_EVENT_TABLE(CollectivePart)
RS_EVENT_TABLE(Bubble)
RS_EVENT_TABLE(Range)
RS_EVENT_TABLE(CounterSample)

#undef RS_EVENT_TABLE

Kernel EventTable<Kernel>::read(const Statement& statement)
{
    Kernel row = readSpan<Kernel>(statement);
    row.signature = SignatureId{ statement.integer32(3) };
    row.cpuNs = statement.optionalInteger(4);
    row.microBatch = statement.optionalInteger32(5);
    row.work = statement.optionalInteger(6);
    row.correlation = statement.optionalInteger(7);
    return row;
}

Copy EventTable<Copy>::read(const Statement& statement)
{
    Copy row = readSpan<Copy>(statement);
    row.name = nameAt(statement, 3);
    row.bytes = statement.optionalInteger(4);
    row.correlation = statement.optionalInteger(5);
    return row;
}

HostCall EventTable<HostCall>::read(const Statement& statement)
{
    HostCall row = readSpan<HostCall>(statement);
    row.name = nameAt(statement, 3);
    row.correlation = statement.optionalInteger(4);
    return row;
}

CollectivePart EventTable<CollectivePart>::read(const Statement& statement)
{
    CollectivePart row = readSpan<CollectivePart>(statement);
    row.name = nameAt(statement, 3);
    row.op = statement.word(4, CollectiveOp::Receive);
    row.instance = InstanceId{ statement.integer(5) };
    row.bytes = statement.integer(6);
    row.peer = statement.optionalInteger32(7);
    row.microBatch = statement.optionalInteger32(8);
    row.cpuNs = statement.optionalInteger(9);
    row.launchGroup = statement.optionalInteger(10);
    row.correlation = statement.optionalInteger(11);
    return row;
}

Bubble EventTable<Bubble>::read(const Statement& statement)
{
    Bubble row = readSpan<Bubble>(statement);
    row.phase = statement.word(3, BubblePhase::Drain);
    row.stage = statement.integer32(4);
    row.microBatch = statement.optionalInteger32(5);
    row.awaitedRank = statement.optionalInteger32(6);
    row.pass = statement.word(7, Pass::Optimizer);
    return row;
}

Range EventTable<Range>::read(const Statement& statement)
{
    Range row = readSpan<Range>(statement);
    row.name = nameAt(statement, 3);
    row.kind = statement.word(4, RangeKind::Recovery);
    row.depth = statement.integer32(5);
    row.step = statement.optionalInteger(6);
    row.microBatch = statement.optionalInteger32(7);
    row.cpuNs = statement.optionalInteger(8);
    return row;
}

CounterSample EventTable<CounterSample>::read(const Statement& statement)
{
    // SQLite stores a NaN as NULL.
    const double value = statement.isNull(2) ? std::numeric_limits<double>::quiet_NaN() : statement.real(2);
    return { LaneId{ statement.integer32(0) }, statement.integer(1), value };
}

CollectiveMatch readMatch(const Statement& statement)
{
    CollectiveMatch match;
    match.id = InstanceId{ statement.integer(0) };
    match.communicator = CommunicatorId{ statement.integer32(1) };
    match.op = statement.word(2, CollectiveOp::Receive);
    match.sequence = statement.integer(3);
    match.partsPresent = statement.integer32(4);
    match.partsExpected = statement.integer32(5);
    match.firstEntryNs = statement.integer(6);
    match.lastEntryNs = statement.integer(7);
    match.lastExitNs = statement.integer(8);
    match.lateRank = statement.optionalInteger32(9);
    return match;
}

} // namespace rankscope::tracing
